"""scikit-learn's callbacks, told of every iteration."""

from __future__ import annotations

from typing import Any

from posterior.data.typing import Floats
from posterior.discriminative.loss import LogisticLoss


class Watched:
    """One task for the fit, and one in it for each iteration.

    An iteration begins when the one before ends, so that the last one is begun and never run.
    """

    def __init__(self, model: Any, X: Any, y: Any, weight: Any, max_iter: int) -> None:
        self._told = {"estimator": model, "X": X, "y": y}
        self._told["metadata"] = None if weight is None else {"sample_weight": weight}
        self._model = model
        self._fit = model._init_callback_context(max_subtasks=max(max_iter, 1) + 1)
        self._fit.call_on_fit_task_begin(**self._told)
        self._iteration: Any = None
        self._start: Floats | None = None

    def begin(self, loss: LogisticLoss, start: Floats) -> None:
        self._loss, self._start = loss, start
        if hasattr(self._model, "_skl_callbacks"):
            self._next(start)

    def __call__(self, coef: Floats) -> None:
        self._start = None
        if self._iteration is not None:
            self._iteration.call_on_fit_task_end(**self._told, **self._now(coef))
            self._next(coef)

    def end(self) -> None:
        if self._start is not None:  # no iteration at all counts as one that stayed where it was
            self(self._start)
        if self._iteration is not None:
            self._iteration.call_on_fit_task_end(estimator=self._model)
        self._fit.call_on_fit_task_end(**self._told, reconstruction_attributes={})

    def _next(self, coef: Floats) -> None:
        self._iteration = self._fit.subcontext(task_name="iteration")
        self._iteration.call_on_fit_task_begin(**self._told, **self._now(coef))

    def _now(self, coef: Floats) -> dict[str, Any]:
        slope, intercept = self._loss.parts(coef)
        return {"reconstruction_attributes": {"coef_": slope, "intercept_": intercept}}
