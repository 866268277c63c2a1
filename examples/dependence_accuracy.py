"""Classifiers of dependent columns by ten-fold cross-validation, beside naive Bayes and others.

    python examples/dependence_accuracy.py                     # all tables: half an hour
    python examples/dependence_accuracy.py car tic-tac-toe     # some of them
    python examples/dependence_accuracy.py --model Khiops car  # one model

Everything has its default settings and is fitted anew for every fold; bins and structures too.
scikit-learn's models read one column for each category, and its histogram trees categories as they
are. Khiops wants an older scikit-learn than we do: install it elsewhere, and run this file there
with --model Khiops, which needs none of ours.

What is found is put into docs/results/dependence_accuracy.json, cell by cell, and the table of
docs/dependence.md is written anew from that file. The sets are looked for in POSTERIOR_DATA, or in
../shared/data beside the repository.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

HERE = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("POSTERIOR_DATA", HERE.parent / "shared" / "data"))
RESULTS = HERE / "docs" / "results" / "dependence_accuracy.json"
PAGE = HERE / "docs" / "dependence.md"
SETS = {
    "adult": (["adult-train.csv.gz", "adult-test.csv.gz"], "income"),
    "letter": (["letter.csv.gz"], "letter"),
    "car": (["car.csv"], "class"),
    "tic-tac-toe": (["tic-tac-toe.csv"], "class"),
    "mushroom": (["mushroom.csv"], "class"),
}
FLOOR = 1e-15  # of a probability, as in scikit-learn's log loss: forests are certain and wrong

Results = dict[str, dict[str, dict[str, float]]]
"""Log loss and accuracy, by table and model."""


def read(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns and classes; a question mark is a missing cell."""
    files, target = SETS[name]
    parts = [pd.read_csv(FOLDER / file, na_values=["?"]) for file in files]
    table = pd.concat(parts, ignore_index=True)
    return table.drop(columns=target), table[target].to_numpy().astype(str)


def ours(name: str, *args: Any, **options: Any) -> Callable[[], Any]:
    """Made when it is asked for: Khiops runs where we are not installed."""

    def make() -> Any:
        import posterior

        return getattr(posterior, name)(*args, **options)

    return make


def encoded(numbers: Any, model: Any, sparse: bool = True) -> Any:
    """A model of numbers, prepared in their way, and of one column for each category."""
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=sparse)
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (one_hot, make_column_selector(dtype_exclude="number")),
    )
    return make_pipeline(columns, model)


def khiops() -> Any:
    from khiops.sklearn import KhiopsClassifier

    return KhiopsClassifier()


MODELS: dict[str, Callable[[], Any]] = {
    "naive Bayes": ours("NaiveBayes"),
    "naive Bayes, binned": ours("KDB", 0),
    "AODE": ours("AODE"),
    "AODE, weighted": ours("AODE", weighted=True),
    "TAN": ours("TAN"),
    "KDB, k = 2": ours("KDB", 2),
    "KDB, selective to k = 5": ours("KDB", 5, selective=True),
    "logistic regression": lambda: encoded(StandardScaler(), LogisticRegression(max_iter=1000)),
    # the same trees as from sparse columns, in a third of the time
    "random forest": lambda: encoded("passthrough", RandomForestClassifier(random_state=0), False),
    "histogram gradient boosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "Khiops": khiops,
}


def held_out(model: Any, X: pd.DataFrame, y: np.ndarray) -> tuple[float, float]:
    """Log loss and accuracy over ten folds."""
    losses, right = [], []
    for learn, answer in StratifiedKFold(10, shuffle=True, random_state=0).split(X, y):
        fitted = clone(model).fit(X.iloc[learn], y[learn])
        proba = np.asarray(fitted.predict_proba(X.iloc[answer]), float)
        code = np.searchsorted(fitted.classes_, y[answer])
        own = proba[np.arange(len(code)), code] / proba.sum(axis=1)
        losses.append(-np.log(np.maximum(own, FLOOR)))
        right.append(proba.argmax(axis=1) == code)
    return float(np.concatenate(losses).mean()), float(np.concatenate(right).mean())


def measured(kind: str, X: pd.DataFrame, y: np.ndarray) -> dict[str, float]:
    """The losses of one model, for the file."""
    model = MODELS[kind]()
    if isinstance(model, HistGradientBoostingClassifier):
        words = X.select_dtypes(exclude="number").columns
        X = X.astype(dict.fromkeys(words, "category"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loss, accuracy = held_out(model, X, y)
    return {"log_loss": round(loss, 6), "accuracy": round(accuracy, 6)}


def table(results: Results) -> str:
    """Models down, tables across; a dot was not run."""
    lines = [["", *SETS], ["---"] * (len(SETS) + 1)]
    lines += [[kind, *(cell(results.get(s, {}).get(kind)) for s in SETS)] for kind in MODELS]
    return "\n".join(f"| {' | '.join(line)} |".replace("|  |", "| |") for line in lines)


def cell(found: dict[str, float] | None) -> str:
    if found is None:
        return "·"
    loss, accuracy = found["log_loss"], found["accuracy"]
    shown = f"{loss:.3f}" if loss >= 0.1 else f"{loss:.4f}" if loss >= 0.00005 else "<0.0001"
    digits = 1 if accuracy < 0.9985 else 2
    return f"{shown}, {accuracy:.{digits}%}" if accuracy < 1 else f"{shown}, 100%"


def shown(page: str, results: Results) -> str:
    """The page with the table of these results, which stands below its headline."""
    lines = page.split("\n")
    first = lines.index(f"| | {' | '.join(SETS)} |")
    last = next(i for i in range(first, len(lines)) if not lines[i].startswith("|"))
    return "\n".join([*lines[:first], table(results), *lines[last:]])


def keep(name: str, kind: str, found: dict[str, float]) -> None:
    """One more cell, of the file and of the page."""
    results: Results = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    results.setdefault(name, {})[kind] = found
    ordered = {
        s: {k: results[s][k] for k in MODELS if k in results[s]} for s in SETS if s in results
    }
    RESULTS.write_text(json.dumps(ordered, indent=1) + "\n", "utf-8")
    PAGE.write_text(shown(PAGE.read_text("utf-8"), ordered), "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Ten-fold log loss and accuracy.")
    known = f"of {', '.join(SETS)}; all if none is named"
    parser.add_argument("tables", nargs="*", choices=[[], *SETS], metavar="table", help=known)
    parser.add_argument(
        "--model", action="append", choices=MODELS, help="one of these; may be repeated"
    )
    asked = parser.parse_args()
    for name in asked.tables or SETS:
        X, y = read(name)
        print(f"{name}: {len(X):,} rows, {X.shape[1]} columns, {len(set(y))} classes")
        print(f"  {'':28}{'log loss':>10}{'accuracy':>10}{'seconds':>9}")
        for kind in asked.model or [kind for kind in MODELS if kind != "Khiops"]:
            start = time.perf_counter()
            found = measured(kind, X, y)
            seconds = time.perf_counter() - start
            keep(name, kind, found)
            loss, accuracy = found["log_loss"], found["accuracy"]
            print(f"  {kind:28}{loss:10.4f}{accuracy:10.1%}{seconds:9.1f}", flush=True)


if __name__ == "__main__":
    main()
