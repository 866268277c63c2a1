"""Boosting of symmetric trees over cells, and sums of tables by cell."""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax, softmax

from posterior.data.fingerprints import mixed
from posterior.data.typing import Array, Codes, Floats, Integers

CODES = 256  # of the cells of a column
DRAWS = 1024  # values that luck and noise are drawn from
GOLDEN = 0x9E3779B97F4A7C15
MASK = (1 << 64) - 1


def residuals(
    scores: Floats,
    labels: Codes,
    weight: Floats,
    scale: float,
    drawn: tuple[Array, Floats, int] | None = None,
    out: Integers | None = None,
) -> Integers:
    """g = w (p - y) and h = w p (1 - p) of each row, (n, 2, outputs), in units of 1 / scale.

    Sums of whole numbers do not depend on their order. One output scores the second of two classes
    against the first. `drawn` has a key of each row, factors, and the round: the key and the round
    say which factor the weight of a row has.
    """
    if drawn is not None:
        key, luck, turn = drawn
        weight = weight * luck[_draw(key ^ np.uint64(turn))]
    p = _probabilities(scores)
    y = np.zeros(p.shape)
    y[np.arange(len(labels)), labels] = 1.0
    g, h = p - y, p * (1.0 - p)
    if scores.shape[1] == 1:
        g, h = g[:, 1:], (p[:, :1] * p[:, 1:])
    w = (weight * scale)[:, None]
    found = np.stack([np.rint(w * g), np.rint(w * h)], axis=1).astype(np.int64)
    if out is None:
        return found
    out[:] = found
    return out


def log_loss(scores: Floats, labels: Codes, weight: Floats) -> float:
    """Σ -w log p(y)."""
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    log_p = log_softmax(scores, axis=1)[np.arange(len(labels)), labels]
    return float(np.cumsum(np.append(0.0, -weight * log_p))[-1])


def symmetric_tree(
    codes: Array,
    residual: Integers,
    sizes: Codes,
    ordered: Array,
    candidates: Codes,
    unit: float,
    shrinkage: float,
    noise: tuple[float, Floats, int],
) -> tuple[Codes, Array, Integers]:
    """The column of each level (depth,), sides of its cells (depth, 256), sums of the leaves.

    A level cuts all nodes alike, where Σ G² / (H + λ) over nodes, sides and outputs is largest. An
    ordered column is cut between two cells, and its missing values, cell 0, go to either side; of
    another, one cell stands against the rest. The square root of each gain has some noise: its
    size, values to draw from, and a seed. Leaves (2^depth, 2, outputs) hold G and H in whole
    numbers, the first level in the highest bit.
    """
    depth, n = len(candidates), codes.shape[1]
    node = np.zeros(n, np.int64)
    columns = np.empty(depth, np.int32)
    sides = np.empty((depth, CODES), np.uint8)
    for level in range(depth):
        seed = _mixed_number(noise[2] + level)
        best, columns[level], sides[level] = -np.inf, candidates[level, 0], _right(0, KINDS[0])
        for j in candidates[level]:
            size = int(sizes[j])
            sums = cell_sums(codes[j], residual, node, size, 1 << level)
            for kind in _kinds(bool(ordered[j]), bool(sums[:, 0].any())):
                gain = _gains(_left(sums, kind), sums.sum(axis=1), unit, shrinkage)
                score, cuts = np.sqrt(gain), _cuts(size, kind)
                if noise[0] > 0:
                    where = (int(j) << 16) + 4 * np.arange(size) + KINDS.index(kind)
                    seeds = where.astype(np.uint64) + np.uint64(seed)
                    score = score + noise[0] * noise[1][_draw(seeds)]
                if len(cuts) and score[cuts].max() > best:
                    cut = int(cuts[score[cuts].argmax()])
                    best, columns[level] = float(score[cut]), j
                    sides[level] = _right(cut, kind)
        node = 2 * node + sides[level][codes[columns[level]]]
    leaves = np.zeros((1 << depth, *residual.shape[1:]), np.int64)
    np.add.at(leaves, node, residual)
    return columns, sides, leaves


def cell_sums(codes: Array, residual: Integers, node: Integers, size: int, nodes: int) -> Integers:
    """G and H of each node and cell of a column, (nodes, size, 2, outputs), in whole numbers."""
    sums = np.zeros((nodes, size, *residual.shape[1:]), np.int64)
    np.add.at(sums, (node, codes), residual)
    return sums


def add_tables(
    codes: Array,
    axis: Integers,
    column: Codes,
    first: Integers,
    stride: Integers,
    group: Array,
    start: Integers,
    values: Floats,
    out: Floats,
) -> None:
    """out ← out + Σ_t T_t[groups of the cells of a row], codes (columns, n).

    Table t has the axes axis[t] .. axis[t + 1]. Axis a is of a column, whose cell c is of
    group[first[a] + c], and a group counts for stride[a] cells of the table, which begins at
    start[t] of the values (cells, outputs).
    """
    for t in range(len(axis) - 1):
        where = np.full(codes.shape[1], start[t])
        for a in range(axis[t], axis[t + 1]):
            where += stride[a] * group[first[a] + codes[column[a]].astype(np.int64)]
        out += values[where]


KINDS = ("missing left", "missing right", "one cell")


def _kinds(ordered: bool, missing: bool) -> tuple[str, ...]:
    return KINDS[2:] if not ordered else KINDS[:2] if missing else KINDS[:1]


def _cuts(size: int, kind: str) -> Integers:
    return np.arange(kind == "missing right", size if kind == "one cell" else size - 1)


def _left(sums: Integers, kind: str) -> Integers:
    """What goes left at each cut."""
    if kind == "one cell":
        return sums
    known = sums.copy()
    if kind == "missing right":
        known[:, 0] = 0
    return np.cumsum(known, axis=1)


def _right(cut: int, kind: str) -> Array:
    cell = np.arange(CODES)
    if kind == "one cell":
        return cell != cut
    return (cell > cut) | ((cell == 0) & (kind == "missing right"))


def _gains(left: Integers, total: Integers, unit: float, shrinkage: float) -> Floats:
    """Σ G² / (H + λ) of both sides: of several outputs eight lanes take turns, added in order."""
    pairs = [(node, k) for node in range(left.shape[0]) for k in range(left.shape[3])]
    lanes = np.zeros((1 if left.shape[3] == 1 else 8, left.shape[1]))
    for i, (node, k) in enumerate(pairs):
        g, h = left[node, :, 0, k] * unit, left[node, :, 1, k] * unit
        other_g, other_h = total[node, 0, k] * unit - g, total[node, 1, k] * unit - h
        a, b = h + shrinkage, other_h + shrinkage
        lanes[i % len(lanes)] += (g * g * b + other_g * other_g * a) / (a * b)
    gain = np.zeros(left.shape[1])
    for lane in lanes:
        gain += lane
    return gain


def _probabilities(scores: Floats) -> Floats:
    if scores.shape[1] > 1:
        return np.asarray(softmax(scores, axis=1))
    e = np.exp(-np.abs(scores[:, 0]))
    small, large = e / (1.0 + e), 1.0 / (1.0 + e)
    below = scores[:, 0] < 0
    return np.column_stack([np.where(below, large, small), np.where(below, small, large)])


def _draw(key: Array) -> Array:
    return np.asarray(mixed(key + np.uint64(GOLDEN)) >> np.uint64(54)).astype(np.int64)


def _mixed_number(seed: int) -> int:
    return int(mixed(np.array([(seed + GOLDEN) & MASK], np.uint64))[0])
