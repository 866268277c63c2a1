"""A race of models: one that cannot be chosen any more is spared the folds that are left.

After some folds a model meets the best one so far on the same rows, row by row (Maron and Moore
1994). dᵢ is by how much its loss in row i is greater; it is left behind if

    mean d - 2 sd(d) / √n > s

where s is one standard error of the best for a model that is simpler, which wins within that, zero
for one as simple, and minus one standard error for one that is less simple and must win by more.
Small tables have no races: their folds take no time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posterior.data.typing import Array, Codes, Floats
from posterior.evaluation.held_out import HeldOut
from posterior.preprocessing.roles import Roles

RACED = 1e5  # rows × columns × classes above which there are races
WORDS = 100  # columns that a text counts for
MEETINGS = (3, 5)  # after so many folds
ERRORS = 2.0  # paired standard errors that settle it
LEAST_ROWS = 300  # that both have answered


def is_long(n_rows: int, roles: Roles, n_classes: int) -> bool:
    """Whether it pays to end a model's folds early."""
    return n_rows * (len(roles.table) + WORDS * len(roles.text)) * n_classes > RACED


@dataclass(frozen=True, slots=True, eq=False)
class Leader:
    """The best model so far, and what it lost in each row."""

    losses: Floats  # (n,) NaN for rows that it was not asked about
    standard_error: float
    simplicity: int

    @classmethod
    def of(
        cls, held_out: HeldOut, index: Array, n_rows: int, standard_error: float, simplicity: int
    ) -> Leader:
        losses = np.full(n_rows, np.nan)
        losses[index] = held_out.losses()["log_loss"]
        return cls(losses, standard_error, simplicity)

    def leaves_behind(self, held_out: HeldOut, index: Codes, simplicity: int) -> bool:
        """Whether a model with these answers so far cannot be chosen any more."""
        more = held_out.losses()["log_loss"] - self.losses[index]
        more = more[~np.isnan(more)]
        if len(more) < LEAST_ROWS:
            return False
        room = self.standard_error * np.sign(self.simplicity - simplicity)
        return bool(more.mean() - ERRORS * more.std(ddof=1) / np.sqrt(len(more)) > room)
