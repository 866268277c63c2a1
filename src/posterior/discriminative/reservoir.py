"""Rows of a stream, as many as a bounded memory holds, each counting for those left out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from posterior.data.rows import Hard, Rows, SparseRows, take
from posterior.data.typing import Array, Codes, Floats


@dataclass(frozen=True, slots=True, eq=False)
class Reservoir:
    """Rows, their classes, and what each counts.

    Equal rows of a class become one, which counts for all of them. If that is not enough, each
    class is thinned to its share of the room: a row stays with probability min(1, w / τ) and then
    counts max(w, τ) (priority sampling with a fixed size; Duffield, Lund and Thorup 2007). So any
    sum over the rows is expected to be what it was, and the weight of each class is exactly that,
    in whatever order rows come.
    """

    X: Array | SparseRows
    codes: Codes
    weight: Floats
    n_seen: int  # rows that came, kept or not

    def __len__(self) -> int:
        return len(self.codes)

    def rows(self, n_classes: int, factor: Floats | None = None) -> Rows:
        """For a loss; `factor` is what a row of each class counts beyond its weight."""
        weight = self.weight if factor is None else self.weight * factor[self.codes]
        return Rows(self.X, Hard(self.codes, n_classes, weight))

    def class_weight(self, n_classes: int) -> Floats:
        return np.bincount(self.codes, self.weight, n_classes).astype(np.float64)

    def placed(self, place: Array) -> Reservoir:
        """The same with class k now at place[k]."""
        return replace(self, codes=place.astype(np.int32)[self.codes])

    @classmethod
    def joined(cls, parts: tuple[Reservoir, ...]) -> Reservoir:
        return cls(
            _stacked([part.X for part in parts]),
            np.concatenate([part.codes for part in parts]),
            np.concatenate([part.weight for part in parts]),
            sum(part.n_seen for part in parts),
        )

    def within(self, room: int) -> Reservoir:
        """These rows, or what half the room holds of them where it is not enough for all."""
        if len(self) <= room:
            return self
        distinct = self._distinct()
        return distinct if len(distinct) <= room // 2 else distinct.thinned(room // 2)

    def _distinct(self) -> Reservoir:
        """Equal rows of a class as one."""
        X = self.X.canonical() if isinstance(self.X, SparseRows) else self.X
        mixing = np.random.default_rng(0).standard_normal(X.shape[1])
        if isinstance(X, SparseRows):
            mixed = X.scipy(copy=False) @ mixing
        else:
            mixed = np.einsum("nd,d->n", np.nan_to_num(X, nan=0.5), mixing)
        order = np.lexsort((mixed, self.codes))
        new = np.append(True, np.diff(mixed[order]) != 0)
        new[1:] |= np.diff(self.codes[order]) != 0
        leader = np.empty(len(self), np.intp)
        leader[order] = order[new][np.cumsum(new) - 1]
        leader = np.where(_equal(X, take(X, leader)), leader, np.arange(len(self)))
        kept = np.unique(leader)
        weight = np.bincount(leader, self.weight, len(self))[kept].astype(np.float64)
        return self._take(kept, weight)

    def thinned(self, room: int) -> Reservoir:
        """At most so many rows, the classes alike; rows of no weight go first."""
        random = np.random.default_rng(self.n_seen)  # no chance in it: the same rows stay
        members = [np.flatnonzero((self.codes == k) & (self.weight > 0)) for k in self._classes()]
        most = _level(np.array([len(each) for each in members]), room)
        chosen, weights = [], []
        for index in members:
            if len(index) > most:
                index = random.permutation(index)
                tau = _threshold(self.weight[index], most)
                chance = np.cumsum(np.minimum(1.0, self.weight[index] / tau))
                places = np.searchsorted(chance, random.random() + np.arange(most), side="right")
                index = index[np.unique(np.minimum(places, len(index) - 1))]
                weights.append(np.maximum(self.weight[index], tau))
            else:
                weights.append(self.weight[index])
            chosen.append(index)
        return self._take(np.concatenate(chosen), np.concatenate(weights))

    def _classes(self) -> Array:
        return np.unique(self.codes)

    def _take(self, index: Array, weight: Floats) -> Reservoir:
        X = take(self.X, index)
        assert isinstance(X, np.ndarray | SparseRows)
        return Reservoir(X, self.codes[index], weight, self.n_seen)


def _level(counts: Array, room: int) -> int:
    """The most rows a class may keep, so that all together have room."""
    left, level = room, room
    for rank, count in enumerate(np.sort(counts)):
        level = left // (len(counts) - rank)
        if count > level:
            break
        left -= int(count)
    return max(level, 1)


def _threshold(weight: Floats, n: int) -> float:
    """τ with Σ min(1, w / τ) = n."""
    ordered = np.sort(weight)[::-1]
    rest = ordered.sum() - np.concatenate([[0.0], np.cumsum(ordered)])[:n]
    tau = rest / (n - np.arange(n))  # if the heaviest so many stay for certain
    return float(tau[np.argmax(ordered[:n] <= tau)])


def _stacked(parts: list[Array | SparseRows]) -> Array | SparseRows:
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], SparseRows):
        return SparseRows.of(
            sparse.vstack([p.scipy() for p in parts if isinstance(p, SparseRows)], "csr")
        )
    return np.concatenate([p for p in parts if isinstance(p, np.ndarray)])


def _equal(X: Array | SparseRows, other: object) -> Array:
    """Which rows are the same, missing cells included."""
    if isinstance(X, SparseRows):
        assert isinstance(other, SparseRows)
        apart = X.scipy(copy=False) != other.scipy(copy=False)
        return np.asarray(np.diff(apart.indptr) == 0)
    assert isinstance(other, np.ndarray)
    return np.asarray(((X == other) | ((X != X) & (other != other))).all(axis=1))
