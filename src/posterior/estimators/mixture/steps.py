"""EM step by step: a method of mixtures."""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import Any

from sklearn.base import clone
from sklearn.utils import check_random_state

from posterior.data.pictured import Run
from posterior.estimators import remote
from posterior.generative.em_steps import EMStep, FollowedAscent, FollowedGroups, left_by
from posterior.generative.select_components import numbers_of


def steps(self: Any, X: Any, y: Any = None, sample_weight: Any = None) -> tuple[EMStep, ...]:
    """Every step of EM on the way to `fit`: shares are expected, the model is maximized.

    Each has `number`, `kind` ("expect" or "maximize"), `responsibilities`, `shares`,
    `parameters`, `q`, `bound` and `log_likelihood`, and prints as a line. The last is what
    `fit` finds with the same settings; of several starts these are the steps of the best.
    `step.model` is the estimator with the components of a step, and `step.plot()` draws them
    over the rows, each in the colors of the components that share it. The model itself learns
    nothing.

    Examples
    --------
    >>> from posterior import GaussianMixture
    >>> steps = GaussianMixture(2, random_state=0).steps([[1.0], [2.0], [8.0], [9.0]])
    >>> steps[0].responsibilities.round(3).tolist()
    [[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]
    >>> steps[-1].shares.round(3).tolist(), steps[-1].parameters.mean.ravel().round(3).tolist()
    ([0.5, 0.5], [8.5, 1.5])
    """
    self._validate_params()
    remote.refuse_elsewhere(X, "steps")
    if not isinstance(self.n_components, Integral) or self.accelerate:
        got = "accelerate=True" if self.accelerate else f"n_components={self.n_components!r}"
        raise ValueError(
            f"Expected one number of components and accelerate=False to go step by step, got {got}."
        )
    reader, rows = self.learned_rows(X, sample_weight)
    rule = self.rule(reader)
    run = Run(X, None, partial(left_by, clone(self), reader, rule))
    table = FollowedGroups(reader, rule, rows, self.engine_, run)
    (k,) = numbers_of(self.n_components, len(rows))
    ascent, _ = self.best_start(table, k, check_random_state(self.random_state))
    assert isinstance(ascent, FollowedAscent)
    return ascent.steps
