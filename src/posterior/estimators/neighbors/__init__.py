"""k nearest neighbors, with the distances people really have."""

from posterior.estimators.neighbors.kneighbors import KNeighborsClassifier

__all__ = ["KNeighborsClassifier"]
