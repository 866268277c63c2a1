"""Columns of categories that depend on each other, given the group."""

from typing import TYPE_CHECKING

from posterior.data import by_first_use

if TYPE_CHECKING:
    from posterior.families.dependence.augmented_tree import DependenceTree as DependenceTree
    from posterior.families.dependence.averaged import (
        AveragedOneDependence as AveragedOneDependence,
    )
    from posterior.families.dependence.coding import Coding as Coding
    from posterior.families.dependence.network import KDependence as KDependence
    from posterior.families.dependence.smoothing import BackOff as BackOff

_HOMES = {
    "augmented_tree": "DependenceTree",
    "averaged": "AveragedOneDependence",
    "coding": "Coding",
    "network": "KDependence",
    "smoothing": "BackOff",
}

if not TYPE_CHECKING:  # checkers read the imports above
    __all__, __getattr__, __dir__ = by_first_use(__name__, _HOMES)
