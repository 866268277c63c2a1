"""Several starts of EM: the best is kept, and one that collapses does not end the others."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from posterior.data.errors import DegenerateError, DegenerateWarning
from posterior.data.names import quoted
from posterior.data.table import Table
from posterior.data.typing import Array, Floats
from posterior.generative.em import Ascent, Stop

PATIENCE = 3.0  # seconds until somebody at a terminal wants to know
VANISHED = 1e-3  # average rows: a component of fewer is gone


@dataclass(frozen=True, slots=True, eq=False)
class Convergence:
    """How EM went: the steps of the best start, and all starts."""

    converged: bool
    n_iter: int
    trace: tuple[float, ...]  # the objective before each step, and of chunks that came later
    starts: Table | None = None
    selection: Table | None = None  # of numbers of components, if there was a choice

    @classmethod
    def of(cls, ascent: Ascent[Any, Any], starts: Table) -> Convergence:
        return cls(ascent.reason == "converged", len(ascent.trace), ascent.trace, starts)

    @property
    def value(self) -> float:
        """The last objective."""
        return self.trace[-1] if self.trace else -np.inf

    @property
    def change(self) -> float:
        """By which the last step changed the objective."""
        return self.trace[-1] - self.trace[-2] if len(self.trace) > 1 else np.inf


class Progress:
    """Prints a line for every so many steps of EM, or at a terminal one that is written again."""

    def __init__(self, verbose: int, interval: int, max_iter: int) -> None:
        self._verbose, self._interval, self._max_iter = verbose, interval, max_iter
        self._begin, self._shown = time.perf_counter(), False
        self._start = 0
        self.step = 0  # of the start that is on its way

    def begin(self, start: int) -> None:
        """A new start of EM."""
        self._start, self.step = start, 0
        if self._verbose:
            print(f"Start {start}")

    def __call__(self, step: int, value: float, change: float) -> None:
        self.step = step
        seconds = time.perf_counter() - self._begin
        if self._verbose:
            if step % self._interval == 0:
                print(f"  Step {step}: {value:.6f} a row, {change:+.2g}, after {seconds:.1f} s")
        elif seconds > PATIENCE and sys.stderr.isatty():
            self._shown = True
            line = f"EM start {self._start}, step {step} of at most {self._max_iter}"
            print(f"\r\x1b[K{line}: {value:.6f} a row", end="", file=sys.stderr, flush=True)

    def end(self, reason: str, value: float) -> None:
        """All starts are done."""
        if self._verbose:
            print(f"Ended ({reason}) at {value:.6f} a row")
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def best_of(
    n_starts: int, climb: Callable[[], Ascent[Any, Any]], progress: Progress, features: Array
) -> tuple[Ascent[Any, Any], Table]:
    """The best ascent and a line for each start; a collapsed one is less probable than any."""
    arrived: list[Ascent[Any, Any]] = []
    objective, steps, ended = list[float](), list[int](), list[str]()
    for start in range(n_starts):
        progress.begin(start)
        try:
            ascent = climb()
        except DegenerateError as error:
            collapse = error
            where = "" if error.feature is None else f" in column {quoted(features[error.feature])}"
            objective.append(-np.inf)
            steps.append(progress.step)
            ended.append(f"collapsed{where}")
        else:
            arrived.append(ascent)
            objective.append(ascent.value)
            steps.append(len(ascent.trace))
            ended.append(ascent.reason)
    if not arrived:
        all_ = f"All {n_starts} starts collapsed. " if n_starts > 1 else ""
        raise DegenerateError(all_ + collapse.template, collapse.feature, collapse.group)
    best = max(arrived, key=lambda ascent: ascent.value)
    progress.end(best.reason, best.value)
    columns = {"objective": objective, "steps": steps, "ended": ended}
    return best, Table({name: np.array(column) for name, column in columns.items()})


def warn_of_components(steps: Convergence, weight: Floats, n_rows: int, stop: Stop) -> None:
    """Say if they are not the best yet, or if some are not there any more."""
    if not steps.converged and stop.max_iter > 0:
        warnings.warn(
            "Best performing initialization did not converge. Try different init parameters, "
            "or increase max_iter, tol, or check for degenerate data. The last step changed "
            f"the objective by {steps.change:.2g} a row, tol is {stop.tol:g}.",
            ConvergenceWarning,
            stacklevel=4,
        )
    gone = np.flatnonzero(weight < VANISHED * weight.sum() / n_rows)
    if len(gone):
        warnings.warn(
            f"Component(s) {', '.join(map(str, gone))} vanished: no row belongs to them. Ask "
            f"for {len(weight) - len(gone)} components, or for more starts (n_init).",
            DegenerateWarning,
            stacklevel=4,
        )
