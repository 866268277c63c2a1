"""What the Gaussian discriminant classifiers have in common."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from posterior.data import validate
from posterior.data.errors import DegenerateError
from posterior.data.typing import Array, Codes, Floats
from posterior.estimators.numeric import NumericClassifier, log_prior
from posterior.families import MultivariateGaussian, MultivariateGaussianParameters
from posterior.families.covariance import whitenings
from posterior.generative.joint import Joint, JointStatistics

LEARNED = (
    "coef_",
    "covariance_",
    "explained_variance_ratio_",
    "intercept_",
    "log_likelihoods_",
    "means_",
    "parameters_",
    "priors_",
    "rotations_",
    "scalings_",
    "xbar_",
)


class Discriminant(NumericClassifier):
    """Classes are normal in all columns together.

    A subclass names the family; sums of rows, parameters and scores are the same for all.
    """

    accepts_sparse: ClassVar[bool] = False
    priors: Any
    priors_: Floats
    parameters_: MultivariateGaussianParameters
    _postponed: DegenerateError | None = None
    _waits: bool = False  # parameters are estimated when somebody asks for them

    def _family(self) -> MultivariateGaussian:
        raise NotImplementedError

    def _check_chunk(self, X: Any, first_row: int, fitting: bool) -> None:
        """Sums and scores notice an infinite cell themselves."""

    def _check_scores(self, scores: Floats, X: Any, first_row: int) -> None:
        with np.errstate(invalid="ignore"):
            strange = not np.isfinite(scores.sum())
        if strange:
            self._check_cells(X, first_row, fitting=False)

    def _log_prior(self, weight: Floats) -> Floats:
        return log_prior(weight, self.priors, self.classes_)

    def _finish(self, statistics: JointStatistics[Any]) -> Joint[Any, Any]:
        if is_one_row(statistics.pooled()).all():
            raise DegenerateError("Expected two rows or more to learn from, got 1 sample.")
        return super()._finish(statistics)

    def _accept(self, statistics: JointStatistics[Any]) -> None:
        super()._accept(statistics)
        self._postponed, self._waits = None, False

    def _accept_more(self, statistics: JointStatistics[Any]) -> None:
        """A stream may begin with fewer rows than a covariance needs; it is asked for later. And
        where cells are missing, EM waits until somebody asks."""
        self.statistics_, self._postponed = statistics.compact(), None
        for name in LEARNED:
            self.__dict__.pop(name, None)
        self._waits = True
        if len(statistics.features.incomplete) == 0:
            try:
                self._estimate_now()
            except DegenerateError as error:
                self._postponed = error

    def _estimate_now(self) -> None:
        self._waits = False
        try:
            self._accept(self.statistics_)
        except Exception:
            self._waits = True
            raise

    def __getattr__(self, name: str) -> Any:
        if name in LEARNED and self.__dict__.get("_waits") and self._postponed is None:
            self._estimate_now()
            if name in self.__dict__:
                return self.__dict__[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _learned(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> dict[str, Any]:
        return {
            "parameters_": joint.parameters,
            "priors_": np.exp(joint.log_prior),
            "means_": joint.parameters.mean,
        }

    def _joint(self) -> Joint[Any, Any]:
        if self._postponed is not None:
            raise self._postponed
        with np.errstate(divide="ignore"):
            log_priors = np.log(np.asarray(self.priors_, np.float64))
        return Joint(self._family(), log_priors, self.parameters_)

    def decision_function(self, X: Any) -> Floats:
        """Log joint probabilities (n, k), up to a term of x; of two classes their difference."""
        scores = self._scored(X, "contrast")
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def quadratics(self, origin: Floats | None = None) -> tuple[Floats, Floats, Floats]:
        """log p(x, k) = uᵀ A_k u + b_kᵀ u + c_k where u = x - origin: (k, d, d), (k, d), (k,)."""
        joint = self._joint()
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

    def _rows_alone(self, X: Any, y: Any, sample_weight: Any) -> tuple[Array, Codes]:
        """Complete, unweighted rows, for covariances that need them."""
        features = self._features(X, fitting=True, reset=True)
        self.classes_, codes = validate.labels(y, features.shape[0])
        self._check_cells(features, 0, fitting=True)
        table = np.asarray(features)
        if sample_weight is not None or np.isnan(table.sum()):
            raise ValueError(
                "Expected complete rows without weights for shrinkage='auto' and "
                "covariance_estimator. Set shrinkage to a number."
            )
        return table, codes

    def _given_covariances(self, X: Array, codes: Codes) -> Floats:
        """By class, from the rows themselves: of an estimator of the user, or shrunken as much as
        Ledoit and Wolf (2004) say of standardized columns."""
        return np.stack([self._covariance_of(X[codes == k]) for k in range(len(self.classes_))])

    def _covariance_of(self, X: Array) -> Floats:
        estimator: Any = getattr(self, "covariance_estimator", None)
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


def is_one_row(statistics: JointStatistics[Any]) -> Array:
    """Which groups (k,) have received a single row; weights that sum to one may be of more."""
    _, _, scatter = statistics.features.complete.scatter()
    alike = ~scatter.any(axis=(1, 2)) & (statistics.features.incomplete.R.sum(axis=0) == 0)
    return np.asarray((statistics.weight.rounded() == 1) & alike)


def needs_rows(shrinkage: Any, covariance_estimator: Any) -> bool:
    """Whether covariances come from the rows themselves, for which no sums can stand."""
    if covariance_estimator is not None and shrinkage is not None and shrinkage != 0:
        raise ValueError(
            "covariance_estimator and shrinkage parameters are not None. Only one of the two can "
            "be set."
        )
    return covariance_estimator is not None or shrinkage == "auto"


def refuse_sums(rows_are_needed: bool) -> None:
    """An error where covariances come from rows, and only their sums are at hand."""
    if rows_are_needed:
        raise ValueError(
            "Expected shrinkage as a number or None here: 'auto' and covariance_estimator need "
            "all rows at once. Use fit()."
        )


def with_covariance(
    parameters: MultivariateGaussianParameters, covariance: Floats, least: float | None
) -> MultivariateGaussianParameters:
    """The same means with another covariance."""
    return MultivariateGaussianParameters(
        parameters.mean, covariance, whitenings(covariance, least), scatter=parameters.scatter
    )
