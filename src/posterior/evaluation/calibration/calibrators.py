"""The calibrators there are, by the names that `calibrated=` takes."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from posterior import kernels
from posterior.data.typing import Floats
from posterior.evaluation.calibration.class_scaling import StructuredMatrix, Vector
from posterior.evaluation.calibration.isotonic import Isotonic
from posterior.evaluation.calibration.temperature import Temperature
from posterior.evaluation.calibration.two_slopes import Beta, Quadratic

Calibrator: TypeAlias = Temperature | Isotonic | Beta | Quadratic | Vector | StructuredMatrix
AUTO = "auto"  # whichever lowers the loss on rows held out, if one does
CALIBRATORS: dict[str, type[Calibrator]] = {
    "temperature": Temperature,
    "isotonic": Isotonic,
    "beta": Beta,
    "quadratic": Quadratic,
    "vector": Vector,
    "matrix": StructuredMatrix,
}


def name_of(calibrator: Calibrator) -> str:
    """As `calibrated=` takes it."""
    return next(name for name, kind in CALIBRATORS.items() if isinstance(calibrator, kind))


def answers(scores: Floats, calibrator: Calibrator | None, wanted: str) -> Floats:
    """Scores of the classes as their "posterior" or "log_posterior", corrected."""
    if calibrator is None:
        kernels.normalize(scores, wanted)
        return scores
    kernels.normalize(scores, "log_posterior")
    corrected = calibrator.apply(scores)
    return np.exp(corrected) if wanted == "posterior" else corrected


def check_calibrated(kind: str, streaming: bool = False) -> None:
    """Refuse the name of a calibration that there is not, and rows that are not all at hand."""
    if kind != AUTO and kind not in CALIBRATORS:
        raise ValueError(
            f"Expected calibrated to be one of {sorted([AUTO, *CALIBRATORS])} or None, got "
            f"{kind!r}."
        )
    if streaming:
        raise ValueError(
            "Expected calibrated=None here: calibration needs all rows at once. Use fit()."
        )
