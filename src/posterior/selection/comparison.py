"""Comparison of models by log loss on the same rows held out, and the classifier made of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior.data.table import Table
from posterior.data.typing import Codes, Floats, Integers
from posterior.estimators.pool.candidates import Candidate
from posterior.estimators.pool.choice import Progress, Race, Runner, quiet, race
from posterior.estimators.pool.classifier import Classifier
from posterior.estimators.pool.column_models import ColumnModels
from posterior.estimators.pool.dealt_rows import FOLDS
from posterior.evaluation.held_out import SCORES, HeldOut, aligned, floored
from posterior.evaluation.reliability import calibration_measure
from posterior.evaluation.scores import Measure, measure
from posterior.generative.fold_sums import stratified_folds
from posterior.preprocessing.infer_roles import infer
from posterior.preprocessing.roles import Roles
from posterior.selection.labeled_rows import LabeledRows, labeled_rows

__all__ = ["Comparison", "Judged", "Progress", "compare", "judged", "quiet", "sampled"]

BASELINE = "baseline"


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """One model, or all together, and what it scored on rows held out."""

    key: str
    name: str
    kind: str
    simplicity: int
    settings: str
    candidate: Candidate | None  # None of all together, and of the baseline
    index: Integers  # rows that were scored
    raw: HeldOut  # as the model says
    held_out: HeldOut  # at the sharpness, or by the weights, that other rows chose
    seconds: float

    @property
    def is_model(self) -> bool:
        """Whether it reads the columns."""
        return self.kind != BASELINE

    @property
    def corrected(self) -> bool:
        """Whether probabilities are not as the model says."""
        return self.candidate is not None

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
    classifier: Classifier  # of all rows
    columns: ColumnModels  # by which models read the table

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
        n, n_folds = len(self.chosen.index), len(self.chosen.held_out.scores)
        of = f"{n_folds}-fold cross-validation of {n:,} rows"
        return f"{of if n_folds > 1 else f'{n:,} rows held out'}\n{self.table}"

    __repr__ = __str__


def compare(
    frame: Any,
    target: str,
    *,
    roles: Roles | None = None,
    models: Collection[str] | None = None,
    tolerance: float = 0.0,
    folds: int = FOLDS,
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Score the models that `Classifier` would try on a table, and choose as it does.

    Parameters
    ----------
    frame : of pandas, polars, pyarrow, ...
    target : name of the column to predict
    roles : what the columns are; by default as `posterior.preprocessing.infer_roles.infer` says
    models : keys of the models to compare, such as "naive-bayes", or "quick", as in `Classifier`;
        by default all
    tolerance : as in `Classifier`
    folds : int, default=5
        Of 10,000 rows and more, one of them is held out.
    seed : int, default=0
        Of the draw of rows where there are more than 250,000.
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
    rows = labeled_rows(roles.read(frame), roles, folds, seed)
    tried = race(roles, rows.dealt, models, progress)
    classifier = Classifier(tolerance=tolerance, models=models, roles=roles)
    classifier.after(tried, rows.dealt, roles)
    rows, read_by = rows.as_given(tried.rows), classifier.fitted_.read_by
    assert read_by is not None
    ranked = _ranked(tried, rows, tolerance)
    return Comparison(classifier.roles_, rows, *ranked, classifier, read_by)


def _ranked(
    tried: Race, rows: LabeledRows, tolerance: float
) -> tuple[tuple[Judged, ...], tuple[tuple[str, str], ...], Judged, Judged]:
    """All by log loss, those that failed, the best and the chosen."""
    of = {id(runner): judged(runner, rows) for runner in tried.runners}
    ranked = sorted([baseline(rows), *of.values()], key=lambda j: j.held_out.log_loss)
    best, chosen = of[id(tried.best)], of[id(tried.chosen(tolerance))]
    return tuple(ranked), tried.failures, best, chosen


def judged(runner: Runner, rows: LabeledRows) -> Judged:
    """What a model scored, row after row as the file has them."""
    index = rows.dealt.order[rows.dealt.held_out]
    order = np.argsort(index)
    index = index[order]

    def placed(held_out: HeldOut) -> HeldOut:
        log_proba = aligned(held_out.log_proba[order], held_out.classes, rows.classes)
        return HeldOut(log_proba, rows.codes[index], rows.classes, rows.folds[index])

    r = runner
    told = r.key, r.name, r.kind, r.simplicity, r.settings, r.candidate
    return Judged(*told, index, placed(r.raw), placed(r.held_out), r.seconds)


def baseline(rows: LabeledRows) -> Judged:
    """The class shares of the other folds: what can be said without a column."""
    k, n_folds = len(rows.classes), rows.n_folds
    counts = np.zeros((n_folds, k))
    np.add.at(counts, (rows.folds, rows.codes), 1)
    others = counts.sum(axis=0) - counts + 1 / k  # a class may be in one fold alone
    log_share: Floats = np.log(others / others.sum(axis=1, keepdims=True))
    index = np.sort(rows.dealt.order[rows.dealt.held_out])
    folds = rows.folds[index]
    held_out = HeldOut(floored(log_share[folds]), rows.codes[index], rows.classes, folds)
    settings = "The shares of the classes, whatever the columns say."
    told = "majority", "Largest class", BASELINE, 0, settings, None
    return Judged(*told, index, held_out, held_out, 0.0)


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
