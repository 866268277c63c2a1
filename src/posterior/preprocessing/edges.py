"""Edges of the bins of one column, from its values alone."""

from __future__ import annotations

import numpy as np

from posterior.data.typing import Array, Floats, Integers

STEPS, TOLERANCE = 300, 1e-4  # of k-means; the tolerance is a share of the variance


def quantile_edges(x: Array, weight: Floats | None, n_bins: int, method: str) -> Floats:
    """Bins of equal weight, by one of NumPy's definitions of a quantile."""
    levels = np.linspace(0, 100, n_bins + 1)
    if weight is None:
        return np.asarray(np.percentile(x, levels, method=method), np.float64)  # type: ignore[call-overload]
    return weighted_quantiles(x, weight, levels / 100, method == "averaged_inverted_cdf")


def weighted_quantiles(x: Array, weight: Floats, levels: Floats, average: bool) -> Floats:
    """The least x whose weight up to x is a share of all, or its middle with the next if equal."""
    order = np.argsort(x, kind="stable")
    value, up_to = x[order].astype(np.float64), np.cumsum(weight[order])
    wanted = levels * up_to[-1]
    # the least of all stands for the level 0
    place = np.searchsorted(up_to, np.maximum(wanted, np.nextafter(0.0, 1.0)))
    place = np.minimum(place, len(value) - 1)
    if not average:
        return value[place]
    exact = up_to[place] - wanted <= np.finfo(np.float64).eps
    after = np.where(exact, np.minimum(place + 1, len(value) - 1), place)
    return (value[place] + value[after]) / 2


def kmeans_edges(x: Array, weight: Floats | None, n_bins: int) -> Floats:
    """Edges halfway between the centers of k-means, which starts from bins of equal width."""
    value, place = np.unique(x.astype(np.float64), return_inverse=True)
    weights = np.bincount(place, weight).astype(np.float64)
    if len(value) <= n_bins:
        centers = value
    else:
        ends = np.linspace(value[0], value[-1], n_bins + 1)
        centers = kmeans(value, weights, (ends[1:] + ends[:-1]) * 0.5)
    return np.concatenate([value[:1], (centers[1:] + centers[:-1]) * 0.5, value[-1:]])


def kmeans(value: Floats, weight: Floats, start: Floats) -> Floats:
    """Lloyd's steps in one dimension: values in order, more than there are centers.

    The values of a center lie between two edges, so sums of clusters are differences of cumulative
    sums, and a step costs no more than a search for the edges.
    """
    mean = np.average(value, weights=weight)
    z, centers = value - mean, start - mean
    enough = TOLERANCE * np.average(z**2, weights=weight)
    weight_up_to = np.concatenate([[0.0], np.cumsum(weight)])
    sum_up_to = np.concatenate([[0.0], np.cumsum(weight * z)])
    before = np.empty(0, np.int64)
    for _ in range(STEPS):
        inner = np.searchsorted(z, (centers[1:] + centers[:-1]) * 0.5, side="right")
        bounds = np.concatenate([[0], inner, [len(z)]])
        if np.array_equal(bounds, before):
            break
        before = bounds
        weights, sums = np.diff(weight_up_to[bounds]), np.diff(sum_up_to[bounds])
        _fill_empty(z, weight, centers, bounds, weights, sums)
        moved = sums / weights
        shift = float(((moved - centers) ** 2).sum())
        centers = np.sort(moved)
        if shift <= enough:
            break
    return centers + mean


def _fill_empty(
    z: Floats, weight: Floats, centers: Floats, bounds: Integers, weights: Floats, sums: Floats
) -> None:
    """A center without values takes the value farthest from its own center, the last of equals."""
    sizes = np.diff(bounds)
    empty = np.flatnonzero(sizes == 0)
    if len(empty) == 0:
        return
    label = np.repeat(np.arange(len(centers)), sizes)
    far = iter(np.argsort((z - centers[label]) ** 2, kind="stable")[::-1])
    for center in empty:
        i = next(i for i in far if sizes[label[i]] > 1)
        donor = label[i]
        sizes[donor] -= 1
        weights[center], sums[center] = weight[i], weight[i] * z[i]
        weights[donor] -= weights[center]
        sums[donor] -= sums[center]
