"""Steps of Lloyd's loop, one by one: rows are assigned, centers move."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from posterior.data.typing import Codes, Floats
from posterior.generative.kmeans.lloyd import Clustering, lloyd
from posterior.generative.kmeans.points import Points


@dataclass(frozen=True, slots=True, eq=False)
class ClusterStep:
    """Centers, the center of each row, and Σᵢ wᵢ |xᵢ - c(i)|²."""

    number: int  # from 1
    kind: str  # "assign": every row to its nearest center; "move": every center to its rows' mean
    centers: Floats  # (k, d)
    labels: Codes  # (n,)
    inertia: float

    def __str__(self) -> str:
        centers = " ".join(f"({', '.join(f'{x:.4g}' for x in c)})" for c in self.centers)
        rows = " ".join(map(str, np.bincount(self.labels, minlength=len(self.centers))))
        head = f"{self.number} {self.kind:<6}  inertia {self.inertia:.4g}"
        return f"{head}  centers {centers}  rows {rows}"

    __repr__ = __str__


def followed(starts: list[tuple[ClusterStep, ...]], points: Points, *given: Any) -> Clustering:
    """`lloyd`, whose steps are added to those of earlier starts."""
    steps: list[ClusterStep] = []

    def note(kind: str, centers: Floats, labels: Codes) -> None:
        inertia = float(points.weights @ points.geometry.apart(points.X, centers[labels]))
        steps.append(ClusterStep(len(steps) + 1, kind, centers, labels.copy(), inertia))

    clustering = lloyd(points, *given, watch=note)
    starts.append((*steps[:-1], replace(steps[-1], inertia=clustering.inertia)))
    return clustering
