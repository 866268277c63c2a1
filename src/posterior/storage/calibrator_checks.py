"""Calibrators of a file, compared with the classes of the model that holds them."""

from __future__ import annotations

from typing import Any

import numpy as np

from posterior.evaluation.calibration import (
    Beta,
    Isotonic,
    Quadratic,
    StructuredMatrix,
    Temperature,
    Vector,
)
from posterior.storage.extents import shape_of
from posterior.storage.model_file_error import expect


def check_calibrator(value: Any, n_classes: int) -> None:
    """Refuse what corrects probabilities of other classes, or makes none of them."""
    if value is None:
        return
    if isinstance(value, Isotonic):
        expect(isinstance(value.steps, tuple) and len(value.steps) == n_classes, "steps by class")
        for step in value.steps:
            expect(len(step) == 2 and shape_of(step[0]) == shape_of(step[1]) != (0,), "steps")
            expect(all(_numbers(part, shape_of(part)) for part in step), "steps")
        expect(_number(value.least) and 0 < value.least < 1, "a least probability")
        return
    corrected = isinstance(value, Beta | Quadratic | Vector | StructuredMatrix)
    base = value.base if corrected else value
    expect(isinstance(base, Temperature), "a calibrator")
    expect(_number(base.temperature) and base.temperature > 0, "a temperature above zero")
    expect(_number(base.uniform) and 0 <= base.uniform < 1, "a share of the uniform distribution")
    if isinstance(value, Beta):
        parts = value.intercept, value.low, value.high
        expect(n_classes == 2 and all(map(_number, parts)), "a curve of two classes")
        expect(value.low >= 0 and value.high >= 0, "slopes that are not negative")
    elif isinstance(value, Quadratic):
        parts = value.intercept, value.slope, value.curvature
        expect(n_classes == 2 and all(map(_number, parts)), "a curve of two classes")
    elif isinstance(value, Vector | StructuredMatrix):
        scale = value.slope if isinstance(value, Vector) else value.matrix
        shape = (n_classes,) if isinstance(value, Vector) else (n_classes, n_classes)
        expect(_numbers(scale, shape), f"a scale of {n_classes} classes")
        expect(_numbers(value.intercept, (n_classes,)), "a constant of each class")


def _number(value: Any) -> bool:
    return isinstance(value, float) and bool(np.isfinite(value))


def _numbers(values: Any, shape: tuple[int, ...]) -> bool:
    plain = isinstance(values, np.ndarray) and values.dtype == np.float64
    return plain and values.shape == shape and bool(np.isfinite(values).all())
