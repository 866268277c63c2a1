"""Every item of the five lectures has a call, and the call gives what the manual's table says."""

from __future__ import annotations

import re
import runpy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.once

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = runpy.run_path(str(DOCS / "items_page.py"))
NOTES: dict[str, Any] = {note["id"]: note for note in PAGE["items"]()["notes"]}
CALLED = [
    pytest.param(name, item, id=f"{name}-{number}")
    for name, note in NOTES.items()
    for number, item in enumerate(note["items"], 1)
    if "call" in item
]


@cache
def prepared(note: str) -> dict[str, Any]:
    """The names that the calls of a note begin with."""
    names: dict[str, Any] = {"__name__": "manual"}
    exec(PAGE["items"]()["setup"], names)
    exec(NOTES[note]["setup"], names)
    return names


@pytest.mark.parametrize(("note", "item"), CALLED)
def test_a_call_gives_what_the_table_says(note, item, request):
    names = prepared(note)
    if item.get("needs_data"):
        names["data"] = request.getfixturevalue("shared_data")
    altair = pytest.importorskip("altair") if item["result"] == "picture" else None
    value = eval(item["call"], names)
    if altair is not None:
        assert isinstance(value, altair.TopLevelMixin)
        assert value.to_dict()
    else:
        assert repr(value) == item["result"]


def test_all_103_items_of_the_notes_are_there():
    counts = {name: len(note["items"]) for name, note in NOTES.items()}
    assert counts == {"000": 22, "001": 21, "002": 15, "003": 22, "004": 23}


def test_two_items_are_out_of_scope_and_say_why():
    outside = [item for note in NOTES.values() for item in note["items"] if "call" not in item]
    assert [item["item"].split()[0] for item in outside] == ["Interpolating", "Neural"]
    assert all(item["out_of_scope"] for item in outside)


def test_the_page_has_a_line_for_every_item():
    text = PAGE["page"]()
    rows = [line for line in text.splitlines() if line.startswith("| ") and line[2].isdigit()]
    assert len(rows) == 103
    assert all((DOCS / "lectures" / f"{note['page']}.md").is_file() for note in NOTES.values())


def test_all_18_slips_are_corrected_where_they_stand():
    lines = (DOCS / "lectures_corrected.md").read_text("utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| ") and not line.startswith("| *")]
    assert len(rows) - 1 == 18  # less the head
    for note in NOTES.values():
        page = (DOCS / "lectures" / f"{note['page']}.md").read_text("utf-8")
        assert "lectures/" + note["page"] in "".join(rows)
        assert re.search(r"^```\{admonition\} (A slip|Two slips) of the note", page, re.MULTILINE)
