"""Scores of rows by models that never saw them, for about the price of one fit.

Statistics subtract: the model without a fold is the total less the fold's own sums, and the model
without a row the total less the row (Izbicki 2013).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any, Protocol

import numpy as np

from posterior import kernels
from posterior.data.rows import Features, Hard, Rows, take
from posterior.data.typing import Codes, Floats
from posterior.families.family import AnyFamily, fill
from posterior.generative.joint import Joint, JointStatistics


class Filler(Protocol):
    """What is needed of an engine."""

    def fill(
        self, function: Callable[[Features, slice, Floats], None], X: Features, out: Floats
    ) -> None: ...


Finish = Callable[[JointStatistics[Any]], Joint[Any, Any]]


def fold_statistics(
    rows: Rows, folds: Codes, n_folds: int, sum_rows: Callable[[Rows], JointStatistics[Any]]
) -> list[JointStatistics[Any]]:
    """The sums of each fold, from one pass: a fold's classes are groups of their own."""
    groups = rows.groups
    assert isinstance(groups, Hard)
    k = groups.n_groups
    codes = np.where(groups.codes < 0, -1, folds * k + groups.codes).astype(np.int32)
    together = sum_rows(Rows(rows.X, Hard(codes, n_folds * k, groups.weight)))
    return [together.take(slice(f * k, (f + 1) * k)) for f in range(n_folds)]


def models_without(parts: list[JointStatistics[Any]], finish: Finish) -> list[Joint[Any, Any]]:
    """For each fold the model of all the others."""
    total = reduce(add, parts)
    return [finish(total - part) for part in parts]


def score_held_out(
    X: Features, folds: Codes, joints: list[Joint[Any, Any]], engine: Filler
) -> Floats:
    """log p(k | x) (n, k) of every row by the model that its fold took no part in."""
    scorers = [joint.discriminant() for joint in joints]
    out = np.empty((X.shape[0], len(joints[0].log_prior)))

    def score(chunk: Features, rows: slice, part: Floats) -> None:
        fold = folds[rows]
        alone = fold.min() == fold.max()
        for f in fold[:1] if alone else np.flatnonzero(np.bincount(fold)):
            index = np.flatnonzero(fold == f)
            first, last = int(index[0]), int(index[-1]) + 1
            if last - first < 2 * len(index):  # side by side but for strangers, who lose nothing
                strangers = first + np.flatnonzero(fold[first:last] != f)
                kept = part[strangers]
                scorers[f](chunk[first:last], part[first:last])
                part[strangers] = kept
            else:
                part[index] = fill(scorers[f], take(chunk, index), part.shape[1])
        kernels.normalize(part, "log_posterior")

    engine.fill(score, X, out)
    return out


def leave_one_out(
    rows: Rows,
    statistics: JointStatistics[Any],
    family: AnyFamily,
    log_prior: Callable[[Floats], Floats],
) -> Floats:
    """log p(xᵢ, k) (n, k) by the model of all rows but the i-th."""
    groups = rows.groups
    assert isinstance(groups, Hard)
    n, codes = len(rows), groups.codes
    weight = np.tile(statistics.weight.rounded(), (n, 1))
    weight[np.arange(n), codes] -= 1.0 if groups.weight is None else groups.weight
    step = max(1, 2_000_000 // max(rows.X.shape[1] * groups.n_groups, 1))
    score = np.concatenate(
        [
            family.leave_one_out(rows.X[i : i + step], groups[i : i + step], statistics.features)
            for i in range(0, max(n, 1), step)
        ]
    )
    prior = log_prior(weight)
    return np.where(np.isneginf(prior), -np.inf, score + prior)


def stratified_folds(codes: Codes, n_folds: int) -> Codes:
    """A fold for each row, classes spread evenly and in order.

    Rows sorted by class are dealt out in turn, which says how many of a class each fold gets;
    a class's rows then fill its folds in the order they stand in. (The assignment of
    scikit-learn's StratifiedKFold without shuffling.)
    """
    counts = np.bincount(codes)
    order = kernels.rows_by_group(codes, len(counts))
    ends = np.cumsum(counts)
    first_row = np.full(len(counts), len(codes))
    first_row[counts > 0] = order[(ends - counts)[counts > 0]]
    dealt = np.empty((len(counts), 1), np.int64)  # to classes that appear before
    appearance = np.argsort(first_row, kind="stable")
    dealt[appearance, 0] = np.cumsum(counts[appearance]) - counts[appearance]
    turns = dealt + n_folds - 1 - np.arange(n_folds)
    shares = (turns + counts[:, None]) // n_folds - turns // n_folds  # (k, n_folds)
    folds = np.empty(len(codes), np.int32)
    folds[order] = np.repeat(
        np.tile(np.arange(n_folds, dtype=np.int32), len(counts)), shares.ravel()
    )
    return folds
