"""Fitting inside a database: its sums are those of the rows, for naive Bayes to the bit."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")
pytest.importorskip("sqlglot")

import duckdb
import pyarrow as pa

import posterior
from posterior.sql import table
from posterior.sql.connections import database
from posterior.sql.countable import Cells

pytestmark = pytest.mark.once

TYPES = {
    "int32": "integer",
    "int64": "bigint",
    "float": "real",
    "double": "double precision",
    "bool": "boolean",
    "string": "text",
}


class OnDuckDB:
    def __init__(self) -> None:
        self.connection = duckdb.connect()

    def hold(self, rows: pa.Table) -> None:
        """A table `t` with these rows."""
        self.connection.register("given", rows)
        self.connection.execute("CREATE OR REPLACE TABLE t AS SELECT * FROM given")
        self.connection.unregister("given")


class OnPostgreSQL:
    def __init__(self, address: str) -> None:
        self.connection = pytest.importorskip("psycopg").connect(address, autocommit=True)

    def hold(self, rows: pa.Table) -> None:
        columns = ", ".join(f'"{f.name}" {TYPES[str(f.type)]}' for f in rows.schema)
        self.connection.execute("DROP TABLE IF EXISTS t")
        self.connection.execute(f"CREATE TEMPORARY TABLE t ({columns})")
        with self.connection.cursor().copy("COPY t FROM STDIN") as copy:
            for row in zip(*(rows[name].to_pylist() for name in rows.column_names), strict=True):
                copy.write_row(row)


@pytest.fixture(scope="module", params=["duckdb", "postgres"])
def held(request):
    """A database that can hold one table."""
    if request.param == "duckdb":
        one = OnDuckDB()
    else:
        one = OnPostgreSQL(request.getfixturevalue("postgres"))
    yield one
    one.connection.close()


@contextmanager
def nothing_read(held, monkeypatch):
    """Inside, no query may ask for more rows than a sample."""
    kind = type(database(held.connection))
    batches = kind.batches

    def few(self, query, rows):
        assert query.endswith("LIMIT 1000")
        return batches(self, query, rows)

    with monkeypatch.context() as patch:
        patch.setattr(kind, "batches", few)
        yield


def rows(n: int = 2500, seed: int = 0) -> pa.Table:
    """Columns of every kind, with cells missing in most of them."""
    random = np.random.default_rng(seed)
    y = random.choice(["no", "o'k", "yes"], n, p=[0.2, 0.3, 0.5])
    high = (y == "yes") * 3.0

    def gaps(cells, share=0.1):
        return pa.array(cells, mask=random.random(n) < share)

    return pa.table(
        {
            "small": gaps(random.integers(-40, 90, n).astype(np.int32)),
            "count": gaps(random.poisson(3 + high).astype(np.int64)),
            "quarter": gaps(np.round(random.normal(10 + high, 5) * 4) / 4),
            "price": gaps(random.integers(1, 100_000, n) / 100),
            "length": gaps(random.normal(50 + high, 10)),
            "single": gaps(random.normal(1 + high, 1).astype(np.float32)),
            "color": gaps(random.choice(["red", "green", 'a "b"', "", "ü"], n)),
            "tagged": gaps(random.random(n) < 0.2 + high / 6),
            "full": random.integers(0, 7, n).astype(np.int64),
            "y": y,
        }
    )


def same(inside, memory) -> None:
    """Two models that no one can tell apart."""
    assert inside.statistics_ == memory.statistics_
    assert inside.classes_.tolist() == memory.classes_.tolist()
    assert inside.classes_.dtype == memory.classes_.dtype
    assert list(inside.feature_names_in_) == list(memory.feature_names_in_)
    for name, value in vars(memory).items():
        if name.endswith("_") and isinstance(value, np.ndarray) and value.dtype.kind == "f":
            np.testing.assert_array_equal(getattr(inside, name), value, err_msg=name)


NUMBERS = ["small", "count", "quarter", "price", "length", "single"]
FAMILIES = {
    "small": "categorical",
    "count": "poisson",
    "quarter": posterior.Bernoulli(threshold=9.0),
    "length": None,
    "price": "categorical",
}
MODELS = [
    (posterior.GaussianNB(), NUMBERS),
    (posterior.BernoulliNB(binarize=3.0), [*NUMBERS, "full"]),
    (posterior.BernoulliNB(binarize=None), ["full"]),
    (posterior.PoissonNB(), ["count", "price", "full"]),
    (posterior.MultinomialNB(), ["full"]),
    (posterior.ComplementNB(), ["full"]),
    (posterior.CategoricalNB(), ["count", "full"]),
    (posterior.CategoricalNB(min_categories=30), ["count", "full"]),
    (posterior.NaiveBayes(), [*NUMBERS, "color", "tagged", "full"]),
    (posterior.NaiveBayes(predictive=True), ["color", "tagged"]),
    (posterior.NaiveBayes(FAMILIES), [*NUMBERS, "color", "tagged", "full"]),
]


@pytest.mark.parametrize(("model", "columns"), MODELS, ids=lambda v: str(v)[:40])
def test_naive_bayes_inside_a_database_is_that_of_the_rows_to_the_bit(
    held, model, columns, monkeypatch
):
    frame = rows().select([*columns, "y"])
    held.hold(frame)
    with nothing_read(held, monkeypatch):
        inside = posterior_clone(model).fit(table(held.connection, "t", inside=True), "y")
    same(inside, posterior_clone(model).fit(frame, "y"))


def posterior_clone(model):
    return type(model)(**model.get_params(deep=False))


@pytest.mark.parametrize(
    "model",
    [
        posterior.LinearDiscriminantAnalysis(),
        posterior.QuadraticDiscriminantAnalysis(),
        posterior.GaussianDiscriminantAnalysis("diagonal"),
        posterior.GaussianDiscriminantAnalysis(pseudo_rows=3.0),
    ],
    ids=str,
)
def test_discriminant_analysis_inside_a_database_is_that_of_the_rows(held, model, monkeypatch):
    frame = rows().select(["length", "price", "full", "y"]).drop_null()
    held.hold(frame)
    with nothing_read(held, monkeypatch):
        inside = posterior_clone(model).fit(table(held.connection, "t", inside=True), "y")
    memory = posterior_clone(model).fit(frame, "y")
    np.testing.assert_allclose(inside.means_, memory.means_, rtol=1e-12)
    X = frame.drop_columns(["y"])
    np.testing.assert_allclose(inside.predict_proba(X), memory.predict_proba(X), atol=1e-11)
    for ours, theirs in zip(
        inside.statistics_.features.complete.scatter(),
        memory.statistics_.features.complete.scatter(),
        strict=True,
    ):
        scale = np.abs(theirs).max()
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-11 * scale)


def test_more_products_than_a_query_may_have_columns(held):
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 58))  # 1,711 products; PostgreSQL has 1,664 columns at most
    frame = pa.table({f"x{j}": X[:, j] for j in range(58)} | {"y": np.arange(200) % 2})
    held.hold(frame)
    model = posterior.LinearDiscriminantAnalysis()
    inside = model.fit(table(held.connection, "t", inside=True), "y").coef_
    memory = posterior.LinearDiscriminantAnalysis().fit(frame, "y").coef_
    np.testing.assert_allclose(inside, memory, rtol=1e-9)


def test_more_sums_than_a_query_may_have_columns(held):
    random = np.random.default_rng(0)
    X = random.integers(0, 50, (30, 560))
    frame = pa.table({f"x{j}": X[:, j] / 4 for j in range(560)} | {"y": np.arange(30) % 2})
    held.hold(frame)
    inside = posterior.GaussianNB().fit(table(held.connection, "t", inside=True), "y")
    same(inside, posterior.GaussianNB().fit(frame, "y"))


@given(st.data())
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
def test_whatever_doubles_there_are_the_sums_are_exact(held, data):
    unit = data.draw(st.sampled_from([1.0, 0.1, 0.25, 1e-7, 3e8, 2.0**-40]))
    whole = st.integers(-(10**6), 10**6).map(lambda i: i * unit)
    cells = st.one_of(whole, st.none(), st.floats(-1e9, 1e9), st.just(float("nan")))
    kind = data.draw(st.sampled_from([whole, st.one_of(whole, st.none()), cells]))
    x = data.draw(st.lists(kind, min_size=2, max_size=30))
    y = data.draw(st.lists(st.sampled_from([-1, 4]), min_size=len(x), max_size=len(x)))
    frame = pa.table({"x": pa.array(x, pa.float64()), "y": pa.array(y, pa.int64())})
    held.hold(frame)
    family = posterior.NaiveBayes("gaussian", prior_rows=1.0)
    with np.errstate(all="ignore"):
        memory = outcome(posterior_clone(family), frame)
        assert outcome(posterior_clone(family), table(held.connection, "t")) == memory


@pytest.mark.parametrize("unit", [1.0, 0.25, 8.0])
@pytest.mark.parametrize("beside", [None, 3.0])
def test_a_cell_of_more_digits_than_the_sample_is_noticed(held, unit, beside):
    random = np.random.default_rng(0)
    x, z = (random.integers(-50, 50, (2, 1500)) * unit).tolist()
    x[1200], z[1200] = 0.1, beside  # a missing cell beside it hides nothing
    frame = pa.table({"x": x, "z": z, "y": np.arange(1500) % 3})
    held.hold(frame)
    with pytest.raises(ValueError, match="no multiples of a unit"):
        posterior.GaussianNB().fit(table(held.connection, "t", inside=True), "y")
    same(
        posterior.GaussianNB().fit(table(held.connection, "t"), "y"),
        posterior.GaussianNB().fit(frame, "y"),
    )


@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_a_whole_number_larger_than_the_sample_is_summed_or_read(held, kind):
    x = np.arange(1500) % 90
    x[1200] = 70_000  # whose square takes 33 bits
    frame = pa.table({"x": pa.array(x, kind), "y": np.arange(1500) % 3})
    held.hold(frame)
    inside = posterior.GaussianNB().fit(table(held.connection, "t"), "y")
    same(inside, posterior.GaussianNB().fit(frame, "y"))


@pytest.mark.parametrize(
    ("bits", "spread", "parts"), [(9, 0, 0), (25, 0, 1), (50, 0, 2), (52, 25, 3)]
)
def test_cells_of_any_length_add_up_exactly(held, bits, spread, parts):
    random = np.random.default_rng(0)
    whole = random.integers(-(2**bits), 2**bits, 700).astype(float)
    x = np.ldexp(whole, -random.integers(0, spread + 1, 700) - 7)
    assert Cells.of("x", "real", x).parts == parts
    frame = pa.table({"x": x, "y": np.arange(700) % 3})
    held.hold(frame)
    inside = posterior.GaussianNB().fit(table(held.connection, "t", inside=True), "y")
    same(inside, posterior.GaussianNB().fit(frame, "y"))


def outcome(model, X):
    """What a fit ends in: its sums, or an error."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return model.fit(X, "y").statistics_
        except ValueError as error:
            return type(error)


@pytest.mark.parametrize(
    ("columns", "model"),
    [
        ({"x": [1e8 + 0.1, 1e-8, 3.0, 5.0]}, posterior.GaussianNB()),  # too many digits
        ({"x": [1.0, float("nan"), 3.0, 5.0]}, posterior.GaussianNB()),
        ({"x": [2**62, 5, 1, 0]}, posterior.GaussianNB()),  # a square that overflows
        ({"x": [2**60 + 1, 5, 1, 0]}, posterior.PoissonNB()),  # which no double holds
        ({"x": [1e200, -1e200, 1.0, 2.0]}, posterior.GaussianNB(var_smoothing=1.0)),
        ({"x": [1.0, None, 3.0, 5.5]}, posterior.QuadraticDiscriminantAnalysis(reg_param=0.1)),
        ({"x": [1e-310, 2e-310, 5e-310, 0.0]}, posterior.PoissonNB()),
        ({"x": ["a"] * 4}, posterior.JointBayes()),
    ],
    ids=str,
)
def test_where_the_database_cannot_the_rows_are_read(held, columns, model):
    frame = pa.table(columns | {"y": ["u", "v", "v", "u"]})
    held.hold(frame)
    with pytest.raises(
        ValueError, match=r"Expected sums that the database can take, but: .*inside"
    ):
        posterior_clone(model).fit(table(held.connection, "t", inside=True), "y")
    assert outcome(posterior_clone(model), table(held.connection, "t")) == outcome(model, frame)


@pytest.mark.parametrize(
    ("columns", "model", "message"),
    [
        ({"x": [1, -2, 3], "y": [0, 1, 1]}, posterior.PoissonNB(), "Negative values"),
        ({"x": [1, None, 3], "y": [0, 1, 1]}, posterior.MultinomialNB(), "contains NaN"),
        ({"x": [1.0, float("inf"), 3], "y": [0, 1, 1]}, posterior.GaussianNB(), "infinity"),
        ({"x": [1.0, 2.0, 3], "y": ["a", None, "b"]}, posterior.GaussianNB(), "NaN or None"),
    ],
    ids=str,
)
def test_a_bad_cell_is_named_with_its_row(held, columns, model, message):
    held.hold(pa.table(columns))
    with pytest.raises(ValueError, match=rf"(?s){message}.*row 1"):
        model.fit(table(held.connection, "t"), "y")
    assert not hasattr(model, "classes_")


def test_a_model_fitted_inside_goes_on_learning_and_is_saved(held, tmp_path):
    frame = rows().select(["small", "color", "tagged", "y"])
    held.hold(frame.slice(0, 2000))
    model = posterior.NaiveBayes().fit(table(held.connection, "t", inside=True), "y")
    whole = posterior.NaiveBayes().fit(frame, "y")
    model.partial_fit(frame.slice(2000), "y")
    same(model, whole)
    posterior.save(model, tmp_path / "model.posterior")
    assert posterior.load(tmp_path / "model.posterior").statistics_ == whole.statistics_
    model.forget(frame.slice(2000), "y")
    same(model, posterior.NaiveBayes().fit(frame.slice(0, 2000), "y"))


def test_any_other_model_reads_the_rows(held):
    frame = rows(400).select(["length", "price", "full", "y"]).drop_null()
    held.hold(frame)
    inside = posterior.LogisticRegression().fit(table(held.connection, "t"), "y").coef_
    memory = posterior.LogisticRegression().fit(frame, "y").coef_
    np.testing.assert_allclose(inside, memory, rtol=1e-5, atol=1e-7)


def test_a_query_is_a_table_too(held):
    frame = rows()
    held.hold(frame)
    query = 'SELECT small, color, y FROM t WHERE "full" > 2;'
    some = frame.filter(pa.compute.greater(frame["full"], 2)).select(["small", "color", "y"])
    inside = posterior.NaiveBayes().fit(table(held.connection, query, inside=True), "y")
    same(inside, posterior.NaiveBayes().fit(some, "y"))


def test_columns_that_are_called_like_those_of_the_answer(held):
    names = {"small": "n", "color": "value", "quarter": "whole", "full": "real", "y": "class"}
    frame = rows().select(list(names)).rename_columns(list(names.values()))
    held.hold(frame)
    inside = posterior.NaiveBayes().fit(table(held.connection, "t", inside=True), "class")
    same(inside, posterior.NaiveBayes().fit(frame, "class"))


def test_numbers_of_32_bits_are_what_they_are_in_memory(held):
    x = np.array([0.1, 0.2, 0.3, 0.7] * 5, np.float32)
    frame = pa.table({"x": x, "y": np.arange(20) % 2})
    held.hold(frame)
    for model in (posterior.NaiveBayes("categorical"), posterior.BernoulliNB(binarize=0.1)):
        fitted = posterior_clone(model).fit(table(held.connection, "t"), "y")
        same(fitted, posterior_clone(model).fit(frame, "y"))


def test_rows_that_are_read_are_the_rows_of_the_table(held):
    frame = rows()
    held.hold(frame)
    source = table(held.connection, "t")
    assert source.names == frame.column_names
    (batch,) = source.batches()
    assert batch.place == "the table t"
    for name in frame.column_names:
        assert batch.frame[name].type == frame[name].type
        assert batch.frame[name].to_pylist() == frame[name].to_pylist()


def test_the_users_transaction_stays_open_when_a_square_overflows(postgres):
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres) as connection:
        connection.execute("CREATE TEMPORARY TABLE t (x bigint, y text) ON COMMIT DROP")
        connection.execute("INSERT INTO t VALUES (4000000000, 'a'), (5, 'b'), (6, 'a')")
        model = posterior.GaussianNB().fit(table(connection, "t"), "y")
        assert model.theta_.tolist() == [[2000000003.0], [5.0]]
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (3,)


def test_types_that_arrow_does_not_share_become_numbers_or_text(postgres):
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres) as connection:
        query = "SELECT 0.1::numeric AS x, 'a'::char(3) AS c, '2024-03-01'::date AS day"
        (batch,) = table(connection, query).batches()
        assert batch.frame["x"].to_pylist() == [0.1]
        assert batch.frame["c"].to_pylist() == ["a  "]
        assert str(batch.frame["day"].type) == "date32[day]"


def test_what_is_asked_wrongly_is_said():
    with pytest.raises(TypeError, match=r"Expected a connection of DuckDB .* got str"):
        table("postgresql://localhost", "t")
    with duckdb.connect() as connection:
        with pytest.raises(ValueError, match="Expected a table"):
            table(connection, "a..b")
        with pytest.raises(duckdb.Error, match="clicks"):
            posterior.GaussianNB().fit(table(connection, "clicks"), "y")
        connection.execute("CREATE TABLE t AS SELECT 1 AS x, 2 AS label")
        with pytest.raises(ValueError, match=r"Expected a target column 'y'"):
            posterior.GaussianNB().fit(table(connection, "t"), "y")


@pytest.mark.parametrize(
    ("columns", "inside"),
    [
        ('small, "full"', True),
        ("color", True),
        ("quarter", True),
        ("quarter, small", True),
        ("length", False),
        ("price, small", False),
        ("length, color", True),
    ],
)
def test_duckdb_sums_what_adds_up_as_it_is_and_hands_many_digits_over(columns, inside):
    held = OnDuckDB()
    held.hold(rows())
    source = table(held.connection, f"SELECT {columns}, y FROM t")
    assert (source.summed(posterior.NaiveBayes(), "y") is not None) == inside
