"""Linear discriminant analysis, scikit-learn's way."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self, cast

import numpy as np
from scipy import linalg
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from posterior.data.errors import DegenerateError
from posterior.data.rows import Rows
from posterior.data.typing import Array, Floats
from posterior.data.validate import in_order
from posterior.estimators.discriminant.base import (
    Discriminant,
    DiscriminantRule,
    StatedPrior,
    class_covariances,
    complete_rows,
    covariance_of,
    is_one_row,
    needs_rows,
    refuse_sums,
    with_covariance,
)
from posterior.estimators.estimator import estimated
from posterior.estimators.remote import FilePath
from posterior.estimators.summed_classifier import CALIBRATED
from posterior.families import MultivariateGaussian, MultivariateGaussianParameters
from posterior.families.covariance import Whitening, shrunken
from posterior.generative.fold_sums import FOLDS
from posterior.generative.joint import Joint, JointStatistics
from posterior.generative.rule import ClassPrior, Rule
from posterior.readers.labels import Labels
from posterior.readers.reader import Reader


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
    calibrated : str, optional
        As in `GaussianNB`.
    ddof : float, default=0
        Delta degrees of freedom, by NumPy's and pandas' name: what the mean of a class costs in
        rows. The shared covariance of K classes is divided by n - K ddof, so `ddof=1` gives that of
        R (`MASS::lda`) and of textbooks, where 0 gives the most likely one, and scikit-learn's.
        n sums weights, so a weight of 2 is two rows. Of `priors` with "lsqr" or "eigen", which
        weigh the covariances of the classes, each is divided by n_k - ddof.

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
    >>> X, y = [[1], [3], [4], [8]], [0, 0, 1, 1]
    >>> LinearDiscriminantAnalysis("lsqr", ddof=1).fit(X, y).covariance_
    array([[5.]])
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
        "ddof": [Interval(Real, 0, None, closed="left")],
    }

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
        *,
        ddof: float = 0,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.calibrated = calibrated
        self.ddof = ddof

    means_ = estimated[Floats](lambda fitted: fitted.derived.means)
    coef_ = estimated[Floats](lambda fitted: fitted.derived.coef)
    intercept_ = estimated[Floats](lambda fitted: fitted.derived.intercept)
    covariance_ = estimated[Floats](lambda fitted: fitted.derived.covariance)
    scalings_ = estimated[Floats](lambda fitted: fitted.derived.scalings)
    xbar_ = estimated[Floats](lambda fitted: fitted.derived.xbar)
    explained_variance_ratio_ = estimated[Floats](lambda fitted: fitted.derived.explained)
    _n_features_out = estimated[int](lambda fitted: fitted.derived.n_components)

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, checkpoint: FilePath | None = None
    ) -> Self:
        """Learn from rows and their classes; see `GaussianDiscriminantAnalysis.fit`."""
        super().fit(X, y, sample_weight, checkpoint=checkpoint)
        if isinstance(X, np.ndarray) and X.dtype == np.float32:
            self.fitted_ = replace(self.fitted_, derived=self.fitted_.derived.as_float32())
        return self

    def _needs_rows(self) -> bool:
        if self.solver == "svd" and self.shrinkage is not None:
            raise NotImplementedError("shrinkage not supported with 'svd' solver.")
        if self.solver == "svd" and self.covariance_estimator is not None:
            raise ValueError(
                "covariance estimator is not supported with svd solver. Try another solver"
            )
        return needs_rows(self.shrinkage, self.covariance_estimator, self.ddof)

    def rule(self, reader: Reader, labels: Labels | None) -> LinearRule:
        """One covariance for all classes, by the rule of the solver."""
        asks, prior, shares = self._needs_rows(), None, None
        if labels is not None and self.priors is not None:
            shares = self._shares(labels)
            prior = StatedPrior(shares)
        if self.solver == "svd":
            family = MultivariateGaussian("shared", least=self.tol, ddof=self.ddof)
        else:
            family = MultivariateGaussian(
                "shared",
                shrinkage=float(self.shrinkage) if isinstance(self.shrinkage, Real) else 0.0,
                least=0.0 if self.solver == "lsqr" or asks else None,
                shares=None if shares is None else tuple(shares),
                ddof=self.ddof,
            )
        return LinearRule(
            family,
            prior or ClassPrior(),
            self.solver,
            self.tol,
            self.n_components,
            bool(self.store_covariance),
            asks,
        )

    def _shares(self, labels: Labels) -> Floats:
        """Class probabilities that were given, with a sum of one."""
        p = np.asarray(in_order(self.priors, labels.classes, "priors"), np.float64)
        if (p < 0).any():
            raise ValueError("priors must be non-negative")
        if p.shape != (len(labels),):
            raise ValueError(
                f"Number of priors must match number of classes: got {p.size} for {len(labels)}."
            )
        if abs(p.sum() - 1.0) > 1e-5:
            warnings.warn("The priors do not sum to 1. Renormalizing", UserWarning, stacklevel=2)
        return np.asarray(p / p.sum())

    def _rule_of_rows(self, reader: Any, labels: Labels, rows: Rows) -> Rule:
        rule = self.rule(reader, labels)
        if not rule.needs_rows:
            return rule
        table, codes = complete_rows(rows, reader)
        within = class_covariances(table, codes, len(labels), self.covariance_estimator)
        return replace(rule, given=(within, covariance_of(table, self.covariance_estimator)))

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
        fitted = self.settled()
        if self.solver == "lsqr":
            raise NotImplementedError(
                "transform not implemented for 'lsqr' solver (use 'svd' or 'eigen')."
            )
        features = fitted.reader.read(X)
        fitted.reader.check(features)
        origin = self.xbar_ if self.solver == "svd" else 0.0
        moved: Floats = (np.asarray(features) - origin) @ self.scalings_
        return moved[:, : self._n_features_out]

    def decision_function(self, X: Any) -> Floats:
        """X @ coef_.T + intercept_: log p(k | x) up to a term of x; of two classes the log-odds."""
        scores = super().decision_function(X)
        linear = np.asarray(self.fitted_.reader.read(X)) @ self.coef_.T + self.intercept_
        linear = linear[:, 0] if scores.ndim == 1 else linear
        return np.where(np.isnan(linear), scores, linear)


@dataclass(frozen=True, slots=True, eq=False)
class LinearAxes:
    """Coefficients of log p(k | x), and the directions that separate the classes most."""

    means: Floats
    coef: Floats
    intercept: Floats
    n_components: int
    covariance: Floats | None = None
    scalings: Floats | None = None
    xbar: Floats | None = None
    explained: Floats | None = None

    def as_float32(self) -> LinearAxes:
        """In the precision of the rows."""
        single = [
            None if v is None else v.astype(np.float32)
            for v in (self.means, self.coef, self.intercept, self.scalings, self.xbar)
        ]
        means, coef, intercept, scalings, xbar = cast(list[Any], single)
        return replace(
            self, means=means, coef=coef, intercept=intercept, scalings=scalings, xbar=xbar
        )


@dataclass(frozen=True, slots=True, eq=False)
class LinearRule(DiscriminantRule):
    """One covariance for all classes, and what the solver's rule makes of it."""

    solver: str
    tol: float
    n_components: int | None
    store_covariance: bool
    needs_rows: bool  # whether covariances come from the rows themselves,
    given: tuple[Floats, Floats] | None = None  # which are these, by class and of all rows

    def estimate(self, statistics: JointStatistics[Any]) -> Joint[Any, Any]:
        if self.needs_rows and self.given is None:
            refuse_sums()
        if len(statistics.weight.rounded()) > 1 and is_one_row(statistics).all():
            raise DegenerateError("The number of samples must be more than the number of classes.")
        joint = DiscriminantRule.estimate(self, statistics)
        parameters = joint.parameters
        if self.given is not None:
            shared = np.einsum("k,kij->ij", np.exp(joint.log_prior), self.given[0])[None]
            parameters = with_covariance(parameters, shared, 0.0 if self.solver == "lsqr" else None)
        white = parameters.whitening[0].matrix
        if self.solver == "lsqr" and white.shape[1] < len(white):
            pseudo = Whitening.pseudo(parameters.covariance[0])
            parameters = replace(parameters, whitening=(pseudo,))
        return Joint(joint.family, joint.log_prior, parameters)

    def derive(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> LinearAxes:
        parameters, priors = joint.parameters, np.exp(joint.log_prior)
        n_components = self._components(*parameters.mean.shape)
        if self.solver == "svd":
            n_rows = statistics.weight.rounded().sum()
            axes = svd_axes(parameters, priors, n_rows, self.tol, n_components)
            if self.store_covariance:
                axes = replace(axes, covariance=self._stored(parameters, priors))
        else:
            axes = self._solved(parameters, priors, n_components)
        if axes.explained is not None:
            axes = replace(axes, explained=axes.explained[:n_components])
        if len(priors) == 2:
            coef, intercept = np.diff(axes.coef, axis=0), np.diff(axes.intercept)
            axes = replace(axes, coef=coef, intercept=intercept)
        return axes

    def _stored(self, parameters: MultivariateGaussianParameters, priors: Floats) -> Floats:
        """By class probabilities, as scikit-learn shows it; with ddof, the model's own."""
        assert parameters.scatter is not None and isinstance(self.family, MultivariateGaussian)
        if self.family.ddof:
            return parameters.covariance[0]
        return parameters.scatter.covariance("shared", tuple(priors))[0]

    def _components(self, n_classes: int, n_features: int) -> int:
        most = min(n_classes - 1, n_features)
        if self.n_components is not None and self.n_components > most:
            raise ValueError("n_components cannot be larger than min(n_features, n_classes - 1).")
        return most if self.n_components is None else self.n_components

    def _solved(
        self, parameters: MultivariateGaussianParameters, priors: Floats, n_components: int
    ) -> LinearAxes:
        """Coefficients from the covariance itself, and for "eigen" the axes of `transform`."""
        mean, within = parameters.mean, parameters.covariance[0]
        scalings: Array | None = None
        explained: Array | None = None
        if self.solver == "eigen":
            values, vectors = linalg.eigh(self._between(parameters), within)
            order = np.argsort(values)[::-1]
            with np.errstate(divide="ignore", invalid="ignore"):  # one class has nothing apart
                explained = (values / values.sum())[order]
            scalings = vectors[:, order]
            coef = mean @ scalings @ scalings.T
        else:
            coef = linalg.lstsq(within, mean.T)[0].T
        with np.errstate(divide="ignore"):
            intercept = -0.5 * np.einsum("kd,kd->k", mean, coef) + np.log(priors)
        return LinearAxes(mean, coef, intercept, n_components, within, scalings, None, explained)

    def _between(self, parameters: MultivariateGaussianParameters) -> Floats:
        """The covariance of all rows together without that within classes; both by n."""
        if self.given is not None:
            return self.given[1] - parameters.covariance[0]
        scatter, family = parameters.scatter, self.family
        assert scatter is not None and isinstance(family, MultivariateGaussian)
        total = shrunken(scatter.pooled().covariance("own"), family.shrinkage)
        within = shrunken(scatter.covariance("shared", family.shares), family.shrinkage)
        return np.asarray(total[0] - within[0])


def svd_axes(
    parameters: MultivariateGaussianParameters,
    priors: Floats,
    n_rows: float,
    tol: float,
    n_components: int,
) -> LinearAxes:
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
    return LinearAxes(mean, coef, intercept, n_components, None, scalings, center, ratio)
