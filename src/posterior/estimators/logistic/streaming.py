"""Rows that pass by once."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from posterior.data import validate
from posterior.data.rows import Hard, Rows
from posterior.data.typing import Floats
from posterior.discriminative.objective import Objective
from posterior.discriminative.solvers.newton import newton_direction
from posterior.estimators.learning import all_or_nothing
from posterior.estimators.logistic import settings
from posterior.estimators.logistic.model import LogisticModel

STEPS = 10  # of Newton's method on a chunk


class Streaming(LogisticModel):
    """partial_fit, and why there is no merge."""

    tol: float
    _curvature: Floats
    _coefficients: Floats

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows that are then gone: what is known so far is a normal prior to them.

        The result is close to a fit of all rows, and is not one: the curvature of rows gone by
        stays what it was when they came. The first chunk should hold some hundred rows of each
        class.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        classes : list of labels, optional
            All classes that will come; by default those of the first call.
        """
        self._validate_params()
        first = not hasattr(self, "_curvature")
        features = self._features(X, fitting=True, reset=first)
        self._check_cells(features, 0, fitting=True)
        if first:
            known = np.unique(y) if classes is None else np.unique(classes)
            self.classes_ = known
            if len(known) < 2:
                raise ValueError(f"Expected two classes or more, got {known.tolist()}.")
        codes, unknown = validate.codes_of(y, self.classes_, features.shape[0])
        if len(unknown):
            raise ValueError(
                f"Expected classes of {self.classes_.tolist()}, got {unknown.tolist()}. Name all "
                "classes in the first call."
            )
        weight = self._class_weights(codes, validate.weights(sample_weight, len(codes)))
        rows = Rows(features, Hard(codes, len(self.classes_), weight))
        self._step(self._objective(rows, *settings.strength(self)), first)
        return self

    def _step(self, objective: Objective, first: bool) -> None:
        """argmin_β loss(chunk, β) + ½ (β - β₀) · H₀ (β - β₀), and H ← H₀ + H_chunk there."""
        loss, written = objective.loss.around_zero(), objective.size <= settings.MATRIX
        if first:
            prior = objective.penalty.ridge.ravel()
            self._curvature = np.diag(prior) if written else prior
            self._coefficients = np.zeros(objective.shape)
        before, H0 = self._coefficients, self._curvature
        coef = before
        for _ in range(STEPS):
            q = (loss.quadratic if written else loss.diagonal)(objective.at_hand, coef)
            assert q.hessian is not None
            apart = (coef - before).ravel()
            pull = H0 @ apart if written else H0 * apart
            gradient = q.gradient + pull.reshape(coef.shape)
            H = H0 + (q.hessian if written else q.hessian.ravel())
            if written:
                step = newton_direction(H, gradient)
            else:
                step = -gradient / np.where(H > 0, H, 1.0).reshape(coef.shape)
            coef = coef + step
            if np.abs(step).max(initial=0.0) <= self.tol * max(1.0, np.abs(coef).max(initial=0.0)):
                break
        self._coefficients, self._curvature = coef, H
        self.coef_, self.intercept_ = loss.parts(coef)
        self.n_iter_ = getattr(self, "n_iter_", np.zeros(1, np.int32)) + 1

    def merge(self, other: Any) -> None:
        """Refused: see the message."""
        raise TypeError(
            "Expected a model that is a sum, got a logistic regression: its coefficients are those "
            "of no part of the rows, and those of two parts do not add up to those of the whole. "
            "Fit all rows together (fit reads them in chunks), or merge naive Bayes models."
        )
