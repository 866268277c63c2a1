"""P(y | x) from a weighted sum of the features."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from posterior.data.typing import Floats
from posterior.discriminative.firth import FirthFit, firth
from posterior.discriminative.objective import Objective
from posterior.discriminative.solvers import Solution, Step, Watch
from posterior.discriminative.solvers.solution import ignore
from posterior.estimators.checkpoint import FilePath
from posterior.estimators.logistic import settings
from posterior.estimators.logistic.inferring import Fitted
from posterior.estimators.logistic.logistic_base import centered
from posterior.estimators.logistic.logistic_stream import Streaming
from posterior.estimators.logistic.remote_logistic import all_rows
from posterior.estimators.logistic.watching import Watched
from posterior.estimators.naive_bayes.bernoulli_nb import BernoulliNB
from posterior.estimators.summed import all_or_nothing


class LogisticRegression(CallbackSupportMixin, Streaming):
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

    @with_callbacks
    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        checkpoint: FilePath | None = None,
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
        strength = self._strength()
        with all_rows(self, X, y, sample_weight, offset, checkpoint) as rows:
            objective = self._objective(rows, *strength)
            start = self._start(objective)
            watched = Watched(self, X, y, sample_weight, self.max_iter)
            watched.begin(objective.loss, start)
            self._fitted = self._learn(objective, start, getattr(X, "dtype", None), watched)
            self._stream = None
            watched.end()
        return self

    def _strength(self) -> tuple[float, float]:
        """C and l1_ratio; Jeffreys' prior takes the place of the penalty."""
        C, ratio = settings.strength(self)
        settings.check_solver(self.solver, C, ratio, self.dual)
        if self.firth and self.prior:
            raise ValueError("Expected firth=True or prior=, got both: each is a prior.")
        return (np.inf, 0.0) if self.firth else (C, ratio)

    def _learn(
        self, objective: Objective, start: Floats, dtype: Any, watch: Watch = ignore
    ) -> Fitted:
        firth_fit = None
        if self.firth:
            self._check_cells(objective.at_hand.X, 0, fitting=True)
            firth_fit, solution = firth_solution(objective)
            self.solver_ = "Firth"
        else:
            stop = settings.stop_of(self)
            solver = settings.solver_of(self.solver, objective, stop, self.step)
            solution = self._minimized(solver, objective, start, watch)
            self.solver_ = type(solver).__name__
        settings.warn_if_tired(self.solver, self.solver_, solution)
        self.n_iter_ = np.array([solution.n_iter], np.int32)
        self._accept(solution, objective, dtype)
        fitted = Fitted(objective, centered(solution.coef, objective), firth_fit)
        searched = self.solver_ not in ("Firth", "GradientAscent") and self.max_iter > 0
        if searched and objective.penalty.is_flat:
            self._name_separation(fitted)
        return fitted

    def begin_at(self, model: Any) -> Self:
        """Make the next fit begin at a naive Bayes model whose log odds are linear.

        Naive Bayes is where logistic regression would end if the columns were independent given
        the class: often a good place to start from, and with few iterations one to stay near.

        Parameters
        ----------
        model : a fitted MultinomialNB, ComplementNB or BernoulliNB of the same classes
        """
        check_is_fitted(model)
        if not hasattr(model, "feature_log_prob_") or not hasattr(model, "alpha"):
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
        self.classes_, self.coef_, self.intercept_ = model.classes_, slope, intercept
        self.n_features_in_ = model.n_features_in_
        self.warm_start = True
        return self

    def _start(self, objective: Objective) -> Floats:
        shape = objective.shape
        if not self.warm_start or not hasattr(self, "coef_"):
            return np.zeros(shape)
        coef, intercept = self._parts()
        if coef.shape != (shape[0], shape[1] - int(self.fit_intercept)):
            return np.zeros(shape)
        return centered(objective.loss.joined(coef, intercept), objective)


def firth_solution(objective: Objective) -> tuple[FirthFit, Solution]:
    fit = firth(objective)
    last = Step(-fit.value, 0.0, 1.0)
    trace = (last,) * (fit.n_iter + 1)
    return fit, Solution(fit.coef, trace, fit.converged, "Firth's score is zero")
