"""Two features: the curves where the most probable class changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeAlias

import numpy as np

from posterior.data.names import plain
from posterior.data.table import text
from posterior.data.typing import Array, Floats, Integers
from posterior.evaluation.quadratics import Quadratics, rising

Box: TypeAlias = tuple[tuple[float, float], tuple[float, float]]
ROUNDING = 1e-12  # of the size of the terms: two classes this close are equal
NEWTON_STEPS = 20


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A line of points where two classes are equally, and the most, probable."""

    of: Any
    against: Any
    points: Floats  # (m, 2); the last is the first again if the curve is closed

    @property
    def closed(self) -> bool:
        """Whether the curve runs back into itself."""
        return len(self.points) > 2 and bool((self.points[0] == self.points[-1]).all())

    def __str__(self) -> str:
        first, last = (f"({text(x)}, {text(y)})" for x, y in self.points[[0, -1]])
        way = f"closed, through {first}" if self.closed else f"from {first} to {last}"
        return f"{self.of} | {self.against}: {way}, {len(self.points)} points"

    __repr__ = __str__


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """All boundaries within a box."""

    curves: tuple[Curve, ...]
    box: Box
    feature_names: tuple[str, str] = ("x0", "x1")

    def __iter__(self) -> Iterator[Curve]:
        return iter(self.curves)

    def __len__(self) -> int:
        return len(self.curves)

    def __str__(self) -> str:
        spans = zip(self.feature_names, self.box, strict=True)
        within = ", ".join(f"{text(a)} < {name} < {text(b)}" for name, (a, b) in spans)
        found = self.curves or ("no boundary",)
        return "\n".join([f"Within {within}:", *(f"  {curve}" for curve in found)])

    __repr__ = __str__


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Lines x = xs[u] and y = ys[v], and the log joint probabilities where they meet.

    Edges are numbered: first those along x, (u, v)-(u + 1, v), then those along y.
    """

    model: Quadratics
    xs: Floats  # (n,)
    ys: Floats  # (m,)
    nodes: Floats  # (n, m, 2)
    log_joint: Floats  # (n, m, k)
    along_x: Integers  # (n - 1, m)
    along_y: Integers  # (n, m - 1)


def curves(model: Quadratics, box: Box, resolution: int, feature_names: tuple[str, str]) -> Curves:
    """Marching squares (Lorensen and Cline 1987) for each pair of classes that meet on a grid.

    The grid only finds the boundary; where it cuts an edge comes from the root of a quadratic.
    """
    grid = _grid(model, box, resolution)
    found = [
        Curve(plain(model.classes[i]), plain(model.classes[j]), line)
        for i, j in _neighbors(grid.log_joint.argmax(axis=2))
        for line in _trace(grid, i, j)
    ]
    return Curves(tuple(found), box, feature_names)


def _grid(model: Quadratics, box: Box, resolution: int) -> Grid:
    """Even lines across the box, and others close to the means, where a class may be narrow.

    x = μ + σ sinh u,   u even: steps of σ beside the mean, and ever longer ones away from it
    """
    lines = [np.linspace(low, high, resolution + 1) for low, high in box]
    if (normals := model.normals()) is not None:
        share = max(1, resolution // len(model.c))
        for axis, (low, high) in enumerate(box):
            mean, deviation = (part[:, axis] for part in normals)
            first, last = (np.arcsinh((end - mean) / deviation) for end in (low, high))
            near = mean + deviation * np.sinh(np.linspace(first, last, share + 2)[1:-1])
            both = np.unique(np.append(lines[axis], near))
            lines[axis] = both[np.append(True, np.diff(both) > ROUNDING * (high - low))]
    xs, ys = lines
    nodes = np.stack(np.meshgrid(xs, ys, indexing="ij"), axis=2)
    log_joint = model.log_joint(nodes.reshape(-1, 2)).reshape(len(xs), len(ys), -1)
    n_x, n_y = (len(xs) - 1) * len(ys), len(xs) * (len(ys) - 1)
    along_x = np.arange(n_x).reshape(-1, len(ys))
    along_y = np.arange(n_x, n_x + n_y).reshape(len(xs), -1)
    return Grid(model, xs, ys, nodes, log_joint, along_x, along_y)


def _neighbors(label: Array) -> list[tuple[int, int]]:
    """Pairs of classes i < j that are the most probable at the two ends of some edge."""
    ends = [(label[1:], label[:-1]), (label[:, 1:], label[:, :-1])]
    pairs = np.concatenate([np.stack([p.ravel(), q.ravel()], axis=1) for p, q in ends])
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    return [(int(i), int(j)) for i, j in pairs]


def _trace(grid: Grid, i: int, j: int) -> Iterator[Floats]:
    """The polylines where classes i and j are equal and no other class is larger."""
    D = grid.log_joint[..., i] - grid.log_joint[..., j]
    matrix = grid.model.matrix(i, j)
    edge, vertex = _vertices(grid, D, np.zeros(2) if matrix is None else np.diag(matrix))
    place = dict(zip(edge.tolist(), vertex, strict=True))
    largest = dict(zip(edge.tolist(), _largest(grid.model, vertex, (i, j)), strict=True))
    kept, extra = [], count(-1, -1)
    for p, q in _segments(grid, D, i, j).tolist():
        if largest[p] and largest[q]:
            kept.append((p, q))
        elif largest[p] or largest[q]:  # a third class begins in this cell
            inner, outer = (p, q) if largest[p] else (q, p)
            end = _triple(grid, i, j, place[inner], place[outer])
            if end is not None:
                number = next(extra)
                kept.append((inner, number))
                place[number] = end
    for chain in _join(kept):
        line = np.array([place[e] for e in chain])
        moved = np.append(True, (np.diff(line, axis=0) != 0).any(axis=1))
        if moved.sum() > 1:
            yield line[moved]


def _vertices(grid: Grid, D: Floats, curvature: Floats) -> tuple[Integers, Floats]:
    """Edges whose ends differ in the sign of D, and the root of D on each.

    D(P + t e) = α t² + (D(Q) - D(P) - α) t + D(P),   Q = P + e,   α = eᵀ M e = M_jj |e|²

    Read from the end where D ≤ 0 to the end where D > 0 there is one root, and it rises.
    """
    edges, vertices = [], []
    for axis, number in enumerate((grid.along_x, grid.along_y)):
        ends = [D[:-1], D[1:]] if axis == 0 else [D[:, :-1], D[:, 1:]]
        u, v = np.nonzero((ends[0] > 0) != (ends[1] > 0))
        P = grid.nodes[u, v]
        Q = grid.nodes[u + (axis == 0), v + (axis == 1)]
        backwards = ends[0][u, v] > 0
        P, Q = np.where(backwards[:, None], Q, P), np.where(backwards[:, None], P, Q)
        at_P = np.minimum(ends[0], ends[1])[u, v]
        at_Q = np.maximum(ends[0], ends[1])[u, v]
        alpha = curvature[axis] * (Q - P)[:, axis] ** 2
        t = np.clip(rising(alpha, at_Q - at_P - alpha, at_P), 0.0, 1.0)
        edges.append(number[u, v])
        vertices.append(P + t[:, None] * (Q - P))
    return np.concatenate(edges), np.concatenate(vertices)


def _segments(grid: Grid, D: Floats, i: int, j: int) -> Integers:
    """Pairs of edges that the curve D = 0 joins within a cell, (n, 2)."""
    x, y = grid.along_x, grid.along_y
    around = np.stack([x[:, :-1], y[1:], x[:, 1:], y[:-1]], axis=2)  # below, right, above, left
    P = D > 0
    corners = np.stack([P[:-1, :-1], P[1:, :-1], P[1:, 1:], P[:-1, 1:]], axis=2)
    cut = corners != np.roll(corners, -1, axis=2)
    cells = cut.any(axis=2)
    around, corners, cut = around[cells], corners[cells], cut[cells]
    # All four edges cut: the center tells which two corners hang together.
    u, v = np.nonzero(cells)
    center = np.stack([grid.xs[u] + grid.xs[u + 1], grid.ys[v] + grid.ys[v + 1]], axis=1) / 2
    value = grid.model.log_joint(center)
    apart = cut.all(axis=1) & ((value[:, i] > value[:, j]) != corners[:, 0])
    around[apart] = np.roll(around[apart], 1, axis=1)
    return around[cut].reshape(-1, 2)


def _largest(model: Quadratics, X: Floats, classes: tuple[int, ...]) -> Array:
    """Whether each of some classes is as probable as any, up to rounding, (n,)."""
    value = model.log_joint(X)
    least = value[:, list(classes)].min(axis=1)
    return least >= value.max(axis=1) - ROUNDING * model.size(X)


def _triple(grid: Grid, i: int, j: int, inner: Floats, outer: Floats) -> Floats | None:
    """The point of a cell where a third class meets i and j, by Newton's method."""
    model, middle = grid.model, (inner + outer) / 2
    lines = list(zip((grid.xs, grid.ys), middle, strict=True))
    after = [min(max(int(np.searchsorted(at, z)), 1), len(at) - 1) for at, z in lines]
    low, high = np.array([at[u - 1 : u + 1] for (at, _), u in zip(lines, after, strict=True)]).T
    slack = ROUNDING * (high - low)
    for third in np.argsort(-model.log_joint(outer[None])[0]).tolist():
        if third in (i, j):
            continue
        parts = np.zeros((len(model.c), 2, 2)) if model.A is None else model.A, model.b, model.c
        A, b, c = (part[[j, third]] - part[i] for part in parts)
        x = middle
        for _ in range(NEWTON_STEPS):
            x = x - np.linalg.lstsq(2 * A @ x + b, A @ x @ x + b @ x + c, rcond=None)[0]
        inside = ((low - slack <= x) & (x <= high + slack)).all()
        if inside and _largest(model, x[None], (i, j, third))[0]:
            return x
    return None


def _join(segments: Iterable[tuple[int, int]]) -> Iterator[list[int]]:
    """Chains of segments that share ends: the open ones, then the closed."""
    neighbors: dict[int, list[int]] = defaultdict(list)
    for p, q in segments:
        neighbors[p].append(q)
        neighbors[q].append(p)
    open_ends = [p for p, near in neighbors.items() if len(near) == 1]
    seen: set[int] = set()
    for start in [*open_ends, *neighbors]:
        chain: list[int] = []
        onward = [] if start in seen else [start]
        while onward:
            chain.append(onward[0])
            seen.add(onward[0])
            onward = [p for p in neighbors[onward[0]] if p not in seen]
        if len(chain) > 2 and chain[0] in neighbors[chain[-1]]:
            chain.append(chain[0])
        if chain:
            yield chain
