"""Probabilities as people read them."""

from __future__ import annotations

from typing import Any

CLASSES = 6  # whose probabilities are printed, if there are more than one more


def ranked_shares(posterior: dict[Any, float], between: str = "  ") -> str:
    """The probabilities of the classes in one line, the largest first, and of many the largest."""
    ranked = sorted(posterior.items(), key=lambda item: -item[1])
    shown = ranked if len(ranked) <= CLASSES + 1 else ranked[:CLASSES]
    said = [f"P({name}) = {percent(p)}" for name, p in shown]
    if others := ranked[len(shown) :]:
        said.append(f"{len(others):,} others = {percent(sum(p for _, p in others))}")
    return between.join(said)


def percent(p: float) -> str:
    """A probability for people: never 100 % for what is not certain."""
    if 0 < p < 1e-4:
        return "<0.01 %"
    if 1 - 1e-4 < p < 1:
        return ">99.99 %"
    return f"{100 * p:.2f} %"
