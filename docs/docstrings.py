"""Docstrings are plain text with equations; reStructuredText would take some signs for markup."""

from __future__ import annotations

import re
from typing import Any

QUOTED = re.compile(r"(``?[^`]+``?)")
MARKUP = re.compile(r"[*|]|(?<=\w)_(?!\w)")  # emphasis, substitutions, targets: x_ ends in one


def escaped(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Escape what only looks like markup, outside of quotes and of examples."""
    example = False
    for i, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if example:
            continue
        parts = QUOTED.split(line)
        text = "".join(part if j % 2 else _plain(part) for j, part in enumerate(parts))
        lines[i] = QUOTED.sub(_literal, text)


def _plain(text: str) -> str:
    names_of_arguments = re.match(r"\s*\*\*?\w+( :|$)", text)  # napoleon escapes those itself
    return text if names_of_arguments else MARKUP.sub(lambda sign: "\\" + sign[0], text)


def _literal(quoted: re.Match[str]) -> str:
    return f"``{quoted[0].strip('`')}``"


def own_name(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn adds to every estimator: its routing and its mixins."""
    home = getattr(obj, "__module__", None) or ""
    return True if home.startswith("sklearn.") or name.endswith("_request") else None
