"""Bayes' rule with features independent given the class, and, to compare, without."""

from typing import TYPE_CHECKING

from posterior.data import by_first_use

if TYPE_CHECKING:
    from posterior.estimators.naive_bayes.any_table import NaiveBayes as NaiveBayes
    from posterior.estimators.naive_bayes.bernoulli_nb import BernoulliNB as BernoulliNB
    from posterior.estimators.naive_bayes.categorical_nb import CategoricalNB as CategoricalNB
    from posterior.estimators.naive_bayes.gaussian_nb import GaussianNB as GaussianNB
    from posterior.estimators.naive_bayes.joint_bayes import JointBayes as JointBayes
    from posterior.estimators.naive_bayes.multinomial_nb import ComplementNB as ComplementNB
    from posterior.estimators.naive_bayes.multinomial_nb import MultinomialNB as MultinomialNB
    from posterior.estimators.naive_bayes.poisson_nb import PoissonNB as PoissonNB

_HOMES = {
    "any_table": "NaiveBayes",
    "bernoulli_nb": "BernoulliNB",
    "categorical_nb": "CategoricalNB",
    "gaussian_nb": "GaussianNB",
    "joint_bayes": "JointBayes",
    "multinomial_nb": "ComplementNB MultinomialNB",
    "poisson_nb": "PoissonNB",
}

if not TYPE_CHECKING:  # checkers read the imports above
    __all__, __getattr__, __dir__ = by_first_use(__name__, _HOMES)
