"""Small data sets for examples, tests and teaching: our own code draws them, but for tennis."""

from __future__ import annotations

from typing import Any

import numpy as np

from posterior.data.typing import Array, Floats, Integers

__all__ = ["coins", "counts", "exclusive_or", "fish", "heights", "messages", "tennis"]


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
    generator = _generator(n, "fish", random_state)
    y = (generator.random(n) < 0.7).astype(np.int64)
    mean, deviation = np.array([30.0, 16.0]), np.array([4.0, 3.0])
    return generator.normal(mean[y], deviation[y])[:, None], y


def heights(n: int = 1_000, random_state: Any = 0) -> tuple[Floats, Integers]:
    """Heights of women (0) and men (1) in centimeters, of whom nobody need say who is who.

    p(1) = 0.5      height | 0 ~ N(165, 7²)      height | 1 ~ N(178, 7²)

    Parameters
    ----------
    n : int, default=1_000
        Number of people.
    random_state : int, Generator or None, default=0
        Seed of the draw; None draws anew each time.

    Returns
    -------
    X : array of shape (n, 1)
        Heights.
    y : array of shape (n,)
        0 or 1.

    Examples
    --------
    >>> from posterior.datasets import heights
    >>> X, y = heights(10_000)
    >>> [round(float(X[y == k].mean())) for k in (0, 1)]
    [165, 178]
    """
    generator = _generator(n, "people", random_state)
    y = generator.integers(0, 2, n)
    return generator.normal(np.array([165.0, 178.0])[y], 7.0)[:, None], y


def coins(n: int = 100, flips: int = 10, random_state: Any = 0) -> tuple[Integers, Integers]:
    """Heads in some flips of a coin that is drawn from a bag: which of two, nobody sees.

    p(1) = 0.5      heads | 0 ~ Binomial(flips, 0.3)      heads | 1 ~ Binomial(flips, 0.8)

    Parameters
    ----------
    n : int, default=100
        How often a coin is drawn.
    flips : int, default=10
        How often each is flipped.
    random_state : int, Generator or None, default=0
        Seed of the draw; None draws anew each time.

    Returns
    -------
    X : array of shape (n, 2)
        Number of heads and of tails.
    y : array of shape (n,)
        The coin, 0 or 1.

    Examples
    --------
    >>> from posterior.datasets import coins
    >>> X, y = coins(1000)
    >>> [round(float(X[y == k, 0].mean())) for k in (0, 1)]
    [3, 8]
    """
    _check(flips, "flips")
    generator = _generator(n, "coins", random_state)
    y = generator.integers(0, 2, n)
    heads = generator.binomial(flips, np.array([0.3, 0.8])[y])
    return np.column_stack([heads, flips - heads]), y


def counts(n: int = 1_000, random_state: Any = 0) -> tuple[Integers, Integers]:
    """Counts of two classes that are no bells: where a normal curve is the wrong assumption.

    p(1) = 0.5      x | 0 ~ Poisson(½), Poisson(1)      x | 1 ~ Poisson(2), Poisson(2)

    Parameters
    ----------
    n : int, default=1_000
        Number of rows.
    random_state : int, Generator or None, default=0
        Seed of the draw; None draws anew each time.

    Returns
    -------
    X : array of shape (n, 2)
        Counts.
    y : array of shape (n,)
        0 or 1.

    Examples
    --------
    >>> from posterior.datasets import counts
    >>> X, y = counts()
    >>> [round(float(X[y == 1, j].var())) for j in (0, 1)]  # as large as the mean
    [2, 2]
    """
    generator = _generator(n, "rows", random_state)
    y = generator.integers(0, 2, n)
    return generator.poisson(np.array([[0.5, 1.0], [2.0, 2.0]])[y]), y


def exclusive_or(n: int = 1_000, random_state: Any = 0) -> tuple[Floats, Integers]:
    """Clouds around the corners of a square, of which opposite ones are of one class.

    corner ~ {0, 1}²      x | corner ~ N(corner, 0.15²)      y = corner₁ XOR corner₂

    Parameters
    ----------
    n : int, default=1_000
        Number of points.
    random_state : int, Generator or None, default=0
        Seed of the draw; None draws anew each time.

    Returns
    -------
    X : array of shape (n, 2)
        Places.
    y : array of shape (n,)
        0 or 1.

    Examples
    --------
    >>> from posterior.datasets import exclusive_or
    >>> X, y = exclusive_or()
    >>> bool((y == (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)).mean() > 0.99)
    True
    """
    generator = _generator(n, "points", random_state)
    corner = generator.integers(0, 2, (n, 2))
    return corner + generator.normal(0.0, 0.15, (n, 2)), corner[:, 0] ^ corner[:, 1]


SUBJECTS = {
    "ham": "are we meeting at home for lunch after the lecture call me when you see this",
    "spam": "you won a free prize call now to claim your cash subscribe and win",
}


def messages(n: int = 200, random_state: Any = 0) -> tuple[Array, Array]:
    """Short messages as bags of words: each word is drawn from the urn of its class, or of both.

    p(spam) = 0.3      8 words a message, 2 of 3 from the urn of its class

    Parameters
    ----------
    n : int, default=200
        Number of messages.
    random_state : int, Generator or None, default=0
        Seed of the draw; None draws anew each time.

    Returns
    -------
    texts : array of shape (n,)
        Words with a space between them.
    y : array of shape (n,)
        "ham" or "spam".

    Examples
    --------
    >>> from posterior.datasets import messages
    >>> texts, y = messages()
    >>> len(texts[0].split()), sorted(set(y.tolist()))
    (8, ['ham', 'spam'])
    """
    generator = _generator(n, "messages", random_state)
    urn = {kind: np.array(words.split(), dtype=object) for kind, words in SUBJECTS.items()}
    common = np.concatenate(list(urn.values()))
    texts, kinds = np.empty(n, dtype=object), np.empty(n, dtype=object)
    for i in range(n):
        kinds[i] = "spam" if generator.random() < 0.3 else "ham"
        own = generator.choice(urn[kinds[i]], 8)
        texts[i] = " ".join(np.where(generator.random(8) < 2 / 3, own, generator.choice(common, 8)))
    return texts, kinds


DAYS = """
sunny hot high weak no       sunny hot high strong no       overcast hot high weak yes
rain mild high weak yes      rain cool normal weak yes      rain cool normal strong no
overcast cool normal strong yes    sunny mild high weak no   sunny cool normal weak yes
rain mild normal weak yes    sunny mild normal strong yes    overcast mild high strong yes
overcast hot normal weak yes       rain mild high strong no
"""


def tennis() -> tuple[Array, Array]:
    """Fourteen days, and whether tennis was played (Mitchell 1997, table 3.2).

    Returns
    -------
    X : array of shape (14, 4)
        Outlook, temperature, humidity and wind.
    y : array of shape (14,)
        "yes" or "no".

    Examples
    --------
    >>> from posterior.datasets import tennis
    >>> X, y = tennis()
    >>> X[0].tolist(), y[0]
    (['sunny', 'hot', 'high', 'weak'], 'no')
    """
    table = np.array(DAYS.split(), dtype=object).reshape(-1, 5)
    return table[:, :4], table[:, 4]


def _generator(n: int, what: str, random_state: Any) -> np.random.Generator:
    _check(n, what)
    return np.random.default_rng(random_state)


def _check(n: int, what: str) -> None:
    if not isinstance(n, int | np.integer) or n < 0:
        raise ValueError(f"Expected a number of {what} to draw, got {n!r}.")
