"""Pools of models as SQL: s_c = b_c + Σ_m w_m log p_m(c | x), worked out from each model alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.base import BaseEstimator

pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")

import sqlglot
import test_sql
from test_sql import DIALECTS, ENGINES, fish, on_duckdb, on_each, orders

import posterior
from posterior import to_sql
from posterior.estimators.table_classifier import TableClassifier
from posterior.evaluation.calibration import Temperature
from posterior.preprocessing.infer_roles import infer
from posterior.sql.pooled import pooled
from posterior.sql.sql_scores import scores

pytestmark = pytest.mark.once
dialect = test_sql.dialect  # a fixture
LOWEST = -700.0


@dataclass
class HandMade(BaseEstimator):
    """Fitted models, weights and intercepts that nobody has learned."""

    members: list[Any]
    weights: list[float]
    intercept: list[float]
    lowest: list[float] | None = None

    def fit(self, X: Any, y: Any) -> HandMade:
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def classes_(self) -> np.ndarray:
        return self.members[0].classes_

    @property
    def feature_names_in_(self) -> np.ndarray:
        return self.members[0].feature_names_in_

    @property
    def n_features_in_(self) -> int:
        return len(self.feature_names_in_)

    def predict_proba(self, X: Any) -> np.ndarray:
        total = np.array(self.intercept)
        lowest = self.lowest or [LOWEST] * len(self.members)
        for weight, least, member in zip(self.weights, lowest, self.members, strict=True):
            said = member.predict_log_proba(X)
            every = np.full((len(X), len(self.classes_)), -np.inf)
            every[:, np.searchsorted(self.classes_, member.classes_)] = said
            total = total + weight * np.maximum(every, least)
        return softmax(total, axis=1)

    def predict(self, X: Any) -> np.ndarray:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


@scores.register
def _(model: HandMade, columns):
    members = [scores(member, columns) for member in model.members]
    sheet, lowest = columns[0].sheet, model.lowest
    weights, intercept = model.weights, np.array(model.intercept)
    return pooled(sheet, weights, intercept, members, lowest=lowest, classes=model.classes_)


def numbers(names: list[str]) -> tuple[pd.DataFrame, np.ndarray]:
    X, y = test_sql.iris()
    return X.set_axis(names, axis=1), y


@on_each
def test_a_pool_of_numbers_is_the_sum_of_its_members_logs(dialect):
    X, y = numbers(["a", "known", "best_0", 'the "cell"'])
    X.iloc[::9, 1] = np.nan
    models = [
        posterior.GaussianNB(),
        posterior.LogisticRegression(),
        posterior.Additive(rounds=20),
        posterior.NaiveBayes(calibrated="temperature"),
        posterior.AODE(),
    ]
    members = [model.fit(X, y) for model in models]
    pool = HandMade(members, [0.5, 0.7, 0.3, 0.2, 0.1], [0.3, -0.2, 0.0])
    X.iloc[0, 0], X.iloc[1] = 1e200, np.nan  # impossible of all classes alike, and nothing known
    test_sql.check(pool, X, dialect)


@on_each
def test_words_cells_and_components_pool_too(dialect):
    X, y = orders()
    models = [
        posterior.NaiveBayes(),
        posterior.Additive(rounds=20),
        posterior.TAN(),
        posterior.JointBayes(alpha=0),
        posterior.MixtureClassifier(n_components=2, random_state=0),
    ]
    members = [model.fit(X, y) for model in models]
    lowest = [LOWEST] * 4 + [np.log(1e-6)]
    pool = HandMade(members, [0.2, 0.0, 0.3, 0.05, 0.4], [0.0, 0.1, 0.2], lowest)
    X = X.astype({"paid": "boolean"})
    X.loc[:3, "word"] = "new"
    X.loc[5] = None
    test_sql.check(pool, X, dialect)


@on_each
def test_evidence_of_a_pool_is_that_of_its_members_weighed(dialect):
    X, y = orders()
    models = [
        posterior.NaiveBayes(),
        posterior.KDB(),
        posterior.AODE(),
        posterior.Additive(rounds=9),
    ]
    members = [model.fit(X, y) for model in models]
    pool = HandMade(members, [0.4, 0.3, 0.2, 0.6], [0.0, 0.1, 0.2])
    answer = test_sql.check(pool, X, dialect, explain=True)
    expected: dict[str, Any] = {}
    for weight, member in zip(pool.weights, members, strict=True):
        evidence = member.evidence(X)
        for i, name in enumerate(map(str, evidence.feature_names)):
            expected[name] = expected.get(name, 0.0) + weight * evidence.terms[:, :, i]
    names = [f"evidence_{name}_{c}" for name in expected for c in pool.classes_]
    assert [c for c in answer if c.startswith("evidence_")] == names
    given = answer[names].to_numpy(float).reshape(len(X), -1, 3).swapaxes(1, 2)
    terms = np.stack(list(expected.values()), axis=2)
    np.testing.assert_allclose(given - given[:, :1], terms - terms[:, :1], rtol=0, atol=1e-9)


def test_a_member_without_terms_of_columns_is_a_term_of_its_own():
    X, y = orders()
    mixture = posterior.MixtureClassifier(n_components=2, random_state=0).fit(X, y)
    pool = HandMade([posterior.NaiveBayes().fit(X, y), mixture], [0.4, 0.3], [0.0, 0.0, 0.0])
    answer = on_duckdb(to_sql(pool, explain=True), X)
    given = answer[[f"evidence_model 2_{c}" for c in pool.classes_]].to_numpy()
    np.testing.assert_allclose(given, 0.3 * mixture.predict_log_proba(X), rtol=0, atol=1e-9)


@on_each
def test_models_of_a_file_pool_by_their_roles(dialect):
    frame = fish()
    roles = infer(frame, "species")
    members = [
        TableClassifier(posterior.NaiveBayes(), roles, calibrator=Temperature(1.7)),
        TableClassifier(posterior.LogisticRegression(), roles, reads="numbers"),
        TableClassifier(posterior.KDB(), roles),
    ]
    members = [member.fit(frame, "species") for member in members]
    pool = HandMade(members, [0.5, 0.4, 0.2], [0.1, -0.1])
    answer = test_sql.check(pool, frame.drop(columns="species"), dialect, explain=True)
    columns = ["weight", "river", "tagged", "caught"]
    assert list(answer)[7:] == [f"evidence_{c}_{k}" for c in columns for k in ("bass", "salmon")]


def test_text_beside_columns_pools_in_databases_that_cut_words():
    said = ["free entry, call now", "call me free now", "lunch at noon?", "see you at lunch"]
    texts = [f"{said[i % 4]}, it is number {i} by now" for i in range(36)]
    frame = pd.DataFrame({"text": texts, "n": np.arange(36.0) % 7, "y": [1, 1, 0, 0] * 9})
    roles = infer(frame, "y")
    words = TableClassifier(posterior.TextClassifier("multinomial"), roles, reads="documents")
    table = TableClassifier(posterior.NaiveBayes(), roles)
    members = [member.fit(frame, "y") for member in (words, table)]

    class Beside(HandMade):
        feature_names_in_ = np.array(["text", "n"], object)

    pool = Beside(members, [0.6, 0.3], [0.0, 0.2])
    answer = on_duckdb(to_sql(pool, keep="n"), frame)
    np.testing.assert_allclose(answer[["p_0", "p_1"]], pool.predict_proba(frame), atol=1e-9)
    with pytest.raises(TypeError, match="whose databases cut text"):
        to_sql(pool, "sqlite")
    twice = Beside([words, words], [0.6, 0.3], [0.0, 0.2])
    with pytest.raises(TypeError, match="one model of text at most"):
        to_sql(twice)


def test_a_member_may_know_fewer_classes():
    X, y = numbers(["a", "b", "c", "d"])
    few = posterior.GaussianNB().fit(X[:100], y[:100])
    members = [posterior.GaussianNB().fit(X, y), few]
    test_sql.check(HandMade(members, [0.9, 0.01], [0.0, 0.0, 0.0]), X, "duckdb")


@on_each
def test_a_row_that_one_member_cannot_answer_has_no_answer(dialect):
    X, y = numbers(["a", "b", "c", "d"])
    models = [posterior.GaussianNB(), posterior.LinearDiscriminantAnalysis()]
    pool = HandMade([model.fit(X, y) for model in models], [0.5, 0.5], [0.0, 0.0, 0.0])
    X.iloc[0, 0] = np.nan
    answer = ENGINES[dialect](to_sql(pool, dialect), X)
    assert answer.iloc[0, 4:].isna().all()
    expected = pool.predict_proba(X[1:])
    np.testing.assert_allclose(answer.iloc[1:, 5:].to_numpy(float), expected, atol=1e-9)


def test_clusters_and_isotonic_members_are_refused():
    X, y = numbers(["a", "b", "c", "d"])
    first = posterior.GaussianNB().fit(X, y)
    isotonic = posterior.GaussianNB(calibrated="isotonic").fit(X, y)
    clusters = posterior.KMeans(3, random_state=0).fit(X)
    for member, reason in ((isotonic, "isotonic"), (clusters, "clusters")):
        with pytest.raises(TypeError, match=reason):
            to_sql(HandMade([first, member], [0.5, 0.5], [0.0, 0.0, 0.0]))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_reads_a_pool_back(dialect):
    X, y = orders()
    members = [model.fit(X, y) for model in (posterior.AODE(), posterior.Additive(rounds=9))]
    pool = HandMade(members, [0.5, 0.5], [0.0, 0.0, 0.0])
    (tree,) = sqlglot.parse(to_sql(pool, dialect, explain=True), read=dialect)
    assert tree.named_selects[:4] == list(X)
