"""Models as JavaScript reads them: scores that are sums of parts, pools of such, and mixtures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from posterior.data.typing import Array, Floats
from posterior.evaluation.calibration import Calibrator
from posterior.javascript.calibrators import correction
from posterior.javascript.sheet import Column, Described


def summed(
    classes: Array,
    prior: Floats,
    parts: Sequence[Described],
    names: Sequence[int],
    calibrator: Calibrator | None = None,
) -> Described:
    """s_k = prior_k + Σ of the parts, p(k | x) ∝ exp s_k, corrected; terms have these names."""
    made = {"kind": "sum", "prior": prior, "parts": list(parts), "terms": [*dict.fromkeys(names)]}
    return corrected({**made, "classes": [*classes.tolist()]}, calibrator)


def corrected(model: Described, calibrator: Calibrator | None) -> Described:
    """The same with probabilities that are corrected once more."""
    if calibrator is None:
        return model
    return {**model, "calibrators": [*model.get("calibrators", ()), correction(calibrator)]}


@singledispatch
def described(model: Any, columns: Sequence[Column]) -> Described:
    """A fitted model of some columns; an error where JavaScript cannot hold it."""
    raise TypeError(
        "Expected naive Bayes or a model of dependent columns, discriminant analysis, logistic "
        "regression, an additive model, a mixture, a model of documents, or a pool of such to "
        f"write as JavaScript, got {type(model).__name__}."
    )
