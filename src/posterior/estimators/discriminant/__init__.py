"""Gaussian discriminant analysis: one core, scikit-learn's two classes and the lectures' one."""

from posterior.estimators.discriminant.gaussian_discriminant import GaussianDiscriminantAnalysis
from posterior.estimators.discriminant.linear_discriminant import LinearDiscriminantAnalysis
from posterior.estimators.discriminant.quadratic_discriminant import QuadraticDiscriminantAnalysis

__all__ = [
    "GaussianDiscriminantAnalysis",
    "LinearDiscriminantAnalysis",
    "QuadraticDiscriminantAnalysis",
]
