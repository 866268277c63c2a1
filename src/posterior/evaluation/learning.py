"""Learning curves: scores of a model by the number of rows it learned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from posterior.data import validate
from posterior.data.frames import take
from posterior.data.typing import Codes, Floats, Integers
from posterior.evaluation.held_out import aligned, floored
from posterior.evaluation.scores import Measure, mean_of

SIZES = 8
TESTED = 0.3  # of all rows


@dataclass(frozen=True, slots=True)
class LearningPoint:
    """Scores on rows never learned, of a model of so many rows, over repeated draws."""

    rows: int  # that were learned
    log_loss: Measure
    accuracy: Measure

    def scores(self) -> dict[str, Measure]:
        return {"log_loss": self.log_loss, "accuracy": self.accuracy}


def learning_curve(
    model: Any,
    X: Any,
    y: Any,
    *,
    sizes: Sequence[int] | None = None,
    n_test: int | None = None,
    repeats: int = 5,
    random_state: int = 0,
    folds: Codes | None = None,
) -> list[LearningPoint]:
    """Log loss and accuracy on rows held out, by the number of rows that were learned.

    Parameters
    ----------
    model : classifier; it is cloned, and stays as it is
    X, y : as in its `fit`
    sizes : numbers of rows to learn from, optional
        By default eight, from two rows a class to all that are not held out.
    n_test : int, optional
        Rows held out in each draw; by default three in ten.
    repeats : int, default=5
        Draws for each size, each nested: the rows of a smaller size are among those of a larger.
    random_state : int, default=0
    folds : array of shape (n_samples,), optional
        Rows to be held out together, one fold a draw; those below zero never are. By default rows
        are drawn one by one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from posterior import GaussianNB
    >>> from posterior.evaluation import learning_curve
    >>> curve = learning_curve(GaussianNB(), *load_iris(return_X_y=True))
    >>> curve[0].log_loss.value > curve[-1].log_loss.value
    True
    """
    labels = np.asarray(y)
    classes, codes = validate.labels(labels, len(labels))
    n = len(codes)
    held = int(TESTED * n) if n_test is None else n_test
    if sizes is None:
        sizes = np.unique(np.geomspace(2 * len(classes), n - held, SIZES).astype(np.int64)).tolist()
    random = np.random.default_rng(random_state)
    found = np.empty((repeats, len(sizes), 2))
    for draw in range(repeats):
        order = random.permutation(n)
        test, rest = order[:held], order[held:]
        if folds is not None:
            inside = folds[order] == draw % (int(folds.max()) + 1)
            test, rest = order[inside][:held], order[~inside]
        ordered, least = _classes_first(codes, rest)
        for i, size in enumerate(sizes):
            train = ordered[: max(int(size), least)]
            learned = clone(model).fit(take(X, train), labels[train])
            answer = learned.predict_log_proba(take(X, test))
            log_proba = floored(aligned(answer, learned.classes_, classes))
            found[draw, i] = _scores(log_proba, codes[test])
    return [
        LearningPoint(int(size), mean_of(found[:, i, 0]), mean_of(found[:, i, 1]))
        for i, size in enumerate(sizes)
    ]


def _classes_first(codes: Codes, order: Integers) -> tuple[Integers, int]:
    """A draw that begins with a row of each class, which models must know of, and how many."""
    _, first = np.unique(codes[order], return_index=True)
    return np.concatenate([order[first], np.delete(order, first)]), len(first)


def _scores(log_proba: Floats, codes: Codes) -> tuple[float, float]:
    """Log loss and accuracy."""
    own = log_proba[np.arange(len(codes)), codes]
    return float(-own.mean()), float((log_proba.argmax(axis=1) == codes).mean())
