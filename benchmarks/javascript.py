"""Models as JavaScript, against Python: log odds of random rows, in Node.

    python -m benchmarks.javascript                # 100,000 rows a model
    python -m benchmarks.javascript --rows 2000 --only pool

Tables are made from a seed. Rows have gaps, numbers beyond those that were learned from, and
categories that were never seen. A difference is that of log odds against the likeliest class,
relative where these are larger than one. What it prints is docs/results/javascript.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import posterior
from benchmarks.quality.tables import HERE
from posterior.javascript import to_javascript

PAGE = HERE / "docs" / "results" / "javascript.md"
ROWS = 100_000
NODE = """
import { readFileSync, writeFileSync } from "node:fs";
import { classes, explain, scores } from "./model.mjs";
const rows = JSON.parse(readFileSync("rows.json", "utf8"));
const told = Number(process.argv[2]);
const out = new Float64Array(rows.length * classes.length);
for (const row of rows.slice(0, 200)) scores(row);
const start = process.cpuUsage();
rows.forEach((row, i) => out.set(scores(row), i * classes.length));
const used = process.cpuUsage(start);
writeFileSync("scores.bin", out);
const finite = (_, value) => (value === -Infinity ? "-Infinity" : value);
const terms = rows.slice(0, told).map(explain);
const seconds = (used.user + used.system) / 1e6;
writeFileSync("told.json", JSON.stringify({ terms, seconds }, finite));
"""
CITIES = ["Rome", "Oslo", "Köln", "</script>"]
WORDS = (
    "the of Straße ΣΊΣΥΦΟΣ İstanbul naïve über cat DOG don't e-mail 42 x_y 漢字 "
    "\U0001d518nicode ﬁne ǅ \u0131 \u017f Ω price offer bad good"
).split()


@dataclass(frozen=True)
class Case:
    """A fitted model, and rows for it: as Python reads them, and as JavaScript does."""

    model: Any
    rows: Any
    cells: pd.DataFrame


@dataclass(frozen=True)
class Answered:
    """What Node said: log p(k | x) (n, k), terms of the first rows, and what it cost."""

    scores: Any
    terms: list[dict[str, Any]]
    seconds: float
    size: int


def numbers(n: int, seed: int, wide: float = 1.0) -> tuple[pd.DataFrame, np.ndarray]:
    """Four columns that go together, of three classes."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, n)
    latent = random.normal(size=(n, 2))
    mix = np.array([[1.0, 0.5, -0.3, 0.0], [0.2, -1.0, 0.6, 0.4]])
    X = 5 + latent @ mix + 0.4 * random.normal(size=(n, 4)) + np.outer(y, [1.0, 0.0, 0.5, -0.5])
    names = ["a b", "__proto__", "constructor", "d"]
    return pd.DataFrame(5 + wide * (X - 5), columns=names), np.array(["x", "y", "<z>"])[y]


def shop(n: int, seed: int, odd: float = 0.0) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, categories, truths, money as text, dates and dates as text."""
    random = np.random.default_rng(seed)
    y = random.random(n) < 0.4
    hours = pd.to_timedelta(random.integers(0, 700 * 24, n), unit="h")
    days = pd.Timestamp("2020-01-03") + pd.to_timedelta(random.integers(0, 700, n), unit="D")
    city = random.choice(CITIES, n, p=[0.4, 0.3, 0.2, 0.1]).astype(object)
    city[random.random(n) < odd] = "nowhere"
    frame = pd.DataFrame(
        {
            "age": random.normal(40 + 5 * y, 10).round(1),
            "city": city,
            "member": random.random(n) < 0.3 + 0.3 * y,
            "price": [f"${price:,.2f}" for price in random.gamma(2, 1500 * (1 + y), n)],
            "when": pd.Timestamp("2022-01-03") + hours,
            "day": days.strftime("%d.%m.%Y"),
            "count": random.poisson(3 + 2 * y).astype(float),
        }
    )
    return gaps(frame, seed), np.where(y, "yes", "no")


def texts(n: int, seed: int) -> tuple[list[str | None], np.ndarray]:
    """Words of many scripts, in any case, between signs of many kinds."""
    random = np.random.default_rng(seed)
    y, found = random.random(n) < 0.5, []
    for yes in y:
        p = np.ones(len(WORDS))
        p[-1 if yes else -2] = 4
        said = random.choice(WORDS, random.integers(1, 12), p=p / p.sum())
        found.append(random.choice([" ", "  ", "\n", "\u00a0", "-", ". "]).join(said))
    return found, y


def gaps(frame: pd.DataFrame, seed: int, share: float = 0.1) -> pd.DataFrame:
    """The same with some cells gone."""
    gone = np.random.default_rng(seed + 1).random(frame.shape) < share
    return frame.mask(pd.DataFrame(gone, columns=frame.columns, index=frame.index))


def of_numbers(model: Any) -> Callable[[int], Case]:
    def made(n: int) -> Case:
        fitted, rows = model.fit(*numbers(400, 0)), gaps(numbers(n, 1, 1.5)[0], 1)
        return Case(fitted, rows, rows)

    return made


def singular(n: int) -> Case:
    """A column that is the sum of two others."""
    (X, y), (rows, _) = numbers(400, 0), numbers(n, 1, 1.5)
    X, rows = (each.assign(d=each["a b"] + each["constructor"]) for each in (X, rows))
    rows = gaps(rows, 1)
    return Case(posterior.LinearDiscriminantAnalysis().fit(X, y), rows, rows)


def of_neighbors(model: Any, missing: bool = False) -> Callable[[int], Case]:
    """Rows that weigh one, two or nothing, if some are missing cells."""

    def made(n: int) -> Case:
        (X, y), rows = numbers(400, 0), gaps(numbers(n, 1, 1.5)[0], 1)
        X = gaps(X, 3) if missing else X
        weight = np.arange(400) % 3 if missing else None
        return Case(model.fit(X, y, sample_weight=weight), rows, rows)

    return made


def of_equals(model: Any) -> Callable[[int], Case]:
    """Nine columns of few whole numbers, where many rows are equally far from one."""

    def made(n: int) -> Case:
        random = np.random.default_rng(0)
        X = pd.DataFrame(random.integers(0, 3, (400, 9)).astype(float), columns=[*"abcdefghi"])
        rows = pd.DataFrame(random.integers(0, 4, (n, 9)).astype(float), columns=X.columns)
        y = X.sum(axis=1) + random.normal(size=400) > 9
        return Case(model.fit(X, y), gaps(rows, 1), gaps(rows, 1))

    return made


def of_two(model: Any) -> Callable[[int], Case]:
    """Of two classes."""

    def made(n: int) -> Case:
        X, y = numbers(400, 0)
        rows = gaps(numbers(n, 1, 1.5)[0], 1)
        return Case(model.fit(X[y != "y"], y[y != "y"]), rows, rows)

    return made


def of_positive(model: Any) -> Callable[[int], Case]:
    def made(n: int) -> Case:
        (X, y), rows = numbers(400, 0), gaps(numbers(n, 1, 1.5)[0].abs() + 0.01, 1)
        return Case(model.fit(X.abs() + 0.01, y), rows, rows)

    return made


def of_counts(model: Any, missing: bool = False) -> Callable[[int], Case]:
    def made(n: int) -> Case:
        (X, y), rows = numbers(400, 0), numbers(n, 1, 1.5)[0].abs().round()
        rows = gaps(rows, 1) if missing else rows
        return Case(model.fit(X.abs().round(), y), rows, rows)

    return made


def of_shop(model: Any, *columns: str) -> Callable[[int], Case]:
    def made(n: int) -> Case:
        (X, y), (rows, _) = shop(400, 0), shop(n, 5, odd=0.1)
        names = list(columns) or list(X)
        return Case(model.fit(X[names], y), rows[names], rows[names])

    return made


def of_texts(model: Any) -> Callable[[int], Case]:
    def made(n: int) -> Case:
        rows, _ = texts(n, 1)
        rows[:5] = [None] * 5
        return Case(model.fit(*texts(400, 0)), rows, pd.DataFrame({"text": rows}))

    return made


def many_valued(n: int) -> Case:
    """A column of 150 towns, which has a model of its own, and a text beside it."""
    random = np.random.default_rng(0)
    towns = np.array([f"Town {i:03d}" for i in range(150)])
    lean = random.normal(size=150) * 2

    def table(size: int, names: np.ndarray) -> tuple[pd.DataFrame, np.ndarray]:
        place = random.integers(0, 150, size)
        y = random.random(size) < 1 / (1 + np.exp(-lean[place]))
        said = [" ".join(random.choice(WORDS, 6)) + f" {i}" for i in range(size)]
        frame = pd.DataFrame({"town": names[place], "n": random.normal(size=size) + y})
        return gaps(frame.assign(text=said), size), np.where(y, "yes", "no")

    model = posterior.Classifier(models=["naive-bayes", "logistic"]).fit(*table(1500, towns))
    rows, _ = table(n, np.where(np.arange(150) % 10, towns, "never seen"))
    return Case(model, rows, rows)


NB, GDA = posterior.NaiveBayes, posterior.GaussianDiscriminantAnalysis
KNN = posterior.KNeighborsClassifier
PLAIN = ("age", "city", "member", "count")
CASES: dict[str, Callable[[int], Case]] = {
    "GaussianNB": of_numbers(posterior.GaussianNB()),
    "naive Bayes, predictive": of_numbers(NB(predictive=True)),
    "naive Bayes, Student's t": of_numbers(NB("student")),
    "naive Bayes, kernels": of_numbers(NB("kernel")),
    "naive Bayes, bins": of_numbers(NB("binned")),
    "naive Bayes, exponential": of_positive(NB("exponential")),
    "naive Bayes, gamma": of_positive(NB("gamma")),
    "naive Bayes, log-normal": of_positive(NB("lognormal")),
    "naive Bayes, Lomax": of_positive(NB("exponential", predictive=True)),
    "naive Bayes, Poisson": of_counts(NB("poisson"), missing=True),
    "naive Bayes, negative binomial": of_counts(NB("poisson", predictive=True), missing=True),
    "naive Bayes, Bernoulli": of_counts(posterior.BernoulliNB(binarize=5.0)),
    "naive Bayes, categories": of_counts(NB("categorical"), missing=True),
    "MultinomialNB": of_counts(posterior.MultinomialNB()),
    "ComplementNB": of_counts(posterior.ComplementNB()),
    "Dirichlet-multinomial": of_counts(NB("multinomial", predictive=True)),
    "CategoricalNB": of_counts(posterior.CategoricalNB()),
    "naive Bayes of a mixed table": of_shop(NB(), *PLAIN),
    "discriminant, own": of_numbers(GDA("own")),
    "discriminant, shared": of_numbers(GDA("shared")),
    "discriminant, diagonal": of_numbers(GDA("diagonal")),
    "discriminant, spherical": of_numbers(GDA("spherical")),
    "discriminant, predictive": of_numbers(GDA("own", predictive=True)),
    "LinearDiscriminantAnalysis": of_numbers(posterior.LinearDiscriminantAnalysis()),
    "discriminant, a column that is a sum": singular,
    "logistic regression": of_numbers(posterior.LogisticRegression()),
    "logistic regression of a mixed table": of_shop(posterior.LogisticRegression(), *PLAIN),
    "additive model": of_shop(posterior.Additive(), *PLAIN),
    "additive model, three classes": of_numbers(posterior.Additive()),
    "additive model, four columns a term": of_numbers(posterior.Additive(depth=4)),
    "AODE": of_shop(posterior.AODE(), *PLAIN),
    "AODE, Laplace's rule": of_numbers(posterior.AODE(smoothing=posterior.Laplace(1))),
    "TAN": of_shop(posterior.TAN(), *PLAIN),
    "KDB": of_numbers(posterior.KDB(3)),
    "JointBayes": of_shop(posterior.JointBayes(), "city", "member"),
    "mixture": of_numbers(posterior.MixtureClassifier(NB(), n_components=2, random_state=0)),
    "neighbors": of_neighbors(KNN(5, smoothing=1)),
    "neighbors, whitened": of_neighbors(KNN("auto", whiten=0.1, weights="gaussian", smoothing=1)),
    "neighbors, missing cells": of_neighbors(KNN(7, whiten=1, weights="distance"), missing=True),
    "neighbors, equally far": of_equals(KNN(7, whiten=0.1, smoothing=1)),
    "neighbors, equally far by units": of_equals(KNN(7, whiten=1, smoothing=1)),
    "neighbors of a mixed table": of_shop(KNN("auto", metric="mixed", weights="auto"), *PLAIN),
    "temperature": of_numbers(posterior.GaussianNB(calibrated="temperature")),
    "isotonic": of_numbers(posterior.GaussianNB(calibrated="isotonic")),
    "vector": of_numbers(posterior.GaussianNB(calibrated="vector")),
    "matrix": of_numbers(posterior.GaussianNB(calibrated="matrix")),
    "beta": of_two(posterior.GaussianNB(calibrated="beta")),
    "quadratic": of_two(posterior.GaussianNB(calibrated="quadratic")),
    "words, unit log counts": of_texts(posterior.TextClassifier("multinomial")),
    "words, Bernoulli": of_texts(posterior.TextClassifier("bernoulli")),
    "words and pairs, counts": of_texts(
        posterior.TextClassifier("contrast", weighting="counts", ngram_range=(1, 2))
    ),
    "letters": of_texts(
        posterior.TextClassifier("logistic", analyzer="char_wb", ngram_range=(1, 4))
    ),
    "pool": of_numbers(
        posterior.Pool([posterior.GaussianNB(), posterior.LogisticRegression(), posterior.KDB(1)])
    ),
    "Classifier": of_shop(posterior.Classifier()),
    "Classifier of towns and texts": many_valued,
}


def cells(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as JavaScript is given them: null where missing, dates as ISO texts."""
    return [
        dict(zip(map(str, frame.columns), map(_cell, row), strict=True))
        for row in frame.itertuples(index=False)
    ]


def _cell(value: Any) -> Any:
    if value is None or value is pd.NaT or value != value:
        return None
    if isinstance(value, pd.Timestamp):
        return value.isoformat()
    return value.item() if isinstance(value, np.generic) else value


def answered(model: Any, frame: pd.DataFrame, told: int = 0) -> Answered:
    """What Node says of rows."""
    text = to_javascript(model)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "model.mjs").write_text(text, "utf-8")
        (place / "answer.mjs").write_text(NODE, "utf-8")
        (place / "rows.json").write_text(json.dumps(cells(frame)), "utf-8")
        subprocess.run(["node", "answer.mjs", str(told)], cwd=place, check=True)
        scores = np.fromfile(place / "scores.bin").reshape(len(frame), -1)
        facts = json.loads((place / "told.json").read_text("utf-8"))
    return Answered(scores, facts["terms"], facts["seconds"], len(text))


def largest_difference(ours: Any, theirs: Any) -> float:
    """Of log odds against the likeliest class, relative where they are larger than one."""
    a, b = (scores - scores.max(axis=1, keepdims=True) for scores in (ours, theirs))
    with np.errstate(invalid="ignore"):  # what is impossible in both
        apart = np.where(a == b, 0.0, np.abs(a - b) / np.maximum(1.0, np.abs(b)))
    return float(apart.max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--only", help="models whose names have this")
    options = parser.parse_args()
    lines = [
        f"{options.rows:,} random rows a model, with gaps and categories never seen, in Node.",
        "The difference is the largest of log odds, relative where these are larger than one;",
        "rows a second are by processor time, of one at a time.",
        "",
        "| model | rows | largest difference | module, kB | rows a second |",
        "|---|---|---|---|---|",
    ]
    print("\n".join(lines))
    for name, case in CASES.items():
        if options.only and options.only not in name:
            continue
        made = case(options.rows)
        found = answered(made.model, made.cells)
        apart = largest_difference(found.scores, made.model.predict_log_proba(made.rows))
        speed = options.rows / found.seconds
        told = f"{options.rows:,} | {apart:.1e} | {found.size / 1000:.0f} | {speed:,.0f}"
        lines.append(f"| {name} | {told} |")
        print(lines[-1], flush=True)
    if not options.only:
        PAGE.write_text("\n".join([*lines, ""]), "utf-8")


if __name__ == "__main__":
    main()
