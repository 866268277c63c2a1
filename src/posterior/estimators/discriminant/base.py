"""Base class of Gaussian discriminant analysis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior.data.errors import DegenerateError
from posterior.data.rows import Rows
from posterior.data.typing import Array, Codes, Floats
from posterior.estimators.estimator import estimated
from posterior.estimators.summed_classifier import SummedClassifier
from posterior.families import MultivariateGaussianParameters
from posterior.families.covariance import whitenings
from posterior.generative.fitted import Fitted
from posterior.generative.joint import Joint, JointStatistics
from posterior.generative.rule import Rule
from posterior.readers.numeric import Numeric


class Discriminant(SummedClassifier):
    """Classes that are normal in all columns together; a class says by which covariances."""

    priors: Any

    parameters_ = estimated[MultivariateGaussianParameters](lambda fitted: fitted.model.parameters)
    means_ = estimated[Floats](lambda fitted: fitted.model.parameters.mean)
    priors_ = estimated[Floats](lambda fitted: np.exp(fitted.model.log_prior))

    def reader(self) -> Numeric:
        """Dense numbers, whose sums and scores notice an infinite cell themselves."""
        return Numeric(self.columns(), sparse=False, noticed="dense")

    def settle(self, fitted: Fitted) -> Fitted:
        """A stream may begin with fewer rows than a covariance needs; it is asked for later. And
        where cells are missing, EM waits until somebody asks."""
        assert fitted.statistics is not None
        if len(fitted.statistics.features.incomplete):
            return fitted
        try:
            return fitted.settled()
        except DegenerateError:
            return fitted

    def decision_function(self, X: Any) -> Floats:
        """Log joint probabilities (n, k), up to a term of x; of two classes their difference."""
        scores = self.settled().scored(X, "contrast", self.engine_)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def quadratics(self, origin: Floats | None = None) -> tuple[Floats, Floats, Floats]:
        """log p(x, k) = uᵀ A_k u + b_kᵀ u + c_k where u = x - origin: (k, d, d), (k, d), (k,)."""
        joint = self.settled().model
        p = joint.parameters
        if p.freedom is not None:
            raise TypeError("Expected a normal density: the log of Student's t is not quadratic.")
        mean = p.mean if origin is None else p.mean - origin
        k, d = mean.shape
        A, b, c = np.empty((k, d, d)), np.empty((k, d)), np.array(joint.log_prior)
        for g in range(k):
            precision, white = p.precision(g), p.whitening[g if len(p.whitening) > 1 else 0]
            A[g], b[g] = -0.5 * precision, precision @ mean[g]
            rank = white.matrix.shape[1]
            c[g] -= 0.5 * (mean[g] @ b[g] + white.log_det + rank * np.log(2 * np.pi))
        return A, b, c


@dataclass(frozen=True, slots=True, eq=False)
class DiscriminantRule(Rule):
    """Covariances need two rows."""

    def estimate(self, statistics: JointStatistics[Any]) -> Joint[Any, Any]:
        if is_one_row(statistics.pooled()).all():
            raise DegenerateError("Expected two rows or more to learn from, got 1 sample.")
        return Rule.estimate(self, statistics)


@dataclass(frozen=True, slots=True, eq=False)
class StatedPrior:
    """Class probabilities as they were given, not looked at."""

    shares: Floats

    def __call__(self, weight: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.broadcast_to(np.log(self.shares), weight.shape)


def is_one_row(statistics: JointStatistics[Any]) -> Array:
    """Which groups (k,) have received a single row; weights that sum to one may be of more."""
    _, _, scatter = statistics.features.complete.scatter()
    alike = ~scatter.any(axis=(1, 2)) & (statistics.features.incomplete.R.sum(axis=0) == 0)
    return np.asarray((statistics.weight.rounded() == 1) & alike)


def needs_rows(shrinkage: Any, covariance_estimator: Any, ddof: float) -> bool:
    """Whether covariances come from the rows themselves, for which no sums can stand."""
    if covariance_estimator is not None and shrinkage is not None and shrinkage != 0:
        raise ValueError(
            "covariance_estimator and shrinkage parameters are not None. Only one of the two can "
            "be set."
        )
    asks = covariance_estimator is not None or shrinkage == "auto"
    if asks and ddof:
        raise ValueError(
            "Expected ddof=0 with shrinkage='auto' or covariance_estimator, which divide by a rule "
            f"of their own, got ddof={ddof:g}. Set shrinkage to a number, or leave ddof out."
        )
    return asks


def refuse_sums() -> None:
    """An error where covariances come from rows, and only their sums are at hand."""
    raise ValueError(
        "Expected shrinkage as a number or None here: 'auto' and covariance_estimator need all "
        "rows at once. Use fit()."
    )


def complete_rows(rows: Rows, reader: Numeric) -> tuple[Array, Codes]:
    """Complete, unweighted rows and their codes, for covariances that need them."""
    reader.check(rows.X, fitting=True)
    table = np.asarray(rows.X)
    if rows.hard.weight is not None or np.isnan(table.sum()):
        raise ValueError(
            "Expected complete rows without weights for shrinkage='auto' and "
            "covariance_estimator. Set shrinkage to a number."
        )
    return table, rows.hard.codes


def covariance_of(X: Array, estimator: Any) -> Floats:
    """From the rows themselves: by an estimator of the user, or shrunken as much as Ledoit and
    Wolf (2004) say of standardized columns."""
    if estimator is None:
        from sklearn.covariance import ledoit_wolf

        apart = X - X.mean(axis=0)
        scale = np.sqrt((apart**2).mean(axis=0))
        scale[scale == 0] = 1.0
        return np.asarray(scale[:, None] * ledoit_wolf(apart / scale)[0] * scale)
    estimator.fit(X)
    if not hasattr(estimator, "covariance_"):
        raise ValueError(
            f"Expected covariance_estimator to have a covariance_ after fit, but "
            f"{type(estimator).__name__} does not have a covariance_ attribute."
        )
    return np.atleast_2d(np.asarray(estimator.covariance_, np.float64))


def class_covariances(X: Array, codes: Codes, n_classes: int, estimator: Any) -> Floats:
    """The covariance of each class, from the rows themselves."""
    return np.stack([covariance_of(X[codes == k], estimator) for k in range(n_classes)])


def with_covariance(
    parameters: MultivariateGaussianParameters, covariance: Floats, least: float | None
) -> MultivariateGaussianParameters:
    """The same means with another covariance."""
    return MultivariateGaussianParameters(
        parameters.mean, covariance, whitenings(covariance, least), scatter=parameters.scatter
    )
