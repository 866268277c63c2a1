"""What `make fuzz` and `make laws` share: results that the manual shows, and files kept whole."""

from __future__ import annotations

import datetime
import os
import platform
import re
from importlib.metadata import version
from pathlib import Path

PACKAGES = "posterior", "numpy", "scipy", "scikit-learn", "pyarrow", "duckdb", "hypothesis"


def today() -> str:
    return datetime.date.today().isoformat()


def facts(first_day: str) -> str:
    """When, with what and on what: nothing that names the machine."""
    days = today() if first_day == today() else f"{first_day} to {today()}"
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    cpu = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.+)", cpu.read_text()) if cpu.exists() else None
    processor = f", {found[1]}" if found else ""
    return f"{days}: Python {platform.python_version()}, {packages}{processor}"


def replace(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.new")
    new.write_text(text, "utf-8")
    os.replace(new, path)
