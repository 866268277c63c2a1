"""Quadratic discriminant analysis, scikit-learn's way."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from posterior.data.errors import DegenerateError, DegenerateWarning
from posterior.data.rows import Rows
from posterior.data.typing import Array, Floats
from posterior.data.validate import in_order
from posterior.estimators.discriminant.base import (
    Discriminant,
    DiscriminantRule,
    StatedPrior,
    class_covariances,
    complete_rows,
    is_one_row,
    needs_rows,
    refuse_sums,
    with_covariance,
)
from posterior.estimators.estimator import estimated
from posterior.estimators.summed_classifier import CALIBRATED
from posterior.families import MultivariateGaussian
from posterior.families.covariance import least_variances
from posterior.families.incomplete import LOG_2PI
from posterior.generative.joint import Joint, JointStatistics
from posterior.generative.rule import ClassPrior, Rule
from posterior.readers.labels import Labels
from posterior.readers.reader import Reader


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
    calibrated : str, optional
        As in `GaussianNB`.
    ddof : float, default=0
        Delta degrees of freedom, by NumPy's and pandas' name: the covariance of a class is divided
        by n_k - ddof. `ddof=1` gives the unbiased ones of R (`MASS::qda`) and of textbooks, where 0
        gives the most likely ones, and those of scikit-learn. n_k sums weights, so a weight of 2 is
        two rows.

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
    >>> X, y = [[1], [3], [4], [8]], [0, 0, 1, 1]
    >>> [v.item() for v in QuadraticDiscriminantAnalysis(ddof=1).fit(X, y).scalings_]
    [2.0, 8.0]
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
        "ddof": [Interval(Real, 0, None, closed="left")],
    }

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
        ddof: float = 0,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.calibrated = calibrated
        self.ddof = ddof

    priors_ = estimated[Floats](lambda fitted: fitted.derived.priors)
    scalings_ = estimated[list[Floats]](lambda fitted: fitted.derived.scalings)
    rotations_ = estimated[list[Floats]](lambda fitted: fitted.derived.rotations)
    covariance_ = estimated[list[Floats]](lambda fitted: fitted.derived.covariance)

    def _needs_rows(self) -> bool:
        if self.solver == "svd" and self.shrinkage is not None:
            raise NotImplementedError("shrinkage not supported with 'svd' solver.")
        if self.solver == "svd" and self.covariance_estimator is not None:
            raise ValueError(
                "covariance_estimator is not supported with solver='svd'. Try solver='eigen' "
                "instead."
            )
        return needs_rows(self.shrinkage, self.covariance_estimator, self.ddof)

    def rule(self, reader: Reader, labels: Labels | None) -> QuadraticRule:
        """A covariance of each class, of full rank."""
        shrinkage = self.shrinkage if isinstance(self.shrinkage, Real) else 0.0
        ridge = self.reg_param if self.solver == "svd" else 0.0
        family = MultivariateGaussian(
            "own", shrinkage=float(shrinkage), ridge=ridge, least=0.0, ddof=self.ddof
        )
        prior: Any = ClassPrior()
        if labels is not None and self.priors is not None:
            given = in_order(self.priors, labels.classes, "priors")
            prior = StatedPrior(np.asarray(given, np.float64))
        classes = None if labels is None else labels.classes
        stored = bool(self.store_covariance)
        asks = self._needs_rows()
        return QuadraticRule(family, prior, classes, self.solver, self.tol, stored, asks)

    def _rule_of_rows(self, reader: Any, labels: Labels, rows: Rows) -> Rule:
        rule = self.rule(reader, labels)
        if not rule.needs_rows:
            return rule
        table, codes = complete_rows(rows, reader)
        given = class_covariances(table, codes, len(labels), self.covariance_estimator)
        return replace(rule, given=given)

    def decision_function(self, X: Any) -> Floats:
        """log p(k | x) up to a term of x; of two classes the log-odds."""
        scores = super().decision_function(X)
        # scikit-learn leaves out the constant of the normal density
        return scores if scores.ndim == 1 else scores + 0.5 * self.n_features_in_ * LOG_2PI


@dataclass(frozen=True, slots=True, eq=False)
class PrincipalAxes:
    """Principal axes of each class, and the variances along them."""

    priors: Floats
    scalings: list[Floats]
    rotations: list[Floats]
    covariance: list[Floats] | None


@dataclass(frozen=True, slots=True, eq=False)
class QuadraticRule(DiscriminantRule):
    """Every class has a covariance of full rank, or all are shrunken until they have."""

    classes: Array | None
    solver: str
    tol: float
    store_covariance: bool
    needs_rows: bool  # whether covariances come from the rows themselves,
    given: Floats | None = None  # (k, d, d): which are these

    def estimate(self, statistics: JointStatistics[Any]) -> Joint[Any, Any]:
        n_classes = len(statistics.weight.rounded())
        if n_classes < 2:
            raise DegenerateError(
                f"The number of classes has to be greater than one. Got {n_classes} class."
            )
        if self.needs_rows and self.given is None:
            refuse_sums()
        single = np.flatnonzero(is_one_row(statistics))
        if len(single):
            raise DegenerateError(
                "y has only 1 sample in class {group}, covariance is ill defined. Leave the "
                "class out, or use GaussianDiscriminantAnalysis with pseudo_rows.",
                group=int(single[0]),
            )
        joint = DiscriminantRule.estimate(self, statistics)
        if self.given is not None:
            joint = replace(joint, parameters=with_covariance(joint.parameters, self.given, 0.0))
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
        name = first if self.classes is None else self.classes[first]
        warnings.warn(
            f"{problem.format(group=name)} All covariances were shrunken by tol={self.tol:g} "
            "towards independent columns. Set `reg_param`, or use solver='eigen' with `shrinkage`, "
            "to choose how much.",
            DegenerateWarning,
            stacklevel=2,
        )
        return Joint(joint.family, joint.log_prior, with_covariance(parameters, covariance, 0.0))

    def decisive(self, rows: Rows, statistics: JointStatistics[Any]) -> Array:
        """All rows, if without one of them a deviation could fall to `tol`."""
        covariance = self.family.estimate(statistics.features).covariance
        flat = (least_variances(covariance) <= 10 * self.tol**2).any()
        return np.full(len(rows), flat)

    def derive(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> PrincipalAxes:
        covariance = joint.parameters.covariance
        axes = [np.linalg.eigh(c) for c in covariance]
        given = isinstance(self.prior, StatedPrior)
        return PrincipalAxes(
            np.array(self.prior.shares) if given else np.exp(joint.log_prior),  # type: ignore[attr-defined]
            [values[::-1] for values, _ in axes],
            [vectors[:, ::-1] for _, vectors in axes],
            list(covariance) if self.store_covariance else None,
        )
