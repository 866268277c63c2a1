"""A chart as the page holds it: its words in HTML, its drawing as a description for Vega."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from posterior.plots.look import Chart

KEPT = 6  # significant digits of a number in a chart


@dataclass(frozen=True, slots=True)
class Legend:
    """What the colors stand for."""

    title: str = ""
    entries: tuple[tuple[str, str], ...] = ()  # (name, color)


@dataclass(frozen=True, slots=True)
class Figure:
    """Title, explanation and legend wrap with the page; the drawing takes its width."""

    key: str
    title: str
    said: str
    legend: Legend
    spec: dict[str, Any]

    @property
    def described(self) -> str:
        """The chart in words, for someone who cannot see it."""
        names = ", ".join(name for name, _ in self.legend.entries)
        return " ".join(f"Chart: {self.title}. {self.said} {names}".split())


def figure(key: str, chart: Chart, title: str | None = None, said: str | None = None) -> Figure:
    """Take a chart apart; title and explanation are its own unless given."""
    spec = chart.to_dict(validate=False)
    heading = spec.pop("title", {})
    spec.pop("$schema", None)
    spec |= {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}
    if isinstance(spec.get("height"), dict):  # Vega-Lite warns of heights by step
        values = set(_on_y(spec, spec["datasets"]))
        spec["height"] = spec["height"]["step"] * len(values)
    spec["padding"] = {"left": 5, "top": 5, "right": 16, "bottom": 5}  # the last label sticks out
    return Figure(
        key=key,
        title=heading.get("text", "") if title is None else title,
        said=" ".join(heading.get("subtitle", [])) if said is None else said,
        legend=_take_legend(spec),
        spec=_rounded(spec),
    )


def _on_y(part: dict[str, Any], datasets: dict[str, Any], data: str | None = None) -> Iterator[Any]:
    """Every value that stands on the vertical axis."""
    data = part.get("data", {}).get("name", data)
    name = part.get("encoding", {}).get("y", {}).get("field")
    if name is not None and data is not None:
        yield from (row[name] for row in datasets[data])
    for layer in part.get("layer", ()):
        yield from _on_y(layer, datasets, data)


def _take_legend(spec: dict[str, Any]) -> Legend:
    """Names and colors of the classes, whose legend leaves the drawing."""
    found = Legend()
    for color in _colors(spec):
        scale, legend = color.get("scale", {}), color.pop("legend", None)
        if legend is not None and "range" in scale:
            entries = tuple(zip(scale["domain"], scale["range"], strict=False))
            found = Legend(legend.get("title") or "", entries)
        color["legend"] = None
    return found


def _colors(part: Any) -> Iterator[dict[str, Any]]:
    """Every encoding of a color by a field."""
    if isinstance(part, list):
        for item in part:
            yield from _colors(item)
    elif isinstance(part, dict):
        for name, item in part.items():
            if name == "color" and isinstance(item, dict) and "field" in item:
                yield item
            elif name != "datasets":
                yield from _colors(item)


def _rounded(part: Any) -> Any:
    """Numbers to as many digits as a picture can show."""
    if isinstance(part, dict):
        return {name: _rounded(item) for name, item in part.items()}
    if isinstance(part, list | tuple):
        return [_rounded(item) for item in part]
    return float(f"{part:.{KEPT}g}") if isinstance(part, float) else part
