"""Calls of a student: which exercises there are, one of them, its hint, check and solution."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from textwrap import shorten
from typing import Any

import numpy as np

from posterior.data.table import Table
from posterior.lectures import scratch, worked
from posterior.lectures.exercise import Exercise
from posterior.lectures.verdict import Verdict, compared


class Shown(str):
    """Text that a session shows as it is, line by line and without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def exercises() -> Table:
    """All exercises: name, note, and how the question begins.

    Returns
    -------
    Table
        Columns "name", "note", "kind" (by hand, or from scratch) and "question".

    Examples
    --------
    >>> from posterior import lectures
    >>> print(lectures.exercises()["name"][:3].tolist())
    ['spinner', 'diagnosis', 'parameters']
    """
    them = list(_all().values())
    return Table(
        {
            "name": np.array([one.name for one in them]),
            "note": np.array([one.note for one in them]),
            "kind": np.array(["from scratch" if one.template else "by hand" for one in them]),
            "question": np.array([shorten(one.question, 56, placeholder=" …") for one in them]),
        }
    )


def exercise(name: str) -> Exercise:
    """One exercise: its question, and what to hand in.

    Parameters
    ----------
    name : str
        As `exercises` lists it.

    Examples
    --------
    >>> from posterior import lectures
    >>> lectures.exercise("normal")
    normal (note 002, fish)
    <BLANKLINE>
    Five salmon weigh 26, 29, 30, 31 and 34.
    Which mean and deviation make these weights most likely?
    <BLANKLINE>
    Hand in: check('normal', mean=..., deviation=...)
    """
    if name not in _all():
        near = get_close_matches(str(name), _all(), 1)
        remedy = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(_all())}."
        raise ValueError(f"Expected the name of an exercise, got {name!r}. {remedy}")
    return _all()[name]


def check(name: str, *answers: Any, **parts: Any) -> Verdict:
    """What is right of an answer, and how far off the rest is; not what it should be.

    Parameters
    ----------
    name : str
        The exercise.
    *answers, **parts
        Numbers, arrays, words or functions: by the names that `exercise` asks for, or in their
        order. Parts may be left out; three digits of a number are enough.

    Returns
    -------
    Verdict
        Prints a line for each part; true if all are right.

    Examples
    --------
    >>> from posterior import lectures
    >>> lectures.check("normal", mean=30, deviation=2.92)  # divided by n - 1
    mean       right
    deviation  too high, by about 10 %
    >>> import numpy as np
    >>> lectures.check("logistic", sigmoid=lambda z: 1 / (1 + np.exp(-z))).parts["sigmoid"]
    'right'
    """
    asked = exercise(name)
    ours = asked.answers()
    if len(answers) > len(ours) or set(parts) - set(list(ours)[len(answers) :]):
        got = [*(f"answer {i + 1}" for i in range(len(answers))), *parts]
        raise ValueError(
            f"Expected {', '.join(ours)} for {name!r}, each once, got {', '.join(got)}."
        )
    handed = dict(zip(ours, answers, strict=False)) | parts
    trials = asked.trials()
    said = {
        part: compared(ours[part], handed[part], trials.get(part, ()))
        if part in handed
        else "not handed in"
        for part in ours
    }
    return Verdict(said)


def hint(name: str) -> str:
    """A sentence that helps with an exercise.

    Examples
    --------
    >>> from posterior import lectures
    >>> lectures.hint("slope")
    σ′ = σ (1 - σ), which is largest where σ = ½.
    """
    return Shown(exercise(name).hint)


def solution(name: str) -> str:
    """The lines that compute the answer of an exercise.

    Examples
    --------
    >>> from posterior import lectures
    >>> lectures.solution("slope")
    from posterior import LogisticRegression
    <BLANKLINE>
    p = LogisticRegression.of(0.0, [1.0]).predict_proba([[0.0], [2.0]])[:, 1]
    at_0, at_2 = p * (1 - p)
    {"at_0": at_0, "at_2": at_2, "largest_at": 0}
    """
    return Shown(exercise(name).solution)


def template(name: str) -> str:
    """Source to fill in: a model from scratch, with dots where something is missing.

    It runs as it is; `check` says which functions are right, or still a blank.

    Parameters
    ----------
    name : str
        "words", "em", "kmeans", "logistic", "gda" or "neighbors".

    Examples
    --------
    >>> from posterior import lectures
    >>> print(lectures.template("kmeans").partition("def move")[0])
    "..."k-means from scratch: rows X, (n, columns), and centers, (k, columns)."..."
    <BLANKLINE>
    import numpy as np
    <BLANKLINE>
    <BLANKLINE>
    def assign(X: np.ndarray, centers: np.ndarray) -> np.ndarray:
        "..."zᵢ = argmin_k |xᵢ - μ_k|²"..."
        squares = ...  # (n, k)
        return ...  # (n,)
    """
    skeleton = exercise(name).template
    if skeleton is None:
        them = ", ".join(one.name for one in _all().values() if one.template)
        raise ValueError(f"Expected a model to write from scratch, {them}, got {name!r}.")
    return Shown(skeleton)


@cache
def _all() -> dict[str, Exercise]:
    """By name, note after note, those by hand first."""
    by_hand = [value for value in vars(worked).values() if isinstance(value, Exercise)]
    return {one.name: one for one in sorted([*by_hand, *scratch.ALL], key=lambda one: one.note)}
