"""Bayes' rule over any family: groups known or hidden, and rows held out for free."""

from posterior.data.rows import HIDDEN
from posterior.generative.expectation import expectation
from posterior.generative.joint import Joint, JointStatistics, labeled, labeling

__all__ = ["HIDDEN", "Joint", "JointStatistics", "expectation", "labeled", "labeling"]
