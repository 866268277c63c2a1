"""Classifiers whose columns depend on each other, given the class."""

from posterior.estimators.dependence.aode import AODE
from posterior.estimators.dependence.kdb import KDB
from posterior.estimators.dependence.tan import TAN

__all__ = ["AODE", "KDB", "TAN"]
