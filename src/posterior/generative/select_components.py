"""How many components, and of which form: by BIC, ICL or the likelihood of rows held out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from posterior import kernels
from posterior.data.errors import DegenerateError, DegenerateWarning
from posterior.data.rows import Rows
from posterior.data.table import Table
from posterior.data.typing import Array, Floats
from posterior.families.family import fill
from posterior.generative.em import Ascent
from posterior.generative.joint import Joint
from posterior.generative.rule import Worker
from posterior.generative.several_starts import Convergence
from posterior.sources.remote_rows import RemoteRows

CRITERIA = ("bic", "icl", "held_out")
MOST = 9  # components that are tried if nobody says how many
FOLDS = 5
Learn = Callable[[Rows | RemoteRows, str, int], tuple[Ascent[Any, Any], Table]]
"""The best start of components of a form, so many of them, and a table of all starts."""


def numbers_of(asked: Any, n_rows: int) -> list[int]:
    """The numbers of components to try."""
    if isinstance(asked, Integral):
        numbers = [int(asked)]
    elif isinstance(asked, str):
        numbers = list(range(1, min(MOST, n_rows) + 1))
    else:
        given = list(asked)
        if not given or not all(isinstance(k, Integral) and int(k) >= 1 for k in given):
            raise ValueError(f"Expected whole numbers of components, one or more, got {given}.")
        numbers = sorted({int(k) for k in given})
    if max(numbers) > n_rows:
        raise ValueError(
            f"Expected n_samples >= n_components but got n_components = {max(numbers)}, "
            f"n_samples = {n_rows}"
        )
    return numbers


def best_of_forms(
    forms: Sequence[str],
    numbers: Sequence[int],
    rows: Rows | RemoteRows,
    criterion: str,
    engine: Worker,
    learn: Learn,
    n_shares: Callable[[int], int],
) -> tuple[str, Ascent[Any, Any], Convergence]:
    """The best form, the ascent of its best number of components, and how it went."""
    asked = [(form, k) for k in numbers for form in forms]
    if criterion == "held_out" and len(asked) > 1 and isinstance(rows, RemoteRows):
        raise ValueError(
            "Expected 'bic' or 'icl' to choose the number of components of a remote "
            "table, got 'held_out', which learns from parts of it."
        )
    trials: dict[tuple[str, int], tuple[Ascent[Any, Any], Table]] = {}
    for form, k in asked:
        try:
            trials[form, k] = learn(rows, form, k)
        except DegenerateError:
            if (form, k) == asked[-1] and not trials:
                raise
            of_form = f" of covariance_type={form!r}" if len(forms) > 1 else ""
            warnings.warn(
                f"Every start of {k} components{of_form} collapsed: they are not among those "
                "compared in selection_.",
                DegenerateWarning,
                stacklevel=4,
            )
    selection, best = None, 0
    if len(asked) > 1:
        joints = {key: ascent.joint for key, (ascent, _) in trials.items()}
        selection, best = _compared(joints, rows, criterion, engine, learn, n_shares)
        if len(forms) > 1:
            tried = np.array([form for form, _ in trials])
            selection = Table({"covariance_type": tried, **selection.columns})
    (form, _), (ascent, starts) = list(trials.items())[best]
    return form, ascent, replace(Convergence.of(ascent, starts), selection=selection)


def crossed(selection: Table | None, criterion: str) -> Table:
    """A line for each number of components, a column for each form, and a star at the best."""
    if selection is None or "covariance_type" not in selection.columns:
        raise ValueError(
            "Expected a mixture that chose its type of covariance, got one that was told. Fit it "
            'with covariance_type="all", or with a list.'
        )
    known = [name for name in ("bic", "aic", "icl", "held_out") if name in selection.columns]
    if criterion not in known:
        raise ValueError(f"Expected a criterion of {known}, got {criterion!r}.")
    numbers, forms = (selection[name].tolist() for name in ("n_components", "covariance_type"))
    values = selection[criterion]
    best = int(values.argmax() if criterion == "held_out" else values.argmin())
    cells = {
        (k, form): f"{value:.3f}" + ("*" if i == best else " ")
        for i, (k, form, value) in enumerate(zip(numbers, forms, values, strict=True))
    }
    width = max(map(len, cells.values()))
    lines = sorted(set(numbers))
    columns = {
        form: np.array([cells.get((k, form), "- ").rjust(width) for k in lines])
        for form in dict.fromkeys(forms)
    }
    return Table({"n_components": np.array(lines), **columns})


def _compared(
    joints: Mapping[tuple[str, int], Joint[Any, Any]],
    rows: Rows | RemoteRows,
    criterion: str,
    engine: Worker,
    learn: Learn,
    n_shares: Callable[[int], int],
) -> tuple[Table, int]:
    """A line for each form and number of components, and which is best."""
    n = rows.weight if isinstance(rows, RemoteRows) else float(_weight(rows).sum())
    sums = [engine.sum(_decided(joint), rows) for joint in joints.values()]
    log_likelihood, decided = (np.array(column) for column in zip(*sums, strict=True))
    k = np.array([size for _, size in joints])
    p = np.array([joint.family.n_parameters(joint.parameters) for joint in joints.values()])
    p += [n_shares(int(size)) for size in k]
    bic = -2 * log_likelihood + p * np.log(n)
    columns: dict[str, Array] = {
        "n_components": k,
        "n_parameters": p,
        "log_likelihood": log_likelihood,
        "bic": bic,
        "aic": -2 * log_likelihood + 2 * p,
        "icl": bic - 2 * decided,
    }
    if criterion == "held_out":
        assert isinstance(rows, Rows)
        columns[criterion] = np.array([_held_out(rows, form, k, learn) for form, k in joints])
        return Table(columns), int(columns[criterion].argmax())
    return Table(columns), int(columns[criterion].argmin())


def _held_out(rows: Rows, form: str, k: int, learn: Learn) -> float:
    """log p(x) of an average row, by a model that has not seen it."""
    weight = _weight(rows)
    fold = np.random.default_rng(0).permutation(len(rows)) % FOLDS
    value = 0.0
    for f in range(FOLDS):
        seen, held = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        if len(seen) < k or len(held) == 0:
            return -np.inf
        try:
            ascent, _ = learn(rows.take(seen), form, k)
        except DegenerateError:  # of fewer rows all starts collapse
            return -np.inf
        _, log_evidence = _posterior(ascent.joint, rows.take(held))
        value += total(weight[held], log_evidence)
    return value / float(weight.sum())


def _decided(joint: Joint[Any, Any]) -> Callable[[Rows], Floats]:
    """Sums log p(x), and the log posterior of each row's most probable component."""

    def decided(rows: Rows) -> Floats:
        R, log_evidence = _posterior(joint, rows)
        weight = _weight(rows)
        return np.array([total(weight, log_evidence), weight @ np.log(R.max(axis=1))])

    return decided


def _posterior(joint: Joint[Any, Any], rows: Rows) -> tuple[Array, Array]:
    R, log_evidence = fill(joint.scorer(), rows.X, len(joint.log_prior)), np.empty(len(rows))
    kernels.normalize(R, "posterior", log_evidence)
    return R, log_evidence


def _weight(rows: Rows) -> Array:
    return np.ones(len(rows)) if rows.hard.weight is None else rows.hard.weight


def total(weight: Floats | None, log_evidence: Floats) -> float:
    """Σ w log p; a row of no weight adds nothing, even if it is impossible."""
    if weight is None:
        return float(log_evidence.sum())
    return float(np.sum(weight * np.where(weight > 0, log_evidence, 0.0)))
