"""Style of all pictures: colors, axes, titles, numbers, and checks of what is drawn."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from posterior.data.names import plain
from posterior.data.typing import Floats

Chart: TypeAlias = Any  # an Altair chart; the package may be absent, so its types are not named

WIDTH, HEIGHT = 560, 320
INK, PALE, PAPER = "#3d4450", "#e7e9ed", "#ffffff"  # PAPER: letters on a cell of full color
DIGITS = ",.4~r"  # d3's way to say: four significant digits, no zeros behind them

# Distinct with every kind of color blindness: at least 13 units of CIELAB between any two under
# the simulations of Machado et al. (2009), 25 between the first four.
PALETTE = ("#1c62b7", "#e8820c", "#26b46b", "#80266d", "#74c0f0", "#5c3410", "#d6c400", "#6b7078")
SMALL, LARGE = 1e-4, 1e10  # between them all digits are written out
ROOM = 6  # pixels between a label and what is drawn


def optional(package: str) -> Any:
    """A package of the extra `app`, imported when a picture needs it."""
    try:
        return import_module(package)
    except ImportError as error:
        raise ImportError(
            f"Pictures need the package {package}: pip install 'posterior[app]'."
        ) from error


def inline(rows: Sequence[dict[str, Any]]) -> Any:
    """Rows that a chart holds itself; Altair copies lists at every step, and shares a tuple."""
    return optional("altair").InlineData(values=tuple(rows))


def titled(text: str) -> str:
    """A name as the title of an axis or a legend, on one line.

    Vega-Lite puts titles into expressions and escapes quotes there, but neither line breaks nor
    the backslashes that would end a string early.
    """
    return " ".join(text.split()).replace("\\", "\u2216")


def colors(names: Sequence[str], title: str) -> Any:
    """One color a class, with a legend; a ramp where the palette is too short."""
    alt = optional("altair")
    chosen = {"range": PALETTE[: len(names)]} if len(names) <= len(PALETTE) else {"scheme": "turbo"}
    legend = alt.Legend(
        title=titled(title),
        labelColor=INK,
        labelFontSize=12,
        labelLimit=260,
        symbolOpacity=1,
        symbolType="square",
        titleColor=INK,
        titleFontSize=12,
        titleLimit=260,
    )
    return alt.Color("class:N", legend=legend, scale=alt.Scale(domain=list(names), **chosen))


def axis(title: str, grid: bool = False) -> Any:
    """An axis that says in words what it shows."""
    return optional("altair").Axis(
        domainColor=INK,
        domain=not grid,
        grid=grid,
        gridColor=PALE,
        labelColor=INK,
        labelFontSize=12,
        labelSeparation=6,  # labels that nearly touch are read as one
        ticks=not grid,
        tickColor=INK,
        tickCount=6,
        title=titled(title),
        titleColor=INK,
        titleFontSize=12,
        titleFontWeight="normal",
        titleLimit=WIDTH,
        titlePadding=10,
    )


def names_axis(title: str | None, limit: int = 200) -> Any:
    """An axis of names: no line, no ticks, long ones cut short."""
    words = None if title is None else titled(title)
    plain = axis("").to_dict(validate=False) | {"title": words, "domain": False, "ticks": False}
    return optional("altair").Axis(**plain, labelLimit=limit, labelPadding=8)


def sized(chart: Chart, title: Any, height: Any = HEIGHT) -> Chart:
    """A chart that was just made, at the usual width: `properties` would copy all its layers."""
    chart.width, chart.height, chart.title = WIDTH, height, title
    chart.view = optional("altair").ViewBackground(stroke=None)
    return chart


def percent_axis(title: str, grid: bool = False) -> Any:
    """An axis of shares, written in percent."""
    shown = axis(title, grid)
    shown["format"], shown["labelFlush"], shown["labelPadding"] = "~%", False, 6
    return shown


def heading(text: str, subtitle: Sequence[str]) -> Any:
    """What the picture shows, at its upper left."""
    return optional("altair").Title(
        text,
        anchor="start",
        color=INK,
        fontSize=16,
        limit=WIDTH,
        offset=12,
        subtitle=list(subtitle),
        subtitleColor=INK,
        subtitleFontSize=12,
        subtitlePadding=6,
    )


def marked(panel: Chart, field: str, chosen: int, label: str | None) -> Chart:
    """A thin rule at the number that was chosen, with a label or without."""
    alt = optional("altair")
    base = alt.Chart(alt.InlineData(values=[{field: chosen, "label": label}]))
    base = base.encode(x=f"{field}:Q")
    rule = base.mark_rule(color=INK, strokeDash=[4, 3])
    text = base.mark_text(color=INK, fontSize=12, baseline="bottom")
    text = text.encode(y=alt.value(-5), text="label:N")
    return alt.layer(panel, rule, *([] if label is None else [text]))


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
    usual = axis(title, grid).to_dict(validate=False)
    return optional("altair").Axis(
        **{**usual, "labelFlush": False, "labelPadding": ROOM, **options}
    )


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
