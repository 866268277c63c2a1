"""Gaussian naive Bayes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.utils._param_validation import Interval

from posterior.data.typing import Floats
from posterior.data.validate import in_order
from posterior.estimators import joint_answers
from posterior.estimators.estimator import learned
from posterior.estimators.naive_bayes import by_hand
from posterior.estimators.stated_classes import StatedClasses
from posterior.estimators.summed_classifier import CALIBRATED, SummedClassifier
from posterior.families import Gaussian, GaussianParameters, VarianceFloor
from posterior.generative.joint import Joint, JointStatistics
from posterior.generative.rule import ClassPrior, Rule
from posterior.readers.labels import Labels
from posterior.readers.numeric import Numeric
from posterior.readers.reader import Reader


class GaussianNB(SummedClassifier):
    """Columns of numbers, normal and independent given the class.

    Parameters
    ----------
    priors : array of shape (n_classes,) or dict by class, optional
        Class probabilities; learned if not given.
    var_smoothing : float, default=1e-9
        Portion of the largest variance of all columns that is added to every variance.
    calibrated : str, optional
        Correct the probabilities by rows held out: "temperature", "beta", "quadratic", "vector",
        "matrix", "isotonic", or "auto", whichever lowers their log loss, if one does.
    ddof : float, default=0
        Delta degrees of freedom, by NumPy's and pandas' name: the squares of a class are divided by
        n_k - ddof. `ddof=1` gives the unbiased variances of R (e1071, klaR), where 0 gives the most
        likely ones, and those of scikit-learn. n_k sums weights, so a weight of 2 is two rows.

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
    >>> GaussianNB(ddof=1).fit([[1], [3], [4], [8]], [0, 0, 1, 1]).var_.round(6).ravel().tolist()
    [2.0, 8.0]
    """

    needs_classes = True
    tuned: ClassVar[Mapping[str, Sequence[Any]]] = {
        "var_smoothing": tuple(10.0**e for e in range(-12, 1))
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "priors": ["array-like", Mapping, None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
        "calibrated": CALIBRATED,
        "ddof": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        priors: Any = None,
        var_smoothing: float = 1e-9,
        calibrated: str | None = None,
        ddof: float = 0,
    ) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.calibrated = calibrated
        self.ddof = ddof

    class_count_ = learned[Floats](lambda fitted: fitted.class_weight())
    class_prior_ = learned[Floats](
        lambda fitted: fitted.derived,
        lambda fitted, prior: replace(fitted.with_prior(prior), derived=np.array(prior, float)),
    )
    theta_ = learned[Floats](
        lambda fitted: fitted.model.parameters.mean,
        lambda fitted, mean: fitted.with_parameters(mean=np.asarray(mean, float)),
    )
    var_ = learned[Floats](
        lambda fitted: fitted.model.parameters.variance,
        lambda fitted, variance: fitted.with_parameters(variance=np.asarray(variance, float)),
    )
    epsilon_ = learned[float](lambda fitted: fitted.model.parameters.floor)

    def reader(self) -> Numeric:
        return Numeric(self.columns(), sparse=False, noticed="dense")

    def rule(self, reader: Reader, labels: Labels | None) -> Rule:
        prior = ClassPrior() if labels is None else ClassPrior(self.priors, labels.classes)
        family = Gaussian(VarianceFloor(self.var_smoothing), ddof=self.ddof)
        return GaussianRule(family, prior)

    @classmethod
    def of(
        cls, means: Any, deviations: Any, shares: Any, classes: Any = None, names: Any = None
    ) -> Self:
        """The model of stated means and deviations, which saw no rows.

        Parameters
        ----------
        means, deviations : arrays of shape (n_classes, n_features), or (n_classes,) of one column
            Tables may be dicts by class.
        shares : array of shape (n_classes,) or dict by class
            Class probabilities; a class of share zero is never answered.
        classes : sequence, optional
            In the order of the other tables; 0, 1, ... if not given, or the keys of `shares`.
        names : sequence of str, optional
            Of the columns.

        Examples
        --------
        >>> from posterior import GaussianNB
        >>> fish = GaussianNB.of([16, 30], [3, 4], [0.7, 0.3], classes=["bass", "salmon"])
        >>> fish.predict_proba([[20.0]]).round(4).tolist()
        [[0.9668, 0.0332]]
        >>> fish.bayes_error()
        0.01888
        """
        stated = StatedClasses.of(shares, classes)
        mean = stated.table(means, "means")
        deviation = stated.table(deviations, "deviations", mean.shape)
        with np.errstate(over="ignore", under="ignore"):
            variance = deviation**2
        stated.check(deviation, deviation > 0, "deviations", "above zero")
        squared = (variance > 0) & (variance < np.inf)
        stated.check(deviation, squared, "deviations", "that can be squared")
        parameters = GaussianParameters(mean, variance)
        return cast(Self, stated.fitted(cls(), parameters, mean.shape[1], names))

    state = by_hand.state

    def stated(self, values: Mapping[str, Any]) -> tuple[Floats, Any]:
        """Class probabilities and parameters, from attributes by name if there are all."""
        mean, variance = np.asarray(values["theta_"], float), np.asarray(values["var_"], float)
        return np.asarray(values["class_prior_"], float), GaussianParameters(mean, variance)

    estimate_under = joint_answers.estimate_under
    prior_settings: ClassVar[frozenset[str]] = frozenset({"priors", "var_smoothing"})

    def quadratics(self, origin: Floats | None = None) -> tuple[Floats, Floats, Floats]:
        """log p(x, k) = uᵀ A_k u + b_kᵀ u + c_k where u = x - origin: (k, d, d), (k, d), (k,)."""
        joint = self.settled().model
        mean, variance = joint.parameters.mean, joint.parameters.variance
        mean = mean if origin is None else mean - origin
        A = -0.5 * np.eye(mean.shape[1]) / variance[:, None, :]
        c = joint.log_prior - 0.5 * (mean**2 / variance + np.log(2 * np.pi * variance)).sum(axis=1)
        return A, mean / variance, c


@dataclass(frozen=True, slots=True, eq=False)
class GaussianRule(Rule):
    """Class probabilities are shown as they were given, without a logarithm on the way."""

    prior: ClassPrior

    def derive(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> Floats:
        given = in_order(self.prior.given, self.prior.classes, "priors")
        count = statistics.weight.rounded()
        return count / count.sum() if given is None else np.asarray(given, float)
