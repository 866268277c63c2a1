"""Probabilities that mean what they say, learned from scores of rows held out."""

from posterior.evaluation.calibration.calibrators import AUTO as AUTO
from posterior.evaluation.calibration.calibrators import CALIBRATORS as CALIBRATORS
from posterior.evaluation.calibration.calibrators import (
    Calibrator,
    answers,
    check_calibrated,
    name_of,
)
from posterior.evaluation.calibration.class_scaling import StructuredMatrix, Vector
from posterior.evaluation.calibration.isotonic import Isotonic
from posterior.evaluation.calibration.select_calibrator import chosen, learned
from posterior.evaluation.calibration.temperature import Temperature
from posterior.evaluation.calibration.two_slopes import Beta, Quadratic

__all__ = [
    "Beta",
    "Calibrator",
    "Isotonic",
    "Quadratic",
    "StructuredMatrix",
    "Temperature",
    "Vector",
    "answers",
    "check_calibrated",
    "chosen",
    "learned",
    "name_of",
]
