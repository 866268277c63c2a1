"""Base class of logistic regressions: scores, probabilities and reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import Tags

from posterior.data import validate
from posterior.data.names import plain
from posterior.data.rows import Hard, Rows
from posterior.data.table_columns import Columns
from posterior.data.typing import Array, Floats
from posterior.discriminative.fitted_logistic import FittedLogistic
from posterior.discriminative.logistic_rule import LogisticRule
from posterior.discriminative.solvers import Step
from posterior.estimators.base_classifier import ScoredClassifier, with_target
from posterior.estimators.estimator import check_fitted, learned
from posterior.estimators.joint_answers import log_likelihood_of
from posterior.estimators.logistic import settings
from posterior.estimators.stated_classes import distinct, named_columns, numbers
from posterior.evaluation.calibration import Calibrator
from posterior.generative.evidence_terms import Evidence
from posterior.preprocessing.encoding import Encoding
from posterior.readers.encoded import Encoded
from posterior.readers.labels import Labels


class LogisticBase(ScoredClassifier):
    """Log odds that are linear in numbers, which words and missing cells of frames become first."""

    fitted_: FittedLogistic
    fit_intercept: bool
    class_weight: Any
    calibrated: str | None
    solver: str
    intercept_scaling: float
    tol: float
    max_iter: int

    classes_ = learned[Array](lambda fitted: fitted.classes)
    coef_ = learned[Any](
        lambda fitted: fitted.coef, lambda fitted, coef: replace(fitted, coef=coef)
    )
    intercept_ = learned[Floats](
        lambda fitted: fitted.intercept,
        lambda fitted, intercept: replace(fitted, intercept=intercept),
    )
    calibrator_ = learned[Calibrator | None](lambda fitted: fitted.calibrator, may_be_none=True)
    n_iter_ = learned[Array](lambda fitted: fitted.n_iter)
    trace_ = learned[tuple[Step, ...]](lambda fitted: fitted.trace)
    typical_ = learned[Floats](lambda fitted: fitted.typical)
    encoding_ = learned[Encoding | None](lambda fitted: fitted.reader.encoding, may_be_none=True)
    n_features_in_ = learned[int](lambda fitted: fitted.reader.columns.n)
    feature_names_in_ = learned[Array](
        lambda fitted: (
            None if fitted.reader.columns.names is None else fitted.reader.columns.array()
        )
    )

    # ---- from settings and input to what is minimized ----

    def _reader(self) -> Encoded:
        return Encoded(Columns(type(self).__name__))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        self._reader().describe(tags.input_tags)
        return tags

    def _rule_with(
        self, C: float, l1_ratio: float, step: float = 1e-4, **options: Any
    ) -> LogisticRule:
        """How rows become coefficients, as the settings say."""
        name = self.solver
        weigh = partial(settings.class_factors, self.class_weight, streaming=True)
        return LogisticRule(
            solver=partial(settings.solver_of, name, self.tol, self.max_iter, step),
            check=partial(settings.check_input, name),
            ended=partial(settings.warn_if_tired, name),
            C=C,
            l1_ratio=l1_ratio,
            intercept=self.fit_intercept,
            intercept_scale=self.intercept_scaling if name == "liblinear" else np.inf,
            single=name != "liblinear",
            centered=name != "gradient-ascent",
            factors=None if self.class_weight is None else weigh,
            **options,
        )

    def _rows(
        self, X: Any, y: Any, sample_weight: Any, offset: Any = None
    ) -> tuple[Encoded, Labels, Rows]:
        """A reader that knows the table, its classes, and the rows as the loss reads them."""
        X, y = with_target(X, y)
        reader, features = self._reader().learn(X)
        classes, codes = validate.labels(y, features.shape[0])
        weight, k = validate.weights(sample_weight, features.shape[0]), len(classes)
        check_classes(classes)
        factors = settings.class_factors(
            self.class_weight, classes, np.bincount(codes, weight, k).astype(np.float64)
        )
        if factors is not None:
            weight = factors[codes] if weight is None else factors[codes] * weight
        known = settings.offsets(offset, features.shape[0], 1 if k == 2 else k)
        return reader, Labels(classes), Rows(features, Hard(codes, k, weight), known)

    # ---- answers ----

    def predict(self, X: Any) -> Array:
        """The most probable class."""
        check_fitted(self)
        if self.fitted_.calibrator is not None:
            return super().predict(X)
        scores = self.decision_function(X)
        codes = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def evidence(self, X: Any) -> Evidence:
        """The additive terms w_kj (xⱼ - tⱼ) of each class's score, per feature.

        t is the mean of the rows, or zero for sparse input; what the scores are there stands in
        the place of the prior, and a missing cell says nothing.
        """
        check_fitted(self)
        terms, prior = self.fitted_.terms(X)
        return Evidence(terms, prior, self.fitted_.reader.names, self.classes_)

    def log_likelihood(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """log p(y | X), the sum over rows of log p(y | x): the rows themselves are taken as given.

        A naive Bayes or discriminant model of this name sums log p(x, y), rows included: figures
        of the two kinds must not be compared.

        Parameters
        ----------
        X, y : as in `fit`
        sample_weight : array of shape (n_samples,), optional
        """
        X, y = with_target(X, y)
        return log_likelihood_of(self.predict_log_proba(X), y, self.classes_, sample_weight)

    def _cells(self, X: Any) -> tuple[Any, ...]:
        return self.fitted_.reader.cells(X)

    def sparsify(self) -> Self:
        """Keep the coefficients as a sparse matrix: for many zeros."""
        check_fitted(self)
        self.coef_ = sparse.csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Keep the coefficients as an array again."""
        check_fitted(self)
        if sparse.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self


def of(
    cls: Any,
    intercept: Any,
    coefficients: Any,
    classes: Any = None,
    names: Any = None,
    typical: Any = None,
) -> Any:
    """The model of stated coefficients, which saw no rows.

    Parameters
    ----------
    intercept : float, or array of shape (n_classes,) for three classes or more
    coefficients : array of shape (n_features,) or dict by column
        Of the log odds of the second class; or (n_classes, n_features) for three or more.
    classes : sequence, optional
        In the order of the coefficients; 0, 1, ... if not given.
    names : sequence of str, optional
        Of the columns.
    typical : array of shape (n_features,), optional
        The row that reasons are told against, and whose cells stand for missing ones; zeros if
        not given, as no rows say where they lie.

    Examples
    --------
    >>> from posterior import LogisticRegression
    >>> model = LogisticRegression.of(-6.0, [0.05, 1.0], classes=["fails", "passes"])
    >>> model.predict_proba([[40.0, 3.5]]).round(4).tolist()
    [[0.6225, 0.3775]]
    """
    if isinstance(coefficients, Mapping):
        names = list(coefficients) if names is None else names
        coefficients = list(coefficients.values())
    coef = np.atleast_2d(numbers(coefficients, "coefficients"))
    constant = np.atleast_1d(numbers(intercept, "intercepts"))
    outputs, d = coef.shape if coef.ndim == 2 else (0, 0)
    if d == 0 or outputs == 2 or constant.shape != (outputs,):
        raise ValueError(
            "Expected an intercept and coefficients of shape (n_features,) for two classes, or "
            "(n_classes,) and (n_classes, n_features) for three or more, got shapes "
            f"{np.shape(intercept)} and {np.shape(coefficients)}."
        )
    k = max(outputs, 2)
    labels = distinct(np.arange(k) if classes is None else classes, "classes")
    if len(labels) != k:
        raise ValueError(f"Expected {k} classes for these coefficients, got {labels.tolist()}.")
    order = np.argsort(labels, kind="stable")
    if k > 2:
        coef, constant = np.ascontiguousarray(coef[order]), constant[order]
    elif order[0] == 1:  # the log odds of the other class
        coef, constant = -coef, -constant
    row = np.zeros(d) if typical is None else numbers(typical, "a typical row")
    if row.shape != (d,):
        raise ValueError(f"Expected a typical row of {d} columns, got shape {row.shape}.")
    reader = Encoded(named_columns(Columns(cls.__name__), d, names))
    model = cls()
    model.fitted_ = FittedLogistic(reader, Labels(labels[order]), coef, constant, row)
    return model


def check_classes(classes: Array) -> None:
    """Refuse rows of a single class."""
    if len(classes) < 2:
        raise ValueError(
            "This solver needs samples of at least 2 classes in the data, but the data "
            f"contains only one class: {plain(classes[0])!r}."
        )
