"""Generative or discriminative?  Learning curves of naive Bayes and its partner, logistic
regression, on ten data sets (Ng and Jordan 2001).

    python examples/learning_curves.py                     # two minutes
    python examples/learning_curves.py curves.json         # and keep the curves
    python examples/learning_curves.py curves.svg          # and draw them (.png, .html)

Both models draw a linear boundary: columns of numbers are normal with one variance in both classes,
columns of words are categorical. They differ in what they make likely: p(x, y), or p(y | x).

POSTERIOR_DATA    folder of the data sets; otherwise ../shared/data beside this repository. Where a
                  set is missing, the others are shown.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits

from posterior import CategoricalNB, Gaussian, LogisticRegression, NaiveBayes

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
DRAWS = 50  # of rows to learn from, for each size; Ng and Jordan took 1,000
TESTED = 1_000  # rows at most
SIZES = (6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
C = 100.0  # hardly a penalty; without any, rows that a plane separates have no maximum
Curve = dict[str, list[float]]
Rows = tuple[np.ndarray, np.ndarray]


def main(file: str | None = None, names: tuple[str, ...] = (), draws: int = DRAWS) -> None:
    curves: dict[str, Curve] = {}
    print(f"Error on rows not seen, mean of {draws} draws\n")
    print(f"{'':28}{'few rows':>20}{'most rows':>25}   logistic is ahead")
    print(f"{'data':19}{'columns':>9}{'rows':>6}{'NB':>7}{'LR':>7}", end="")
    print(f"{'rows':>11}{'NB':>7}{'LR':>7}   from")
    for name, X, y in tables(names):
        curve = curves[name] = learned(X, y, draws)
        print(line(f"{name:19}{X.shape[1]:>9}", curve), flush=True)
    ahead = [curve["bayes"][0] < curve["logistic"][0] for curve in curves.values()]
    overtaken = [crossing(curve) is not None for curve in curves.values()]
    print(f"\nWith few rows naive Bayes is ahead on {sum(ahead)} of {len(curves)} sets; ", end="")
    print(f"later logistic\nregression is ahead on {sum(overtaken)}.")
    if file and file.endswith(".json"):
        Path(file).write_text(json.dumps(curves, indent=1) + "\n", "utf-8")
    elif file:
        draw(curves, file)


def line(head: str, curve: Curve) -> str:
    first, last = (
        f"{curve['rows'][i]:>{wide}.0f}{curve['bayes'][i]:>7.1%}{curve['logistic'][i]:>7.1%}"
        for i, wide in ((0, 6), (-1, 11))
    )
    at = crossing(curve)
    return f"{head}{first}{last}   {'nowhere yet' if at is None else f'{at:.0f} rows'}"


def crossing(curve: Curve) -> float | None:
    """The size from which on logistic regression errs less than naive Bayes."""
    better = np.less(curve["logistic"], curve["bayes"])
    last_behind = np.flatnonzero(~better)[-1] if not better.all() else -1
    return None if last_behind + 1 == len(better) else curve["rows"][last_behind + 1]


def learned(X: np.ndarray, y: np.ndarray, draws: int) -> Curve:
    """Mean errors and their standard errors, by number of rows to learn from."""
    sizes = [n for n in SIZES if n <= 2 / 3 * len(X)]
    found = np.array([[errors(X, y, n, seed) for seed in range(draws)] for n in sizes])
    mean, spread = found.mean(axis=1), found.std(axis=1) / np.sqrt(draws)
    return {
        "rows": [float(n) for n in sizes],
        "bayes": mean[:, 0].round(5).tolist(),
        "logistic": mean[:, 1].round(5).tolist(),
        "bayes_error": spread[:, 0].round(5).tolist(),
        "logistic_error": spread[:, 1].round(5).tolist(),
    }


def errors(X: np.ndarray, y: np.ndarray, n: int, seed: int) -> tuple[float, float]:
    """Of both models, on rows that neither has seen."""
    order = np.random.default_rng(seed).permutation(len(y))
    one_of_each = [order[y[order] == k][0] for k in np.unique(y)]  # no class may be absent
    order = np.concatenate([one_of_each, order[~np.isin(order, one_of_each)]])
    train, test = order[:n], order[n : n + TESTED]
    pair: Callable[..., tuple[Any, Any]] = words if X.dtype == object else numbers
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns that do not vary among few rows
        bayes, logistic = pair((X[train], y[train]), (X[test], y[test]))
    return 1 - bayes, 1 - logistic


def numbers(train: Rows, test: Rows) -> tuple[float, float]:
    """Columns in units of their deviation within classes, so that every variance is one."""
    X, y = train
    within = X - np.stack([X[y == k].mean(axis=0) for k in (0, 1)])[y]
    deviation = np.sqrt((within**2).mean(axis=0))
    varies = deviation > 0
    X, unseen = X[:, varies] / deviation[varies], test[0][:, varies] / deviation[varies]
    bayes = NaiveBayes(Gaussian(prior=None, variance=1.0)).fit(X, y)
    center = X.mean(axis=0)
    logistic = LogisticRegression(C=C).fit(X - center, y)
    return bayes.score(unseen, test[1]), logistic.score(unseen - center, test[1])


def words(train: Rows, test: Rows) -> tuple[float, float]:
    """Categories as numbers for naive Bayes (Laplace), as columns of yes and no for logistic."""
    values = [np.unique(np.concatenate([a, b])) for a, b in zip(train[0].T, test[0].T, strict=True)]
    coded = [
        np.stack([np.searchsorted(v, c) for v, c in zip(values, X.T, strict=True)], axis=1)
        for X, _ in (train, test)
    ]
    bayes = CategoricalNB(min_categories=[len(v) for v in values]).fit(coded[0], train[1])
    one_hot = [
        np.concatenate([np.eye(len(v))[c] for v, c in zip(values, X.T, strict=True)], axis=1)
        for X in coded
    ]
    logistic = LogisticRegression(C=C).fit(one_hot[0], train[1])
    return bayes.score(coded[1], test[1]), logistic.score(one_hot[1], test[1])


def tables(names: tuple[str, ...] = ()) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Numbers or words, and classes 0 and 1; nine of these sets are Ng and Jordan's too."""
    folder = Path(os.environ.get("POSTERIOR_DATA", BESIDE))
    pixels, digit = load_digits(return_X_y=True)
    for name in names or SETS:
        if name in ("digits 0 and 1", "digits 2 and 3"):
            low, high = int(name[7]), int(name[-1])
            kept = (digit == low) | (digit == high)
            yield name, pixels[kept], (digit[kept] == high).astype(int)
        elif name == "breast cancer":
            yield name, *load_breast_cancer(return_X_y=True)
        elif not (file := folder / FILES[name][0]).is_file():
            print(f"{name:19} left out: there is no {file.name} in POSTERIOR_DATA or beside us")
        else:
            yield name, *read(file, *FILES[name][1:])


# The file, the target, the class that counts as 1, and the kind of columns to take.
FILES = {
    "pima": ("pima-diabetes.csv", "diabetes", "1", "number"),
    "adult, numbers": ("adult-train.csv.gz", "income", ">50K", "number"),
    "ionosphere": ("ionosphere.csv", "class", "g", "number"),
    "sonar": ("sonar.csv", "class", "M", "number"),
    "adult, words": ("adult-train.csv.gz", "income", ">50K", "object"),
    "voting records": ("house-votes-84.csv", "class", "democrat", "object"),
    "lenses": ("contact-lenses.csv", "contact-lenses", "none", "object"),
}
SETS = (*list(FILES)[:4], "digits 0 and 1", "digits 2 and 3", "breast cancer", *list(FILES)[4:])


def read(file: Path, target: str, one: str, kind: str) -> tuple[np.ndarray, np.ndarray]:
    table = pd.read_csv(file, keep_default_na=False)  # "?" is a value like any other
    table = table.sample(min(len(table), 8_000), random_state=0)
    y = (table.pop(target).astype(str) == one).to_numpy().astype(int)
    if kind == "number":
        return table.select_dtypes("number").to_numpy(float), y
    return table.select_dtypes(exclude="number").to_numpy(object), y


def draw(curves: dict[str, Curve], file: str) -> None:
    """All curves side by side."""
    import altair as alt

    from posterior import plots

    charts = []
    for name, curve in curves.items():
        pair = {
            title: (curve["rows"], curve[key], np.minimum(curve[key], curve[f"{key}_error"]))
            for title, key in (("naive Bayes", "bayes"), ("logistic", "logistic"))
        }  # no error is below zero, nor is its band
        chart = plots.learning_curve(pair, score="error", percent=True)
        charts.append(chart.properties(width=230, height=150, title=name))
    plots.save(alt.concat(*charts, columns=2).configure_view(stroke=None), file)


if __name__ == "__main__":
    main(*sys.argv[1:2])
