"""Bayes' rule with features independent given the class, and, to compare, without."""

from posterior.estimators.naive_bayes.any_table import NaiveBayes
from posterior.estimators.naive_bayes.bernoulli_nb import BernoulliNB
from posterior.estimators.naive_bayes.categorical_nb import CategoricalNB
from posterior.estimators.naive_bayes.gaussian_nb import GaussianNB
from posterior.estimators.naive_bayes.joint_bayes import JointBayes
from posterior.estimators.naive_bayes.multinomial_nb import ComplementNB, MultinomialNB
from posterior.estimators.naive_bayes.poisson_nb import PoissonNB

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
