"""Classifiers of dependent columns by ten-fold cross-validation, beside naive Bayes and others.

    python examples/dependence_accuracy.py                     # all sets: minutes, mostly not ours
    python examples/dependence_accuracy.py car tic-tac-toe     # some of them

Everything has its default settings and is fitted anew for every fold; bins and structures too.
scikit-learn's models read one column for each category, and its histogram trees categories as they
are. Khiops is asked if it is installed. The sets are looked for in POSTERIOR_DATA, or in
../shared/data beside the repository.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
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

from posterior import AODE, KDB, TAN, NaiveBayes

HERE = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("POSTERIOR_DATA", HERE / "shared" / "data"))
SETS = {
    "adult": (["adult-train.csv.gz", "adult-test.csv.gz"], "income"),
    "letter": (["letter.csv.gz"], "letter"),
    "car": (["car.csv"], "class"),
    "tic-tac-toe": (["tic-tac-toe.csv"], "class"),
    "mushroom": (["mushroom.csv"], "class"),
}
FLOOR = 1e-15  # of a probability, as in scikit-learn's log loss: forests are certain and wrong


def read(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns and classes; a question mark is a missing cell."""
    files, target = SETS[name]
    parts = [pd.read_csv(FOLDER / file, na_values=["?"]) for file in files]
    table = pd.concat(parts, ignore_index=True)
    return table.drop(columns=target), table[target].to_numpy().astype(str)


def encoded(numbers: Any, categories: Any) -> Any:
    """Columns of numbers and of categories, each prepared in their way."""
    words = make_column_selector(dtype_exclude="number")
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")), (categories, words)
    )


def models() -> dict[str, Any]:
    one_hot = OneHotEncoder(handle_unknown="ignore")
    found = {
        "naive Bayes": NaiveBayes(),
        "naive Bayes, binned": KDB(0),
        "AODE": AODE(),
        "AODE, weighted": AODE(weighted=True),
        "TAN": TAN(),
        "KDB, k = 2": KDB(2),
        "KDB, selective to k = 5": KDB(5, selective=True),
        "logistic regression": make_pipeline(
            encoded(StandardScaler(), one_hot), LogisticRegression(max_iter=1000)
        ),
        "random forest": make_pipeline(
            encoded("passthrough", one_hot), RandomForestClassifier(random_state=0)
        ),
        "histogram gradient boosting": HistGradientBoostingClassifier(
            categorical_features="from_dtype", random_state=0
        ),
    }
    try:
        from khiops.sklearn import KhiopsClassifier
    except ImportError:
        return found
    return found | {"Khiops": KhiopsClassifier()}


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


def main(*names: str) -> None:
    for name in names or tuple(SETS):
        X, y = read(name)
        print(f"{name}: {len(X):,} rows, {X.shape[1]} columns, {len(set(y))} classes")
        print(f"  {'':28}{'log loss':>10}{'accuracy':>10}{'seconds':>9}")
        for kind, model in models().items():
            table = X
            if isinstance(model, HistGradientBoostingClassifier):
                words = X.select_dtypes(exclude="number").columns
                table = X.astype(dict.fromkeys(words, "category"))
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                loss, accuracy = held_out(model, table, y)
            seconds = time.perf_counter() - start
            print(f"  {kind:28}{loss:10.4f}{accuracy:10.1%}{seconds:9.1f}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
