"""How every picture looks: colors, axes, titles."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, TypeAlias

Chart: TypeAlias = Any  # an Altair chart; the package may be absent, so its types are not named

WIDTH, HEIGHT = 560, 320
INK, PALE, PAPER = "#3d4450", "#e7e9ed", "#ffffff"  # PAPER: letters on a cell of full color
DIGITS = ",.4~r"  # d3's way to say: four significant digits, no zeros behind them

# Told apart with every kind of color blindness: at least 13 units of CIELAB between any two under
# the simulations of Machado et al. (2009), 25 between the first four.
PALETTE = (
    "#1c62b7",
    "#e8820c",
    "#26b46b",
    "#80266d",
    "#74c0f0",
    "#5c3410",
    "#d6c400",
    "#6b7078",
)


def optional(package: str) -> Any:
    """A package of the extra `app`, imported when a picture needs it."""
    try:
        return import_module(package)
    except ImportError as error:
        raise ImportError(
            f"Pictures need the package {package}: pip install 'posterior[app]'."
        ) from error


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
    plain = axis("").to_dict() | {"title": words, "domain": False, "ticks": False}
    return optional("altair").Axis(**plain, labelLimit=limit, labelPadding=8)


def sized(chart: Chart, title: Any) -> Chart:
    """A picture of the usual size, without a frame."""
    frame = optional("altair").ViewBackground(stroke=None)
    return chart.properties(width=WIDTH, height=HEIGHT, title=title, view=frame)


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
