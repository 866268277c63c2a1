"""Extents of statistics and parameters: groups and columns, if all their arrays agree."""

from __future__ import annotations

from functools import singledispatch
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from posterior.data.shapes import declared, fields_of
from posterior.families.binned import BinnedParameters
from posterior.families.categorical import CategoricalParameters
from posterior.families.normal_density import MultivariateGaussianParameters
from posterior.families.product import Parts
from posterior.generative.joint import Joint, JointStatistics
from posterior.statistics import Counts, CrossProducts, CrossSums, Exact, Histograms, IncompleteRows
from posterior.statistics.pair_counts import PairCounts
from posterior.statistics.tuple_counts import TupleCounts
from posterior.storage.model_file_error import ModelFileError, expect
from posterior.text.term_sums import TermSums
from posterior.text.term_weights import TermWeights
from posterior.text.words import WordParameters


class Extent(NamedTuple):
    """Groups, and the columns of each family."""

    groups: int
    columns: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.groups} groups and {sum(self.columns)} columns"


@runtime_checkable
class Shaped(Protocol):
    """Arrays, sums and rows."""

    shape: tuple[int, ...]


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of an array, of sums or of rows."""
    expect(isinstance(value, Shaped) and isinstance(value.shape, tuple), "an array")
    return tuple(value.shape)


def table(value: Any, like: tuple[int, ...] | None = None) -> tuple[int, int]:
    """The shape (k, d) of a table of numbers, which is that of another."""
    shape = shape_of(value)
    expect(len(shape) == 2 and like in (None, shape), "tables of one shape")
    expect(isinstance(value, Exact) or value.dtype.kind == "f", "a table of numbers")
    return shape[0], shape[1]


def n_classes(classes: Any) -> int:
    """How many classes there are, which must be in order."""
    expect(isinstance(classes, np.ndarray) and classes.ndim == 1, "classes")
    expect(np.array_equal(np.unique(classes), classes), "classes in order, each once")
    return len(classes)


def ascending(values: Any) -> bool:
    """Whether numbers are in order, each once."""
    numbers = isinstance(values, np.ndarray) and values.dtype.kind == "f" and values.ndim == 1
    return numbers and bool((values[:-1] < values[1:]).all() and not np.isnan(values).any())


@singledispatch
def measured(value: Any) -> Extent:
    """The extent of statistics or parameters; an error if their arrays do not agree."""
    sizes: dict[str, int] = {}
    for name, axes in declared(value).items():
        array = fields_of(value)[name]
        if array is not None or not axes.optional:
            _measure(array, axes.names, sizes)
    if not {"k", "d"} <= set(sizes):
        raise ModelFileError(f"Expected statistics or parameters, got {type(value).__name__}.")
    return Extent(sizes["k"], (sizes["d"],))


def _measure(array: Any, axes: tuple[str, ...], sizes: dict[str, int]) -> None:
    """The sizes of a table's axes, which are those of its neighbors."""
    shape = shape_of(array)
    expect(isinstance(array, Exact) or array.dtype.kind == "f", "a table of numbers")
    expect(len(shape) == len(axes), "tables of one shape")
    for axis, size in zip(axes, shape, strict=True):
        letter, _, other = axis.partition("|")
        expect(str(size) == other or sizes.setdefault(letter, size) == size, "tables of one shape")


@measured.register
def _(value: CrossProducts) -> Extent:
    k, d = table(value.total)
    table(value.weight, (k, 1))
    table(value.products, (k, d * (d + 1) // 2))
    for sums in (value.weight, value.total, value.products):
        expect(np.isfinite(sums.rounded()).all(), "sums that are finite")
    return Extent(k, (d,))


@measured.register
def _(value: IncompleteRows) -> Extent:
    (n, d), (m, k) = table(value.X), table(value.R)
    expect(n == m and value.X.dtype == value.R.dtype == np.float64, "a share of each row")
    expect(not np.isinf(value.X).any() and np.isfinite(value.R).all(), "rows of finite numbers")
    return Extent(k, (d,))


@measured.register
def _(value: CrossSums) -> Extent:
    extent = measured(value.complete)
    expect(measured(value.incomplete) == extent, f"rows of {extent}")
    return extent


@measured.register
def _(value: Counts) -> Extent:
    expect(all(v.ndim == 1 for v in value.values), "values of the columns")
    k, cells = table(value.table)
    expect(cells == sum(len(v) for v in value.values), "a count for each value")
    return Extent(k, (len(value.values),))


@measured.register
def _(value: Histograms) -> Extent:
    extent = measured(value.counts)
    expect(shape_of(value.shift) == extent.columns, "cells of each column")
    expect(value.shift.dtype == np.int64 and type(value.limit) is int, "the width of cells")
    expect(value.shift.min(initial=0) >= 0 and value.shift.max(initial=0) <= 52, "cells")
    for start in value.counts.values:
        expect(start.dtype == np.float64 and bool((start[:-1] < start[1:]).all()), "cells in order")
    return extent


@measured.register
def _(value: PairCounts) -> Extent:
    expect(all(v.ndim == 1 for v in value.values), "values of the columns")
    places = sum(len(v) for v in value.values)
    expect(isinstance(value.table, Exact) and len(value.table.shape) == 3, "counts of pairs")
    expect(value.table.shape[1:] == (places, places), "a count for each pair of values")
    return Extent(value.table.shape[0], (len(value.values),))


@measured.register
def _(value: TupleCounts) -> Extent:
    d, sizes = len(value.values), [len(v) for v in value.values]
    expect(len(value.parents) == len(value.cells) == d > 0, "parents of the columns")
    for j, (above, cell) in enumerate(zip(value.parents, value.cells, strict=True)):
        columns = [*(above or ()), j]
        inside = all(type(c) is int and 0 <= c < d for c in columns)
        expect(inside and shape_of(cell)[1:] == (len(columns),), "cells of a column's parents")
        expect(cell.dtype == np.int64 and cell.min(initial=0) >= -1, "codes of cells")
        limits = np.array([sizes[c] for c in columns])
        expect(bool((cell < limits).all()), "codes of the values")
    k, cells = table(value.table)
    expect(cells == sum(len(c) for c in value.cells), "a count for each cell")
    return Extent(k, (d,))


@measured.register(tuple)
def _(value: tuple[Any, ...]) -> Extent:
    parts = [measured(part) for part in value]
    expect(len({part.groups for part in parts}) == 1, "parts of equally many groups")
    return Extent(parts[0].groups, tuple(d for part in parts for d in part.columns))


@measured.register
def _(value: Parts) -> Extent:
    return measured(tuple(value.parts))


@measured.register(JointStatistics)
def _(value: JointStatistics[Any]) -> Extent:
    extent = measured(value.features)
    expect(isinstance(value.weight, Exact) and value.weight.shape == extent[:1], "group weights")
    return extent


@measured.register(Joint)
def _(value: Joint[Any, Any]) -> Extent:
    extent = measured(value.parameters)
    numbers = value.log_prior.dtype == np.float64
    expect(numbers and shape_of(value.log_prior) == extent[:1], "a prior of each group")
    return extent


@measured.register
def _(value: CategoricalParameters) -> Extent:
    shapes = [table(log_prob) for log_prob in value.log_prob]
    sizes = [len(v) for v in value.values]
    expect(len(shapes) == len(sizes) > 0 and len({k for k, _ in shapes}) == 1, "columns of values")
    enough = all(width > size for (_, width), size in zip(shapes, sizes, strict=True))
    expect(enough, "a probability for each value, and one for others")
    return Extent(shapes[0][0], (len(sizes),))


@measured.register
def _(value: BinnedParameters) -> Extent:
    extent = measured(value.bins)
    expect(isinstance(value.edges, tuple) and (len(value.edges),) == extent.columns, "edges")
    for edges, log_prob in zip(value.edges, value.bins.log_prob, strict=True):
        expect(edges.dtype == np.float64 and edges.ndim == 1, "edges of bins")
        expect(len(edges) == log_prob.shape[1] and bool((np.diff(edges[1:-1]) > 0).all()), "bins")
    return extent


@measured.register
def _(value: MultivariateGaussianParameters) -> Extent:
    k, d = table(value.mean)
    expect(len(value.whitening) in (1, k), "a covariance for each group, or one for all")
    for whitening in value.whitening:
        expect(table(whitening.matrix)[0] == d, "axes as long as a row")
    expect(shape_of(value.covariance) == (len(value.whitening), d, d), "covariances")
    for each in (value.freedom, value.stretch):
        expect(each is None or shape_of(each) == (k,), "degrees of freedom of each group")
    return Extent(k, (d,))


@measured.register
def _(value: TermSums) -> Extent:
    k, cells = len(value.start) - 1, len(value.column)
    expect(value.start.dtype == value.column.dtype == np.int64, "places of sums")
    expect(k >= 0 and value.start[0] == 0 and value.start[-1] == cells, "cells of the classes")
    expect((np.diff(value.start) >= 0).all(), "cells of the classes")
    inside = value.column.min(initial=0) >= 0 and value.column.max(initial=-1) < len(value.terms)
    expect(inside, "cells of the terms")
    for sums, n in ((value.rows, k), (value.documents, cells), (value.total, cells)):
        expect(isinstance(sums, Exact) and sums.shape == (n,), "sums of documents")
    return Extent(k, (1,))  # a column of text, however many words it has


@measured.register
def _(value: TermWeights) -> Extent:
    k, d = table(value.weight)
    expect(shape_of(value.offset) == (k,), "an offset of each class")
    return Extent(k, (d,))


@measured.register
def _(value: WordParameters) -> Extent:
    k, d = table(value.urn.log_prob)
    expect(d == len(value.terms), "a probability of each word")
    return Extent(k, (1,))
