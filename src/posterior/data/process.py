"""The process that we are in: whether it is our own, and how long it runs."""

from __future__ import annotations

import os
import time
from pathlib import Path

is_ours = False  # as that of a command is, in which no one else's code runs

_IMPORTED = time.perf_counter()


def seconds() -> float:
    """Since the process began; where the system does not tell, since this was imported."""
    try:
        after_name = Path("/proc/self/stat").read_text("utf-8").rpartition(")")[2].split()
        began = int(after_name[19]) / os.sysconf("SC_CLK_TCK")
        return time.clock_gettime(time.CLOCK_BOOTTIME) - began
    except (AttributeError, OSError, ValueError):
        return time.perf_counter() - _IMPORTED
