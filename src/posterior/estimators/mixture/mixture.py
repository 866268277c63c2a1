"""Mixtures of any families: clusters of any table, and its density."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from posterior.data.rows import Soft
from posterior.data.table import Table
from posterior.estimators.estimator import learned
from posterior.estimators.mixture.base import MixtureBase
from posterior.generative import normal_mixture as normal
from posterior.generative.em import Hidden
from posterior.generative.hidden_groups import HiddenGroups, MixtureRule, PseudoShares
from posterior.generative.joint import Joint
from posterior.generative.select_components import CRITERIA
from posterior.generative.start import STARTS
from posterior.readers.mixed import FamilyRules, MixedColumns
from posterior.readers.reader import Reader


class Mixture(MixtureBase):
    """Rows of several hidden groups, on any array or frame, learned by EM.

    p(x) = Σ_k π_k ∏ⱼ p(xⱼ | θ_kj)

    Numbers are Gaussian; strings, categories and booleans are categorical, independent given the
    group: naive Bayes with the labels hidden. Missing cells are left out, which is exact. Pass
    `MultivariateGaussian()` for columns that depend on each other inside a group.

    Parameters
    ----------
    families : family, or mapping of columns to families, optional
        For all columns, or for some by name (by position in an array): a family such as
        `Poisson()`, its name such as "categorical", or None to leave the column out. A variance
        known beforehand is a setting of the family: `Gaussian(variance=4.0)`.
    n_components : int, {"bic", "icl", "held_out"}, or numbers to choose from, default=2
        How many groups. A name chooses among 1 to 9 by it; numbers are compared by `criterion`.
    criterion : {"bic", "icl", "held_out"}, default="bic"
        How numbers of components are compared: BIC, ICL (BIC with a price for undecided rows), or
        the likelihood of rows held out.
    prior_rows : float, default=1.0
        Pseudo-rows of everyone that each component is given, so that none collapses.
    tol : float, default=1e-6
        EM stops when a step raises the objective of an average row by less.
    max_iter : int, default=500
    n_init : int, default=5
        Starts, of which the best is kept; see `starts_`.
    init_params : {"kmeans", "k-means++", "random_from_data", "random"} or array, \
default="k-means++"
        First guess: k-means clusters, the nearest of rows drawn far from each other, the nearest
        of any rows, random shares, or the shares (n_samples, n_components) themselves. Distances
        count columns in units of their deviation.
    means_init : array of shape (n_components, n_features), optional
        First means of components that are normal, in the place of `init_params`; their spread is
        that of everyone, unless it is known. There is one start.
    shares : {"learned", "equal"}, default="learned"
        Whether the data say how large the components are, or all are known to be equal.
    accelerate : bool, default=False
        Extrapolate the steps of EM (SQUAREM); the objective still never falls.
    warm_start : bool, default=False
        Go on where the last fit ended.
    random_state : int, RandomState or None
    verbose, verbose_interval : int
        Print every so many steps. Without it, a long fit at a terminal shows one line.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
    joint_ : the fitted model
    n_components_, n_parameters_ : int
    lower_bounds_ : list of float
        The objective before each step: log likelihood and log prior of an average row.
    converged_, n_iter_, lower_bound_ : of the best start
    starts_ : table of all starts, also of those that collapsed
    selection_ : table of all numbers of components, if there was a choice
    columns_ : table of the columns and their families
    plan_ : how rows are read: columns, kinds and families, learned once

    Examples
    --------
    >>> import pandas as pd
    >>> from posterior import Mixture
    >>> table = pd.DataFrame({"size": [1, 2, None, 9, 8], "kind": ["a", "a", "a", "b", None]})
    >>> model = Mixture(n_components=2, random_state=0).fit(table)
    >>> sorted(model.predict_proba(table).argmax(axis=1).tolist().count(k) for k in (0, 1))
    [2, 3]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "families": [None, str, Mapping, object],
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            StrOptions(set(CRITERIA)),
            "array-like",
            range,
        ],
        "criterion": [StrOptions(set(CRITERIA))],
        "prior_rows": [Interval(Real, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "init_params": [StrOptions(set(STARTS)), "array-like"],
        "means_init": ["array-like", None],
        "shares": [StrOptions({"learned", "equal"})],
        "accelerate": ["boolean"],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "verbose_interval": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        families: Any = None,
        n_components: Any = 2,
        *,
        criterion: str = "bic",
        prior_rows: float = 1.0,
        tol: float = 1e-6,
        max_iter: int = 500,
        n_init: int = 5,
        init_params: Any = "k-means++",
        means_init: Any = None,
        shares: str = "learned",
        accelerate: bool = False,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
        verbose_interval: int = 10,
    ) -> None:
        self.families = families
        self.n_components = n_components
        self.criterion = criterion
        self.prior_rows = prior_rows
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.means_init = means_init
        self.shares = shares
        self.accelerate = accelerate
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose
        self.verbose_interval = verbose_interval

    joint_ = learned[Joint[Any, Any]](lambda fitted: fitted.model)
    plan_ = learned[MixedColumns](lambda fitted: fitted.reader)

    @property
    def columns_(self) -> Table:
        """What each column was read as."""
        fitted = self.settled()
        return self.plan_.found(self.statistics_.features, fitted.model.parameters)

    def _rules(self) -> FamilyRules:
        """Which families the parameters ask for."""
        asked = dict(self.families) if isinstance(self.families, Mapping) else self.families
        return FamilyRules(asked, self.prior_rows)

    def reader(self) -> MixedColumns:
        return MixedColumns(self._columns(), self._rules())

    def _current(self, reader: MixedColumns) -> MixedColumns:
        return reader.under(self._rules())

    def rule(self, reader: Reader) -> MixtureRule:
        assert isinstance(reader, MixedColumns)
        return MixtureRule(reader.family(), PseudoShares(self.prior_rows, self.shares == "equal"))

    def _n_starts(self) -> int:
        return self.n_init if self.means_init is None else 1

    def _first(
        self, table: HiddenGroups, k: int, hidden: Hidden[Any, Any], random: np.random.RandomState
    ) -> Joint[Any, Any]:
        if self.means_init is None:
            return super()._first(table, k, hidden, random)
        rows = table.rows.sample
        weight = np.ones(len(rows)) if rows.hard.weight is None else rows.hard.weight
        alike = table.first(hidden, Soft(np.repeat(weight[:, None] / k, k, axis=1)))
        return normal.with_means(alike, self.means_init)
