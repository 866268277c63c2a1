"""Peers in a Python of their own, where a package would change this process or weighs gigabytes.

glum brings numexpr, which sets the number of threads for all; pomegranate brings torch. `make
peers` installs both into build/peers. The child holds the arrays and waits for a word; a call here
is the word, the work there, and the answer "done".
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.arrays import Array
from benchmarks.memory import Cost
from benchmarks.timing import Peer, Quality

ROOT = Path(__file__).resolve().parents[1]
SHARE = 15.0  # seconds of one fit
PYTHON = Path(os.environ.get("POSTERIOR_PEERS", ROOT / "build" / "peers")) / "bin" / "python"


class Elsewhere:
    """A contestant in another process; the names are those of `benchmarks.child`."""

    def __init__(self, contestant: str, **arrays: Array) -> None:
        self.folder = tempfile.TemporaryDirectory()
        np.savez(Path(self.folder.name) / "arrays.npz", **arrays)
        self.process = subprocess.Popen(
            [PYTHON, "-m", "benchmarks.child", contestant, self.folder.name],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.hear("ready")

    def __call__(self) -> None:
        self.say("run")
        self.hear("done")

    def watched(self) -> tuple[dict[str, Array], Cost]:
        """What `memory.watch` finds there, and the answer as arrays."""
        self.say("watch")
        cost = Cost(**json.loads(self.line()))
        with np.load(Path(self.folder.name) / "answer.npz") as answer:
            return dict(answer), cost

    def say(self, word: str) -> None:
        assert self.process.stdin is not None
        print(word, file=self.process.stdin, flush=True)

    def hear(self, word: str) -> None:
        if (line := self.line()) != word:
            raise RuntimeError(f"Expected {word!r} of a peer in its own Python, got {line!r}.")

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def __del__(self) -> None:
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()


def peer(
    name: str,
    contestant: str,
    target: float | None,
    compare: Callable[[Any, Any], Quality] | None = None,
    **arrays: Array,
) -> Peer | None:
    """None where no Python for peers was made, or it has not the package."""
    package = name.split(",")[0]
    if not has(package):
        print(f"{package} is not installed (make peers): it takes no part", file=sys.stderr)
        return None
    return Peer(name, Elsewhere(contestant, **arrays), target, compare, rounds=2)


def has(package: str) -> bool:
    look = f"import importlib.util, sys; sys.exit(importlib.util.find_spec('{package}') is None)"
    return PYTHON.exists() and subprocess.run([PYTHON, "-c", look], check=False).returncode == 0


def glum(X: Array, y: Array) -> Peer | None:
    """The same penalty, per row."""

    def compare(ours: Any, theirs: dict[str, Array]) -> Quality:
        return {"max |Δ coef|": float(np.abs(ours.coef_.ravel() - theirs["coef"]).max())}

    return peer("glum", "glum", 3, compare, X=X, y=y)


def pomegranate_bayes(X: Array, y: Array) -> Peer | None:
    """Its Bayes classifier of independent normal columns."""

    def compare(ours: Any, theirs: dict[str, Array]) -> Quality:
        return {"max |Δ mean|": float(np.abs(ours.theta_ - theirs["means"]).max())}

    return peer("pomegranate, float32", "bayes", None, compare, X=X, y=y)


def pomegranate_mixture(
    X: Array, means: Array, covariances: Array, steps: int, score: Callable[[Any, Any], Quality]
) -> Peer | None:
    return stepwise("mixture", steps, score, X=X, means=means, covariances=covariances)


def pomegranate_kmeans(X: Array, start: Array, iterations: int, compare: Any) -> Peer | None:
    return stepwise("kmeans", iterations, compare, X=X, start=start)


def stepwise(contestant: str, steps: int, compare: Any, **arrays: Array) -> Peer | None:
    """So many steps as its share of seconds allows, and a note if that is not all of them."""
    first = peer("pomegranate, float32", contestant, None, steps=np.array(1), **arrays)
    if first is None:
        return None
    assert isinstance(first.call, Elsewhere)
    _, cost = first.call.watched()
    allowed = max(1, min(steps, int(SHARE / cost.seconds)))
    call = Elsewhere(contestant, steps=np.array(allowed), **arrays)
    return replace(first, call=call, compare=compare, cut=allowed < steps)
