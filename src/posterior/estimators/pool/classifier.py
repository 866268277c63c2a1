"""Classifier: a table in, the best answer out, without having to choose."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import narwhals as nw
import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from posterior.data import containers, frames, validate
from posterior.data.errors import LeakWarning
from posterior.data.names import quoted
from posterior.data.one_row import OneRow
from posterior.data.table_columns import Columns
from posterior.data.typing import Array, Floats
from posterior.discriminative.pooling import SHRINKAGE
from posterior.estimators.base_classifier import BaseClassifier
from posterior.estimators.estimator import learned
from posterior.estimators.pool.dealt_rows import (
    DealtRows,
    belonging_of,
    check_several,
    counted,
    table_of,
)
from posterior.estimators.pool.fitted_pool import FittedPool
from posterior.estimators.pool.learned_rows import LearnedRows
from posterior.estimators.pool.pool import Pool
from posterior.estimators.pool.reasons import of_document
from posterior.estimators.pool.weighing import QUICK, pooled
from posterior.estimators.refits import cross_validated
from posterior.estimators.table_classifier import Readings
from posterior.evaluation.held_out import HeldOut
from posterior.generative.evidence_terms import Evidence
from posterior.generative.fold_sums import FOLDS
from posterior.preprocessing.overrides import Overrides
from posterior.preprocessing.roles import ColumnRole, Roles

if TYPE_CHECKING:
    from posterior.estimators.pool.choice import Progress, Race

MOST_TOLD = 3  # columns of a warning


class Classifier(Pool):
    """The one to take without having to choose: it reads any table, and answers as well as it can.

    Columns are read as what they hold: numbers, categories, dates, truths, texts, with missing
    cells. Every model that can read them learns from all rows, and says of rows held out what it
    thinks: naive Bayes, discriminants, logistic regression, networks, additive models, neighbors,
    models of words. The pool of those that help is kept, or one of them alone, where it is better.
    Of very many columns, models read those that tell.
    Probabilities are calibrated either way, reasons add up, and the same rows give the same
    classifier in any order.

    Parameters
    ----------
    tolerance : float, default=0.0
        How much accuracy to give for simplicity. A model is kept alone if it is ahead of all
        together by two standard errors of the difference, row by row; with a tolerance of 1 the
        simplest that is no worse, and with 2 the simplest that is within two standard errors.
    models : list of str or "quick", optional
        Which models to try, such as ["naive-bayes", "logistic", "additive"]; by default all that
        can read the table in reasonable time. "quick" is naive Bayes, logistic regression and,
        unless the table is large, an additive model: a fraction of the time.
    roles : Roles, optional
        What each column is; by default as `posterior.preprocessing.infer_roles.infer` says.
    kinds : dict of str, optional
        Columns by name, and what each is to be read as: number, category, date, text or boolean,
        such as {"zip": "category"}.
    keep, leave_out : list of str, optional
        Columns that models should see, or should not, whatever they look like.
    group : str, optional
        The column whose rows of one value belong together, as those of a customer: they are held
        out together, so that no model is judged on rows of a customer whom it knows. It is not a
        column to learn from.
    time : str, optional
        The column, of dates or numbers, that rows follow each other by: models are judged on the
        latest fifth, by what they learned from all before it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    class_log_prior_ : array of shape (n_classes,)
        Log shares of the classes.
    roles_ : what each column was taken for
    members_ : dict of the models that are kept
    weights_ : dict of float
        What log p of each is multiplied by.
    comparison_ : Table
        All that were tried, by log loss on rows held out.

    Examples
    --------
    >>> import pandas as pd
    >>> from posterior import Classifier
    >>> table = pd.DataFrame({
    ...     "age": [31, 45, None, 28, 50, 33, 61, 25] * 5,
    ...     "city": ["Rome", "Oslo", "Oslo", None, "Oslo", "Rome", "Oslo", "Rome"] * 5,
    ...     "buys": ["no", "yes", "yes", "no", "yes", "no", "yes", "no"] * 5,
    ... })
    >>> model = Classifier().fit(table, "buys")
    >>> model.predict(pd.DataFrame({"age": [55], "city": ["Oslo"]})).tolist()
    ['yes']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "tolerance": [Interval(Real, 0, None, closed="left")],
        "models": [list, tuple, StrOptions({QUICK}), None],
        "roles": [Roles, None],
        "kinds": [dict, None],
        "keep": [list, tuple, set, None],
        "leave_out": [list, tuple, set, None],
        "group": [str, None],
        "time": [str, None],
    }

    def __init__(
        self,
        *,
        tolerance: float = 0.0,
        models: Any = None,
        roles: Roles | None = None,
        kinds: Mapping[str, str] | None = None,
        keep: Collection[str] | None = None,
        leave_out: Collection[str] | None = None,
        group: str | None = None,
        time: str | None = None,
    ) -> None:
        self.tolerance = tolerance
        self.models = models
        self.roles = roles
        self.kinds = kinds
        self.keep = keep
        self.leave_out = leave_out
        self.group = group
        self.time = time

    shrinkage = SHRINKAGE
    roles_ = learned[Roles](lambda fitted: fitted.roles)
    class_log_prior_ = learned[Floats](lambda fitted: fitted.members[0].class_log_prior_)

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, progress: Progress | None = None
    ) -> Self:
        """Learn from a table and its classes.

        Parameters
        ----------
        X : frame of pandas, polars, pyarrow, ..., or array of shape (n_samples, n_features)
        y : array of shape (n_samples,), or the name of a column of X
        sample_weight : array of shape (n_samples,), optional
        progress : called with what is done now, how many steps are done, and how many there are
        """
        from posterior.estimators.pool.choice import race  # with every model that there is

        self._validate_params()
        target = y if isinstance(y, str) else None
        X, n, y = self._labeled(X, y)
        frame = _frame(X)
        classes, codes = validate.labels(y, n)
        weight = validate.weights(sample_weight, n)
        seen, roles = counted(weight, n), self.roles
        check_several(len(seen))
        if roles is None:
            asked: Overrides = {
                "kinds": self.kinds or {},
                "keep": self.keep or (),
                "leave_out": self.leave_out or (),
                "group": self.group,
                "time": self.time,
            }
            roles = _roles(frames.take(frame, seen), classes[codes[seen]], target, asked)
            if frame is X:
                _warn_of_leaks(roles)
        elif self.group is not None or self.time is not None:
            raise ValueError("Expected group and time to be said by roles, where these are given.")
        belonging = belonging_of(roles, frame)
        rows = DealtRows.of(roles.selected(frame), codes, classes, weight, belonging=belonging)
        rows = replace(rows, X=Readings(rows.X))
        places = Columns(type(self).__name__).of(X) if frame is not X else None
        return self.after(race(roles, rows, self.models, progress), rows, roles, places)

    def after(
        self, tried: Race, rows: DealtRows, roles: Roles, places: Columns | None = None
    ) -> Self:
        """What was learned in a race of models; of an array, columns are known by their places."""
        kept = tried.chosen(self.tolerance)
        owner = Columns(type(self).__name__)
        fitted = pooled(kept.trials, rows, places or owner, nothing=kept.nothing).without_idle()
        fitted = replace(fitted, roles=roles, read_by=tried.columns)
        names = tuple(column.name for column in _read(fitted))
        if tried.screened:
            read_by = tried.columns.screened_to(_given(fitted))
            fitted = replace(fitted, roles=roles.screened_to(*names), read_by=read_by)
        columns = places or replace(owner, n=len(names), names=names)
        add_up = any(hasattr(member, "evidence") for member in fitted.members)
        order = None if add_up else rows.order
        learned_from = LearnedRows.of(rows.X.frame, rows, _read(fitted), kept.held_out)
        fitted = replace(fitted, columns=columns, order=order, learned_from=learned_from)
        self.fitted_ = replace(fitted, losses=tried.table(kept))
        return self

    def cross_validate(
        self,
        X: Any,
        y: Any,
        folds: Any = FOLDS,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        time: Any = None,
    ) -> HeldOut:
        """As that of `Pool`; rows that belong together by `group` are in one fold here, too."""
        frame = _frame(X)
        if groups is None and self.group is not None:
            groups = frames.split_target(frame, self.group, "group")[1]
        if time is None and self.time is not None:
            time = self.time
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LeakWarning)  # of each fold; fit has said it
            return cross_validated(self, frame, y, folds, sample_weight, groups=groups, time=time)

    # ---- answers ----

    @available_if(lambda self: not self.explained_by_rows)
    def evidence(self, X: Any) -> Evidence:
        """The weighted sum of what each column says in each model that is kept.

        What models of words say is the term of the text; of a table that is nothing but text, each
        word has its own.
        """
        check_is_fitted(self)
        return self.fitted_.by_column(self._given(X))

    def explain(self, X: Any, of: Any = None, against: Any = None) -> Any:
        """Why: what each column adds, or each word; of neighbors that are kept alone, the nearest.

        Parameters
        ----------
        X : frame of one row
        of, against : labels, optional
            By default the most probable class and the runner-up.
        """
        check_is_fitted(self)
        first = next(iter(self.members_.values()))
        if self.reads_documents:
            (document,) = first.read(self._given(X))
            return of_document(first.model_, document or "", self.evidence(X), of, against)
        order = self.fitted_.order
        if order is None:
            return super().explain(X, of, against)
        near = first.explain(self._given(X))
        return replace(near, rows=order[near.rows])

    @property
    def explained_by_rows(self) -> bool:
        """Whether nearest neighbors are kept alone, and the rows are known by their places."""
        fitted: FittedPool | None = vars(self).get("fitted_")
        return fitted is not None and fitted.order is not None

    @property
    def reads_documents(self) -> bool:
        """Whether nothing but text is read of the table."""
        return all(member.reads == "documents" for member in self.members_.values())

    @property
    def columns_read(self) -> tuple[ColumnRole, ...]:
        """The columns that models are given."""
        return _read(self.fitted_)

    def one_row(self, record: Mapping[str, Any]) -> Any:
        check_is_fitted(self)
        by_name = self.fitted_.columns.names is not None
        return OneRow(record) if by_name else frames.of_record(record)

    def _given(self, X: Any) -> Readings:
        known = self.fitted_.columns
        row = _one_row(X, known)
        read = self.roles_.read(_frame(X, known) if row is None else row)
        read_by = self.fitted_.read_by
        return Readings(read if read_by is None else read_by(read))

    def _every_member(self) -> Collection[Any]:
        return self.fitted_.members if "fitted_" in vars(self) else ()

    def _cells(self, X: Any) -> tuple[Any, ...]:
        frame = frames.as_frame(_frame(X, self.fitted_.columns))
        assert frame is not None
        return tuple(frame.get_column(column.name)[0] for column in self.columns_read)

    def __sklearn_tags__(self) -> Tags:
        tags = BaseClassifier.__sklearn_tags__(self)
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _read(fitted: FittedPool) -> tuple[ColumnRole, ...]:
    """The columns of the table that members are given, some by models of their own."""
    assert fitted.roles is not None
    names = _given(fitted)
    if fitted.read_by is not None:
        sources = fitted.read_by.sources
        names = {sources.get(name, name) for name in names}
    return tuple(column for column in fitted.roles.used if column.name in names)


def _given(fitted: FittedPool) -> set[str]:
    """Names of the columns as members know them."""
    return {column.name for member in fitted.members for column in member.columns_read}


def _frame(X: Any, known: Columns | None = None) -> Any:
    """A frame with names as it is; the columns of an array by their places."""
    table = frames.as_frame(X)
    by_place = known is not None and known.names is None
    if table is not None and not by_place and all(isinstance(c, str) for c in table.columns):
        return X
    X, _ = table_of(X)
    names = None
    if known is not None:
        known.check(X)
        names = known.names
    columns = containers.split(X)
    named = names or tuple(f"x{j}" for j in range(len(columns)))
    cells = {name: column.to_list() for name, column in zip(named, columns, strict=True)}
    return frames.from_columns(cells).to_native()


def _one_row(X: Any, known: Columns) -> OneRow | None:
    """One row of a frame, or of an array of numbers, cell by cell; None of other tables."""
    if isinstance(X, OneRow):
        return X
    if known.names is not None:
        return OneRow.of_frame(X)
    if isinstance(X, np.ndarray) and X.shape == (1, known.n) and X.dtype.kind == "f":
        return OneRow.of((f"x{j}" for j in range(known.n)), X[0].tolist())
    return None


def _warn_of_leaks(roles: Roles) -> None:
    """The table of a person who knows what its columns mean is used as it is, with a word."""
    if not roles.suspects:
        return
    told = [flag.text for n in roles.suspects for flag in roles[n].flags if flag.kind == "leak"]
    more = "" if len(told) <= MOST_TOLD else f" and {len(told) - MOST_TOLD} more, see roles_."
    warnings.warn(
        f"Columns may give the target away: {' '.join(told[:MOST_TOLD])}{more} Leave "
        f"{' and '.join(map(quoted, roles.suspects[:MOST_TOLD]))} out of X if not.",
        LeakWarning,
        stacklevel=3,
    )


def _roles(frame: Any, y: Array, target: str | None, asked: Overrides) -> Roles:
    """What each column is; of an array, numbers that tell rows apart are numbers as well."""
    table = frames.as_frame(frame)
    assert table is not None
    name = target or next(n for n in ("target", "the target", "y!") if n not in table.columns)
    labels = nw.new_series(name, np.asarray(y).tolist(), backend=table.implementation)
    from posterior.preprocessing.infer_roles import infer

    return infer(table.with_columns(labels).to_native(), name, **asked)
