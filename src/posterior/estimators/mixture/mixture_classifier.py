"""Classes that are mixtures, and labels that only some rows have."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_is_fitted

from posterior import kernels
from posterior.data import validate
from posterior.data.names import quoted
from posterior.data.rows import Features, Hard, Rows
from posterior.data.table import Table
from posterior.data.typing import Array, Floats
from posterior.engines.locate import locate
from posterior.estimators.base import GenerativeClassifier
from posterior.estimators.checkpoint import (
    FilePath,
    checkpointed,
    random_of,
    refuse_in_memory,
)
from posterior.estimators.elsewhere import column_of, weights_of
from posterior.estimators.hooks import Parameters
from posterior.estimators.mixture.distant_labels import partly_labeled
from posterior.estimators.mixture.em_progress import Progress
from posterior.estimators.mixture.hidden_rows import gain
from posterior.estimators.mixture.labels import in_one, partly_known, summed, weighed
from posterior.estimators.mixture.starts import best_of
from posterior.estimators.naive_bayes import ComplementNB, NaiveBayes
from posterior.estimators.predicting_files import PredictingFiles
from posterior.estimators.summed import all_or_nothing
from posterior.generative.class_components import Components
from posterior.generative.em import Ascent, Hidden, Stop, climb
from posterior.generative.expectation import HIDDEN, expectation
from posterior.generative.joint import Joint, JointStatistics
from posterior.sources.remote_rows import RemoteRows


class MixtureClassifier(ClassifierMixin, Parameters, PredictingFiles):
    """A generative classifier whose classes are mixtures, and whose labels may be hidden.

    p(x, y) = Σ_{k of y} π_k p(x | θ_k). A label says that the row's component is one of its
    class; EM decides the rest. Rows without a label help to learn where rows lie at all (Nigam,
    McCallum, Thrun and Mitchell 2000). With several components of normal classes it is mixture
    discriminant analysis (Hastie and Tibshirani 1996).

    Parameters
    ----------
    classifier : classifier of this package, optional
        What a component is like: `NaiveBayes()` if not given, or `MultinomialNB()`,
        `GaussianDiscriminantAnalysis()`, ...
    n_components : int or mapping of classes to int, default=1
        Components of each class.
    hidden_label : label, optional
        Marks rows of no known class in y, such as -1; missing labels (None, NaN) always do.
    hidden_weight : float, default=1.0
        What a row without a label counts, if it is less than a row.
    tol : float, default=1e-5
        EM stops when a step raises the objective of an average row by less.
    max_iter : int, default=100
    n_init : int, default=1
        Starts, of which the best is kept. They differ only where a class has several components.
    random_state : int, RandomState or None

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    component_class_ : array of shape (n_components,)
        The class of each component.
    weights_ : array of shape (n_components,)
    classifier_ : the fitted classifier, if every class is one component
    lower_bounds_ : list of float
        The objective before each step.
    converged_, n_iter_, lower_bound_ : of the best start
    starts_ : table of all starts, also of those that collapsed

    Examples
    --------
    >>> from posterior import GaussianNB, MixtureClassifier
    >>> X = [[1.0], [5.0], [1.1], [0.9], [5.2], [4.9]]
    >>> model = MixtureClassifier(GaussianNB()).fit(X, ["low", "high", None, None, None, None])
    >>> model.predict([[2.0], [4.0]]).tolist()
    ['low', 'high']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "classifier": [None, HasMethods(["fit", "predict_proba"])],
        "n_components": [Interval(Integral, 1, None, closed="left"), Mapping],
        "hidden_label": [None, object],
        "hidden_weight": [Interval(Real, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        classifier: Any = None,
        *,
        n_components: Any = 1,
        hidden_label: Any = None,
        hidden_weight: float = 1.0,
        tol: float = 1e-5,
        max_iter: int = 100,
        n_init: int = 1,
        random_state: Any = None,
    ) -> None:
        self.classifier = classifier
        self.n_components = n_components
        self.hidden_label = hidden_label
        self.hidden_weight = hidden_weight
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._base()).input_tags
        return tags

    def _base(self) -> GenerativeClassifier:
        """What a component is like, unfitted."""
        base = NaiveBayes() if self.classifier is None else clone(self.classifier)
        if not isinstance(base, GenerativeClassifier):
            raise TypeError(
                "Expected a generative classifier of this package, such as NaiveBayes(), got "
                f"{type(base).__name__}."
            )
        if isinstance(base, ComplementNB):
            raise TypeError("Expected a density of each class, ComplementNB has none.")
        if getattr(base, "predictive", False) or getattr(base, "calibrated", None) is not None:
            raise ValueError(
                "Expected a classifier without predictive and calibrated: EM needs the most "
                "probable parameters, and all rows at once."
            )
        return base

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        checkpoint: FilePath | None = None,
    ) -> Self:
        """Learn from rows, of which some or all have a label.

        Parameters
        ----------
        X : whatever the classifier takes, or a table elsewhere
            Files (a path, a pattern, a list of paths), a query, or a frame of Dask or Spark are
            read in batches, once for each step of EM.
        y : array of shape (n_samples,), or the name of a column of X
        sample_weight : array of shape (n_samples,), or of a table elsewhere the name of a column
        checkpoint : path, optional
            Where the fit of a table elsewhere writes down what it has summed. Killed and started
            again, it goes on from there to the same model.
        """
        self._validate_params()
        where = locate(X)
        if where is None:
            refuse_in_memory(checkpoint)
            base, rows = self._rows(X, y, sample_weight)
            return self._fit(base, rows, check_random_state(self.random_state))
        engine, source = where
        y, weight = column_of(source, y, "target column"), weights_of(source, sample_weight)
        asked = {"y": y, "sample_weight": weight}
        with checkpointed(self, engine, source, checkpoint, **asked) as engine:
            base = self._base()
            self.classes_, away = partly_labeled(base, self.hidden_label, engine, source, y, weight)
            return self._fit(base, away, random_of(self.random_state, engine))

    def _fit(
        self, base: GenerativeClassifier, rows: Rows | RemoteRows, random: np.random.RandomState
    ) -> Self:
        self.n_features_in_ = base.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(base, "feature_names_in_"):
            self.feature_names_in_ = base.feature_names_in_
        self._learn(base, rows, random)
        return self

    def _rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[GenerativeClassifier, Rows]:
        """Validated rows with the codes of their classes, and the classifier that read them."""
        base = self._base()
        X, y = base._with_target(X, y)
        features = base._features(X, fitting=True, reset=True)
        base._check_cells(features, 0, fitting=True)
        n = features.shape[0]
        self.classes_, codes = partly_known(y, self.hidden_label, n)
        weight = validate.weights(sample_weight, n)
        return base, Rows(features, Hard(codes, len(self.classes_), weight))

    def _learn(
        self, base: GenerativeClassifier, rows: Rows | RemoteRows, random: np.random.RandomState
    ) -> None:
        rows = rows.map(partial(weighed, hidden_weight=self.hidden_weight))
        components = self._components(rows.sample.hard)
        self.component_class_ = self.classes_[components.of_class]
        base.classes_ = self.component_class_  # for errors, which name classes
        hidden = self._hidden(base, rows, components)
        n_starts = self.n_init if len(components) > len(self.classes_) else 1
        progress = Progress(0, 1, self.max_iter)

        def climbed(start: int) -> Ascent[Any, Any]:
            progress.begin(start)
            return self._ascend(base, hidden, rows, components, random, progress)

        with base._names():
            best, self.starts_ = best_of(
                n_starts, climbed, lambda: progress.step, base._feature_names()
            )
        progress.end(best.reason, best.value)
        self._accept(base, best)

    def _components(self, groups: Hard) -> Components:
        """How many each class has, as asked."""
        classes, asked = self.classes_.tolist(), self.n_components
        if not isinstance(asked, Mapping):
            asked = dict.fromkeys(classes, asked)
        if not all(
            c in classes and isinstance(n, Integral) and int(n) >= 1 for c, n in asked.items()
        ):
            raise ValueError(
                "Expected numbers of components, one or more, for some of the classes "
                f"{classes}, got {dict(asked)}."
            )
        components = Components(tuple(int(asked.get(c, 1)) for c in classes))
        rows = np.bincount(groups.codes[groups.codes != HIDDEN], minlength=len(classes))
        few = np.flatnonzero(rows < components.sizes)
        if len(few):
            c = few[0]
            raise ValueError(
                f"Expected {components.sizes[c]} labeled rows or more of class "
                f"{quoted(classes[c])}, one for each of its components, got {rows[c]}."
            )
        return components

    def _hidden(
        self, base: GenerativeClassifier, rows: Rows | RemoteRows, components: Components
    ) -> Hidden[Any, Any]:
        pooled = summed(base, rows.map(in_one))
        allowed = components.allowed

        def maximize(sums: JointStatistics[Any], before: Joint[Any, Any] | None) -> Joint[Any, Any]:
            if before is None and isinstance(rows, RemoteRows) and not rows.complete:
                # with room for values that the rows of the first guess do not have
                sums = sums + pooled.placed(np.zeros(1, np.int64), len(components)) * 0
            if before is None or not sums.features.keeps_rows():
                joint = base._finish(sums)
                family, parameters = joint.family, joint.parameters
            else:
                family = before.family
                parameters = family.improve(sums.features, pooled.features, before.parameters)
            weight = sums.weight.rounded()
            of_classes = base._log_prior(components.class_weight(weight))
            log_prior = of_classes[components.of_class] + components.log_shares(weight)
            return Joint(family, log_prior, parameters)

        def log_prior(joint: Joint[Any, Any]) -> float:
            parameters = joint.family.log_prior(joint.parameters, pooled.features)
            return parameters + components.log_prior(joint.log_prior)

        return Hidden(
            expect=lambda joint: base.engine_.sum(expectation(joint, allowed), rows),
            maximize=maximize,
            log_prior=log_prior,
            weight=float(pooled.weight.rounded()[0]),
        )

    def _ascend(
        self,
        base: GenerativeClassifier,
        hidden: Hidden[Any, Any],
        rows: Rows | RemoteRows,
        components: Components,
        random: np.random.RandomState,
        progress: Progress,
    ) -> Ascent[Any, Any]:
        if len(components) == len(self.classes_):
            first = summed(base, rows)  # of the rows whose labels are known
            hides = (rows.sample.hard.codes == HIDDEN).any()  # or some row beyond the sample does
            known = not hides and float(first.weight.sum().rounded()) == hidden.weight
        else:
            near, engine = rows.sample, base.engine_
            groups = components.first(near.X, near.hard, engine.fill, engine.sum, random)
            first, known = base._sum(Rows(near.X, groups)), False
        joint = hidden.maximize(first, None)
        if known:
            return Ascent(joint, first, (), "converged")  # nothing is hidden
        ascent = climb(hidden, joint, Stop(self.max_iter, self.tol), progress)
        ascent.joint.scorer()  # refuses parameters that the last step left open
        return ascent

    def _accept(self, base: GenerativeClassifier, ascent: Ascent[Any, Any]) -> None:
        self.joint_ = ascent.joint
        self.weights_ = np.exp(ascent.joint.log_prior)
        self.converged_ = ascent.reason == "converged"
        self.n_iter_, self.lower_bounds_ = max(len(ascent.trace), 1), list(ascent.trace)
        self.lower_bound_ = ascent.value
        self.base_ = base
        base._closed = False
        base._accept(ascent.statistics)
        self.__dict__.pop("classifier_", None)
        if len(self.component_class_) == len(self.classes_):
            self.classifier_ = base
        if not self.converged_:
            change = np.diff(ascent.trace)[-1] if len(ascent.trace) > 1 else np.inf
            warnings.warn(
                f"EM stopped after {self.n_iter_} steps, the last of which changed the objective "
                f"by {change:.2g} a row; tol is {self.tol:g}. Raise max_iter.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _scored(self, X: Any) -> tuple[Floats, Floats]:
        """log p(k | x) of all components (n, k), and log p(x)."""
        check_is_fitted(self, "joint_")
        features = self.base_._features(X, fitting=False, reset=False)
        self.base_._check_cells(features, 0, fitting=False)
        return self._log_posterior(features)

    def _log_posterior(self, features: Features) -> tuple[Floats, Floats]:
        with self.base_._names():
            scorer = self.joint_.scorer()
        out = np.empty((features.shape[0], len(self.weights_)))
        self.base_.engine_.fill(lambda chunk, _, part: scorer(chunk, part), features, out)
        log_evidence = np.empty(len(out))
        kernels.normalize(out, "log_posterior", log_evidence)
        return out, log_evidence

    def _of_classes(self, log_posterior: Floats) -> Floats:
        """From components (n, k) to classes."""
        _, sizes = np.unique(self.component_class_, return_counts=True)
        return Components(tuple(sizes)).of_classes(log_posterior)

    def predict_log_proba(self, X: Any) -> Floats:
        """log p(y | x)."""
        return self._of_classes(self._scored(X)[0])

    def predict_proba(self, X: Any) -> Floats:
        """p(y | x)."""
        proba = np.exp(self.predict_log_proba(X))
        return np.asarray(proba / proba.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> Array:
        """The most probable class of each row."""
        codes = self.predict_log_proba(X).argmax(axis=1)
        return self.classes_[codes]

    def predict_components(self, X: Any) -> Floats:
        """p(k | x) of each component; `component_class_` says which class it is of."""
        return np.exp(self._scored(X)[0])

    def log_evidence(self, X: Any) -> Floats:
        """log p(x): the lower, the stranger the row."""
        return self._scored(X)[1]

    def hidden_rows_help(self, X: Any, y: Any, folds: int = 5, sample_weight: Any = None) -> Table:
        """Whether rows without a label make answers better: both ways on held-out labeled rows.

        Each fold of labeled rows is answered by a model of the other labeled rows, and by one of
        these and all hidden rows. "error" is the standard error of the gain in log loss.
        """
        self._validate_params()
        trial = clone(self)
        base, rows = trial._rows(X, y, sample_weight)
        return gain(trial, base, rows, folds)
