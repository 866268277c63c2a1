"""Corrected probabilities: the numbers of a calibrator."""

from __future__ import annotations

from posterior.evaluation.calibration import (
    Beta,
    Calibrator,
    Isotonic,
    Quadratic,
    StructuredMatrix,
    Temperature,
)
from posterior.javascript.sheet import Described


def correction(calibrator: Calibrator) -> Described:
    """What is done to log p(k | x)."""
    if isinstance(calibrator, Isotonic):
        steps = [{"x": x, "y": y} for x, y in calibrator.steps]
        return {"kind": "isotonic", "steps": steps, "least": calibrator.least}
    if isinstance(calibrator, Temperature):
        return _tempered(calibrator)
    base = {"base": _tempered(calibrator.base), "intercept": calibrator.intercept}
    if isinstance(calibrator, Beta):
        return {"kind": "beta", **base, "low": calibrator.low, "high": calibrator.high}
    if isinstance(calibrator, Quadratic):
        bent = {"slope": calibrator.slope, "curvature": calibrator.curvature}
        return {"kind": "quadratic", **base, **bent}
    if isinstance(calibrator, StructuredMatrix):
        return {"kind": "matrix", **base, "matrix": calibrator.matrix}
    return {"kind": "vector", **base, "slope": calibrator.slope}


def _tempered(calibrator: Temperature) -> Described:
    given = {"temperature": calibrator.temperature, "uniform": calibrator.uniform}
    return {"kind": "temperature", **given}
