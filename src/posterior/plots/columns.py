"""One column of a table, and tables that hold nothing else."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from posterior.data import frames, validate
from posterior.data.names import feature_names, plain, quoted
from posterior.data.typing import Array, Codes, Floats
from posterior.estimators.mixture.base import MixtureBase
from posterior.estimators.summed_classifier import SummedClassifier
from posterior.families.family import Support


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table, and how to make tables with other values in it."""

    name: str
    values: Floats
    table: Callable[[Floats], Any]  # the other columns are missing
    support: Support  # what the model takes the cells for

    def possible(self, grid: Floats) -> Floats:
        """The points that the model has a density for, or a probability: counts are whole."""
        if self.support == "real":
            return grid
        if self.support == "count":
            grid = np.unique(np.round(grid))
        return grid[grid > 0] if self.support == "positive" else grid[grid >= 0]


def column_of(model: Any, X: Any, feature: int | str) -> Column:
    """The column that was asked for, by position or name."""
    frame, d = frames.as_frame(X), model.n_features_in_
    if frame is None:
        X = np.asarray(X)
        if X.ndim != 2:
            raise ValueError(f"Expected a table of rows and columns, got shape {X.shape}.")
    found = X.shape[1] if frame is None else len(frame.columns)
    if found != d:
        raise ValueError(f"Expected the model's {d} column(s), got {found}.")
    learned = feature_names(model)
    known = range(d) if learned is None else learned
    names: list[Any] = list(known if frame is None else frame.columns)
    j = _place(names, feature)
    if d > 1 and not model.__sklearn_tags__().input_tags.allow_nan:
        raise ValueError(
            f"Expected a model of one column, or one that leaves missing cells out, got "
            f"{type(model).__name__} of {d} columns. Fit it to the column that shall be drawn."
        )
    support = _support(model, j)
    if frame is not None:
        values = frames.numbers(frame.get_column(names[j]))
        name, like = str(names[j]), names[j]
        return Column(name, values, lambda grid: _frame(frame, like, grid), support)
    name = str(names[j]) if learned is not None else f"feature {j}"
    cells = np.asarray(X[:, j], np.float64)
    return Column(name, cells, lambda grid: _array(d, j, grid), support)


def column_alone(model: Any, feature: int | str) -> tuple[Column, int]:
    """The column that was asked for, of a model that comes without rows, and its place."""
    d, learned = model.n_features_in_, feature_names(model)
    names: list[Any] = list(range(d) if learned is None else learned)
    j = _place(names, feature)
    name = f"feature {j}" if learned is None else str(plain(names[j]))
    return Column(name, np.empty(0), lambda grid: _array(d, j, grid), _support(model, j)), j


def _support(model: Any, j: int) -> Support:
    dense = isinstance(model, SummedClassifier | MixtureBase)
    return model.family_.support_of(j) if dense else "real"


def _place(names: list[Any], feature: int | str) -> int:
    j = names.index(feature) if feature in names else feature
    if not isinstance(j, int | np.integer) or not -len(names) <= j < len(names):
        raise ValueError(f"Expected one of the columns {names}, got {quoted(feature)}.")
    return int(j) % len(names)


@contextmanager
def without_names() -> Iterator[None]:
    """Rows that are made up here have no names, which the model need not be told."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        yield


def _frame(like: nw.DataFrame[Any], name: str, values: Floats) -> Any:
    nothing = [None] * len(values)
    columns = {c: values if c == name else nothing for c in like.columns}
    return frames.from_columns(columns, like.implementation).to_native()


def _array(d: int, j: int, values: Floats) -> Floats:
    table = np.full((len(values), d), np.nan)
    table[:, j] = values
    return table


def observed(column: Column, y: Any, classes: Array) -> tuple[Floats, Codes]:
    """Values that are not missing, and the codes of their classes."""
    codes, unknown = validate.codes_of(y, classes, len(column.values))
    if len(unknown):
        raise ValueError(
            f"Expected labels among the model's classes {classes.tolist()}, got "
            f"{quoted(unknown[0])}."
        )
    seen = ~np.isnan(column.values)
    x = column.values[seen]
    if not len(x):
        raise ValueError(f"Expected numbers in column {column.name!r}, all of it is missing.")
    if np.isinf(x).any():
        raise ValueError(f"Expected finite numbers in column {column.name!r}, got infinity.")
    return x, codes[seen]
