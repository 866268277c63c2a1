"""One model or all together: by what each lost on the same rows, held out."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior.data.blas_threads import one_blas_thread
from posterior.data.table import Table
from posterior.data.typing import Floats
from posterior.estimators.pool import shrunken_logistic, sparse_logistic
from posterior.estimators.pool.candidates import (
    MANY_CLASSES,
    OF_ALL,
    SHRUNKEN,
    SPARSE,
    Candidate,
    candidates,
    of_many_classes,
    of_wide,
    quick,
)
from posterior.estimators.pool.column_models import ColumnModels
from posterior.estimators.pool.dealt_rows import DealtRows
from posterior.estimators.pool.screening import Screening, is_wide
from posterior.estimators.pool.weighing import QUICK, Trial, answered, shares, together
from posterior.evaluation.held_out import HeldOut, floored
from posterior.preprocessing.roles import Roles

Progress = Callable[[str, int, int], None]  # what is done now, steps done, steps in all
AHEAD = 2.0  # standard errors: the best of ten models looks better than it is
BELIEVED = 1.0  # standard errors by which a pool of very many columns is ahead of the class shares
DOUBTED = 2.5  # the same of a pool of which most models know no more than the shares of the classes
POOL = "pool"
TIMES = {  # that models take beside a simple one, about: so that who watches knows the time left
    "naive-bayes-auto": 6,
    "aode": 8,
    "kdb": 8,
    "neighbors": 12,
    "additive": 8,
    "additive-convex": 12,
}
POOLED = "The weighted sum of the log probabilities of all that help, weighed on rows held out."


@dataclass(frozen=True, slots=True, eq=False)
class Runner:
    """A model, or all as one, and how it did on rows held out."""

    key: str
    name: str
    kind: str
    simplicity: int
    settings: str
    candidate: Candidate | None  # None of all together
    trials: tuple[Trial, ...]
    raw: HeldOut  # as the model says
    held_out: HeldOut  # at the sharpness, or by the weights, that other rows chose
    seconds: float
    nothing: bool = False  # whether the shares of the classes are all that it says

    @property
    def alone(self) -> bool:
        """Whether it is one model."""
        return self.candidate is not None


@dataclass(frozen=True, slots=True, eq=False)
class Race:
    """All that were tried on some rows, and those that could not read them."""

    runners: tuple[Runner, ...]
    failures: tuple[tuple[str, str], ...]  # names and reasons
    columns: ColumnModels  # by which models read the table
    rows: DealtRows  # as models were given them
    screened: bool = False  # whether models have chosen among very many columns

    @property
    def best(self) -> Runner:
        """The one of the least loss."""
        return min(self.runners, key=lambda each: (each.held_out.log_loss, each.simplicity))

    def chosen(self, tolerance: float) -> Runner:
        """All together, or one model that is ahead of it by two standard errors, row by row.

        With a tolerance, the simplest model that is ahead by so many times two errors less.
        """
        together, alone = self.runners[-1], [each for each in self.runners if each.alone]
        if together.nothing:
            return together
        if together.alone:
            return self.best
        most = AHEAD * (tolerance - 1)
        near = [each for each in alone if behind(each.held_out, together.held_out) <= most]
        if not tolerance:
            return min(near, key=lambda each: each.held_out.log_loss, default=together)
        return min(near, key=lambda e: (e.simplicity, e.held_out.log_loss), default=together)

    def table(self, kept: Runner) -> Table:
        """By log loss, the least first."""
        ranked = sorted(self.runners, key=lambda each: each.held_out.log_loss)
        return Table(
            {
                "model": np.array([each.name for each in ranked], object),
                "log loss": np.array([each.held_out.log_loss for each in ranked]),
                "accuracy": np.array([each.held_out.accuracy for each in ranked]),
                "behind": np.array([behind(each.held_out, ranked[0].held_out) for each in ranked]),
                "": np.array(["<- kept" if each is kept else "" for each in ranked], object),
            }
        )


def behind(each: HeldOut, best: HeldOut) -> float:
    """The mean difference of two log losses row by row, in standard errors of it."""
    apart: Floats = each.losses()["log_loss"] - best.losses()["log_loss"]
    if len(apart) == 0:
        return 0.0
    mean = float(np.average(apart, weights=best.weight))
    error = float(apart.std(ddof=1) / np.sqrt(len(apart))) if len(apart) > 1 else 0.0
    return mean / error if error > 0 else (0.0 if mean <= 0 else np.inf)


def race(
    roles: Roles,
    rows: DealtRows,
    models: Collection[str] | None = None,
    progress: Progress | None = None,
) -> Race:
    """Every model that can read these columns, learned from all rows, and all of them together."""
    with quiet(), one_blas_thread():
        columns, rows = ColumnModels.learn(roles, rows)
    given, n, k = columns.roles, len(rows.codes), len(rows.classes)
    screening = Screening.of(given, rows) if is_wide(given, n) else None
    searched, plain = given, columns.plain()
    listed = candidates(given, n, k)
    if k > MANY_CLASSES and columns.columns and plain.table:
        searched, listed = plain, of_many_classes(given, plain, n, k)
    if screening is not None:
        listed = of_wide(given, screening.roles, screening.many_tell, n, k)
    if models == QUICK:
        entered = quick(entries(listed, n, None), n * len(searched.table), k)
    else:
        entered = entries(listed, n, models)
    found: list[Runner] = []
    failures: list[tuple[str, str]] = []
    times = [TIMES.get(candidate.key, 1) for candidate in entered]
    for i, candidate in enumerate(entered):
        if progress is not None:
            progress(candidate.name, sum(times[:i]), sum(times))
        started = time.perf_counter()
        try:
            with quiet(), one_blas_thread():  # of many small products; engines have their own
                trial = tried(candidate, rows, screening)
        except (ValueError, np.linalg.LinAlgError, MemoryError) as error:
            failures.append((candidate.name, str(error).splitlines()[0]))
            continue
        found.append(alone(candidate, trial, rows, time.perf_counter() - started))
    if not found:
        said = " ".join(f"{name}: {reason}" for name, reason in failures)
        raise ValueError(f"Expected a table that some model can read, but: {said}")
    if progress is not None:
        progress("All together", sum(times), sum(times))
    screened = screening is not None
    runners = (*found, *all_together(found, rows, screened))
    return Race(runners, tuple(failures), columns, rows, screened)


def tried(candidate: Candidate, rows: DealtRows, screening: Screening | None) -> Trial:
    """A model of all columns, or of those that each part of the rows keeps of many."""
    name, member = candidate.name, candidate.classifier
    if screening is None or candidate.key.endswith(OF_ALL):
        return Trial.of(name, member, rows)
    if candidate.key == SHRUNKEN:
        return shrunken_logistic.trial(name, member, rows)
    if candidate.key == SPARSE:
        return sparse_logistic.trial(name, member, rows)
    return screening.trial(name, member)


def entries(
    listed: Sequence[Candidate], n_rows: int, models: Collection[str] | None
) -> list[Candidate]:
    """Those asked for by key; by default all that are worth their time on so many rows."""
    if models is None:
        return [c for c in listed if c.most_rows is None or n_rows <= c.most_rows]
    keys = [c.key for c in listed]
    unknown = [key for key in models if key not in keys]
    if unknown:
        raise ValueError(f"Expected models among {keys} for these columns, got {unknown}.")
    return [c for c in listed if c.key in models]


def alone(candidate: Candidate, trial: Trial, rows: DealtRows, seconds: float) -> Runner:
    """A model by itself, at the sharpness that suits it best."""
    c, raw = candidate, answered(floored(trial.said), rows)
    told = c.key, c.name, c.kind, c.simplicity, c.settings, c
    return Runner(*told, (trial,), raw, together([trial], rows), seconds)


def all_together(found: Sequence[Runner], rows: DealtRows, screened: bool) -> list[Runner]:
    """The pool, where there are several."""
    if len(found) < 2:
        return []
    started = time.perf_counter()
    trials = tuple(trial for each in found for trial in each.trials)
    held_out = together(trials, rows)
    simplicity = 1 + max(each.simplicity for each in found)
    seconds = time.perf_counter() - started + sum(each.seconds for each in found)
    nothing = screened and found_nothing(held_out, found, rows)
    if nothing:
        held_out = shares(rows)
    told = POOL, "All together", POOL, simplicity, POOLED, None
    return [Runner(*told, trials, held_out, held_out, seconds, nothing)]


def found_nothing(held_out: HeldOut, found: Sequence[Runner], rows: DealtRows) -> bool:
    """Whether a pool is not ahead of the shares of the classes, row by row.

    Among very many columns chance finds some that seem to tell, and a model that believes them;
    what really tells is seen by most models.
    """
    known = shares(rows)
    ahead = [behind(each.held_out, known) < 0 for each in found]
    return behind(held_out, known) > -(BELIEVED if np.mean(ahead) >= 0.5 else DOUBTED)


class quiet(warnings.catch_warnings):  # noqa: N801
    """Trials may meet degenerate folds; what matters is said by their scores."""

    def __enter__(self) -> Any:
        found = super().__enter__()
        warnings.simplefilter("ignore")
        return found
