"""Pools of models, and the classifier that chooses by itself."""

from posterior.estimators.pool.classifier import Classifier
from posterior.estimators.pool.pool import Pool

__all__ = ["Classifier", "Pool"]
