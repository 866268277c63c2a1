"""Held-out probabilities: of every row by a model that never saw it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posterior.data.table import Table
from posterior.data.typing import Array, Codes, Floats

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

    @property
    def predicted(self) -> Array:
        """The most probable class of each row."""
        return self.classes[self.log_proba.argmax(axis=1)]

    def losses(self) -> dict[str, Floats]:
        """Log loss, Brier score and correctness of each row."""
        own = self.log_proba[np.arange(len(self.codes)), self.codes]
        proba = self.proba
        truth = np.zeros_like(proba)
        truth[np.arange(len(self.codes)), self.codes] = 1
        return {
            "log_loss": -own,
            "accuracy": (self.log_proba.argmax(axis=1) == self.codes).astype(np.float64),
            "brier": ((proba - truth) ** 2).sum(axis=1),
        }

    def _mean(self, name: str) -> float:
        return float(np.average(self.losses()[name], weights=self.weight))

    @property
    def log_loss(self) -> float:
        return self._mean("log_loss")

    @property
    def accuracy(self) -> float:
        return self._mean("accuracy")

    @property
    def brier(self) -> float:
        return self._mean("brier")

    @property
    def scores(self) -> Table:
        """Log loss, accuracy and Brier score of each fold."""
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
        parts = self.losses()[name] if self.folds is None else self.scores[name]
        return float(np.std(parts, ddof=1) / np.sqrt(len(parts))) if len(parts) > 1 else np.nan

    def __str__(self) -> str:
        names = ("log_loss", "accuracy", "brier")
        kind = "leave-one-out" if self.folds is None else f"{len(self.scores)}-fold"
        means = np.array([self._mean(n) for n in names])
        errors = np.array([self.standard_error(n) for n in names])
        table = Table({"score": np.array(names), "mean": means, "standard error": errors})
        return f"{kind} cross-validation of {len(self.codes)} rows\n{table}"

    __repr__ = __str__


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
