"""Charts as files."""

from __future__ import annotations

import html
import json
from os import PathLike
from pathlib import Path

from posterior.plots.look import Chart, optional
from posterior.plots.vega_bundle import bundle

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>body {{ margin: 2rem; background: white; font-family: sans-serif; }}</style>
</head>
<body>
<div id="chart"></div>
<script>{bundle}</script>
<script>vegaEmbed("#chart", {spec}, {{actions: {{export: true, source: false,
compiled: false, editor: false}}}});</script>
</body>
</html>
"""


def save(chart: Chart, path: str | PathLike[str]) -> None:
    """Write a chart to a file, in the format that its name ends in.

    Parameters
    ----------
    chart : Altair chart
    path : path ending in .png, .svg, .html or .json
        A page (.html) holds all it needs and opens without a network.
    """
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix not in {".html", ".json", ".png", ".svg"}:
        raise ValueError(
            f"Expected a file name ending in .png, .svg, .html or .json, got {file.name!r}."
        )
    if suffix == ".html":
        file.write_text(_page(chart), encoding="utf-8")
        return
    optional("vl_convert")  # Altair draws with it
    chart.save(str(file), format=suffix[1:], **({"scale_factor": 2} if suffix == ".png" else {}))


def _page(chart: Chart) -> str:
    """A page with the chart's description and the one script that draws it."""
    spec = chart.to_dict()
    title = spec.get("title", "")
    title = title.get("text", "") if isinstance(title, dict) else title
    title = " ".join(title) if isinstance(title, list) else title
    return PAGE.format(
        title=html.escape(title),
        # a name or a string of the bundle must not end the script
        bundle=bundle().replace("</script", r"<\/script"),
        spec=json.dumps(spec).replace("<", r"\u003c"),
    )
