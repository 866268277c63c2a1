"""Answers of a joint model: methods that classifiers and mixtures take over one by one.

Groups are the classes of a classifier, or the components of a mixture.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from posterior.data import validate
from posterior.data.table import Table
from posterior.data.typing import Array, Floats
from posterior.estimators.base_classifier import decided
from posterior.families.family import AnyFamily
from posterior.generative.bayes_error import BayesError, exact_error
from posterior.generative.evidence_terms import Evidence
from posterior.generative.select_components import total


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


def log_likelihood(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """log p(X, y), the sum over rows of log p(x, y): rows and their classes are both expected.

    A logistic regression of this name sums log p(y | x), which says nothing of the rows
    themselves: figures of the two kinds must not be compared. Of words, each is a draw in its
    place: how many orders they could have stood in is left out.

    Parameters
    ----------
    X, y : as in `fit`
    sample_weight : array of shape (n_samples,), optional
    """
    X, y = self._with_target(X, y)
    self.settled().model.family.check_density()
    return log_likelihood_of(self.predict_joint_log_proba(X), y, self.classes_, sample_weight)


def log_likelihood_of(log_proba: Floats, y: Any, classes: Array, sample_weight: Any) -> float:
    """The sum of log probabilities (n, k) at the classes that the rows have."""
    n = len(log_proba)
    codes, new = validate.codes_of(y, classes, n)
    if len(new):
        raise ValueError(
            f"Expected classes that the model knows, {classes.tolist()}, got {new.tolist()}."
        )
    return total(validate.weights(sample_weight, n), log_proba[np.arange(n), codes])


def bayes_error(self: Any, n: int = 100_000, random_state: Any = None) -> BayesError:
    """How often the best rule there is would be wrong, if the model were the truth.

    ∫ (1 - max_k p(k | x)) p(x) dx. Exact for one normal column, by the boundaries; for two
    normal classes of one covariance; and for few columns of categories, counts or yes and no, by
    a sum over all rows there can be. Otherwise the mean over rows drawn from the model, of which
    `standard_error` says how far it may be off.

    Parameters
    ----------
    n : int, default=100_000
        Rows to draw, where there is no exact way.
    random_state : int, RandomState or None
    """
    fitted = self.settled()
    fitted.model.family.check_density()
    exact = exact_error(fitted.model)
    if exact is not None:
        return BayesError(exact)
    if not isinstance(n, int | np.integer) or n < 2:
        raise ValueError(f"Expected two rows or more to draw, got n={n!r}.")
    X, _ = self.sample(n, random_state)
    return BayesError.of_rows(fitted.scored(X, "posterior", self.engine_))


def no_density(self: Any, *arguments: Any, **options: Any) -> Any:
    """Refused: scores that compare classes are no log p(x, k)."""
    raise TypeError(
        f"Expected a model of p(x, k), got {type(self).__name__}, whose scores compare classes and "
        "are no probabilities of rows. Ask MultinomialNB."
    )


def estimate_under(self: Any, **settings: Any) -> Any:
    """The model of the same sums under another prior, without the rows: as `fit` would give it.

    Parameters
    ----------
    **settings
        Those of the prior, such as alpha=5 or class_prior=[0.5, 0.5]; see `prior_settings`. All
        others are as they are.
    """
    check_is_fitted(self)
    other = set(settings) - self.prior_settings
    if other:
        raise ValueError(
            f"Expected settings of the prior, {sorted(self.prior_settings)}, got "
            f"{sorted(other)}. What they change is not in the sums: call fit() with rows."
        )
    return clone(self).set_params(**settings).estimated_from(self.fitted_)
