"""Linear discriminant analysis, scikit-learn's way."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import linalg
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from posterior.data.errors import DegenerateError
from posterior.data.typing import Floats
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
from posterior.estimators.validating import FOLDS
from posterior.families import MultivariateGaussian, MultivariateGaussianParameters
from posterior.families.covariance import Scatter, Whitening, shrunken
from posterior.generative.joint import Joint, JointStatistics


class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Discriminant):
    """Classes that are normal and share a covariance: boundaries are linear.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default="svd"
        Which of scikit-learn's rules to follow: "svd" leaves out directions in which rows hardly
        deviate, "lsqr" and "eigen" take `shrinkage` and `covariance_estimator`, and "svd" and
        "eigen" can transform. All work on one set of sums here.
    shrinkage : "auto" or float between 0 and 1, optional
    priors : array of shape (n_classes,) or dict by class, optional
    n_components : int, optional
        Of `transform`; by default as many as there can be.
    store_covariance : bool, default=False
    tol : float, default=1e-4
        Directions that deviate by less, of standardized columns, are left out by "svd".
    covariance_estimator : estimator with a `covariance_`, optional
    calibrated : {"temperature", "isotonic"}, optional

    Attributes
    ----------
    classes_, priors_ : arrays of shape (n_classes,)
    means_ : array of shape (n_classes, n_features)
    coef_, intercept_ : arrays of shape (n_classes, n_features) and (n_classes,)
        Of log p(k | x), up to a term of x; of two classes their difference.
    covariance_ : array of shape (n_features, n_features)
        Not with "svd", unless stored.
    scalings_ : array of shape (n_features, rank)
    explained_variance_ratio_ : array of shape (n_components,)
    xbar_ : array of shape (n_features,)

    Examples
    --------
    >>> from posterior import LinearDiscriminantAnalysis
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> LinearDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2]).predict([[-0.8, -1]])
    array([1])
    """

    tuned: ClassVar[Mapping[str, Sequence[Any]]] = {
        "shrinkage": (0.0, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3, 1.0)
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "solver": [StrOptions({"svd", "lsqr", "eigen"})],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both"), None],
        "priors": ["array-like", Mapping, None],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "store_covariance": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "covariance_estimator": [HasMethods("fit"), None],
        "calibrated": CALIBRATED,
    }
    _given: tuple[Floats, Floats] | None = None  # covariances from the rows themselves

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        calibrated: str | None = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
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
        self._given = None
        X, y = self._with_target(X, y)
        if self._needs_rows():
            table, codes = self._rows_alone(X, y, sample_weight)
            self._given = self._given_covariances(table, codes), self._covariance_of(table)
        super().fit(X, y, sample_weight)
        self._given = None
        if getattr(X, "dtype", None) == np.float32:
            for name in ("coef_", "intercept_", "means_", "scalings_", "xbar_"):
                if hasattr(self, name):
                    setattr(self, name, getattr(self, name).astype(np.float32))
        return self

    def _needs_rows(self) -> bool:
        if self.solver == "svd" and self.shrinkage is not None:
            raise NotImplementedError("shrinkage not supported with 'svd' solver.")
        if self.solver == "svd" and self.covariance_estimator is not None:
            raise ValueError(
                "covariance estimator is not supported with svd solver. Try another solver"
            )
        return needs_rows(self.shrinkage, self.covariance_estimator)

    def _shrinkage(self) -> float:
        return float(self.shrinkage) if isinstance(self.shrinkage, Real) else 0.0

    def _family(self) -> MultivariateGaussian:
        if self.solver == "svd":
            return MultivariateGaussian("shared", least=self.tol)
        shares = None if self.priors is None else tuple(self._priors(len(self.classes_)))
        least = 0.0 if self.solver == "lsqr" or self._needs_rows() else None
        return MultivariateGaussian(
            "shared", shrinkage=self._shrinkage(), least=least, shares=shares
        )

    def _priors(self, n_classes: int) -> Floats:
        p = np.asarray(in_order(self.priors, self.classes_, "priors"), np.float64)
        if (p < 0).any():
            raise ValueError("priors must be non-negative")
        if p.shape != (n_classes,):
            raise ValueError(
                f"Number of priors must match number of classes: got {p.size} for {n_classes}."
            )
        return p / p.sum()

    def _log_prior(self, weight: Floats) -> Floats:
        if self.priors is None:
            return super()._log_prior(weight)
        p = self._priors(weight.shape[-1])
        with np.errstate(divide="ignore"):
            return np.broadcast_to(np.log(p), weight.shape)

    def _finish(self, statistics: JointStatistics[Any]) -> Joint[Any, Any]:
        refuse_sums(self._needs_rows() and self._given is None)
        given = in_order(self.priors, self.classes_, "priors")
        if given is not None and abs(np.sum(given) - 1.0) > 1e-5:
            warnings.warn("The priors do not sum to 1. Renormalizing", UserWarning, stacklevel=2)
        if len(self.classes_) > 1 and is_one_row(statistics).all():
            raise DegenerateError("The number of samples must be more than the number of classes.")
        joint = super()._finish(statistics)
        parameters = joint.parameters
        if self._given is not None:
            shared = np.einsum("k,kij->ij", np.exp(joint.log_prior), self._given[0])[None]
            parameters = with_covariance(parameters, shared, 0.0 if self.solver == "lsqr" else None)
        if self.solver == "lsqr" and parameters.whitening[0].matrix.shape[1] < self.n_features_in_:
            pseudo = Whitening.pseudo(parameters.covariance[0])
            parameters = replace(parameters, whitening=(pseudo,))
        return Joint(joint.family, joint.log_prior, parameters)

    def _learned(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> dict[str, Any]:
        parameters, priors = joint.parameters, np.exp(joint.log_prior)
        components = self._components(*parameters.mean.shape)
        learned = super()._learned(joint, statistics) | {"_n_features_out": components}
        if self.solver == "svd":
            learned |= _svd(parameters, priors, statistics.weight.rounded().sum(), self.tol)
            if self.store_covariance:
                within = parameters.scatter.covariance("shared", tuple(priors))
                learned["covariance_"] = within[0]
        else:
            learned |= self._solve(parameters, priors)
        if "explained_variance_ratio_" in learned:
            learned["explained_variance_ratio_"] = learned["explained_variance_ratio_"][:components]
        if len(priors) == 2:
            learned["coef_"] = np.diff(learned["coef_"], axis=0)
            learned["intercept_"] = np.diff(learned["intercept_"])
        return learned

    def _components(self, n_classes: int, n_features: int) -> int:
        most = min(n_classes - 1, n_features)
        if self.n_components is not None and self.n_components > most:
            raise ValueError("n_components cannot be larger than min(n_features, n_classes - 1).")
        return most if self.n_components is None else self.n_components

    def _solve(self, parameters: MultivariateGaussianParameters, priors: Floats) -> dict[str, Any]:
        """Coefficients from the covariance itself, and for "eigen" the axes of `transform`."""
        mean, within = parameters.mean, parameters.covariance[0]
        learned: dict[str, Any] = {"covariance_": within}
        if self.solver == "eigen":
            values, vectors = linalg.eigh(self._total(parameters) - within, within)
            order = np.argsort(values)[::-1]
            with np.errstate(divide="ignore", invalid="ignore"):  # one class has nothing apart
                learned["explained_variance_ratio_"] = (values / values.sum())[order]
            learned["scalings_"] = scalings = vectors[:, order]
            coef = mean @ scalings @ scalings.T
        else:
            coef = linalg.lstsq(within, mean.T)[0].T
        with np.errstate(divide="ignore"):
            intercept = -0.5 * np.einsum("kd,kd->k", mean, coef) + np.log(priors)
        return learned | {"coef_": coef, "intercept_": intercept}

    def _total(self, parameters: MultivariateGaussianParameters) -> Floats:
        """The covariance of all rows together."""
        if self._given is not None:
            return self._given[1]
        assert parameters.scatter is not None
        everyone: Scatter = parameters.scatter.pooled()
        return shrunken(everyone.covariance("own"), self._shrinkage())[0]

    def tune(
        self, X: Any, y: Any, folds: Any = FOLDS, grid: Any = None, sample_weight: Any = None
    ) -> Self:
        """As every classifier's; the rule "svd" has no shrinkage to tune."""
        if grid is None and self.solver == "svd":
            raise ValueError(
                "Expected solver='lsqr' or solver='eigen' to tune the shrinkage, got 'svd', which "
                "has none. Choose one of them."
            )
        return super().tune(X, y, folds, grid, sample_weight)

    def transform(self, X: Any) -> Floats:
        """Rows along the directions that separate the classes most."""
        check_is_fitted(self)
        if self.solver == "lsqr":
            raise NotImplementedError(
                "transform not implemented for 'lsqr' solver (use 'svd' or 'eigen')."
            )
        self._joint()
        features = self._features(X, fitting=False, reset=False)
        self._check_cells(features, 0, fitting=False)
        x = np.asarray(features)
        origin = self.xbar_ if self.solver == "svd" else 0.0
        moved: Floats = (x - origin) @ self.scalings_
        return moved[:, : self._n_features_out]

    def decision_function(self, X: Any) -> Floats:
        """X @ coef_.T + intercept_: log p(k | x) up to a term of x; of two classes the log-odds."""
        scores = super().decision_function(X)
        x = np.asarray(self._features(X, fitting=False, reset=False))
        linear = x @ self.coef_.T + self.intercept_
        linear = linear[:, 0] if scores.ndim == 1 else linear
        return np.where(np.isnan(linear), scores, linear)


def _svd(
    parameters: MultivariateGaussianParameters, priors: Floats, n_rows: float, tol: float
) -> dict[str, Any]:
    """scikit-learn's "svd" rule: class means, whitened, along their own principal axes."""
    mean, whitening = parameters.mean, parameters.whitening[0].matrix
    center = priors @ mean
    k = len(mean)
    weight = np.sqrt(n_rows * priors / max(k - 1, 1))
    _, size, axes = np.linalg.svd(
        weight[:, None] * ((mean - center) @ whitening), full_matrices=False
    )
    kept = size > tol * size[:1].sum()
    scalings = whitening @ axes.T[:, kept]
    spread = (mean - center) @ scalings
    coef = spread @ scalings.T
    with np.errstate(divide="ignore", invalid="ignore"):
        intercept = -0.5 * (spread**2).sum(axis=1) + np.log(priors) - coef @ center
        ratio = size**2 / (size**2).sum()
    return {
        "xbar_": center,
        "scalings_": scalings,
        "explained_variance_ratio_": ratio,
        "coef_": coef,
        "intercept_": intercept,
    }
