"""Logistic regression."""

from posterior.estimators.logistic.logistic_regression import LogisticRegression
from posterior.estimators.logistic.logistic_regression_cv import LogisticRegressionCV

__all__ = ["LogisticRegression", "LogisticRegressionCV"]
