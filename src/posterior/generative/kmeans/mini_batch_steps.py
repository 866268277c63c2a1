"""k-means from small batches: a center is the mean of all rows that it ever received."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from posterior.data.typing import Floats
from posterior.generative.kmeans.lloyd import Log
from posterior.generative.kmeans.points import Points


@dataclass(frozen=True, slots=True, eq=False)
class BatchStream:
    """Where a stream of batches stands, so that more of them can come."""

    weight: Floats  # (k, d): of the cells that each center has received
    random: np.random.RandomState
    n_steps: int = 0
    n_since: int = 0  # rows since light centers were last moved

    @property
    def row_weight(self) -> Floats:
        """Of each center, as its most observed column tells."""
        return self.weight.max(axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Received:
    """Centers that are the mean of all cells that they have received (Sculley 2010).

    c ← c + w / (W + w) (m - c)      W ← W + w      for a batch of weight w and mean m
    """

    centers: Floats  # (k, d)
    stream: BatchStream

    @classmethod
    def nothing(cls, centers: Floats, random: np.random.RandomState) -> Received:
        """Centers as they begin."""
        return cls(centers, BatchStream(np.zeros_like(centers), random))

    def step(self, batch: Points, size: int, ratio: float, log: Log) -> tuple[Received, float]:
        """With one more batch; and the inertia of the batch before.

        Now and then, or if a center has nothing, light centers move to rows of the batch.
        """
        n_since = self.stream.n_since + size
        due = n_since >= 10 * len(self.centers) or not self.stream.row_weight.all()
        after, inertia = self._moved(batch, 0 if due else n_since)
        return after.relocated(batch, ratio, log) if due else after, inertia

    def _moved(self, batch: Points, n_since: int) -> tuple[Received, float]:
        space = batch.space(len(self.centers))
        space.assign(self.centers)
        weight, mean = space.sums()
        weight = weight.reshape(len(self.centers), -1)
        total = self.stream.weight + weight
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(weight > 0, weight / total, 0.0)
        centers = self.centers + share * np.where(weight > 0, mean - self.centers, 0.0)
        stream = BatchStream(total, self.stream.random, self.stream.n_steps + 1, n_since)
        return Received(centers, stream), float(batch.weights @ space.distances())

    def relocated(self, batch: Points, ratio: float, log: Log) -> Received:
        """Centers of less than `ratio` of the largest weight move to rows drawn at random."""
        weight = self.stream.row_weight
        light = weight < ratio * weight.max()
        light[weight.argmax()] = False
        most = len(batch) // 2
        if light.sum() > most:
            light[np.argsort(weight)[most:]] = False
        if not light.any():
            return self
        index = self.stream.random.choice(len(batch), int(light.sum()), replace=False)
        log(f"[MiniBatchKMeans] Reassigning {len(index)} cluster centers.")
        centers, total = self.centers.copy(), self.stream.weight.copy()
        rows = batch.rows(index)
        centers[light] = np.where(np.isnan(rows), centers[light], rows)
        total[light] = total[~light].min(axis=0)  # not so little that they move again at once
        return Received(centers, replace(self.stream, weight=total))


class Patience:
    """When batches stop to help: an average of their inertia that no longer falls."""

    def __init__(self, tol: float, rate: float, max_no_improvement: int | None) -> None:
        self._tol, self._rate, self._patience = tol, rate, max_no_improvement
        self.average: float | None = None  # of the inertia of a row, recent batches most
        self._best, self._waited = np.inf, 0

    def reason_to_stop(self, inertia: float, shift: float) -> str | None:
        """After a batch of this inertia a row, which shifted the centers by this much."""
        if self.average is None:
            self.average = inertia
        self.average += self._rate * (inertia - self.average)
        if 0 < self._tol and shift <= self._tol:
            return "small centers change"
        self._waited = 0 if self.average < self._best else self._waited + 1
        self._best = min(self._best, self.average)
        if self._patience is not None and self._waited >= self._patience:
            return "lack of improvement in inertia"
        return None
