"""Pools of models as SQL: s_c = b_c + Σ_m w_m z_m, and the evidence of their columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.ensemble import RandomForestClassifier

pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")

import sqlglot
import test_sql
from test_sql import DIALECTS, ENGINES, fish, on_duckdb, on_each, orders

import posterior
from posterior import Classifier, Pool, to_sql
from posterior.data.table_columns import Columns
from posterior.discriminative.pooling import PoolWeights
from posterior.estimators.pool.fitted_pool import FittedPool
from posterior.estimators.table_classifier import TableClassifier
from posterior.preprocessing.infer_roles import infer

pytestmark = pytest.mark.once
dialect = test_sql.dialect  # a fixture
AGREES = 1e-9  # what a database's exp and ln, and sums in another order, may differ by


def by_hand(
    members: Sequence[Any],
    weights: list[float],
    intercept: list[float],
    classes: Any = None,
) -> Pool:
    """A pool of fitted members whose weights and intercepts nobody has learned."""
    columns = tuple(map(str, members[0].feature_names_in_))
    names = tuple(f"model {m + 1}" for m in range(len(members)))
    pool = Pool([(name, member) for name, member in zip(names, members, strict=True)])
    pool.fitted_ = FittedPool(
        Columns("Pool", len(columns), columns),
        members[0].classes_ if classes is None else classes,
        names,
        tuple(members),
        PoolWeights(np.array(weights), np.array(intercept)),
    )
    return pool


def check(pool: Pool, X: pd.DataFrame, dialect: str, **options: Any) -> pd.DataFrame:
    """The answer, which must be that of the pool, and its evidence, if asked."""
    answer = test_sql.check(pool, X, dialect, **options)
    if options.get("explain"):
        check_evidence(pool, X, answer)
    return answer


def check_evidence(pool: Pool, X: Any, answer: pd.DataFrame) -> None:
    """Differences of classes are those of Python's evidence; terms that it leaves out are zero."""
    evidence, left = pool.evidence(X), [c for c in answer if c.startswith("evidence_")]
    for i, name in enumerate(evidence.feature_names):
        own = [f"evidence_{name}_{c}" for c in pool.classes_]
        given, term = answer[own].to_numpy(float), evidence.terms[:, :, i]
        bound = AGREES * max(1.0, np.abs(term).max())
        np.testing.assert_allclose(given - given[:, :1], term - term[:, :1], rtol=0, atol=bound)
        left = [name for name in left if name not in own]
    assert np.abs(answer[left].to_numpy(float)).max(initial=0.0) < AGREES
    assert {name.removeprefix("evidence_").rsplit("_", 1)[0] for name in left} <= {*pool.members_}


def numbers(names: list[str]) -> tuple[pd.DataFrame, np.ndarray]:
    X, y = test_sql.iris()
    return X.set_axis(names, axis=1), y


@on_each
def test_a_pool_of_numbers_is_the_sum_of_what_its_members_say(dialect):
    X, y = numbers(["a", "known", "best_0", 'the "cell"'])
    X.iloc[::9, 1] = np.nan
    models = [
        posterior.GaussianNB(),
        posterior.LogisticRegression(),
        posterior.Additive(rounds=20),
        posterior.NaiveBayes(),
        posterior.AODE(),
    ]
    members = [model.fit(X, y) for model in models]
    weights, intercept = [0.5, 0.7, 0.3, 0.2, 0.1], [0.3, -0.2, 0.0]
    X.iloc[0, 0], X.iloc[1] = 1e200, np.nan  # impossible of all classes alike, and nothing known
    answer = check(by_hand(members, weights, intercept), X, dialect)
    logs = np.stack([member.predict_log_proba(X) for member in members])
    said = np.maximum(logs - logs.max(axis=2, keepdims=True), -np.log(1e6))
    expected = softmax(intercept + np.tensordot(weights, said, 1), axis=1)
    given = answer[[f"p_{c}" for c in members[0].classes_]].to_numpy(float)
    np.testing.assert_allclose(given, expected, rtol=0, atol=AGREES)


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
    pool = by_hand(members, [0.2, 0.0, 0.3, 0.05, 0.4], [0.0, 0.1, 0.2])
    X = X.astype({"paid": "boolean"})
    X.loc[:3, "word"] = "new"
    X.loc[5] = None
    check(pool, X, dialect)


@on_each
def test_evidence_of_a_pool_is_that_of_its_members_weighed(dialect):
    X, y = orders()
    models = [
        posterior.NaiveBayes(calibrated="temperature"),
        posterior.KDB(),
        posterior.AODE(),
        posterior.Additive(rounds=9),
        posterior.LogisticRegression(),
    ]
    members = [model.fit(X, y) for model in models]
    pool = by_hand(members, [0.4, 0.3, 0.2, 0.6, 0.5], [0.0, 0.1, 0.2])
    X = X.astype({"paid": "boolean"})
    X.loc[:3, "word"] = "new"
    X.loc[4:7, "size of 'it'"] = [np.nan, 30.0, -30.0, 0.05]  # far out, where terms are clipped
    X.loc[9:12, "paid"] = None
    assert "model 1" in pool.evidence(X).feature_names
    check(pool, X, dialect, explain=True)


def test_evidence_adds_up_to_what_the_pool_hears_where_it_is_cut_off():
    X, y = numbers(["a", "b", "c", "d"])
    member = posterior.GaussianNB().fit(X, y)
    pool = by_hand([member], [0.5], [0.0, 0.0, 0.0])
    answer = check(pool, X, "duckdb", explain=True)
    logs = member.predict_log_proba(X)
    heard = np.maximum(logs - logs.max(axis=1, keepdims=True), -np.log(1e6))
    assert (heard == -np.log(1e6)).any()
    own = [[f"evidence_{name}_{c}" for name in [*X, "model 1"]] for c in pool.classes_]
    total = np.stack([answer[each].sum(axis=1) for each in own], axis=1)
    total += 0.5 * np.log(member.class_prior_)
    likeliest = logs.argmax(axis=1)[:, None]
    given = total - np.take_along_axis(total, likeliest, axis=1)
    np.testing.assert_allclose(given, 0.5 * heard, rtol=0, atol=AGREES)
    assert not answer[[f"evidence_model 1_{c}" for c in pool.classes_]].to_numpy().any()


def test_a_member_without_terms_of_columns_is_a_term_of_its_own():
    X, y = orders()
    mixture = posterior.MixtureClassifier(n_components=2, random_state=0).fit(X, y)
    pool = by_hand([posterior.NaiveBayes().fit(X, y), mixture], [0.4, 0.3], [0.0, 0.0, 0.0])
    answer = on_duckdb(to_sql(pool, explain=True), X)
    given = answer[[f"evidence_model 2_{c}" for c in pool.classes_]].to_numpy()
    logs = mixture.predict_log_proba(X)
    expected = 0.3 * np.maximum(logs - logs.max(axis=1, keepdims=True), -np.log(1e6))
    np.testing.assert_allclose(given, expected, rtol=0, atol=AGREES)


@on_each
def test_a_pool_that_was_fitted_answers_in_the_database(dialect):
    X, y = orders()
    members = [posterior.NaiveBayes(), posterior.AODE(), posterior.Additive(rounds=9)]
    pool = Pool(members).fit(X, y)
    X = X.astype({"paid": "boolean"})
    X.loc[:3, "word"] = "new"
    X.loc[8] = None
    check(pool, X, dialect, explain=True)


def test_columns_of_an_array_are_named_by_the_query():
    X, y = test_sql.iris()
    frame = X.set_axis(["a", "b", "c", "d"], axis=1)
    pool = Pool([posterior.GaussianNB(), posterior.LogisticRegression()]).fit(X.to_numpy(), y)
    classifier = Classifier(models=["naive-bayes", "discriminant", "kdb"]).fit(X.to_numpy(), y)
    for model, called in ((pool, list("abcd")), (classifier, ["x0", "x1", "x2", "x3"])):
        with pytest.raises(ValueError, match=r"Pass columns="):
            to_sql(model)
        answer = on_duckdb(to_sql(model, columns=list("abcd"), explain=True), frame)
        given = answer[[f"p_{c}" for c in model.classes_]]
        np.testing.assert_allclose(given, model.predict_proba(X.to_numpy()), rtol=0, atol=AGREES)
        assert [f"evidence_{name}_setosa" in answer for name in called] == [True] * 4


def asked() -> pd.DataFrame:
    """Fish with cells that are missing, never seen, and far out."""
    X = fish().drop(columns="species").astype({"tagged": "boolean"})
    X.loc[:3, "river"] = "never seen"
    X.loc[4:9, "weight"] = [np.nan, 900.0, -900.0, 0.0, np.nan, 2e3]
    X.loc[10:12, "river"], X.loc[13:15, "tagged"], X.loc[16:18, "caught"] = None, None, None
    return X


@cache
def of_fish(*keys: str) -> Classifier:
    return Classifier(models=keys).fit(fish(), "species")


@on_each
def test_a_classifier_of_a_file_answers_in_the_database(dialect):
    model = of_fish("naive-bayes", "discriminant", "logistic", "kdb")
    check(model, asked(), dialect, explain=True)


@on_each
def test_every_member_of_a_classifier_can_be_pooled(dialect):
    keys = ["naive-bayes", "naive-bayes-auto", "discriminant", "logistic", "aode", "kdb"]
    keys += ["additive", "additive-convex"]
    members = [of_fish(key).fitted_.members[0] for key in keys]
    pool = by_hand(members, [0.2] * len(keys), [0.1, -0.1])
    check(pool, asked(), dialect, explain=True)


def mails(n: int = 60) -> pd.DataFrame:
    random = np.random.default_rng(0)
    words = ["free call now win entry prize".split(), "lunch noon see you at home".split()]
    said = [
        random.choice(words[i % 2], 5).tolist() + random.choice(words[0], 3).tolist()
        for i in range(n)
    ]
    texts = [" ".join(each).capitalize() + "!" for each in said]
    size = random.normal(size=n) + np.arange(n) % 2
    return pd.DataFrame({"text": texts, "size": size, "y": np.arange(n) % 2})


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"], indirect=True)
def test_several_models_of_text_pool_in_databases_that_cut_words(dialect):
    frame = mails()[["text", "y"]]
    keys = ["text-multinomial", "text-bernoulli", "text-logistic"]
    members = [Classifier(models=[key]).fit(frame, "y").fitted_.members[0] for key in keys]
    pool = Classifier(models=keys[:1]).fit(frame, "y")
    pool.fitted_ = replace(
        pool.fitted_,
        names=tuple(keys),
        members=tuple(members),
        pool=PoolWeights(np.array([0.4, 0.3, 0.2]), np.array([0.0, 0.2])),
    )
    frame["id"] = range(len(frame))
    frame.loc[3, "text"] = None
    answer = ENGINES[dialect](to_sql(pool, dialect, keep=["id", "text"], explain=True), frame)
    assert answer["id"].tolist() == frame["id"].tolist()
    np.testing.assert_allclose(answer[["p_0", "p_1"]], pool.predict_proba(frame), atol=AGREES)
    evidence = np.diff(answer[["evidence_text_0", "evidence_text_1"]])[:, 0]
    terms = pool.evidence(frame).terms.sum(axis=2)
    np.testing.assert_allclose(evidence, np.diff(terms)[:, 0], rtol=0, atol=AGREES)
    with pytest.raises(TypeError, match="whose databases cut text"):
        to_sql(pool, "sqlite")


def test_a_model_of_a_file_needs_no_text_that_it_does_not_read():
    frame = mails()
    model = TableClassifier(posterior.NaiveBayes(), infer(frame, "y")).fit(frame, "y")
    answer = test_sql.check(model, frame, "duckdb")
    assert "text" not in answer


def test_a_pool_of_documents_is_told_where_they_are():
    frame = mails()
    members = [posterior.TextClassifier("multinomial"), posterior.TextClassifier("logistic")]
    pool = Pool(members).fit(frame["text"].tolist(), frame["y"])
    answer = on_duckdb(to_sql(pool, columns=["text"]), frame)
    given, expected = answer[["p_0", "p_1"]], pool.predict_proba(frame["text"].tolist())
    np.testing.assert_allclose(given, expected, rtol=0, atol=AGREES)
    with pytest.raises(ValueError, match=r"columns=\[\"text\"\]"):
        to_sql(pool)


def test_a_member_may_know_fewer_classes():
    X, y = numbers(["a", "b", "c", "d"])
    few = posterior.GaussianNB().fit(X[:100], y[:100])
    members = [posterior.GaussianNB().fit(X, y), few]
    check(by_hand(members, [0.9, 0.01], [0.0, 0.0, 0.0]), X, "duckdb")


@on_each
def test_a_row_that_one_member_cannot_answer_has_no_answer(dialect):
    X, y = numbers(["a", "b", "c", "d"])
    models = [posterior.GaussianNB(), posterior.LinearDiscriminantAnalysis()]
    pool = by_hand([model.fit(X, y) for model in models], [0.5, 0.5], [0.0, 0.0, 0.0])
    X.iloc[0, 0] = np.nan
    answer = ENGINES[dialect](to_sql(pool, dialect), X)
    assert answer.iloc[0, 4:].isna().all()
    expected = pool.predict_proba(X[1:])
    np.testing.assert_allclose(answer.iloc[1:, 5:].to_numpy(float), expected, atol=AGREES)


def test_members_that_no_query_holds_are_named_with_the_remedy():
    X, y = numbers(["a", "b", "c", "d"])
    first = posterior.GaussianNB().fit(X, y)
    isotonic = posterior.GaussianNB(calibrated="isotonic").fit(X, y)
    neighbors = posterior.KNeighborsClassifier().fit(X, y)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    for member, reason in ((isotonic, "isotonic"), (neighbors, "all the rows"), (forest, "Forest")):
        pool = by_hand([first, member], [0.5, 0.5], [0.0, 0.0, 0.0])
        with pytest.raises(TypeError, match=rf"'model 2' .*{reason}.* pool without 'model 2'"):
            to_sql(pool)
        to_sql(by_hand([first, member], [0.5, 0.0], [0.0, 0.0, 0.0]))  # what weighs nothing may be
    frame = X.assign(kind=y)
    model = Classifier(models=["naive-bayes", "logistic", "neighbors"]).fit(frame, "kind")
    kept = Classifier(models=["neighbors"]).fit(frame, "kind").fitted_
    model.fitted_ = replace(kept, losses=model.fitted_.losses)
    remedy = r"Classifier\(models=\['naive-bayes', 'logistic'\]\), without 'neighbors'"
    with pytest.raises(TypeError, match=rf"'Nearest neighbors' does not: .*{remedy}"):
        to_sql(model)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_reads_a_pool_back(dialect):
    X, y = orders()
    members = [model.fit(X, y) for model in (posterior.AODE(), posterior.Additive(rounds=9))]
    pool = by_hand(members, [0.5, 0.5], [0.0, 0.0, 0.0])
    (tree,) = sqlglot.parse(to_sql(pool, dialect, explain=True), read=dialect)
    assert tree.named_selects[:4] == list(X)
