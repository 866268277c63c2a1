"""Logistic regression."""

from posterior.estimators.logistic.path import LogisticRegressionCV
from posterior.estimators.logistic.regression import LogisticRegression

__all__ = ["LogisticRegression", "LogisticRegressionCV"]
