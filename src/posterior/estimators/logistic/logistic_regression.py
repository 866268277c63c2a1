"""Logistic regression: P(y | x) from a weighted sum of the features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from posterior.data import validate
from posterior.data.errors import STATED
from posterior.data.rows import Hard, Rows
from posterior.data.typing import Floats
from posterior.discriminative.fitted_logistic import FittedLogistic
from posterior.discriminative.logistic_rule import LogisticRule
from posterior.discriminative.logistic_stream import LogisticStream
from posterior.discriminative.minimum import Summary, centered
from posterior.discriminative.objective import Objective
from posterior.estimators import calibrated, remote
from posterior.estimators.base_classifier import with_target
from posterior.estimators.estimator import learned
from posterior.estimators.logistic import base, diagnostics, settings
from posterior.estimators.logistic.base import LogisticBase, check_classes
from posterior.estimators.logistic.callbacks import Watched, stated
from posterior.estimators.logistic.steps import steps
from posterior.estimators.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from posterior.evaluation.held_out import HeldOut
from posterior.preprocessing.first_look import FirstLook
from posterior.readers.batch import AmongClasses, BatchRows
from posterior.readers.encoded import Encoded
from posterior.readers.labels import Labels
from posterior.sources import target
from posterior.sources.remote_rows import RemoteRows

Read = tuple[Encoded, Labels, Rows | RemoteRows]


class LogisticRegression(CallbackSupportMixin, LogisticBase):
    """log odds that are linear in the features.

    p(y = k | x) = exp(b_k + w_k · x) / Σ_j exp(b_j + w_j · x), with two classes
    p(y = 1 | x) = 1 / (1 + exp(-b - w · x)), where Σ wᵢ log p(yᵢ | xᵢ) - penalty is largest.

    Missing cells of a frame are learned from: their columns get an indicator. Where none was
    missing in the fit, a missing cell to answer counts as the column's mean (of a category, the
    shares of its levels): the score is then the expected one if columns are independent, and the
    cell is evidence for no class. NaN in an array is refused, as in scikit-learn.

    Parameters
    ----------
    C : float, default=1.0
        One over the strength of the penalty; `np.inf` is maximum likelihood.
    l1_ratio : float, default=0.0
        The part of the lasso in the penalty: 0 is ½ Σ w² / C, 1 is Σ |w| / C.
    tol, max_iter : float, int
        Stop when the gradient per row is below tol, and tol² of the objective is all that is left
        to gain.
    fit_intercept : bool, default=True
    class_weight : dict or "balanced", optional
    solver : str, default="auto"
        "auto" picks by the shape of the data (`solver_` says which); "gradient-ascent" is the
        lectures' loop, with `step`; scikit-learn's names are accepted.
    warm_start : bool, default=False
        Begin where the last fit ended.
    step : float, default=1e-4
        η of gradient ascent.
    firth : bool, default=False
        Firth's penalized likelihood instead of C: finite also where columns separate the
        classes.
    prior : mapping of names to (mean, standard deviation), optional
        Normal priors of single coefficients, for two classes, instead of C there: what other
        studies found, say. The name "intercept" stands for the intercept.
    calibrated : str, optional
        Corrects probabilities, as in `GaussianNB`, by approximate leave-one-out.
    penalty, dual, intercept_scaling, random_state, verbose, n_jobs : as in scikit-learn
        `intercept_scaling` is for "liblinear", which penalizes the intercept.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
    intercept_ : array of shape (1,) or (n_classes,)
    n_iter_ : array of shape (1,)
    solver_ : str
        The solver that was used.
    trace_ : tuple of steps, each with value, gradient_norm and step

    Examples
    --------
    >>> from posterior import LogisticRegression
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> model = LogisticRegression().fit(X, y)
    >>> model.predict([[1.5], [3.5]]).tolist()
    ['no', 'yes']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "penalty": [StrOptions({"l1", "l2", "elasticnet", "deprecated"}), None],
        "C": [Interval(Real, 0, None, closed="right")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both"), None],
        "dual": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "random_state": ["random_state"],
        "solver": [StrOptions(set(settings.SOLVERS))],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "verbose": ["verbose"],
        "warm_start": ["boolean"],
        "n_jobs": [None, Integral],
        "step": [Interval(Real, 0, None, closed="neither")],
        "firth": ["boolean"],
        "prior": [Mapping, None],
        "calibrated": calibrated.CALIBRATED,
    }

    def __init__(
        self,
        penalty: Any = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float | None = 0.0,
        dual: bool = False,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        random_state: Any = None,
        solver: str = "auto",
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        step: float = 1e-4,
        firth: bool = False,
        prior: Mapping[Any, tuple[float, float]] | None = None,
        calibrated: str | None = None,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.step = step
        self.firth = firth
        self.prior = prior
        self.calibrated = calibrated

    solver_ = learned[str](lambda fitted: fitted.solver)
    of = classmethod(base.of)

    def __getstate__(self) -> dict[str, Any]:
        """Without the rows: a stored model is small, and holds nobody's data."""
        state: dict[str, Any] = super().__getstate__()
        fitted = state.get("fitted_")
        if not isinstance(fitted, FittedLogistic):
            return state
        return {**state, "fitted_": replace(fitted, minimum=None)}

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        checkpoint: remote.FilePath | None = None,
    ) -> Self:
        """Learn from rows and their classes.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features), or a table elsewhere
            Files (a path, a pattern, a list of paths), a query, or a frame of Dask or Spark: read
            in batches, once to learn the columns and once or twice for each iteration.
        y : array of shape (n_samples,), or the name of a column of X
        sample_weight : array of shape (n_samples,), or of a table elsewhere the name of a column
        offset : array of shape (n_samples,) or (n_samples, n_classes), optional
            Log odds known beforehand, with a coefficient of one.
        checkpoint : path, optional
            Where the fit of a table elsewhere writes down what it has summed. Killed and started
            again, it goes on from there to the same model.
        """
        self._validate_params()
        settings.warn_of_jobs(self.n_jobs)
        calibrated.check(self, streaming=remote.located(X, checkpoint) is not None)
        rule = self._rule()
        with self._all_rows(X, y, sample_weight, offset, checkpoint) as (reader, labels, rows):
            objective = rule.objective(rows, reader, self.engine_)
            start, dtype = self._start(objective), rule.dtype(X)
            watched = Watched(
                self._init_callback_context(max_subtasks=max(self.max_iter, 1) + 1),
                *(self, X, y, sample_weight),
                partial(stated, reader, labels, objective),
            )
            watched.begin(start)
            minimum = rule.solve(objective, start, reader, watched)
            fitted = FittedLogistic.of(reader, labels, minimum, dtype)
            self.fitted_ = calibrated.of_minimum(self, fitted, X, y, sample_weight)
        watched.end()
        return self

    def _rule(self) -> LogisticRule:
        """How rows become coefficients."""
        C, ratio = settings.strength(self)
        settings.check_solver(self.solver, C, ratio, self.dual)
        if self.firth and self.prior:
            raise ValueError("Expected firth=True or prior=, got both: each is a prior.")
        searches = self.solver != "gradient-ascent" and self.max_iter > 0
        given = {"firth": self.firth, "priors": self.prior, "searches": searches}
        return self._rule_with(C, ratio, self.step, **given)

    @contextmanager
    def _all_rows(
        self, X: Any, y: Any, weight: Any, offset: Any, checkpoint: remote.FilePath | None
    ) -> Iterator[Read]:
        """The rows of a fit, in memory or elsewhere, while it lasts."""
        there = remote.located(X, checkpoint)
        if there is None:
            yield self._rows(X, y, weight, offset)
            return
        if offset is not None or self.firth:
            raise ValueError(
                "Expected no offset and firth=False for a remote table: both need its "
                "rows in memory."
            )
        engine, source = there
        y = remote.column_of(source, y, "target column")
        weight = remote.weights_of(source, weight)
        given = {"y": y, "sample_weight": weight}
        with remote.checkpointed(self, engine, source, checkpoint, **given) as engine:
            yield self._remote_rows((engine, source), y, weight)

    def _remote_rows(self, there: remote.There, y: Any, weight: Any) -> Read:
        """Those of a source, after a first look at all of them."""
        engine, source = there
        look = engine.sum(FirstLook(y, weight, type(self).__name__, encoded=True), source).checked()
        assert look.classes is not None and look.columns is not None
        seen, (frame, _, _) = look.classes, target.apart(look.kept.frame(), y, weight)
        check_classes(seen.classes)
        array = isinstance(frame, np.ndarray)  # nothing but numbers, none of which may be missing
        columns = self._reader().columns.of(frame)
        reader = Encoded(columns, None if array else look.columns.encoding())
        factor = settings.class_factors(self.class_weight, seen.classes, seen.weight)
        read = BatchRows(reader, AmongClasses(seen.classes, factor), y, weight)
        rows = remote.remote_rows(there, look, read)
        if factor is not None:
            rows = replace(rows, weight=float(factor @ seen.weight))
        if not rows.complete:
            rows = replace(rows, sample=_counting_for(rows.sample, rows.n_rows))
        return reader, Labels(seen.classes), rows

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows: as `fit` on all rows so far, in any order and in any chunks.

        Rows are kept. Up to 20,000 of them (200 for each coefficient, if that is more) this is
        `fit` on all rows, to the tolerance of the solver. Beyond that, equal rows become one, and
        of the others a weighted sample stays, stratified by class and drawn so that the objective
        is expected to be that of all rows (see `Reservoir`). The estimate is then as good as one
        from the m rows of the sample: its log loss is expected to be above that of `fit` by
        size / 2m a row, at most 0.005 while the cells kept are below 2²⁵.

        Between two fits, which are repeated when the weight of the rows has grown by a hundredth,
        every call makes a Newton step on its rows alone, β ← β - H⁻¹ g: exact to first order. A
        step above a third of a standard error, a new class and a new level repeat the fit at once.
        With a lasso or more than 400 coefficients, the newest hundredth waits for the next fit.

        A class may come first mid-stream. After `fit`, its rows are those that came before, as
        long as the model was not stored or copied. A stored model of a stream holds the rows kept,
        so that it can go on.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`, in memory
        classes : list of labels, optional
            All classes that may come. It closes the set: another label is then an error.
        """
        self._validate_params()
        calibrated.check(self, streaming=True)
        X, y = with_target(X, y)
        before: FittedLogistic | None = vars(self).get("fitted_")
        if before is not None and before.n_iter is None and not self.warm_start:
            raise NotFittedError(STATED)
        reader = self._reader() if before is None else before.reader
        stream = LogisticStream(before, reader, self._rule(), self.engine_)
        self.fitted_ = stream.with_rows(X, y, classes, sample_weight)
        return self

    def merge(self, other: Any) -> None:
        """Refused: see the message."""
        raise TypeError(
            "Expected a model that is a sum, got a logistic regression: its coefficients are those "
            "of no part of the rows, and those of two parts do not add up to those of the whole. "
            "Fit all rows together (fit reads them in chunks), or merge naive Bayes models."
        )

    def begin_at(self, model: Any) -> Self:
        """Make the next fit begin at a naive Bayes model whose log odds are linear.

        Naive Bayes is where logistic regression would end if the columns were independent given
        the class: often a good place to start from, and with few iterations one to stay near.

        Parameters
        ----------
        model : a fitted MultinomialNB, ComplementNB or BernoulliNB of the same classes
        """
        check_is_fitted(model)
        if not isinstance(model, MultinomialNB | ComplementNB | BernoulliNB):
            raise TypeError(
                "Expected a fitted MultinomialNB, ComplementNB or BernoulliNB, got "
                f"{type(model).__name__}: its log odds are not linear in the columns."
            )
        slope = np.asarray(model.feature_log_prob_, np.float64)
        intercept = np.asarray(model.class_log_prior_, np.float64)
        if isinstance(model, BernoulliNB):
            absent = np.log1p(-np.exp(slope))
            slope, intercept = slope - absent, intercept + absent.sum(axis=1)
        if len(slope) == 2:
            slope, intercept = slope[1:] - slope[:1], intercept[1:] - intercept[:1]
        columns = replace(model.fitted_.reader.columns, owner=type(self).__name__)
        typical = np.zeros(columns.n)
        labels = Labels(model.classes_)
        self.fitted_ = FittedLogistic(Encoded(columns), labels, slope, intercept, typical)
        self.warm_start = True
        return self

    def _start(self, objective: Objective) -> Floats:
        before, (m, p) = vars(self).get("fitted_"), objective.shape
        if self.warm_start and isinstance(before, FittedLogistic):
            slope, intercept = before.parts()
            if slope.shape == (m, p - self.fit_intercept):
                return centered(objective.loss.joined(slope, intercept), objective)
        return np.zeros((m, p))

    # ---- beyond the estimates ----

    steps = steps

    def summary(self, level: float = 0.95, robust: bool = False) -> Summary:
        """Coefficients with standard errors, tests, intervals and odds ratios, and the fit.

        Parameters
        ----------
        level : float, default=0.95
            The probability of the intervals.
        robust : bool, default=False
            Errors that hold whatever the variance of the answers (sandwich, HC0).
        """
        check_is_fitted(self)
        minimum, level = self.fitted_.at_hand, validate.level(level)
        return minimum.summary(self.fitted_.reader.names, self.classes_, level, robust)

    def predict_interval(self, X: Any, level: float = 0.95) -> tuple[Floats, Floats]:
        """Bounds of each probability, (n_samples, n_classes), from the uncertainty of the fit.

        The posterior of the coefficients is taken as normal around the fit (Laplace). Never
        calibrated.
        """
        check_is_fitted(self)
        return self.fitted_.interval(X, self.engine_, validate.level(level))

    marginal_effects = diagnostics.marginal_effects
    residuals = diagnostics.residuals
    influence = diagnostics.influence
    likelihood_ratio_test = diagnostics.likelihood_ratio_test

    def leave_one_out(self, X: Any, y: Any, sample_weight: Any = None) -> HeldOut:
        """What each row would get from a model that never saw it, approximately, from one fit.

        One Newton step from the fit of all rows to that of the others (Rad and Maleki 2020).
        """
        fitted = clone(self).fit(X, y, sample_weight).fitted_
        return fitted.at_hand.left_one_out(fitted.classes)


def _counting_for(sample: Rows, n_rows: int) -> Rows:
    """A sample whose rows count for those left out."""
    groups, n = sample.hard, n_rows / len(sample)
    weight = np.full(len(sample), n) if groups.weight is None else n * groups.weight
    return Rows(sample.X, Hard(groups.codes, groups.n_groups, weight))
