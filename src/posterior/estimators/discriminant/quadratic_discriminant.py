"""Quadratic discriminant analysis, scikit-learn's way."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from posterior.data.errors import DegenerateError, DegenerateWarning
from posterior.data.rows import Rows
from posterior.data.typing import Array, Floats
from posterior.data.validate import in_order
from posterior.estimators.checkpoint import FilePath
from posterior.estimators.discriminant.discriminant_base import (
    Discriminant,
    is_one_row,
    needs_rows,
    refuse_sums,
    with_covariance,
)
from posterior.estimators.elsewhere import found
from posterior.estimators.numeric import CALIBRATED
from posterior.estimators.summed import all_or_nothing
from posterior.families import MultivariateGaussian
from posterior.families.covariance import least_variances
from posterior.families.incomplete import LOG_2PI
from posterior.generative.joint import Joint, JointStatistics


class NotFullRankError(DegenerateError, np.linalg.LinAlgError):
    """A covariance without an inverse, in the words that users of scikit-learn catch."""


class QuadraticDiscriminantAnalysis(Discriminant):
    """Classes that are normal, each with a covariance of its own: boundaries are quadratic.

    Parameters
    ----------
    solver : {"svd", "eigen"}, default="svd"
        Which of scikit-learn's rules to follow: "svd" takes `reg_param`, "eigen" takes `shrinkage`
        and `covariance_estimator`. Both are one factorization here.
    shrinkage : "auto" or float between 0 and 1, optional
    priors : array of shape (n_classes,) or dict by class, optional
    reg_param : float between 0 and 1, default=0.0
        How much of an identity matrix is mixed into each covariance, in the units of the columns:
        standardize them first if their units differ.
    store_covariance : bool, default=False
    tol : float, default=1e-4
        In each class, columns standardized there must deviate by more along every principal axis.
        Where they do not, "eigen" raises an error, and "svd" shrinks the covariances by this
        portion towards columns that are independent, and warns.
    covariance_estimator : estimator with a `covariance_`, optional
    calibrated : {"temperature", "isotonic"}, optional

    Attributes
    ----------
    classes_, priors_ : arrays of shape (n_classes,)
    means_ : array of shape (n_classes, n_features)
    covariance_ : list of arrays of shape (n_features, n_features), if stored
    rotations_, scalings_ : lists of arrays
        Principal axes of each class, and the variances along them.

    Examples
    --------
    >>> from posterior import QuadraticDiscriminantAnalysis
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X, [1, 1, 1, 2, 2, 2]).predict([[-1, 0]])
    array([1])
    """

    tuned: ClassVar[Mapping[str, Sequence[Any]]] = {
        "reg_param": (0.0, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3, 1.0)
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "solver": [StrOptions({"svd", "eigen"})],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both"), None],
        "priors": ["array-like", Mapping, None],
        "reg_param": [Interval(Real, 0, 1, closed="both")],
        "store_covariance": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "covariance_estimator": [HasMethods("fit"), None],
        "calibrated": CALIBRATED,
    }
    _covariances: Floats | None = None  # where they come from the rows themselves

    def __init__(
        self,
        *,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1.0e-4,
        covariance_estimator: Any = None,
        calibrated: str | None = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.calibrated = calibrated

    @all_or_nothing
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, checkpoint: FilePath | None = None
    ) -> Self:
        """Learn from rows and their classes; what was learned before is dropped.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features), missing cells are NaN or None; or a
            table that is elsewhere, as in `GaussianNB.fit`
        y : array of shape (n_samples,), or the name of a column of X
        sample_weight : array of shape (n_samples,), or the name of a column, optional
        checkpoint : path, optional
            As in `GaussianNB.fit`.
        """
        if (there := found(X, checkpoint)) is not None:
            return self._fit_elsewhere(there, y, sample_weight, checkpoint)
        self._validate_params()
        self._covariances = None
        X, y = self._with_target(X, y)
        if self._needs_rows():
            self._covariances = self._given_covariances(*self._rows_alone(X, y, sample_weight))
        super().fit(X, y, sample_weight)
        self._covariances = None
        return self

    def _needs_rows(self) -> bool:
        if self.solver == "svd" and self.shrinkage is not None:
            raise NotImplementedError("shrinkage not supported with 'svd' solver.")
        if self.solver == "svd" and self.covariance_estimator is not None:
            raise ValueError(
                "covariance_estimator is not supported with solver='svd'. Try solver='eigen' "
                "instead."
            )
        return needs_rows(self.shrinkage, self.covariance_estimator)

    def _family(self) -> MultivariateGaussian:
        shrinkage = self.shrinkage if isinstance(self.shrinkage, Real) else 0.0
        ridge = self.reg_param if self.solver == "svd" else 0.0
        return MultivariateGaussian("own", shrinkage=float(shrinkage), ridge=ridge, least=0.0)

    def _log_prior(self, weight: Floats) -> Floats:
        if self.priors is None:
            return super()._log_prior(weight)
        p = np.asarray(in_order(self.priors, self.classes_, "priors"), np.float64)
        with np.errstate(divide="ignore"):
            return np.broadcast_to(np.log(p), weight.shape)

    def _finish(self, statistics: JointStatistics[Any]) -> Joint[Any, Any]:
        if len(self.classes_) < 2:
            raise DegenerateError(
                f"The number of classes has to be greater than one. Got {len(self.classes_)} class."
            )
        refuse_sums(self._needs_rows() and self._covariances is None)
        single = np.flatnonzero(is_one_row(statistics))
        if len(single):
            with self._names():
                raise DegenerateError(
                    "y has only 1 sample in class {group}, covariance is ill defined. Leave the "
                    "class out, or use GaussianDiscriminantAnalysis with pseudo_rows.",
                    group=int(single[0]),
                )
        joint = super()._finish(statistics)
        if self._covariances is not None:
            parameters = with_covariance(joint.parameters, self._covariances, 0.0)
            joint = Joint(joint.family, joint.log_prior, parameters)
        with self._names():
            return self._of_full_rank(joint)

    def _of_full_rank(self, joint: Joint[Any, Any]) -> Joint[Any, Any]:
        """Every principal axis must deviate by more than `tol`; where "svd" finds one that does
        not, all covariances are shrunken by that much, and users are told."""
        parameters = joint.parameters
        flat = np.flatnonzero(~(least_variances(parameters.covariance) > self.tol**2))
        if len(flat) == 0:
            return joint
        problem, first = "The covariance matrix of class {group} is not full rank.", int(flat[0])
        if self.solver == "eigen":
            raise NotFullRankError(
                f"{problem} Increase the value of `shrinkage` to reduce the collinearity.",
                group=first,
            )
        within = parameters.scatter.covariance("shared")[0].diagonal()
        if not (within * self.tol).any():
            raise NotFullRankError(f"{problem} No column varies within a class.", group=first)
        everywhere = parameters.scatter.pooled().covariance("shared")[0].diagonal()
        # a column that no row varies in says the same of all classes, whatever its variance
        variance = np.select([within > 0, everywhere > 0], [within, everywhere], 1.0)
        covariance = (1 - self.tol) * parameters.covariance + self.tol * np.diag(variance)
        warnings.warn(
            f"{problem.format(group=self.classes_[first])} All covariances were shrunken by "
            f"tol={self.tol:g} towards independent columns. Set `reg_param`, or use "
            "solver='eigen' with `shrinkage`, to choose how much.",
            DegenerateWarning,
            stacklevel=2,
        )
        return Joint(joint.family, joint.log_prior, with_covariance(parameters, covariance, 0.0))

    def _decisive(self, rows: Rows, statistics: JointStatistics[Any]) -> Array:
        """All rows, if without one of them a deviation could fall to `tol`."""
        covariance = self._family().estimate(statistics.features).covariance
        flat = (least_variances(covariance) <= 10 * self.tol**2).any()
        return np.full(len(rows), flat)

    def _learned(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> dict[str, Any]:
        axes = [np.linalg.eigh(c) for c in joint.parameters.covariance]
        learned = super()._learned(joint, statistics) | {
            "scalings_": [values[::-1] for values, _ in axes],
            "rotations_": [vectors[:, ::-1] for _, vectors in axes],
        }
        if self.priors is not None:
            given = in_order(self.priors, self.classes_, "priors")
            learned["priors_"] = np.array(given, np.float64)
        if self.store_covariance:
            learned["covariance_"] = list(joint.parameters.covariance)
        return learned

    def decision_function(self, X: Any) -> Floats:
        """log p(k | x) up to a term of x; of two classes the log-odds."""
        scores = super().decision_function(X)
        # scikit-learn leaves out the constant of the normal density
        return scores if scores.ndim == 1 else scores + 0.5 * self.n_features_in_ * LOG_2PI
