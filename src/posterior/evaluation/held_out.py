"""Held-out probabilities: of every row by a model that never saw it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from posterior.data.table import Table
from posterior.data.typing import Array, Codes, Floats, Integers

LEAST = 1e-12  # a probability of zero for what happened would make the mean infinite


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """Probabilities that every row got from a model which never saw it."""

    log_proba: Floats  # (n, k)
    codes: Codes  # (n,) the true classes
    classes: Array
    folds: Codes | None = None  # (n,) or None if each row was its own fold
    weight: Floats | None = None

    @property
    def proba(self) -> Floats:
        return np.exp(self.log_proba)

    @property
    def names(self) -> list[str]:
        """The classes, as people read them."""
        return [str(label) for label in self.classes.tolist()]

    def take(self, rows: Integers, *, folds: bool = True) -> HeldOut:
        """Some of the rows, in that order; without folds, each is its own."""
        kept = None if self.folds is None or not folds else self.folds[rows]
        weight = None if self.weight is None else self.weight[rows]
        return HeldOut(self.log_proba[rows], self.codes[rows], self.classes, kept, weight)

    @property
    def predicted(self) -> Array:
        """The most probable class of each row."""
        return self.classes[self.log_proba.argmax(axis=1)]

    def losses(self) -> dict[str, Floats]:
        """Scores of each row, by name."""
        return {name: score.of_rows(self) for name, score in SCORES.items()}

    def mean(self, name: str) -> float:
        """A score of all rows."""
        of_rows = SCORES[name].of_rows(self)
        return float(np.average(of_rows, weights=self.weight)) if len(of_rows) else np.nan

    @property
    def log_loss(self) -> float:
        return self.mean("log_loss")

    @property
    def accuracy(self) -> float:
        return self.mean("accuracy")

    @property
    def brier(self) -> float:
        return self.mean("brier")

    @property
    def scores(self) -> Table:
        """Scores of each fold."""
        losses = self.losses()
        folds = np.zeros(len(self.codes), np.int32) if self.folds is None else self.folds
        w = np.ones(len(self.codes)) if self.weight is None else self.weight
        rows = np.bincount(folds)
        some = np.flatnonzero(rows)
        with np.errstate(invalid="ignore", divide="ignore"):
            total = np.bincount(folds, w)[some]
            means = {n: np.bincount(folds, w * x)[some] / total for n, x in losses.items()}
        return Table({"fold": some, "rows": rows[some]} | means)

    def standard_error(self, name: str) -> float:
        """Of a mean: from fold to fold, or from row to row where each row was a fold."""
        parts = SCORES[name].of_rows(self) if self.folds is None else self.scores[name]
        return float(np.std(parts, ddof=1) / np.sqrt(len(parts))) if len(parts) > 1 else np.nan

    def __str__(self) -> str:
        n_folds = len(self.scores)
        kind = "leave-one-out" if self.folds is None else f"{n_folds}-fold"
        of = f"{kind} cross-validation of {len(self.codes)} rows"
        if self.folds is not None and n_folds == 1:
            of = f"{len(self.codes)} rows held out"
        means = np.array([self.mean(name) for name in SCORES])
        errors = np.array([self.standard_error(name) for name in SCORES])
        table = Table({"score": np.array([*SCORES]), "mean": means, "standard error": errors})
        return f"{of}\n{table}"

    __repr__ = __str__


@dataclass(frozen=True, slots=True)
class Score:
    """A mean over rows."""

    title: str
    of_rows: Callable[[HeldOut], Floats]  # (n,)
    percent: bool = False  # a share of the rows
    higher_is_better: bool = False


def log_loss(held_out: HeldOut) -> Floats:
    """-log p(y | x)."""
    return -held_out.log_proba[np.arange(len(held_out.codes)), held_out.codes]


def correct(held_out: HeldOut) -> Floats:
    """1 where the most probable class is the true one."""
    return (held_out.log_proba.argmax(axis=1) == held_out.codes).astype(np.float64)


def brier(held_out: HeldOut) -> Floats:
    """Σ_k (p(k | x) - [k = y])²."""
    proba = held_out.proba
    proba[np.arange(len(proba)), held_out.codes] -= 1
    return (proba**2).sum(axis=1)


SCORES = {  # the one list: of a fold, of a comparison, of a report and of the commands
    "log_loss": Score("log loss", log_loss),
    "accuracy": Score("accuracy", correct, percent=True, higher_is_better=True),
    "brier": Score("Brier score", brier),
}


def aligned(log_proba: Floats, known: Array, classes: Array) -> Floats:
    """Columns of all classes, in their order: a fold may lack a class."""
    if np.array_equal(known, classes):
        return np.asarray(log_proba)
    place = {label: k for k, label in enumerate(classes.tolist())}
    out = np.full((len(log_proba), len(classes)), -np.inf)
    out[:, [place[label] for label in known.tolist()]] = log_proba
    return out


def floored(log_proba: Floats) -> Floats:
    """No class is impossible."""
    proba = np.maximum(np.exp(log_proba), LEAST)
    return np.log(proba / proba.sum(axis=1, keepdims=True))
