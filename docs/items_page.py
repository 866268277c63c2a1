"""The page of all items of the lectures, made of docs/lectures/items.toml, which a test runs."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ITEMS = HERE / "lectures" / "items.toml"
TEMPLATE = HERE / "templates" / "items.md"


def items() -> dict[str, Any]:
    """The notes, each with its items."""
    return tomllib.loads(ITEMS.read_text("utf-8"))


def page() -> str:
    """The template, with the lines that all calls need, and a table for each note."""
    found = items()
    parts = [_note(note) for note in found["notes"]]
    text = TEMPLATE.read_text("utf-8").replace("(setup)", _block(found["setup"]))
    counts = ", ".join(str(len(note["items"])) for note in found["notes"])
    return text.replace("(counts)", counts).replace("(tables)", "\n\n".join(parts))


def _note(note: dict[str, Any]) -> str:
    head = f"## {note['id']}: {note['title']}\n\n[The page of this note]({note['page']}.md)."
    lines = ["| | item | call, and what it gives |", "|---|---|---|"]
    for number, item in enumerate(note["items"], 1):
        if "call" in item:
            told = f"`{item['call']}`<br>→ {_shown(item['result'])}"
        else:
            told = f"out of scope: {item['out_of_scope']}"
        cells = [f"{number}", item["item"], told]
        lines.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    table = "```{table}\n:class: items\n\n" + "\n".join(lines) + "\n```"
    return "\n\n".join([head, _block(note["setup"]), table])


def _block(code: str) -> str:
    return f"```python\n{code.strip()}\n```"


def _shown(result: str) -> str:
    return "a picture" if result == "picture" else f"`{result}`"
