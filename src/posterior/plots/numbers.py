"""Numbers in a picture, as people write them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from posterior.plots.look import axis, optional

SMALL, LARGE = 1e-4, 1e10  # between them all digits are written out
ROOM = 6  # pixels between a label and what is drawn


def digits(value: float, n: int = 4) -> str:
    """A number to n digits, 60,000,000 and 0.01, and with an exponent only far from one."""
    rounded = float(f"{value:.{n}g}")
    if rounded == 0 or SMALL <= abs(rounded) < LARGE:
        text = f"{rounded:,.12g}"
    else:
        mantissa, exponent = f"{rounded:.{n - 1}e}".split("e")
        text = f"{float(mantissa):g}e{int(exponent)}"
    return text.replace("-", "−")


def number_axis(title: str, largest: float, grid: bool = False) -> Any:
    """An axis for numbers up to a size."""
    if largest == 0 or 1e-3 <= largest < 1e4:
        style = "~f"  # 2007 may be a year: no comma before 10,000
    else:
        style = ",~f" if 1e4 <= largest < 1e7 else "~g"
    return _axis(title, grid, format=style)


def power_axis(title: str, low: float, high: float, grid: bool = False, most: int = 6) -> Any:
    """An axis for a scale of logarithms: 1, 100, 1e6, ... between two numbers."""
    first, last = int(np.ceil(np.log10(low) - 1e-9)), int(np.floor(np.log10(high) + 1e-9))
    if last - first < 1:
        return _axis(title, grid, format=".3~g", tickCount=4)
    step = -(-(last - first + 1) // most)
    powers = [p for p in range(first, last + 1) if p % step == 0]
    # raised digits would be prettier; few fonts have all of them
    names = {p: f"{10.0**p:,.12g}" if -4 < p < 6 else f"1e{p}".replace("-", "−") for p in powers}
    return _axis(
        title,
        grid,
        values=[10.0**p for p in powers],
        tickCount=len(powers),
        labelExpr=f"({json.dumps(names)})[round(log(datum.value) / LN10)]",
    )


def _axis(title: str, grid: bool, **options: Any) -> Any:
    """The axis of all pictures, with some options of its own."""
    usual = axis(title, grid).to_dict()
    return optional("altair").Axis(
        **{**usual, "labelFlush": False, "labelPadding": ROOM, **options}
    )
