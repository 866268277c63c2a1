"""Text on the report and on the page of the server can be read: contrast of WCAG AA, 4.5 to 1."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

APP = Path(__file__).parent.parent / "src/posterior/app"
SHEETS = ["report/templates/report.css", "server/static/style.css"]
THEMES = ["light", "dark"]
PAIRS = [  # text and what it stands on
    *(
        (text, ground)
        for text in ("ink", "soft", "accent", "warn")
        for ground in ("ground", "paper")
    ),
    *((text, "tint") for text in ("ink", "soft", "accent")),
    *((text, "warn-tint") for text in ("ink", "warn")),
    ("paper", "accent"),  # the main button
]


def colors(sheet: str, theme: str) -> dict[str, str]:
    """The variables of :root, first those of the light theme, then those of the dark one."""
    roots = re.findall(r":root\s*\{(.*?)\}", (APP / sheet).read_text("utf-8"), re.DOTALL)
    assert len(roots) == len(THEMES)
    return dict(re.findall(r"--([\w-]+):\s*#([0-9a-f]{6})\b", roots[THEMES.index(theme)]))


def luminance(color: str) -> float:
    """0.2126 R + 0.7152 G + 0.0722 B of linear light."""
    shares = [int(color[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]
    return sum(a * c for a, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    """(L₁ + 0.05) / (L₂ + 0.05), the lighter above."""
    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("sheet", SHEETS)
def test_text_has_the_contrast_of_wcag_aa(sheet: str, theme: str) -> None:
    known = colors(sheet, theme)
    low = {pair: contrast(known[pair[0]], known[pair[1]]) for pair in PAIRS}
    assert not {pair: value for pair, value in low.items() if value < 4.5}


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("000000", "ffffff") == pytest.approx(21)
    assert contrast("777777", "ffffff") == pytest.approx(4.48, abs=0.005)
