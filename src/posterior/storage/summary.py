"""Summary of a model file, for people and tools before they load it."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from posterior.data.names import feature_names, plain
from posterior.generative.joint import JointStatistics
from posterior.readers.mixed import MixedColumns
from posterior.text.vocabulary import TermCounts
from posterior.text.weighting import DocumentFrequencies

MOST = 1000  # classes or columns that are listed


def summary(model: Any) -> dict[str, Any]:
    """Class and settings, classes, columns with their roles, and how many rows were learned."""
    state = vars(model)
    return {
        "class": type(model).__name__,
        "model": re.sub(" at 0x[0-9A-Fa-f]+", "", repr(model)),
        "fitted": any(name.endswith("_") and not name.startswith("_") for name in state),
        "classes": _classes(getattr(model, "classes_", None)),
        "columns": _columns(model),
        "n_features": _whole(getattr(model, "n_features_in_", None)),
        "rows": rows_learned(model),
    }


def _classes(classes: Any) -> Any:
    if isinstance(classes, np.ndarray):
        return [_simple(label) for label in classes[:MOST].tolist()]
    if isinstance(classes, list):  # of several outputs
        return [_classes(each) for each in classes]
    return None


def _columns(model: Any) -> list[dict[str, Any]] | None:
    """Names, and what each column is read as where the model decides."""
    reader, encoding = getattr(model, "plan_", None), getattr(model, "encoding_", None)
    roles: list[str | None]
    if isinstance(reader, MixedColumns):
        names = reader.labels()
        roles = ["left out" if f is None else type(f).__name__ for f in reader.families]
    elif encoding is not None:
        names = [column.name for column in encoding.columns]
        roles = [type(column).__name__.removesuffix("Column") for column in encoding.columns]
    else:
        known = feature_names(model)
        if known is None:
            return None
        names = list(known)
        roles = [None] * len(names)
    pairs = zip(names[:MOST], roles, strict=False)
    return [{"name": _simple(name), "role": role} for name, role in pairs]


def rows_learned(model: Any) -> float | None:
    """The weight of the rows that the model was learned from, where it knows."""
    statistics: Any = getattr(model, "statistics_", None)
    if isinstance(statistics, JointStatistics):
        return float(statistics.weight.rounded().sum())
    if isinstance(statistics, TermCounts | DocumentFrequencies):
        return float(statistics.n_documents)
    seen = getattr(model, "n_samples_fit_", None)
    return None if seen is None else float(seen)


def _whole(value: Any) -> int | None:
    return None if value is None else int(value)


def _simple(value: Any) -> Any:
    """A label or name as JSON has it."""
    value = plain(value)
    return value if isinstance(value, bool | int | str) else str(value)
