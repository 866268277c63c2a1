"""What the compiled loops take on trust, looked at when a model is read.

Loops over rows believe that the arrays of a model have one number of groups and one number of
columns, and that places are inside what they point into. Here each value of a file that reaches
them is measured, and compared with the model that holds it.
"""

from __future__ import annotations

from functools import cache, singledispatch
from importlib import import_module
from typing import Any

import numpy as np

from posterior.data.rows import CodedRows, SparseRows
from posterior.data.table_columns import Columns
from posterior.estimators.estimator import Estimator
from posterior.families import Product
from posterior.families.dependence.smoothing import check_smoothing
from posterior.generative.fitted import Fitted
from posterior.generative.hidden_groups import MixtureRule
from posterior.generative.joint import Joint, JointStatistics
from posterior.generative.rule import Rule
from posterior.generative.several_starts import Convergence
from posterior.readers.binned import BinnedColumns
from posterior.readers.labels import Labels
from posterior.readers.mixed import MixedColumns
from posterior.readers.reader import Reader
from posterior.statistics import Exact
from posterior.statistics.class_histogram import ClassHistogram
from posterior.storage.calibrator_checks import check_calibrator
from posterior.storage.extents import Extent, ascending, measured, n_classes, shape_of
from posterior.storage.model_file_error import expect

MOST_COLUMNS = 10_000_000  # without names
MOST_BITS = 1 << 13  # beyond those of weights times squares of doubles
MOST_LIMB = (1 << 62) - 1  # two of them add without overflow


ELSEWHERE = {  # where values of a part of the package are looked at, if not here
    "discriminative.additive": "additive_tables",
    "discriminative.fitted_logistic": "logistic_checks",
    "estimators.pool": "pool_checks",
    "estimators.table_classifier": "table_checks",
    "estimators.text": "term_checks",
    "generative.class_components": "component_checks",
    "generative.kmeans": "component_checks",
    "kernels.terms": "term_checks",
    "neighbors": "neighbor_checks",
    "preprocessing": "bin_checks",
    "text": "term_checks",
}


def check(value: Any) -> None:
    """Refuse a value that a loop could not read."""
    kind: Any = type(value)
    bring_in(kind)
    looks(value)


@cache
def bring_in(kind: type) -> None:
    """Import what looks at values of a class: checks of other models stay where they are."""
    for base in kind.__mro__:
        for part, module in ELSEWHERE.items():
            if is_of(base, part):
                import_module(f"posterior.storage.{module}")


def is_of(kind: type, part: str) -> bool:
    """Whether a class is in a part of the package."""
    return f"{kind.__module__}.".startswith(f"posterior.{part}.")


@singledispatch
def looks(value: Any) -> None:
    """What `check` finds, by the class of the value."""


@looks.register
def _(value: Exact) -> None:
    limbs, exponent = value.limbs, value.exponent
    plain = isinstance(limbs, np.ndarray) and limbs.dtype == np.int64 and limbs.ndim > 0
    expect(plain and limbs.flags.c_contiguous and limbs.shape[-1] > 0, "limbs of an exact sum")
    whole = type(exponent) is int and abs(exponent) < MOST_BITS and exponent % 32 == 0
    expect(whole and limbs.shape[-1] * 32 < 4 * MOST_BITS, "an exponent of an exact sum")
    below, top = limbs[..., :-1], limbs[..., -1]
    carried = below.min(initial=0) >= 0 and below.max(initial=0) < 1 << 32
    room = top.min(initial=0) >= -MOST_LIMB and top.max(initial=0) <= MOST_LIMB
    expect(carried and room, "limbs that can be added")


@looks.register(JointStatistics)
@looks.register(Joint)
def _(value: Any) -> None:
    measured(value)


@looks.register
def _(value: SparseRows) -> None:
    data, column, start = value.data, value.column, value.start
    expect(all(isinstance(a, np.ndarray) and a.ndim == 1 for a in (data, column, start)), "vectors")
    expect(data.dtype in (np.float32, np.float64), "sparse rows of float32 or float64")
    expect(column.dtype == start.dtype in (np.int32, np.int64), "places of sparse rows")
    expect(len(start) > 0 and start[0] >= 0 and (np.diff(start) >= 0).all(), "rows one by one")
    expect(start[-1] <= len(data) == len(column), "rows that end where their entries do")
    inside = column.min(initial=0) >= 0 and column.max(initial=-1) < value.n_columns
    expect(type(value.n_columns) is int and inside, "columns that a sparse table has")


@looks.register
def _(value: CodedRows) -> None:
    expect(shape_of(value.codes)[1:] == (len(value.values),), "codes of as many columns")


@looks.register
def _(value: Fitted) -> None:
    reader, labels, n = value.reader, value.labels, n_columns(value.reader)
    if isinstance(reader, MixedColumns):
        expect(len(reader.kinds) == n, "a kind of each column")
    if isinstance(reader, BinnedColumns):
        numbers, cuts = len(reader.places()[0]), reader.cuts or ()
        expect(len(reader.kinds) == n, "a kind of each column")
        expect(len(cuts) == len(reader.ends) == numbers, "bins of numbers")
        expect(all(ascending(np.array(c, np.float64)) for c in cuts), "cut points in order")
        coding = reader.coding()
        families: list[Any] = [value.rule.family, value.joint and value.joint.family]
        expect(all(f is None or f.coding == coding for f in families), "a model of the same bins")
        chosen = [reader.smoothing, *(f.smoothing for f in families if f is not None)]
        expect(all(s is None or _smooths(s, n) for s in chosen), "smoothing of as many columns")
    expect(isinstance(labels, Labels) and isinstance(value.rule, Rule), "classes and a rule")
    k, statistics, joint = n_classes(labels.classes), value.statistics, value.joint
    check_calibrator(value.calibrator, k)
    expect(statistics is not None or joint is not None, "sums, or a model that was stated")
    if statistics is not None:
        expected = Extent(k, reader.summed_widths())
        expect(isinstance(statistics, JointStatistics), "statistics of the classes")
        expect(measured(statistics) == expected, f"statistics of {expected}")
    if joint is not None:
        expected = Extent(k, reader.widths())
        expect(isinstance(joint, Joint), "a joint model")
        expect(measured(joint) == expected, f"parameters of {expected}")
        _check_columns(joint, n)


def _smooths(smoothing: Any, n_columns: int) -> bool:
    try:
        check_smoothing(smoothing, n_columns)
    except ValueError:
        return False
    return True


@looks.register
def _(value: ClassHistogram) -> None:
    values, counts = value.values, value.counts
    expect(isinstance(values, np.ndarray) and ascending(values), "values in order, each once")
    expect(shape_of(counts)[:1] == values.shape and counts.ndim == 2, "counts of each value")
    expect(counts.dtype == np.float64 and np.isfinite(counts).all(), "counts that are numbers")
    expect((counts >= 0).all() and type(value.limit) is int, "counts of each value")


LEARNED = {  # what the estimators of a kind hold after a fit, by the names of their classes
    "SummedClassifier": "Fitted",
    "MixtureBase": "Fitted",
    "MixtureClassifier": "FittedComponents",
    "LogisticBase": "FittedLogistic",
    "Additive": "FittedAdditive",
    "Clusters": "FittedClusters",
    "KMedoids": "FittedMedoids",
    "KNeighborsClassifier": "FittedNeighbors",
    "TableClassifier": "FittedTable",
    "Pool": "FittedPool",
    "CountVectorizer": "LearnedTerms",
    "TfidfTransformer": "LearnedFrequencies",
}


@looks.register
def _(estimator: Estimator) -> None:
    model: Any = estimator
    fitted = vars(model).get("fitted_")
    if fitted is None:
        return
    kinds = {base.__name__ for base in type(model).__mro__}
    wanted = [learned for kind, learned in LEARNED.items() if kind in kinds]
    expect(wanted == [type(fitted).__name__], "what was learned")
    check(fitted)  # also of files that earlier versions wrote
    if "MixtureBase" in kinds:
        expect(fitted.joint is not None and isinstance(fitted.rule, MixtureRule), "components")
        expect(fitted.derived is None or isinstance(fitted.derived, Convergence), "the steps of EM")
    if "MixtureClassifier" in kinds:
        inner = type(vars(model).get("classifier_"))
        summed = inner is type(None) or "SummedClassifier" in {c.__name__ for c in inner.__mro__}
        expect(summed, "a classifier")
    if "TableClassifier" in kinds:
        check_calibrator(model.calibrator, len(model.classes_))
    if "Clusters" in kinds and fitted.stream is not None:
        expect(model.n_clusters == len(fitted.centers), "as many centers as clusters")


def n_columns(reader: Any) -> int:
    expect(isinstance(reader, Reader), "how rows are read")
    check_columns(reader.columns)
    return int(reader.columns.n)


def check_columns(columns: Any) -> None:
    """Refuse columns that are numbered beyond reason: a number costs a file nothing."""
    expect(isinstance(columns, Columns), "columns")
    n, names = columns.n, columns.names
    expect(type(n) is int and n >= 0, "a number of columns")
    expect(n <= MOST_COLUMNS or names is not None, f"at most {MOST_COLUMNS:,} columns")
    expect(names is None or len(names) == n, "a name of each column")


def _check_columns(joint: Joint[Any, Any], n_columns: int) -> None:
    """Families side by side have columns of the table, which is no wider than the model's."""
    if isinstance(family := joint.family, Product):
        taken = [j for columns in family.columns for j in columns]
        expect(all(type(j) is int and 0 <= j < n_columns for j in taken), "columns")
        sizes = tuple(map(len, family.columns))
        expect(sizes == measured(joint).columns, "columns of each family")
        expect(len(set(taken)) == len(taken), "columns of one family each")
        expect(family.n_columns in (None, n_columns), "as many columns as the table")
