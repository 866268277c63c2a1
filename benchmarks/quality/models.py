"""The models that are scored, with their default settings; each imports its own package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import ComplementNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.quality.tables import BY_LETTERS, TEXTS

LETTERS = {"analyzer": "char_wb", "ngram_range": (1, 4)}


def make(model: str, table: str) -> Any:
    """A new classifier of frames, for a table or for documents."""
    if table not in TEXTS:
        return TABLE_MODELS[model]()
    return TEXT_MODELS[model](LETTERS if table in BY_LETTERS else {})


# ---- ours ----------------------------------------------------------------------------------------


def classifier(terms: dict[str, Any] | None = None) -> Any:
    """It finds out by itself whether texts are words or letters."""
    from posterior import Classifier

    return Classifier()


def additive() -> Any:
    from posterior import Additive

    return Additive()


class Candidate:
    """One of the models that `posterior.selection` compares, the first that a table can have."""

    def __init__(self, *keys: str) -> None:
        self.keys = keys

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> Candidate:
        from posterior.estimators.pool.candidates import candidates
        from posterior.preprocessing.infer_roles import infer

        frame = X.assign(**{"class to predict": y})
        roles = infer(frame, "class to predict")
        listed = {c.key: c.classifier for c in candidates(roles, len(y), len(np.unique(y)))}
        self.model = next(listed[key] for key in self.keys if key in listed).fit(X, y)
        self.classes_ = self.model.classes_
        return self

    def predict_proba(self, X: pd.DataFrame) -> Any:
        return self.model.predict_proba(X)


class Documents:
    """TextClassifier reads the column of text."""

    def __init__(self, terms: dict[str, Any]) -> None:
        self.terms = terms

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> Documents:
        from posterior import TextClassifier

        self.model = TextClassifier(**self.terms).fit(X["text"], y)
        self.classes_ = self.model.classes_
        return self

    def predict_proba(self, X: pd.DataFrame) -> Any:
        return self.model.predict_proba(X["text"])


# ---- the peers -----------------------------------------------------------------------------------


def words(X: pd.DataFrame) -> list[str]:
    """The columns of categories."""
    return list(X.select_dtypes(exclude="number").columns)


def encoded(model: Any) -> Any:
    """Numbers filled in and standardized, one column for each category."""
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False, max_categories=100)
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (one_hot, make_column_selector(dtype_exclude="number")),
    )
    return make_pipeline(columns, model)


class Typed:
    """Boosting of columns that are marked as categories, the 250 most frequent of each.

    scikit-learn takes no more than 255; LightGBM takes no column names with commas or colons.
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> Typed:
        self.kept = {c: X[c].value_counts().index[:250] for c in words(X)}
        self.model.fit(self._typed(X), y)
        self.classes_ = self.model.classes_
        return self

    def predict_proba(self, X: pd.DataFrame) -> Any:
        return self.model.predict_proba(self._typed(X))

    def _typed(self, X: pd.DataFrame) -> pd.DataFrame:
        typed = X.assign(**{c: pd.Categorical(X[c], kept) for c, kept in self.kept.items()})
        return typed.set_axis([f"x{j}" for j in range(X.shape[1])], axis=1)


def light() -> Any:
    from lightgbm import LGBMClassifier

    return Typed(LGBMClassifier(verbose=-1))


class Cat:
    """CatBoost, told which columns are categories; it wants text in their missing cells."""

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> Cat:
        from catboost import CatBoostClassifier

        # one thread, as the others have: its second one waits busily
        self.model = CatBoostClassifier(verbose=0, allow_writing_files=False, thread_count=1)
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


def tf_idf(model: Any, terms: dict[str, Any]) -> Any:
    return make_pipeline(make_column_transformer((TfidfVectorizer(**terms), "text")), model)


TABLE_MODELS: dict[str, Callable[[], Any]] = {
    "Classifier": classifier,
    "Additive": additive,
    "NaiveBayes": lambda: Candidate("naive-bayes-auto", "naive-bayes"),
    "discriminant": lambda: Candidate("discriminant"),
    "our logistic": lambda: Candidate("logistic"),
    "logistic": lambda: encoded(LogisticRegression(max_iter=5_000)),
    "forest": lambda: encoded(RandomForestClassifier(300, random_state=0)),
    "boosting": lambda: Typed(  # of many rows it draws some to know when to stop
        HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
    ),
    "GaussianNB": lambda: encoded(GaussianNB()),
    "LightGBM": light,
    "CatBoost": Cat,
    "EBM": explainable,
}
TEXT_MODELS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "Classifier": classifier,
    "TextClassifier": Documents,
    "logistic": lambda terms: tf_idf(LogisticRegression(max_iter=5_000), terms),
    "MultinomialNB": lambda terms: tf_idf(MultinomialNB(), terms),
    "ComplementNB": lambda terms: tf_idf(CalibratedClassifierCV(ComplementNB()), terms),
}
MEMBERS = ("Additive", "NaiveBayes", "discriminant", "our logistic", "TextClassifier")
SCIKIT_LEARN = ("logistic", "forest", "boosting", "GaussianNB")
TEXT_PEERS = ("logistic", "MultinomialNB", "ComplementNB")
ELSEWHERE = {"LightGBM": "lightgbm", "CatBoost": "catboost", "EBM": "interpret-core"}  # packages
