"""Options that say what is answered: --cost, --prior, --threshold, each of a class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from posterior.app.decisions import Decision, check_class, log_prior, threshold_values
from posterior.data import validate
from posterior.data.names import plain
from posterior.data.typing import Floats


def asked(
    model: Any, costs: Sequence[str], priors: Sequence[str], thresholds: Sequence[str]
) -> Decision:
    """Options such as yes=5: what missing a yes costs, its share, or where it is answered from."""
    if costs and thresholds:
        raise ValueError(
            "Expected --cost or --threshold, which both decide what is predicted, not both."
        )
    classes = [str(plain(label)) for label in model.classes_]
    said = []
    shares = prices = limits = None
    if given := _by_class(priors, classes, "--prior", 0, 1):
        shares = _with_rest(given, classes, log_prior(model))
        told = ", ".join(f"{c} {s:.3g}" for c, s in zip(classes, shares, strict=True))
        said.append(f"shares of the classes are {told}")
    if given := _by_class(costs, classes, "--cost", 0, np.inf):
        of_missing = np.array([given.get(name, 1.0) for name in classes])
        prices = np.where(np.eye(len(classes)) > 0, 0.0, of_missing[:, None])
        told = ", ".join(f"{name} costs {price:g}" for name, price in given.items())
        said.append(f"the class of least expected cost, where to miss {told}")
    if given := _by_class(thresholds, classes, "--threshold", 0, 1):
        limits = threshold_values(given, classes)
        said.append(
            ", ".join(f"{c} where its probability is {t:g} or more" for c, t in given.items())
        )
    return Decision(shares, prices, limits, "; ".join(said) or Decision().sentence)


def _by_class(
    options: Sequence[str], classes: Sequence[str], name: str, low: float, high: float
) -> dict[str, float]:
    found = {}
    for option in options:
        label, sign, text = option.rpartition("=")
        try:
            value = float(text)
        except ValueError:
            value = np.nan
        if not sign or not low <= value <= high or value == np.inf:
            extent = f"from {low:g} to {high:g}" if high < np.inf else f"of {low:g} or more"
            raise ValueError(
                f"Expected {name} as a class and a number {extent}, such as yes=0.2, got "
                f"{option!r}."
            )
        check_class(label, classes, name)
        found[label] = value
    return found


def _with_rest(
    given: Mapping[str, float], classes: Sequence[str], learned: Floats | None
) -> Floats:
    """Shares of all classes: those that are not given divide the rest as they did in training."""
    rest = 1 - sum(given.values())
    others = [k for k, name in enumerate(classes) if name not in given]
    if rest < -1e-9 or (not others and rest > 1e-9):
        raise ValueError(f"Expected --prior values with a sum of 1, got {1 - rest:g}.")
    if others and learned is None:
        raise ValueError(
            "Expected --prior of every class, since the model does not know the class shares."
        )
    weight = np.exp(learned) if learned is not None else np.ones(len(classes))
    shares = np.array([given.get(name, 0.0) for name in classes])
    if others:
        shares[others] = max(rest, 0.0) * weight[others] / weight[others].sum()
    return validate.priors(shares, classes)
