"""Votes of neighbors: pure functions of distances, labels and weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from posterior.data.typing import Array, Floats

Rule: TypeAlias = str | Callable[[Floats], Array] | None  # "uniform", ... or a function


def parts(weight: Floats, k: float) -> Floats:
    """The part of each neighbor that counts, nearest first, until k rows are together.

    part_j = min(w_j, max(0, k - Σ_{i<j} w_i)): a row of weight two is two rows.
    """
    before = np.cumsum(weight, axis=1) - weight
    return np.clip(k - before, 0.0, weight)


def vote_weights(distances: Floats, rule: Rule, part: Floats) -> Floats:
    """The weight of a vote at each distance (m, k), of rows of which some part counts.

    "uniform" is 1; "distance" is d_min / d, so that the nearest has 1. Neighbors at distance zero,
    or of infinite weight, leave the others none. "gaussian" is a bell curve, see there.
    """
    if rule is None or rule == "uniform":
        return np.ones(distances.shape)
    if isinstance(rule, str) and rule == "gaussian":
        return gaussian(distances, part)
    with np.errstate(divide="ignore", invalid="ignore"):
        if callable(rule):
            weight = np.array(rule(distances), np.float64)
            _check(weight, distances.shape)
        else:
            nearest = distances[:, :1]
            weight = np.where(distances > 0, nearest / distances, np.inf)
            weight[np.isinf(nearest[:, 0])] = 1.0  # nothing is known of how near they are
    certain = np.isinf(weight)
    decided = certain.any(axis=1)
    weight[decided] = certain[decided]
    return weight


def gaussian(distances: Floats, part: Floats) -> Floats:
    """exp(-½ (d / h)²), where h is half the distance of the last neighbor that counts.

    How far votes reach follows from how dense the rows are; k says how smooth they make it.
    """
    known = np.isfinite(distances)
    last = np.where(known & (part > 0), distances, 0.0).max(axis=1, keepdims=True)
    near = np.divide(distances, last, out=np.zeros_like(distances), where=known & (last > 0))
    weight = np.where(known, np.exp(-2 * near**2), 0.0)
    weight[~known.any(axis=1)] = 1.0  # nothing is known of how near they are
    return weight


def tally(codes: Array, votes: Floats, n_classes: int) -> Floats:
    """Votes (m, k) for classes (m, k), added up by class, (m, n_classes)."""
    m = len(codes)
    place = codes + n_classes * np.arange(m, dtype=np.int64)[:, None]
    counts = np.bincount(place.ravel(), votes.ravel(), minlength=m * n_classes)
    return np.asarray(counts.reshape(m, n_classes), np.float64)


def shares(weight: Floats) -> Floats:
    """Class probabilities from the weight (..., C) of each class, none of them zero (Laplace).

    π_c = (w_c + 1) / (Σ w + C)
    """
    return (weight + 1.0) / (weight.sum(axis=-1, keepdims=True) + weight.shape[-1])


def posterior(votes: Floats, counted: Floats, prior: Floats, smoothing: Floats | float) -> Floats:
    """Class probabilities from votes (m, C), with `smoothing` rows of the prior beside them.

    p_c = (n v_c / Σ v + a π_c) / (n + a), where n (m, 1) rows were counted; of several a (s, 1, 1),
    all at once (s, m, C).
    """
    total = votes.sum(axis=1, keepdims=True)
    if not np.any(smoothing):
        return votes / total + smoothing  # of the shape of several
    return (votes * (counted / total) + smoothing * prior) / (counted + smoothing)


def _check(weight: Floats, shape: tuple[int, ...]) -> None:
    if weight.shape != shape:
        raise ValueError(
            f"Expected weights(distances) of the shape of the distances {shape}, got "
            f"{weight.shape}."
        )
    bad = np.isnan(weight) | (weight < 0)
    if bad.any():
        raise ValueError(
            f"Expected weights(distances) that are not negative, got {weight[bad][0]:g}. Choose a "
            "function that has a value at every distance."
        )
    if not weight.any(axis=1).all():
        raise ValueError(
            "All neighbors of some sample is getting zero weights. Please modify 'weights' to "
            "avoid this case if you are using a user-defined function."
        )
