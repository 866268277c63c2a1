"""What Additive costs: adult and letter beside CatBoost and EBM, more and more rows, one row.

    python -m benchmarks.additive                                  # ours
    python -m benchmarks.additive --peers build/peers/bin/python   # and the peers, in their Python

Every contestant fits the whole table as it comes, each in a process of its own, once: a fit that
takes minutes is not worth repeating. Growth is measured with 100 rounds on tables of a seed,
the best of three; its slope is that of log seconds on log rows. What it prints is
docs/results/additive_cost.md. adult is both of its files, 48,842 rows.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.quality.models import TABLE_MODELS
from benchmarks.quality.tables import FOLDER, HERE, read

PAGE = HERE / "docs" / "results" / "additive_cost.md"
ADULT = ("adult-train.csv.gz", "adult-test.csv.gz")
ROWS = (10_000, 20_000, 40_000, 80_000, 160_000)


def adult() -> tuple[pd.DataFrame, np.ndarray]:
    parts = [pd.read_csv(FOLDER / file, na_values=["?"]) for file in ADULT]
    table = pd.concat(parts, ignore_index=True)
    return table.drop(columns="income"), table["income"].to_numpy().astype(str)


TABLES: dict[str, Callable[[], tuple[pd.DataFrame, np.ndarray]]] = {
    "adult": adult,
    "letter": partial(read, "letter"),
}


def ours(**settings: Any) -> Any:
    from posterior import Additive

    return Additive(**settings)


FITS: dict[str, Callable[[], Any]] = {
    "Additive": ours,
    "Additive, 1,000 rounds": partial(ours, rounds=1_000),
    "Additive, convex": partial(ours, solver="convex"),
    "CatBoost": TABLE_MODELS["CatBoost"],
    "EBM": TABLE_MODELS["EBM"],
}
PEERS = ("CatBoost", "EBM")


def timed(name: str, table: str) -> float:
    """Seconds of one fit, in this process."""
    X, y = TABLES[table]()
    model = FITS[name]()
    began = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - began


def elsewhere(python: str, name: str, table: str, longest: float) -> str:
    """The same in a process of its own, in words: it is ended after so many seconds."""
    command = [python, "-W", "ignore", "-m", "benchmarks.additive", "--time", name, table]
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=HERE, timeout=longest
        )
    except subprocess.TimeoutExpired:
        return f"> {longest:.0f} s"
    return f"{float(answer.stdout.split()[-1]):.1f} s"


def drawn(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Ten normal columns, of which two say something together."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n, 10))
    return X, (X[:, 0] * X[:, 1] + X[:, 2] + random.standard_normal(n) > 0).astype(int)


def growth() -> tuple[list[float], float]:
    """Seconds of a fit by rows, and the slope."""
    seconds = []
    for n in ROWS:
        X, y = drawn(n)
        tries = []
        for _ in range(3):
            began = time.perf_counter()
            ours(rounds=100, rate=0.1).fit(X, y)
            tries.append(time.perf_counter() - began)
        seconds.append(min(tries))
    return seconds, float(np.polyfit(np.log(ROWS), np.log(seconds), 1)[0])


def one_row() -> float:
    """Milliseconds of an answer to one row of ten numbers."""
    X, y = drawn(10_000)
    model, best = ours().fit(X, y), np.inf
    for _ in range(1_000):
        began = time.perf_counter()
        model.predict_proba(X[:1])
        best = min(best, time.perf_counter() - began)
    return 1e3 * best


def page(peers: str | None, longest: float) -> str:
    lines = ["| fit | " + " | ".join(TABLES) + " |", "|---" * (len(TABLES) + 1) + "|"]
    for name in FITS:
        if name in PEERS and peers is None:
            continue
        python = peers if name in PEERS and peers is not None else sys.executable
        seconds = [elsewhere(python, name, table, longest) for table in TABLES]
        lines.append(f"| {name} | " + " | ".join(seconds) + " |")
        print(lines[-1], flush=True)
    found, slope = growth()
    lines += ["", "| rows | " + " | ".join(f"{n:,}" for n in ROWS) + " |"]
    lines += ["|---" * (len(ROWS) + 1) + "|"]
    lines += ["| 100 rounds | " + " | ".join(f"{s:.2f} s" for s in found) + " |", ""]
    lines.append(f"Seconds grow with the power {slope:.2f} of the rows.")
    lines.append(f"One row of ten numbers is answered in {one_row():.3f} ms.")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--peers", help="a Python that has catboost and interpret")
    parser.add_argument("--time", nargs=2, metavar=("FIT", "TABLE"), help="one fit, here")
    parser.add_argument("--longest", type=float, default=600, help="seconds that a fit may take")
    options = parser.parse_args()
    if options.time:
        print(timed(*options.time))
        return
    peers = options.peers and str(Path(options.peers).absolute())
    text = page(peers, options.longest)
    PAGE.write_text(text, "utf-8")
    print(text)


if __name__ == "__main__":
    main()
