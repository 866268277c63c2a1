"""Columns of many values, and texts beside other columns, as SQL: what they say, and why."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")

import sqlglot
import test_sql
from test_sql import DIALECTS, on_each
from test_sql_pooled import check

from posterior import Classifier, to_sql
from posterior.discriminative.pooling import PoolWeights
from posterior.estimators.pool.value_shares import ValueShares

pytestmark = pytest.mark.once
dialect = test_sql.dialect  # a fixture
cuts_text = pytest.mark.parametrize("dialect", ["duckdb", "postgres"], indirect=True)

FIRST = ["blue", "Red", "Höher", "old", "King's"]
SECOND = "Inn Bar Shop Pub House Hall Barn Mill CAFÉ Yard Dock Gate".split()
SAID = "good bad fine poor slow quick clean dirty noisy calm".split()


def shops(k: int, n: int = 300) -> pd.DataFrame:
    """Shops of k kinds, with cells that are missing."""
    random = np.random.default_rng(0)
    names = [f"{a} {b}" for a in FIRST for b in SECOND]
    place, owner = random.integers(len(names), size=n), random.integers(60, size=n)
    owners = [hashlib.sha256(bytes([i])).hexdigest() for i in range(60)]  # no words, many letters
    size = random.normal(size=n)
    score = random.normal(size=(len(names), k))[place] + 1.5 * random.normal(size=(60, k))[owner]
    kind = (score + 0.5 * np.outer(size, range(k)) + random.gumbel(size=(n, k))).argmax(axis=1)
    notes = [
        " ".join(random.choice(SAID[3 * c : 3 * c + 4], 4)) + f", {c}{i}!"
        for i, c in enumerate(kind)
    ]
    frame = pd.DataFrame(
        {
            "row": [names[i] for i in place],  # called as steps of the query are
            "owner": [owners[i] for i in owner],
            "size": size,
            "numbers": notes,
            "kind": np.array(["bar", "inn", "pub"])[kind],
        }
    )
    frame.loc[::17, "row"] = frame.loc[::19, "owner"] = frame.loc[3::23, "numbers"] = None
    frame.loc[5::29, "size"] = np.nan
    return frame


def asked(k: int) -> pd.DataFrame:
    """Some of them, and texts never seen."""
    X = shops(k).drop(columns="kind")
    X.loc[:7, "row"] = [
        "RED  bar",
        "",
        " ",
        "never\tseen",
        "höher",
        "(missing)",
        "missing",
        "ΣΑΣ x",
    ]
    X.loc[4:6, "owner"] = ["never seen", "", "(MISSING)"]
    X.loc[8:12, "numbers"] = ["", "GOOD good Good", "a", "'; drop table x; --", "goodbad"]
    return X


@cache
def of_shops(k: int, *left_out: str) -> Classifier:
    """Three models that are kept together, whatever they would weigh."""
    frame = shops(k).drop(columns=list(left_out))
    keys = ["naive-bayes", "logistic", "additive"]
    alone = [Classifier(models=[key]).fit(frame, "kind") for key in keys]
    model = alone[0]
    model.fitted_ = replace(
        model.fitted_,
        names=tuple(keys),
        members=tuple(each.fitted_.members[0] for each in alone),
        pool=PoolWeights(np.array([0.4, 0.5, 0.3]), np.linspace(0.0, 0.2, k)),
    )
    return model


def models_of(model: Classifier, name: str) -> list[str]:
    """What reads a column."""
    assert model.fitted_.read_by is not None
    (found,) = [each for each in model.fitted_.read_by.columns if each.name == name]
    return ["values" if isinstance(m, ValueShares) else m.analyzer for m in found.models]


@on_each
@pytest.mark.parametrize("k", [2, 3])
def test_columns_of_many_values_are_looked_up(k, dialect):
    model = of_shops(k, "row", "numbers")
    assert models_of(model, "owner") == ["values"]
    answer = check(model, asked(k)[["owner", "size"]], dialect, explain=True)
    assert {"evidence_owner_bar", "evidence_size_inn", "evidence_owner × size_bar"} < {*answer}
    assert not answer.columns.str.contains("owner: ").any()


@cuts_text
@pytest.mark.parametrize("k", [2, 3])
def test_texts_beside_other_columns_are_read_by_their_words_and_letters(k, dialect):
    model = of_shops(k)
    assert models_of(model, "row") == ["values", "word", "char_wb"]
    X = asked(k)
    answer = check(model, X, dialect, explain=True, keep=[*X])
    assert answer["size"].equals(X["size"])  # rows in their order
    assert not answer.columns.str.contains("row: |numbers: ").any()


@cuts_text
def test_names_tickets_and_cabins_are_answered_as_in_python(dialect, shared_data):
    frame = pd.read_csv(shared_data / "titanic.csv")
    model = Classifier(models=["logistic"]).fit(frame, "survived")
    assert models_of(model, "name") == ["word", "char_wb"]
    check(model, frame.drop(columns="survived"), dialect, explain=True)


@cuts_text
def test_codes_are_found_in_a_column_of_doubles(dialect):
    random = np.random.default_rng(0)
    codes, n = random.integers(1000, 9999, 60), 300
    code = random.integers(60, size=n)
    yes = random.random(n) < random.random(60)[code]
    frame = pd.DataFrame({"code": codes[code].astype(str), "x": random.normal(size=n), "y": yes})
    frame.loc[::9, "code"] = None
    model = Classifier(models=["naive-bayes"]).fit(frame, "y")
    assert models_of(model, "code") == ["values", "char_wb"]
    X = frame[["code", "x"]].astype({"code": float})
    X.loc[:3, "code"] = [1.0, 123456.0, 0.0, np.nan]
    check(model, X, dialect, explain=True)


def test_a_column_that_says_nothing_is_not_read():
    frame = shops(2).drop(columns=["row", "owner"])
    letters = np.random.default_rng(0).choice([*"abcdefgh"], size=(len(frame), 2))
    frame["noise"] = ["".join(row) for row in letters]
    model = Classifier(models=["naive-bayes"]).fit(frame, "kind")
    assert model.fitted_.read_by is not None and model.fitted_.read_by.silent == ("noise",)
    answer = check(model, frame[["size", "numbers"]], "duckdb", explain=True)
    assert [*answer][:2] == ["size", "numbers"]


def test_an_array_of_words_and_numbers_is_told_its_columns():
    frame = shops(2)
    X = frame[["owner", "size"]]
    model = Classifier(models=["naive-bayes"]).fit(X.to_numpy(object), frame["kind"])
    assert models_of(model, "x0") == ["values"]
    answer = test_sql.on_duckdb(to_sql(model, columns=["owner", "size"], explain=True), X)
    expected = model.predict_proba(X.to_numpy(object))
    np.testing.assert_allclose(answer[["p_bar", "p_inn"]], expected, rtol=0, atol=1e-9)
    assert "evidence_x0_bar" in answer


def test_text_that_no_query_cuts_is_named_with_the_remedy():
    frame = shops(2).drop(columns="row")
    frame["numbers"] = "λόγος " + frame["numbers"]
    model = Classifier(models=["naive-bayes"]).fit(frame, "kind")
    with pytest.raises(TypeError, match=r"cannot read 'numbers': .*Σ becomes σ or ς.*--leave-out"):
        to_sql(model)
    with pytest.raises(TypeError, match="whose databases cut text"):
        to_sql(of_shops(2), "sqlite")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_reads_values_back(dialect):
    frame = shops(3)[["owner", "size", "kind"]]
    model = Classifier(models=["naive-bayes"]).fit(frame, "kind")
    (tree,) = sqlglot.parse(to_sql(model, dialect, explain=True), read=dialect)
    assert tree.named_selects[:2] == ["owner", "size"]
