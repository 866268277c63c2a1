"""Mixtures of normal distributions, with scikit-learn's names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from posterior.data.rows import Features
from posterior.data.table import Table
from posterior.data.typing import Floats
from posterior.estimators.estimator import learned
from posterior.estimators.mixture import some_columns
from posterior.estimators.mixture.base import MixtureBase, shares
from posterior.estimators.stated_classes import (
    StatedClasses,
    named_columns,
    numbers,
    stated_normals,
)
from posterior.generative import normal_mixture as normal
from posterior.generative.em import Hidden
from posterior.generative.fitted import Fitted
from posterior.generative.hidden_groups import HiddenGroups, MixtureRule, PseudoShares
from posterior.generative.joint import Joint
from posterior.generative.known_components import known_parts
from posterior.generative.select_components import CRITERIA, crossed
from posterior.generative.start import STARTS
from posterior.readers.labels import Labels
from posterior.readers.numeric import Numeric
from posterior.readers.reader import Reader
from posterior.statistics.moments import floats


class GaussianMixture(MixtureBase):
    """Rows of several hidden groups, each normal: p(x) = Σ_k π_k N(x; μ_k, Σ_k), by EM.

    scikit-learn's class of this name, with weights and missing cells: these are integrated out,
    and met by EM (Ghahramani and Jordan 1994).

    Parameters
    ----------
    n_components : int, {"bic", "icl", "held_out"}, or numbers to choose from, default=1
        How many groups. A name chooses among 1 to 9 by it; numbers are compared by `criterion`.
    covariance_type : {"full", "tied", "diag", "spherical"}, a form of mclust, several of them, \
or "all", default="full"
        Each component's own covariance, one for all, columns independent, or all columns alike.
        mclust's letters say of volume, shape and orientation whether they are equal (E) in all
        components, vary (V), or are those of a sphere (I): "EII", "VII", "EEI", "VEI", "EVI",
        "VVI", "EEE", "VEE", "EVE", "VVE", "EEV", "VEV", "EVV", "VVV", of which VVV is "full", EEE
        "tied", VVI "diag" and VII "spherical". Set `reg_covar=0` for the figures of R. Several are
        compared by `criterion`, from the same starts; "all" are mclust's fourteen.
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
        How numbers of components and types of covariance are compared.
    accelerate : bool, default=False
        Extrapolate the steps of EM (SQUAREM); the likelihood still never falls.
    known : mapping, optional
        What is known beforehand and stays as it is: "weights", "means" and "covariances", in the
        shapes of `weights_`, `means_` and `covariances_`, or what broadcasts to them, with NaN for
        a component of which the data shall say it. `known={"weights": [0.5, 0.5]}` has equal
        shares, `known={"means": [[0.0], [np.nan]]}` the mean of the first component.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
    means_ : array of shape (n_components, n_features)
    covariances_, precisions_, precisions_cholesky_ : arrays
        Of shape (k, d, d) if full or of a form of mclust that has no other name, (d, d) if tied,
        (k, d) if diag, (k,) if spherical.
    converged_, n_iter_, lower_bound_, lower_bounds_ : of the best start
    starts_ : table of all starts, also of those that collapsed
    covariance_type_ : str, as asked for or chosen
    selection_ : table of all numbers of components and types of covariance, if there was a choice

    Examples
    --------
    >>> from posterior import GaussianMixture
    >>> X = [[1.0], [1.2], [0.8], [5.0], [5.4], [4.6]]
    >>> model = GaussianMixture(2, random_state=0).fit(X)
    >>> sorted(model.means_.ravel().round(6).tolist())
    [1.0, 5.0]
    >>> model = GaussianMixture(2, covariance_type="EII", random_state=0).fit(X)
    >>> model.covariances_.ravel().round(4).tolist()  # one variance for both
    [0.0667, 0.0667]

    EM as lectures state it: equal shares, one known variance, and means to be found.

    >>> known = {"weights": [0.5, 0.5], "covariances": 0.1}
    >>> model = GaussianMixture(2, covariance_type="spherical", means_init=[[1], [2]], known=known)
    >>> model.fit(X).means_.round(3).ravel().tolist(), model.n_parameters_
    ([1.0, 5.0], 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            StrOptions(set(CRITERIA)),
            "array-like",
            range,
        ],
        "covariance_type": [StrOptions({*normal.TYPES, "all"}), "array-like"],
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
        "known": [Mapping, None],
    }

    def __init__(
        self,
        n_components: Any = 1,
        *,
        covariance_type: Any = "full",
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
        known: Mapping[str, Any] | None = None,
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
        self.known = known

    @classmethod
    def of(
        cls,
        weights: Any,
        means: Any,
        covariances: Any,
        covariance_type: str = "full",
        names: Any = None,
    ) -> Self:
        """The mixture of stated components, which saw no rows.

        Parameters
        ----------
        weights : array of shape (n_components,)
            Shares of the components; one of zero is never answered.
        means : array of shape (n_components, n_features), or (n_components,) of one column
        covariances : array of the shape that `covariance_type` has; of one column, variances
        covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        names : sequence of str, optional
            Of the columns.

        Examples
        --------
        >>> from posterior import GaussianMixture
        >>> model = GaussianMixture.of([0.7, 0.3], [16, 30], [9, 16])
        >>> model.predict([[15.0], [29.0]])
        array([0, 1])
        """
        stated = StatedClasses.of(numbers(weights, "weights"))
        mean = stated.table(means, "means")
        model = cls(len(mean), covariance_type=covariance_type)
        parameters = stated_normals(covariance_type, mean, numbers(covariances, "covariances"))
        unnamed = model.reader()
        reader = unnamed.of(named_columns(unnamed.columns, mean.shape[1], names))
        labels, rule = Labels(stated.classes), model.rule(reader)
        fitted = Fitted.stated(reader, labels, rule, stated.shares, parameters)
        model.fitted_ = replace(fitted, derived=None)
        return model

    means_ = learned[Floats](
        lambda fitted: fitted.model.parameters.mean,
        lambda fitted, means: fitted.with_parameters(mean=np.asarray(means, np.float64)),
    )
    covariances_ = learned[Floats](
        lambda fitted: normal.covariances(fitted.model),
        lambda fitted, given: _with_roots(
            fitted, normal.roots_of(given, normal.covariance_type(fitted.model.family))
        ),
    )
    precisions_ = learned[Floats](
        lambda fitted: normal.precisions(fitted.model),
        lambda fitted, given: _with_roots(fitted, _checked_roots(fitted, given)),
    )
    precisions_cholesky_ = learned[Floats](
        lambda fitted: normal.roots(fitted.model),
        lambda fitted, given: _with_roots(fitted, given),
    )

    def reader(self) -> Numeric:
        return Numeric(self._columns(), sparse=False)

    @property
    def covariance_type_(self) -> str:
        """The type of covariance: as asked, or as chosen in `fit`."""
        return normal.type_of(self.settled().rule.family, normal.types_of(self.covariance_type))

    def selection_table(self, criterion: str = "bic") -> Table:
        """A criterion of `selection_` by number of components and type of covariance, the best
        marked by a star: the table of mclust, whose BIC has the other sign."""
        return crossed(self.settled().derived and self.settled().derived.selection, criterion)

    def rule(self, reader: Reader) -> MixtureRule:
        types = normal.types_of(self.covariance_type)
        if len(types) > 1 and "fitted_" not in vars(self):
            raise ValueError(
                f"Expected one covariance_type where none was chosen yet, got {types}. Call fit()."
            )
        return self._rule(types[0] if len(types) == 1 else self.covariance_type_, reader)

    def _forms(self, reader: Reader) -> dict[str, MixtureRule]:
        return {name: self._rule(name, reader) for name in normal.types_of(self.covariance_type)}

    def _rule(self, covariance_type: str, reader: Reader) -> MixtureRule:
        remedy = "reg_covar" if self.prior_rows is None else "prior_rows"
        family = normal.family_of(covariance_type, self.prior_rows, self.reg_covar)
        shares, parts = known_parts(self.known, family, self.n_components, reader.columns.n)
        prior = PseudoShares(self.prior_rows or 0.0, known=shares)
        return MixtureRule(family, prior, remedy, parts)

    def _points(self, X: Features) -> Any:
        return np.ascontiguousarray(floats(np.asarray(X)))

    def _first(
        self, table: HiddenGroups, k: int, hidden: Hidden[Any, Any], random: np.random.RandomState
    ) -> Joint[Any, Any]:
        d, kind = table.reader.columns.n, normal.covariance_type(table.rule.family)
        weights = normal.checked_weights(self.weights_init, k)
        means = normal.checked_means(self.means_init, k, d)
        roots = normal.checked_precisions(self.precisions_init, kind, k, d)
        known = table.rule.known
        if weights is None or means is None or roots is None:
            if known is not None:  # which would move the first guess before it is put in order
                table = replace(table, rule=replace(table.rule, known=None))
                hidden = table.among(k)
            joint = super()._first(table, k, hidden, random)
            if known is not None and means is None:
                joint = normal.in_order(joint, known.places(joint))
            weights = np.exp(joint.log_prior) if weights is None else weights
            means = joint.parameters.mean if means is None else means
            roots = normal.roots(joint) if roots is None else roots
        joint = normal.joint_of(table.rule.family, table.rule.prior.given(weights), means, roots)
        return joint if known is None else known.placed(joint)

    def state(self, name: str, value: Any) -> None:
        """Note an attribute that is set by hand; all together make a model that saw no rows."""
        values = {**vars(self).get("_by_hand", {}), name: value}
        if not {"weights_", "means_", "precisions_cholesky_"} <= set(values):
            self.__dict__["_by_hand"] = values
            return
        weights, means = values["weights_"], np.asarray(values["means_"], np.float64)
        reader = self.reader().of(replace(self._columns(), n=means.shape[1]))
        rule = self.rule(reader)
        joint = normal.joint_of(rule.family, weights, means, values["precisions_cholesky_"])
        self.__dict__.pop("_by_hand", None)
        self.fitted_ = Fitted(reader, Labels(np.arange(len(means))), rule, None, joint)

    # ---- parts of the mixture ----

    marginal = some_columns.marginal
    conditional = some_columns.conditional
    impute = some_columns.impute


def _checked_roots(fitted: Fitted, given: Any) -> Any:
    """Roots of precisions that are set by hand."""
    k, d = fitted.model.parameters.mean.shape
    kind = normal.covariance_type(fitted.model.family)
    return normal.checked_precisions(given, kind, k, d)


def _with_roots(fitted: Fitted, roots: Any) -> Fitted:
    """The same with precisions A Aᵀ."""
    joint = fitted.model
    stated = normal.joint_of(joint.family, shares(joint), joint.parameters.mean, roots)
    return replace(fitted, joint=replace(stated, log_prior=joint.log_prior))
