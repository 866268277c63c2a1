"""Trout or salmon?  The lectures' fish: what a model learns from weights, and how good it can be.

Run it with `python examples/fish.py`, or with the name of a picture to save:
`python examples/fish.py fish.png` (.svg, .html and .json work too).

POSTERIOR_DATA    folder of the data sets; otherwise ../shared/data beside this repository, and
                  where that has no fish, fish are drawn by the same law
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import norm

from posterior import GaussianDiscriminantAnalysis, datasets, plots
from posterior.explain import decision_boundary

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
P = 0.7  # of species 1, the trout; species 0 are salmon
TROUT, SALMON = norm(16, 3), norm(30, 4)
NOTES = {  # what the lecture learned from its own 100,000 fish
    "share of trout": 0.70057,
    "trout, mean": 15.98,
    "trout, deviation": 2.99,
    "salmon, mean": 29.99,
    "salmon, deviation": 3.99,
}
NOTED_ERROR = 0.0289
Bell = tuple[float, float]  # mean and deviation
LAW = {"p": P, "trout": (16, 3), "salmon": (30, 4)}
NOTED = {"p": 0.70057, "trout": (15.98, 2.99), "salmon": (29.99, 3.99)}


def heading(text: str) -> None:
    print(f"\n{text}\n{'─' * len(text)}")


def main(picture: str | None = None) -> None:
    train, source = read("train", seed=0)
    test, _ = read("test", seed=1)
    model = GaussianDiscriminantAnalysis(covariance="own").fit(train, "species")
    boundary = decision_boundary(model)

    heading("The fish")
    print(f"{len(train):,} to learn from, {len(test):,} to test on, {source}")
    print("Their weight is known. Is it a trout (1) or a salmon (0)?")

    heading("What was learned")
    print(f"{'':22}{'truth':>8}{'the notes':>12}{'ours':>10}")
    line("share of trout", P, model.priors_[1])
    for species, name, truth in [(1, "trout", TROUT), (0, "salmon", SALMON)]:
        line(f"{name}, mean", truth.mean(), model.means_[species, 0])
        line(f"{name}, deviation", truth.std(), model.deviations_[species, 0])

    heading("Where does the answer change?")
    print(boundary)
    print(f"\nWith endless fish it would change at {limit()[0]:.2f} and {limit()[1]:.2f}.")
    print(
        "The bells differ in width, so the wider one wins again far to the left, where no fish is."
    )

    heading("How good is it?")
    error = 1 - model.score(test, "species")
    doubt = np.sqrt(error * (1 - error) / len(test))
    print(f"{'error on the test fish':34}{error:.2%} ± {doubt:.2%}")
    print(f"{'in the notes':34}{NOTED_ERROR:.2%}")
    print(f"{'Bayes error: none can do better':34}{error_between(*limit()):.2%}")

    heading("Which slip gives the error of the notes?")
    print("log p(x | k) has -log √(2πσ²). Without its logarithm, -√(2πσ²), the answer changes at")
    for name, estimates in [("with the notes' estimates", NOTED), ("with the truth", LAW)]:
        _, high = ends = limit(partial(without_logarithm, **estimates))
        print(f"{high:.2f}, {name + ',':27}and the error is {error_between(*ends):.2%}")

    if picture is not None:
        plots.save(plots.densities(model, train, "species", boundaries=boundary.at), picture)
        print(f"\nThe picture is in {picture}")


def read(part: str, seed: int) -> tuple[pd.DataFrame, str]:
    """Fish of a file, if there is one, and where they came from."""
    file = Path(os.environ.get("POSTERIOR_DATA", BESIDE)) / "fish" / f"fish-{part}.csv.gz"
    if file.is_file():
        return pd.read_csv(file), "read from files"
    X, y = datasets.fish(random_state=seed)
    return pd.DataFrame({"weight": X[:, 0], "species": y}), "drawn just now"


def line(name: str, truth: float, learned: float) -> None:
    print(f"{name:22}{truth:>8.4g}{NOTES[name]:>12.4f}{learned:>10.4f}")


def log_odds(weight: float) -> float:
    """Of trout against salmon, by the law that the fish were drawn from."""
    return np.log(P / (1 - P)) + TROUT.logpdf(weight) - SALMON.logpdf(weight)


def without_logarithm(weight: float, p: float, trout: Bell, salmon: Bell) -> float:
    """The same with √(2πσ²) in the place of its logarithm."""

    def slipped(mean: float, deviation: float) -> float:
        return -((weight - mean) ** 2) / (2 * deviation**2) - np.sqrt(2 * np.pi * deviation**2)

    return np.log(p / (1 - p)) + slipped(*trout) - slipped(*salmon)


def limit(odds: Callable[[float], float] = log_odds) -> tuple[float, float]:
    """Where both species are equally probable."""
    return brentq(odds, -100, TROUT.mean()), brentq(odds, TROUT.mean(), SALMON.mean())


def error_between(low: float, high: float) -> float:
    """The share of trout outside the limits, and of salmon between them."""
    trout, salmon = (species.cdf(high) - species.cdf(low) for species in (TROUT, SALMON))
    return float(P * (1 - trout) + (1 - P) * salmon)


if __name__ == "__main__":
    main(*sys.argv[1:2])
