"""A k-d tree as its search reads it."""

from __future__ import annotations

from dataclasses import dataclass

from posterior.data.typing import Array, Codes

BRANCHES = 8  # boxes of a node, and rows of a block: kBranches in cpp/tree.hpp


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """Rows in leaves, in blocks of eight; leaf l has blocks start[l] .. start[l + 1].

    Where there are fewer than eight, boxes and points are NaN, and numbers are -1.
    """

    boxes: Array  # (nodes, d, 2, 8): lower and upper ends of the branches
    child: Codes  # (nodes, 8): a node, or -1 - leaf
    start: Codes  # (leaves + 1,)
    points: Array  # (blocks, d, 8)
    number: Codes  # (blocks, 8) of the rows, as they were given

    def arrays(self) -> tuple[Array, Codes, Codes, Array, Codes]:
        return self.boxes, self.child, self.start, self.points, self.number
