"""Additive models."""

from posterior.estimators.additive.additive import Additive

__all__ = ["Additive"]
