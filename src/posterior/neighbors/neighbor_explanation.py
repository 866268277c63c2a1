"""Explanation of an answer by its neighbors, as numbers and as a table to read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from posterior.data.names import plain
from posterior.data.shares import ranked_shares
from posterior.data.table import text
from posterior.data.typing import Array, Floats, Integers

BAR = 12  # characters of the longest bar


@dataclass(frozen=True, slots=True, eq=False)
class Neighborhood:
    """The rows that voted on one query, nearest first."""

    answer: Any
    rows: Integers  # (j,): their numbers among the training rows
    labels: Array  # (j,)
    distances: Floats  # (j,)
    say: Floats  # (j,): their parts of the vote, which sum to one
    prior_say: float  # the part of the class shares, if there is smoothing
    posterior: dict[Any, float]

    def in_short(self, most: int) -> str:
        """The nearest rows, in one line."""
        nearest = list(zip(self.rows, self.labels, self.say, strict=True))[:most]
        return "; ".join(f"row {row} is {label} ({say:.0%})" for row, label, say in nearest)

    def to_dict(self) -> dict[str, Any]:
        """In plain values."""
        keys = ("row", "label", "distance", "say")
        neighbors = zip(self.rows, self.labels, self.distances, self.say, strict=True)
        return {
            "answer": self.answer,
            "neighbors": [dict(zip(keys, neighbor, strict=True)) for neighbor in neighbors],
            "prior_say": self.prior_say,
            "posterior": self.posterior,
        }

    def __str__(self) -> str:
        head = ("row", "label", "distance", "say")
        lines = [
            (str(row), str(plain(label)), text(distance), percent(say))
            for row, label, distance, say in zip(
                self.rows, self.labels, self.distances, self.say, strict=True
            )
        ]
        if self.prior_say > 0:
            lines.append(("", "class shares", "", percent(self.prior_say)))
        widths = [max(len(line[i]) for line in [head, *lines]) for i in range(4)]
        heights = [*self.say, *([self.prior_say] if self.prior_say > 0 else [])]
        bars = ["", *("+" * round(BAR * h / max(heights)) for h in heights)]
        table = [
            f"{row:>{widths[0]}}  {label:<{widths[1]}}  {distance:>{widths[2]}}  "
            f"{say:>{widths[3]}}  {bar}".rstrip()
            for (row, label, distance, say), bar in zip([head, *lines], bars, strict=True)
        ]
        return "\n".join(
            [
                f"Why {self.answer}: the nearest rows",
                *table,
                ranked_shares(self.posterior),
            ]
        )

    __repr__ = __str__


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"
