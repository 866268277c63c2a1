"""Explanations by evidence: the additive terms behind a posterior, as numbers and as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from posterior.data.shares import ranked_shares
from posterior.data.table import text
from posterior.data.typing import Array, Floats

TOGETHER = " × "  # between the columns of one term
BAR = 12  # characters of the longest bar
SHOWN = 15  # features that are printed one by one, if there are more than one more


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """log p(x, k) = log_prior_k + Σⱼ terms_kj, for every row and class."""

    terms: Floats  # (n, k, d)
    log_prior: Floats  # (k,)
    feature_names: Array
    classes: Array

    def log_joint(self) -> Floats:
        """The sum of prior and terms, (n, k)."""
        return self.log_prior + self.terms.sum(axis=2)

    def joined(self, origins: Mapping[str, str]) -> Evidence:
        """Terms of what was made of one column together, by the name of that column."""
        if not origins:
            return self
        told = [str(name).split(TOGETHER) for name in self.feature_names]
        names = [TOGETHER.join(dict.fromkeys(origins.get(n, n) for n in each)) for each in told]
        places = {name: j for j, name in enumerate(dict.fromkeys(names))}
        terms = np.zeros((*self.terms.shape[:2], len(places)))
        for j, name in enumerate(names):
            terms[:, :, places[name]] += self.terms[:, :, j]
        return replace(self, terms=terms, feature_names=np.array([*places], object))

    def weights(self, of: int, against: int) -> Floats:
        """Each feature's log-odds for one class against another, (n, d)."""
        with np.errstate(invalid="ignore"):
            return self.terms[:, of] - self.terms[:, against]


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """One row's posterior odds of a class against another, taken apart.

    log odds = log prior odds + Σⱼ weight of evidence of feature j   (Good 1950)
    """

    of: Any
    against: Any
    prior: float
    feature_names: Array
    values: tuple[Any, ...]
    weights: Floats  # (d,)
    posterior: dict[Any, float]

    @property
    def log_odds(self) -> float:
        return float(self.prior + self.weights.sum())

    def in_short(self, most: int) -> str:
        """The features of most weight, in one line."""
        return weightiest(self.feature_names, self.weights, most)

    def to_dict(self) -> dict[str, Any]:
        """In plain values."""
        return odds(self, zip(self.feature_names, self.values, self.weights, strict=True))

    def __str__(self) -> str:
        ranked = np.argsort(-np.abs(self.weights), kind="stable")
        shown = ranked if len(ranked) <= SHOWN + 1 else ranked[:SHOWN]
        others = ranked[len(shown) :]
        lines = [("prior", "", self.prior)]
        lines += [
            (str(self.feature_names[j]), text(self.values[j]), self.weights[j]) for j in shown
        ]
        if len(others):
            lines.append((f"{len(others):,} others", "", float(self.weights[others].sum())))
        lines.append(("posterior", "", self.log_odds))
        finite = [abs(w) for _, _, w in lines[:-1] if np.isfinite(w)]
        largest = max(finite, default=1.0) or 1.0
        name_width = max(len(name) for name, _, _ in lines)
        value_width = max(len("value"), *(len(value) for _, value, _ in lines))
        head = f"{'':{name_width}}  {'value':>{value_width}}  {'log-odds':>8}"
        rows = [f"Why {self.of}, rather than {self.against}", head]
        for name, value, weight in lines:
            size = min(1.0, abs(weight) / largest) if np.isfinite(weight) else 1.0
            bar = "" if name == "posterior" else ("+" if weight > 0 else "-") * round(BAR * size)
            rows.append(
                f"{name:{name_width}}  {value:>{value_width}}  {weight:>+8.2f}  {bar}".rstrip()
            )
        return "\n".join([*rows, ranked_shares(self.posterior)])

    __repr__ = __str__


class Odds(Protocol):
    """An explanation of one class against another."""

    @property
    def of(self) -> Any: ...
    @property
    def against(self) -> Any: ...
    @property
    def prior(self) -> float: ...
    @property
    def log_odds(self) -> float: ...
    @property
    def posterior(self) -> dict[Any, float]: ...


def odds(explanation: Odds, features: Iterable[tuple[Any, Any, Any]]) -> dict[str, Any]:
    """An explanation in plain values, with the names, values and weights of its features."""
    return {
        "of": explanation.of,
        "against": explanation.against,
        "prior": explanation.prior,
        "log_odds": explanation.log_odds,
        "features": [{"name": n, "value": v, "weight": w} for n, v, w in features],
        "posterior": explanation.posterior,
    }


def weightiest(names: Array, weights: Floats, most: int) -> str:
    """The names of most weight, in one line."""
    top = np.argsort(-np.abs(weights), kind="stable")[:most]
    return "; ".join(f"{names[j]} ({weights[j]:+.2f})" for j in top)
