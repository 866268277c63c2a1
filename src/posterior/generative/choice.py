"""Families chosen by column: the one of least log loss on rows that its sums never saw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from posterior import kernels
from posterior.data.rows import Blocks, Features, Hard, Rows, take
from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.families.family import AnyFamily
from posterior.families.product import Product
from posterior.generative.fold_sums import fold_statistics, models_without
from posterior.generative.joint import Joint, JointStatistics

SWEEPS = 10  # over all columns, at most
TERMS = 30_000_000  # numbers that are kept: families × rows × groups × columns
ROWS = 500, 20_000  # that are scored: at least, and at most
WORTH = 1.0  # standard errors of a gain, to take another family


def choose(
    numbers: Array,
    columns: tuple[int, ...],
    candidates: Sequence[AnyFamily],
    others: Sequence[tuple[AnyFamily, tuple[int, ...], Features]],
    groups: Hard,
    folds: Codes,
    sum_rows: Callable[[Rows, AnyFamily], JointStatistics[Any]],
    log_prior: Callable[[Floats], Floats],
) -> Integers:
    """The candidate (d,) of each column of numbers, beside other families that are settled.

    `columns` are where the numbers stand in the table; so have the other families theirs.
    All candidates learn all columns at once, in one pass; each fold is scored by the sums of the
    others. Where there are many rows, some of them are scored, which were spread evenly.
    """
    families = (*candidates, *(family for family, _, _ in others))
    parts = (*(numbers for _ in candidates), *(X for _, _, X in others))
    places = (*(columns for _ in candidates), *(js for _, js, _ in others))
    product = Product(families, places)

    def finish(statistics: JointStatistics[Any]) -> Joint[Any, Any]:
        features = statistics.features.seen()
        prior = log_prior(statistics.weight.rounded())
        return Joint(product, prior, product.estimate(features))

    rows = Rows(Blocks(parts), groups)  # type: ignore[arg-type]
    sums = fold_statistics(rows, folds, int(folds.max()) + 1, lambda r: sum_rows(r, product))
    joints = models_without(sums, finish)
    k, d = groups.n_groups, numbers.shape[1]
    most = int(np.clip(TERMS // (len(candidates) * k * max(d, 1)), *ROWS))
    some = np.flatnonzero(groups.codes >= 0)
    some = some[:: -(-len(some) // most)]
    terms = np.empty((len(candidates), d, len(some), k))
    settled = np.empty((len(some), k))
    for f, joint in enumerate(joints):
        mine = np.flatnonzero(folds[some] == f)
        settled[mine] = joint.log_prior
        for i, (family, parameters) in enumerate(zip(families, joint.parameters, strict=True)):
            evidence = family.evidence(take(parts[i], some[mine]), parameters)  # (n, k, d)
            if i < len(candidates):
                terms[i][:, mine] = np.moveaxis(evidence, 2, 0)
            else:
                settled[mine] += evidence.sum(axis=2)
    weight = None if groups.weight is None else groups.weight[some]
    return least_loss(terms, settled, groups.codes[some], weight)


def least_loss(
    terms: Floats, settled: Floats, codes: Codes, weight: Floats | None = None
) -> Integers:
    """For each column the family (f, d, n, k) that makes the known groups most probable.

    All columns start with one family, and one after the other takes another beside the rest as it
    is, until none changes. Families come with the simplest first: for one further on, the gain must
    be more than a standard error. Of the starts from each family the one that ends best is kept.
    """
    ends = [_descended(start, terms, settled, codes, weight) for start in range(len(terms))]
    return min(ends, key=lambda end: end[0])[1]


def _descended(
    start: int, terms: Floats, settled: Floats, codes: Codes, weight: Floats | None
) -> tuple[float, Integers]:
    """The mean loss of the choice that a start ends with, and the choice."""
    chosen = np.full(terms.shape[1], start, np.int64)
    total = settled + terms[start].sum(axis=0)
    for _ in range(SWEEPS):
        before = chosen.copy()
        for j in range(len(chosen)):
            rest = total - terms[chosen[j], j]
            losses = np.stack([_losses(rest + term, codes) for term in terms[:, j]])
            chosen[j] = _better(losses, int(chosen[j]), weight)
            total = rest + terms[chosen[j], j]
        if np.array_equal(chosen, before):
            break
    return float(np.average(_losses(total, codes), weights=weight)), chosen


def _losses(log_joint: Floats, codes: Codes) -> Floats:
    log_posterior = np.ascontiguousarray(log_joint)
    kernels.normalize(log_posterior, "log_posterior")
    return np.asarray(-log_posterior[np.arange(len(codes)), codes])


def _better(losses: Floats, now: int, weight: Floats | None) -> int:
    """The family of least mean loss (f, n); a less simple one must be better beyond doubt."""
    means = np.average(losses, axis=1, weights=weight)
    best = int(np.argmin(np.where(np.isnan(means), np.inf, means)))
    if best <= now or not np.isfinite(means[now]):
        return best
    error = float(np.std(losses[now] - losses[best])) / np.sqrt(losses.shape[1])
    return best if means[now] - means[best] > WORTH * error else now
