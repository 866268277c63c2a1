"""Models as earlier versions wrote them, made into those of today.

Until 0.1.0 an estimator held what it had learned in a dozen attributes. Now it is one value,
`fitted_`, which is made of them here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from posterior.data.table_columns import Columns
from posterior.data.typing import Array, Floats
from posterior.discriminative.fitted_logistic import FittedLogistic
from posterior.discriminative.reservoir import Stream
from posterior.engines.local import Local
from posterior.estimators.dependence import KDB
from posterior.estimators.dependence.base import DependenceClassifier
from posterior.estimators.kmeans.base import Clusters
from posterior.estimators.logistic.base import LogisticBase
from posterior.estimators.mixture import GaussianMixture, Mixture, MixtureClassifier
from posterior.estimators.naive_bayes import NaiveBayes
from posterior.estimators.neighbors import KNeighborsClassifier
from posterior.estimators.summed_classifier import SummedClassifier
from posterior.estimators.table_classifier import FittedTable, TableClassifier
from posterior.estimators.text import CountVectorizer, TextClassifier, TfidfTransformer
from posterior.estimators.text.count_vectorizer import LearnedTerms
from posterior.estimators.text.term_rule import TermRule
from posterior.estimators.text.tfidf_transformer import LearnedFrequencies, weighting_of
from posterior.generative.class_components import Components, FittedComponents
from posterior.generative.fitted import Fitted
from posterior.generative.kmeans.fitted_clusters import FittedClusters
from posterior.generative.kmeans.mini_batch_steps import BatchStream
from posterior.generative.normal_mixture import joint_of
from posterior.generative.rule import ClassPrior
from posterior.generative.several_starts import Convergence
from posterior.neighbors.fitted_neighbors import FittedNeighbors
from posterior.neighbors.input_by_metric import MixedTable, reader_of
from posterior.neighbors.metrics import Metric
from posterior.neighbors.mixed_rows import MixedRows
from posterior.neighbors.neighbor_search import Search, SearchMethod
from posterior.neighbors.training_rows import TrainingRows
from posterior.readers.encoded import Encoded
from posterior.readers.labels import Labels
from posterior.readers.mixed import FamilyRules
from posterior.readers.reader import Reader
from posterior.storage.registry import parameters
from posterior.text.term_weights import WeighedTerms

State = dict[str, Any]
CHOSEN = ("Cs_", "C_", "l1_ratios_", "l1_ratio_", "scores_", "coefs_paths_")
BESIDE = ("tuning_", "file_types_", "classifier_", *CHOSEN)  # what stays an attribute

CLUSTERS = ("weights", "variance", "labels", "inertia", "n_iter", "inertias", "reason")


@dataclass(frozen=True)
class Column:
    """One column of a mixed table."""

    name: Any
    kind: Any


@dataclass(frozen=True)
class ColumnPlan:
    """The columns of a mixed table, and which families they have."""

    columns: tuple[Column, ...]
    rules: FamilyRules


@dataclass(frozen=True)
class Examples:
    """Training rows of neighbors; the model knew their classes."""

    X: Any
    codes: Array
    n_classes: tuple[int, ...]
    weight: Floats | None


@dataclass(frozen=True)
class SearchState:
    """A search of neighbors, by the attributes that were stored."""

    _examples: Examples
    _metric: Metric
    _algorithm: str
    _k: int
    _fill: Local
    _way: SearchMethod | None
    _index: None = None
    _gaps: None = None
    _force: None = None
    _trial: bool = False
    _asked: int = 0
    _reach: Any = None

    def of(self, rows: TrainingRows) -> Search:
        return Search(rows, self._metric, self._algorithm, self._k, self._fill, self._way)


@dataclass(frozen=True)
class OpenStream:
    """A stream of logistic regression, and whether its classes were named beforehand."""

    columns: Any
    closed: bool
    kept: Any
    estimate: Any


def upgraded(kind: Any, state: State) -> State:
    """The attributes of an estimator of today, from those of any version."""
    for base, (marks, upgrade) in UPGRADES.items():
        if issubclass(kind, base) and any(mark in state for mark in marks):
            model = kind(**{name: state[name] for name in parameters(kind)})
            kept = {name: state[name] for name in (*parameters(kind), *BESIDE) if name in state}
            return kept | {"fitted_": upgrade(model, state)}
    return state


def columns_of(model: Any, state: State) -> Columns:
    names = state.get("feature_names_in_")
    names = None if names is None else tuple(names.tolist())
    return Columns(type(model).__name__, state["n_features_in_"], names, state.get("library_"))


def labels_of(state: State) -> Labels:
    return Labels(state["classes_"], state.get("_closed", False), state.get("_weightless", {}))


def _summed(model: Any, state: State) -> Any:
    """A sum and how its rows were read: the model of it is estimated again."""
    reader = _reader(model, columns_of(model, state), state)
    labels = labels_of(state)
    fitted = Fitted(reader, labels, model.rule(reader, labels), state["statistics_"], None)
    return replace(model.settle(fitted), calibrator=state.get("calibrator_"))


def _reader(model: Any, columns: Columns, state: State) -> Reader:
    reader = model.reader()
    if isinstance(model, NaiveBayes):
        plan = state.get("plan_") or ColumnPlan(state["schema_"], reader.rules)
        rules = replace(reader.rules, chosen=state.get("chosen_", {}))
        return replace(
            reader, columns=columns, rules=rules, kinds=tuple(c.kind for c in plan.columns)
        )
    if isinstance(model, DependenceClassifier):
        cuts = tuple(tuple(c.tolist()) for c in state["cut_points_"].values())
        return replace(
            reader,
            columns=columns,
            kinds=state["kinds_"],
            cuts=cuts,
            ends=state["_ends"],
            structure=state.get("structure_") if isinstance(model, KDB) else None,
            selection=state.get("selection_"),
        )
    return reader.of(columns)


def _mixture(model: Any, state: State) -> Any:
    """The components as they were stored."""
    columns, reader = columns_of(model, state), model.reader()
    if isinstance(model, Mixture):
        plan = state.get("plan_") or ColumnPlan(state["schema_"], reader.rules)
        reader = replace(reader, columns=columns, kinds=tuple(c.kind for c in plan.columns))
        joint = state["joint_"]
    else:
        reader = reader.of(columns)
        parts = (state[name] for name in ("weights_", "means_", "precisions_cholesky_"))
        joint = joint_of(model.rule(reader).family, *parts)
    labels, sums = Labels(np.arange(len(state["weights_"]))), state.get("statistics_")
    return Fitted(reader, labels, model.rule(reader), sums, joint, _steps(state))


def _steps(state: State) -> Convergence:
    trace, tables = tuple(state["lower_bounds_"]), (state.get("starts_"), state.get("selection_"))
    return Convergence(state["converged_"], state["n_iter_"], trace, *tables)


def _mixture_classifier(model: Any, state: State) -> Any:
    """The components, which the classifier of one of them tells how to read."""
    base, labels = state["base_"].fitted_, Labels(state["classes_"])
    of_class = np.searchsorted(labels.classes, state["component_class_"])
    components = Components(tuple(np.bincount(of_class).tolist()))
    numbers, rule = Labels(np.arange(len(components))), components.rule(base.rule)
    parts = base.reader, numbers, rule, base.statistics, state["joint_"], _steps(state)
    return FittedComponents(labels, components, Fitted(*parts))


def _table(model: Any, state: State) -> Any:
    """A model of columns, and how they became what it reads."""
    names = tuple(state["feature_names_in_"].tolist())
    return FittedTable(state["model_"], state.get("numbers_"), names, state["class_log_prior_"])


def _neighbors(model: Any, state: State) -> Any:
    """Rows and their classes, and how they are searched."""
    old, classes = state["_examples"], state["classes_"]
    classes = tuple(classes) if state["outputs_2d_"] else (classes,)
    search = state["_search"].of(TrainingRows(old.X, old.codes, classes, old.weight))
    reader = reader_of(search.metric, type(model).__name__).of(columns_of(model, state))
    if isinstance(reader, MixedTable) and isinstance(old.X, MixedRows):
        reader = replace(reader, kinds=old.X.kinds)
    k = state["_chosen"] if "_chosen" in state else int(state["n_neighbors"])
    rest = state["smoothing_"], state["_closed"], state.get("selection_")
    return FittedNeighbors(reader, search, k, *rest)


def _clusters(model: Any, state: State) -> Any:
    stream = None
    if "_weight" in state:
        course = (state["_weight"], state["_random"], state["n_steps_"], state["_since"])
        stream = BatchStream(*course)
    return FittedClusters(
        model.reader().of(columns_of(model, state)),
        state["cluster_centers_"],
        sparse=state.get("_sparse", False),
        stream=stream,
        **{name: state.get(f"{name}_") for name in CLUSTERS},
    )


def _logistic(model: Any, state: State) -> Any:
    """Coefficients, how rows were read, and the rows of a stream."""
    stream = state.get("_stream")
    typical = np.broadcast_to(state.get("typical_", 0.0), state["coef_"].shape[1:])
    return FittedLogistic(
        Encoded(columns_of(model, state), state.get("encoding_")),
        Labels(state["classes_"], closed=stream is not None and stream.closed),
        state["coef_"],
        state["intercept_"],
        np.array(typical, np.float64),
        state.get("n_iter_"),
        state.get("solver_"),
        state.get("trace_", ()),
        stream=stream and Stream(stream.columns, stream.kept, stream.estimate),
    )


def _text(model: Any, state: State) -> Any:
    """Sums of documents, and weights, which may be more than what follows from the sums."""
    labels, joint = labels_of(state), state["_model"]
    setting = state["model_"], state["alpha_"], state["sharpness_"], model.min_df
    family, prior = WeighedTerms(*setting), ClassPrior(model.class_prior, labels.classes)
    reader = model.reader()
    reader = replace(reader, column=state.get("_column"), vocabulary=state["_vocabulary"])
    rule = TermRule(family, prior, state.get("choice_"))
    joint = replace(joint, family=family)
    return Fitted(reader, labels, rule, state["statistics_"], joint)


def _vectorizer(model: Any, state: State) -> Any:
    """A vocabulary and its sums, and perhaps a transformer of weights."""
    weighting, tfidf = None, state.get("_tfidf")
    if tfidf is not None:
        learned = vars(tfidf).get("fitted_")
        idf = None if learned is None else learned.idf
        weighting = replace(weighting_of(tfidf), idf_=idf)
    vocabulary, fixed = state.get("_vocabulary"), state.get("fixed_vocabulary_")
    return LearnedTerms(vocabulary, fixed, state.get("statistics_"), weighting)


def _transformer(model: Any, state: State) -> Any:
    """Frequencies of terms and their weights, of which either may be missing."""
    frequencies, idf = state.get("statistics_"), state.get("idf_")
    columns = columns_of(model, {"n_features_in_": 0 if idf is None else len(idf)} | state)
    return LearnedFrequencies(columns, frequencies, idf)


Upgrade = Callable[[Any, State], Any]
UPGRADES: dict[type, tuple[tuple[str, ...], Upgrade]] = {  # the first that fits, if it was fitted
    TextClassifier: (("statistics_",), _text),
    CountVectorizer: (("_vocabulary", "_tfidf"), _vectorizer),
    TfidfTransformer: (("statistics_", "idf_"), _transformer),
    SummedClassifier: (("statistics_",), _summed),
    TableClassifier: (("model_",), _table),
    GaussianMixture: (("weights_",), _mixture),
    Mixture: (("weights_",), _mixture),
    MixtureClassifier: (("joint_",), _mixture_classifier),
    KNeighborsClassifier: (("_examples",), _neighbors),
    Clusters: (("cluster_centers_",), _clusters),
    LogisticBase: (("coef_",), _logistic),
}
