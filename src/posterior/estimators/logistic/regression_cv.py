"""Logistic regression whose penalty is chosen by cross-validation."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from posterior.data.rows import Hard, Rows, SparseRows, take
from posterior.data.typing import Array, Floats
from posterior.discriminative.loss import numbers
from posterior.discriminative.objective import Objective
from posterior.discriminative.solvers import Solution
from posterior.estimators.logistic import settings
from posterior.estimators.logistic.logistic_base import LogisticModel, centered
from posterior.estimators.logistic.regression import LogisticRegression
from posterior.estimators.summed import all_or_nothing

FOLDS = 5


class LogisticRegressionCV(LogisticModel):
    """Logistic regression with the strength of its penalty chosen by cross-validation.

    In every fold the path goes from the strongest penalty to the weakest, each fit beginning where
    the last one ended.

    Parameters
    ----------
    Cs : int or list of float, default=10
        Values of C to try; a number stands for so many between 1e-4 and 1e4, on a log scale.
    l1_ratios : list of float, default=(0.0,)
    cv : int, splitter or list of splits, optional
        By default five stratified folds, fewer where a class has fewer rows.
    scoring : str or callable, default="neg_log_loss"
    refit : bool, default=True
        Learn once more from all rows with the best penalty; else average over the folds the
        coefficients of each fold's best.
    fit_intercept, tol, max_iter, class_weight, solver : as in `LogisticRegression`
    penalty, dual, n_jobs, verbose, intercept_scaling, random_state, use_legacy_attributes :
        As in scikit-learn.

    Attributes
    ----------
    classes_, coef_, intercept_ : as in `LogisticRegression`
    Cs_, l1_ratios_ : arrays
        The values tried.
    C_, l1_ratio_ : float
        The best of them (of each class, in scikit-learn's legacy form).
    scores_ : array of shape (n_folds, n_l1_ratios, n_Cs)
    coefs_paths_ : array of shape (n_folds, n_l1_ratios, n_Cs, n_outputs, n_features + 1)
    n_iter_ : array of shape (n_folds, n_l1_ratios, n_Cs)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from posterior import LogisticRegressionCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegressionCV(Cs=[0.01, 1.0]).fit(X, y)
    >>> model.C_
    1.0
    """

    coefs_paths_: Any
    scores_: Any
    C_: Any
    l1_ratio_: Any

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "Cs": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "l1_ratios": ["array-like", None],
        "fit_intercept": ["boolean"],
        "cv": ["cv_object"],
        "dual": ["boolean"],
        "penalty": [StrOptions({"l1", "l2", "elasticnet", "deprecated"})],
        "scoring": [StrOptions({"accuracy", "neg_log_loss"}), str, callable, None],
        "solver": [StrOptions(set(settings.SOLVERS))],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
        "refit": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
        "use_legacy_attributes": ["boolean"],
    }

    def __init__(
        self,
        *,
        Cs: Any = 10,
        l1_ratios: Any = (0.0,),
        fit_intercept: bool = True,
        cv: Any = None,
        dual: bool = False,
        penalty: Any = "deprecated",
        scoring: Any = "neg_log_loss",
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 100,
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        refit: bool = True,
        intercept_scaling: float = 1.0,
        random_state: Any = None,
        use_legacy_attributes: bool = False,
    ) -> None:
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.dual = dual
        self.penalty = penalty
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.random_state = random_state
        self.use_legacy_attributes = use_legacy_attributes

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the path in every fold, choose, and learn from all rows."""
        self._validate_params()
        ratios = settings.ratios(self.penalty, self.l1_ratios)
        for ratio in ratios:
            settings.check_solver(self.solver, 1.0, ratio, self.dual)
        rows = self._rows(X, y, sample_weight)
        self.Cs_ = _values(self.Cs)
        self.l1_ratios_ = np.asarray(ratios, np.float64)
        assert isinstance(rows.groups, Hard)
        codes = rows.groups.codes
        folds = self.cv
        if folds is None:  # fewer where a class has fewer rows
            folds = min(FOLDS, max(2, int(np.bincount(codes).min())))
        from sklearn.model_selection import check_cv

        splitter = check_cv(folds, codes, classifier=True)
        splits = list(splitter.split(np.empty((len(rows), 0)), codes))
        found = [self._fold(rows, *split) for split in splits]
        self.coefs_paths_, self.scores_, self.n_iter_ = (
            np.array([[[part[i] for part in line] for line in fold] for fold in found])
            for i in range(3)
        )
        self._choose(rows, getattr(X, "dtype", None))
        if self.use_legacy_attributes:
            self._as_legacy()
        return self

    def _fold(self, rows: Rows, train: Array, test: Array) -> list[list[tuple[Floats, float, int]]]:
        """Coefficients, scores and iterations of one fold, for every l1_ratio and every C."""
        known, asked = _some(rows, train), _some(rows, test)
        lines = []
        for ratio in self.l1_ratios_:
            start, line = None, []
            for C in self.Cs_:
                objective = self._objective(known, C, ratio)
                solution = self._solve(objective, start)
                start = solution.coef
                slope, intercept = objective.loss.parts(centered(start, objective))
                path = np.column_stack([slope, intercept]) if self.fit_intercept else slope
                score = self._score_of(slope, intercept, asked)
                line.append((path, score, solution.n_iter))
            lines.append(line)
        return lines

    def _solve(self, objective: Objective, start: Floats | None) -> Solution:
        stop = settings.stop_of(self)
        solver = settings.solver_of(self.solver, objective, stop, step=1e-4)
        begin = np.zeros(objective.shape) if start is None else start
        solution = self._minimized(solver, objective, begin)
        settings.warn_if_tired(self.solver, type(solver).__name__, solution)
        return solution

    def _score_of(self, slope: Floats, intercept: Floats, asked: Rows) -> float:
        model = LogisticRegression()
        model.classes_, model.n_features_in_ = self.classes_, asked.X.shape[1]
        model.coef_, model.intercept_ = slope, intercept
        groups = asked.groups
        assert isinstance(groups, Hard)
        X = numbers(asked)
        table = X.scipy() if isinstance(X, SparseRows) else X
        truth = self.classes_[groups.codes]
        weight = {} if groups.weight is None else {"sample_weight": groups.weight}
        return float(self._scorer()(model, table, truth, **weight))

    def _scorer(self) -> Any:
        from sklearn.metrics import get_scorer

        return get_scorer(self.scoring or "accuracy")

    def _choose(self, rows: Rows, dtype: Any) -> None:
        mean = self.scores_.mean(axis=0)
        i, j = np.unravel_index(int(mean.argmax()), mean.shape)
        self.C_, self.l1_ratio_ = float(self.Cs_[j]), float(self.l1_ratios_[i])
        objective = self._objective(rows, self.C_, self.l1_ratio_)
        if self.refit:
            start = self.coefs_paths_[:, i, j].mean(axis=0)
            solution = self._solve(objective, self._joined(start, objective))
        else:
            best = [np.unravel_index(int(s.argmax()), s.shape) for s in self.scores_]
            coef = np.mean([p[k] for p, k in zip(self.coefs_paths_, best, strict=True)], axis=0)
            self.C_ = float(np.mean([self.Cs_[j] for _, j in best]))
            self.l1_ratio_ = float(np.mean([self.l1_ratios_[i] for i, _ in best]))
            solution = Solution(self._joined(coef, objective), (), True, "the mean of the folds")
        self._accept(solution, objective, dtype)

    def _joined(self, path: Floats, objective: Objective) -> Floats:
        """Coefficients of a path in the coordinates of an objective."""
        if not self.fit_intercept:
            return path
        return objective.loss.joined(path[:, :-1], path[:, -1])

    def _as_legacy(self) -> None:
        """Dictionaries by class, as scikit-learn had them until 1.9."""
        keys = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        paths = self.coefs_paths_.transpose(3, 0, 2, 1, 4)
        scores = self.scores_.transpose(0, 2, 1)
        if len(self.l1_ratios_) == 1:
            paths, scores = paths[:, :, :, 0], scores[:, :, 0]
        self.coefs_paths_ = dict(zip(keys, paths, strict=True))
        self.scores_ = dict.fromkeys(keys, scores)
        self.C_ = np.full(len(keys), self.C_)
        self.l1_ratio_ = np.full(len(keys), self.l1_ratio_)
        self.n_iter_ = self.n_iter_.transpose(0, 2, 1)[None]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score that chose the penalty."""
        check_is_fitted(self)
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(self._scorer()(self, X, y, **weight))


def _values(given: Any) -> Floats:
    if isinstance(given, Integral):
        return np.logspace(-4, 4, int(given))
    values = np.asarray(given, np.float64)
    if values.ndim != 1 or len(values) == 0 or not (values > 0).all():
        raise ValueError(f"Expected a list of positive numbers for Cs, got {given!r}.")
    return values


def _some(rows: Rows, index: Array) -> Rows:
    groups = rows.groups
    assert isinstance(groups, Hard)
    weight = None if groups.weight is None else groups.weight[index]
    return Rows(take(rows.X, index), Hard(groups.codes[index], groups.n_groups, weight))
