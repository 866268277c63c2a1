"""What calibrated="auto" does to the log loss of rows that nobody has seen, by table and model.

    python examples/calibration_gain.py > docs/results/calibration.txt
    python examples/calibration_gain.py FOLDER      KEEL's files, the class last

Three folds; the others fit the model twice, as it is and with the correction that it chooses and
learns from the same rows. Constants were compared on tables of the second command. But tables of
the first have shown that one standard error is too little, that temperatures need a prior, and that
errors which were not seen need odds: its figures are not those of tables that nobody had seen.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from dependence_smoothing import FOLDER, TABLES, read
from sklearn import datasets
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

import posterior

MODELS = {  # and whether they read numbers only
    "GaussianNB": (posterior.GaussianNB, True),
    "NaiveBayes": (posterior.NaiveBayes, False),
    "LDA": (lambda **s: posterior.GaussianDiscriminantAnalysis("shared", shrinkage=0.1, **s), True),
    "QDA": (lambda **s: posterior.GaussianDiscriminantAnalysis("own", shrinkage=0.1, **s), True),
    "LogisticRegression": (posterior.LogisticRegression, True),
    "KNeighbors": (posterior.KNeighborsClassifier, True),
    "AODE": (posterior.AODE, False),
    "Additive": (posterior.Additive, False),
}
MOST = 1000  # rows of a table
SMALL = 5_000  # rows times columns times classes, for models that are refitted
MORE = {
    "adult-train": "income",
    "car": "class",
    "mushroom": "class",
    "tic-tac-toe": "class",
    "letter": "letter",
}
Table = tuple[str, pd.DataFrame, np.ndarray]


def tables() -> Iterator[Table]:
    for name in ("load_breast_cancer", "load_wine", "load_iris", "load_digits"):
        X, y = getattr(datasets, name)(return_X_y=True)
        yield name.removeprefix("load_"), pd.DataFrame(X).add_prefix("x"), y
    TABLES.update(MORE)
    for name in TABLES:
        if any((FOLDER / f"{name}.csv{end}").exists() for end in ("", ".gz")):
            yield name, *read(name)


def files(folder: Path) -> Iterator[Table]:
    for file in sorted(folder.glob("*.dat")):
        table = pd.read_csv(file, header=None, na_values=["?", "<null>"], skipinitialspace=True)
        y = table.pop(table.columns[-1]).astype(str).str.strip()
        yield file.stem, table.add_prefix("x"), y.to_numpy()


def numbers(X: pd.DataFrame) -> np.ndarray:
    """Indicators of words, means for gaps, deviations of one."""
    cells = pd.get_dummies(X, dtype=float)
    cells = cells.fillna(cells.mean())
    spread = cells.std()
    return ((cells - cells.mean()) / spread.where(spread > 0, 1)).to_numpy()


def loss(model: Any, X: Any, y: np.ndarray, folds: Any) -> tuple[float, str]:
    """Of all rows, and what corrected most folds."""
    proba, names = np.empty((len(y), len(np.unique(y)))), []
    for train, test in folds:
        rows = X.iloc if isinstance(X, pd.DataFrame) else X
        fitted = model.fit(rows[train], y[train])
        proba[test] = fitted.predict_proba(rows[test])
        names.append(type(fitted.calibrator_).__name__)
    usual = max(set(names), key=names.count)
    return log_loss(y, np.maximum(proba, 1e-12)), "" if usual == "NoneType" else usual


def sampled(X: pd.DataFrame, y: np.ndarray) -> tuple[pd.DataFrame, np.ndarray]:
    """At most so many rows, of classes that every fold has."""
    random = np.random.default_rng(0)
    index = np.sort(random.permutation(len(y))[:MOST])
    labels, counts = np.unique(y[index], return_counts=True)
    index = index[np.isin(y[index], labels[counts >= 6])]
    return X.iloc[index].reset_index(drop=True), y[index]


def main() -> None:
    warnings.simplefilter("ignore")
    given = files(Path(sys.argv[1])) if len(sys.argv) > 1 else tables()
    print(f"{'table':24}{'rows':>6}{'classes':>8}  {'model':20}{'none':>8}{'auto':>8}{'change':>8}")
    changes = []
    for name, X, y in given:
        X, y = sampled(X, y)
        k, cells = len(np.unique(y)), numbers(X)
        folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(cells, y))
        for key, (make, numeric) in MODELS.items():
            if key == "Additive" and X.size * k > SMALL:
                continue
            rows = cells if numeric else X
            try:
                before, _ = loss(make(), rows, y, folds)
                after, how = loss(make(calibrated="auto"), rows, y, folds)
            except posterior.DegenerateError:
                continue
            change = after / before - 1
            changes.append((change, name, key))
            line = f"{name:24}{len(y):6}{k:8}  {key:20}{before:8.4f}{after:8.4f}{change:8.1%}"
            print(f"{line}  {how}".rstrip(), flush=True)
    found = np.array([change for change, *_ in changes])
    worst = max(changes)
    print(
        f"\n{len(found)} pairs: lower on {np.mean(found < 0):.0%}, the same on "
        f"{np.mean(found == 0):.0%}, higher on {np.mean(found > 0):.0%}; at worst "
        f"{worst[0]:+.1%} ({worst[1]}, {worst[2]}); median of what changed "
        f"{np.median(found[found != 0]):+.1%}."
    )


if __name__ == "__main__":
    main()
