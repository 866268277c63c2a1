"""k nearest neighbors, with the distances people really have."""

from posterior.estimators.neighbors.classifier import KNeighborsClassifier

__all__ = ["KNeighborsClassifier"]
