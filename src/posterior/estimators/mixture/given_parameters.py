"""Parts of a first guess that users give, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from posterior.data.typing import Floats

TOLERANCE = 1e-6  # by which shares may miss one, as people write them


def checked_weights(given: Any, k: int) -> Floats | None:
    if given is None:
        return None
    weights = _shaped(given, "weights", (k,))
    if (weights < 0).any() or (weights > 1).any():
        raise ValueError(
            "The parameter 'weights' should be in the range [0, 1], but got min value "
            f"{weights.min():.5f}, max value {weights.max():.5f}"
        )
    if abs(weights.sum() - 1) > TOLERANCE:
        raise ValueError(
            "The parameter 'weights' should be normalized, but got sum(weights) = "
            f"{weights.sum():.5f}"
        )
    return weights


def checked_means(given: Any, k: int, d: int) -> Floats | None:
    return None if given is None else _shaped(given, "means", (k, d))


def checked_precisions(given: Any, kind: str, k: int, d: int) -> Floats | None:
    """Roots A of precisions, A Aᵀ = Σ⁻¹, of the shape that the kind of covariance has."""
    if given is None:
        return None
    shape = {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}[kind]
    precisions = _shaped(given, f"{kind} precision", shape)
    if kind in ("diag", "spherical"):
        if not (precisions > 0).all():
            raise ValueError(f"'{kind} precision' should be positive")
        return np.sqrt(precisions)
    matrices = precisions.reshape(-1, d, d)
    try:
        if not np.allclose(matrices, matrices.swapaxes(1, 2)):
            raise np.linalg.LinAlgError
        # A is upper triangular: the Cholesky factor of the precision turned round
        roots = np.linalg.cholesky(matrices[:, ::-1, ::-1])[:, ::-1, ::-1]
    except np.linalg.LinAlgError:
        raise ValueError(f"'{kind} precision' should be symmetric, positive-definite") from None
    return np.asarray(roots.reshape(shape))


def _shaped(given: Any, name: str, shape: tuple[int, ...]) -> Floats:
    array = np.asarray(given, np.float64)
    if array.shape != shape:
        raise ValueError(
            f"The parameter '{name}' should have the shape of {shape}, but got {array.shape}"
        )
    if not np.isfinite(array).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"Expected finite {name}, got {array[place]} at {place}.")
    return array
