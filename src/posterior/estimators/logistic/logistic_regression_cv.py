"""Logistic regression whose penalty is chosen by cross-validation."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from posterior.data.rows import Rows, SparseRows
from posterior.data.table_columns import Columns
from posterior.data.typing import Array, Floats
from posterior.discriminative.fitted_logistic import FittedLogistic
from posterior.discriminative.logistic_rule import LogisticRule
from posterior.discriminative.loss import numbers
from posterior.discriminative.minimum import Minimum
from posterior.discriminative.objective import Objective
from posterior.discriminative.solvers import Solution
from posterior.engines.locate import locate
from posterior.estimators import calibrated
from posterior.estimators.logistic import settings
from posterior.estimators.logistic.base import LogisticBase
from posterior.estimators.logistic.logistic_regression import LogisticRegression
from posterior.readers.encoded import Encoded
from posterior.readers.labels import Labels

FOLDS = 5


class LogisticRegressionCV(LogisticBase):
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
    fit_intercept, tol, max_iter, class_weight, solver, calibrated : as in `LogisticRegression`
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
        "calibrated": calibrated.CALIBRATED,
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
        calibrated: str | None = None,
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
        self.calibrated = calibrated

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the path in every fold, choose, and learn from all rows."""
        self._validate_params()
        calibrated.check(self)
        ratios = settings.ratios(self.penalty, self.l1_ratios)
        for ratio in ratios:
            settings.check_solver(self.solver, 1.0, ratio, self.dual)
        if locate(X) is not None:
            raise TypeError(
                f"Expected rows in memory, which {type(self).__name__} splits into folds, got a "
                "remote table. Use LogisticRegression, or read some of the rows."
            )
        reader, labels, rows = self._rows(X, y, sample_weight)
        Cs, l1_ratios = _values(self.Cs), np.asarray(ratios, np.float64)
        rules = [[self._rule_with(C, ratio, searches=False) for C in Cs] for ratio in l1_ratios]
        folds = []
        for train, test in self._splits(rows.hard.codes):
            known, asked = rows.take(train), rows.take(test)
            folds.append([self._line(reader, labels, known, asked, line) for line in rules])
        paths, scores, n_iter = (
            np.array([[[point[i] for point in line] for line in fold] for fold in folds])
            for i in range(3)
        )
        i, j = _best(scores.mean(axis=0))
        rule = rules[i][j]
        objective = rule.objective(rows, reader, self.engine_)
        if self.refit:
            C, l1_ratio = float(Cs[j]), float(l1_ratios[i])
            # from zero, as LogisticRegression with these settings: the same model to the bit
            minimum = rule.solve(objective, np.zeros(objective.shape), reader)
        else:
            best = [_best(each) for each in scores]
            C = float(np.mean([Cs[j] for _, j in best]))
            l1_ratio = float(np.mean([l1_ratios[i] for i, _ in best]))
            mean = np.mean([path[k] for path, k in zip(paths, best, strict=True)], axis=0)
            solution = Solution(self._joined(mean, objective), (), True, "the mean of the folds")
            minimum = Minimum(objective, solution, "mean")
        fitted = FittedLogistic.of(reader, labels, minimum, rule.dtype(X))
        fitted = calibrated.of_minimum(self, fitted, X, y, sample_weight)
        chosen: tuple[Any, Any, Any, Any] = C, l1_ratio, paths, scores
        if self.use_legacy_attributes:
            chosen, n_iter = _legacy(labels.classes, *chosen), n_iter.transpose(0, 2, 1)[None]
        self.fitted_ = replace(fitted, n_iter=n_iter, minimum=None)
        self.Cs_, self.l1_ratios_ = Cs, l1_ratios
        self.C_, self.l1_ratio_, self.coefs_paths_, self.scores_ = chosen
        return self

    def _splits(self, codes: Array) -> list[tuple[Array, Array]]:
        from sklearn.model_selection import check_cv

        folds = self.cv
        if folds is None:  # fewer where a class has fewer rows
            folds = min(FOLDS, max(2, int(np.bincount(codes).min())))
        splitter = check_cv(folds, codes, classifier=True)
        return list(splitter.split(np.empty((len(codes), 0)), codes))

    def _line(
        self, reader: Encoded, labels: Labels, known: Rows, asked: Rows, rules: list[LogisticRule]
    ) -> list[tuple[Floats, float, int]]:
        """Coefficients, scores and iterations of one fold, for every C of one l1_ratio."""
        start, line = None, []
        for rule in rules:
            objective = rule.objective(known, reader, self.engine_)
            start = np.zeros(objective.shape) if start is None else start
            minimum = rule.solve(objective, start, reader)
            start = minimum.solution.coef
            slope, intercept = objective.loss.parts(minimum.coef)
            path = np.column_stack([slope, intercept]) if self.fit_intercept else slope
            score = self._score_of(labels, slope, intercept, asked)
            line.append((path, score, minimum.solution.n_iter))
        return line

    def _score_of(self, labels: Labels, slope: Floats, intercept: Floats, asked: Rows) -> float:
        model, width = LogisticRegression(), slope.shape[1]
        reader = Encoded(Columns(type(model).__name__, width))
        model.fitted_ = FittedLogistic(reader, labels, slope, intercept, np.zeros(width))
        groups, X = asked.hard, numbers(asked)
        table = X.scipy() if isinstance(X, SparseRows) else X
        truth = labels.classes[groups.codes]
        weight = {} if groups.weight is None else {"sample_weight": groups.weight}
        return float(self._scorer()(model, table, truth, **weight))

    def _scorer(self) -> Any:
        from sklearn.metrics import get_scorer

        return get_scorer(self.scoring or "accuracy")

    def _joined(self, path: Floats, objective: Objective) -> Floats:
        """Coefficients of a path in the coordinates of an objective."""
        if not self.fit_intercept:
            return path
        return objective.loss.joined(path[:, :-1], path[:, -1])

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


def _best(scores: Floats) -> tuple[int, int]:
    """The places of l1_ratio and C of the best score."""
    i, j = np.unravel_index(int(scores.argmax()), scores.shape)
    return int(i), int(j)


def _legacy(
    classes: Array, C: float, l1_ratio: float, paths: Floats, scores: Floats
) -> tuple[Floats, Floats, dict[Any, Floats], dict[Any, Floats]]:
    """The same by class, in dictionaries, as scikit-learn had them until 1.9."""
    keys = classes[1:] if len(classes) == 2 else classes
    paths, scores = paths.transpose(3, 0, 2, 1, 4), scores.transpose(0, 2, 1)
    if scores.shape[2] == 1:
        paths, scores = paths[:, :, :, 0], scores[:, :, 0]
    by_class = dict(zip(keys, paths, strict=True)), dict.fromkeys(keys, scores)
    return np.full(len(keys), C), np.full(len(keys), l1_ratio), *by_class
