"""Columns whose density is drawn by kernels around the values seen, independent given the group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from posterior.data.rows import Hard, slabs
from posterior.data.typing import Array, Floats
from posterior.families.family import OfValues, Scorer, refuse_open
from posterior.families.gaussian import LOG_2PI
from posterior.families.symbols import Cells, Expression, Formula, Kernels, Number
from posterior.statistics.histograms import Histograms

NORMAL = 1.06  # of the normal reference rule
MANY = 512  # values, beyond which kernels stand at nodes
FINE = 8  # nodes in a width


@dataclass(frozen=True, slots=True, eq=False)
class KernelParameters:
    """Values, the weights (k, m) of the groups at them, and how wide kernels are, column by column.

    An infinite width marks a column that says nothing.
    """

    width: Annotated[Floats, "k, d"]
    values: tuple[Floats, ...]
    weight: tuple[Floats, ...]


@dataclass(frozen=True, slots=True)
class Kernel(OfValues[KernelParameters]):
    """Columns of any shape: a normal kernel around each value of a group (John and Langley 1995).

    p(x | k) = Σᵢ wᵢ φ((x - xᵢ) / h_k) / (n_k h_k),  of the rows i of group k

    The width follows the normal reference rule, h = 1.06 σ n^(-1/5) (Scott 1992). `prior` are
    pseudo-rows that lie where the rows of all groups do. Beyond `max_values` values a column keeps
    cells of numbers that share their first digits. Of more than 512 values a group's kernels stand
    at nodes h / 8 apart, between which a value shares its weight: no density is off by more than
    1 / 512 of the height of a kernel.
    """

    def estimate(
        self, statistics: Histograms, pooled: Histograms | None = None
    ) -> KernelParameters:
        everyone = (statistics.pooled() if pooled is None else pooled).points()
        found = [
            self._column(*own, *whole)
            for own, whole in zip(statistics.points(), everyone, strict=True)
        ]
        width, values, weight = zip(*found, strict=True)
        return KernelParameters(np.stack(width, axis=1), values, weight)

    def _column(
        self, v: Floats, W: Floats, all_v: Floats, all_W: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Widths (k,), values (m,) and weights (k, m) of rows and pseudo-rows."""
        values = np.union1d(v, all_v)
        weight, share = np.zeros((len(W), len(values))), np.zeros(len(values))
        weight[:, np.searchsorted(values, v)] = W
        share[np.searchsorted(values, all_v)] = all_W[0] / max(all_W.sum(), 1e-300)
        weight = weight + self.prior.m * share
        weight = np.where(weight.any(axis=1, keepdims=True), weight, share)  # as everyone does
        width = widths(values, weight)
        return np.where(len(all_v) > 1, width, np.inf), values, weight

    def scorer(self, parameters: KernelParameters, bias: Floats) -> Scorer:
        refuse_open(
            parameters.width == 0,
            bias,
            "Expected every feature to vary in every class, but feature {feature} has one value in "
            "class {group}. Drop it, or raise the prior's pseudo-rows.",
        )
        kernels = list(_kernels(parameters))

        def score(X: Array, out: Floats) -> None:
            out[:] = bias
            for k, j, width, v, w in kernels:
                out[:, k] += log_density(np.asarray(X[:, j], np.float64), v, w, width)

        return score

    def evidence(self, X: Array, parameters: KernelParameters) -> Floats:
        terms = np.zeros((len(X), *parameters.width.shape))
        for k, j, width, v, w in _kernels(parameters):
            terms[:, k, j] = log_density(np.asarray(X[:, j], np.float64), v, w, width)
        return terms

    def leave_one_out(self, X: Array, groups: Hard, statistics: Histograms) -> Floats:
        """Without the row the weights are less at one value, and the widths by their moments."""
        own = np.ones(len(X)) if groups.weight is None else groups.weight
        score = np.zeros((len(X), groups.n_groups))
        first = statistics.seen().counts.values
        for j, (v, W) in enumerate(statistics.points()):
            x = np.asarray(X[:, j], np.float64)
            known = np.flatnonzero(~np.isnan(x))
            for rows in slabs(len(known), len(v)):
                some = known[rows]
                place = np.searchsorted(first[j], x[some], side="right") - 1
                row = x[some], place, groups.codes[some], own[some]
                score[some] += self._without_rows(v, W, *row)
        return score

    def _without_rows(
        self, v: Floats, W: Floats, x: Floats, place: Array, codes: Array, own: Floats
    ) -> Floats:
        """log p(xᵢ | k) (n, k) of cells that stand at some places among the values."""
        n, k = np.arange(len(x)), len(W)
        pooled = np.tile(W.sum(axis=0), (len(x), 1))
        pooled[n, place] = np.maximum(pooled[n, place] - own, 0.0)
        score = np.empty((len(x), k))
        for g in range(k):
            weight = np.tile(W[g], (len(x), 1))
            weight[n, place] = np.maximum(weight[n, place] - np.where(codes == g, own, 0.0), 0.0)
            with np.errstate(invalid="ignore", divide="ignore"):
                share = pooled / pooled.sum(axis=1, keepdims=True)
            weight = weight + self.prior.m * share
            weight = np.where(weight.any(axis=1, keepdims=True), weight, share)
            width = widths(v, weight)
            varies = (pooled > 0).sum(axis=1) > 1
            density = _log_kernels(x, v, weight, np.where(varies & (width > 0), width, np.nan))
            score[:, g] = np.where(varies, density, 0.0)
        return score

    def sample(
        self, codes: Array, parameters: KernelParameters, random: np.random.Generator
    ) -> Floats:
        out = random.standard_normal((len(codes), len(parameters.values)))
        for j, (v, W) in enumerate(zip(parameters.values, parameters.weight, strict=True)):
            width = np.where(np.isfinite(parameters.width[:, j]), parameters.width[:, j], 0.0)
            out[:, j] *= width[codes]
            for k in np.unique(codes) if len(v) else ():
                mine = np.flatnonzero(codes == k)
                out[mine, j] += random.choice(v, len(mine), p=W[k] / W[k].sum())
        return out

    def n_parameters(self, parameters: KernelParameters) -> int:
        """A weight of each value of each group but the last, and a width."""
        return sum(int(np.count_nonzero(W)) for W in parameters.weight)

    def formula(self, parameters: KernelParameters, cells: Cells) -> list[Formula]:
        scores: dict[tuple[int, int], Expression] = {}
        for k, j, width, v, w in _kernels(parameters):
            at, log_w = tuple(v.tolist()), tuple(np.log(w).tolist())
            scores[k, j] = Kernels(cells[j], at, log_w, width, float(_height(width, w)))
        groups = range(len(parameters.width))
        return [
            Formula.of(x, (scores.get((k, j), Number(0.0)) for k in groups))
            for j, x in enumerate(cells)
        ]

    def silent(self, statistics: Histograms) -> Sequence[int]:
        return [j for j, (v, _) in enumerate(statistics.points()) if len(v) == 1]


def widths(v: Floats, weight: Floats) -> Floats:
    """The normal reference rule, h = 1.06 σ n^(-1/5), of values with weights (..., m)."""
    rows = weight.sum(axis=-1)
    unit = np.abs(v).max(initial=1e-300)  # squares of tiny numbers vanish
    with np.errstate(invalid="ignore", divide="ignore"):
        share, z = weight / rows[..., None], v / unit
        mean = (share * z).sum(axis=-1, keepdims=True)
        deviation = unit * np.sqrt((share * (z - mean) ** 2).sum(axis=-1))
    return np.asarray(NORMAL * deviation * np.maximum(rows, 1e-300) ** -0.2)


def log_density(x: Floats, v: Floats, w: Floats, width: float) -> Floats:
    """Of cells (n,) by kernels at v of weights w; 0 where a cell is missing."""
    out = np.zeros(len(x))
    known = np.flatnonzero(~np.isnan(x))
    for rows in slabs(len(known), len(v)):
        some = known[rows]
        out[some] = _log_kernels(x[some], v, w, np.asarray(width))
    return out


def _log_kernels(x: Floats, v: Floats, w: Floats, width: Floats) -> Floats:
    """log Σ w φ((x - v) / h) / h - log Σ w, of weights (m,) or (n, m) and widths () or (n,)."""
    h = np.asarray(width)[..., None]
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        z = (x[:, None] - v) / h
        terms = np.log(w) - 0.5 * z * z
        top = terms.max(axis=1, keepdims=True, initial=-np.inf)
        total = np.log(np.exp(terms - np.where(np.isfinite(top), top, 0.0)).sum(axis=1))
        return np.asarray(top[:, 0] + total - _height(width, w))


def _height(width: Floats | float, w: Floats) -> Floats:
    """log h √2π Σ w"""
    return np.asarray(np.log(width) + 0.5 * LOG_2PI + np.log(w.sum(axis=-1)))


def _kernels(parameters: KernelParameters) -> Iterator[tuple[int, int, float, Floats, Floats]]:
    """Group, column, width, and where kernels stand with which weight."""
    for j, (v, W) in enumerate(zip(parameters.values, parameters.weight, strict=True)):
        for k, width in enumerate(parameters.width[:, j].tolist()):
            if np.isfinite(width):
                yield k, j, width, *_nodes(v[W[k] > 0], W[k][W[k] > 0], width)


def _nodes(v: Floats, w: Floats, width: float) -> tuple[Floats, Floats]:
    """Values and weights; of many values, nodes that share their weights."""
    if len(v) <= MANY or width == 0:
        return v, w
    place = (v - v[0]) / (width / FINE)
    low = np.floor(place)
    node, index = np.unique(np.concatenate([low, low + 1]), return_inverse=True)
    shared = np.concatenate([w * (low + 1 - place), w * (place - low)])
    weight = np.bincount(index, shared).astype(np.float64)
    if len(node) >= len(v):
        return v, w
    some = weight > 0
    return v[0] + node[some] * (width / FINE), weight[some]
