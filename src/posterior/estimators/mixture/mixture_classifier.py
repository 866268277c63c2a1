"""Classes that are mixtures, and labels that only some rows have."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_is_fitted

from posterior.data import validate
from posterior.data.names import quoted
from posterior.data.rows import HIDDEN, Hard, Rows
from posterior.data.table import Table
from posterior.data.typing import Array, Floats
from posterior.engines.local import Local
from posterior.estimators import calibrated, remote
from posterior.estimators.base_classifier import BaseClassifier, with_target
from posterior.estimators.estimator import learned
from posterior.estimators.joint_answers import log_likelihood_of
from posterior.estimators.naive_bayes import ComplementNB, NaiveBayes
from posterior.estimators.summed_classifier import SummedClassifier
from posterior.estimators.text.text_classifier import TextClassifier
from posterior.evaluation import calibration
from posterior.evaluation.calibration import Calibrator
from posterior.generative.class_components import Components, FittedComponents
from posterior.generative.em import Stop
from posterior.generative.fitted import Fitted
from posterior.generative.joint import Joint
from posterior.generative.partly_labeled import (
    PartlyLabeled,
    gain_by_hidden_rows,
    held_out_labels,
    weighed,
)
from posterior.preprocessing.first_look import FirstLook
from posterior.readers.batch import AmongClasses, BatchRows
from posterior.readers.hidden_labels import HiddenLabels, all_hidden
from posterior.readers.labels import Labels
from posterior.sources import target


class MixtureClassifier(BaseClassifier):
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
    calibrated : str, optional
        Corrects probabilities, as in `GaussianNB`, learned from fits to folds of the labeled rows
        and all hidden ones.

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
        "calibrated": calibrated.CALIBRATED,
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
        calibrated: str | None = None,
    ) -> None:
        self.classifier = classifier
        self.n_components = n_components
        self.hidden_label = hidden_label
        self.hidden_weight = hidden_weight
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state
        self.calibrated = calibrated

    fitted_: FittedComponents
    engine_: ClassVar[Local] = Local()

    classes_ = learned[Array](lambda found: found.labels.classes)
    component_class_ = learned[Array](lambda found: found.component_class)
    joint_ = learned[Joint[Any, Any]](lambda found: found.fitted.model)
    weights_ = learned[Floats](lambda found: np.exp(found.fitted.model.log_prior))
    n_features_in_ = learned[int](lambda found: found.fitted.reader.columns.n)
    feature_names_in_ = learned[Array](
        lambda found: found.fitted.reader.columns.names and found.fitted.reader.names
    )
    calibrator_ = learned[Calibrator | None](lambda found: found.calibrator, may_be_none=True)
    converged_ = learned[bool](lambda found: found.fitted.derived.converged)
    n_iter_ = learned[int](lambda found: found.fitted.derived.n_iter)
    lower_bound_ = learned[float](lambda found: found.fitted.derived.value)
    lower_bounds_ = learned[list[float]](lambda found: [*found.fitted.derived.trace])
    starts_ = learned[Table](lambda found: found.fitted.derived.starts)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._base()).input_tags
        return tags

    def _base(self) -> SummedClassifier:
        """What a component is like, unfitted."""
        base = NaiveBayes() if self.classifier is None else clone(self.classifier)
        if not isinstance(base, SummedClassifier):
            raise TypeError(
                "Expected a generative classifier of this package, such as NaiveBayes(), got "
                f"{type(base).__name__}."
            )
        if isinstance(base, ComplementNB | TextClassifier):
            kind = type(base).__name__
            raise TypeError(f"Expected a density of each class, {kind} has none.")
        if not base.one_pass:
            raise TypeError(
                "Expected a classifier that sums rows as they come, such as NaiveBayes() with "
                f"families that are named, got {base}, which first looks at the labels of all."
            )
        if base.get_params().get("predictive") or base.calibrated is not None:
            raise ValueError(
                "Expected a classifier without predictive and calibrated: EM needs the most "
                "probable parameters, and all rows at once."
            )
        return base

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        checkpoint: remote.FilePath | None = None,
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
        base = self._base()
        there = remote.located(X, checkpoint)
        calibrated.check(self, streaming=there is not None)
        if there is None:
            table = self._table(base, X, y, sample_weight)
            found = self._learned(table, check_random_state(self.random_state))
            if self.calibrated is not None:
                found = replace(found, calibrator=self._correction(table, self.calibrated))
        else:
            engine, source = there
            y = remote.column_of(source, y, "target column")
            weight = remote.weights_of(source, sample_weight)
            asked = {"y": y, "sample_weight": weight}
            with remote.checkpointed(self, engine, source, checkpoint, **asked) as engine:
                table = self._remote_table(base, (engine, source), y, weight)
                found = self._learned(table, remote.random_of(self.random_state, engine))
        alone = len(found.components) == len(found.labels)
        if alone:  # the classifier itself, learned from shares of rows
            parts = table.reader, table.labels, table.rule, found.fitted.statistics
            base.fitted_ = base.settle(Fitted(*parts, joint=None))
        steps = found.fitted.derived
        if not steps.converged:
            warnings.warn(
                f"EM stopped after {steps.n_iter} steps, the last of which changed the objective "
                f"by {steps.change:.2g} a row; tol is {self.tol:g}. Raise max_iter.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.__dict__.pop("classifier_", None)
        self.fitted_ = found
        if alone:
            self.classifier_ = base
        return self

    def _table(self, base: SummedClassifier, X: Any, y: Any, sample_weight: Any) -> PartlyLabeled:
        """Validated rows with the codes of their classes, as the classifier reads them."""
        X, y = with_target(X, y)
        reader, features = base.reader().learn(X)
        reader.check(features, fitting=True)
        n = features.shape[0]
        classes, codes = HiddenLabels(self.hidden_label).learn(y, n)
        weight = validate.weights(sample_weight, n)
        rows = weighed(Rows(features, Hard(codes, len(classes), weight)), self.hidden_weight)
        labels = Labels(classes)
        return PartlyLabeled(reader, labels, base.rule(reader, labels), rows, self.engine_)

    def _remote_table(
        self, base: SummedClassifier, there: remote.There, y: Any, weight: Any
    ) -> PartlyLabeled:
        """The same of rows that are elsewhere."""
        engine, source = there
        hidden = HiddenLabels(self.hidden_label)
        first = FirstLook(y, weight, type(base).__name__, encoded=False, labels=hidden)
        look = engine.sum(first, source).checked()
        assert look.classes is not None
        labels = Labels(look.classes.classes)
        if len(labels) == 0:
            raise all_hidden()
        frame, _, _ = target.apart(look.kept.frame(), y, weight)
        reader, _ = base.reader().learn(frame)
        grouping = AmongClasses(labels.classes, labels=hidden)
        rows = remote.remote_rows(there, look, BatchRows(reader, grouping, y, weight))
        rows = rows.map(partial(weighed, hidden_weight=self.hidden_weight))
        return PartlyLabeled(reader, labels, base.rule(reader, labels), rows, self.engine_)

    def _learned(self, table: PartlyLabeled, random: np.random.RandomState) -> FittedComponents:
        components = self._components(table.labels, table.rows.sample.hard)
        return table.learn(components, Stop(self.max_iter, self.tol), self.n_init, random)

    def _correction(self, table: PartlyLabeled, kind: str) -> Calibrator | None:
        held_out = held_out_labels(table, self._learn_again, calibrated.FOLDS)
        return calibration.learned(held_out, kind)

    def _learn_again(self, some: PartlyLabeled) -> FittedComponents:
        return self._learned(some, check_random_state(self.random_state))

    def _components(self, labels: Labels, groups: Hard) -> Components:
        """How many each class has, as asked."""
        classes, asked = labels.classes.tolist(), self.n_components
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

    def settled(self) -> FittedComponents:
        """What was learned."""
        check_is_fitted(self)
        return self.fitted_

    def predict_log_proba(self, X: Any) -> Floats:
        """log p(y | x)."""
        return self.settled().log_posterior(X, self.engine_)

    def predict_proba(self, X: Any) -> Floats:
        """p(y | x)."""
        proba = np.exp(self.predict_log_proba(X))
        return np.asarray(proba / proba.sum(axis=1, keepdims=True))

    def predict_components(self, X: Any) -> Floats:
        """p(k | x) of each component; `component_class_` says which class it is of."""
        return np.exp(self.settled().scored(X, self.engine_)[0])

    def log_evidence(self, X: Any) -> Floats:
        """log p(x): the lower, the stranger the row."""
        return self.settled().scored(X, self.engine_)[1]

    def log_likelihood(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """log p(X, y), the sum over rows of log p(x, y); X, y and weights as in `fit`."""
        X, y = self._with_target(X, y)
        found = replace(self.settled(), calibrator=None)
        log_joint = found.log_posterior(X, self.engine_) + self.log_evidence(X)[:, None]
        return log_likelihood_of(log_joint, y, self.classes_, sample_weight)

    def hidden_rows_help(self, X: Any, y: Any, folds: int = 5, sample_weight: Any = None) -> Table:
        """Whether rows without a label make answers better: both ways on held-out labeled rows.

        Each fold of labeled rows is answered by a model of the other labeled rows, and by one of
        these and all hidden rows. "error" is the standard error of the gain in log loss.
        """
        self._validate_params()
        table = self._table(self._base(), X, y, sample_weight)
        return gain_by_hidden_rows(table, self._learn_again, folds)
