"""The ascent of logistic regression step by step: a method of it."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.base import clone

from posterior.data.pictured import Run
from posterior.discriminative.fitted_logistic import FittedLogistic, mean_row
from posterior.discriminative.steps import LogisticStep, ascended, by_examples
from posterior.estimators import remote
from posterior.readers.encoded import Encoded
from posterior.readers.labels import Labels


def steps(
    self: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    offset: Any = None,
    one_example: bool = False,
) -> tuple[LogisticStep, ...]:
    """The start and every step of the way to `fit`, by gradient ascent or Newton's method.

    Each has `number`, `intercept`, `coef`, `log_likelihood`, `gradient` and `length`, and prints
    as a line. The last is what `fit` finds with the same settings. Steps that are too long are
    named, with a length that is not. `step.model` is the estimator with the coefficients of a step,
    and `step.plot()` draws its curve or line, and where it stands on the hill. The model itself
    learns nothing.

    Parameters
    ----------
    X, y, sample_weight, offset : as in `fit`, in memory
    one_example : bool, default=False
        Step after each row instead of after all of them, w ← w + η (y - ŷ) x, `max_iter` times
        through the rows in their order: the rule of textbooks and of neural networks, for
        solver="gradient-ascent" and C=np.inf. It hovers around what `fit` finds, if the rows are
        mixed: those of one class in a row pull it to their side.

    Examples
    --------
    >>> import numpy as np
    >>> from posterior import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> model = LogisticRegression(C=np.inf, solver="gradient-ascent", step=0.5, max_iter=2, tol=0)
    >>> for step in model.steps(X, y):
    ...     print(step)
    0  b 0  w 0  log likelihood -2.77259  gradient 1 0
    1  b 0  w 0.5  log likelihood -2.6819  gradient -0.5373 -0.6711  step 0.5
    2  b -0.3355  w 0.2314  log likelihood -2.5746  gradient 0.6965 -0.01129  step 0.5
    """
    self._validate_params()
    remote.refuse_elsewhere(X, "steps")
    rule, (reader, labels, rows) = self._rule(), self._rows(X, y, sample_weight, offset)
    objective = rule.objective(rows, reader, self.engine_)
    start, dtype = self._start(objective), rule.dtype(X)
    run = Run(X, y, partial(_left_by, clone(self), reader, labels))
    if not one_example:
        return ascended(rule, objective, start, reader, dtype, run)
    if self.solver != "gradient-ascent":
        raise ValueError(
            "Expected solver='gradient-ascent' for the one-example rule, whose step is that of "
            f"the ascent, got {self.solver!r}."
        )
    reader.check(rows.X, fitting=True)
    return by_examples(objective, start, self.step, self.max_iter, dtype, run)


def _left_by(model: Any, reader: Encoded, labels: Labels, step: LogisticStep) -> Any:
    """The estimator with the coefficients of a step."""
    found, ground = clone(model), step.ground
    typical = mean_row(ground.rows.sample, ground.engine)
    found.fitted_ = FittedLogistic(reader, labels, step.coef, step.intercept, typical)
    return found
