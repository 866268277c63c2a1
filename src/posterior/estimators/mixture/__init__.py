"""Mixtures: the same models with the labels hidden, or known for some rows."""

from posterior.estimators.mixture.gaussian_mixture import GaussianMixture
from posterior.estimators.mixture.mixture import Mixture
from posterior.estimators.mixture.mixture_classifier import MixtureClassifier

__all__ = ["GaussianMixture", "Mixture", "MixtureClassifier"]
