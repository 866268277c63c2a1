"""Parameters of normal mixtures by the type of their covariances, and those that users give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from posterior.data.errors import DegenerateError
from posterior.data.names import quoted
from posterior.data.typing import Array, Floats
from posterior.families import Gaussian, MultivariateGaussian, PseudoRows
from posterior.families.covariance import Kind, Whitening, whitenings
from posterior.families.covariance_forms import FORMS
from posterior.families.family import AnyFamily
from posterior.families.gaussian import GaussianParameters
from posterior.families.normal_density import MultivariateGaussianParameters
from posterior.families.priors import AddedVariance
from posterior.generative.joint import Joint

TOLERANCE = 1e-6  # by which shares may miss one, as people write them
TOGETHER: dict[str, Kind] = {"full": "own", "tied": "shared", **{form: form for form in FORMS}}
MCLUST = {"VVV": "full", "EEE": "tied", "VVI": "diag", "VII": "spherical"}  # by another name
TYPES = ("full", "tied", "diag", "spherical", *MCLUST, *FORMS)
ALL = tuple("EII VII EEI VEI EVI VVI EEE VEE EVE VVE EEV VEV EVV VVV".split())  # in R's order


def types_of(asked: Any) -> list[str]:
    """The types of covariance to choose from."""
    if isinstance(asked, str):
        return [*ALL] if asked == "all" else [asked]
    given = list(asked)
    if not given or not all(isinstance(name, str) and name in TYPES for name in given):
        raise ValueError(
            f"Expected types of covariance for covariance_type, one or more of {', '.join(TYPES)}, "
            f"got {given}."
        )
    return list(dict.fromkeys(given))


def family_of(asked: str, prior_rows: float | None, reg_covar: float) -> AnyFamily:
    """Components of a type: with rows of everyone, or else with something added to variances."""
    rows, added = (0.0, reg_covar) if prior_rows is None else (prior_rows, 0.0)
    plain = MCLUST.get(asked, asked)
    if plain in TOGETHER:
        return MultivariateGaussian(TOGETHER[plain], pseudo_rows=rows, added=added)
    prior = AddedVariance(added) if prior_rows is None else PseudoRows(rows)
    return Gaussian(prior, alike=plain == "spherical")


def type_of(family: AnyFamily, asked: Sequence[str]) -> str:
    """The type of a family's covariances, by the name that it was asked for."""
    plain = covariance_type(family)
    if isinstance(family, MultivariateGaussian) and family.kind in FORMS:
        plain = family.kind
    return next((name for name in asked if MCLUST.get(name, name) == plain), plain)


def covariance_type(family: AnyFamily) -> str:
    """ "full", "tied", "diag" or "spherical"."""
    if isinstance(family, Gaussian):
        return "spherical" if family.alike else "diag"
    assert isinstance(family, MultivariateGaussian)
    return "tied" if family.kind == "shared" else "full"


def joint_of(family: AnyFamily, weights: Any, means: Any, roots: Any) -> Joint[Any, Any]:
    """The model of given weights, means and roots of precisions: A Aᵀ = Σ⁻¹."""
    mean, root = np.asarray(means, np.float64), np.asarray(roots, np.float64)
    with np.errstate(divide="ignore"):  # a share of nothing, a column that never varies
        log_prior = np.log(np.asarray(weights, np.float64))
        variance = 1 / root**2
    if isinstance(family, Gaussian):
        variance = np.array(np.broadcast_to(variance.reshape(len(mean), -1), mean.shape))
        return Joint(family, log_prior, GaussianParameters(mean, variance))
    matrices = root.reshape(-1, *mean.shape[1:] * 2)
    whitening = tuple(
        Whitening(A, -2 * float(np.log(np.abs(A.diagonal())).sum())) for A in matrices
    )
    inverse = np.linalg.inv(matrices)
    covariance = inverse.swapaxes(1, 2) @ inverse
    return Joint(family, log_prior, MultivariateGaussianParameters(mean, covariance, whitening))


def covariances(joint: Joint[Any, Any]) -> Floats:
    """(k, d, d) if full, (d, d) if tied, (k, d) if diag, (k,) if spherical."""
    kind, p = covariance_type(joint.family), joint.parameters
    if kind in ("full", "tied"):
        return np.asarray(p.covariance[0] if kind == "tied" else p.covariance)
    return np.asarray(p.variance.min(axis=1) if kind == "spherical" else p.variance)


def roots(joint: Joint[Any, Any]) -> Floats:
    """A of A Aᵀ = Σ⁻¹, in the shape of the covariances."""
    if isinstance(joint.family, Gaussian):
        return np.asarray(1 / np.sqrt(covariances(joint)))
    matrices = np.stack([whitening.matrix for whitening in joint.parameters.whitening])
    return matrices[0] if covariance_type(joint.family) == "tied" else matrices


def precisions(joint: Joint[Any, Any]) -> Floats:
    """Σ⁻¹, in the shape of the covariances."""
    if isinstance(joint.family, Gaussian):
        return np.asarray(1 / covariances(joint))
    A = roots(joint)
    return np.asarray(A @ A.swapaxes(-1, -2))


def full_covariances(joint: Joint[Any, Any], names: Array) -> Floats:
    """(k, d, d), whatever the kind."""
    k, d = joint.parameters.mean.shape
    if not isinstance(joint.family, Gaussian):
        return np.broadcast_to(joint.parameters.covariance, (k, d, d))
    variance = np.broadcast_to(covariances(joint).reshape(k, -1), (k, d))
    constant = np.isinf(variance).any(axis=0)
    if constant.any():
        name = quoted(names[constant][0])
        raise DegenerateError(f"Expected columns that vary, but {name} never does. Drop it.")
    return np.asarray(variance[:, :, None] * np.eye(d))


def in_order(joint: Joint[Any, Any], places: Array) -> Joint[Any, Any]:
    """The same components in another order."""
    weights, p, A = np.exp(joint.log_prior), joint.parameters, roots(joint)
    A = A if covariance_type(joint.family) == "tied" else A[places]
    return joint_of(joint.family, weights[places], p.mean[places], A)


def with_means(joint: Joint[Any, Any], given: Any) -> Joint[Any, Any]:
    """A first model with means in the place of its own."""
    parameters = joint.parameters
    if not isinstance(parameters, GaussianParameters | MultivariateGaussianParameters):
        raise ValueError(
            "Expected columns that are all normal for means_init, got "
            f"{type(joint.family).__name__}. Give shares of the rows in init_params instead."
        )
    means = _shaped(given, "means", parameters.mean.shape)
    return replace(joint, parameters=replace(parameters, mean=means))


# ---- as users give them ----


def roots_of(given: Any, kind: str) -> Floats:
    """Roots of precisions, from covariances."""
    covariance = np.asarray(given, np.float64)
    if kind in ("diag", "spherical"):
        return np.asarray(1 / np.sqrt(covariance))
    matrices = covariance.reshape(-1, *covariance.shape[-2:])
    roots = np.stack([whitening.matrix for whitening in whitenings(matrices, None)])
    return roots.reshape(covariance.shape)


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
