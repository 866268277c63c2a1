"""What a check says of each part that was handed in: right, or how far off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

RIGHT = "right"
BY_HAND = 5e-3  # relative: three digits are enough of a number
BY_CODE = 1e-6  # and of what a function returns, nearly all
SMALL = 1e-9  # a number that should be zero, but for rounding


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an answer is right, part by part."""

    parts: Mapping[str, str]  # what is said of each

    @property
    def right(self) -> bool:
        """Whether every part is."""
        return all(said == RIGHT for said in self.parts.values())

    def __bool__(self) -> bool:
        return self.right

    def __str__(self) -> str:
        width = max(map(len, self.parts))
        return "\n".join(f"{name:<{width}}  {said}" for name, said in self.parts.items())

    __repr__ = __str__


def compared(ours: Any, theirs: Any, trials: Sequence[tuple[Any, ...]] = ()) -> str:
    """ "right", or in words how far their answer is from ours; the answer itself is not said."""
    if callable(ours):
        return _called(ours, theirs, trials)
    if isinstance(ours, str):
        return RIGHT if str(theirs) == ours else "another one"
    exact = isinstance(ours, int | np.integer)
    return _difference(ours, theirs, 0.0 if exact else BY_HAND)


def _called(ours: Any, theirs: Any, trials: Sequence[tuple[Any, ...]]) -> str:
    if not callable(theirs):
        return f"Expected a function, got {type(theirs).__name__}"
    for number, arguments in enumerate(trials, 1):
        where = f"call {number} of {len(trials)}"
        try:
            with np.errstate(all="ignore"):
                expected = ours(*arguments)
                found = theirs(*deepcopy(arguments))  # which it may write into
        except Exception as error:  # whatever a student's code raises is what to tell
            return f"{where} raises {type(error).__name__}: {error}"
        if found is None or found is Ellipsis:
            return "still a blank"
        said = _difference(expected, found, BY_CODE)
        if said != RIGHT:
            return f"{where} is {said}"
    return RIGHT


def _difference(ours: Any, theirs: Any, tolerance: float) -> str:
    if theirs is None:
        return "no number: None"
    try:
        found = np.asarray(theirs, dtype=np.float64)
    except (TypeError, ValueError):
        return f"no number: {theirs!r}"
    expected = np.asarray(ours, dtype=np.float64)
    if found.shape != expected.shape:
        return f"of shape {found.shape}, not {expected.shape}"
    if not np.isfinite(found).all():
        return "not finite"
    scale = np.where(np.abs(expected) > SMALL, np.abs(expected), 1.0)
    off = np.abs(found - expected) > tolerance * scale
    if not off.any():
        return RIGHT
    place = tuple(int(i) for i in np.argwhere(off)[0])
    a, b = float(found[place]), float(expected[place])
    said = _amount(a, b)
    return said if not place else f"{said} at entry {', '.join(str(i + 1) for i in place)}"


def _amount(found: float, expected: float) -> str:
    if np.isclose(found, -expected, rtol=BY_HAND):
        return "of the wrong sign"
    way = "too high" if found > expected else "too low"
    by = abs(found - expected)
    if abs(expected) < SMALL:
        return f"{way}, by about {by:.1g}"
    return f"{way}, by about {float(f'{100 * by / abs(expected):.1g}'):g} %"  # one digit: no answer
