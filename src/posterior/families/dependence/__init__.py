"""Columns of categories that depend on each other, given the group."""

from posterior.families.dependence.augmented_tree import DependenceTree
from posterior.families.dependence.averaged import AveragedOneDependence
from posterior.families.dependence.coding import Coding
from posterior.families.dependence.network import KDependence
from posterior.families.dependence.smoothing import BackOff

__all__ = ["AveragedOneDependence", "BackOff", "Coding", "DependenceTree", "KDependence"]
