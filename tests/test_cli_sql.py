"""posterior sql: the query of a model file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")
pytest.importorskip("sqlglot")
pytest.importorskip("typer")

import duckdb
from typer.testing import CliRunner

import posterior
from posterior.app.cli.commands_app import app

pytestmark = pytest.mark.once


def run(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr


@pytest.fixture(scope="module")
def penguins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of penguins, from which some cells are missing."""
    table = pytest.importorskip("palmerpenguins").load_penguins()
    path = tmp_path_factory.mktemp("penguins") / "penguins.csv"
    table.to_csv(path, index=False)
    return path


def in_file(query: str, path: Path) -> pd.DataFrame:
    """The answer of DuckDB to a query of the table `data`, which is a file."""
    with duckdb.connect() as connection:
        connection.execute(f"CREATE VIEW data AS FROM read_csv('{path}', nullstr='')")
        return connection.execute(query).df()


@pytest.mark.parametrize("kind", ["naive-bayes", "logistic"])
def test_the_query_answers_the_file_as_predict_does(penguins, kind):
    model, answers = penguins.with_name(f"{kind}.posterior"), penguins.with_name("answers.csv")
    run("fit", penguins, "--target", "species", "--model", kind, "-o", model)
    run("predict", model, penguins, "--only", "-o", answers)
    expected = pd.read_csv(answers)
    answer = in_file(run("sql", model, "--keep", "island"), penguins)
    assert list(answer) == ["island", *expected]
    assert answer["predicted"].tolist() == expected["predicted"].tolist()
    np.testing.assert_allclose(answer.iloc[:, 2:], expected.iloc[:, 1:], atol=1e-6)


def test_json_has_the_query_too(penguins):
    model = penguins.with_name("json.posterior")
    run("fit", penguins, "--target", "species", "--model", "naive-bayes", "-o", model)
    told = json.loads(run("sql", model, "--dialect", "sqlite", "--table", "zoo.birds", "--json"))
    assert told["dialect"] == "sqlite"
    assert told["sql"] + "\n" == run("sql", model, "-d", "sqlite", "--table", "zoo.birds")
    assert '"zoo"."birds"' in told["sql"]
    explained = run("sql", model, "--explain")
    assert "evidence_island_Adelie" in explained
    assert run("sql", model, "--evidence") == explained  # as it was called


def test_clusters_count_from_one_as_predict_has_them(tmp_path):
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    posterior.save(posterior.KMeans(2, random_state=0).fit(X), tmp_path / "m.posterior")
    query = run("sql", tmp_path / "m.posterior", "--column", "a")
    pd.DataFrame(X, columns=["a"]).to_csv(tmp_path / "data.csv", index=False)
    assert sorted(set(in_file(query, tmp_path / "data.csv")["predicted"])) == [1, 2]


def test_a_model_that_no_query_holds_is_refused_in_a_line(tmp_path):
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [0.0, 1.0, 1.0]})
    model = posterior.KNeighborsClassifier(1).fit(X, [0, 1, 1])
    posterior.save(model, tmp_path / "m.posterior")
    told = run("sql", tmp_path / "m.posterior", code=1)
    assert told.startswith("posterior: Expected a model that one query can hold")
    assert len(told.splitlines()) == 1
