"""k-medoids: rows that lie nearest to all others, by nothing but distances.

D (n, n) are the distances of rows from candidates, and Σᵢ wᵢ minₘ D[i, m] is lowered over sets of
medoids m: BUILD adds one after the other (Kaufman and Rousseeuw 1990), and FasterPAM swaps medoids
for other rows until no swap is left that helps (Schubert and Rousseeuw 2021).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from posterior.data.typing import Floats, Integers

CELLS = 1 << 18  # distances that are looked at together
ROUNDING = 1e-12  # of the total: a swap that gains less may gain nothing


@dataclass(frozen=True, slots=True)
class Swapped:
    """Medoids where swaps ended, after so many passes over all candidates."""

    medoids: Integers  # (k,), each in the place of the one that it began as
    n_iter: int
    converged: bool  # whether no swap is left that helps


def build(D: Floats, weight: Floats, k: int) -> Integers:
    """Each next medoid is the row that lowers the total most; of equals the first."""
    medoids = [int(np.argmin(weight @ D))]
    near = D[:, medoids[0]]
    step = max(1, CELLS // len(D))
    for _ in range(1, k):
        blocks = (D[:, i : i + step] for i in range(0, len(D), step))
        gain = np.concatenate([weight @ np.maximum(near[:, None] - block, 0) for block in blocks])
        gain[medoids] = -np.inf
        medoids.append(int(gain.argmax()))
        near = np.minimum(near, D[:, medoids[-1]])
    return np.array(medoids, np.int64)


def plus_plus(D: Floats, weight: Floats, k: int, random: np.random.RandomState) -> Integers:
    """Each next medoid is drawn in proportion to its distance from those before, and its weight."""
    medoids, chance = list[int](), weight
    near = np.full(len(D), np.inf)
    for _ in range(k):
        total = chance.sum()
        if not total > 0:  # all rows lie on medoids: any other will do
            chance = np.where(np.isin(np.arange(len(D)), medoids), 0.0, weight)
            total = chance.sum()
        medoids.append(int(random.choice(len(D), p=chance / total)))
        near = np.minimum(near, D[:, medoids[-1]])
        chance = weight * near
    return np.array(medoids, np.int64)


def swap(D: Floats, weight: Floats, medoids: Integers, max_iter: int) -> Swapped:
    """Swaps of a medoid for another row, the best of each block of candidates, while one helps.

    With the distances a and b of row i from its nearest medoid m and from the second, candidate j
    in the place of m changes the total by

        Σᵢ wᵢ min(D[i, j] - a, 0)  +  Σ_{i of m} wᵢ (D[i, j] clipped to a .. b, less a)

    The first sum is the same for all medoids, and each row adds to one of the second, so that all
    k swaps of a candidate cost one look at its distances.
    """
    medoids, n = medoids.copy(), len(D)
    step = max(1, CELLS // n)
    a, b, members = _nearest(D, weight, medoids)
    for n_iter in range(1, max_iter + 1):
        helped = False
        for first in range(0, n, step):
            block = D[:, first : first + step]
            gained = weight @ np.minimum(block - a, 0.0)
            change = gained + members @ (np.clip(block, a, b) - a)
            m, j = np.unravel_index(change.argmin(), change.shape)
            if change[m, j] < -ROUNDING * (weight @ a[:, 0]):
                medoids[m], helped = first + j, True
                a, b, members = _nearest(D, weight, medoids)
        if not helped:
            return Swapped(medoids, n_iter, True)
    return Swapped(medoids, max_iter, False)


def _nearest(
    D: Floats, weight: Floats, medoids: Integers
) -> tuple[Floats, Floats, sparse.csr_array]:
    """Distances (n, 1) from the nearest medoid and from the second, and weights (k, n) by it."""
    n, k = len(D), len(medoids)
    own = D[:, medoids]
    label, row = own.argmin(axis=1), np.arange(n)
    first = own[row, label]
    own[row, label] = np.inf
    members = sparse.csr_array((weight, (label, row)), shape=(k, n))
    return first[:, None], own.min(axis=1)[:, None], members
