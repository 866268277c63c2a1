"""Decisions: which class is answered, given a posterior and what a person wants.

Classes may have other shares where the model is used, mistakes may have prices, and a class may be
answered from another probability on than all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from scipy.special import logsumexp

from posterior.data.typing import Array, Floats

PRIORS = ("class_log_prior_", "class_prior_", "priors_")


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """What a person wants; the most probable class, if nothing."""

    shares: Floats | None = None  # (k,) of the classes, other than the learned ones
    prices: Floats | None = None  # (k, k) of truth and answer
    thresholds: Floats | None = None  # (k,) from which a class is answered; NaN for none
    sentence: str = "the most probable class"

    def codes(self, posterior: Floats) -> Array:
        """The answer of each row, by its code."""
        if self.thresholds is not None:
            return above(posterior, self.thresholds)
        return decide(posterior, self.prices)[0]


def decide(posterior: Floats, prices: Floats | None) -> tuple[Any, Floats | None]:
    """The answer of each row, by its code, and what each answer is expected to cost, (n, k)."""
    if prices is None:
        return posterior.argmax(axis=1), None
    expected = posterior @ prices
    return expected.argmin(axis=1), expected


def above(posterior: Floats, thresholds: Floats) -> Array:
    """The class that is furthest above its threshold, p / t; else the most probable of the others.

    Where all have a threshold and none is reached, the one that is nearest to it.
    """
    named = ~np.isnan(thresholds)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(named, posterior / np.maximum(thresholds, 1e-300), -1.0)
    reached = ratio.max(axis=1) >= 1
    others = ratio if named.all() else np.where(named, -1.0, posterior)
    return np.where(reached, ratio.argmax(axis=1), others.argmax(axis=1))


def posterior(model: Any, X: Any, shares: Floats | None = None) -> Floats:
    """p(k | x) of each row, perhaps with other shares of the classes, (n, k)."""
    if shares is None:
        return np.asarray(model.predict_proba(X))
    if "priors" in signature(model.predict_proba).parameters:
        return np.asarray(model.predict_proba(X, priors=shares))
    with np.errstate(divide="ignore"):
        moved = np.log(model.predict_proba(X)) + shift(model, shares)
    return np.asarray(np.exp(moved - logsumexp(moved, axis=1, keepdims=True)))


def shift(model: Any, shares: Floats) -> Floats:
    """What other shares add to the log of each class, (k,)."""
    learned = log_prior(model)
    if learned is None:
        raise ValueError(
            "Expected a model that knows the shares of its classes, to change them, got "
            f"{type(model).__name__}."
        )
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(shares) - learned)


def log_prior(model: Any) -> Floats | None:
    """Log shares of the classes, if the model knows them."""
    from posterior.estimators.summed_classifier import SummedClassifier

    for name in PRIORS:
        if (found := getattr(model, name, None)) is not None:
            with np.errstate(divide="ignore"):
                return np.asarray(found if "log" in name else np.log(found), np.float64)
    if isinstance(model, SummedClassifier):
        return np.asarray(model.settled().model.log_prior)
    return None


def threshold_values(given: Mapping[str, float], classes: Sequence[str]) -> Floats:
    """Thresholds in the order of the classes, NaN for those that have none."""
    for name, value in given.items():
        check_class(name, classes, "a threshold")
        if not 0 <= value <= 1:
            raise ValueError(f"Expected a threshold from 0 to 1 for {name!r}, got {value:g}.")
    return np.array([given.get(name, np.nan) for name in classes])


def check_class(label: str, classes: Sequence[str], name: str) -> None:
    """Raise if there is no such class."""
    if label not in classes:
        shown = ", ".join(classes[:10])
        raise ValueError(f"Expected {name} of one of the classes {shown}, got {label!r}.")
