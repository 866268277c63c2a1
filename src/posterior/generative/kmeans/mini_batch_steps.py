"""k-means from small batches: a center is the mean of all rows that it ever received."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from posterior.data.typing import Floats
from posterior.generative.kmeans.lloyd import Say
from posterior.generative.kmeans.points import Points


@dataclass(frozen=True, slots=True, eq=False)
class Received:
    """Centers, and the weight of the cells whose means they are (Sculley 2010).

    c ← c + w / (W + w) (m - c)      W ← W + w      for a batch of weight w and mean m
    """

    centers: Floats  # (k, d)
    weight: Floats  # (k, d)

    @property
    def row_weight(self) -> Floats:
        """Of each center, as its most observed column tells."""
        return self.weight.max(axis=1)

    def step(self, batch: Points) -> tuple[Received, float]:
        """With one more batch; and the inertia of the batch before."""
        space = batch.space(len(self.centers))
        space.assign(self.centers)
        weight, mean = space.sums()
        weight = weight.reshape(len(self.centers), -1)
        total = self.weight + weight
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(weight > 0, weight / total, 0.0)
        centers = self.centers + share * np.where(weight > 0, mean - self.centers, 0.0)
        return Received(centers, total), float(batch.weights @ space.distances())

    def relocated(
        self, batch: Points, ratio: float, random: np.random.RandomState, say: Say
    ) -> Received:
        """Centers of less than `ratio` of the largest weight move to rows drawn at random."""
        weight = self.row_weight
        light = weight < ratio * weight.max()
        light[weight.argmax()] = False
        most = len(batch) // 2
        if light.sum() > most:
            light[np.argsort(weight)[most:]] = False
        if not light.any():
            return self
        index = random.choice(len(batch), int(light.sum()), replace=False)
        say(f"[MiniBatchKMeans] Reassigning {len(index)} cluster centers.")
        centers, total = self.centers.copy(), self.weight.copy()
        rows = batch.rows(index)
        centers[light] = np.where(np.isnan(rows), centers[light], rows)
        total[light] = total[~light].min(axis=0)  # not so little that they move again at once
        return Received(centers, total)


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


def drawn_batches(points: Points, size: int, random: np.random.RandomState) -> Iterator[Points]:
    """Batches of rows drawn by weight, without end."""
    share = (points.weights / points.weights.sum()).cumsum()
    share /= share[-1]
    drawing = points.unweighted()  # weight is in the draws already
    while True:
        yield drawing.take(np.searchsorted(share, random.random_sample(size), side="right"))
