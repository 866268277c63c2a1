"""What the machine can do at most: reading memory, and multiplying matrices."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

CELLS = 50_000_000  # of the array that is read: far beyond every cache
SIDE = 2_000  # of the matrices that are multiplied
ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Work:
    """The least that an operation must do, whoever does it."""

    reads: int = 0  # bytes
    flops: float = 0.0  # multiplications and additions
    single: bool = False  # in float32

    def seconds(self) -> float:
        """How long this machine would take for it, doing nothing else."""
        rate = multiplying(np.float32 if self.single else np.float64)
        return max(self.reads / reading(), self.flops / rate)


@cache
def reading() -> float:
    """Bytes a second: two threads that each add up half of an array."""
    halves, pool = np.array_split(np.ones(CELLS), 2), ThreadPoolExecutor(2)
    total = partial(np.einsum, "i->")
    return 8 * CELLS / _best(lambda: sum(pool.map(total, halves)))


@cache
def multiplying(dtype: type) -> float:
    """Operations a second of a matrix product, by BLAS on all its threads."""
    A = np.random.default_rng(0).random((SIDE, SIDE)).astype(dtype)
    return 2 * SIDE**3 / _best(lambda: A @ A)


def facts() -> dict[str, str | int]:
    return {
        "memory read": f"{reading() / 1e9:.1f} GB/s",
        "float64 products": f"{multiplying(np.float64) / 1e9:.0f} GFLOP/s",
        "float32 products": f"{multiplying(np.float32) / 1e9:.0f} GFLOP/s",
    }


def _best(call: Callable[[], object]) -> float:
    def once() -> float:
        start = time.perf_counter()
        call()
        return time.perf_counter() - start

    return min(once() for _ in range(ROUNDS))
