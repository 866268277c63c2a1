"""Memory that this process may use."""

from __future__ import annotations

import os
from pathlib import Path

LIMITS = (  # of a container, in the two versions of Linux's control groups
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
)


def memory_limit() -> float:
    """Bytes: what the machine has, or the container, or the process may address."""
    return min(_machine(), _address_space(), *map(_container, LIMITS))


def _machine() -> float:
    names = getattr(os, "sysconf_names", {})
    if "SC_PHYS_PAGES" not in names or "SC_PAGE_SIZE" not in names:
        return float("inf")
    return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")


def _address_space() -> float:
    try:
        import resource
    except ImportError:  # Windows has none
        return float("inf")
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return float("inf") if soft == resource.RLIM_INFINITY else float(soft)


def _container(path: str) -> float:
    try:
        return float(Path(path).read_text())  # "max" is none
    except (OSError, ValueError):
        return float("inf")
