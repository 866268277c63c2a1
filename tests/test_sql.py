"""A model as SQL: what the database answers is what predict_proba says."""

from __future__ import annotations

import datetime
import sqlite3
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError

pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")

import duckdb
import sqlglot

import posterior
from posterior import to_sql
from posterior.estimators.table_classifier import TableClassifier
from posterior.evaluation.calibration import Isotonic, Temperature
from posterior.preprocessing.infer_roles import infer

pytestmark = pytest.mark.once

DIALECTS = ["bigquery", "duckdb", "postgres", "spark", "sqlite"]
EVIL = "'; drop table x; -- \\ \" ` \n é"


def on_duckdb(query: str, frame: pd.DataFrame, table: str = "data") -> pd.DataFrame:
    with duckdb.connect() as connection:
        connection.register("held", frame)
        quoted = table.replace('"', '""')
        connection.execute(f'CREATE TABLE "{quoted}" AS SELECT * FROM held')
        return connection.execute(query).df()


def on_sqlite(query: str, frame: pd.DataFrame, table: str = "data") -> pd.DataFrame:
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("SELECT EXP(1), LN(2)")
    except sqlite3.OperationalError:  # built without mathematical functions
        connection.create_function("EXP", 1, lambda x: None if x is None else float(np.exp(x)))
        connection.create_function("LN", 1, lambda x: None if x is None else float(np.log(x)))
    frame.to_sql(table, connection, index=False)
    return pd.read_sql(query, connection)


def on_postgres(address: str, query: str, frame: pd.DataFrame, table: str = "data") -> pd.DataFrame:
    psycopg = pytest.importorskip("psycopg")
    kinds = {"f": "double precision", "b": "boolean", "i": "bigint", "M": "timestamp"}
    names = ['"' + str(name).replace('"', '""') + '"' for name in [table, *frame]]
    kinds["int16"] = "smallint"  # a row of PostgreSQL has 8,160 bytes at most
    types = [kinds.get(str(t), kinds.get(t.kind, "text")) for t in frame.dtypes]
    columns = ", ".join(map(" ".join, zip(names[1:], types, strict=True)))
    with psycopg.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TEMPORARY TABLE {names[0]} ({columns}) ON COMMIT DROP")
        with cursor.copy(f"COPY {names[0]} FROM STDIN") as copy:
            for row in frame.astype(object).itertuples(index=False):
                copy.write_row([None if pd.isna(cell) else cell for cell in row])
        cursor.execute(query)
        rows = cursor.fetchall()
        assert cursor.description is not None
        return pd.DataFrame(rows, columns=[c.name for c in cursor.description])


ENGINES = {"duckdb": on_duckdb, "postgres": on_postgres, "sqlite": on_sqlite}
on_each = pytest.mark.parametrize("dialect", list(ENGINES), indirect=True)


@pytest.fixture
def dialect(request, monkeypatch) -> str:
    """A dialect whose engine runs."""
    if request.param == "postgres":
        address = request.getfixturevalue("postgres")
        monkeypatch.setitem(ENGINES, "postgres", partial(on_postgres, address))
    return request.param


def check(model, frame: pd.DataFrame, dialect: str, **options) -> pd.DataFrame:
    """The answer, which must be that of the model; columns of the model are kept."""
    answer = ENGINES[dialect](to_sql(model, dialect, **options), frame)
    proba = model.predict_proba(frame)
    start = list(answer.columns).index("predicted") + 1
    given = answer.iloc[:, start : start + proba.shape[1]].to_numpy(float)
    np.testing.assert_allclose(given, proba, rtol=0, atol=1e-9)
    assert answer["predicted"].tolist() == model.predict(frame).tolist()
    return answer


def iris() -> tuple[pd.DataFrame, np.ndarray]:
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


def wine() -> tuple[pd.DataFrame, np.ndarray]:
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X, y.to_numpy()


def penguins() -> tuple[pd.DataFrame, np.ndarray]:
    table = pytest.importorskip("palmerpenguins").load_penguins()
    return table.drop(columns=["species"]), table["species"].to_numpy()


def holes(X: pd.DataFrame) -> pd.DataFrame:
    """The same with a tenth of the cells gone."""
    gone = np.random.default_rng(0).random(X.shape) < 0.1
    return X.mask(gone)


@on_each
@pytest.mark.parametrize("data", [iris, wine])
@pytest.mark.parametrize(
    "model",
    [
        posterior.GaussianNB(),
        posterior.NaiveBayes(),
        posterior.NaiveBayes(predictive=True),
        posterior.NaiveBayes("binned"),
        posterior.NaiveBayes(posterior.Binned(edges=[1.0, 3.5, 6.0, 12.25])),
        posterior.NaiveBayes("student"),
        posterior.GaussianNB(calibrated="temperature"),
        posterior.GaussianNB(calibrated="matrix"),
        posterior.LogisticRegression(calibrated="vector"),
        posterior.BernoulliNB(binarize=2.0),
        posterior.MultinomialNB(),
        posterior.ComplementNB(norm=True),
        posterior.PoissonNB(),
        posterior.LinearDiscriminantAnalysis(),
        posterior.QuadraticDiscriminantAnalysis(),
        posterior.GaussianDiscriminantAnalysis("diagonal"),
        posterior.LogisticRegression(),
        posterior.KMeans(4, random_state=0),
        posterior.GaussianMixture(3, covariance_type="diag", random_state=0),
        posterior.GaussianMixture(2, covariance_type="tied", random_state=0),
    ],
    ids=str,
)
def test_the_database_answers_as_the_model_does(model, data, dialect):
    X, y = data()
    check(model.fit(X, y), X, dialect)


@on_each
@pytest.mark.parametrize(
    "model",
    [
        posterior.GaussianNB(calibrated="beta"),
        posterior.GaussianNB(calibrated="quadratic"),
        posterior.GaussianNB(calibrated="vector"),
        posterior.LogisticRegression(calibrated="matrix"),
        posterior.LogisticRegression(calibrated="quadratic"),
        posterior.Additive(rounds=20, calibrated="beta"),
    ],
    ids=str,
)
def test_corrected_probabilities_of_two_classes(model, dialect):
    X, y = iris()
    X, y = holes(X)[50:], y[50:]
    check(model.fit(X, y), X, dialect)


@on_each
def test_few_rows_mix_a_temperature_with_uniform(dialect):
    X, y = iris()
    model = posterior.CategoricalNB(alpha=0, calibrated="temperature").fit(X.round(), y)
    assert model.calibrator_.uniform == 1 / 151
    proba = check(model, X.round(), dialect).iloc[:, -3:].to_numpy()
    assert proba.min() == pytest.approx(1 / 151 / 3)  # though some classes were impossible


def test_a_correction_of_a_correction_is_refused():
    frame = fish()
    model = posterior.NaiveBayes(calibrated="matrix")
    fitted = TableClassifier(model, infer(frame, "species"), calibrator=Temperature(1.7))
    with pytest.raises(TypeError, match="corrected once"):
        to_sql(fitted.fit(frame, "species"))


@on_each
@pytest.mark.parametrize(
    "model",
    [
        posterior.GaussianNB(),
        posterior.NaiveBayes("binned"),
        posterior.NaiveBayes("student"),
        posterior.BernoulliNB(binarize=2.0),
        posterior.PoissonNB(),
        posterior.KMeans(3, random_state=0),
        posterior.GaussianMixture(3, covariance_type="spherical", random_state=0),
        posterior.LogisticRegression(),
    ],
    ids=str,
)
def test_null_is_a_missing_cell(model, dialect):
    X, y = iris()
    X = holes(X)
    check(model.fit(X, y), X, dialect)


@on_each
def test_null_where_no_cell_was_missing_is_the_mean(dialect):
    X, y = penguins()
    whole = X.notna().all(axis=1)
    model = posterior.LogisticRegression().fit(X[whole], y[whole])
    assert model.encoding_ is not None and not any(c.gaps for c in model.encoding_.columns)
    X.loc[[0, 5], "island"] = "Elba"
    X.loc[3] = None
    check(model, X, dialect)


@on_each
@pytest.mark.parametrize("model", [posterior.NaiveBayes(), posterior.LogisticRegression()], ids=str)
def test_a_mixed_table_with_nulls_and_categories_never_seen(model, dialect):
    X, y = penguins()
    X["tagged"] = np.arange(len(X)) % 3 == 0
    model.fit(X, y)
    X.loc[[0, 5], "island"] = "Elba"
    X.loc[3, ["island", "sex"]] = None
    X.loc[4, "sex"] = "unknown"
    check(model, X, dialect)


@on_each
@pytest.mark.parametrize("alpha", [1.0, 0.0])
def test_categories_by_number(alpha, dialect):
    X, y = iris()
    X = X.round()
    model = posterior.CategoricalNB(alpha=alpha).fit(X, y)
    if alpha:
        X.iloc[0, 0], X.iloc[1, 1] = 20.0, np.nan  # never seen, and missing
    check(model, X, dialect)


@on_each
def test_a_row_that_lacks_a_cell_the_model_needs_has_no_answer(dialect):
    X, y = iris()
    model = posterior.LinearDiscriminantAnalysis().fit(X, y)
    X.iloc[0, 0] = np.nan
    answer = ENGINES[dialect](to_sql(model, dialect), X)
    assert answer.iloc[0, 4:].isna().all()
    assert not answer.iloc[1:].isna().any(axis=None)


@on_each
@pytest.mark.parametrize(
    "model",
    [
        posterior.NaiveBayes(),
        posterior.PoissonNB(),
        posterior.LinearDiscriminantAnalysis(),
        posterior.QuadraticDiscriminantAnalysis(),
        posterior.LogisticRegression(),
    ],
    ids=str,
)
def test_evidence_is_that_of_the_model_up_to_what_classes_share(model, dialect):
    X, y = iris()
    evidence = model.fit(X, y).evidence(X)
    answer = check(model, X, dialect, explain=True)
    names = [f"evidence_{f}_{c}" for f in evidence.feature_names for c in evidence.classes]
    assert [c for c in answer if c.startswith("evidence_")] == names
    given = answer[names].to_numpy().reshape(len(X), -1, 3).swapaxes(1, 2)
    expected = evidence.terms
    np.testing.assert_allclose(
        given - given[:, :1], expected - expected[:, :1], rtol=1e-9, atol=1e-8
    )


def test_the_name_that_explain_had_still_works_and_warns():
    X, y = iris()
    model = posterior.GaussianNB().fit(X, y)
    with pytest.warns(FutureWarning, match="explain="):
        assert to_sql(model, evidence=True) == to_sql(model, explain=True)


def test_a_zero_character_is_refused_where_no_query_can_hold_it():
    X = pd.DataFrame({"word": ["a", "b"] * 6})
    model = posterior.NaiveBayes().fit(X, np.array(["no", "ye\0s"] * 6, object))
    for dialect in ("sqlite", "postgres"):
        with pytest.raises(ValueError, match=r"without a zero character, .* after .*ye"):
            to_sql(model, dialect)
    answer = on_duckdb(to_sql(model), X)
    assert answer["predicted"].tolist() == model.predict(X).tolist()


@on_each
def test_no_name_leaves_its_quotes(dialect):
    random = np.random.default_rng(0)
    X = pd.DataFrame({EVIL: random.normal(size=60), "word": [EVIL, "a'b", 'c"d'] * 20})
    y = np.array([EVIL, "\\", "it's"] * 20)
    model = posterior.NaiveBayes().fit(X, y)
    query = to_sql(model, dialect, ("x'; drop table y; --",), explain=True)
    answer = ENGINES[dialect](query, X, "x'; drop table y; --")
    assert answer["predicted"].tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(answer.iloc[:, 3:6], model.predict_proba(X), atol=1e-9)
    assert answer.columns[3:6].tolist() == [f"p_{c}" for c in model.classes_]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_reads_its_query_back(dialect):
    X = pd.DataFrame({EVIL: [1.0, 2.0, 5.0, 7.0], "word": [EVIL, "a", "b", "a"]})
    model = posterior.NaiveBayes().fit(X, [EVIL, EVIL, "no", "no"])
    query = to_sql(model, dialect, "a.b", explain=True)
    (tree,) = sqlglot.parse(query, read=dialect)
    assert [t.sql() for t in tree.find_all(sqlglot.exp.Table) if t.db] == ['"a"."b" AS "t"']
    assert tree.named_selects[:2] == [EVIL, "word"]
    words = {e.this for e in tree.find_all(sqlglot.exp.Literal) if e.is_string}
    assert words == {EVIL, "a", "b", "no"}


def test_numbers_read_back_to_the_bit():
    X, y = iris()
    model = posterior.GaussianNB().fit(X, y)
    for dialect in DIALECTS:
        tree = sqlglot.parse_one(to_sql(model, dialect), read=dialect)
        found = {float(e.this) for e in tree.find_all(sqlglot.exp.Literal) if not e.is_string}
        assert set(model.theta_.ravel()) <= found
        assert set((1 / np.sqrt(model.var_)).ravel()) <= found


def test_a_key_alone_is_kept():
    X, y = iris()
    model = posterior.GaussianNB().fit(X, y)
    frame = X.assign(id=np.arange(len(X)))
    answer = on_duckdb(to_sql(model, keep="id"), frame)
    assert list(answer) == ["id", "predicted", "p_setosa", "p_versicolor", "p_virginica"]
    assert answer["id"].tolist() == list(range(len(X)))


@on_each
def test_columns_that_are_called_like_a_step_or_an_answer(dialect):
    X, y = iris()
    X.columns = ["predicted", "P_A", "scores", "score_a"]
    y = np.where(y == "setosa", "a", "A")
    model = posterior.GaussianNB().fit(X, y)
    answer = ENGINES[dialect](to_sql(model, dialect, "cells"), X, "cells")
    assert list(answer)[:4] == list(X)
    np.testing.assert_allclose(answer.iloc[:, 5:], model.predict_proba(X), atol=1e-9)


@on_each
def test_labels_keep_their_type(dialect):
    X, y = iris()
    for labels in (
        y == "setosa",
        np.where(y == "setosa", -1, 2),
        np.where(y == "setosa", 1.0, 2.0),
    ):
        model = posterior.GaussianNB().fit(X, labels)
        answer = ENGINES[dialect](to_sql(model, dialect), X)
        assert (answer["predicted"].to_numpy() == model.predict(X)).all()
    model = posterior.GaussianNB().fit(X, np.ones(len(X)))  # a single class
    assert (ENGINES[dialect](to_sql(model, dialect), X).iloc[:, -1] == 1).all()


@on_each
def test_scores_far_apart_do_not_overflow(dialect):
    X = pd.DataFrame({"a": [0.0, 1e-3, 5e4, 5e4 + 1e-3]})
    model = posterior.GaussianNB().fit(X, ["u", "u", "v", "v"])
    answer = check(model, X, dialect)
    assert answer["p_u"].tolist() == [1, 1, 0, 0]


@on_each
def test_many_columns_nest_no_deeper_than_databases_allow(dialect):
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.poisson(1.0, (10, 1100)), columns=[f"w{j}" for j in range(1100)])
    X = X.astype(np.int16)
    y = np.arange(10) % 2
    model = posterior.MultinomialNB().fit(X, y)
    answer = ENGINES[dialect](to_sql(model, dialect, keep=["w0"]), X)
    np.testing.assert_allclose(answer.iloc[:, 2:], model.predict_proba(X), atol=1e-9)


@on_each
def test_a_row_that_no_class_can_have_is_left_open(dialect):
    X = pd.DataFrame({"a": [0, 0, 1, 1, 2], "b": [0, 1, 1, 1, 0]})
    model = posterior.CategoricalNB(alpha=0.0).fit(X, ["u", "u", "v", "v", "v"])
    rows = pd.DataFrame({"a": [0, 2, 7, 0], "b": [0, 1, 1, 5]})
    assert check(model, rows, dialect)["p_u"].tolist() == [1.0, 0.0, 0.5, 0.5]


@on_each
def test_a_column_that_is_not_there_is_an_error(dialect):
    X, y = iris()
    model = posterior.GaussianNB().fit(X, y)
    with pytest.raises(Exception, match="petal width"):  # SQLite takes "a name" for a text
        ENGINES[dialect](to_sql(model, dialect), X.drop(columns="petal width (cm)"))


# --- additive models ----------------------------------------------------------------------------


def orders(n: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, a few values, words and truths, some of them missing, and three classes."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size of 'it'": random.normal(size=n).round(1),
            'the "count"': random.integers(0, 5, n).astype(float),
            "word": random.choice(["x", "y", "o'z", "rare"], n, p=[0.4, 0.3, 0.295, 0.005]),
            "paid": random.random(n) < 0.5,
        }
    )
    size, count, word, paid = (frame[name] for name in frame)
    noise = 0.5 * random.normal(size=n)
    high = size * np.where(paid, 1, -1) + (word == "x") + noise > 0
    frame.loc[::11, 'the "count"'] = np.nan
    frame.loc[::13, "word"] = None
    return frame, high.to_numpy().astype(int) + (count > 3).to_numpy()


def unlike_any(frame: pd.DataFrame, model: posterior.Additive) -> pd.DataFrame:
    """The same with words never seen, missing cells, and numbers exactly at cuts and beside."""
    frame = frame.copy()
    frame.loc[:3, "word"] = "new"
    frame.loc[4:7, "size of 'it'"] = np.nan
    cuts = np.array(model.fitted_.reader.cuts[0])
    at = np.concatenate([cuts, np.nextafter(cuts, -np.inf), [-1e300, 1e300]])
    frame.loc[10 : 9 + len(at), "size of 'it'"] = at
    return frame


@on_each
@pytest.mark.parametrize("depth", [1, 3, 5])
@pytest.mark.parametrize("classes", [2, 3])
def test_additive_models_look_their_tables_up(depth, classes, dialect):
    X, y = orders()
    model = posterior.Additive(depth=depth, rounds=25).fit(X, np.minimum(y, classes - 1))
    assert max(map(len, model.terms_)) == min(depth, X.shape[1])
    check(model, unlike_any(X, model), dialect)


@on_each
@pytest.mark.parametrize("depth", [3, 4])
def test_evidence_of_additive_models_is_that_of_python(depth, dialect):
    X, y = orders()
    model = posterior.Additive(depth=depth, rounds=25, cells=20).fit(X, y)
    X = unlike_any(X, model)
    evidence = model.evidence(X)
    answer = check(model, X, dialect, explain=True)
    names = [f"evidence_{f}_{c}" for f in evidence.feature_names for c in evidence.classes]
    assert [c for c in answer if c.startswith("evidence_")] == names
    given = answer[names].to_numpy().reshape(len(X), -1, 3).swapaxes(1, 2)
    np.testing.assert_allclose(given, evidence.terms, rtol=0, atol=1e-11)  # 13 decimals


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"], indirect=True)
def test_nan_is_missing_and_infinity_has_no_answer_of_an_additive_model(dialect):
    X = pd.DataFrame({"a": np.arange(40.0), "code": np.arange(40) % 3})
    X.loc[::7, "a"] = np.nan
    model = posterior.Additive(rounds=20, categories=["code"]).fit(X, np.arange(40) > 20)
    values = "('NaN'), ('5'), ('Infinity'), ('-Infinity'), (NULL)"
    cells = "CAST(a AS DOUBLE PRECISION) AS a, CAST('NaN' AS DOUBLE PRECISION) AS code"
    source = f"SELECT {cells} FROM (VALUES {values}) AS t(a)"
    query = to_sql(model, dialect).replace('"data"', f"({source})")
    answer = ENGINES[dialect](query, X)
    rows = pd.DataFrame({"a": [np.nan, 5.0, np.nan], "code": [None] * 3})
    p = answer.iloc[:, -2:].to_numpy(float)
    np.testing.assert_allclose(p[[0, 1, 4]], model.predict_proba(rows), atol=1e-9)
    assert np.isnan(p[[2, 3]]).all()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_reads_an_additive_model_back(dialect):
    X, y = orders()
    X = X.rename(columns={"word": EVIL})
    query = to_sql(posterior.Additive(rounds=10).fit(X, y), dialect, "a.b", explain=True)
    (tree,) = sqlglot.parse(query, read=dialect)
    assert tree.named_selects[:4] == list(X)
    assert "POSTERIOR" not in query


def test_an_additive_model_too_large_for_a_query_is_refused_in_words(monkeypatch):
    X, y = orders()
    model = posterior.Additive(rounds=10).fit(X, y)
    monkeypatch.setattr("posterior.sql.cell_codes.MOST_NUMBERS", 10)
    with pytest.raises(ValueError, match=r"at most 10 numbers .* fewer cells or rounds"):
        to_sql(model)
    monkeypatch.undo()
    monkeypatch.setitem(posterior.sql.writing.MOST_COLUMNS, "postgres", 20)
    with pytest.raises(ValueError, match=r"at most 20 columns, which is the limit of postgres"):
        to_sql(model, "postgres", explain=True)
    monkeypatch.setitem(posterior.sql.writing.MOST_CHARACTERS, "bigquery", 900)
    with pytest.raises(ValueError, match=r"at most 900 characters"):
        to_sql(model, "bigquery")


# --- models of a file's table -------------------------------------------------------------------


def fish(n: int = 200) -> pd.DataFrame:
    random = np.random.default_rng(0)
    salmon = random.random(n) < 0.4
    frame = pd.DataFrame(
        {
            "weight": random.normal(np.where(salmon, 30, 16), 8),
            "river": np.where(random.random(n) < 0.3 + 0.4 * salmon, "Rhine", "Oder"),
            "tagged": random.random(n) < 0.3 + 0.3 * salmon,
            "caught": [
                datetime.datetime(2024, 3, 1) + datetime.timedelta(days=float(d))
                for d in random.integers(0, 70, n) + 20 * salmon + random.integers(1, 8, n) / 8
            ],
            "species": np.where(salmon, "salmon", "bass"),
        }
    )
    frame.loc[::9, "weight"] = None
    frame.loc[::7, "river"] = None
    return frame


@on_each
@pytest.mark.parametrize(
    ("model", "reads"),
    [
        (posterior.NaiveBayes(), "table"),
        (posterior.Additive(rounds=20), "table"),
        (posterior.AODE(), "table"),
        (posterior.TAN(), "numbers"),
        (posterior.LogisticRegression(), "numbers"),
        (posterior.LinearDiscriminantAnalysis(), "numbers"),
        (posterior.QuadraticDiscriminantAnalysis(), "numbers"),
    ],
    ids=str,
)
def test_a_model_of_a_file_reads_columns_by_their_roles(model, reads, dialect):
    frame = fish()
    found = infer(frame, "species")
    assert [c.role for c in found.table_columns] == ["number", "category", "boolean", "date"]
    assert found["caught"].parts == ("month", "weekday", "hour")
    fitted = TableClassifier(model, found, reads=reads, calibrator=Temperature(1.7))
    fitted.fit(frame, "species")
    answer = check(fitted, frame.drop(columns="species"), dialect, explain=True)
    evidence = fitted.evidence(frame)
    if reads == "table":
        names = [f"evidence_{f}_{c}" for f in evidence.feature_names for c in evidence.classes]
        assert list(answer)[7:] == names


@on_each
def test_rare_levels_share_a_number(dialect):
    random = np.random.default_rng(0)
    codes = random.integers(0, 70, 600)
    frame = pd.DataFrame({"code": [f"c{c}" for c in codes], "y": codes % 2})
    found = infer(frame, "y")
    code, target = found.columns
    found = replace(found, columns=(replace(code, role="category"), target))
    fitted = TableClassifier(posterior.LogisticRegression(), found, reads="numbers")
    fitted.fit(frame, "y")
    frame = frame.drop(columns="y")
    frame.loc[0, "code"], frame.loc[1, "code"] = "never seen", None
    check(fitted, frame, dialect)


# --- what cannot be SQL -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (posterior.KNeighborsClassifier(), "compares a row with all the rows"),
        (posterior.GaussianNB(calibrated="isotonic"), "isotonic"),
        (posterior.NaiveBayes("poisson", predictive=True), "log Γ"),
        (posterior.GaussianDiscriminantAnalysis(predictive=True), "Student's t"),
    ],
    ids=str,
)
def test_what_no_query_holds_is_refused_with_the_reason(model, reason):
    X, y = iris()
    with pytest.raises(TypeError, match=reason):
        to_sql(model.fit(X, y))


def test_text_among_other_columns_is_refused():
    texts = [f"a long text about number {i} and more" for i in range(40)]
    frame = pd.DataFrame({"text": texts, "n": np.arange(40) % 7})
    y = np.arange(40) % 2
    with pytest.raises(TypeError, match="text in 'text'"):
        to_sql(posterior.NaiveBayes().fit(frame, y))
    roles = infer(frame.assign(y=y), "y")
    fitted = TableClassifier(posterior.NaiveBayes({"text": "words"}), roles, reads="everything")
    with pytest.raises(TypeError, match="got one of text among others"):
        to_sql(fitted.fit(frame.assign(y=y), "y"))


def test_isotonic_models_of_a_file_are_refused():
    frame = fish()
    isotonic = Isotonic(((np.array([0.0, 1.0]), np.array([0.0, 1.0])),) * 2, 0.01)
    fitted = TableClassifier(
        posterior.NaiveBayes(), infer(frame, "species"), calibrator=isotonic
    ).fit(frame, "species")
    with pytest.raises(TypeError, match="isotonic"):
        to_sql(fitted)


def test_what_is_asked_wrongly_is_said():
    X, y = iris()
    model = posterior.GaussianNB().fit(X.to_numpy(), y)
    with pytest.raises(ValueError, match=r"Pass columns=\["):
        to_sql(model)
    with pytest.raises(ValueError, match="Expected 4 names"):
        to_sql(model, columns=["a"])
    columns = ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="Expected one of the dialects"):
        to_sql(model, "oracle", columns=columns)
    with pytest.raises(ValueError, match="Expected a table"):
        to_sql(model, table="a..b", columns=columns)
    with pytest.raises(ValueError, match="Expected 3 classes"):
        to_sql(model, columns=columns, classes=["x"])
    with pytest.raises(NotFittedError):
        to_sql(posterior.GaussianNB())
    with pytest.raises(TypeError, match="Expected naive Bayes"):
        to_sql(posterior.CountVectorizer().fit(["a word"]), columns=["text"])


def test_without_sqlglot_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    with pytest.raises(ImportError, match=r"needs the package sqlglot: pip install 'posterior"):
        to_sql(posterior.GaussianNB())
