"""Rules: how labeled rows become the coefficients of a logistic regression."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from posterior.data.errors import SeparationWarning
from posterior.data.names import plain
from posterior.data.rows import Features, Rows
from posterior.data.typing import Array, Floats
from posterior.discriminative.firth import firth
from posterior.discriminative.loss import LogisticLoss
from posterior.discriminative.minimum import Minimum
from posterior.discriminative.objective import Objective, Summer
from posterior.discriminative.penalty import Penalty
from posterior.discriminative.separation import separation
from posterior.discriminative.solvers.solution import Solution, Solver, Step, Watch, ignore
from posterior.readers.encoded import Encoded
from posterior.sources.remote_rows import RemoteRows

Factors = Callable[[Array, Floats], Floats | None]  # of classes and the weight of each


@dataclass(frozen=True, slots=True, eq=False)
class LogisticRule:
    """A penalty, a solver, and what a row of each class counts: all that rows leave open."""

    solver: Callable[[Objective], Solver]
    check: Callable[[Features, int], None]  # refuses rows and classes that no solver takes
    ended: Callable[[str, Solution], None]  # is told how each solver ended
    C: float = 1.0  # one over the strength of the penalty
    l1_ratio: float = 0.0
    intercept: bool = True
    intercept_scale: float = np.inf  # of a penalized intercept; infinite: it is free
    single: bool = True  # whether coefficients of rows in single precision are so too
    centered: bool = True  # whether a free intercept may be that of a typical row
    searches: bool = True  # whether to look for columns that separate the classes
    firth: bool = False  # Jeffreys' prior in the place of the penalty
    priors: Mapping[Any, tuple[float, float]] | None = None
    factors: Factors | None = None  # what a row of each class counts beyond its weight

    def dtype(self, X: Any) -> Any:
        """The type of the coefficients that rows of X give."""
        typed = self.single and (isinstance(X, np.ndarray) or sparse.issparse(X))
        return np.float32 if typed and X.dtype == np.float32 else np.float64

    def objective(self, rows: Rows | RemoteRows, reader: Encoded, engine: Summer) -> Objective:
        """What is to be minimized."""
        X, n_classes = rows.sample.X, rows.sample.hard.n_groups
        self.check(X, n_classes)
        shape = (1 if n_classes == 2 else n_classes, X.shape[1] + int(self.intercept))
        scale = self.intercept_scale if self.intercept else None
        C, ratio = (np.inf, 0.0) if self.firth else (self.C, self.l1_ratio)
        penalty = Penalty.of(shape, C, ratio, scale)
        if self.priors:
            names = [*map(plain, reader.names), *(["intercept"] if self.intercept else [])]
            penalty = penalty.with_priors(self.priors, names)
        # A free intercept may be that of a typical row: the same model, in better coordinates.
        free = self.intercept and not penalty.ridge[:, -1].any() and penalty.smooth
        moved = free and self.centered and isinstance(X, np.ndarray)
        origin = typical_row(np.asarray(X)) if moved else None
        return Objective(rows, LogisticLoss(shape[0], self.intercept, origin), penalty, engine)

    def solve(
        self, objective: Objective, start: Floats, reader: Encoded, watch: Watch = ignore
    ) -> Minimum:
        """Where an objective is least. Cells that are no numbers are looked for only if they show.

        Those of a table that is elsewhere are looked at batch by batch.
        """
        if self.firth:
            return self._by_firth(objective, reader)
        solver = self.solver(objective)
        try:
            solution = solver.minimize(objective, start, watch)
        except (ValueError, np.linalg.LinAlgError):
            reader.check(objective.rows.sample.X, fitting=True)
            raise
        if not np.isfinite(solution.trace[-1].value):
            reader.check(objective.rows.sample.X, fitting=True)
            raise ValueError(
                "Expected columns whose sums are finite, got cells that are too large. Scale them "
                "down, or take their logarithms."
            )
        minimum = Minimum(objective, solution, type(solver).__name__)
        self.ended(minimum.solver, solution)
        if self.searches and objective.penalty.is_flat:
            _warn_of_separation(minimum, reader.names)
        return minimum

    def _by_firth(self, objective: Objective, reader: Encoded) -> Minimum:
        reader.check(objective.at_hand.X, fitting=True)
        fit = firth(objective)
        trace = (Step(-fit.value, 0.0, 1.0),) * (fit.n_iter + 1)
        solution = Solution(fit.coef, trace, fit.converged, "Firth's score is zero")
        self.ended("Firth", solution)
        return Minimum(objective, solution, "Firth", fit)


def typical_row(X: Array) -> Floats:
    """The mean of up to a thousand rows."""
    some = X[:: max(1, len(X) // 1000)]
    return np.asarray(some.mean(axis=0, dtype=np.float64))


def _warn_of_separation(minimum: Minimum, names: Array) -> None:
    """Without a penalty, classes that columns tell apart have no best coefficients."""
    objective = minimum.objective
    found = separation(replace(objective, rows=objective.rows.sample), minimum.coef)
    if not found:
        return
    columns = ", ".join(str(plain(names[j])) for j in found.columns if j < len(names))
    by = f"column(s) {columns}" if columns else "the intercept"
    warnings.warn(
        f"The classes are separated ({found.kind}) by {by}: the likelihood has no maximum, and "
        "coefficients grow with the number of iterations. Use a finite C, or firth=True.",
        SeparationWarning,
        stacklevel=5,
    )
