"""Selection of k: every row is answered by the others, for all numbers of neighbors at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from numbers import Integral
from operator import add
from typing import Any

import numpy as np

from posterior.data.rows import take
from posterior.data.table import Table
from posterior.data.typing import Floats, Integers
from posterior.neighbors import votes
from posterior.neighbors.index import Index
from posterior.neighbors.nearest_rows import Neighbors, neighbors
from posterior.neighbors.training_rows import TrainingRows
from posterior.neighbors.votes import Rule

SMOOTHINGS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)  # never zero: no class is ruled out
MOST = 200  # neighbors that are ever tried without being asked
CELLS, LEAST = 1_000_000, 1024  # neighbors of a chunk of rows, and its rows


@dataclass(frozen=True, slots=True, eq=False)
class Losses:
    """Sums over rows that were left out, for each number of neighbors and each smoothing."""

    weight: float
    wrong: Floats  # (numbers, smoothings): Σ w [answer is wrong]
    log_loss: Floats  # Σ w l,  l = -log p(y | x)
    squares: Floats  # Σ w l²

    def __add__(self, other: Losses, /) -> Losses:
        return Losses(
            self.weight + other.weight,
            self.wrong + other.wrong,
            self.log_loss + other.log_loss,
            self.squares + other.squares,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The number of neighbors and the smoothing of least leave-one-out log loss."""

    n_neighbors: int
    smoothing: float
    table: Table
    score: tuple[float, float]  # log loss, then error


def candidates(n_rows: int) -> Integers:
    """Numbers of neighbors to try: each up to twenty, then fewer and fewer up to 2 √n + 10."""
    most = max(1, min(n_rows - 1, MOST, int(2 * np.sqrt(n_rows)) + 10))
    spread = np.geomspace(20, max(most, 20), 20).round().astype(np.int64)
    numbers = np.union1d(np.arange(1, 21), spread)
    return numbers[numbers <= most]


def tried(n_neighbors: Any, training: TrainingRows) -> Integers:
    """Numbers of neighbors to choose from: the one that was asked for, some of them, or "auto"."""
    if isinstance(n_neighbors, Integral):
        return np.array([n_neighbors], np.int64)
    n = int(training.total)
    if n < 2:
        raise ValueError(
            f"Expected two rows or more to choose n_neighbors, got n_samples = {n}. Give a number."
        )
    if isinstance(n_neighbors, str):
        return candidates(n)
    numbers = np.unique(np.asarray(n_neighbors))
    if numbers.dtype.kind not in "iu" or not len(numbers) or numbers[0] < 1 or numbers[-1] >= n:
        raise ValueError(
            f"Expected numbers of neighbors from 1 to {n - 1} to choose from, got {n_neighbors!r}."
        )
    return numbers.astype(np.int64)


def choose(
    index: Index,
    training: TrainingRows,
    numbers: Integers,
    smoothings: Sequence[float],
    rules: Sequence[Rule],
    asked: Integers | None = None,
) -> list[Choice]:
    """Leave every row out in turn, or each of some rows: its neighbors are found once, and asked
    many times, by each rule of voting."""
    counted, most = training.counted if asked is None else asked, int(numbers.max())
    size = max(LEAST, CELLS // max(most, *map(len, training.classes)))

    def chunk(start: int) -> list[Losses]:
        rows = counted[start : start + size]
        found = neighbors(index, take(training.X, rows), most, training.weight, rows)
        return [left_out(found, training, numbers, smoothings, rule) for rule in rules]

    chunks = zip(*map(chunk, range(0, len(counted), size)), strict=True)
    return [chosen(reduce(add, losses), numbers, smoothings) for losses in chunks]


def left_out(
    found: Neighbors,
    training: TrainingRows,
    numbers: Integers,
    smoothings: Sequence[float],
    rule: Rule,
) -> Losses:
    """Losses of rows that their neighbors answer for; of several outputs, on average."""
    shape, outputs = (len(numbers), len(smoothings)), len(training.classes)
    wrong, log_loss, squares = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    rows = found.skipped
    assert rows is not None
    w, each = training.weights[rows], np.arange(len(rows))
    truths, codes = training.codes[rows].T, training.codes[found.rows]
    priors = [training.prior(output, rows) for output in range(outputs)]
    smoothing = np.asarray(smoothings, np.float64)[:, None, None]
    for i, k in enumerate(numbers):
        part, weight = found.votes(int(k), rule)
        counted = part.sum(axis=1, keepdims=True)
        loss, miss = np.zeros((2, len(smoothings), len(rows)))
        for output, (truth, prior) in enumerate(zip(truths, priors, strict=True)):
            own = codes[:, : part.shape[1], output]
            ballot = votes.tally(own, weight, len(training.classes[output]))
            p = votes.posterior(ballot, counted, prior, smoothing)
            with np.errstate(divide="ignore"):
                loss -= np.log(p[:, each, truth]) / outputs
            miss += (p.argmax(axis=2) != truth) / outputs
        wrong[i], log_loss[i], squares[i] = miss @ w, loss @ w, loss**2 @ w
    return Losses(float(w.sum()), wrong, log_loss, squares)


def chosen(losses: Losses, numbers: Integers, smoothings: Sequence[float]) -> Choice:
    """The best smoothing of each number of neighbors, and the best number."""
    n = losses.weight
    error, log_loss = losses.wrong / n, losses.log_loss / n
    best = np.lexsort((error, log_loss), axis=1)[:, 0]
    at = np.arange(len(numbers)), best
    with np.errstate(invalid="ignore"):
        spread = np.sqrt(np.maximum(losses.squares[at] / n - log_loss[at] ** 2, 0.0) / n)
    table = Table(
        {
            "n_neighbors": numbers,
            "smoothing": np.asarray(smoothings, np.float64)[best],
            "error": error[at],
            "error_se": np.sqrt(error[at] * (1 - error[at]) / n),
            "log_loss": log_loss[at],
            "log_loss_se": spread,
        }
    )
    first = int(np.lexsort((error[at], log_loss[at]))[0])
    score = float(log_loss[at][first]), float(error[at][first])
    return Choice(int(numbers[first]), float(smoothings[best[first]]), table, score)
