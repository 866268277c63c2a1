"""Selects what corrects probabilities, by the loss on rows that the correction itself never saw."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from posterior.data.typing import Array, Floats
from posterior.evaluation.calibration.calibrators import AUTO, CALIBRATORS, Calibrator
from posterior.evaluation.calibration.temperature import FEW
from posterior.evaluation.held_out import HeldOut, floored

FEWEST = 50  # rows, below which nothing is corrected
WORTH = 0.005  # of the log loss: a smaller gain is not worth a correction
ENOUGH = 5000  # rows to learn a correction from
SURE = 2.0  # standard errors of a gain: one row that gains alone is about one of them
ODDS = 20.0  # for a correction; had the model been right, 1 chance in 20 at most (Markov)
PARTS = 5  # of the rows, each corrected by the others
MANY = 30  # classes, above which a matrix has too many numbers


def learned(held_out: HeldOut, kind: str) -> Calibrator | None:
    """The correction of a name, or the one that "auto" chooses, if any.

    Of many rows every so manieth is asked: the order of rows should be that of their content.
    """
    if kind == AUTO:
        return chosen(held_out)[1]
    return _fit(kind, held_out, np.ones(len(held_out.codes), bool))


def chosen(held_out: HeldOut) -> tuple[str | None, Calibrator | None, HeldOut]:
    """The correction that lowers log loss by more than two standard errors, or none.

    From the simplest to the richest, each must beat the one before on rows that it was not learned
    from: parts of the rows, or of the folds, are corrected by what the others say, and differences
    are taken row by row. Together they must make a likelihood ratio, Π q(y | x) / p(y | x), of 20
    or more: errors that rows are too few to show are in no standard error. What is kept is
    learned from all.
    """
    n, k = held_out.log_proba.shape
    name, best = None, replace(held_out, log_proba=floored(held_out.log_proba))
    parts = (np.arange(n) if held_out.folds is None else held_out.folds) % PARTS
    if n < FEWEST or k < 2 or len(np.unique(parts)) < 3:
        return None, None, best
    rows = n if held_out.weight is None else float(held_out.weight.sum())
    for candidate in candidates(n, k):
        log_proba = np.empty((n, k))
        for part in np.unique(parts):
            test = parts == part
            log_proba[test] = _fit(candidate, held_out, ~test).apply(held_out.log_proba[test])
        corrected = replace(held_out, log_proba=floored(log_proba))
        gain, error = _gain(best, corrected)
        if gain > max(SURE * error, WORTH * best.log_loss, np.log(ODDS) / rows):
            name, best = candidate, corrected
    if name is None:
        return None, None, best
    return name, _fit(name, held_out, np.ones(n, bool)), best


def candidates(n_rows: int, n_classes: int) -> list[str]:
    """Corrections to try, the simplest first."""
    if n_rows < FEW:
        return ["temperature"]
    if n_classes == 2:
        return ["temperature", "beta", "quadratic"]
    return ["temperature", "matrix" if n_classes <= MANY else "vector"]


def _gain(before: HeldOut, after: HeldOut) -> tuple[float, float]:
    """How much lower the log loss is, and the standard error of that, paired by rows."""
    gain = before.losses()["log_loss"] - after.losses()["log_loss"]
    w = np.ones(len(gain)) if before.weight is None else before.weight
    mean = float(w @ gain / w.sum())
    return mean, float(np.sqrt(w @ (gain - mean) ** 2) / w.sum())


def _fit(kind: str, held_out: HeldOut, inside: Array) -> Calibrator:
    """A correction, from some thousand rows, which are enough."""
    index = np.flatnonzero(inside)
    index = index[:: -(-len(index) // ENOUGH) or 1]
    weight: Floats | None = None if held_out.weight is None else held_out.weight[index]
    return CALIBRATORS[kind].fit(held_out.log_proba[index], held_out.codes[index], weight)
