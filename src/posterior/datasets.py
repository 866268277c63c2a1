"""Small data sets that our own code draws, for examples, tests and teaching."""

from __future__ import annotations

from typing import Any

import numpy as np

from posterior.data.typing import Floats, Integers


def fish(n: int = 100_000, random_state: Any = 0) -> tuple[Floats, Integers]:
    """Weights of two species of fish, from the lectures on Bayes' rule.

    p(species = 1) = 0.7      weight | 1 ~ N(16, 3²)      weight | 0 ~ N(30, 4²)

    The best possible classifier errs on 1.89 % of them; its boundaries lie at 22.95 and -26.95.

    Parameters
    ----------
    n : int, default=100_000
        Number of fish.
    random_state : int, Generator or None, default=0
        Seed of the draw; None draws anew each time.

    Returns
    -------
    X : array of shape (n, 1)
        Weights.
    y : array of shape (n,)
        Species, 0 or 1.

    Examples
    --------
    >>> from posterior.datasets import fish
    >>> X, y = fish(1000)
    >>> X.shape, y.mean().round(1).item()
    ((1000, 1), 0.7)
    """
    if not isinstance(n, int | np.integer) or n < 0:
        raise ValueError(f"Expected a number of fish to draw, got {n!r}.")
    generator = np.random.default_rng(random_state)
    y = (generator.random(n) < 0.7).astype(np.int64)
    mean, deviation = np.array([30.0, 16.0]), np.array([4.0, 3.0])
    return generator.normal(mean[y], deviation[y])[:, None], y
