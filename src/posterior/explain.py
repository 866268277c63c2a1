"""Decision boundaries under their former name; they are in `posterior.evaluation`."""

from posterior.evaluation import Curve, Curves, Points, Surface, decision_boundary

__all__ = ["Curve", "Curves", "Points", "Surface", "decision_boundary"]
