"""Model selection: comparison out of fold, the one-standard-error rule, calibration."""

from posterior.selection.comparison import Comparison, Judged, compare

__all__ = ["Comparison", "Judged", "compare"]
