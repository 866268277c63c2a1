"""Gather the fragments of this folder.

python changelog.d/gather.py             # print what is not released yet
python changelog.d/gather.py 0.2.0       # put it into CHANGELOG.md, and delete the fragments
"""

from __future__ import annotations

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


def gathered(title: str, folder: Path = FOLDER) -> str:
    """A section of the changelog: a fragment is a point, by kind."""
    parts = [f"## {title}\n"]
    for kind, files in fragments(folder).items():
        if files:
            points = (file.read_text("utf-8").strip().replace("\n", "\n  ") for file in files)
            parts.append(f"### {kind.capitalize()}\n\n" + "".join(f"- {p}\n" for p in points))
    return "\n".join(parts)


def release(version: str, folder: Path = FOLDER) -> None:
    """The new section goes above the older ones, and the fragments go."""
    changelog = folder.parent / "CHANGELOG.md"
    head, mark, older = changelog.read_text("utf-8").partition("\n## ")
    section = gathered(f"{version} ({date.today().isoformat()})", folder)
    text = f"{head.rstrip()}\n\n{section}" + (f"{mark}{older}" if mark else "")
    changelog.write_text(text, "utf-8")
    for files in fragments(folder).values():
        for file in files:
            file.unlink()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        release(sys.argv[1])
    else:
        print(gathered("Not released yet"))
