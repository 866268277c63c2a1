"""The page of families in the reference, made of the list of families."""

from __future__ import annotations

from pathlib import Path

from posterior.families import by_name

TEMPLATE = Path(__file__).resolve().parent / "templates" / "families.md"


def page() -> str:
    """The template, with a line for each family of columns, and their names once more."""
    lines = ["| name | family | cells | |", "|---|---|---|---|"]
    for name, kind in by_name().items():
        first = (kind.__doc__ or "").splitlines()[0]
        lines.append(f'| `"{name}"` | `{kind.__name__}` | {kind.support} | {first} |')
    names = "\n".join(f"   {kind.__name__}" for kind in by_name().values())
    text = TEMPLATE.read_text("utf-8")
    return text.replace("   (names)", names).replace("(table)", "\n".join(lines))
