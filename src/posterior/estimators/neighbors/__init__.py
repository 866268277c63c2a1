"""Nearest neighbors, and clusters around rows: all by distances alone."""

from typing import TYPE_CHECKING

from posterior.data import by_first_use

if TYPE_CHECKING:
    from posterior.estimators.neighbors.kmedoids import KMedoids as KMedoids
    from posterior.estimators.neighbors.kneighbors import (
        KNeighborsClassifier as KNeighborsClassifier,
    )

_HOMES = {"kmedoids": "KMedoids", "kneighbors": "KNeighborsClassifier"}

if not TYPE_CHECKING:  # checkers read the imports above
    __all__, __getattr__, __dir__ = by_first_use(__name__, _HOMES)
