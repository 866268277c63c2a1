"""Naive Bayes with columns of numbers normal, with heavy tails, binned, or chosen by log loss.

    python examples/families_of_columns.py                # all tables: about a minute
    python examples/families_of_columns.py pima wdbc      # some of them

Ten-fold cross-validation in which every fold is a fit of its own: cuts, degrees of freedom and the
choice of families never see the rows they are judged by. The tables are looked for in
POSTERIOR_DATA, or in ../shared/data beside the repository.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from posterior import NaiveBayes

HERE = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("POSTERIOR_DATA", HERE / "shared" / "data"))
TABLES = {
    "adult": ("adult-train.csv.gz", "income"),
    "banknote": ("banknote-authentication.csv", "class"),
    "credit-g": ("credit-g.csv", "class"),
    "glass": ("glass.csv", "type"),
    "ionosphere": ("ionosphere.csv", "class"),
    "iris": ("iris.csv", "species"),
    "letter": ("letter.csv.gz", "letter"),
    "penguins": ("penguins.csv", "species"),
    "pima": ("pima-diabetes.csv", "diabetes"),
    "sonar": ("sonar.csv", "class"),
    "wdbc": ("wdbc.csv", "diagnosis"),
    "wine": ("wine.csv", "class"),
}
CHOICES = {"normal": None, "student": "student", "binned": "binned", "auto": "auto"}


def read(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    file, target = TABLES[name]
    frame = pd.read_csv(FOLDER / file)
    if target not in frame:
        target = frame.columns[-1]
    y = frame.pop(target)
    return frame, y.astype(str).to_numpy()


def families(choice: str | None, frame: pd.DataFrame) -> object:
    """Words keep their categories whatever the numbers are."""
    if choice is None or choice == "auto":
        return choice
    return dict.fromkeys(frame.select_dtypes("number"), choice)


def judged(choice: str | None, frame: pd.DataFrame, y: np.ndarray) -> tuple[float, float]:
    """Log loss and accuracy out of fold."""
    classes = np.unique(y)
    proba = np.empty((len(y), len(classes)))
    for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(frame, y):
        model = NaiveBayes(families(choice, frame)).fit(frame.iloc[train], y[train])
        proba[test] = model.predict_proba(frame.iloc[test])
    return log_loss(y, proba, labels=classes), float(np.mean(classes[proba.argmax(1)] == y))


def main(*names: str) -> None:
    warnings.simplefilter("ignore")  # constant columns are left out, and named
    print("| table | rows | " + " | ".join(CHOICES) + " |")
    print("|---|---|" + "---|" * len(CHOICES))
    for name in names or TABLES:
        frame, y = read(name)
        scores = [judged(choice, frame, y) for choice in CHOICES.values()]
        best = min(loss for loss, _ in scores)
        cells = [
            f"{'**' * (loss == best)}{loss:.3f}{'**' * (loss == best)} ({share:.1%})"
            for loss, share in scores
        ]
        print(f"| {name} | {len(y):,} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
