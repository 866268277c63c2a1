"""Gaussian discriminant analysis: one core, scikit-learn's two classes and the lectures' one."""

from posterior.estimators.discriminant.gaussian import GaussianDiscriminantAnalysis
from posterior.estimators.discriminant.linear import LinearDiscriminantAnalysis
from posterior.estimators.discriminant.quadratic import QuadraticDiscriminantAnalysis

__all__ = [
    "GaussianDiscriminantAnalysis",
    "LinearDiscriminantAnalysis",
    "QuadraticDiscriminantAnalysis",
]
