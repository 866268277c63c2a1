"""Steps of Lloyd's loop, one by one: rows are assigned, centers move."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from posterior.data.pictured import Run, RunStep
from posterior.data.typing import Codes, Floats
from posterior.generative.kmeans.lloyd import Clustering, lloyd
from posterior.generative.kmeans.points import Points


@dataclass(frozen=True, slots=True, eq=False)
class ClusterStep(RunStep):
    """Centers, the center of each row, and Σᵢ wᵢ |xᵢ - c(i)|²."""

    number: int  # from 1
    kind: str  # "assign": every row to its nearest center; "move": every center to its rows' mean
    centers: Floats  # (k, d)
    labels: Codes  # (n,)
    inertia: float
    run: Run

    @property
    def path(self) -> Floats:
        """The centers of every step so far, (number, k, d)."""
        return np.stack([step.centers for step in self.run.steps[: self.number]])

    def __str__(self) -> str:
        centers = " ".join(f"({', '.join(f'{x:.4g}' for x in c)})" for c in self.centers)
        rows = " ".join(map(str, np.bincount(self.labels, minlength=len(self.centers))))
        head = f"{self.number} {self.kind:<6}  inertia {self.inertia:.4g}"
        return f"{head}  centers {centers}  rows {rows}"

    __repr__ = __str__


def followed(runs: list[Run], run: Run, points: Points, *given: Any) -> Clustering:
    """`lloyd`, whose steps are a run that is added to those of earlier starts."""
    run = run.anew()

    def note(kind: str, centers: Floats, labels: Codes) -> None:
        inertia = float(points.weights @ points.geometry.apart(points.X, centers[labels]))
        number = len(run.steps) + 1
        run.steps.append(ClusterStep(number, kind, centers, labels.copy(), inertia, run))

    clustering = lloyd(points, *given, watch=note)
    run.steps[-1] = replace(run.steps[-1], inertia=clustering.inertia)
    runs.append(run)
    return clustering
