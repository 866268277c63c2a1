"""A race: the same work by us and by our peers, in turns, the best round of each."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.limits import Work
from benchmarks.memory import Cost, watch

Call = Callable[[], Any]
Quality = dict[str, float]

BURST = 0.005  # seconds; a shorter call is repeated inside its turn until it fills them
SHORT_TURNS = 8  # in a round where all calls are short: other work comes in longer bursts


@dataclass(frozen=True, slots=True)
class Peer:
    name: str
    call: Call
    target: float | None = None  # the least ratio of its time to ours
    compare: Callable[[Any, Any], Quality] | None = None  # of our answer and its answer
    rounds: int | None = None  # at most so many, without a warm-up: for calls of many seconds


@dataclass(frozen=True, slots=True)
class Operation:
    name: str
    ours: Call
    peers: Sequence[Peer]
    memory_limit: int | None = None  # bytes that ours may use beyond what it keeps
    work: Work | None = None  # that nobody can do without


@dataclass(frozen=True, slots=True)
class Result:
    """One operation beside one peer."""

    case: str
    operation: str
    peer: str
    ours: Cost
    theirs: Cost
    quality: Quality
    target: float | None
    memory_limit: int | None
    least_seconds: float | None  # that the machine needs for the work itself

    @property
    def ratio(self) -> float:
        return self.theirs.seconds / self.ours.seconds

    @property
    def met(self) -> bool | None:
        return None if self.target is None else self.ratio >= self.target

    @property
    def of_limit(self) -> float | None:
        """Our speed as a part of the machine's."""
        return None if self.least_seconds is None else self.least_seconds / self.ours.seconds

    @property
    def memory_met(self) -> bool | None:
        limit = self.memory_limit
        return None if limit is None else self.ours.peak - self.ours.kept <= limit


def race(case: str, operation: Operation, repeat: int) -> list[Result]:
    """Warm up, watch the memory of one call each, compare the answers, then time in turns."""
    peers = operation.peers
    calls = [operation.ours, *(peer.call for peer in peers)]
    rounds = [repeat, *(min(repeat, peer.rounds or repeat) for peer in peers)]
    operation.ours()
    for peer in peers:
        if peer.rounds is None:
            peer.call()
    answers, costs = zip(*map(watch, calls), strict=True)
    qualities = [
        peer.compare(answers[0], answer) if peer.compare else {}
        for peer, answer in zip(peers, answers[1:], strict=True)
    ]
    del answers  # they may be large
    ours, *others = (
        replace(cost, seconds=seconds)
        for cost, seconds in zip(costs, take_turns(calls, costs, rounds), strict=True)
    )
    limit, work = operation.memory_limit, operation.work
    least = None if work is None else work.seconds()
    return [
        Result(case, operation.name, peer.name, ours, theirs, quality, peer.target, limit, least)
        for peer, theirs, quality in zip(peers, others, qualities, strict=True)
    ]


def take_turns(calls: Sequence[Call], costs: Sequence[Cost], rounds: Sequence[int]) -> list[float]:
    """Best seconds of each call. Who goes first changes from turn to turn."""
    loops = [math.ceil(BURST / cost.seconds) for cost in costs]
    turns = [n * SHORT_TURNS for n in rounds] if min(loops) > 1 else rounds
    best = [math.inf] * len(calls)
    gc.collect()
    gc.disable()
    try:
        for turn in range(max(turns)):
            for place in range(len(calls)):
                i = (turn + place) % len(calls)
                if turn < turns[i]:
                    best[i] = min(best[i], seconds_per_call(calls[i], loops[i]))
    finally:
        gc.enable()
    return best


def seconds_per_call(call: Call, loops: int) -> float:
    start = time.perf_counter()
    for _ in range(loops):
        call()
    return (time.perf_counter() - start) / loops
