"""scikit-learn's callbacks, told of every iteration."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from posterior.data.typing import Floats
from posterior.discriminative.fitted_logistic import FittedLogistic
from posterior.discriminative.objective import Objective
from posterior.readers.encoded import Encoded
from posterior.readers.labels import Labels


class Watched:
    """One task for the fit, and one in it for each iteration.

    An iteration begins when the one before ends, so that the last one is begun and never run.
    """

    def __init__(
        self, fit: Any, model: Any, X: Any, y: Any, weight: Any, state: Callable[[Floats], Any]
    ) -> None:
        """`fit` is scikit-learn's context, and `state` what was learned by some coefficients."""
        self._fit, self._state, self._model = fit, state, model
        self._told = {"estimator": model, "X": X, "y": y}
        self._told["metadata"] = None if weight is None else {"sample_weight": weight}
        self._fit.call_on_fit_task_begin(**self._told)
        self._iteration: Any = None
        self._start: Floats | None = None

    def begin(self, start: Floats) -> None:
        """The first iteration, of those that somebody listens to."""
        self._start = start
        if "_skl_callbacks" in vars(self._model):
            self._next(start)

    def __call__(self, coef: Floats) -> None:
        self._start = None
        if self._iteration is not None:
            self._iteration.call_on_fit_task_end(**self._told, **self._now(coef))
            self._next(coef)

    def end(self) -> None:
        """After the last iteration: the model has learned."""
        if self._start is not None:  # no iteration at all counts as one that stayed where it was
            self(self._start)
        if self._iteration is not None:
            self._iteration.call_on_fit_task_end(estimator=self._model)
        self._fit.call_on_fit_task_end(**self._told, reconstruction_attributes={})

    def _next(self, coef: Floats) -> None:
        self._iteration = self._fit.subcontext(task_name="iteration")
        self._iteration.call_on_fit_task_begin(**self._told, **self._now(coef))

    def _now(self, coef: Floats) -> dict[str, Any]:
        return {"reconstruction_attributes": partial(self._learned, coef)}

    def _learned(self, coef: Floats) -> dict[str, Any]:
        return {"fitted_": self._state(coef)}


def stated(reader: Encoded, labels: Labels, objective: Objective, coef: Floats) -> FittedLogistic:
    """A model of some coefficients, as if the fit had stopped there."""
    slope, intercept = objective.loss.parts(coef)
    return FittedLogistic(reader, labels, slope, intercept, np.zeros(slope.shape[1]))
