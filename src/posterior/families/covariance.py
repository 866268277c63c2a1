"""Covariance from scatter: own, shared, diagonal or spherical; shrunken or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from posterior.data.errors import DegenerateError
from posterior.data.typing import Floats
from posterior.families.covariance_forms import FORMS, Form, formed
from posterior.statistics.cross_products import CrossProducts


def check_ddof(ddof: float) -> None:
    """Refuse what no divisor n - ddof can be made of."""
    if not 0 <= ddof < np.inf:
        raise ValueError(f"Expected a finite, non-negative ddof, got {ddof}.")


def divisor(rows: Floats, ddof: Floats | float) -> Floats:
    """n - ddof, by which squares around a mean are divided; NaN where there are too few rows."""
    if isinstance(ddof, int | float) and ddof == 0:  # as it usually is
        return rows
    return np.where(rows > ddof, rows - ddof, np.nan) if np.any(ddof) else rows


Kind: TypeAlias = Literal["shared", "own", "diagonal", "spherical"] | Form
KINDS: tuple[Kind, ...] = ("shared", "own", "diagonal", "spherical")


@dataclass(frozen=True, slots=True, eq=False)
class Scatter:
    """Weight, mean and scatter Σ r (x - μ)(x - μ)ᵀ of each group."""

    weight: Floats  # (k,)
    mean: Floats  # (k, d)
    scatter: Floats  # (k, d, d)

    @classmethod
    def of(cls, sums: CrossProducts) -> Scatter:
        return cls(*sums.scatter())

    def means(self) -> Floats:
        """Of each group; one without rows lies where everyone lies."""
        return np.where(self.weight[:, None] > 0, self.mean, self.pooled().mean)

    def pooled(self) -> Scatter:
        """All groups as one: the scatter within them and that of their means."""
        weight = self.weight.sum()
        mean = self.weight @ self.mean / max(weight, 1e-300)
        apart = self.mean - mean
        between = np.einsum("k,ki,kj->ij", self.weight, apart, apart)
        within = self.scatter.sum(axis=0) + between
        return Scatter(np.array([weight]), mean[None], within[None])

    def __add__(self, other: Scatter) -> Scatter:
        """Group by group; the scatter of two parts and of their means."""
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        apart = other.mean - self.mean
        mean = self.mean + share[:, None] * apart
        between = (self.weight * share)[:, None, None] * apart[:, :, None] * apart[:, None, :]
        return Scatter(weight, mean, self.scatter + other.scatter + between)

    def with_rows(self, m: float, everyone: Scatter | None = None) -> Scatter:
        """With m rows more in each group, which have the mean and covariance of everyone (by
        default of all groups together)."""
        if m == 0:
            return self
        rows, k = (everyone or self.pooled()).as_rows(m), len(self.weight)
        parts = (rows.weight, rows.mean, rows.scatter)
        return self + Scatter(*(np.repeat(part, k, axis=0) for part in parts))

    def as_rows(self, m: float) -> Scatter:
        """As many as m rows with the same mean and covariance."""
        return Scatter(np.full_like(self.weight, m), self.mean, m * self.scatter / self.weight)

    def covariance(
        self,
        kind: Kind,
        shares: tuple[float, ...] | None = None,
        ddof: float = 0.0,
        before: Floats | None = None,
    ) -> Floats:
        """(k, d, d); or (1, d, d) if all groups share it, each as it weighs or as shares say.

        Of K groups, n_k rows each: S_k / (n_k - ddof); shared, Σ S_k / (n - K ddof). Where there
        is no equation for it, the search begins at the covariances `before`.
        """
        if kind == "shared" and shares is None:
            return self.scatter.sum(axis=0, keepdims=True) / self._within(ddof)
        if kind in FORMS:
            return self._formed(kind, before)
        seen = self.weight[:, None, None] > 0
        own = self.scatter / np.where(seen, self._each(ddof)[:, None, None], 1.0)
        if not seen.all():  # a group without rows knows what everyone knows
            everyone = self.pooled()
            own = np.where(seen, own, everyone.scatter / everyone.weight[0])
        if shares is not None and kind == "shared":
            return np.einsum("k,kij->ij", shares, own)[None]
        if kind == "own":
            return own
        eye = np.eye(own.shape[1])
        if kind == "diagonal":
            return own * eye
        return np.trace(own, axis1=1, axis2=2)[:, None, None] / own.shape[1] * eye

    def _formed(self, form: str, before: Floats | None) -> Floats:
        """Covariances that groups share in part; one without rows knows what everyone knows."""
        seen, everyone = self.weight > 0, self.pooled()
        out = np.repeat(everyone.scatter / everyone.weight[0], len(seen), axis=0)
        begin = None if before is None else np.broadcast_to(before, out.shape)[seen]
        out[seen] = formed(form, self.weight[seen], self.scatter[seen], begin)
        return out

    def spent(self, ddof: float) -> float:
        """What the means of all groups take from the rows behind a shared covariance."""
        return ddof * int((self.weight > 0).sum())

    def _within(self, ddof: float) -> float:
        """The divisor of a shared covariance."""
        rows, spent = float(self.weight.sum()), self.spent(ddof)
        if spent and not rows > spent:
            raise DegenerateError(
                f"Expected rows that weigh more than {spent:g}, ddof={ddof:g} for the mean of each "
                f"class that shares the covariance, got {rows:g}. Add rows, or set ddof=0."
            )
        return rows - spent

    def _each(self, ddof: float) -> Floats:
        """The divisors of the groups' own covariances."""
        few = np.flatnonzero((self.weight > 0) & ~(self.weight > ddof))
        if len(few):
            raise DegenerateError(
                f"Expected rows that weigh more than ddof={ddof:g} in class {{group}}, got "
                f"{self.weight[few[0]]:g}. Add rows, share the covariance, or set ddof=0.",
                group=int(few[0]),
            )
        return divisor(self.weight, ddof)


def shrunken(covariance: Floats, amount: float) -> Floats:
    """(1 - a) Σ + a tr(Σ) / d I: towards a sphere of the same volume (Ledoit and Wolf 2004)."""
    if amount == 0:
        return covariance
    d = covariance.shape[-1]
    sphere = np.trace(covariance, axis1=-2, axis2=-1)[..., None, None] / d * np.eye(d)
    return (1 - amount) * covariance + amount * sphere


def correlations(covariance: Floats) -> tuple[Floats, Floats]:
    """Covariances of columns in units of their deviations, and these; 0 and 1 of a constant one.

    Whether columns are combinations of each other is seen here: units do not matter.
    """
    deviation = np.sqrt(np.maximum(np.diagonal(covariance, axis1=-2, axis2=-1), 0.0))
    deviation = np.where(deviation > 0, deviation, 1.0)
    return covariance / deviation[..., :, None] / deviation[..., None, :], deviation


def least_variances(covariance: Floats) -> Floats:
    """Of each covariance (k, d, d), that of standardized columns along their last axis: (k,)."""
    return np.linalg.eigvalsh(correlations(covariance)[0]).min(axis=-1)


ROUNDING = 1e-7  # deviations that rounding alone can make, among correlations


@dataclass(frozen=True, slots=True, eq=False)
class Whitening:
    """A with Aᵀ Σ A = I, of as many columns as Σ has rank, and log |Σ| on their span."""

    matrix: Floats  # (d, r)
    log_det: float

    @classmethod
    def cholesky(cls, covariance: Floats) -> Whitening | None:
        """A = L⁻ᵀ where Σ = L Lᵀ; None if Σ is not positive definite to rounding."""
        deviation = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
        if not (deviation > 0).all():
            return None
        correlation = covariance / np.outer(deviation, deviation)
        try:
            factor = np.linalg.cholesky(correlation)
        except np.linalg.LinAlgError:
            return None
        d = len(deviation)
        if factor.diagonal().min(initial=1.0) ** 2 < 4 * d * np.finfo(float).eps:
            return None
        inverse = np.linalg.solve(factor, np.eye(d))  # SciPy's triangular solver starts threads
        log_det = 2 * float(np.log(factor.diagonal() * deviation).sum())
        return cls((inverse / deviation).T, log_det)

    @classmethod
    def pseudo(cls, covariance: Floats) -> Whitening:
        """Of the Moore-Penrose inverse: from the eigenvectors of the covariance itself."""
        values, vectors = np.linalg.eigh(covariance)
        kept = values > len(values) * np.finfo(float).eps * values.max(initial=0.0)
        return cls(vectors[:, kept] / np.sqrt(values[kept]), float(np.log(values[kept]).sum()))

    @classmethod
    def of_rank(cls, covariance: Floats, least: float) -> Whitening:
        """From eigenvectors of the correlations, those of deviation above `least` only."""
        correlation, deviation = correlations(covariance)
        values, vectors = np.linalg.eigh(correlation)
        values, vectors = values[::-1], vectors[:, ::-1]
        kept = np.sqrt(np.maximum(values, 0.0)) > least
        matrix = vectors[:, kept] / deviation[:, None] / np.sqrt(values[kept])
        # |AᵀA|⁻¹ by what is left out (Jacobi's identity): no squares of units that are far apart
        left_out = np.asarray(np.linalg.qr(deviation[:, None] * vectors[:, ~kept], mode="r"))
        logs = np.log(values[kept]).sum() + 2 * np.log(deviation).sum()
        return cls(matrix, float(logs - 2 * np.log(np.abs(left_out.diagonal())).sum()))


def whitenings(covariance: Floats, least: float | None) -> tuple[Whitening, ...]:
    """Of each covariance. One that is not of full rank is an error, unless `least` is given: then
    directions that deviate by no more are left out, for 0 those that only rounding has made."""
    return tuple(_whitening(k, one, least) for k, one in enumerate(covariance))


def _whitening(k: int, covariance: Floats, least: float | None) -> Whitening:
    if not np.isfinite(covariance).all():
        raise DegenerateError("Expected rows to learn from, got none of any weight.")
    whitening = Whitening.cholesky(covariance) if not least else None
    if whitening is not None:
        return whitening
    if least is not None:
        return Whitening.of_rank(covariance, least or ROUNDING)
    remedy = "Drop columns, or ask for pseudo_rows, shrinkage or another kind of covariance."
    constant = np.flatnonzero(~(covariance.diagonal() > 0))
    if len(constant):
        raise DegenerateError(
            "Expected columns that vary, but {feature} is the same in all rows of class {group}. "
            + remedy,
            feature=int(constant[0]),
            group=k,
        )
    raise DegenerateError(
        "Expected columns that are no combinations of each other, and more rows than columns, but "
        "the covariance of class {group} has no inverse. " + remedy,
        group=k,
    )
