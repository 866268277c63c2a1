"""Numbers and names that a picture is made of, looked at before it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from posterior.data.names import plain
from posterior.data.typing import Floats


def numbers(name: str, values: ArrayLike, *shape: int, open_ended: bool = False) -> Floats:
    """Numbers of a shape, where -1 stands for any length; finite unless they may be open."""
    found = np.asarray(values, np.float64)
    wrong = len(found.shape) != len(shape) or any(
        want not in (-1, have) for want, have in zip(shape, found.shape, strict=True)
    )
    if wrong:
        wanted = ", ".join("any" if n == -1 else str(n) for n in shape)
        raise ValueError(f"Expected {name} of shape ({wanted}), got shape {found.shape}.")
    if not open_ended and not np.isfinite(found).all():
        raise ValueError(
            f"Expected finite {name}, got {found[~np.isfinite(found)][0]}. Leave these out."
        )
    return found


def labels(names: Sequence[Any]) -> list[str]:
    """Names as text, none of them twice."""
    found = [str(plain(name)) for name in names]
    if len(set(found)) < len(found):
        twice = next(name for i, name in enumerate(found) if name in found[:i])
        raise ValueError(f"Expected different names, got {twice!r} twice. Say which is which.")
    return found
