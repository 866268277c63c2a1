"""A stream as logistic regression remembers it: rows, and an estimate from them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from posterior.data.rows import Rows
from posterior.data.typing import Array, Floats
from posterior.discriminative.loss import LogisticLoss
from posterior.discriminative.reservoir import Reservoir
from posterior.preprocessing.open_columns import OpenColumns

GROWTH = 0.01  # of the weight: what may come before the fit is repeated,
WAITING, PARTS = 10_000, 1000  # in so many rows and calls
FAR = 0.05  # what a step may promise: a third of a standard error


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Where the last fit to the rows kept ended, moved by the rows since."""

    loss: LogisticLoss
    coef: Floats  # (outputs, p)
    covariance: Floats | None  # (size, size); None where there is none, or it would be large
    weight: Floats  # (n_classes,): of the rows of the fit
    since: Floats  # (n_classes,): of those since,
    n_since: int = 0  # and their number

    def moved(self, rows: Rows) -> Estimate | None:
        """After a Newton step on new rows; None where a step is not enough."""
        if self.covariance is None:
            return self
        g = self.loss.gradient(rows, self.coef).gradient.ravel()
        step = -self.covariance @ g
        if not -0.5 * g @ step <= FAR:
            return None
        return replace(self, coef=self.coef + step.reshape(self.coef.shape))


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """All that the next rows need to know of those before."""

    columns: OpenColumns | None  # of frames, whose levels are not all known yet
    kept: tuple[Reservoir, ...] = ()  # the first is that of the last fit
    estimate: Estimate | None = None  # None: a fit is due

    def placed(self, place: Array) -> Stream:
        """The same with class k now at place[k]; the estimate was one of fewer classes."""
        return replace(self, kept=tuple(part.placed(place) for part in self.kept), estimate=None)

    def with_rows(self, more: Reservoir, columns: OpenColumns | None) -> Stream:
        """After more rows; a fit is due when they are many, or columns are new."""
        kept, last = (*self.kept, more), self.estimate
        if last is not None:
            since = last.since + more.class_weight(len(last.since))
            n_since = last.n_since + len(more)
            grown = since.sum() > GROWTH * last.weight.sum() or n_since > WAITING
            due = grown or len(kept) > PARTS or columns != self.columns
            last = None if due else replace(last, since=since, n_since=n_since)
        return Stream(columns, kept, last)
