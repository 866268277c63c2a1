"""Fitted clusters: all that k-means has learned, as one value that is never changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior import kernels
from posterior.data.typing import Array, Codes, Floats
from posterior.generative.kmeans.mini_batch_steps import BatchStream
from posterior.generative.kmeans.points import Points
from posterior.generative.rule import Worker
from posterior.readers.reader import Reader


@dataclass(frozen=True, slots=True, eq=False)
class FittedClusters:
    """Centers, what is known of their rows, and how rows are read.

    Centers that were set by hand have no more than a reader.
    """

    reader: Reader
    centers: Array  # (k, d), in the precision of the rows
    weights: Floats | None = None  # (k,): π, the share of each cluster in the weight of the rows
    variance: float | None = None  # σ², of a cell around its center
    sparse: bool = False  # whether the rows were
    labels: Codes | None = None  # (n,); None: rows are elsewhere, or nobody asked
    inertia: float | None = None
    n_iter: int | None = None
    inertias: Floats | None = None  # (n_iter,)
    reason: str | None = None  # why the iterations ended
    stream: BatchStream | None = None  # of those that learn from small batches

    def doubles(self) -> Floats:
        """The centers as the loops read them."""
        return np.array(self.centers, np.float64, order="C")

    def points(self, X: Any, engine: Worker, weight: Any = None) -> Points:
        """The rows of a table of the same columns."""
        return Points.read(self.reader, self.reader.read(X), weight, engine.fill, engine.sum)

    def nearest(self, X: Any, engine: Worker) -> Codes:
        """The nearest center of each row; of equals the first."""
        space = self.points(X, engine).space(len(self.centers))
        space.assign(self.doubles())
        return space.labels

    def distances(self, X: Any, engine: Worker) -> Array:
        """The distance (n, k) of each row from each center; |x - c|² d / observed in its square."""
        points = self.points(X, engine)
        D = points.squared(self.doubles())
        if not points.complete:
            observed = np.count_nonzero(~np.isnan(points.X), axis=1)
            if not observed.all():
                raise ValueError(
                    "Expected at least one known cell in every row, since a row without any is at "
                    f"no known distance, got none in row {observed.argmin()}. Leave it out."
                )
            D *= points.X.shape[1] / observed[:, None]
        return np.sqrt(D, out=D).astype(points.dtype, copy=False)

    def inertia_of(self, X: Any, engine: Worker, weight: Any = None) -> float:
        """Σᵢ wᵢ min_k |xᵢ - c_k|²."""
        return self.points(X, engine, weight).inertia(self.doubles())

    def posterior(self, X: Any, engine: Worker) -> Floats:
        """p(k | x) ∝ π_k exp(-|x - c_k|² / 2σ²)."""
        D = self.points(X, engine).squared(self.doubles())
        assert self.weights is not None and self.variance is not None
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            D -= D.min(axis=1, keepdims=True)  # so that clusters of no width have probabilities too
            log_joint = np.log(self.weights) - np.where(D > 0, D / (2.0 * self.variance), 0.0)
        kernels.normalize(log_joint, "posterior")
        return log_joint
