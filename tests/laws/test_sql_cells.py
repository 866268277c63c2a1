"""A model as SQL on hard cells: what the database answers is what predict_proba says.

Where Python refuses a row, a query cannot: its answer is NULL.
"""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np
import pandas as pd
import pytest
from everyone import EVERYONE, Subject

pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")

import duckdb
import pyarrow as pa

import posterior
from posterior import (
    Gaussian,
    GaussianDiscriminantAnalysis,
    GaussianMixture,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
    to_sql,
)

pytestmark = [pytest.mark.once, pytest.mark.filterwarnings("ignore")]
NO_QUERY = {
    "KNeighborsClassifier": "it compares a row with all others",
}
ELSEWHERE = {**NO_QUERY, "TextClassifier": "it reads words: see test_sql_documents"}
# A query does not integrate a missing cell out of several columns together.
NEEDS_ALL = (
    posterior.LinearDiscriminantAnalysis,
    posterior.QuadraticDiscriminantAnalysis,
    posterior.GaussianDiscriminantAnalysis,
    posterior.GaussianMixture,
    posterior.LogisticRegression,
    posterior.LogisticRegressionCV,
    posterior.MultinomialNB,
    posterior.ComplementNB,
)
CELLS = [0.0, -0.0, 1e-300, -1e-300, 1e-20, 1e20, -1e20, 1e100, 1e155, 1e300, -1e300]
GAPS = [np.nan, None]
INFINITE = [np.inf, -np.inf]
ON = ["duckdb", "postgres", "sqlite"]


def taken(subject: Subject) -> bool:
    clusters = ("KMeans", "MiniBatchKMeans", "GaussianMixture", "Mixture")
    return (subject.is_classifier or subject.name in clusters) and subject.name not in ELSEWHERE


def numbers(n: int = 80) -> tuple[np.ndarray, np.ndarray]:
    (subject,) = (s for s in EVERYONE if s.name == "GaussianNB")
    return subject.table(np.random.default_rng(1), n)


def fitted(model: Any, X: np.ndarray, y: Any) -> tuple[Any, np.ndarray]:
    names = [f"c{j}" for j in range(X.shape[1])]
    return model.fit(pd.DataFrame(X.astype(float), columns=names), y), X.astype(float)


def of(subject: Subject) -> tuple[Any, np.ndarray]:
    X, y = subject.table(np.random.default_rng(1), 80)
    return fitted(subject.make(), X, y if subject.learns_labels else None)


OTHERS = {
    "own": GaussianDiscriminantAnalysis("own"),
    "diagonal": GaussianDiscriminantAnalysis("diagonal"),
    "tied": GaussianMixture(2, covariance_type="tied", random_state=0),
    "diag": GaussianMixture(2, covariance_type="diag", random_state=0),
    "binned": NaiveBayes("binned"),
    "student": NaiveBayes("student"),
    "predictive": NaiveBayes(predictive=True),
    "tiny variance": NaiveBayes(Gaussian(variance=1e-30)),
}
MODELS = {s.name: lambda s=s: of(s) for s in EVERYONE if taken(s)} | {
    name: lambda model=model: fitted(model, *numbers()) for name, model in OTHERS.items()
}


def rows_of(x: np.ndarray) -> list[list[Any]]:
    """A row with a hard cell in one column, or in all, or in two against each other."""
    cells = [*CELLS, *GAPS, *INFINITE]
    alone, alike = ([cell, *x[1:]] for cell in cells), ([cell] * len(x) for cell in cells)
    return [list(x), *alone, *alike, [1e300, -1e300, *x[2:]]]


def answered(dialect: str, query: str, names: list[str], rows: list[list[Any]], address: str):
    """The database's answer; NaN is a number to it, unless it is SQLite."""
    if dialect == "duckdb":
        columns = [
            pa.array(list(c), pa.float64(), from_pandas=False) for c in zip(*rows, strict=True)
        ]
        with duckdb.connect() as connection:
            connection.register("data", pa.table([pa.array(range(len(rows))), *columns], names))
            return connection.execute(query).fetchall()
    create = ", ".join(f'"{name}" double precision' for name in names)
    if dialect == "sqlite":
        connection = sqlite3.connect(":memory:")
        connection.create_function("EXP", 1, lambda x: None if x is None else float(np.exp(x)))
        connection.create_function("LN", 1, lambda x: None if x is None else float(np.log(x)))
        connection.execute(f"CREATE TABLE data ({create})")
        marks = ", ".join("?" * len(names))
        lines = [(i, *row) for i, row in enumerate(rows)]
        connection.executemany(f"INSERT INTO data VALUES ({marks})", lines)
        return connection.execute(query).fetchall()
    import psycopg

    with psycopg.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TEMPORARY TABLE data ({create}) ON COMMIT DROP")
        with cursor.copy("COPY data FROM STDIN") as copy:
            for i, row in enumerate(rows):
                copy.write_row([float(i), *row])
        return cursor.execute(query).fetchall()


def expected(model: Any, row: list[Any]) -> np.ndarray | None:
    try:
        frame = pd.DataFrame([row], columns=list(model.feature_names_in_), dtype=float)
        return model.predict_proba(frame)[0]
    except ValueError:
        return None


@pytest.mark.parametrize("name", MODELS)
def test_hard_cells_are_answered_as_in_python_or_not_at_all(name, postgres):
    model, X = MODELS[name]()
    rows = rows_of(X[3])
    wanted = [expected(model, row) for row in rows]
    for dialect in ON:
        query = to_sql(model, dialect, keep="id")
        found = answered(dialect, query, ["id", *model.feature_names_in_], rows, postgres)
        assert len(found) == len(rows)
        for line in found:
            row, proba = rows[int(line[0])], wanted[int(line[0])]
            given = np.array(line[2:], float)
            gap = any(cell is None or np.isnan(cell) for cell in row)
            lacks = gap and isinstance(model, NEEDS_ALL) and np.isnan(given).all()
            if proba is None or lacks:
                assert line[1] is None and line[2] is None, row  # NULL, not NaN
            else:
                np.testing.assert_allclose(given, proba, rtol=0, atol=1e-9, err_msg=str(row))


@pytest.mark.parametrize("dialect", ON)
@pytest.mark.parametrize("model", [MultinomialNB(alpha=0), PoissonNB(alpha=0)], ids=str)
def test_what_is_impossible_stays_so_however_often_it_occurs(model, dialect, postgres):
    X = np.array([[3.0, 0, 1], [2, 0, 1], [0, 4, 1], [0, 1, 2]])
    model, _ = fitted(model, X, ["a", "a", "b", "b"])
    rows = [[1e9, 0, 1], [0, 1e9, 1], [1e300, 0, 0], [0, 0, 5], [1, 1, 1], [1e9, 2, 1]]
    found = answered(
        dialect, to_sql(model, dialect, keep="id"), ["id", "c0", "c1", "c2"], rows, postgres
    )
    given = np.array([line[2:] for line in sorted(found)], float)
    np.testing.assert_allclose(given, [expected(model, row) for row in rows], atol=1e-9)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_words_of_any_letters_are_answered_as_in_python(dialect):
    words = ["a", "", "it's", 'say "no"', "NaN", "null", "1", "\\", "%s", "\n", "é"]
    X = pd.DataFrame({"word": words * 4, "n": np.arange(44.0)})
    model = NaiveBayes().fit(X, (np.arange(44) % 3 == 0).astype(str))
    asked = pd.DataFrame({"word": [*words, "never seen", None, " a", "A"], "n": 3.0})
    with duckdb.connect() if dialect == "duckdb" else sqlite3.connect(":memory:") as connection:
        if dialect == "duckdb":
            connection.register("data", pa.Table.from_pandas(asked))
        else:
            asked.to_sql("data", connection, index=False)
        found = connection.execute(to_sql(model, dialect)).fetchall()
    np.testing.assert_allclose(
        np.array([line[3:] for line in found], float), model.predict_proba(asked), atol=1e-9
    )


def test_what_has_no_query_says_so():
    for subject in EVERYONE:
        if subject.name in NO_QUERY:
            X, y = subject.table(np.random.default_rng(0), 60)
            with pytest.raises(TypeError, match="Expected"):
                to_sql(subject.fit(X, y), columns=["a", "b", "c"])
