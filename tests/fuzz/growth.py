"""Commands and functions on awkward tables: twice the input takes twice the time, or is refused.

Times are those of the processor in this process, the least of several; quadratic growth would
take four times as long.
"""

from __future__ import annotations

import io
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from itertools import product
from pathlib import Path

import limits
import numpy as np

LEAST = 0.4  # seconds that tell more than chance
MOST_TIMES = 3.2  # for twice the input
STEPS = 9  # doublings at most


def unique_words(n: int) -> str:
    """Every cell of a column is another word."""
    rows = (f"w{i * 7919 % 1_000_003},v{i},{'ab'[i % 2]}" for i in range(n))
    return "\n".join(["one,other,kind", *rows])


def many_classes(n: int) -> str:
    """As many classes as half of the rows."""
    rows = (f"{i * 0.37 % 11:.3f},{i % 7},c{i // 2}" for i in range(n))
    return "\n".join(["size,count,kind", *rows])


def wide(n: int) -> str:
    """Forty rows of many columns."""
    random = np.random.default_rng(0)
    cells = random.normal(size=(40, n // 40)).round(3)
    head = ",".join([*(f"x{j}" for j in range(n // 40)), "kind"])
    return "\n".join(
        [head, *(",".join([*map(str, row), "ab"[i % 2]]) for i, row in enumerate(cells))]
    )


def long_cells(n: int) -> str:
    """Few rows, whose cells are long texts of one word or of many."""
    rows = (f"{'lorem ipsum ' * (n // 200)},{'x' * (n // 10)},{'ab'[i % 2]}" for i in range(20))
    return "\n".join(["text,blob,kind", *rows])


def numbers(n: int) -> str:
    """Ordinary rows, but for a constant column and one of few values that is mostly missing."""
    random = np.random.default_rng(0)
    rows = (
        f"{x:.4f},1,{'' if i % 9 else i % 3},{'ab'[int(x > 0)]}"
        for i, x in enumerate(random.normal(size=n))
    )
    return "\n".join(["x,same,rare,kind", *rows])


TABLES: dict[str, Callable[[int], str]] = {
    f.__name__: f for f in (unique_words, many_classes, wide, long_cells, numbers)
}
KINDS = "naive-bayes", "discriminant", "logistic", "neighbors", "text"
COMMANDS: dict[str, list[list[str]]] = {
    **{
        f"fit {kind}": [["fit", "{data}", "-t", "kind", "-m", kind, "-o", "{model}"]]
        for kind in KINDS
    },
    "predict": [
        ["fit", "{data}", "-t", "kind", "-m", "naive-bayes", "-o", "{model}"],
        ["predict", "{model}", "{data}", "-o", "{out}"],
    ],
    "update": [
        ["fit", "{data}", "-t", "kind", "-m", "naive-bayes", "-o", "{model}"],
        ["update", "{model}", "{data}"],
    ],
    "inspect": [
        ["fit", "{data}", "-t", "kind", "-m", "naive-bayes", "-o", "{model}"],
        ["inspect", "{model}"],
    ],
    "cluster": [["cluster", "{data}", "-o", "{out}"]],
}
BUT = {
    ("predict", "many_classes"): "the answer has a probability of each row and class",
    ("fit neighbors", "many_classes"): "k is chosen by probabilities of each row and class",
}
ALL = [pair for pair in product(COMMANDS, TABLES) if pair not in BUT]
CASES = len(ALL)


def run(command: list[str]) -> int:
    """A command in this process; its exit code."""
    from posterior.app.cli import commands_app

    sink = io.StringIO()
    with redirect_stdout(sink), redirect_stderr(sink):
        try:
            commands_app.app(command, standalone_mode=True)
        except SystemExit as end:
            return int(end.code or 0)
    return 0


def seconds(name: str, table: str, n: int) -> tuple[float, int]:
    """How long the commands take for a table of a size, and how the last of them ended."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        data = Path(folder) / "data.csv"
        data.write_text(TABLES[table](n))
        names = {"data": str(data), "model": f"{folder}/m.posterior", "out": f"{folder}/out.csv"}
        start, code = time.process_time(), 0
        for command in COMMANDS[name]:
            code = run([part.format(**names) for part in command])
            if code:
                break
        return time.process_time() - start, code


def case(seed: int) -> str:
    """One command on one kind of table, doubled until its time can be told."""
    name, table = ALL[seed % CASES]
    limits.alarm(600)  # of which the sizes below take a small part
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        n, ended = 2000, 0
        seconds(name, table, n)  # what is imported late
        for _ in range(STEPS):
            spent, ended = seconds(name, table, n)
            if spent > LEAST:
                break
            n *= 2
        if spent <= LEAST:
            return "refused" if ended else "fast"
        for _ in range(2):  # chance takes longer, and never shorter
            once = min(spent, seconds(name, table, n)[0])
            twice = min(seconds(name, table, 2 * n)[0] for _ in range(2))
            if twice / once <= MOST_TIMES:
                return "refused in time" if ended else "in time"
    raise AssertionError(
        f"{name} on {table}: {once:.2f} s of {n}, {twice:.2f} s of {2 * n}, "
        f"{twice / once:.1f} times as long"
    )
