"""Won, tied or lost: one model against the best of its rivals, set by set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Sets = dict[str, Any]  # by name: rows, classes, and the scores of models by name


@dataclass(frozen=True, slots=True)
class Verdict:
    """Against the rival that has the lowest log loss on a set."""

    name: str  # of the set
    rival: str
    apart: float  # how much larger our mean log loss is
    error: float  # the standard error of that difference between rows

    @property
    def word(self) -> str:
        """A difference within one standard error is a tie."""
        if abs(self.apart) <= self.error:
            return "tied"
        return "won" if self.apart < 0 else "lost"


def verdicts(sets: Sets, rivals: Sequence[str]) -> Iterator[Verdict]:
    """Of all sets that ours and at least one rival answered."""
    for name, found in sets.items():
        models = found["models"]
        compared = [m for m in rivals if "apart" in models.get(m, {})]
        if compared:
            best = min(compared, key=lambda m: models[m]["log_loss"])
            yield Verdict(name, best, models[best]["apart"], models[best]["apart_error"])
