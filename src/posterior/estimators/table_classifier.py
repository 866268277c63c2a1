"""A model of a file's table: columns by their roles, any model of them, corrected probabilities."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.metaestimators import available_if

from posterior.data import frames, validate
from posterior.data.one_row import OneRow
from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.estimators.base_classifier import BaseClassifier, one_row_of, with_target
from posterior.estimators.estimator import check_fitted, learned
from posterior.estimators.refits import learned_by
from posterior.estimators.relearning import without
from posterior.estimators.summed_classifier import SummedClassifier
from posterior.evaluation.calibration import CALIBRATORS, Calibrator
from posterior.generative.evidence_terms import Evidence
from posterior.preprocessing.numbers import Numbers
from posterior.preprocessing.roles import ColumnRole, Roles

Reads = Literal["table", "numbers", "documents", "everything"]


def _model_has(name: str) -> Any:
    def has(self: TableClassifier) -> bool:
        fitted: FittedTable | None = vars(self).get("fitted_")
        return hasattr(self.model if fitted is None else fitted.model, name)

    return available_if(has)


@dataclass(frozen=True, slots=True, eq=False)
class FittedTable:
    """A fitted model of columns, and how they became what it reads."""

    model: Any
    numbers: Numbers | None  # how columns became numbers, if they did
    names: tuple[str, ...]  # of the columns that are read
    log_prior: Floats  # of the classes, in all rows that were learned


@dataclass(frozen=True, slots=True, eq=False)
class Readings:
    """A frame that several models read; those that read alike share what they are given."""

    frame: Any
    made: dict[Any, Any] = field(default_factory=dict)

    def of(self, key: Any, make: Callable[[Any], Any]) -> Any:
        """What models of this key are given."""
        if key not in self.made:
            self.made[key] = make(self.frame)
        return self.made[key]


class TableClassifier(BaseClassifier):
    """What `posterior.selection` makes: frames as they come from a file in, posteriors out.

    Columns are found by name, others are ignored, and cells are read as their column's role says.

    Parameters
    ----------
    model : classifier
        What learns from the columns.
    roles : Roles
        What each column is; see `posterior.preprocessing.infer_roles.infer`.
    reads : {"table", "numbers", "documents", "everything"}, default="table"
        What the model is given: columns that are not text, numbers made of them, the text of each
        row, or columns of all kinds.
    keep_missing : bool, default=False
        Give missing numbers to the model as NaN, rather than the mean and a mark.
    calibrator : one of `posterior.evaluation.calibration`, optional
        Corrects the model's probabilities.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    model_ : the fitted model
    numbers_ : how columns became numbers, if they did
    feature_names_in_ : names of the columns that are read
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "model": [HasMethods("fit")],
        "roles": [Roles],
        "reads": [StrOptions(set(get_args(Reads)))],
        "keep_missing": ["boolean"],
        "calibrator": [*CALIBRATORS.values(), None],
    }

    def __init__(
        self,
        model: Any,
        roles: Roles,
        *,
        reads: Reads = "table",
        keep_missing: bool = False,
        calibrator: Calibrator | None = None,
    ) -> None:
        self.model = model
        self.roles = roles
        self.reads = reads
        self.keep_missing = keep_missing
        self.calibrator = calibrator

    fitted_: FittedTable
    model_ = learned[Any](lambda fitted: fitted.model)
    numbers_ = learned[Numbers](lambda fitted: fitted.numbers)
    classes_ = learned[Array](lambda fitted: fitted.model.classes_)
    class_log_prior_ = learned[Floats](lambda fitted: fitted.log_prior)
    n_features_in_ = learned[int](lambda fitted: len(fitted.names))
    feature_names_in_ = learned[Array](lambda fitted: np.array(fitted.names, dtype=object))

    def fit_held_out(self, X: Any, y: Any, folds: Codes, sample_weight: Any = None) -> Floats:
        """Learn from all rows, and say log p(k | x) (n, k) of each by the folds it is not in.

        How columns become numbers (means, deviations, levels) is learned from all rows, which
        knows no labels.
        """
        numbers, table = self.learn(X)
        model, said = learned_by(self.model, table, y, folds, sample_weight)
        self.fitted_ = self._fitted(model, numbers, y, sample_weight)
        return said

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a frame and its classes, given beside it or as the name of a column."""
        X, y = with_target(X, y)
        numbers, table = self.learn(X)
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        model = clone(self.model).fit(table, y, **weight)
        self.fitted_ = self._fitted(model, numbers, y, sample_weight)
        return self

    @property
    def columns_read(self) -> tuple[ColumnRole, ...]:
        """The columns that the model is given, of those that are used."""
        if self.reads == "documents":
            return self.roles.text
        return self.roles.used if self.reads == "everything" else self.roles.table_columns

    def read(self, X: Any) -> Any:
        """What the model is given of a frame."""
        if self.reads != "numbers":
            return self._table(X)
        if isinstance(X, Readings):
            return X.of(self.reading, lambda _: self.numbers_(self._table(X)))
        return self.numbers_(self._table(X))

    @property
    def reading(self) -> tuple[Any, ...]:
        """Models that have this in common are given the same."""
        return self.reads, self.keep_missing, tuple(column.name for column in self.columns_read)

    def _table(self, X: Any) -> Any:
        """The columns that are read, or the text of each row."""
        if isinstance(X, Readings):
            kind = "table" if self.reads == "numbers" else self.reads
            return X.of((kind, self.reading[2]), self._table)
        if self.reads == "documents":
            return self.roles.documents(X)
        table = self.roles.prepare(X, text=self.reads == "everything")
        if isinstance(table, OneRow) and self.reads != "numbers":
            return one_row_of(self.model_, table.cells)
        return table

    def one_row(self, record: Mapping[str, Any]) -> Any:
        return OneRow(record)

    def learn(self, X: Any) -> tuple[Numbers | None, Any]:
        """How columns become numbers, if they do, and what the model is given of a frame."""
        if isinstance(X, Readings):
            found: tuple[Numbers | None, Any] = X.of(("learned", *self.reading), self.learn)
            return found
        table = self._table(X)
        if self.reads != "numbers":
            return None, table
        numbers = Numbers.learn(table, self.keep_missing)
        return numbers, numbers(table)

    def predict_log_proba(self, X: Any, *, priors: Any = None) -> Floats:
        """log p(k | x); `priors` are class probabilities other than the learned ones."""
        check_fitted(self)
        log_proba = np.asarray(self.model_.predict_log_proba(self.read(X)))
        if self.calibrator is not None:
            log_proba = self.calibrator.apply(log_proba)
        if priors is None:
            return log_proba
        with np.errstate(divide="ignore"):
            log_prior = np.log(validate.priors(priors, self.classes_))
        moved = log_proba + log_prior - self.class_log_prior_
        return np.asarray(moved - logsumexp(moved, axis=1, keepdims=True))

    def predict_proba(self, X: Any, *, priors: Any = None) -> Floats:
        """p(k | x); `priors` are class probabilities other than the learned ones."""
        return np.exp(self.predict_log_proba(X, priors=priors))

    def predict(self, X: Any, *, priors: Any = None) -> Array:
        """The most probable class of each row."""
        return np.asarray(self.classes_[self.predict_log_proba(X, priors=priors).argmax(axis=1)])

    @_model_has("evidence")
    def evidence(self, X: Any) -> Evidence:
        """The additive terms of each class's score before calibration, per column."""
        check_fitted(self)
        return self._terms(self.model_.evidence(self.read(X))).joined(self.roles.origins)

    def _terms(self, found: Evidence) -> Evidence:
        """One term of each column that the model is given."""
        if self.reads != "numbers":
            return found
        names = self.numbers_.names()
        if found.terms.shape[2] != len(names):  # terms of several columns together
            told = self.model_.family_.term_names(np.array(names))
            return Evidence(found.terms, found.log_prior, told, found.classes)
        sources = np.array(self.numbers_.sources())
        terms = np.stack(
            [found.terms[:, :, sources == j].sum(axis=2) for j in range(len(self.roles.table))],
            axis=2,
        )
        columns = np.array([column.name for column in self.roles.table])
        return Evidence(terms, found.log_prior, columns, found.classes)

    def explain(self, X: Any, of: Any = None, against: Any = None) -> Any:
        """Why: the evidence of each column, or the neighbors of the row, or its words."""
        check_fitted(self)
        if self.reads == "documents":
            return self.model_.explain(self.read(X), of, against)
        if not hasattr(self.model_, "evidence"):
            return self.model_.explain(self.read(X))
        return super().explain(X, of, against)

    @_model_has("log_evidence")
    def log_evidence(self, X: Any) -> Floats:
        """log p(x): the lower, the stranger the row."""
        return np.asarray(self.model_.log_evidence(self.read(X)))

    @_model_has("sample")
    def sample(self, n: int = 1, random_state: Any = None) -> tuple[Any, Array]:
        """Rows and classes drawn from the model."""
        if self.reads not in ("table", "everything"):
            raise ValueError(
                f"Expected a model of the columns themselves to draw rows from, got "
                f"{type(self.model_).__name__} of numbers made of them."
            )
        X, groups = self.model_.sample(n, random_state)
        table = frames.as_frame(X)
        if table is None or not self.roles.origins:
            return X, groups
        return table.drop(*self.roles.origins).to_native(), groups  # parts of dates are no columns

    @_model_has("partial_fit")
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows. What corrects the probabilities stays as it was."""
        return self._changed(lambda model: model.partial_fit, X, y, sample_weight, classes)

    @_model_has("forget")
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows back. What corrects the probabilities stays as it was."""
        check_fitted(self)
        return self._changed(lambda model: model.forget, X, y, sample_weight)

    @_model_has("merge")
    def merge(self, other: Self) -> Self:
        """Add what another model of the same columns has learned from other rows."""
        check_fitted(self)
        check_fitted(other)
        mine, theirs = ([(c.name, c.role) for c in m.roles.used] for m in (self, other))
        if self.reads != other.reads or mine != theirs:
            raise ValueError(f"Expected a model of the columns {mine} to merge, got {theirs}.")
        if self.reads == "numbers" and self.numbers_ != other.numbers_:
            raise ValueError(
                "Expected models that read the same numbers to merge, but each has scaled the "
                "columns of its own rows. Merge models that read the columns, such as naive Bayes."
            )
        model = copy.copy(self.model_).merge(other.model_)
        self.fitted_ = self._fitted(model, self.fitted_.numbers)
        return self

    def without(self, X: Any, y: Array, gone: Integers) -> TableClassifier:
        """A copy that never saw some of the rows that were learned, at the settings of all."""
        check_fitted(self)
        model = without(self.model_, self.learn(X)[1], y, gone)
        own = copy.copy(self)
        own.fitted_ = self._fitted(model, self.fitted_.numbers, np.delete(y, gone))
        return own

    def _changed(
        self, verb: Callable[[Any], Any], X: Any, y: Any, weight: Any, classes: Any = None
    ) -> Self:
        X, y = with_target(X, y)
        before: FittedTable | None = vars(self).get("fitted_")
        if before is None:
            numbers, table = self.learn(X)
            model = clone(self.model)
        else:
            numbers, table, model = before.numbers, self.read(X), copy.copy(before.model)
        given = {"sample_weight": weight, "classes": classes}
        verb(model)(table, y, **{k: v for k, v in given.items() if v is not None})
        self.fitted_ = self._fitted(model, numbers, y, weight)
        return self

    def _fitted(
        self, model: Any, numbers: Numbers | None, y: Any = None, weight: Any = None
    ) -> FittedTable:
        names = tuple(column.name for column in self.columns_read)
        return FittedTable(model, numbers, names, self._log_prior(model, y, weight))

    def _log_prior(self, model: Any, y: Any, weight: Any) -> Floats:
        """Of all rows that the model has learned, if it knows; otherwise of those that came."""
        known = getattr(model, "class_log_prior_", None)
        if known is not None and len(known) == len(model.classes_):
            return np.asarray(known)
        if isinstance(model, SummedClassifier):
            count = model.fitted_.class_weight()
        elif y is None:
            return self.class_log_prior_
        else:
            codes = np.searchsorted(model.classes_, np.asarray(y))
            count = np.bincount(codes, weight, len(model.classes_)).astype(np.float64)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(count / count.sum()))

    def _cells(self, X: Any) -> tuple[Any, ...]:
        frame = frames.as_frame(X)
        assert frame is not None
        return tuple(frame.get_column(column.name)[0] for column in self.columns_read)
