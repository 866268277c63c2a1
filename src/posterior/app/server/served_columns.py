"""Columns of a served model, with the ranges and values that it has learned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from posterior.app.models import columns, reads_documents
from posterior.data.names import plain
from posterior.data.typing import Array
from posterior.estimators import Additive, Classifier, KNeighborsClassifier, TableClassifier
from posterior.neighbors.mixed_rows import MixedRows
from posterior.preprocessing.numbers import Levels
from posterior.preprocessing.roles import MANY_VALUED, ColumnRole
from posterior.preprocessing.understood_cells import Written
from posterior.statistics import Counts, Moments
from posterior.statistics.cross_products import CrossSums

Kind: TypeAlias = Literal["number", "category", "date", "text"]

WIDE = 3.0  # standard deviations of a class that a range covers, where no more is known


@dataclass(frozen=True, slots=True)
class Column:
    """A cell of the form: a number in a range, a word of some, a date, a text."""

    name: str
    kind: Kind
    low: float | None = None  # of numbers; of dates in days since 1970
    high: float | None = None
    typical: float | str | None = None
    whole: bool = False  # whether all numbers seen were
    values: tuple[str, ...] = ()
    complete: bool = False  # whether these are all that training had
    written: Written | None = None  # how people write the numbers


def columns_of(model: Any) -> tuple[Column, ...]:
    """The columns that a fitted model reads, in its order."""
    if isinstance(model, Classifier):
        known = [each for member in model.members_.values() for each in _values(member).values()]
        ranked = sorted(known, key=lambda column: column.complete)
        values = {column.name: column for column in ranked}
        return tuple(_of_role(role, values) for role in model.columns_read)
    if isinstance(model, TableClassifier):
        return tuple(_of_role(role, _values(model)) for role in model.columns_read)
    if reads_documents(model):
        return (Column("text", "text"),)
    names = columns(model) or [f"column {j + 1}" for j in range(int(model.n_features_in_))]
    if isinstance(model, Additive):
        return _of_tables(model, names)
    if hasattr(model, "plan_"):
        return _of_families(model, names)
    if (encoding := getattr(model, "encoding_", None)) is not None:
        return tuple(_of_encoded(column) for column in encoding.columns)
    return _of_numbers(model, names)


def _of_role(role: ColumnRole, known: dict[str, Column]) -> Column:
    if role.role in (MANY_VALUED, "text", "word"):
        return Column(role.name, "text")
    if role.role in ("number", "date"):
        kind: Kind = "number" if role.role == "number" else "date"
        whole = not any("." in example or "e" in example for example in role.examples)
        return Column(role.name, kind, role.low, role.high, role.mean, whole, written=role.written)
    found = known.get(role.name)
    listed = tuple(sorted(role.examples)) if found is None else found.values
    if role.role == "boolean":  # as roles write them
        listed = tuple(sorted({value.lower() for value in listed}))
    usual = next((e for e in role.examples if e in listed), listed[0] if listed else None)
    complete = found is not None and found.complete
    return Column(role.name, "category", typical=usual, values=listed, complete=complete)


def _values(model: Any) -> dict[str, Column]:
    """The columns of words of a table, where the model inside remembers them."""
    return {column.name: column for column in _of_inside(model) if column.values}


def _of_inside(model: Any) -> tuple[Column, ...]:
    if model.reads == "numbers":
        return tuple(_of_levels(c) for c in model.numbers_.columns if isinstance(c, Levels))
    if isinstance(model.model_, Additive):
        names = [str(name) for name in model.model_.feature_names_in_]
        return _of_tables(model.model_, names)
    if hasattr(model.model_, "plan_"):
        names = [str(name) for name in model.model_.feature_names_in_]
        return _of_families(model.model_, names)
    if isinstance(model.model_, KNeighborsClassifier):
        return _of_examples(model.model_.fitted_.rows.X, [])
    return ()


def _of_levels(column: Levels) -> Column:
    """A column of words that became numbers; rare ones may share a place, and have no name."""
    values = tuple(sorted(filter(None, (column.reference, *column.levels))))
    return Column(column.name, "category", values=values, complete=not column.rare)


def _of_families(model: Any, names: list[str]) -> tuple[Column, ...]:
    """Columns of naive Bayes, by the statistics of each block of them."""
    found = {j: Column(name, "number") for j, name in enumerate(names)}
    features = model.statistics_.features
    parts = getattr(features, "parts", (features,))
    for (_, places), part in zip(model.plan_.blocks, parts, strict=True):
        block = [names[j] for j in places]
        found |= zip(places, _of_statistics(part, block), strict=True)
    return tuple(found[j] for j in range(len(names)))


def _of_tables(model: Additive, names: list[str]) -> tuple[Column, ...]:
    """Columns by their cells: where numbers are cut, and which categories have a place."""
    reader, weight = model.fitted_.reader, model.fitted_.cell_weight
    numbers, categories = reader.places()
    found = {j: Column(names[j], "number") for j in numbers}
    for j, cuts in zip(numbers, reader.cuts, strict=True):
        if len(cuts):
            found[j] = _number(names[j], *(float(cuts[i]) for i in (0, -1, len(cuts) // 2)))
    for j, values, shared in zip(categories, reader.values, reader.shared, strict=True):
        counts = weight[j][1 : 1 + len(values)]
        found[j] = replace(_category(names[j], values, counts), complete=not shared)
    return tuple(found[j] for j in range(len(names)))


def _of_statistics(statistics: Any, names: list[str]) -> tuple[Column, ...]:
    if isinstance(statistics, Counts):
        if len(statistics.values) != len(names):  # of whole rows
            return tuple(Column(name, "number") for name in names)
        weight = statistics.table.rounded().sum(axis=0)
        split = np.split(weight, np.cumsum([len(v) for v in statistics.values])[:-1])
        return tuple(
            _category(name, values, count)
            for name, values, count in zip(names, statistics.values, split, strict=True)
        )
    if isinstance(statistics, CrossSums):
        statistics = statistics.complete.moments()
    if not isinstance(statistics, Moments):
        return tuple(Column(name, "number", low=0.0, whole=True) for name in names)
    mean, scatter = statistics.mean_and_scatter()
    weight = statistics.weight.rounded()
    seen = weight > 0
    reach = WIDE * np.sqrt(np.maximum(scatter, 0.0) / np.where(seen, weight, 1.0))
    low = np.where(seen, mean - reach, np.inf).min(axis=0)
    high = np.where(seen, mean + reach, -np.inf).max(axis=0)
    middle = (np.where(seen, mean, 0.0) * weight).sum(axis=0) / np.maximum(weight.sum(axis=0), 1)
    return tuple(_number(*facts) for facts in zip(names, low, high, middle, strict=True))


def _of_encoded(column: Any) -> Column:
    """A column of a model of numbers that were made of words."""
    if hasattr(column, "levels"):
        levels = column.levels
        return Column(column.name, "category", typical=levels[0], values=levels, complete=True)
    return Column(column.name, "number", typical=column.fill)


def _of_numbers(model: Any, names: list[str]) -> tuple[Column, ...]:
    if isinstance(model, KNeighborsClassifier):
        return _of_examples(model.fitted_.rows.X, names)
    features = getattr(getattr(model, "statistics_", None), "features", None)
    if isinstance(features, Counts | CrossSums | Moments):
        return _of_statistics(features, names)
    typical = getattr(model, "typical_", [None] * len(names))
    return tuple(
        Column(name, "number", typical=None if t is None else float(t))
        for name, t in zip(names, typical, strict=True)
    )


def _of_examples(X: Any, names: list[str]) -> tuple[Column, ...]:
    """Columns of rows that are kept."""
    if not isinstance(X, MixedRows):
        dense = X if isinstance(X, np.ndarray) and X.ndim == 2 else None
        if dense is None:
            return tuple(Column(name, "number") for name in names)
        return tuple(_of_cells(name, cells) for name, cells in zip(names, dense.T, strict=True))
    return tuple(_of_cells(str(n), cells) for n, cells in zip(X.names, X.parts, strict=True))


def _of_cells(name: str, cells: Array) -> Column:
    if cells.dtype.kind in "OU":
        values, counts = np.unique([c for c in cells if c is not None], return_counts=True)
        return _category(name, values, counts)
    known = cells[np.isfinite(cells)]
    if not len(known):
        return Column(name, "number")
    return _number(name, known.min(), known.max(), known.mean())


def _category(name: str, values: Array, counts: Array) -> Column:
    usual = str(plain(values[int(np.argmax(counts))])) if len(values) else None
    listed = tuple(str(plain(value)) for value in values)
    return Column(name, "category", typical=usual, values=listed, complete=True)


def _number(name: str, low: float, high: float, middle: float) -> Column:
    if not (np.isfinite(low) and np.isfinite(high)):
        return Column(name, "number")
    return Column(name, "number", float(low), float(high), float(middle))
