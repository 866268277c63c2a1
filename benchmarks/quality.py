"""How well probabilities predict: log loss on rows held out, beside the peers as they come.

    python -m benchmarks.quality                        # all tables and models: an hour
    python -m benchmarks.quality car glass              # some tables
    python -m benchmarks.quality --models Additive car  # one model

Five stratified folds, shuffled by seed 0. Nothing is chosen on rows that are scored: what a model
chooses (rounds, penalties) it chooses in its own rows. scikit-learn's logistic regression, forest
and naive Bayes read a column for each category, its boosting and CatBoost categories as they are.
CatBoost and interpret's EBM may live in a Python of their own: this file needs nothing of ours to
run their part, PYTHON -m benchmarks.quality --models CatBoost,EBM.

The loss of every row goes to build/quality, and the table to docs/results/quality.md, which also
counts on how many tables Additive is better than the best of scikit-learn, or within one standard
error of the difference. The sets are looked for in POSTERIOR_DATA, or in ../shared/data beside the
repository.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

HERE = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("POSTERIOR_DATA", HERE.parent / "shared" / "data"))
LOSSES = HERE / "build" / "quality"
PAGE = HERE / "docs" / "results" / "quality.md"
FLOOR = 1e-15  # of a probability, as in scikit-learn's log loss: forests are certain and wrong
TABLES = {
    "adult": ("adult-train.csv.gz", "income"),
    "banknote": ("banknote-authentication.csv", "class"),
    "car": ("car.csv", "class"),
    "credit-g": ("credit-g.csv", "class"),
    "digits": ("digits-8x8.csv.gz", "digit"),
    "glass": ("glass.csv", "type"),
    "heart": ("cs109/heart-train.csv", "Label"),
    "house-votes": ("house-votes-84.csv", "class"),
    "ionosphere": ("ionosphere.csv", "class"),
    "iris": ("iris.csv", "Species"),
    "letter": ("letter.csv.gz", "letter"),
    "mushroom": ("mushroom.csv", "class"),
    "netflix": ("cs109/netflix-train.csv", "Label"),
    "penguins": ("penguins.csv", "species"),
    "pima": ("pima-diabetes.csv", "diabetes"),
    "sonar": ("sonar.csv", "class"),
    "tic-tac-toe": ("tic-tac-toe.csv", "class"),
    "titanic": ("titanic.csv", "survived"),
    "wdbc": ("wdbc.csv", "diagnosis"),
    "wine": ("wine.csv", "class"),
}


def read(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns and classes; a question mark is a missing cell, and row numbers are left out."""
    file, target = TABLES[name]
    table = pd.read_csv(FOLDER / file, na_values=["?"])
    table = table.drop(columns=[c for c in ("rownames", "rowid") if c in table])
    return table.drop(columns=target), table[target].to_numpy().astype(str)


def encoded(model: Any) -> Any:
    """Numbers filled in and standardized, one column for each category."""
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False, max_categories=100)
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (one_hot, make_column_selector(dtype_exclude="number")),
    )
    return make_pipeline(columns, model)


def words(X: pd.DataFrame) -> list[str]:
    """The columns of categories."""
    return list(X.select_dtypes(exclude="number").columns)


class Boosting:
    """scikit-learn's histogram boosting, of at most 255 categories a column."""

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> Boosting:
        self.kept = {c: X[c].value_counts().index[:250] for c in words(X)}
        self.model = HistGradientBoostingClassifier(categorical_features="from_dtype")
        self.model.fit(self._typed(X), y)
        self.classes_ = self.model.classes_
        return self

    def predict_proba(self, X: pd.DataFrame) -> Any:
        return self.model.predict_proba(self._typed(X))

    def _typed(self, X: pd.DataFrame) -> pd.DataFrame:
        return X.assign(**{c: pd.Categorical(X[c], kept) for c, kept in self.kept.items()})


class Cat:
    """CatBoost as it comes, told which columns are categories."""

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> Cat:
        import catboost

        self.model = catboost.CatBoostClassifier(verbose=0, allow_writing_files=False)
        self.model.fit(self._filled(X), y, cat_features=words(X))
        self.classes_ = self.model.classes_
        return self

    def predict_proba(self, X: pd.DataFrame) -> Any:
        return self.model.predict_proba(self._filled(X))

    @staticmethod
    def _filled(X: pd.DataFrame) -> pd.DataFrame:
        names = words(X)
        return X.assign(**{c: X[c].astype(object).fillna("missing").astype(str) for c in names})


def explainable() -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier()


def additive() -> Any:
    from posterior import Additive

    return Additive()


MODELS: dict[str, Callable[[], Any]] = {
    "Additive": additive,
    "logistic": lambda: encoded(LogisticRegression(max_iter=5_000)),
    "forest": lambda: encoded(RandomForestClassifier(300, random_state=0)),
    "boosting": Boosting,
    "GaussianNB": lambda: encoded(GaussianNB()),
    "CatBoost": Cat,
    "EBM": explainable,
}
PEERS = ("logistic", "forest", "boosting", "GaussianNB")


def losses(name: str, model: str) -> tuple[np.ndarray, float]:
    """-log p of every row, by a model that did not see it, and the seconds of a fit."""
    X, y = read(name)
    found, seconds = np.empty(len(y)), 0.0
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        began = time.perf_counter()
        fitted = MODELS[model]().fit(X.iloc[train], y[train])
        seconds += time.perf_counter() - began
        proba = np.asarray(fitted.predict_proba(X.iloc[test]))
        place = np.searchsorted(np.asarray(fitted.classes_).astype(str), y[test])
        found[test] = -np.log(np.maximum(proba[np.arange(len(test)), place], FLOOR))
    return found, seconds / 5


def known(name: str, model: str) -> np.ndarray | None:
    path = LOSSES / f"{name}-{model}.npy"
    return np.load(path) if path.exists() else None


def page() -> str:
    """The table of what is known, the best of a row in bold, and the count."""
    lines = ["| table | rows | " + " | ".join(MODELS) + " |", "|---" * (len(MODELS) + 2) + "|"]
    better = level = near = count = against = beside = 0
    for name in TABLES:
        row = {model: loss for model in MODELS if (loss := known(name, model)) is not None}
        if "Additive" not in row:
            continue
        means = {model: float(loss.mean()) for model, loss in row.items()}
        best = min(means.values())
        shown = {m: f"**{v:.4f}**" if v == best else f"{v:.4f}" for m, v in means.items()}
        cells = [shown.get(model, "") for model in MODELS]
        lines.append(f"| {name} | {len(row['Additive']):,} | " + " | ".join(cells) + " |")
        if all(peer in row for peer in PEERS):
            rival = min(PEERS, key=means.__getitem__)
            apart = row["Additive"] - row[rival]
            count += 1
            better += apart.mean() < 0
            level += 0 <= apart.mean() <= apart.std() / np.sqrt(len(apart))
            near += 0 <= apart.mean() <= row["Additive"].std() / np.sqrt(len(apart))
        if "CatBoost" in row:
            beside += 1
            against += means["Additive"] < means["CatBoost"]
    lines.append("")
    lines.append(
        f"Of {count} tables Additive is better than the best of scikit-learn's four on {better}, "
        f"and within one standard error of the difference on {level} others (of its own loss: "
        f"{near}); it is below CatBoost on {against} of {beside}."
    )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--models", default="Additive," + ",".join(PEERS), help=", ".join(MODELS))
    options = parser.parse_args()
    LOSSES.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    for name in options.tables or TABLES:
        for model in options.models.split(","):
            found, seconds = losses(name, model)
            np.save(LOSSES / f"{name}-{model}.npy", found)
            print(f"{name:<12}{model:<12}{found.mean():.4f}  {seconds:6.2f} s a fit", flush=True)
    PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
