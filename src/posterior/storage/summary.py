"""What people and tools want to know of a model file before they load it."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from posterior.data.names import plain

MOST = 1000  # classes or columns that are listed


def summary(model: Any) -> dict[str, Any]:
    """Class and settings, classes, columns with their roles, and how many rows were learned."""
    state = vars(model)
    return {
        "class": type(model).__name__,
        "model": re.sub(" at 0x[0-9A-Fa-f]+", "", repr(model)),
        "fitted": any(name.endswith("_") and not name.startswith("_") for name in state),
        "classes": _classes(state.get("classes_")),
        "columns": _columns(state),
        "n_features": _whole(state.get("n_features_in_")),
        "rows": _rows(state),
    }


def _classes(classes: Any) -> Any:
    if isinstance(classes, np.ndarray):
        return [_simple(label) for label in classes[:MOST].tolist()]
    if isinstance(classes, list):  # of several outputs
        return [_classes(each) for each in classes]
    return None


def _columns(state: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Names, and what each column is taken for where the model decides."""
    roles: list[str | None]
    if "plan_" in state:
        plan = state["plan_"]
        names = [column.name for column in plan.columns]
        roles = ["left out" if f is None else type(f).__name__ for f in plan.families]
    elif state.get("encoding_") is not None:
        columns = state["encoding_"].columns
        names = [column.name for column in columns]
        roles = [type(column).__name__.removesuffix("Column") for column in columns]
    elif "feature_names_in_" in state:
        names = list(state["feature_names_in_"])
        roles = [None] * len(names)
    else:
        return None
    pairs = zip(names[:MOST], roles, strict=False)
    return [{"name": _simple(name), "role": role} for name, role in pairs]


def _rows(state: dict[str, Any]) -> float | None:
    """The weight of the rows that the model was learned from, where it knows."""
    statistics: Any = state.get("statistics_")
    if hasattr(statistics, "weight"):
        return float(statistics.weight.rounded().sum())
    seen = getattr(statistics, "n_documents", state.get("n_samples_fit_"))
    return None if seen is None else float(seen)


def _whole(value: Any) -> int | None:
    return None if value is None else int(value)


def _simple(value: Any) -> Any:
    """A label or name as JSON has it."""
    value = plain(value)
    return value if isinstance(value, bool | int | str) else str(value)
