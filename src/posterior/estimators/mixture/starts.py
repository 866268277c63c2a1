"""Several starts of EM: the best is kept, and one that collapses does not end the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from posterior.data.errors import DegenerateError
from posterior.data.names import quoted
from posterior.data.table import Table
from posterior.data.typing import Array
from posterior.generative.em import Ascent


def best_of(
    n_starts: int,
    climb: Callable[[int], Ascent[Any, Any]],
    n_steps: Callable[[], int],
    features: Array,
) -> tuple[Ascent[Any, Any], Table]:
    """The best ascent and a line for each start; a collapsed one is less probable than any.

    `n_steps` says how far the last start came, if it did not arrive.
    """
    arrived: list[Ascent[Any, Any]] = []
    objective, steps, ended = list[float](), list[int](), list[str]()
    for start in range(n_starts):
        try:
            ascent = climb(start)
        except DegenerateError as error:
            collapse = error
            where = "" if error.feature is None else f" in column {quoted(features[error.feature])}"
            objective.append(-np.inf)
            steps.append(n_steps())
            ended.append(f"collapsed{where}")
        else:
            arrived.append(ascent)
            objective.append(ascent.value)
            steps.append(len(ascent.trace))
            ended.append(ascent.reason)
    if not arrived:
        all_ = f"All {n_starts} starts collapsed. " if n_starts > 1 else ""
        raise DegenerateError(all_ + collapse.template, collapse.feature, collapse.group)
    columns = {"objective": objective, "steps": steps, "ended": ended}
    starts = Table({name: np.array(column) for name, column in columns.items()})
    return max(arrived, key=lambda ascent: ascent.value), starts
