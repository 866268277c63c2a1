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
    """Class and settings, classes, columns with their roles, and how many rows were learned.

    Under "table", what a model of a file's table says of its columns and of the model in it.
    """
    return {**_own(model), "table": of_table(model)}


def _own(model: Any) -> dict[str, Any]:
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


def of_table(model: Any) -> dict[str, Any]:
    """The target, the columns by their roles, and the model inside."""
    from posterior.estimators import Classifier, TableClassifier
    from posterior.evaluation.calibration import name_of

    if not isinstance(model, Classifier | TableClassifier) or "fitted_" not in vars(model):
        return {"target": None, "calibration": None}
    roles = model.roles_ if isinstance(model, Classifier) else model.roles
    read = [column.name for column in model.columns_read]
    columns = {
        "target": roles.target,
        "columns": [{"name": c.name, "role": c.role} for c in model.columns_read],
        "left_out": [c.name for c in roles.columns if c.name not in (*read, roles.target)],
    }
    if isinstance(model, Classifier):
        told = ", ".join(f"{name} ({weight:.2f})" for name, weight in model.weights_.items())
        known = [rows_learned(member.model_) for member in model.members_.values()]
        return {
            **columns,
            "model": f"Classifier: {told}",
            "rows": next((rows for rows in known if rows is not None), None),
            "calibration": "the weights",
        }
    inner, calibrator = _own(model.model_), model.calibrator
    return {
        **columns,
        "class": inner["class"],
        "model": inner["model"],
        "rows": inner["rows"],
        "calibration": None if calibrator is None else name_of(calibrator),
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
