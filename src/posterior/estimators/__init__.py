"""scikit-learn's surface, thin: input becomes rows, the core does the work."""

from posterior.estimators.joint_bayes import JointBayes
from posterior.estimators.mixed import NaiveBayes
from posterior.estimators.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    PoissonNB,
)

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
