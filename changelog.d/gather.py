"""Gather the fragments of this folder.

python changelog.d/gather.py             # print what is not released yet
python changelog.d/gather.py 0.2.0       # put it into CHANGELOG.md, and delete the fragments

Fragments that come late join the section of that version, kind by kind.
"""

from __future__ import annotations

import re
import sys
from datetime import date
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
KINDS = ("added", "changed", "fixed", "removed", "faster")


def fragments(folder: Path = FOLDER) -> dict[str, list[Path]]:
    """The files of each kind, by topic."""
    found: dict[str, list[Path]] = {kind: [] for kind in KINDS}
    for file in sorted(folder.glob("*.md")):
        if file.name == "README.md":
            continue
        topic, _, kind = file.stem.rpartition(".")
        if not topic or kind not in KINDS:
            kinds = ", ".join(KINDS)
            sys.exit(f"Expected TOPIC.KIND.md with a kind of {kinds}, got {file.name}.")
        found[kind].append(file)
    return found


def points(folder: Path = FOLDER) -> dict[str, str]:
    """A fragment is a point of a list, by kind."""
    texts = {
        kind: [file.read_text("utf-8").strip().replace("\n", "\n  ") for file in files]
        for kind, files in fragments(folder).items()
    }
    return {kind: "".join(f"- {t}\n" for t in found) for kind, found in texts.items() if found}


def gathered(title: str, folder: Path = FOLDER) -> str:
    """A section of the changelog."""
    return joined(f"## {title}\n", points(folder))


def joined(section: str, more: dict[str, str]) -> str:
    """A section with more points: each kind below its own heading, kinds in their order."""
    head, *parts = re.split(r"^### (\w+)\n\n", section, flags=re.MULTILINE)
    known = dict(zip((name.lower() for name in parts[::2]), parts[1::2], strict=True))
    lists = ((kind, known.get(kind, "").strip(), more.get(kind, "").strip()) for kind in KINDS)
    written = (
        f"\n### {kind.capitalize()}\n\n" + "\n".join(filter(None, (old, new))) + "\n"
        for kind, old, new in lists
        if old or new
    )
    return f"{head.rstrip()}\n" + "".join(written)


def release(version: str, folder: Path = FOLDER) -> None:
    """The section of a version, new above the older ones, gets the fragments, and they go."""
    changelog = folder.parent / "CHANGELOG.md"
    head, *sections = re.split(r"^(?=## )", changelog.read_text("utf-8"), flags=re.MULTILINE)
    if not (sections and sections[0].startswith(f"## {version} ")):
        sections.insert(0, f"## {version} ({date.today().isoformat()})\n")
    first = joined(sections[0], points(folder))
    changelog.write_text("\n".join([head.rstrip() + "\n", first, *sections[1:]]), "utf-8")
    for files in fragments(folder).values():
        for file in files:
            file.unlink()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        release(sys.argv[1])
    else:
        print(gathered("Not released yet"))
