"""The pictures of the manual, drawn by our own plots each time it is built, into build/pictures."""

from __future__ import annotations

import json
import runpy
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris

from posterior import (
    GaussianDiscriminantAnalysis,
    GaussianMixture,
    GaussianNB,
    JointBayes,
    KMeans,
    KNeighborsClassifier,
    LogisticRegression,
    NaiveBayes,
    datasets,
    plots,
)
from posterior.evaluation import decision_boundary

DOCS = Path(__file__).resolve().parent
FOLDER = DOCS.parent / "build" / "pictures"


def main() -> None:
    """Draw all of them: some seconds."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for make in (*LECTURES, geyser, evidence, steps, parity):
        for name, chart in make().items():
            plots.save(chart, FOLDER / f"{name}.svg")
    curves = json.loads((DOCS / "results" / "learning_curves.json").read_text("utf-8"))
    script = runpy.run_path(str(DOCS.parent / "examples" / "learning_curves.py"))
    script["draw"](curves, str(FOLDER / "learning_curves.svg"))
    sys.path.insert(0, str(DOCS.parent))  # the benchmarks are no part of the package
    from benchmarks import drawing, report
    from benchmarks.quality import picture, scoring

    for name, chart in drawing.growth(report.load(report.RESULTS)).items():
        plots.save(chart, FOLDER / f"{name}.svg")
    plots.save(picture.draw(scoring.load()["tables"]), FOLDER / "quality.svg")


def fish() -> dict[str, Any]:
    X, y = datasets.fish(5_000)
    table = pd.DataFrame({"weight": X[:, 0], "species": np.where(y == 1, "trout", "salmon")})
    model = GaussianDiscriminantAnalysis("own").fit(table, "species")
    at = decision_boundary(model).at
    return {"fish": plots.densities(model, table, "species", boundaries=at)}


def curves() -> dict[str, Any]:
    model = GaussianNB.of([-2, 0, 3], [1, 2, 0.5], [1 / 3] * 3, classes=list("ABC"), names=["x"])
    return {"curves": model.plot()}


def sigmoid() -> dict[str, Any]:
    X, y = datasets.fish(5_000)
    model = LogisticRegression(C=np.inf).fit(X, y)
    b, w = float(model.intercept_[0]), float(model.coef_[0, 0])
    return {"sigmoid": plots.sigmoid(X[:, 0], y, b, w, name="weight", answer="trout")}


def trace() -> dict[str, Any]:
    X, y = datasets.fish(5_000)
    X = (X - X.mean()) / X.std()
    newton = LogisticRegression(C=np.inf, solver="newton-cholesky").fit(X, y)
    ascent = LogisticRegression(C=np.inf, solver="gradient-ascent", step=1e-3, max_iter=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 200 steps do not reach the top
        ascent.fit(X, y)
    return {"newton": plots.trace(newton.trace_), "ascent": plots.trace(ascent.trace_)}


def heights() -> dict[str, Any]:
    X = pd.DataFrame(datasets.heights(2_000)[0], columns=["height"])
    model = GaussianMixture(2, random_state=0, tol=1e-6, max_iter=500).fit(X)
    known = {"weights": [0.5, 0.5], "covariances": 49.0}
    bells = GaussianMixture(2, means_init=[[160], [175]], known=known)
    return {"heights": plots.components(model, X), "bells": bells.steps(X)[0].plot()}


def starts() -> dict[str, Any]:
    flowers = load_iris().data
    model = GaussianMixture(3, n_init=12, init_params="random", random_state=0).fit(flowers)
    return {"starts": plots.starts(model)}


def components() -> dict[str, Any]:
    X = pd.DataFrame(datasets.fish(2_000)[0], columns=["weight"])
    model = GaussianMixture(2, n_init=3, random_state=0, tol=1e-6, max_iter=500).fit(X)
    return {"components": plots.components(model, X), "climb": plots.trace(model)}


def geyser() -> dict[str, Any]:
    """Eruptions drawn by a law like Old Faithful's: its own are not part of the repository."""
    table = runpy.run_path(str(DOCS.parent / "examples" / "faithful.py"))["simulated"]()
    model = GaussianMixture(2, n_init=3, random_state=0).fit(table)
    return {"faithful": plots.components(model, table)}


def regions() -> dict[str, Any]:
    iris = load_iris()
    X, y = iris.data[:, 2:], iris.target
    charts = {}
    for kind in ("shared", "own"):
        model = GaussianDiscriminantAnalysis(kind).fit(X, y)
        charts[f"regions_{kind}"] = _regions(model, X, y, iris.target_names)
    return charts


def two_columns() -> dict[str, Any]:
    """A line between two kinds of iris."""
    iris = load_iris(as_frame=True)
    X = iris.data.iloc[:, 2:].set_axis(["petal length", "petal width"], axis=1)
    y = pd.Series(iris.target_names[iris.target], name="iris")
    line = LogisticRegression(C=np.inf).fit(X[50:], y[50:])
    return {"line": line.plot(X[50:], y[50:])}


def neighbors() -> dict[str, Any]:
    iris = load_iris()
    X, y = iris.data[:, 2:], iris.target
    chosen = KNeighborsClassifier("auto").fit(X, y)
    one = KNeighborsClassifier(1).fit(X, y)
    picture = _regions(one, X, y, iris.target_names)
    return {"error_by_k": plots.error_by_k(chosen), "regions_nearest": picture}


def evidence() -> dict[str, Any]:
    from palmerpenguins import load_penguins

    penguins = load_penguins()
    X, y = penguins.drop(columns=["species", "year"]), penguins["species"]
    return {"waterfall": plots.waterfall(NaiveBayes().fit(X, y).explain(X.iloc[[0]]))}


def steps() -> dict[str, Any]:
    """Algorithms on their way."""
    X, y = datasets.fish(500)
    X = pd.DataFrame((X - X.mean()) / X.std(), columns=["weight"])
    ascent = LogisticRegression(C=np.inf, solver="gradient-ascent", step=1e-2, max_iter=300, tol=0)
    petals = load_iris(as_frame=True).data.iloc[:, 2:]
    rows = petals.to_numpy()
    clusters = KMeans(3, init=rows[[57, 60, 98]], tol=0).steps(petals)
    mixture = GaussianMixture(2, means_init=rows[[50, 100]], tol=1e-6, max_iter=200)
    return {
        "hill": plots.hill(ascent, X, y),
        "kmeans_path": clusters[-1].plot(),
        "em_step": mixture.steps(petals)[4].plot(),
    }


def parity() -> dict[str, Any]:
    """The exclusive or, by a line and by the table of all combinations."""
    X = pd.DataFrame({"left": [0, 0, 1, 1] * 25, "right": [0, 1] * 50})
    y = pd.Series(np.where(X.left != X.right, "odd", "even"), name="parity")
    models = {
        "LogisticRegression": LogisticRegression(C=np.inf).fit(X, y),
        "JointBayes": JointBayes().fit(X, y),
    }
    return {"exclusive_or": plots.combinations(models, X, y, target="parity")}


def _regions(model: Any, X: np.ndarray, y: np.ndarray, names: Any) -> Any:
    sides = [np.linspace(a.min() - 0.3, a.max() + 0.3, 80) for a in X.T]
    grid = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
    share = model.predict_proba(grid).reshape(80, 80, -1)
    columns, points = ("petal length", "petal width"), (X[:, 0], X[:, 1], y)
    best, sure = share.argmax(axis=2), share.max(axis=2)
    return plots.regions(*sides, best, sure, list(names), columns, points, "iris")


LECTURES = (
    curves,
    fish,
    sigmoid,
    trace,
    heights,
    starts,
    components,
    two_columns,
    regions,
    neighbors,
)


if __name__ == "__main__":
    main()
