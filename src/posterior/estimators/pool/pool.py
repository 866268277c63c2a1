"""Pool: several classifiers as one, weighed on rows that they have not learned from."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import Tags, get_tags
from sklearn.utils._param_validation import Interval
from sklearn.utils.metaestimators import available_if

from posterior import kernels
from posterior.data import validate
from posterior.data.one_row import OneRow
from posterior.data.table import Table
from posterior.data.table_columns import Columns
from posterior.data.typing import Array, Codes, Floats
from posterior.discriminative.pooling import SHRINKAGE, weighed
from posterior.estimators.base_classifier import BaseClassifier, one_row_of
from posterior.estimators.estimator import check_fitted, check_same_kind, learned
from posterior.estimators.pool.dealt_rows import FOLDS, DealtRows, table_of
from posterior.estimators.pool.fitted_pool import FittedPool
from posterior.estimators.pool.members import named
from posterior.estimators.pool.weighing import Trial, pooled
from posterior.estimators.refits import cross_validated, given
from posterior.evaluation.held_out import HeldOut
from posterior.generative.evidence_terms import Evidence


def _all_have(verb: str) -> Any:
    """Available where every member can do it."""

    def have(self: Pool) -> bool:
        return all(hasattr(member, verb) for member in self._every_member())

    return available_if(have)


class Pool(BaseClassifier):
    """Several classifiers as one: the weighted sum of their log probabilities.

        P(k | x) = softmax_k( b_k + Σ_m w_m log p_m(k | x) ),   w ≥ 0

    The weights are those of the least log loss on rows that no member has learned from: five
    folds, of 10,000 rows and more one of them. Where a member is a sum, or tries folds anyway, that
    costs next to nothing; others are fitted again without each fold. The sum of the weights is an
    inverse temperature, and b moves the shares of the classes: the pool is calibrated by them. The
    same rows, in any order, give the same pool.

    Evidence adds up: that of a column is the weighted sum of what it is in each member. Members
    that have none, such as neighbors or a forest, are one term of their own.

    Parameters
    ----------
    members : list of classifiers or of (name, classifier), or dict of them
        Of ours, or any of scikit-learn that says probabilities; by default naive Bayes and logistic
        regression. With one of scikit-learn's there is no merging, no forgetting and no SQL.
    folds : int, default=5
        By which members are weighed.
    shrinkage : float, default=20.0
        λ, how strongly weights are drawn to those that members deserve by what each loses alone;
        as many rows weigh as much.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    members_ : dict of fitted classifiers, those of no weight left out
    weights_ : dict of float
        What log p of each member is multiplied by.
    intercept_ : array of shape (n_classes,)
    comparison_ : Table
        Weights, and log loss on the rows held out, of each member and of the pool, whose rows are
        weighed by what others say.

    Examples
    --------
    >>> from posterior import GaussianNB, KNeighborsClassifier, LogisticRegression, Pool
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> pool = Pool([GaussianNB(), LogisticRegression(), KNeighborsClassifier("auto")]).fit(X, y)
    >>> sorted(pool.members_)
    ['GaussianNB', 'KNeighborsClassifier', 'LogisticRegression']
    >>> pool.predict(X[:1]).tolist()
    [0]
    """

    fitted_: FittedPool
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "members": [list, tuple, dict, None],
        "folds": [Interval(Integral, 2, None, closed="left")],
        "shrinkage": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self, members: Any = None, *, folds: int = FOLDS, shrinkage: float = SHRINKAGE
    ) -> None:
        self.members = members
        self.folds = folds
        self.shrinkage = shrinkage

    classes_ = learned[Array](lambda fitted: fitted.classes)
    intercept_ = learned[Floats](lambda fitted: fitted.pool.intercept)
    comparison_ = learned[Table](lambda fitted: fitted.losses)
    held_out_ = learned[HeldOut](lambda fitted: fitted.held_out)
    n_features_in_ = learned[int](lambda fitted: fitted.columns.n or None)
    feature_names_in_ = learned[Array](lambda fitted: fitted.columns.given)

    @property
    def members_(self) -> dict[str, Any]:
        """The members that count, by name."""
        check_fitted(self)
        return {name: member for name, member, _ in self.fitted_.weighed}

    @property
    def weights_(self) -> dict[str, float]:
        """What they count for."""
        check_fitted(self)
        return {name: weight for name, _, weight in self.fitted_.weighed}

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn every member from all rows, and weigh them on rows held out.

        Parameters
        ----------
        X : whatever the members read
        y : array of shape (n_samples,), or the name of a column of X
        sample_weight : array of shape (n_samples,), optional
        """
        self._validate_params()
        members = named(self.members)
        X, n, y = self._labeled(X, y)
        classes, codes = validate.labels(y, n)
        weight = validate.weights(sample_weight, n)
        columns = _columns(X)
        rows = DealtRows.of(X, codes, classes, weight, self.folds)
        trials = [Trial.of(name, member, rows) for name, member in members.items()]
        self.fitted_ = pooled(trials, rows, columns, self.shrinkage)
        return self

    def reweigh(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Weigh the members again, by rows that they have not learned from."""
        check_fitted(self)
        X, n, y = self._labeled(X, y)
        fitted = self.fitted_
        codes, new = validate.codes_of(y, fitted.classes, n)
        if len(new):
            raise ValueError(f"Expected classes that the members know, got {new.tolist()}.")
        rows = DealtRows.of(X, codes, fitted.classes, validate.weights(sample_weight, n))
        given = self._given(rows.X)
        said = np.stack([fitted.said(member, given) for member in fitted.members])
        own: Codes = np.searchsorted(fitted.classes, rows.labels).astype(np.int32)
        pool = weighed(said, own, rows.weight, self.shrinkage)
        self.fitted_ = replace(fitted, pool=pool)
        return self

    @_all_have("partial_fit")
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Give rows to every member; weights stay until `reweigh`. The first rows are a `fit`."""
        if "fitted_" not in vars(self):
            return self.fit(X, y, sample_weight)
        X, _, y = self._labeled(X, y)
        X = self._given(X)
        options = given(sample_weight)
        if classes is not None:
            options["classes"] = classes
        self.fitted_ = self.fitted_.changed(lambda model, _: model.partial_fit(X, y, **options))
        return self

    @_all_have("forget")
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows back from every member; weights stay until `reweigh`."""
        check_fitted(self)
        X, _, y = self._labeled(X, y)
        X = self._given(X)
        options = given(sample_weight)
        self.fitted_ = self.fitted_.changed(lambda model, _: model.forget(X, y, **options))
        return self

    @_all_have("merge")
    def merge(self, other: Self) -> Self:
        """Add what the members of another pool have learned from other rows; weights stay."""
        check_fitted(self)
        check_fitted(other)
        check_same_kind(self, other)
        theirs = dict(zip(other.fitted_.names, other.fitted_.members, strict=True))
        if set(theirs) != set(self.fitted_.names):
            raise ValueError(
                f"Expected a pool of {list(self.fitted_.names)} to merge, got {list(theirs)}."
            )
        self.fitted_.check_read_alike(other.fitted_)
        self.fitted_ = self.fitted_.changed(lambda model, name: model.merge(theirs[name]))
        return self

    def __add__(self, other: Self) -> Self:
        return copy.copy(self).merge(other)

    cross_validate = cross_validated

    # ---- answers ----

    def decision_function(self, X: Any) -> Floats:
        """b + Σ w log p: log odds of the second class (n,), or scores of all (n, n_classes)."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_proba(self, X: Any) -> Floats:
        """p(k | x)."""
        scores = self._scores(X)
        kernels.normalize(scores, "posterior")
        return scores

    def predict_log_proba(self, X: Any) -> Floats:
        """log p(k | x)."""
        scores = self._scores(X)
        kernels.normalize(scores, "log_posterior")
        return scores

    def _scores(self, X: Any) -> Floats:
        check_fitted(self)
        return self.fitted_.scores(self._given(X))

    def one_row(self, record: Mapping[str, Any]) -> Any:
        check_fitted(self)
        rows = [one_row_of(member, record) for member in self.fitted_.members]
        return next((row for row in rows if not isinstance(row, OneRow)), rows[0])

    def _given(self, X: Any) -> Any:
        """What members read of a table, which those that do not count must be able to read, too."""
        idle = len(self.fitted_.weighed) < len(self.fitted_.members)
        if idle and isinstance(X, np.ndarray) and X.dtype.kind == "f":
            may = get_tags(self).input_tags.allow_nan
            validate.check_numbers(X, allow_missing=may, allow_negative=True, estimator="Pool")
        return X

    def _labeled(self, X: Any, y: Any) -> tuple[Any, int, Any]:
        """A table, how many rows it has, and their classes."""
        X, y = self._with_target(X, y)
        return *table_of(X, get_tags(self).input_tags.sparse), y

    def _every_member(self) -> Collection[Any]:
        """Those that have learned, or will."""
        fitted: FittedPool | None = vars(self).get("fitted_")
        return named(self.members).values() if fitted is None else fitted.members

    def evidence(self, X: Any) -> Evidence:
        """The weighted sum of what each column says in each member."""
        check_fitted(self)
        return self.fitted_.evidence(X, self.fitted_.columns.array())

    def _parameter_table(self) -> Table | None:
        return self.comparison_

    def __getstate__(self) -> dict[str, Any]:
        """Without what rows were given."""
        state: dict[str, Any] = super().__getstate__()
        fitted = state.get("fitted_")
        return {**state, "fitted_": fitted.forgetful()} if fitted is not None else state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        every = [get_tags(member).input_tags for member in named(self.members).values()]
        tags.input_tags.sparse = all(each.sparse for each in every)
        tags.input_tags.allow_nan = all(each.allow_nan for each in every)
        tags.input_tags.positive_only = any(each.positive_only for each in every)
        return tags


def _columns(X: Any) -> Columns:
    """Those of a table; documents have none."""
    if isinstance(X, list) and X and isinstance(X[0], str):
        return Columns("Pool")
    return Columns("Pool").of(X)
