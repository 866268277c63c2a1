"""Centers of clusters as the search for the nearest one reads them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posterior.data.typing import Array, Codes, Floats

GROUP = 16  # centers that are looked at together: kGroup in cpp/centers.hpp


@dataclass(frozen=True, slots=True, eq=False)
class Centers:
    """k centers around an origin, in groups of sixteen, in the precision of the rows."""

    origin: Array  # (d,)
    points: Array  # (k, d): centers less the origin
    table: Array  # (groups, d, 16)
    half: Array  # (groups, 16)  |c|² / 2, infinite where a group has fewer
    number: Codes  # (groups, 16), ascending in a group; -1 where it has fewer

    @classmethod
    def of(cls, points: Array, origin: Array, number: Codes | None = None) -> Centers:
        """Centers in the groups that `number` tells, by default as they come."""
        if number is None:
            number = padded(np.arange(len(points)))
        table = np.where((number >= 0)[:, :, None], points[number], 0)
        half = np.where(number >= 0, 0.5 * (table.astype(np.float64) ** 2).sum(axis=2), np.inf)
        turned = np.ascontiguousarray(table.swapaxes(1, 2))
        return cls(origin, points, turned, half.astype(points.dtype), number)

    def arrays(self) -> tuple[Array, Array, Array, Array, Codes]:
        return self.origin, self.points, self.table, self.half, self.number


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """What is known of the distances of rows from centers that move.

    |x - c_own| ≤ upper + way_own      |x - c| ≥ lower_g - farthest_g  for the others of group g
    """

    upper: Array  # (n,) float32
    lower: Array  # (n, width) float32: groups, and room for whole vectors
    way: Array  # (k,) float32: how far each center came since the bounds were made
    farthest: Array  # (width,) float32: how far any center of a group may have come
    place: Codes  # (k,)
    radius: float  # no center is farther from the origin
    fresh: bool  # nothing is known yet

    def __getitem__(self, rows: slice) -> Bounds:
        known = self.way, self.farthest, self.place, self.radius, self.fresh
        return Bounds(self.upper[rows], self.lower[rows], *known)


def padded(number: Array) -> Codes:
    """Numbers in lines of sixteen, the last filled up with -1."""
    table = np.full((-(-len(number) // GROUP), GROUP), -1, np.int32)
    table.ravel()[: len(number)] = number
    return table


def places(number: Codes) -> Codes:
    """Where each center stands, 16 group + place in the group, (k,)."""
    known = np.flatnonzero(number >= 0).astype(np.int32)
    place = np.empty(len(known), np.int32)
    place[number.ravel()[known]] = known
    return place


def neighborhoods(centers: Floats) -> Codes:
    """Groups of sixteen centers that lie near each other, (groups, 16).

    The centers are halved across a line between two that are far apart, and the halves again.
    """

    def halved(number: Array) -> list[Array]:
        leaves = -(-len(number) // GROUP)
        if leaves == 1:
            return [padded(np.sort(number))]
        c = centers[number]
        one = c[((c - c.mean(axis=0)) ** 2).sum(axis=1).argmax()]
        other = c[((c - one) ** 2).sum(axis=1).argmax()]
        along = number[np.argsort(c @ (other - one), kind="stable")]
        middle = leaves // 2 * GROUP
        return [*halved(along[:middle]), *halved(along[middle:])]

    return np.concatenate(halved(np.arange(len(centers))))
