"""Answers of a joint model: methods that classifiers and mixtures take over one by one.

Groups are the classes of a classifier, or the components of a mixture.
"""

from __future__ import annotations

from typing import Any

from posterior.data.table import Table
from posterior.data.typing import Array, Floats
from posterior.estimators.classifier import decided
from posterior.families.family import AnyFamily
from posterior.generative.evidence_terms import Evidence


def predict_joint_log_proba(self: Any, X: Any) -> Floats:
    """log p(x, k) of each row and group."""
    return self.settled().scored(X, None, self.engine_)


def predict_log_proba(self: Any, X: Any, *, priors: Any = None) -> Floats:
    """log p(k | x); `priors` are probabilities of the groups other than the learned ones."""
    return self.settled().log_posterior(X, self.engine_, priors)


def predict_proba(self: Any, X: Any, *, priors: Any = None) -> Floats:
    """p(k | x); `priors` are probabilities of the groups other than the learned ones."""
    return self.settled().posterior(X, self.engine_, priors)


def predict(
    self: Any, X: Any, *, priors: Any = None, costs: Any = None, reject: float | None = None
) -> Array:
    """The most probable group of each row: its class, or its component.

    Parameters
    ----------
    X : array, sparse matrix or frame
    priors : array of shape (n_groups,) or dict by group, optional
        Probabilities of the groups other than the learned ones.
    costs : array of shape (n_groups, n_groups) or dict of dicts by group, optional
        costs[i][j] is the price of answering j when it is i; the least expected one is taken.
    reject : float, optional
        Leave rows unanswered (masked) whose answer is less probable than this.
    """
    fitted = self.settled()
    if costs is None and reject is None and fitted.calibrator is None:
        scores = fitted.scored(X, "contrast", self.engine_, fitted.under(priors))
        return fitted.classes[scores.argmax(axis=1)]
    return decided(fitted.posterior(X, self.engine_, priors), fitted.classes, costs, reject)


def log_evidence(self: Any, X: Any) -> Floats:
    """log p(x): the lower, the more unusual the row."""
    return self.settled().scored(X, "log_evidence", self.engine_)[:, 0]


def evidence(self: Any, X: Any) -> Evidence:
    """The additive terms of each group's log joint probability, per feature."""
    return self.settled().evidence(X)


def parameters(self: Any, level: float = 0.95) -> Table:
    """Every parameter, as the model uses it, with its credible interval."""
    return self.settled().parameters(level)


@property  # type: ignore[misc]
def family_(self: Any) -> AnyFamily:
    """The distribution of the features given the group, with its settings."""
    return self.settled().model.family


@property  # type: ignore[misc]
def n_parameters_(self: Any) -> int:
    """Numbers that the data determine, probabilities of the groups included."""
    return self.settled().n_parameters
