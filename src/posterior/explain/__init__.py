"""Fitted models, explained: where the most probable class changes."""

from posterior.explain.boundary import Surface, decision_boundary
from posterior.explain.contour import Curve, Curves
from posterior.explain.crossing import Points

__all__ = ["Curve", "Curves", "Points", "Surface", "decision_boundary"]
