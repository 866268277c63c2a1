"""What Classifier costs: fits of many rows, of many columns and of adult, and one row's answer.

    python -m benchmarks.classifier

A fit is timed in a process of its own: the best of three, one of adult (both of its
files, 48,842 rows). The table of 1,000 rows is drawn by a seed: sixteen columns of numbers and four
of words. One row is asked for as an array, as a frame of pandas and as a record, the thousand rows
of the table one after the other, and the quickest counts, in processor time. What it prints is
docs/results/classifier_cost.md.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.additive import adult
from benchmarks.quality.tables import HERE

PAGE = HERE / "docs" / "results" / "classifier_cost.md"


def thousand() -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(1_000, 16))).rename(columns="x{}".format)
    for j in range(4):
        X[f"word{j}"] = random.choice(list("abcde"), len(X))
    score = X["x0"] + X["x1"] * X["x2"] + (X["word0"] == "a") + random.normal(size=len(X))
    return X, np.where(score > 0, "yes", "no")


def wide() -> tuple[pd.DataFrame, np.ndarray]:
    """Five columns of five thousand tell, each a little."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 400)
    X = random.standard_normal((400, 5_000))
    X[:, :5] += 0.48 * (2 * y - 1)[:, None]
    return pd.DataFrame(X).rename(columns="x{}".format), y


TABLES: dict[str, Callable[[], tuple[pd.DataFrame, np.ndarray]]] = {
    "1,000 × 20": thousand,
    "400 × 5,000": wide,
    "adult": adult,
}


def timed(table: str) -> float:
    """Seconds of one fit, in this process."""
    from posterior import Classifier

    X, y = TABLES[table]()
    began = time.perf_counter()
    Classifier().fit(X, y)
    return time.perf_counter() - began


def best_of(table: str, times: int) -> float:
    """The least seconds of some processes."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.classifier", table]
    runs = (
        subprocess.run(command, capture_output=True, text=True, check=True, cwd=HERE)
        for _ in range(times)
    )
    return min(float(done.stdout.split()[-1]) for done in runs)


def one_row(ask: Callable[[Any], Any], rows: list[Any]) -> float:
    """Seconds of an answer, the best of some different rows."""
    found = np.inf
    for row in rows:
        began = time.process_time()
        ask(row)
        found = min(found, time.process_time() - began)
    return found


def rows() -> dict[str, float]:
    from posterior import Classifier, NaiveBayes

    X, y = thousand()
    numbers, found = X.iloc[:, :16], {}
    tables: dict[str, Any] = {
        "an array of 16 numbers": numbers.to_numpy(),
        "a frame of 16 numbers": numbers,
        "a frame of 16 numbers and 4 words": X,
    }
    for name, table in tables.items():
        model = Classifier().fit(table, y)
        kept = ", ".join(model.members_)
        frame = isinstance(table, pd.DataFrame)
        rows = [table.iloc[[i]] if frame else table[[i]] for i in range(len(table))]
        found[f"one row, {name} ({kept})"] = one_row(model.predict_proba, rows)
    records = X.to_dict("records")
    found["one record of them"] = one_row(model.predict_proba_one, records)
    ten = X.iloc[:, 10:]
    naive, records = NaiveBayes().fit(ten, y), ten.to_dict("records")
    found["one record of 6 numbers and 4 words, naive Bayes"] = one_row(
        naive.predict_proba_one, records
    )
    return found


def main() -> None:
    if len(sys.argv) > 1:
        print(timed(sys.argv[1]))
        return
    lines = ["| what | seconds |", "|---|--:|"]
    lines += [
        f"| fit of {name} | {best_of(name, 3 if name != 'adult' else 1):.1f} |" for name in TABLES
    ]
    lines += [f"| {name} | {seconds:.5f} |" for name, seconds in rows().items()]
    PAGE.write_text("\n".join(lines) + "\n", "utf-8")
    print(PAGE.read_text("utf-8"))


if __name__ == "__main__":
    main()
