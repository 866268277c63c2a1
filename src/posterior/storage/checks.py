"""What the compiled loops take on trust, looked at when a model is read.

Loops over rows believe that the arrays of a model have one number of groups and one number of
columns, and that places are inside what they point into. Here each value of a file that reaches
them is measured, and compared with the model that holds it.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from posterior.data.rows import CodedRows, SparseRows
from posterior.discriminative.additive.fitted_additive import FittedAdditive
from posterior.discriminative.fitted_logistic import FittedLogistic
from posterior.engines.local import Local
from posterior.estimators.additive import Additive
from posterior.estimators.estimator import Estimator
from posterior.estimators.kmeans.base import Clusters
from posterior.estimators.logistic.base import LogisticBase
from posterior.estimators.mixture import MixtureClassifier
from posterior.estimators.mixture.base import MixtureBase
from posterior.estimators.neighbors import KMedoids, KNeighborsClassifier
from posterior.estimators.pool import Pool
from posterior.estimators.pool.fitted_pool import FittedPool
from posterior.estimators.summed_classifier import SummedClassifier
from posterior.estimators.table_classifier import FittedTable, TableClassifier
from posterior.estimators.text.count_vectorizer import CountVectorizer, LearnedTerms
from posterior.estimators.text.tfidf_transformer import LearnedFrequencies, TfidfTransformer
from posterior.families import Product
from posterior.families.dependence.smoothing import check_smoothing
from posterior.generative.class_components import Components, FittedComponents
from posterior.generative.fitted import Fitted
from posterior.generative.hidden_groups import MixtureRule
from posterior.generative.joint import Joint, JointStatistics
from posterior.generative.kmeans.fitted_clusters import FittedClusters
from posterior.generative.kmeans.mini_batch_steps import BatchStream
from posterior.generative.rule import Rule
from posterior.generative.several_starts import Convergence
from posterior.kernels.terms import Terms
from posterior.neighbors.fitted_medoids import FittedMedoids
from posterior.neighbors.fitted_neighbors import FittedNeighbors
from posterior.neighbors.input_by_metric import MixedTable
from posterior.neighbors.metrics import Metric
from posterior.neighbors.mixed_rows import MixedRows
from posterior.neighbors.neighbor_search import Search, SearchMethod
from posterior.neighbors.select_distance import RULES
from posterior.neighbors.training_rows import TrainingRows
from posterior.preprocessing import KBinsDiscretizer, SupervisedDiscretizer
from posterior.preprocessing.encoding import Encoding
from posterior.preprocessing.numbers import Numbers
from posterior.readers.binned import BinnedColumns
from posterior.readers.encoded import Encoded
from posterior.readers.labels import Labels
from posterior.readers.mixed import MixedColumns
from posterior.readers.reader import Reader
from posterior.statistics import Exact
from posterior.statistics.class_histogram import ClassHistogram
from posterior.storage.additive_tables import check_additive
from posterior.storage.bin_checks import ascending, check_bins, check_cuts, n_classes
from posterior.storage.calibrator_checks import check_calibrator
from posterior.storage.extents import Extent, measured, shape_of
from posterior.storage.metric_checks import check_metric
from posterior.storage.model_file_error import expect
from posterior.storage.pool_checks import check_pool
from posterior.storage.streams import check_stream
from posterior.storage.term_checks import (
    check_learned_frequencies,
    check_learned_terms,
    check_term_counts,
    check_terms,
    check_vocabulary,
)
from posterior.text.damping import WEIGHTINGS
from posterior.text.term_weights import WeighedTerms
from posterior.text.vocabulary import TermCounts, Vocabulary

MOST_BITS = 1 << 13  # beyond those of weights times squares of doubles
MOST_LIMB = (1 << 62) - 1  # two of them add without overflow


@singledispatch
def check(value: Any) -> None:
    """Refuse a value that a loop could not read."""


@check.register
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


@check.register(JointStatistics)
@check.register(Joint)
def _(value: Any) -> None:
    measured(value)


@check.register
def _(value: SparseRows) -> None:
    data, column, start = value.data, value.column, value.start
    expect(all(isinstance(a, np.ndarray) and a.ndim == 1 for a in (data, column, start)), "vectors")
    expect(data.dtype in (np.float32, np.float64), "sparse rows of float32 or float64")
    expect(column.dtype == start.dtype in (np.int32, np.int64), "places of sparse rows")
    expect(len(start) > 0 and start[0] >= 0 and (np.diff(start) >= 0).all(), "rows one by one")
    expect(start[-1] <= len(data) == len(column), "rows that end where their entries do")
    inside = column.min(initial=0) >= 0 and column.max(initial=-1) < value.n_columns
    expect(type(value.n_columns) is int and inside, "columns that a sparse table has")


@check.register
def _(value: CodedRows) -> None:
    expect(shape_of(value.codes)[1:] == (len(value.values),), "codes of as many columns")


@check.register
def _(value: MixedRows) -> None:
    expect(len({shape_of(part) for part in value.parts}) == 1, "columns of equal length")
    expect(len(value.names) == len(value.parts), "a name for each column")
    expect(all(part.ndim == 1 and part.dtype.kind in "Of" for part in value.parts), "columns")


@check.register
def _(value: TrainingRows) -> None:
    codes, n = value.codes, shape_of(value.X)[0]
    expect(shape_of(codes) == (n, len(value.classes)) and codes.dtype.kind == "i", "a code a row")
    for column, classes in zip(codes.T, value.classes, strict=True):
        inside = column.min(initial=0) >= 0 and column.max(initial=-1) < n_classes(classes)
        expect(inside, "codes of classes")
    weight = value.weight
    expect(weight is None or (weight.shape == (n,) and weight.dtype == np.float64), "weights")
    expect(weight is None or bool((np.isfinite(weight) & (weight >= 0)).all()), "weights")


@check.register
def _(value: Search) -> None:
    expect(isinstance(value.rows, TrainingRows), "the rows of a search")
    expect(isinstance(value.engine, Local), "the engine of a search")
    expect(value.method is None or isinstance(value.method, SearchMethod), "a method of search")
    expect(type(value.n_neighbors) is int, "a number of neighbors")
    shrinkage = value.whiten
    expect(
        shrinkage is None or (isinstance(shrinkage, float) and 0 <= shrinkage <= 1),
        "a shrinkage between 0 and 1",
    )
    check_metric(value.metric, value.rows.X)


@check.register
def _(value: Fitted) -> None:
    reader, labels, n = value.reader, value.labels, _n_columns(value.reader)
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


@check.register
def _(value: WeighedTerms) -> None:
    known = isinstance(value.weighting, str) and value.weighting in WEIGHTINGS
    expect(known, "a weighting of terms")


@check.register
def _(value: Components) -> None:
    sizes = value.sizes
    whole = isinstance(sizes, tuple) and all(type(n) is int and n > 0 for n in sizes)
    expect(whole, "numbers of components")


@check.register
def _(value: FittedComponents) -> None:
    labels, components, fitted = value.labels, value.components, value.fitted
    expect(isinstance(labels, Labels) and isinstance(components, Components), "classes")
    expect(len(components.sizes) == n_classes(labels.classes), "components of the classes")
    expect(isinstance(fitted, Fitted) and fitted.joint is not None, "a model of the components")
    expect(len(fitted.labels) == len(components), "a model of the components")
    expect(isinstance(fitted.derived, Convergence), "the steps of EM")
    check_calibrator(value.calibrator, len(components.sizes))


LEARNED: dict[type, type] = {  # what the estimators of a kind hold after a fit
    SummedClassifier: Fitted,
    MixtureBase: Fitted,
    MixtureClassifier: FittedComponents,
    LogisticBase: FittedLogistic,
    Additive: FittedAdditive,
    Clusters: FittedClusters,
    KMedoids: FittedMedoids,
    KNeighborsClassifier: FittedNeighbors,
    TableClassifier: FittedTable,
    Pool: FittedPool,
    CountVectorizer: LearnedTerms,
    TfidfTransformer: LearnedFrequencies,
}


@check.register
def _(model: Estimator) -> None:
    fitted = vars(model).get("fitted_")
    if fitted is None:
        return
    kinds = [value for kind, value in LEARNED.items() if isinstance(model, kind)]
    expect(len(kinds) == 1 and isinstance(fitted, kinds[0]), "what was learned")
    check(fitted)  # also of files that earlier versions wrote
    if isinstance(model, MixtureBase):
        expect(fitted.joint is not None and isinstance(fitted.rule, MixtureRule), "components")
        expect(fitted.derived is None or isinstance(fitted.derived, Convergence), "the steps of EM")
    if isinstance(model, MixtureClassifier):
        classifier = vars(model).get("classifier_")
        expect(classifier is None or isinstance(classifier, SummedClassifier), "a classifier")
    if isinstance(model, TableClassifier):
        check_calibrator(model.calibrator, len(model.classes_))
    if isinstance(model, Clusters) and fitted.stream is not None:
        expect(model.n_clusters == len(fitted.centers), "as many centers as clusters")


@check.register
def _(value: FittedTable) -> None:
    expect(isinstance(value.model, BaseEstimator), "a model of columns")
    expect(
        value.numbers is None or isinstance(value.numbers, Numbers), "how columns became numbers"
    )
    expect(all(isinstance(name, str) for name in value.names), "names of columns")


@check.register
def _(value: FittedLogistic) -> None:
    reader, labels = value.reader, value.labels
    expect(isinstance(reader, Encoded) and isinstance(labels, Labels), "how rows are read")
    n = _n_columns(reader)
    if reader.encoding is not None:
        expect(isinstance(reader.encoding, Encoding), "how words become numbers")
        expect(len(reader.encoding.columns) == n, "an encoding of each column")
    k, (width,) = n_classes(labels.classes), reader.widths()
    outputs = k if k > 2 else 1
    check_calibrator(value.calibrator, k)
    expect(shape_of(value.coef) == (outputs, width), f"coefficients of {width} columns")
    expect(shape_of(value.typical) == (width,), "a typical row")
    if value.stream is not None:
        check_stream(value.stream, reader.columns.n, k, (outputs, width))


@check.register
def _(value: FittedAdditive) -> None:
    expect(isinstance(value.labels, Labels), "classes")
    k = n_classes(value.labels.classes)
    expect(k >= 2, "two classes or more")
    check_additive(value, _n_columns(value.reader), k)
    check_calibrator(value.calibrator, k)


@check.register
def _(value: FittedClusters) -> None:
    n, shape = _n_columns(value.reader), shape_of(value.centers)
    expect(len(shape) == 2 and shape[1] == n, "centers as wide as the rows")
    expect(np.isfinite(value.centers).all(), "centers of finite numbers")
    expect(
        value.weights is None or shape_of(value.weights) == shape[:1], "a weight of each cluster"
    )
    if value.stream is not None:
        expect(isinstance(value.stream, BatchStream), "a stream of batches")
        expect(shape_of(value.stream.weight) == shape, "the weight that each center received")


@check.register
def _(value: FittedNeighbors) -> None:
    reader, search = value.reader, value.search
    expect(isinstance(reader, Reader) and isinstance(search, Search), "rows and their search")
    check(search.rows)
    check(search)
    _check_rows(reader, search.rows.X)
    expect(type(value.n_neighbors) is int and value.n_neighbors > 0, "a number of neighbors")
    expect(value.weights in (None, *RULES), "a rule of votes")
    check_calibrator(value.calibrator, len(search.rows.classes[0]))


@check.register
def _(value: FittedMedoids) -> None:
    n, rows, numbers, labels = _n_columns(value.reader), value.rows, value.numbers, value.labels
    whole = isinstance(numbers, np.ndarray) and numbers.dtype == np.int64 and numbers.ndim == 1
    expect(whole and len(numbers) == len(set(numbers.tolist())) > 0, "medoids, each once")
    expect(len(shape_of(labels)) == 1 and labels.dtype == np.int32, "a cluster of each row")
    inside = labels.min(initial=0) >= 0 and labels.max(initial=0) < len(numbers)
    inside = inside and numbers.min() >= 0 and numbers.max() < len(labels)
    expect(inside and type(value.far) is float, "clusters of the medoids")
    if rows is None:
        given = isinstance(value.metric, Metric) and value.metric.name == "precomputed"
        expect(given and n == len(labels), "medoids, or distances from them")
    else:
        expect(shape_of(rows)[0] == len(numbers), "a row of each medoid")
        check_metric(value.metric, rows)
        _check_rows(value.reader, rows)


@check.register
def _(value: ClassHistogram) -> None:
    values, counts = value.values, value.counts
    expect(isinstance(values, np.ndarray) and ascending(values), "values in order, each once")
    expect(shape_of(counts)[:1] == values.shape and counts.ndim == 2, "counts of each value")
    expect(counts.dtype == np.float64 and np.isfinite(counts).all(), "counts that are numbers")
    expect((counts >= 0).all() and type(value.limit) is int, "counts of each value")


check.register(KBinsDiscretizer)(check_bins)
check.register(SupervisedDiscretizer)(check_cuts)
check.register(FittedPool)(check_pool)
check.register(Terms)(check_terms)
check.register(TermCounts)(check_term_counts)
check.register(Vocabulary)(check_vocabulary)
check.register(LearnedTerms)(check_learned_terms)
check.register(LearnedFrequencies)(check_learned_frequencies)


def _n_columns(reader: Any) -> int:
    expect(isinstance(reader, Reader), "how rows are read")
    n, names = reader.columns.n, reader.columns.names
    expect(type(n) is int and n >= 0, "a number of columns")
    expect(names is None or len(names) == n, "a name of each column")
    return int(n)


def _check_rows(reader: Any, X: Any) -> None:
    n, shape = _n_columns(reader), shape_of(X)
    expect(len(shape) == 1 or shape[1] == n, "rows as wide as the queries")
    if isinstance(reader, MixedTable) and reader.kinds is not None:
        expect(isinstance(X, MixedRows) and X.kinds == reader.kinds, "a kind of each column")


def _check_columns(joint: Joint[Any, Any], n_columns: int) -> None:
    """Families side by side have columns of the table, which is no wider than the model's."""
    if isinstance(family := joint.family, Product):
        taken = [j for columns in family.columns for j in columns]
        expect(all(type(j) is int and 0 <= j < n_columns for j in taken), "columns")
        sizes = tuple(map(len, family.columns))
        expect(sizes == measured(joint).columns, "columns of each family")
        expect(len(set(taken)) == len(taken), "columns of one family each")
        expect(family.n_columns in (None, n_columns), "as many columns as the table")
