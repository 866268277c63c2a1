"""Mixtures: the same models with the labels hidden, or known for some rows."""

from posterior.estimators.mixture.classifier import MixtureClassifier
from posterior.estimators.mixture.gaussian import GaussianMixture
from posterior.estimators.mixture.mixture import Mixture

__all__ = ["GaussianMixture", "Mixture", "MixtureClassifier"]
