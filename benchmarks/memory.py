"""How much memory a call takes, native allocations included."""

from __future__ import annotations

import ctypes
import gc
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

STATUS = Path("/proc/self/status")
CLEAR_REFS = Path("/proc/self/clear_refs")


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one call: its time, and resident bytes above those at its start."""

    seconds: float
    peak: int  # at the highest moment, the answer included
    kept: int  # afterwards, while the answer is alive


def watch(call: Callable[[], Any]) -> tuple[Any, Cost]:
    """Run once. The system records the peak itself, so no moment of the call escapes."""
    if hasattr(call, "watched"):  # a process of its own, which can be watched there alone
        return call.watched()
    tidy()
    if CLEAR_REFS.exists():
        CLEAR_REFS.write_text("5")  # sets the peak, VmHWM, back to what is resident now
    before = resident("VmRSS")
    start = time.perf_counter()
    answer = call()
    seconds = time.perf_counter() - start
    peak = resident("VmHWM") - before
    tidy()
    kept = resident("VmRSS") - before
    return answer, Cost(seconds, max(peak, 0), max(kept, 0))


def method() -> str:
    return "VmHWM after a reset" if CLEAR_REFS.exists() else "ru_maxrss (a lower bound)"


def tidy() -> None:
    """Give free memory back, so that no call can hide in what the last one left."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc alone has it
    if trim is not None:
        trim(0)


def resident(field: str) -> int:
    """Bytes now (VmRSS) or at the highest since the reset (VmHWM); off Linux, highest ever."""
    if CLEAR_REFS.exists():
        facts = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
        return 1024 * int(facts[field].removesuffix("kB"))
    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return highest if sys.platform == "darwin" else 1024 * highest
