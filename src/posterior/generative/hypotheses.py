"""Hypotheses: a table of P(h), and of P(h | D) after evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from posterior.data.names import quoted
from posterior.data.table import Table
from posterior.data.typing import Floats

__all__ = ["Hypotheses"]


@dataclass(frozen=True, slots=True, eq=False)
class Hypotheses:
    """What may be the case, of which one thing is: P(h), updated by evidence after evidence.

    P(h | D) = P(D | h) P(h) / Σ_g P(D | g) P(g)

    Parameters
    ----------
    probabilities : mapping of hypotheses to numbers that sum to one
        One of zero stays zero, whatever the evidence.

    Examples
    --------
    >>> from posterior import Hypotheses
    >>> patient = Hypotheses({"cancer": 0.008, "no cancer": 0.992})
    >>> patient.given({"cancer": 0.98, "no cancer": 0.03})
    hypothesis   P(h)  P(D | h)  P(D | h) P(h)  P(h | D)
    cancer      0.008      0.98        0.00784    0.2085
    no cancer   0.992      0.03        0.02976    0.7915
    """

    probabilities: Mapping[Any, float]
    before: Hypotheses | None = None
    likelihoods: Mapping[Any, float] | None = None

    def __post_init__(self) -> None:
        p = _numbers(self.probabilities, "probabilities")
        if len(p) == 0 or not np.isclose(p.sum(), 1.0):
            raise ValueError(
                f"Expected probabilities of hypotheses that sum to 1, got a sum of {p.sum():g}."
            )

    def given(self, likelihoods: Mapping[Any, float]) -> Hypotheses:
        """The same after evidence D; `likelihoods` are P(D | h), or densities, by hypothesis."""
        if set(likelihoods) ^ set(self.probabilities):
            raise ValueError(
                f"Expected P(D | h) of each of {list(self.probabilities)}, got {list(likelihoods)}."
            )
        told = {h: likelihoods[h] for h in self.probabilities}
        products = _numbers(told, "P(D | h)") * _numbers(self.probabilities, "probabilities")
        if products.sum() == 0:
            raise ValueError(
                "Expected evidence that some hypothesis of positive probability allows, got one "
                "that is impossible under all."
            )
        posterior = (products / products.sum()).tolist()
        return Hypotheses(dict(zip(told, posterior, strict=True)), self, told)

    def __getitem__(self, hypothesis: Any) -> float:
        return float(self.probabilities[hypothesis])

    @property
    def evidence(self) -> float:
        """P(D) of all evidence so far; one if there is none."""
        if self.before is None or self.likelihoods is None:
            return 1.0
        return self.before.evidence * sum(
            self.likelihoods[h] * p for h, p in self.before.probabilities.items()
        )

    @property
    def most_probable(self) -> Any:
        """The hypothesis of the highest probability, h_MAP; the first of several."""
        return max(self.probabilities, key=lambda h: self.probabilities[h])

    def table(self) -> Table:
        """P(h); after evidence also P(D | h) and P(h | D) of the last one."""
        names = np.array([str(h) for h in self.probabilities])
        now = _numbers(self.probabilities, "probabilities")
        if self.before is None or self.likelihoods is None:
            return Table({"hypothesis": names, "P(h)": now})
        prior = _numbers(self.before.probabilities, "probabilities")
        likelihood = _numbers(self.likelihoods, "P(D | h)")
        return Table(
            {
                "hypothesis": names,
                "P(h)": prior,
                "P(D | h)": likelihood,
                "P(D | h) P(h)": likelihood * prior,
                "P(h | D)": now,
            }
        )

    def __str__(self) -> str:
        return str(self.table())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.table().to_html()


def _numbers(given: Mapping[Any, float], what: str) -> Floats:
    """Finite numbers of zero or more, by hypothesis."""
    if not isinstance(given, Mapping):
        raise ValueError(f"Expected {what} by hypothesis, as a dict, got {given!r}.")
    for hypothesis, value in given.items():
        if not isinstance(value, Real) or not 0 <= float(value) < np.inf:
            raise ValueError(
                f"Expected {what} of zero or more, got {value!r} for {quoted(hypothesis)}."
            )
    return np.array(list(given.values()), np.float64)
