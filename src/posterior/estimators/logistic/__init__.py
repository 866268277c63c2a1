"""Logistic regression."""

from posterior.estimators.logistic.regression import LogisticRegression
from posterior.estimators.logistic.regression_cv import LogisticRegressionCV

__all__ = ["LogisticRegression", "LogisticRegressionCV"]
