"""Mixtures of normal distributions, with scikit-learn's names."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from posterior.data.errors import DegenerateError
from posterior.data.names import quoted
from posterior.data.rows import Features, Rows
from posterior.data.typing import Floats
from posterior.estimators.mixture.conditional import Conditioning
from posterior.estimators.mixture.given_parameters import (
    checked_means,
    checked_precisions,
    checked_weights,
)
from posterior.estimators.mixture.select_components import CRITERIA
from posterior.estimators.numeric import NumericInput
from posterior.families import Gaussian, MultivariateGaussian, PseudoRows
from posterior.families.covariance import Kind, Whitening
from posterior.families.gaussian import GaussianParameters
from posterior.families.normal_density import MultivariateGaussianParameters
from posterior.families.priors import AddedVariance
from posterior.generative.em import Hidden
from posterior.generative.joint import Joint, JointStatistics
from posterior.generative.start import STARTS
from posterior.statistics.moments import floats

TOGETHER: dict[str, Kind] = {"full": "own", "tied": "shared"}  # the others take columns one by one


class GaussianMixture(NumericInput, Conditioning):
    """Rows of several hidden groups, each normal: p(x) = Σ_k π_k N(x; μ_k, Σ_k), by EM.

    scikit-learn's class of this name, with weights and missing cells: these are integrated out,
    and met by EM (Ghahramani and Jordan 1994).

    Parameters
    ----------
    n_components : int, {"bic", "icl", "held_out"}, or numbers to choose from, default=1
        How many groups. A name chooses among 1 to 9 by it; numbers are compared by `criterion`.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        Each component's own covariance, one for all, columns independent, or all columns alike.
    tol : float, default=1e-3
        EM stops when a step raises the log likelihood of an average row by less.
    reg_covar : float, default=1e-6
        Added to every variance. `prior_rows` is the better rule: it knows the scale of a column.
    max_iter : int, default=100
    n_init : int, default=1
        Starts, of which the best is kept; see `starts_`.
    init_params : {"kmeans", "k-means++", "random_from_data", "random"} or array, default="kmeans"
        First guess: k-means clusters, the nearest of rows drawn far from each other, the nearest
        of any rows, random shares, or the shares (n_samples, n_components) themselves.
    weights_init, means_init, precisions_init : arrays, optional
        Parts of the first guess.
    random_state : int, RandomState or None
    warm_start : bool, default=False
        Go on where the last fit ended.
    verbose, verbose_interval : int
        Print every so many steps. Without it, a long fit at a terminal shows one line.
    prior_rows : float, optional
        Rows with the mean and covariance of everyone that each component is given beforehand,
        the normal-inverse-Wishart prior: no component collapses. Replaces `reg_covar`.
    criterion : {"bic", "icl", "held_out"}, default="bic"
        How numbers of components are compared.
    accelerate : bool, default=False
        Extrapolate the steps of EM (SQUAREM); the likelihood still never falls.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
    means_ : array of shape (n_components, n_features)
    covariances_, precisions_, precisions_cholesky_ : arrays
        Of shape (k, d, d) if full, (d, d) if tied, (k, d) if diag, (k,) if spherical.
    converged_, n_iter_, lower_bound_, lower_bounds_ : of the best start
    starts_ : table of all starts, also of those that collapsed
    selection_ : table of all numbers of components, if there was a choice

    Examples
    --------
    >>> from posterior import GaussianMixture
    >>> X = [[1.0], [1.2], [0.8], [5.0], [5.4], [4.6]]
    >>> model = GaussianMixture(2, random_state=0).fit(X)
    >>> sorted(model.means_.ravel().round(6).tolist())
    [1.0, 5.0]
    """

    accepts_sparse = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            StrOptions(set(CRITERIA)),
            "array-like",
            range,
        ],
        "covariance_type": [StrOptions({"full", "tied", "diag", "spherical"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "reg_covar": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "init_params": [StrOptions(set(STARTS)), "array-like"],
        "weights_init": ["array-like", None],
        "means_init": ["array-like", None],
        "precisions_init": ["array-like", None],
        "random_state": ["random_state"],
        "warm_start": ["boolean"],
        "verbose": ["verbose"],
        "verbose_interval": [Interval(Integral, 1, None, closed="left")],
        "prior_rows": [Interval(Real, 0, None, closed="left"), None],
        "criterion": [StrOptions(set(CRITERIA))],
        "accelerate": ["boolean"],
    }
    covariances_: Floats
    precisions_: Floats
    precisions_cholesky_: Floats

    def __init__(
        self,
        n_components: Any = 1,
        *,
        covariance_type: str = "full",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: Any = "kmeans",
        weights_init: Any = None,
        means_init: Any = None,
        precisions_init: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
        prior_rows: float | None = None,
        criterion: str = "bic",
        accelerate: bool = False,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval
        self.prior_rows = prior_rows
        self.criterion = criterion
        self.accelerate = accelerate

    def _family(self) -> MultivariateGaussian | Gaussian:
        rows = self.prior_rows or 0.0
        added = self.reg_covar if self.prior_rows is None else 0.0
        if self.covariance_type in TOGETHER:
            kind = TOGETHER[self.covariance_type]
            return MultivariateGaussian(kind, pseudo_rows=rows, added=added)
        prior = AddedVariance(added) if self.prior_rows is None else PseudoRows(rows)
        return Gaussian(prior, alike=self.covariance_type == "spherical")

    def _points(self, X: Features) -> Any:
        return np.ascontiguousarray(floats(np.asarray(X)))

    def _remedy(self) -> str:
        return "reg_covar" if self.prior_rows is None else "prior_rows"

    def _first(
        self, rows: Rows, k: int, hidden: Hidden[Any, Any], random: np.random.RandomState
    ) -> Joint[Any, Any]:
        d, kind = self.n_features_in_, self.covariance_type
        weights = checked_weights(self.weights_init, k)
        means = checked_means(self.means_init, k, d)
        roots = checked_precisions(self.precisions_init, kind, k, d)
        if weights is None or means is None or roots is None:
            joint = super()._first(rows, k, hidden, random)
            weights = np.exp(joint.log_prior) if weights is None else weights
            means = joint.parameters.mean if means is None else means
            roots = self._described(joint)["precisions_cholesky_"] if roots is None else roots
        return self._joint_of(weights, means, roots)

    def _learned(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> dict[str, Any]:
        return self._described(joint)

    def _described(self, joint: Joint[Any, Any]) -> dict[str, Any]:
        p = joint.parameters
        if self.covariance_type in TOGETHER:
            roots = np.stack([w.matrix for w in p.whitening])
            covariances, precisions = p.covariance, roots @ roots.swapaxes(1, 2)
            if self.covariance_type == "tied":
                covariances, precisions, roots = covariances[0], precisions[0], roots[0]
        else:
            covariances = (
                p.variance.min(axis=1) if self.covariance_type == "spherical" else p.variance
            )
            precisions, roots = 1 / covariances, 1 / np.sqrt(covariances)
        return {
            "means_": p.mean,
            "covariances_": covariances,
            "precisions_": precisions,
            "precisions_cholesky_": roots,
        }

    def _full_covariances(self) -> Floats:
        k, d = self.means_.shape
        if self.covariance_type in TOGETHER:
            return np.broadcast_to(self.covariances_, (k, d, d))
        variance = np.broadcast_to(self.covariances_.reshape(k, -1), (k, d))
        constant = np.isinf(variance).any(axis=0)
        if constant.any():
            name = quoted(self._feature_names()[constant][0])
            raise DegenerateError(f"Expected columns that vary, but {name} never does. Drop it.")
        return np.asarray(variance[:, :, None] * np.eye(d))

    def _joint(self) -> Joint[Any, Any]:
        return self._joint_of(self.weights_, self.means_, self.precisions_cholesky_)

    def _joint_of(self, weights: Floats, means: Floats, roots: Floats) -> Joint[Any, Any]:
        """The model of given weights, means and roots of precisions: A Aᵀ = Σ⁻¹."""
        mean = np.asarray(means, np.float64)
        with np.errstate(divide="ignore"):  # a share of nothing, a column that never varies
            log_prior = np.log(np.asarray(weights, np.float64))
            variance = 1 / np.asarray(roots, np.float64) ** 2
        if self.covariance_type not in TOGETHER:
            variance = np.broadcast_to(variance.reshape(len(mean), -1), mean.shape)
            return Joint(self._family(), log_prior, GaussianParameters(mean, variance))
        matrices = np.asarray(roots, np.float64).reshape(-1, *mean.shape[1:] * 2)
        whitening = tuple(
            Whitening(A, -2 * float(np.log(np.abs(A.diagonal())).sum())) for A in matrices
        )
        inverse = np.linalg.inv(matrices)
        covariance = inverse.swapaxes(1, 2) @ inverse
        parameters = MultivariateGaussianParameters(mean, covariance, whitening)
        return Joint(self._family(), log_prior, parameters)
