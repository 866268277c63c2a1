"""Nearest neighbors, and clusters around rows: all by distances alone."""

from posterior.estimators.neighbors.kmedoids import KMedoids
from posterior.estimators.neighbors.kneighbors import KNeighborsClassifier

__all__ = ["KMedoids", "KNeighborsClassifier"]
