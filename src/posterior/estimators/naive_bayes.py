"""Naive Bayes with the names, parameters and attributes of scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import validate_data

from posterior.data import validate
from posterior.data.rows import CodedRows, Features, Hard, Rows, SparseRows
from posterior.data.typing import Array, Floats
from posterior.estimators.base import GenerativeClassifier
from posterior.families import (
    Bernoulli,
    Categorical,
    Complement,
    Gaussian,
    GaussianParameters,
    Laplace,
    Multinomial,
    Poisson,
    PseudoRows,
    VarianceFloor,
)
from posterior.families.bernoulli import BernoulliParameters
from posterior.families.categorical import CategoricalParameters
from posterior.families.family import AnyFamily
from posterior.families.multinomial import MultinomialParameters
from posterior.families.poisson import PoissonParameters
from posterior.generative.joint import Joint, JointStatistics
from posterior.statistics.counts import Counts
from posterior.statistics.extent import Extent

ALPHA_MIN = 1e-10
ALPHAS = (0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
CALIBRATED = [None, str]


class NumericClassifier(GenerativeClassifier):
    """Tables of numbers, dense or sparse, read as they are."""

    accepts_sparse: ClassVar[bool] = True
    accepts_missing: ClassVar[bool] = True
    accepts_negative: ClassVar[bool] = True

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.accepts_sparse
        tags.input_tags.allow_nan = self.accepts_missing
        tags.input_tags.positive_only = not self.accepts_negative
        return tags

    def _features(self, X: Any, fitting: bool, reset: bool) -> Features:
        table = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr" if self.accepts_sparse else False,
            ensure_all_finite=False,  # looked at chunk by chunk, while it is in cache
        )
        return table if isinstance(table, np.ndarray) else SparseRows.of(table)

    def _check_chunk(self, X: Any, first_row: int, fitting: bool) -> None:
        validate.check_numbers(
            X,
            first_row=first_row,
            names=getattr(self, "feature_names_in_", None),
            missing=self.accepts_missing and not isinstance(X, SparseRows),
            negative=self.accepts_negative or not fitting,
            estimator=type(self).__name__,
        )


class GaussianNB(NumericClassifier):
    """Columns of numbers, normal and independent given the class.

    Parameters
    ----------
    priors : array of shape (n_classes,), optional
        Class probabilities; learned if not given.
    var_smoothing : float, default=1e-9
        Portion of the largest variance of all columns that is added to every variance.
    calibrated : {"temperature", "isotonic"}, optional
        Correct the probabilities by out-of-fold scores, which cost no refit.

    Attributes
    ----------
    classes_, class_count_, class_prior_ : arrays of shape (n_classes,)
    theta_, var_ : arrays of shape (n_classes, n_features)
        Means and variances.
    epsilon_ : float
        What was added to the variances.

    Examples
    --------
    >>> from posterior import GaussianNB
    >>> X = [[-2, -1], [-1, -1], [-1, -2], [1, 1], [1, 2], [2, None]]
    >>> model = GaussianNB().fit(X, ["low", "low", "low", "high", "high", "high"])
    >>> model.predict([[-0.8, -1]])
    array(['low'], dtype='<U4')
    """

    accepts_sparse = False
    tuned: ClassVar[Mapping[str, Sequence[Any]]] = {
        "var_smoothing": tuple(10.0**e for e in range(-12, 1))
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "priors": ["array-like", None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
        "calibrated": CALIBRATED,
    }

    def __init__(
        self,
        *,
        priors: Any = None,
        var_smoothing: float = 1e-9,
        calibrated: str | None = None,
    ) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.calibrated = calibrated

    def _family(self) -> Gaussian:
        return Gaussian(VarianceFloor(self.var_smoothing))

    def _check_chunk(self, X: Any, first_row: int, fitting: bool) -> None:
        if not fitting:  # while fitting, the sums themselves notice
            super()._check_chunk(X, first_row, fitting)

    def _log_prior(self, weight: Floats) -> Floats:
        return log_prior(weight, self.priors)

    def _learned(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> dict[str, Any]:
        count = statistics.weight.rounded()
        pooled = statistics.features.pooled()
        plain = Gaussian(None).estimate(pooled, pooled).variance
        prior = count / count.sum() if self.priors is None else np.asarray(self.priors, float)
        return {
            "class_count_": count,
            "class_prior_": prior,
            "theta_": joint.parameters.mean,
            "var_": joint.parameters.variance,
            "epsilon_": float(self.var_smoothing * plain.max(initial=0.0)),
        }

    def _joint(self) -> Joint[Any, Any]:
        with np.errstate(divide="ignore"):
            prior = np.log(np.asarray(self.class_prior_, np.float64))
        parameters = GaussianParameters(np.asarray(self.theta_), np.asarray(self.var_))
        return Joint(self._family(), prior, parameters)


class DiscreteNB(NumericClassifier):
    """What the classes with pseudo-counts have in common."""

    tuned: ClassVar[Mapping[str, Sequence[Any]]] = {"alpha": ALPHAS}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
        "force_alpha": ["boolean"],
        "calibrated": CALIBRATED,
    }
    alpha: Any
    force_alpha: bool = True
    fit_prior: bool
    class_prior: Any

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _check_alpha(self) -> float | tuple[float, ...]:
        """Pseudo-counts, raised to a tiny one unless zero was meant."""
        alpha = np.asarray(self.alpha, np.float64)
        if alpha.ndim:
            if alpha.shape != (self.n_features_in_,):
                raise ValueError(
                    "When alpha is an array, it should contains `n_features`. Got "
                    f"{alpha.size} elements instead of {self.n_features_in_}."
                )
            if (alpha < 0).any():
                raise ValueError("All values in alpha must be greater than 0.")
        if alpha.min() < ALPHA_MIN and not self.force_alpha:
            warnings.warn(
                f"alpha too small will result in numeric errors, setting alpha = {ALPHA_MIN:.1e}. "
                "Use `force_alpha=True` to keep alpha unchanged.",
                stacklevel=2,
            )
            alpha = np.maximum(alpha, ALPHA_MIN)
        return float(alpha) if alpha.ndim == 0 else tuple(alpha.tolist())

    def _log_prior(self, weight: Floats) -> Floats:
        if self.class_prior is None and not self.fit_prior:
            return np.broadcast_to(-np.log(weight.shape[-1]), weight.shape).astype(np.float64)
        return log_prior(weight, self.class_prior)


def log_prior(weight: Floats, given: Any) -> Floats:
    """Log class probabilities as given, or as the weights (..., k) say."""
    with np.errstate(divide="ignore"):
        if given is None:
            return np.log(weight) - np.log(weight.sum(axis=-1, keepdims=True))
        p = validate.priors(given, weight.shape[-1])
        return np.broadcast_to(np.log(p), weight.shape).astype(np.float64)


class MultinomialNB(DiscreteNB):
    """Counts of words: each is a draw from the urn of the class.

    Parameters
    ----------
    alpha : float or array of shape (n_features,), default=1.0
        Pseudo-counts of every word (Laplace, Lidstone).
    force_alpha : bool, default=True
        Take alpha as it is; if False, at least 1e-10.
    fit_prior : bool, default=True
        Learn class probabilities; if False, all classes are alike.
    class_prior : array of shape (n_classes,), optional
        Class probabilities, instead of learned ones.
    calibrated : {"temperature", "isotonic"}, optional
        Correct the probabilities by out-of-fold scores, which cost no refit.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : arrays of shape (n_classes,)
    feature_count_, feature_log_prob_ : arrays of shape (n_classes, n_features)

    Examples
    --------
    >>> from posterior import MultinomialNB
    >>> model = MultinomialNB().fit([[3, 0, 1], [0, 2, 1]], ["spam", "ham"])
    >>> model.predict([[1, 0, 0]])
    array(['spam'], dtype='<U4')
    """

    accepts_missing = False
    accepts_negative = False

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        calibrated: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.calibrated = calibrated

    def _family(self) -> AnyFamily:
        return Multinomial(Laplace(self._check_alpha()))

    def _learned(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> dict[str, Any]:
        return {
            "class_count_": statistics.weight.rounded(),
            "class_log_prior_": joint.log_prior,
            "feature_count_": statistics.features.total.rounded(),
            "feature_log_prob_": joint.parameters.log_prob,
        }

    def _joint(self) -> Joint[Any, Any]:
        parameters = MultinomialParameters(np.asarray(self.feature_log_prob_))
        return Joint(Multinomial(), np.asarray(self.class_log_prior_), parameters)


class ComplementNB(MultinomialNB):
    """Words weigh against a class as they occur outside it (Rennie et al. 2003).

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior, calibrated : as in `MultinomialNB`
        Class probabilities play no part unless there is one class.
    norm : bool, default=False
        Scale the weights of each class to a sum of one.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : arrays of shape (n_classes,)
    feature_count_, feature_log_prob_ : arrays of shape (n_classes, n_features)
        Counts, and weights of words.
    feature_all_ : array of shape (n_features,)

    Examples
    --------
    >>> from posterior import ComplementNB
    >>> ComplementNB().fit([[3, 0, 1], [0, 2, 1]], ["spam", "ham"]).predict([[1, 0, 0]])
    array(['spam'], dtype='<U4')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **DiscreteNB._parameter_constraints,
        "norm": ["boolean"],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
        calibrated: str | None = None,
    ) -> None:
        super().__init__(
            alpha=alpha,
            force_alpha=force_alpha,
            fit_prior=fit_prior,
            class_prior=class_prior,
            calibrated=calibrated,
        )
        self.norm = norm

    def _family(self) -> AnyFamily:
        return Complement(Laplace(self._check_alpha()), self.norm)

    def _learned(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> dict[str, Any]:
        learned = super()._learned(joint, statistics)
        learned["class_log_prior_"] = super()._log_prior(statistics.weight.rounded())
        return learned | {"feature_all_": learned["feature_count_"].sum(axis=0)}

    def _log_prior(self, weight: Floats) -> Floats:
        """Classes that were seen are alike."""
        prior = super()._log_prior(weight)
        return prior if weight.shape[-1] == 1 else np.zeros_like(prior)

    def _joint(self) -> Joint[Any, Any]:
        parameters = MultinomialParameters(np.asarray(self.feature_log_prob_))
        one = len(self.classes_) == 1
        prior = np.asarray(self.class_log_prior_) if one else np.zeros(len(self.classes_))
        return Joint(Complement(norm=self.norm), prior, parameters)


class BernoulliNB(DiscreteNB):
    """Columns of yes and no, independent given the class.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior, calibrated : as in `MultinomialNB`
    binarize : float or None, default=0.0
        Values above it are a yes. None says that they are 0 and 1 already.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : arrays of shape (n_classes,)
    feature_count_, feature_log_prob_ : arrays of shape (n_classes, n_features)
        Counts and log probabilities of yes.

    Examples
    --------
    >>> from posterior import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, None]], ["a", "a", "b"])
    >>> model.predict([[1, 0]])
    array(['a'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **DiscreteNB._parameter_constraints,
        "binarize": [None, Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        calibrated: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.calibrated = calibrated

    def _family(self) -> Bernoulli:
        return Bernoulli(Laplace(self._check_alpha()), self.binarize)

    def _learned(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> dict[str, Any]:
        return {
            "class_count_": statistics.weight.rounded(),
            "class_log_prior_": joint.log_prior,
            "feature_count_": statistics.features.total.rounded(),
            "feature_log_prob_": joint.parameters.log_yes,
        }

    def _joint(self) -> Joint[Any, Any]:
        log_yes = np.asarray(self.feature_log_prob_)
        with np.errstate(divide="ignore"):
            parameters = BernoulliParameters(log_yes, np.log1p(-np.exp(log_yes)))
        return Joint(
            Bernoulli(threshold=self.binarize), np.asarray(self.class_log_prior_), parameters
        )

    def _n_cells(self) -> int:
        return 2**self.n_features_in_


class PoissonNB(DiscreteNB):
    """Counts of events, independent given the class.

    Parameters
    ----------
    alpha : float, default=1.0
        Pseudo-rows with the rate of all classes together.
    fit_prior, class_prior, calibrated : as in `MultinomialNB`

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : arrays of shape (n_classes,)
    rate_ : array of shape (n_classes, n_features)
        Events expected in a row.

    Examples
    --------
    >>> from posterior import PoissonNB
    >>> model = PoissonNB().fit([[0, 1], [1, 0], [7, 9], [9, None]], [0, 0, 1, 1])
    >>> model.predict([[8, 8]])
    array([1])
    """

    accepts_negative = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
        "calibrated": CALIBRATED,
    }

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        calibrated: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.calibrated = calibrated

    def _family(self) -> Poisson:
        return Poisson(PseudoRows(self.alpha))

    def _learned(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> dict[str, Any]:
        return {
            "class_count_": statistics.weight.rounded(),
            "class_log_prior_": joint.log_prior,
            "rate_": joint.parameters.rate,
        }

    def _joint(self) -> Joint[Any, Any]:
        parameters = PoissonParameters(np.asarray(self.rate_))
        return Joint(self._family(), np.asarray(self.class_log_prior_), parameters)

    def _check_chunk(self, X: Any, first_row: int, fitting: bool) -> None:
        super()._check_chunk(X, first_row, fitting=True)  # a rate gives no negative count


class CategoricalNB(DiscreteNB):
    """Columns of categories 0, 1, 2, ..., independent given the class.

    Parameters
    ----------
    alpha : float, default=1.0
        Pseudo-counts of every category.
    force_alpha, fit_prior, class_prior, calibrated : as in `MultinomialNB`
    min_categories : int or array of shape (n_features,), optional
        Categories that exist at least, seen or not.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : arrays of shape (n_classes,)
    category_count_, feature_log_prob_ : lists of arrays of shape (n_classes, n_categories)
    n_categories_ : array of shape (n_features,)
    categories_ : tuple of arrays
        The categories of each column, 0 to n - 1.
    unseen_log_prob_ : array of shape (n_classes, n_features)
        Log probabilities of a category that was never seen.

    Examples
    --------
    >>> from posterior import CategoricalNB
    >>> model = CategoricalNB().fit([[0, 1], [0, 0], [2, 1]], ["a", "a", "b"])
    >>> model.predict([[0, 7]])
    array(['a'], dtype='<U1')
    """

    accepts_sparse = False
    accepts_negative = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **DiscreteNB._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="left")],
        "min_categories": [None, "array-like", Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
        calibrated: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories
        self.calibrated = calibrated

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags

    def _features(self, X: Any, fitting: bool, reset: bool) -> CodedRows:
        table = super()._features(X, fitting, reset)
        assert isinstance(table, np.ndarray)
        if not fitting:
            return CodedRows(table, self.categories_)
        anyone = Hard(np.zeros(len(table), np.int32), 1)
        extent = self.engine_.sum(self._extent, Rows(table, anyone))
        return CodedRows(table, whole_numbers(self._least(extent.largest + 1)))

    def _extent(self, rows: Rows) -> Extent:
        super()._check_chunk(rows.X, 0, fitting=True)
        assert isinstance(rows.X, np.ndarray)
        return Extent.of(rows.X)

    def _least(self, sizes: Array) -> Array:
        """Numbers of categories, at least those that must exist."""
        if self.min_categories is None:
            return sizes
        least = np.asarray(self.min_categories)
        if least.dtype.kind not in "iu":
            raise ValueError(
                f"'min_categories' should have integral type. Got {least.dtype} instead."
            )
        if least.ndim and least.shape != sizes.shape:
            raise ValueError(
                f"'min_categories' should have shape ({len(sizes)},) when an array-like is "
                f"provided. Got {least.shape} instead."
            )
        return np.maximum(sizes, least)

    def _check_chunk(self, X: Any, first_row: int, fitting: bool) -> None:
        if not fitting:  # while fitting, the categories were looked up first
            super()._check_chunk(X.codes, first_row, fitting=True)

    def _forgotten(self, features: Counts) -> Counts:
        """Without the highest categories, if nobody has them any more."""
        held = features.columns(features.table.limbs.any(axis=(0, 2)))
        sizes = np.array([h.size - int(np.argmax(h[::-1])) if h.any() else 0 for h in held])
        sizes = self._least(sizes)
        masks = [np.arange(h.size) < n for h, n in zip(held, sizes, strict=True)]
        limbs = np.ascontiguousarray(features.table.limbs[:, np.concatenate(masks)])
        return Counts(whole_numbers(sizes), replace(features.table, limbs=limbs))

    def _family(self) -> Categorical:
        return Categorical(Laplace(self._check_alpha()))

    def _learned(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> dict[str, Any]:
        counts = statistics.features
        log_prob = joint.parameters.log_prob
        return {
            "class_count_": statistics.weight.rounded(),
            "class_log_prior_": joint.log_prior,
            "category_count_": counts.columns(counts.table.rounded()),
            "categories_": counts.values,
            "n_categories_": counts.sizes,
            "feature_log_prob_": [p[:, :-1] for p in log_prob],
            "unseen_log_prob_": np.stack([p[:, -1] for p in log_prob], axis=1),
        }

    def _joint(self) -> Joint[Any, Any]:
        log_prob = tuple(
            np.hstack([p, self.unseen_log_prob_[:, [j]]])
            for j, p in enumerate(self.feature_log_prob_)
        )
        parameters = CategoricalParameters(self.categories_, log_prob)
        return Joint(Categorical(), np.asarray(self.class_log_prior_), parameters)

    def _as_input(self, features: Any) -> Array:
        return np.asarray(features.codes)

    def _n_cells(self) -> int:
        return int(np.prod([int(n) for n in self.n_categories_], dtype=object))


def whole_numbers(sizes: Array) -> tuple[Array, ...]:
    """The categories 0 .. n - 1 of each column."""
    return tuple(np.arange(n) for n in sizes)
