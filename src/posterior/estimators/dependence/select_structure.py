"""How many columns, and how many parents of each: by leave-one-out, in one pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from posterior.data.rows import Rows
from posterior.data.table import Table
from posterior.data.typing import Floats
from posterior.families.dependence import KDependence
from posterior.statistics.tuple_counts import TupleCounts


@dataclass(frozen=True, slots=True)
class Choice:
    """The best of all numbers of columns and parents."""

    order: list[int]
    n_columns: int
    k: int
    table: Table


def choose(
    rows: Rows,
    family: KDependence,
    counts: TupleCounts,
    log_prior: Floats,
    order: list[int],
    k: int,
    fill: Callable[..., None],
) -> Choice:
    """Log loss of each row by the counts of the others, for every number of columns and parents.

    Columns come in order, so the score with one column more is the score before and one term.
    """
    chains = dict(family.chains(counts))
    groups = rows.hard

    def losses(X: Any, part: slice, out: Floats) -> None:
        own, codes = groups[part], family.codes(X, counts)
        score = np.tile(log_prior, (k + 1, X.shape[0], 1))
        for i, j in enumerate(order):
            terms = list(family.levels_left_out(codes, own, counts, j, chains[j]))
            for depth in range(k + 1):
                score[depth] += terms[min(depth, len(terms) - 1)]
            told = score[:, np.arange(len(own.codes)), own.codes]
            out[:, i * (k + 1) : (i + 1) * (k + 1)] = (logsumexp(score, axis=2) - told).T

    each = np.empty((len(rows), len(order) * (k + 1)))
    fill(losses, rows.X, each)
    mean = np.average(each, axis=0, weights=groups.weight).reshape(len(order), k + 1)
    # fewer columns and fewer parents of equals
    best = int(mean.argmin())
    n_columns, depth = best // (k + 1) + 1, best % (k + 1)
    columns, parents = np.divmod(np.arange(mean.size), k + 1)
    table = Table(
        {
            "columns": columns + 1,
            "parents": parents,
            "log_loss": mean.ravel(),
            "chosen": np.where(np.arange(mean.size) == best, "<-", ""),
        }
    )
    return Choice(order, n_columns, depth, table)
