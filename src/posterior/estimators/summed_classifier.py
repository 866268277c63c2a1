"""Base class of classifiers that are sums: fit, stream, merge and forget, and hold rows out."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from posterior.data import validate
from posterior.data.rows import Hard, Rows
from posterior.data.table import Table
from posterior.data.table_columns import Columns
from posterior.data.typing import Array
from posterior.engines.local import Local
from posterior.estimators import calibrated, joint_answers, remote
from posterior.estimators.base_classifier import BaseClassifier, with_belonging
from posterior.estimators.estimator import check_fitted, check_same_kind, learned
from posterior.estimators.remote import FilePath
from posterior.evaluation.calibration import Calibrator, check_calibrated
from posterior.evaluation.held_out import HeldOut
from posterior.generative.fitted import Fitted
from posterior.generative.fold_sums import FOLDS, Trial, folds_of, one_parameter
from posterior.generative.joint import JointStatistics
from posterior.generative.rule import CheckedSum, Rule
from posterior.readers.labels import Labels
from posterior.readers.reader import Reader

CALIBRATED = [None, str]
Look = Callable[[Callable[[Rows], Any]], Any]  # adds up a function of all rows, wherever they are


class SummedClassifier(BaseClassifier):
    """Bayes' rule, p(k | x) ∝ π_k p(x | θ_k), from sums over labeled rows.

    A class says how input is read (`reader`) and how sums become a model (`rule`). All that was
    learned is one value, `fitted_`, made anew by every call and put in place at its end: a call
    that fails has changed nothing.
    """

    calibrated: Any
    fitted_: Fitted
    engine_: ClassVar[Local] = Local()
    needs_classes: ClassVar[bool] = False  # in the first call of partial_fit
    tuned: ClassVar[Mapping[str, Sequence[Any]]] = {}
    """The parameter that `tune` chooses, and the values it tries."""

    classes_ = learned[Array](lambda fitted: fitted.labels.classes)
    statistics_ = learned[JointStatistics[Any]](lambda fitted: fitted.statistics)
    calibrator_ = learned[Calibrator | None](lambda fitted: fitted.calibrator, may_be_none=True)
    n_features_in_ = learned[int](lambda fitted: fitted.reader.columns.n or None)
    feature_names_in_ = learned[Array](lambda fitted: fitted.reader.columns.given)

    # ---- what a class says ----

    @abstractmethod
    def reader(self) -> Reader:
        """How input is read, before any has come."""

    @abstractmethod
    def rule(self, reader: Reader, labels: Labels | None) -> Rule:
        """How sums become a model, as the settings say; without labels, how rows are summed."""

    def _prepared(self, reader: Reader, labels: Labels, look: Look) -> Reader:
        """A reader that knows what all rows must say before they are summed."""
        return reader

    def columns(self) -> Columns:
        """Columns that are not known yet."""
        return Columns(type(self).__name__)

    @property
    def one_pass(self) -> bool:
        """Whether rows are summed without knowing the others: no cuts or families come first."""
        return True

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        self.reader().describe(tags.input_tags)
        return tags

    # ---- a model is a sum ----

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        checkpoint: FilePath | None = None,
    ) -> Self:
        """Learn from rows and their classes; what was learned before is dropped.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features); or a table that is
            elsewhere and is read in batches: a path, a pattern such as "clicks/*.parquet", a list
            of paths, a query, a DuckDB relation, a Dask or a Spark frame
        y : array of shape (n_samples,), or the name of a column of X
        sample_weight : array of shape (n_samples,), or the name of a column, optional
        checkpoint : path, optional
            Where to write down what batches have added up to, if X is elsewhere: a fit that was
            stopped goes on from there.
        """
        self._validate_params()
        there = remote.located(X, checkpoint)
        self._check_calibrated(streaming=there is not None)
        if there is not None:
            self._check_elsewhere()
            self.fitted_ = remote.fitted(self, there, y, sample_weight, checkpoint)
            return self
        reader, labels, rows = self._read(X, y, sample_weight)
        rule = self._rule_of_rows(reader, labels, rows)
        try:
            statistics = self.engine_.sum(rule.summing(reader), rows)
        except ValueError:
            reader.check(rows.X, 0, fitting=True)  # says where in the whole table
            raise
        fitted = Fitted.of(reader, labels, rule, statistics)
        if self.calibrated is not None:
            if self.one_pass:
                trial = Trial(rows, reader, labels, self.engine_)
                calibrator = trial.calibrator(rule, self.calibrated)
            else:  # cuts or families that the labels of all rows chose have seen those held out
                calibrator = calibrated.by_refits(self, X, y, sample_weight, rows)
            fitted = replace(fitted, calibrator=calibrator)
        self.fitted_ = fitted
        return self

    def _rule_of_rows(self, reader: Reader, labels: Labels, rows: Rows) -> Rule:
        """The rule, where it must see the rows themselves."""
        return self.rule(reader, labels)

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Reader, Labels, Rows]:
        """A reader that knows the table, its classes, and the rows."""
        X, y = self._with_target(X, y)
        reader, features = self.reader().learn(X)
        n = features.shape[0]
        weight = validate.weights(sample_weight, n)
        labels, codes = Labels.learn(y, weight, n)
        rows = Rows(features, Hard(codes, len(labels), weight))
        return self._prepared(reader, labels, lambda look: look(rows)), labels, rows

    def total(self, table: remote.RemoteTable) -> tuple[remote.RemoteTable, remote.ClassSums]:
        """The sums of all rows of a table elsewhere, and the table as it turned out to be."""
        total = table.sum(self._summing(table.reader))
        known = table.learned(total.strings)
        if known.reader is not table.reader:
            total = known.sum(self._summing(known.reader))
        return known, total

    def _summing(self, reader: Reader) -> Callable[[Rows], Any]:
        return CheckedSum(self.rule(reader, None).summing(reader), reader, self.engine_)

    def _check_elsewhere(self) -> None:
        """Refuse tables elsewhere, where something is chosen by all rows at once."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows: exactly the model that `fit` on all rows so far would give.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        classes : array, optional
            All classes that may come. It closes the set: another label is then an error.
        """
        self._validate_params()
        self._check_calibrated(streaming=True)
        X, y = self._with_target(X, y)
        before: Fitted | None = vars(self).get("fitted_")
        if before is None:
            reader, features = self.reader().learn(X)
        else:
            reader = self._current(before.reader)
            features = reader.read(X, fitting=True)
        n = features.shape[0]
        weight = validate.weights(sample_weight, n, required=before is None)
        labels = None if before is None else before.labels
        labels = Labels.among(labels, y, classes, n, self.needs_classes)
        labels, codes = labels.more(y, weight, n)
        rows = Rows(features, Hard(codes, len(labels), weight))
        if before is None:
            reader = self._prepared(reader, labels, lambda look: look(rows))
        rule = self.rule(reader, labels)
        more = CheckedSum(rule.summing(reader), reader, self.engine_)(rows)
        so_far = None if before is None else before.grown(labels)
        total = more if so_far is None else so_far + more
        self.fitted_ = self.settle(Fitted(reader, labels, rule, rule.compacted(total), None))
        return self

    def settle(self, fitted: Fitted) -> Fitted:
        """Of a stream, which may just have begun."""
        return fitted.settled()

    def _current(self, reader: Any) -> Any:
        """A reader that was learned, under the settings of today."""
        return reader

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows back: exactly the model that never saw them."""
        check_is_fitted(self)
        self._check_calibrated(streaming=True)
        X, y = self._with_target(X, y)
        before = self.fitted_
        reader, labels = self._current(before.reader), before.labels
        features = reader.read(X, fitting=True)
        weight = validate.weights(sample_weight, features.shape[0], required=False)
        codes = labels.known(y, features.shape[0])
        rule = self.rule(reader, labels)
        rows = Rows(features, Hard(codes, len(labels), weight))
        less = CheckedSum(rule.summing(reader), reader, self.engine_)(rows)
        labels, statistics = before.minus(less, codes, weight, rule)
        self.fitted_ = Fitted.of(reader, labels, self.rule(reader, labels), statistics)
        return self

    def merge(self, other: Self) -> Self:
        """Add what another model of the same kind has learned from other rows."""
        check_is_fitted(self)
        check_is_fitted(other)
        check_same_kind(self, other)
        self._check_calibrated(streaming=True)
        mine, theirs = self.fitted_, other.fitted_
        reader, labels = self._current(mine.reader), mine.labels + theirs.labels
        reader.check_same(theirs.reader)
        rule = self.rule(reader, labels)
        rule.check_same(theirs.rule)
        total = rule.compacted(mine.grown(labels) + theirs.grown(labels))
        self.fitted_ = self.settle(Fitted(reader, labels, rule, total, None))
        return self

    def __add__(self, other: Self) -> Self:
        return copy.copy(self).merge(other)

    def decay(self, factor: float) -> Self:
        """Count every row so far as `factor` of a row, so that newer ones weigh more."""
        check_is_fitted(self)
        if not 0 < factor <= 1:
            raise ValueError(f"Expected a factor above 0 and at most 1, got {factor}.")
        before = self.fitted_
        reader, labels = self._current(before.reader), before.labels
        fitted = Fitted.of(reader, labels, self.rule(reader, labels), before.sums * factor)
        self.fitted_ = replace(fitted, calibrator=before.calibrator)
        return self

    def estimated_from(self, before: Fitted) -> Self:
        """The model of what another has summed, under the settings of this one."""
        self._validate_params()
        self._check_calibrated(streaming=True)
        reader, labels = before.reader, before.labels
        self.fitted_ = Fitted.of(reader, labels, self.rule(reader, labels), before.sums)
        return self

    def _check_calibrated(self, streaming: bool = False) -> None:
        if self.calibrated is not None:
            check_calibrated(self.calibrated, streaming)

    # ---- rows held out ----

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
        """Score every row by the model of the other folds, for about the price of one fit.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        folds : int, array of shape (n_samples,), or a splitter of scikit-learn
            A number deals the rows out evenly by class, in order. A row of a fold below zero is
            learned, and never scored.
        groups : array of shape (n_samples,), or the name of a column of X, which is not learned
            Rows of one value stay together in a fold.
        time : array of shape (n_samples,), or the name of a column of X
            Numbers or dates: the latest of `folds` parts is scored, by the model of all before it.
        """
        X, groups, time = with_belonging(X, groups, time)
        trial, rule = self._trial(X, y, sample_weight)
        fold = folds_of(folds, trial.rows.hard.codes, groups, time)
        return trial.held_out(rule, fold)

    def leave_one_out(self, X: Any, y: Any, sample_weight: Any = None) -> HeldOut:
        """Score every row by the model of all the others."""
        trial, rule = self._trial(X, y, sample_weight)
        return trial.left_one_out(rule)

    def _trial(self, X: Any, y: Any, sample_weight: Any) -> tuple[Trial, Rule]:
        """Rows to hold out, and the rule to learn from the others by."""
        self._validate_params()
        reader, labels, rows = self._read(X, y, sample_weight)
        return Trial(rows, reader, labels, self.engine_), self.rule(reader, labels)

    def tune(
        self,
        X: Any,
        y: Any,
        folds: Any = FOLDS,
        grid: Mapping[str, Sequence[Any]] | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """Choose the smoothing by out-of-fold log loss, with no refit, and fit with it.

        Parameters
        ----------
        X, y, folds, sample_weight : as in `cross_validate`
        grid : mapping of one parameter to the values to try, optional
        """
        name, values = one_parameter(self.tuned if grid is None else grid)
        trial, rule = self._trial(X, y, sample_weight)
        fold = folds_of(folds, trial.rows.hard.codes)
        parts = trial.fold_sums(rule, fold)
        tried: list[Self] = [clone(self).set_params(**{name: value}) for value in values]
        rules = [other.rule(trial.reader, trial.labels) for other in tried]
        for value, other in zip(values, rules, strict=True):
            if other.family.needs() != rule.family.needs():
                raise ValueError(
                    f"Expected values of {name} that keep the kinds of families, which need other "
                    f"sums, got {value}."
                )
        best, table = trial.compared(rules, fold, parts)
        tried[best].fit(X, y, sample_weight=sample_weight)
        self.set_params(**{name: values[best]})
        shown = np.array([str(v) if not np.isscalar(v) else v for v in values])
        self.fitted_, self.tuning_ = tried[best].fitted_, Table({name: shown} | table)
        return self

    # ---- answers ----

    predict = joint_answers.predict
    predict_proba = joint_answers.predict_proba
    predict_log_proba = joint_answers.predict_log_proba
    predict_joint_log_proba = joint_answers.predict_joint_log_proba
    log_evidence = joint_answers.log_evidence
    log_likelihood = joint_answers.log_likelihood
    bayes_error = joint_answers.bayes_error
    evidence = joint_answers.evidence
    parameters = joint_answers.parameters
    family_ = joint_answers.family_
    n_parameters_ = joint_answers.n_parameters_

    def settled(self) -> Fitted:
        """What was learned, with the model of it, which may have waited until somebody asks."""
        check_fitted(self)
        if self.fitted_.joint is None:
            self.fitted_ = self.fitted_.settled()
        return self.fitted_

    def one_row(self, record: Mapping[str, Any]) -> Any:
        check_fitted(self)
        return self.fitted_.reader.one_row(record)

    def _cells(self, X: Any) -> tuple[Any, ...]:
        return self.fitted_.reader.cells(X)

    def sample(self, n: int = 1, random_state: Any = None) -> tuple[Any, Array]:
        """Rows and classes drawn from the model."""
        return self.settled().sample(n, check_random_state(random_state))

    def _parameter_table(self) -> Table | None:
        return self.parameters() if self.settled().statistics is not None else None

    @property
    def n_joint_parameters_(self) -> int | None:
        """Numbers that a table of the full joint distribution would need; None if no table can.

        For d columns of yes and no and two classes 2 (2^d - 1), class probabilities left out.
        """
        return self.settled().n_joint_parameters
