"""Normal components of which something is known beforehand, and stays as it is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
import scipy

from posterior.data.typing import Array, Floats
from posterior.families import Gaussian, MultivariateGaussian
from posterior.families.covariance import Whitening, whitenings
from posterior.families.covariance_forms import FORMS, n_numbers
from posterior.families.family import AnyFamily, Intervals
from posterior.generative.joint import Joint, JointStatistics

PARTS = {"weights", "means", "covariances"}  # of what may be known
ONE_SIZE = "EII"  # the form whose covariances are a sum over all components, as "shared" is


@dataclass(frozen=True, slots=True, eq=False)
class KnownComponents:
    """Means and covariances that EM leaves alone; NaN where the data shall say them.

    What is known of a mean moves the covariance: Σ_k is then the mean square around it,
    Σᵢ r_ik (xᵢ - μ)(xᵢ - μ)ᵀ / Σᵢ r_ik, which is the covariance plus δ δᵀ, δ = x̄_k - μ.
    """

    means: Floats | None  # (k, d)
    covariances: Floats | None  # (k, d, d), (1, d, d) if shared, (k, d) if columns are independent
    n_numbers: int  # that the data need not determine

    @classmethod
    def of(
        cls, given: Mapping[str, Any], family: AnyFamily, k: int, d: int
    ) -> KnownComponents | None:
        """What users say of means and covariances, checked."""
        means = _table(given.get("means"), "means", (k, d))
        covariances = _covariances(given.get("covariances"), family, k, d)
        kind = family.kind if isinstance(family, MultivariateGaussian) else None
        if means is not None and kind in FORMS and kind != ONE_SIZE:
            raise ValueError(
                "Expected covariances that are full, tied, diag, spherical or EII for means that "
                f"are known, got {kind!r}."
            )
        if means is None and covariances is None:
            return None
        n = 0 if means is None else int(np.isfinite(means).sum())
        if covariances is not None:
            n += _n_spread(covariances, family, k)
        return cls(means, covariances, n)

    def places(self, joint: Joint[Any, Any]) -> Array:
        """The component of a first guess for each of ours: those near known means come to them."""
        k = len(joint.log_prior)
        if self.means is None:
            return np.arange(k)
        ours = np.flatnonzero(~np.isnan(self.means[:, 0]))
        apart = self.means[ours, None] - joint.parameters.mean
        ours_in_order, theirs = scipy.optimize.linear_sum_assignment((apart**2).sum(axis=2))
        places = np.full(k, -1)
        places[ours[ours_in_order]] = theirs
        places[places < 0] = np.setdiff1d(np.arange(k), theirs)
        return places

    def placed(self, joint: Joint[Any, Any]) -> Joint[Any, Any]:
        """A first model with what is known in the place of its own."""
        return self._with(joint, _known(self.means, joint.parameters.mean), None)

    def imposed(
        self, joint: Joint[Any, Any], sums: JointStatistics[Any], rows: float
    ) -> Joint[Any, Any]:
        """The best model of some sums, and of so many pseudo-rows a component, given the known."""
        p = joint.parameters
        mean = _known(self.means, p.mean)
        apart = p.mean - mean
        if isinstance(joint.family, Gaussian):
            square = apart**2
            if joint.family.alike:
                weight = sums.features.weight.rounded() + rows + np.zeros_like(square)
                total = np.maximum(weight.sum(axis=1, keepdims=True), np.finfo(float).tiny)
                square = (weight * square).sum(axis=1, keepdims=True) / total
            return self._with(joint, mean, p.variance + square)
        outer = apart[:, :, None] * apart[:, None, :]
        assert isinstance(joint.family, MultivariateGaussian)
        kind = joint.family.kind
        if kind in ("shared", ONE_SIZE):
            weight = sums.weight.rounded() + rows
            outer = np.einsum("k,kij->ij", weight / weight.sum(), outer)[None]
            if kind == ONE_SIZE:
                outer = np.trace(outer[0]) / outer.shape[1] * np.eye(outer.shape[1])[None]
        return self._with(joint, mean, p.covariance + outer)

    def without_doubt(self, lines: Intervals) -> Intervals:
        """Intervals of no width where there is nothing to be found."""
        sure = np.zeros(len(lines.value), bool)
        for name, table in (("mean", self.means), ("variance", self.covariances)):
            if table is not None:
                known = ~np.isnan(table).reshape(len(table), -1)[:, 0]
                sure |= (lines.parameter == name) & known[lines.group % len(known)]
        low, high = (np.where(sure, lines.value, end) for end in (lines.low, lines.high))
        return replace(lines, low=low, high=high)

    def _with(self, joint: Joint[Any, Any], mean: Floats, spread: Floats | None) -> Joint[Any, Any]:
        p = joint.parameters
        if isinstance(joint.family, Gaussian):
            variance = _known(self.covariances, p.variance if spread is None else spread)
            return replace(joint, parameters=replace(p, mean=mean, variance=variance))
        assert isinstance(joint.family, MultivariateGaussian)
        covariance = _known(self.covariances, p.covariance if spread is None else spread)
        whitening = whitenings(covariance, joint.family.least)
        parameters = replace(p, mean=mean, covariance=covariance, whitening=whitening)
        return replace(joint, parameters=parameters)


def known_parts(
    known: Mapping[str, Any] | None, family: AnyFamily, k: Any, d: int
) -> tuple[tuple[float | None, ...] | None, KnownComponents | None]:
    """What users know of the shares of k components, and of the components themselves."""
    if not known:
        return None, None
    if unknown := set(known) - PARTS:
        raise ValueError(f"Expected known parts among {sorted(PARTS)}, got {sorted(unknown)}.")
    if not isinstance(k, Integral):
        raise ValueError(f"Expected one number of components for known=, got {k!r}.")
    shares = _known_shares(known.get("weights"), int(k))
    return shares, KnownComponents.of(known, family, int(k), d)


def _known_shares(given: Any, k: int) -> tuple[float | None, ...] | None:
    """Shares that are known, None where the data shall say them."""
    if (shares := _table(given, "weights", (k,))) is None:
        return None
    seen = np.isfinite(shares)
    total = float(shares[seen].sum())
    wrong = abs(total - 1) > 1e-6 if seen.all() else total >= 1
    if (shares[seen] < 0).any() or wrong:
        told = "sum to 1" if seen.all() else "leave something to the others"
        raise ValueError(
            f"Expected known weights of zero or more that {told}, got {shares.tolist()}."
        )
    return tuple(float(share) if known else None for share, known in zip(shares, seen, strict=True))


def _n_spread(covariances: Floats, family: AnyFamily, k: int) -> int:
    """How many numbers known covariances are made of."""
    d, seen = covariances.shape[-1], ~np.isnan(covariances).reshape(len(covariances), -1)[:, 0]
    n = int(seen.sum())
    if isinstance(family, Gaussian):
        return n if family.alike else n * d
    assert isinstance(family, MultivariateGaussian)
    return n_numbers(family.kind, k, d) if family.kind in FORMS else n * d * (d + 1) // 2


def _known(given: Floats | None, found: Floats) -> Floats:
    """What was found, but where it is known."""
    return found if given is None else np.where(np.isnan(given), found, given)


def _table(given: Any, name: str, shape: tuple[int, ...]) -> Floats | None:
    """Numbers of a shape, which are known for a whole component or not at all."""
    if given is None:
        return None
    try:
        table = np.asarray(given, np.float64)
        if len(shape) > 1 and table.ndim == 1 and shape[1:] == (1,) * (len(shape) - 1):
            table = table.reshape(-1, *shape[1:])
        table = np.array(np.broadcast_to(table, shape))
    except (TypeError, ValueError):
        raise ValueError(
            f"Expected known {name} of shape {shape}, NaN where they are not known, got {given!r}."
        ) from None
    if np.isinf(table).any():
        raise ValueError(f"Expected known {name} that are finite, or NaN, got infinity.")
    lines = np.isnan(table).reshape(len(table), -1)
    if (lines.any(axis=1) != lines.all(axis=1)).any():
        k = int(np.argmax(lines.any(axis=1) != lines.all(axis=1)))
        raise ValueError(
            f"Expected {name} that are known for a whole component, or NaN for all of it, got "
            f"{table[k].tolist()} of component {k}."
        )
    return table


def _covariances(given: Any, family: AnyFamily, k: int, d: int) -> Floats | None:
    """In the shape of the family's own."""
    if given is None:
        return None
    if isinstance(family, Gaussian):
        if family.alike:
            spheres = _table(given, "covariances", (k,))
            assert spheres is not None
            table = np.repeat(spheres[:, None], d, axis=1)
        else:
            table = np.asarray(_table(given, "covariances", (k, d)))
        good: Array = np.isnan(table) | (table > 0)
        if not good.all():
            raise ValueError(f"Expected known variances above zero, got {np.nanmin(table):g}.")
        return table
    assert isinstance(family, MultivariateGaussian)
    shared = family.kind == "shared"
    if shared and np.ndim(given) < 3:
        given = np.reshape(given, (1, d, d)) if np.size(given) == d * d else given
    table = np.asarray(_table(given, "covariances", (1 if shared else k, d, d)))
    seen = ~np.isnan(table[:, 0, 0])
    if family.kind in FORMS and not seen.all():
        raise ValueError(
            f"Expected all covariances to be known, or none, where components share parts of them, "
            f"got {int(seen.sum())} of {k} for {family.kind!r}."
        )
    for matrix in table[seen]:
        if not np.allclose(matrix, matrix.T) or Whitening.cholesky(matrix) is None:
            raise ValueError(
                "Expected known covariances that are symmetric and positive definite, got "
                f"{matrix.tolist()}."
            )
    return table
