"""Signals: the same curve, whatever the gain and the offset of the instrument.

Run it with `python examples/signals.py`.

POSTERIOR_DATA    folder of the data sets; otherwise ../shared/data beside this repository, and
                  where that has no signals, daily curves are drawn by a law of our own
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from posterior import KNeighborsClassifier

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
SETS = {
    "daily power demand in Italy": ("italypowerdemand", ".csv"),
    "outlines of arrowheads": ("arrowhead", ".csv.gz"),
}
Split = tuple[np.ndarray, np.ndarray]


def heading(text: str) -> None:
    print(f"\n{text}\n{'─' * len(text)}")


def main() -> None:
    for name, (X, y), (unseen, truth) in read():
        heading(name[0].upper() + name[1:])
        print(f"{len(X)} signals of {X.shape[1]} points to learn from, {len(unseen):,} to test on,")
        print(f"{len(np.unique(y))} classes; accuracy of the nearest neighbor by")
        print(f"{'':36}{'correlation':>12}{'Euclidean':>12}")
        stored = accuracies(X, y, unseen, truth)
        print(f"{'standardized, as they are':36}{stored[0]:>12.1%}{stored[1]:>12.1%}")
        random = np.random.default_rng(0)
        raw = accuracies(measured(X, random), y, measured(unseen, random), truth)
        print(f"{'each with its own gain and offset':36}{raw[0]:>12.1%}{raw[1]:>12.1%}")
    print("\n1 - correlation is half the squared Euclidean distance of standardized signals, over")
    print("their length: there the two agree. Elsewhere only correlation sees the shape alone.")


def accuracies(X: np.ndarray, y: np.ndarray, unseen: np.ndarray, truth: np.ndarray) -> list[float]:
    """By correlation distance and by Euclidean distance."""
    return [
        KNeighborsClassifier(1, metric=metric).fit(X, y).score(unseen, truth)
        for metric in ("correlation", "euclidean")
    ]


def measured(X: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """What instruments say that were never set to the same scale."""
    gain, offset = np.exp(random.normal(0, 1, len(X))), random.normal(0, 5, len(X))
    return gain[:, None] * X + offset[:, None]


def read() -> Iterator[tuple[str, Split, Split]]:
    """Signals of files, if there are any: name, signals and labels, the same to test on."""
    folder = Path(os.environ.get("POSTERIOR_DATA", BESIDE)) / "signals"
    if not folder.is_dir():
        yield "days drawn just now", simulated(60, 0), simulated(500, 1)
        return
    for name, (stem, ending) in SETS.items():
        train, test = (pd.read_csv(folder / f"{stem}-{part}{ending}") for part in ("train", "test"))
        yield name, split(train), split(test)


def split(table: pd.DataFrame) -> Split:
    return table.drop(columns="label").to_numpy(float), table["label"].to_numpy()


def simulated(n: int, seed: int) -> Split:
    """Winter days have a peak in the evening, summer days one at noon; standardized."""
    random = np.random.default_rng(seed)
    winter = random.random(n) < 0.5
    hour = np.arange(24) + random.normal(0, 1, (n, 1))
    morning = np.exp(-((hour - 8) ** 2) / 8)
    later = np.exp(-((hour - np.where(winter, 18, 13)[:, None]) ** 2) / 8)
    X = morning + 0.8 * later + random.normal(0, 0.25, (n, 24))
    X = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
    return X, np.where(winter, "winter", "summer")


if __name__ == "__main__":
    main()
