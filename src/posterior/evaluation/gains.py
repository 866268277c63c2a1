"""Gains, lift and cost of predicting one class from a threshold on.

Rows are taken by falling probability. Gain: the share of the class among those taken, of all its
rows; lift: its share there, against its share of all rows. Cost: a missed row of the class costs
`ratio` times what a false alarm does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posterior.data.table import round_digits
from posterior.evaluation.held_out import HeldOut

MOST = 200  # thresholds
HALF = 0.5
RATIOS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)


@dataclass(frozen=True, slots=True)
class CostChoice:
    """The threshold of least cost, where a missed row costs so many false alarms."""

    ratio: float
    threshold: float  # of least held-out cost; above 1: the class is never predicted
    cost: float  # a row, in false alarms: (ratio · missed + false alarms) / rows
    by_odds: float  # 1 / (1 + ratio), the threshold if probabilities are right
    cost_by_odds: float
    cost_at_half: float  # predicted from 0.5 on
    cost_never: float
    cost_always: float


@dataclass(frozen=True, slots=True)
class Gains:
    """What each threshold gives: enough to draw gains and lift, and to weigh any cost."""

    name: str  # the class
    rows: int
    positives: int  # rows of the class
    thresholds: list[float]  # falling, about 200 of many, all that are cheapest at some cost
    predicted: list[int]  # rows whose probability is at least the threshold
    hits: list[int]  # those of the class
    costs: list[CostChoice]


def gains(held_out: HeldOut, code: int) -> Gains:
    """Of one class against the rest, by held-out probabilities."""
    p, own = held_out.proba[:, code], held_out.codes == code
    order = np.argsort(-p, kind="stable")
    hits, taken = np.cumsum(own[order]), np.arange(1, len(p) + 1)
    ends = np.flatnonzero(np.append(np.diff(p[order]) != 0, True))  # equal ones are taken together
    if len(ends) > MOST:
        kept = _cheap_ends(hits, taken, ends)
        kept = np.union1d(kept, ends[: (p[order][ends] >= HALF).sum()][-1:])
        others = np.setdiff1d(ends, kept)
        even = np.linspace(0, len(others) - 1, max(MOST - len(kept), 0)).round().astype(int)
        ends = np.union1d(kept, others[even])
    costs = [_cheapest(r, p[order], hits, taken) for r in RATIOS]
    return Gains(
        name=held_out.names[code],
        rows=len(p),
        positives=int(own.sum()),
        thresholds=round_digits(p[order][ends]),
        predicted=taken[ends].tolist(),
        hits=hits[ends].tolist(),
        costs=costs,
    )


def _cheap_ends(hits: np.ndarray, taken: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Where some cost is least, whatever the class share: the corners of the ROC's convex hull."""
    from scipy.optimize import isotonic_regression  # sooner there than scikit-learn's

    rows, own = np.diff(taken[ends], prepend=0), np.diff(hits[ends], prepend=0)
    slope = isotonic_regression(own / rows, weights=rows, increasing=False).x
    return ends[np.append(np.diff(slope) != 0, True)]


def _cheapest(ratio: float, falling: np.ndarray, hits: np.ndarray, taken: np.ndarray) -> CostChoice:
    """By all thresholds between different probabilities, of which never is one."""
    n, positives = len(falling), int(hits[-1])
    found = np.append(0, hits)
    cost = (ratio * (positives - found) + np.append(0, taken) - found) / n
    ends = np.append(0, 1 + np.flatnonzero(np.append(np.diff(falling) != 0, True)))
    best = int(ends[cost[ends].argmin()])

    def at(threshold: float) -> float:
        return float(cost[np.searchsorted(-falling, -threshold, side="right")])

    by_odds = 1 / (1 + ratio)
    return CostChoice(
        ratio=ratio,
        threshold=float(falling[best - 1]) if best else float(np.nextafter(1, 2)),
        cost=float(cost[best]),
        by_odds=by_odds,
        cost_by_odds=at(by_odds),
        cost_at_half=at(HALF),
        cost_never=float(cost[0]),
        cost_always=float(cost[-1]),
    )
