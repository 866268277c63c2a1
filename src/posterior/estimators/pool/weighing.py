"""Models that have said what they think of rows held out, weighed together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior.data.table import Table
from posterior.data.table_columns import Columns
from posterior.data.typing import Codes, Floats
from posterior.discriminative.pooling import SHRINKAGE, PoolWeights, sharpness, weighed
from posterior.estimators.pool.dealt_rows import DealtRows
from posterior.estimators.pool.fitted_pool import FittedPool
from posterior.estimators.refits import learned_by
from posterior.evaluation.held_out import HeldOut, aligned, floored

QUICK = "quick"  # a few models, asked for without naming them


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A member that has learned from all rows, and what it said of those that folds held out."""

    name: str
    model: Any
    said: Floats  # (held out, k)
    sharpness: float  # at which it does best alone

    @classmethod
    def of(cls, name: str, member: Any, rows: DealtRows) -> Trial:
        model, said = learned_by(member, rows.X, rows.labels, rows.folds, rows.weight)
        said = aligned(said, np.asarray(model.classes_), rows.classes)
        return cls.of_answers(name, model, said, rows)

    @classmethod
    def of_answers(cls, name: str, model: Any, said: Floats, rows: DealtRows) -> Trial:
        """By what it said (n, k) of all rows, of which some are held out."""
        index = rows.held_out
        said = said[index]
        given = None if rows.weight is None else rows.weight[index]
        return cls(name, model, said, sharpness(said, rows.codes[index], given))


def pooled(
    trials: Sequence[Trial],
    rows: DealtRows,
    columns: Columns,
    shrinkage: float = SHRINKAGE,
    nothing: bool = False,
) -> FittedPool:
    """The pool of some members, by the weights of least loss on the rows held out.

    Where nothing was found, no member counts, and the shares of the classes are all there is.
    """
    if nothing:
        found, held_out = PoolWeights(np.zeros(len(trials)), log_shares(rows)), shares(rows)
    else:
        found = weights_of(trials, rows, shrinkage)
        held_out = together(trials, rows, shrinkage)
    alone = [answered(floored(trial.said), rows) for trial in trials]
    losses = Table(
        {
            "member": np.array([*(trial.name for trial in trials), "all together"], object),
            "weight": np.append(found.weights, np.nan),
            "log loss": np.array([each.log_loss for each in (*alone, held_out)]),
        }
    )
    names, models = zip(*((trial.name, trial.model) for trial in trials), strict=True)
    return FittedPool(columns, rows.classes, names, models, found, held_out, losses)


def answered(log_proba: Floats, rows: DealtRows) -> HeldOut:
    """Log probabilities of the rows held out."""
    index = rows.held_out
    weight = None if rows.weight is None else rows.weight[index]
    return HeldOut(log_proba, rows.codes[index], rows.classes, rows.folds[index], weight)


def log_shares(rows: DealtRows) -> Floats:
    """Of the classes, in all rows, (k,)."""
    counts = np.bincount(rows.codes, rows.weight, len(rows.classes))
    return np.asarray(np.log(counts / counts.sum()))


def shares(rows: DealtRows) -> HeldOut:
    """What the shares of the classes say of the rows held out."""
    said = np.tile(log_shares(rows), (len(rows.held_out), 1))
    return answered(floored(said), rows)


def weights_of(
    trials: Sequence[Trial], rows: DealtRows, shrinkage: float = SHRINKAGE
) -> PoolWeights:
    """Of some members."""
    said, index = np.stack([trial.said for trial in trials]), rows.held_out
    if len(index) == 0:
        return PoolWeights(np.full(len(said), 1 / len(said)), np.zeros(said.shape[2]))
    weight = None if rows.weight is None else rows.weight[index]
    scales = np.array([trial.sharpness for trial in trials])
    return weighed(said, rows.codes[index], weight, shrinkage, scales)


def together(trials: Sequence[Trial], rows: DealtRows, shrinkage: float = SHRINKAGE) -> HeldOut:
    """What the pool says of the rows held out, each fifth of them by weights of the others."""
    said = np.stack([trial.said for trial in trials])
    index = rows.held_out
    codes: Codes = rows.codes[index]
    weight = None if rows.weight is None else rows.weight[index]
    parts = rows.fifths()
    scales = np.array([trial.sharpness for trial in trials])
    out = np.empty((len(index), said.shape[2]))
    for part in np.unique(parts):
        test = parts == part
        others = None if weight is None else weight[~test]
        if test.all():
            found = weights_of(trials, rows, shrinkage)
        else:
            found = weighed(said[:, ~test], codes[~test], others, shrinkage, scales)
        out[test] = found.log_proba(said[:, test])
    return answered(floored(out), rows)
