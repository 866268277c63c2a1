"""Bayes' rule with features independent given the class, and, to compare, without."""

from posterior.estimators.naive_bayes.bernoulli import BernoulliNB
from posterior.estimators.naive_bayes.categorical import CategoricalNB
from posterior.estimators.naive_bayes.gaussian import GaussianNB
from posterior.estimators.naive_bayes.joint import JointBayes
from posterior.estimators.naive_bayes.mixed import NaiveBayes
from posterior.estimators.naive_bayes.multinomial import ComplementNB, MultinomialNB
from posterior.estimators.naive_bayes.poisson import PoissonNB

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "GaussianNB",
    "JointBayes",
    "MultinomialNB",
    "NaiveBayes",
    "PoissonNB",
]
