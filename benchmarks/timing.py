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
SHARE = 4.0  # seconds that all turns of one contestant may take


@dataclass(frozen=True, slots=True)
class Peer:
    name: str
    call: Call
    target: float | None = None  # the least ratio of its time to ours
    compare: Callable[[Any, Any], Quality] | None = None  # of our answer and its answer
    rounds: int | None = None  # at most so many, without a warm-up: for calls of many seconds
    cut: bool = False  # stopped before it reached our answer, so that its time is a lower bound


@dataclass(frozen=True, slots=True)
class Operation:
    name: str
    ours: Call
    peers: Sequence[Peer]
    memory_limit: int | None = None  # bytes that ours may use beyond what it keeps
    work: Work | None = None  # that nobody can do without
    size: float | None = None  # where the same work is done at several
    share: float = SHARE


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
    cut: bool = False  # the peer was stopped: it needs more than its time
    size: float | None = None

    @property
    def ratio(self) -> float:
        return self.theirs.seconds / self.ours.seconds

    @property
    def met(self) -> bool | None:
        if self.target is None or (self.cut and self.ratio < self.target):
            return None  # a peer that was stopped might have met it
        return self.ratio >= self.target

    @property
    def of_limit(self) -> float | None:
        """Our speed as a part of the machine's."""
        return None if self.least_seconds is None else self.least_seconds / self.ours.seconds

    @property
    def memory_met(self) -> bool | None:
        limit = self.memory_limit
        return None if limit is None else self.ours.peak - self.ours.kept <= limit


def race(case: str, operation: Operation, repeat: int, deadline: float = math.inf) -> list[Result]:
    """Warm up, watch the memory of one call each, compare the answers, then time in turns.

    No turn begins that would end after the deadline: then the watched call alone counts.
    """
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
    best = take_turns(calls, costs, rounds, operation.share, deadline)
    ours, *others = (
        replace(cost, seconds=seconds) for cost, seconds in zip(costs, best, strict=True)
    )
    limit, work = operation.memory_limit, operation.work
    least = None if work is None else work.seconds()
    return [
        Result(
            case,
            operation.name,
            peer.name,
            ours,
            theirs,
            quality,
            peer.target,
            limit,
            least,
            peer.cut,
            operation.size,
        )
        for peer, theirs, quality in zip(peers, others, qualities, strict=True)
    ]


def take_turns(
    calls: Sequence[Call],
    costs: Sequence[Cost],
    rounds: Sequence[int],
    share: float = SHARE,
    deadline: float = math.inf,
) -> list[float]:
    """Best seconds of each call, the watched one among them. Who goes first changes by turn."""
    loops = [math.ceil(BURST / cost.seconds) for cost in costs]
    turns = [n * SHORT_TURNS for n in rounds] if min(loops) > 1 else rounds
    last = [cost.seconds * loop for cost, loop in zip(costs, loops, strict=True)]
    turns = [min(n, int(share / seconds)) for n, seconds in zip(turns, last, strict=True)]
    best = [cost.seconds for cost in costs]
    gc.collect()
    gc.disable()
    try:
        for turn in range(max(turns)):
            for place in range(len(calls)):
                i = (turn + place) % len(calls)
                if turn < turns[i] and time.perf_counter() + last[i] < deadline:
                    best[i] = min(best[i], seconds_per_call(calls[i], loops[i]))
    finally:
        gc.enable()
    return best


def seconds_per_call(call: Call, loops: int) -> float:
    start = time.perf_counter()
    for _ in range(loops):
        call()
    return (time.perf_counter() - start) / loops
