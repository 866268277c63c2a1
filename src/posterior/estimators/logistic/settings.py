"""scikit-learn's words for penalties and solvers, translated once."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_class_weight

from posterior.data.rows import SparseRows
from posterior.data.typing import Array, Floats
from posterior.discriminative.objective import Objective
from posterior.discriminative.solvers import (
    GradientAscent,
    Newton,
    NewtonCG,
    ProximalNewton,
    QuasiNewton,
    Solution,
    Solver,
    Stop,
)
from posterior.discriminative.solvers.solution import OVERSHOT
from posterior.sources.remote_rows import RemoteRows

SOLVERS = (
    "auto",
    "gradient-ascent",
    "lbfgs",
    "liblinear",
    "newton-cg",
    "newton-cholesky",
    "sag",
    "saga",
)
WITH_LASSO = ("auto", "liblinear", "saga")
MATRIX = 400  # coefficients whose Hessian is worth writing down
WIDE = 150  # the same where there are fewer rows than columns
WORTH = 10**8  # multiplications for a Hessian of several outputs
LASSO = 3000  # the same of a lasso, where columns are not at hand
MANY = 2000  # rows for each coefficient: a sample of them says where to begin


def strength(model: Any) -> tuple[float, float]:
    """C and l1_ratio, from whichever words were used."""
    C, ratio, penalty = model.C, model.l1_ratio, model.penalty
    if penalty != "deprecated":
        warnings.warn(
            "'penalty' was deprecated in scikit-learn 1.8: use l1_ratio=0 for 'l2', l1_ratio=1 for "
            "'l1', a value between for 'elasticnet', and C=np.inf for None.",
            FutureWarning,
            stacklevel=4,
        )
    if ratio is None:
        if penalty == "elasticnet":
            raise ValueError("l1_ratio must be specified when penalty is elasticnet.")
        if penalty == "deprecated":
            warnings.warn(
                "'l1_ratio=None' was deprecated in scikit-learn 1.8: use l1_ratio=0.",
                FutureWarning,
                stacklevel=4,
            )
        ratio = 0.0
    if penalty is None:
        if C != 1.0:
            warnings.warn("Setting penalty=None will ignore the C and l1_ratio.", stacklevel=4)
        return np.inf, 0.0
    if penalty in ("l1", "l2"):
        wanted = {"l1": 1.0, "l2": 0.0}[penalty]
        if 0 < ratio < 1:
            warnings.warn(
                "l1_ratio parameter is only used when penalty is 'elasticnet'. Got "
                f"(penalty={penalty})",
                stacklevel=4,
            )
        elif ratio != wanted:
            warnings.warn(
                f"Inconsistent values: penalty={penalty} with l1_ratio={ratio}. penalty is "
                "deprecated. Please use l1_ratio only.",
                stacklevel=4,
            )
        ratio = wanted
    return C, ratio


def ratios(penalty: Any, given: Any) -> list[float]:
    """The values of l1_ratio to try."""
    if penalty != "deprecated":
        warnings.warn(
            "'penalty' was deprecated in scikit-learn 1.8: use l1_ratios.",
            FutureWarning,
            stacklevel=4,
        )
    if penalty == "elasticnet" and given is None:
        raise ValueError("l1_ratios must be specified when penalty is elasticnet.")
    if penalty in ("l1", "l2"):
        return [{"l1": 1.0, "l2": 0.0}[penalty]]
    values = [0.0] if given is None else [float(r) for r in given]
    if not values or not all(0 <= r <= 1 for r in values):
        raise ValueError(f"l1_ratios must be a list of numbers between 0 and 1; got {given!r}.")
    return values


def check_solver(solver: str, C: float, ratio: float, dual: bool) -> None:
    """Refuse what scikit-learn's solver of that name does not do."""
    named = "elasticnet" if 0 < ratio < 1 else "l1" if ratio == 1 else "l2"
    if ratio > 0 and solver not in WITH_LASSO:
        raise ValueError(
            f"Solver {solver} supports only 'l2' or None penalties, got {named} penalty."
        )
    if dual and solver != "liblinear":
        raise ValueError(f"Solver {solver} supports only dual=False, got dual={dual}")
    if 0 < ratio < 1 and solver == "liblinear":
        raise ValueError(f"Only 'saga' solver supports elasticnet penalty, got solver={solver}.")
    if np.isinf(C) and solver == "liblinear":
        raise ValueError("penalty=None is not supported for the liblinear solver")


def check_input(solver: str, X: Any, n_classes: int) -> None:
    """Refuse rows and classes that scikit-learn's solver of that name does not take."""
    if solver != "liblinear":
        return
    if n_classes > 2:
        raise ValueError(
            "The 'liblinear' solver does not support multiclass classification (n_classes >= 3). "
            "Use another solver: 'auto' finds one."
        )
    values = X.entries() if isinstance(X, SparseRows) else X
    if values.max(initial=0.0) > 1e30:
        raise ValueError(
            "Using the 'liblinear' solver while X contains a maximum value > 1e30 results in a "
            "frozen fit. Please choose another solver or rescale the input X."
        )


def warn_of_jobs(n_jobs: int | None) -> None:
    if n_jobs is not None:
        warnings.warn(
            "'n_jobs' has no effect since scikit-learn 1.8: posterior.threads(n) sets the threads.",
            FutureWarning,
            stacklevel=3,
        )


def offsets(given: Any, n_rows: int, outputs: int) -> Floats | None:
    """Scores known beforehand, (n, outputs)."""
    if given is None:
        return None
    table = np.array(given, np.float64, order="C").reshape(n_rows, -1)
    if table.shape[1] != outputs:
        raise ValueError(
            f"Expected offsets of shape {(n_rows, outputs)}, got {np.shape(given)}: one number a "
            "row for two classes, else one for each class."
        )
    if not np.isfinite(table).all():
        raise ValueError("Expected finite offsets, got NaN or infinity.")
    return table


def class_factors(
    asked: Any, classes: Array, weight: Floats, *, streaming: bool = False
) -> Floats | None:
    """What a row of each class counts beyond its weight, as class_weight says.

    `weight` is that of all rows of each class. In a stream some classes may not have come yet.
    """
    if asked is None:
        return None
    if asked == "balanced":
        seen = weight > 0
        return np.asarray(weight.sum() / (seen.sum() * np.where(seen, weight, 1.0)))
    if streaming:
        asked = {label: asked[label] for label in classes.tolist() if label in asked}
    return np.asarray(compute_class_weight(asked, classes=classes, y=classes), np.float64)


def solver_of(name: str, tol: float, max_iter: int, step: float, objective: Objective) -> Solver:
    """The solver that goes by a name, or the best one for this objective.

    The tolerance of "sag" and "saga" bounds the change of the coefficients, which asks for more
    than the same bound of the gradient.
    """
    stop = Stop(0.1 * tol if name in ("sag", "saga") else tol, max_iter)
    if not objective.penalty.smooth:
        if isinstance(objective.rows, RemoteRows) and objective.size > LASSO:
            raise ValueError(
                f"Expected at most {LASSO} coefficients for a lasso on a remote table, "
                f"got {objective.size}: its columns are not at hand one by one. Use l1_ratio=0, "
                "or read the rows into memory."
            )
        return ProximalNewton(stop)
    match name:
        case "gradient-ascent":
            return GradientAscent(step, tol, max_iter)
        case "newton-cholesky":
            return Newton(stop)
        case "newton-cg" | "liblinear":
            return NewtonCG(stop)
        case "lbfgs" | "sag" | "saga":
            return QuasiNewton(stop)
    (m, p), n = objective.shape, len(objective.rows)
    most = MATRIX if n >= p else WIDE
    if m * p > most or (m > 1 and n * m**2 * p**2 > WORTH):
        return QuasiNewton(stop)
    return QuasiNewton(stop, sample=True) if m == 1 and n > MANY * p else Newton(stop)


def warn_if_tired(name: str, used: str, solution: Solution) -> None:
    if solution.converged:
        return
    n, last = solution.n_iter, solution.trace[-1]
    messages = {
        "newton-cg": f"newton-cg failed to converge at loss = {last.value:g}. Increase the number "
        "of iterations.",
        "liblinear": "Liblinear failed to converge, increase the number of iterations.",
        "sag": "The max_iter was reached which means the coef_ did not converge",
        "saga": "The max_iter was reached which means the coef_ did not converge",
        "newton-cholesky": f"Newton solver did not converge after {n} iterations.",
    }
    words = messages.get(name, f"{name if name != 'auto' else used} failed to converge.")
    remedy = "Raise max_iter or tol, or bring the columns to one scale."
    if solution.reason == OVERSHOT:
        remedy = (
            f"The log-likelihood fell in some of the last steps: step={last.step:g} is too long. "
            f"Lower it, say to {last.step / 10:g}, or bring the columns to one scale."
        )
    warnings.warn(
        f"{words} After {n} iterations the gradient per row is {last.gradient_norm:.2g}. {remedy}",
        ConvergenceWarning,
        stacklevel=3,
    )
