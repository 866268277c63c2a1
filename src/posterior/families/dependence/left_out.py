"""Scores of rows by the counts of the others, as functions of the rows that contexts lean on.

Of a column with contexts u₀ = {k}, u₁ = {k, a}, ...: p_{-1} = 1 / values, and

    p_l = (n_l(x) + m_l p_{l-1}) / A_l,    A_l = n_l + m_l
    ∂p_l / ∂log m_l = m_l (p_{l-1} - p_l) / A_l,    ∂p_l / ∂p_{l-1} = m_l / A_l

where the row itself is taken out of the counts of its own class. A context that is not known has no
rows, so that p_l = p_{l-1}; a missing cell is as likely in all classes, which changes no answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import logsumexp

from posterior.data.typing import Floats

BLOCK_CELLS = 1 << 16  # half a megabyte
Gradient = Callable[[Floats], Floats]
"""From R (n, k) to the gradient of Σ R · score by log m, (d, levels)."""


class LeftOut(Protocol):
    """log p(x | k) (n, k) without each row, up to a term that all classes share."""

    @property
    def shape(self) -> tuple[int, int]:
        """Columns and levels, each with an m of its own."""

    def __call__(self, m: Floats) -> tuple[Floats, Gradient]: ...


@dataclass(frozen=True, slots=True, eq=False)
class ChainedContexts:
    """Columns with given parents: Σⱼ log p(xⱼ | k, parents of j)."""

    count: Floats  # (levels, n, k, d) rows of the own value
    total: Floats  # and of the context
    size: Floats  # (d,) values

    @property
    def shape(self) -> tuple[int, int]:
        return self.count.shape[3], self.count.shape[0]

    def __call__(self, m: Floats) -> tuple[Floats, Gradient]:
        p = [np.broadcast_to(1.0 / self.size, self.count.shape[1:])]
        lean = []  # m / A
        for count, total, rows in zip(self.count, self.total, m.T, strict=True):
            all_rows = total + rows
            p.append((count + rows * p[-1]) / all_rows)
            lean.append(rows / all_rows)

        def gradient(R: Floats) -> Floats:
            by_level, by_p = [], R[:, :, None] / p[-1]
            for shorter, longer, share in zip(p[-2::-1], p[:0:-1], lean[::-1], strict=True):
                by_p = by_p * share
                by_level.append(np.einsum("nkd,nkd->d", by_p, shorter - longer))
            return np.stack(by_level[::-1], axis=1)

        return np.log(p[-1]).sum(axis=2), gradient


@dataclass(frozen=True, slots=True, eq=False)
class AveragedPairs:
    """Every column in turn the parent of all others: log Σᵢ wᵢ p(xᵢ | k) ∏ⱼ p(xⱼ | k, xᵢ).

    A parent has no rows beside itself, so that p(xᵢ | k, xᵢ) is p(xᵢ | k).
    """

    alone: Floats  # (n, k, d) rows of the own value
    rows: Floats  # (n, k, d) rows of the class
    both: Floats  # (n, k, parents, d) rows of the own value and the parent's
    beside: Floats  # (n, k, parents, d) rows of the parent's value
    size: Floats  # (d,) values
    weight: Floats  # (n, parents), zero for what is no parent

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.size), 2

    def __call__(self, m: Floats) -> tuple[Floats, Gradient]:
        first, second = m.T
        rows = self.rows + first
        p = (self.alone + first / self.size) / rows
        lent = (second * p)[:, :, None]
        naive, each = np.log(p).sum(axis=2), np.empty(self.both.shape[:3])
        for some in self._blocks():
            given = self.both[some] + lent[some]
            given /= self.beside[some] + second
            np.log(given, out=given).sum(axis=3, out=each[some])
        with np.errstate(divide="ignore"):
            each += np.log(self.weight)[:, None]
        orphan = np.logical_not(self.weight.any(axis=1, keepdims=True))
        score = np.where(orphan, naive, logsumexp(each, axis=2))

        def gradient(R: Floats) -> Floats:
            share = np.where(orphan[:, :, None], 0.0, np.exp(each - score[:, :, None]))
            share *= R[:, :, None]
            by_given, by_beside = np.empty_like(p), np.empty_like(p)
            for some in self._blocks():
                part = share[some][:, :, None]
                given, beside = self.both[some] + lent[some], self.beside[some] + second
                by_given[some] = (part @ np.divide(1.0, given, out=given))[:, :, 0] * second
                by_beside[some] = (part @ np.divide(1.0, beside, out=beside))[:, :, 0] * second
            by_p = by_given + np.where(orphan, R, 0.0)[:, :, None] / p
            by_first = np.einsum("nkd,nkd->d", by_p * first / rows, 1.0 / self.size - p)
            by_second = np.einsum("nkd,nkd->d", by_given, p) - by_beside.sum(axis=(0, 1))
            return np.stack([by_first, by_second], axis=1)

        return score, gradient

    def _blocks(self) -> Iterator[slice]:
        """Rows whose numbers of all parents stay near the processor, however many there are."""
        n, *wide = self.both.shape
        step = max(1, BLOCK_CELLS // max(math.prod(wide), 1))
        return (slice(i, i + step) for i in range(0, n, step))
