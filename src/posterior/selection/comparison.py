"""Comparison of models by log loss on the same folds: the simplest within one standard error."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from posterior.data.table import Table
from posterior.data.typing import Array, Codes, Floats
from posterior.estimators.pool.candidates import Candidate, Kind, asked_for, candidates
from posterior.estimators.table_classifier import TableClassifier
from posterior.evaluation.calibration import Calibrator
from posterior.evaluation.held_out import SCORES, HeldOut, floored
from posterior.evaluation.reliability import calibration_measure
from posterior.evaluation.scores import Measure, measure
from posterior.generative.fold_sums import stratified_folds
from posterior.preprocessing.infer_roles import infer
from posterior.preprocessing.roles import Roles
from posterior.selection.labeled_rows import LabeledRows, labeled_rows
from posterior.selection.out_of_fold import calibrated, one_pass, out_of_fold, settled

Progress = Callable[[str, int, int], None]  # what is done now, steps done, steps in all
RACED = 1e5  # rows × columns × classes above which there are races
WORDS = 100  # columns that a text counts for
MEETINGS = (3, 5)  # after so many folds
ERRORS = 2.0  # paired standard errors that settle it
LEAST_ROWS = 300  # that both have answered


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """One model and what it scored out of fold."""

    key: str
    name: str
    kind: Kind
    simplicity: int
    settings: str
    candidate: Candidate | None  # None for the baseline
    index: Array  # rows that were scored
    raw: HeldOut  # as the model says
    held_out: HeldOut  # corrected, if that helps
    calibration: str | None
    calibrator: Calibrator | None
    seconds: float
    given_up: int | None = None  # after so many folds, when it could not be chosen any more

    def scores(self) -> dict[str, Measure]:
        means = {name: measure(self.held_out, name) for name in SCORES}
        return means | {"calibration_error": self.calibration_error}

    @property
    def log_loss(self) -> Measure:
        return measure(self.held_out, "log_loss")

    @property
    def accuracy(self) -> Measure:
        return measure(self.held_out, "accuracy")

    @property
    def brier(self) -> Measure:
        return measure(self.held_out, "brier")

    @property
    def calibration_error(self) -> Measure:
        return calibration_measure(self.held_out)[0]


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Models by log loss, the best first, and the one that was chosen."""

    roles: Roles
    rows: LabeledRows
    judged: tuple[Judged, ...]
    failures: tuple[tuple[str, str], ...]  # names and reasons
    best: Judged
    chosen: Judged

    @property
    def threshold(self) -> float:
        """The least log loss and one standard error: models below it are as good."""
        return self.best.log_loss.value + (self.best.log_loss.standard_error or 0.0)

    def fit(self) -> TableClassifier:
        """The chosen model, of all rows."""
        assert self.chosen.candidate is not None
        model = clone(self.chosen.candidate.classifier)
        model.set_params(calibrator=self.chosen.calibrator)
        with quiet():
            return model.fit(self.rows.frame, self.rows.y)

    @property
    def table(self) -> Table:
        """Scores of all models, to read."""
        found = [judged.scores() for judged in self.judged]
        marks = ["<- chosen" if judged is self.chosen else "" for judged in self.judged]
        return Table(
            {"model": np.array([judged.name for judged in self.judged])}
            | {n.replace("_", " "): np.array([str(s[n]) for s in found]) for n in found[0]}
            | {"": np.array(marks)}
        )

    def __str__(self) -> str:
        n = len(self.rows)
        return f"{self.rows.n_folds}-fold cross-validation of {n:,} rows\n{self.table}"

    __repr__ = __str__


def compare(
    frame: Any,
    target: str,
    *,
    roles: Roles | None = None,
    models: Collection[str] | None = None,
    folds: int = 10,
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Score models of a table on the same folds, and choose one.

    Parameters
    ----------
    frame : of pandas, polars, pyarrow, ...
    target : name of the column to predict
    roles : what the columns are; by default as `posterior.preprocessing.infer_roles.infer` says
    models : keys of the models to compare, such as "naive-bayes"; by default all but "additive"
    folds : int, default=10
    seed : int, default=0
        Of the deal of rows to folds, and of samples where a table is large.
    progress : called with what is done, how many steps are done, and how many there are

    Examples
    --------
    >>> import pandas as pd
    >>> from posterior.selection import compare
    >>> table = pd.DataFrame({"size": [1, 2, 3, 4] * 5, "kind": ["a", "a", "b", "b"] * 5})
    >>> compare(table, "kind", models=["naive-bayes"]).chosen.name
    'Naive Bayes'
    """
    roles = roles or infer(frame, target)
    rows = labeled_rows(frame, roles, folds, seed)
    listed = candidates(roles, len(rows), len(rows.classes))
    listed += [] if models is None else asked_for(roles)
    keys = [c.key for c in listed]
    unknown = [key for key in models or () if key not in keys]
    if unknown:
        raise ValueError(f"Expected models among {keys} for these columns, got {unknown}.")
    listed = [c for c in listed if models is None or c.key in models]
    report = progress or _silent
    judged, failures = [baseline(rows)], []
    # soon scored first: those that take long then know whom they must beat
    soon = sorted(listed, key=lambda c: (not one_pass(c.classifier), c.searches))
    for i, candidate in enumerate(soon):
        report(candidate.name, i, len(soon))
        try:
            judged.append(judge(candidate, rows, seed, _leader(judged, rows)))
        except (ValueError, np.linalg.LinAlgError, MemoryError) as error:
            failures.append((candidate.name, str(error).splitlines()[0]))
    report("compared", len(listed), len(listed))
    models_judged = [j for j in judged if j.candidate is not None and j.given_up is None]
    if not models_judged:
        raise ValueError(
            "Expected a model that can read this table, but: "
            + " ".join(f"{name}: {reason}" for name, reason in failures)
        )
    judged.sort(key=lambda j: j.log_loss.value)
    best = min(models_judged, key=lambda j: j.log_loss.value)
    limit = best.log_loss.value + (best.log_loss.standard_error or 0.0)
    good = [j for j in models_judged if j.log_loss.value <= limit]
    chosen = min(good, key=lambda j: (j.simplicity, j.log_loss.value))
    return Comparison(roles, rows, tuple(judged), tuple(failures), best, chosen)


def judge(
    candidate: Candidate, rows: LabeledRows, seed: int = 0, leader: Leader | None = None
) -> Judged:
    """Scores of one model out of fold, corrected where that helps; a long race may end early."""
    started = time.perf_counter()
    index = sampled(rows, candidate.most_rows, seed)
    long = is_long(len(index), candidate.classifier.roles, len(rows.classes))

    def given_up(so_far: HeldOut, asked: Codes, folds: int) -> bool:
        if leader is None or not long or folds not in MEETINGS:
            return False
        return leader.leaves_behind(calibrated(so_far)[2], asked, candidate.simplicity)

    with quiet():
        classifier = settled(candidate.classifier, rows, index)
        raw, answered = out_of_fold(classifier, rows, index, given_up)
    name, calibrator, held_out = calibrated(raw)
    folds = len(np.unique(rows.folds[answered]))
    return Judged(
        candidate.key,
        candidate.name,
        candidate.kind,
        candidate.simplicity,
        candidate.settings,
        replace(candidate, classifier=classifier),
        answered,
        raw,
        held_out,
        name,
        calibrator,
        time.perf_counter() - started,
        folds if len(answered) < len(index) else None,
    )


def _leader(judged: list[Judged], rows: LabeledRows) -> Leader | None:
    """Who must be beaten."""
    models = [j for j in judged if j.candidate is not None and j.given_up is None]
    if not models:
        return None
    best = min(models, key=lambda j: j.log_loss.value)
    error = best.log_loss.standard_error or 0.0
    return Leader.of(best.held_out, best.index, len(rows), error, best.simplicity)


def baseline(rows: LabeledRows) -> Judged:
    """The class shares of the other folds: what can be said without a column."""
    started = time.perf_counter()
    k, n_folds = len(rows.classes), rows.n_folds
    counts = np.zeros((n_folds, k))
    np.add.at(counts, (rows.folds, rows.codes), 1)
    others = counts.sum(axis=0) - counts + 1 / k  # a class may be in one fold alone
    log_share: Floats = np.log(others / others.sum(axis=1, keepdims=True))
    held_out = HeldOut(floored(log_share[rows.folds]), rows.codes, rows.classes, rows.folds)
    return Judged(
        "majority",
        "Largest class",
        "baseline",
        0,
        "The shares of the classes, whatever the columns say.",
        None,
        np.arange(len(rows)),
        held_out,
        held_out,
        None,
        None,
        time.perf_counter() - started,
    )


def sampled(rows: LabeledRows, most: int | None, seed: int) -> Codes:
    """Some rows of every class and fold, in order; all where no limit is set."""
    n = len(rows)
    if most is None or n <= most:
        return np.arange(n, dtype=np.int32)
    order = np.random.default_rng(seed).permutation(n)
    both = rows.codes[order].astype(np.int64) * rows.n_folds + rows.folds[order]
    _, cells = np.unique(both, return_inverse=True)
    dealt = stratified_folds(cells.astype(np.int32), -(-n // most))
    return np.sort(order[dealt == 0]).astype(np.int32)


class quiet(warnings.catch_warnings):  # noqa: N801
    """Trials may meet degenerate folds; what matters is said by their scores."""

    def __enter__(self) -> Any:
        found = super().__enter__()
        warnings.simplefilter("ignore")
        return found


def _silent(step: str, done: int, total: int) -> None:
    pass


def is_long(n_rows: int, roles: Roles, n_classes: int) -> bool:
    """Whether it pays to end a model's folds early."""
    return n_rows * (len(roles.table) + WORDS * len(roles.text)) * n_classes > RACED


@dataclass(frozen=True, slots=True, eq=False)
class Leader:
    """The best model so far, and what it lost in each row."""

    losses: Floats  # (n,) NaN for rows that it was not asked about
    standard_error: float
    simplicity: int

    @classmethod
    def of(
        cls, held_out: HeldOut, index: Array, n_rows: int, standard_error: float, simplicity: int
    ) -> Leader:
        losses = np.full(n_rows, np.nan)
        losses[index] = held_out.losses()["log_loss"]
        return cls(losses, standard_error, simplicity)

    def leaves_behind(self, held_out: HeldOut, index: Codes, simplicity: int) -> bool:
        """Whether a model with these answers so far cannot be chosen any more."""
        more = held_out.losses()["log_loss"] - self.losses[index]
        more = more[~np.isnan(more)]
        if len(more) < LEAST_ROWS:
            return False
        room = self.standard_error * np.sign(self.simplicity - simplicity)
        return bool(more.mean() - ERRORS * more.std(ddof=1) / np.sqrt(len(more)) > room)
