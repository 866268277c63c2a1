"""How many components: by BIC, ICL or the likelihood of rows held out."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from posterior import kernels
from posterior.data.errors import DegenerateError
from posterior.data.rows import Rows
from posterior.data.table import Table
from posterior.data.typing import Array, Floats
from posterior.families.family import fill
from posterior.generative.em import Ascent
from posterior.generative.joint import Joint
from posterior.sources.remote_rows import RemoteRows

if TYPE_CHECKING:
    from posterior.estimators.mixture.mixture_base import MixtureModel

CRITERIA = ("bic", "icl", "held_out")
MOST = 9  # components that are tried if nobody says how many
FOLDS = 5


def numbers_of(asked: Any, n_rows: int) -> list[int]:
    """The numbers of components to try."""
    if isinstance(asked, Integral):
        return [int(asked)]
    if isinstance(asked, str):
        return list(range(1, min(MOST, n_rows) + 1))
    numbers = list(asked)
    if not numbers or not all(isinstance(k, Integral) and int(k) >= 1 for k in numbers):
        raise ValueError(f"Expected whole numbers of components, one or more, got {numbers}.")
    return sorted({int(k) for k in numbers})


def criterion_of(model: MixtureModel) -> str:
    return model.n_components if isinstance(model.n_components, str) else model.criterion


def refuse_held_out(model: MixtureModel) -> None:
    """No part of a table that is elsewhere is held out."""
    if criterion_of(model) == "held_out" and not isinstance(model.n_components, Integral):
        raise ValueError(
            "Expected 'bic' or 'icl' to choose the number of components of a table that is "
            "elsewhere, got 'held_out', which learns from parts of it."
        )


def compared(
    model: MixtureModel,
    rows: Rows | RemoteRows,
    trials: list[Ascent[Any, Any]],
    random: np.random.RandomState,
) -> tuple[Table, int]:
    """A line for each number of components, and which is best."""
    asked = criterion_of(model)
    n = rows.weight if isinstance(rows, RemoteRows) else float(_weight(rows).sum())
    lines: dict[str, list[float]] = {name: [] for name in ("log_likelihood", "bic", "aic", "icl")}
    size: list[int] = []
    for trial in trials:
        joint = trial.joint
        log_likelihood, decided = model.engine_.sum(_decided(joint), rows)
        p = joint.family.n_parameters(joint.parameters) + len(joint.log_prior) - 1
        size.append(p)
        bic = -2 * log_likelihood + p * np.log(n)
        lines["log_likelihood"].append(log_likelihood)
        lines["bic"].append(bic)
        lines["aic"].append(-2 * log_likelihood + 2 * p)
        lines["icl"].append(bic - 2 * decided)
    columns: dict[str, Array] = {
        "n_components": np.array([len(t.joint.log_prior) for t in trials]),
        "n_parameters": np.array(size),
        **{name: np.array(values) for name, values in lines.items()},
    }
    if asked == "held_out":
        assert isinstance(rows, Rows)
        columns["held_out"] = np.array(
            [_held_out(model, rows, len(t.joint.log_prior), random) for t in trials]
        )
        return Table(columns), int(columns["held_out"].argmax())
    return Table(columns), int(columns[asked].argmin())


def _held_out(model: MixtureModel, rows: Rows, k: int, random: np.random.RandomState) -> float:
    """log p(x) of an average row, by a model that has not seen it."""
    weight = _weight(rows)
    fold = np.random.default_rng(0).permutation(len(rows)) % FOLDS
    value = 0.0
    for f in range(FOLDS):
        seen, held = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        if len(seen) < k or len(held) == 0:
            return -np.inf
        try:
            ascent, _ = model._best(rows.take(seen), k, random)
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
