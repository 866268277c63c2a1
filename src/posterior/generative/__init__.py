"""Bayes' rule over any family: joint, posterior, evidence, and rows held out for free."""

from posterior.generative.joint import HIDDEN, Joint, JointStatistics, expected, labeled

__all__ = ["HIDDEN", "Joint", "JointStatistics", "expected", "labeled"]
