"""One suite for every place where rows can be: the model is the one that memory would give.

What an engine cannot do is declared in GAPS, with the reason.
"""

from __future__ import annotations

import os
import re
import signal
import textwrap
import threading
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import posterior
from posterior.engines.dask import Dask
from posterior.engines.engine import first_rows
from posterior.engines.locate import locate
from posterior.engines.spark import Spark, SparkTable

pytestmark = pytest.mark.once

ENGINES = ["files", "relation", "dask", "dask_cluster", "spark"]
SLOW = {"dask_cluster", "spark"}  # they start slowly, and are not asked again on other kernels
PARTS = 5

GAPS = {
    ("relation", "parts"): "a query gives rows, not partitions: none of them can be empty",
    ("relation", "place"): "the answer of a query has rows, but no files",
}


@pytest.fixture(
    params=[pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in ENGINES]
)
def engine(request):
    return request.param


@pytest.fixture
def elsewhere(engine, request, tmp_path):
    """A function that puts a table where the engine finds it, in some parts."""
    if engine == "files":
        return lambda table, parts=PARTS: written(table, parts, tmp_path)
    if engine == "relation":
        return lambda table, parts=PARTS: related(table, parts, tmp_path)
    if engine == "spark":
        spark = request.getfixturevalue("spark")
        return lambda table, parts=None: in_spark(spark, table, parts, tmp_path)
    pytest.importorskip("dask.dataframe", reason="needs Dask: pip install 'posterior[dask]'")
    if engine == "dask_cluster":
        request.getfixturevalue("as_current")
    return in_dask


@pytest.fixture
def as_current(dask_client):
    with dask_client.as_current():
        yield dask_client


def cut(table, parts):
    edges = np.linspace(0, len(table), parts + 1).astype(int)
    return [table.slice(a, b - a) for a, b in pairwise(edges)]


def written(table, parts, folder):
    for i, part in enumerate(cut(table, parts)):
        pq.write_table(part, folder / f"part-{i}.parquet")
    return str(folder / "*.parquet")


def related(table, parts, folder):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.sql(f"SELECT * FROM read_parquet('{written(table, parts, folder)}')")


def in_dask(table, parts=PARTS):
    import dask.dataframe as dd

    meta = table.slice(0, 0).to_pandas()
    return dd.from_map(lambda part: part.to_pandas(), cut(table, parts), meta=meta)


def in_spark(spark, table, parts=None, folder=None, before=None):
    """As Spark cuts it, in order; or one partition a part, read by a task of Python."""
    if parts is None:
        return spark.createDataFrame(table)
    from pyspark.sql.pandas.types import from_arrow_schema

    written(table, parts, folder)
    place = str(folder)

    def read(batches):
        for batch in batches:
            for i in batch.column(0).to_pylist():
                if before is not None:
                    before(i)
                yield from pq.read_table(f"{place}/part-{i}.parquet").to_batches()

    return spark.range(0, parts, 1, parts).mapInArrow(read, from_arrow_schema(table.schema))


@pytest.fixture
def needs_parts(engine, request):
    if reason := GAPS.get((engine, "parts")):
        request.applymarker(pytest.mark.may_skip(reason))
        pytest.skip(reason)


def flowers(n=600, seed=0):
    """Three kinds that overlap: measures, one of them far from zero, counts, colors, words."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, n)
    colors = np.array(["red", "blue", "white"])[(kind + rng.integers(0, 2, n)) % 3]
    words = np.array(["tall", "small", "early", "late", "rare", "common"])
    notes = [" ".join(words[(k + rng.integers(0, 3, 5)) % 6]) for k in kind]
    return pa.table(
        {
            "length": rng.normal(2 * kind, 1.0),
            "width": rng.normal(1e6 + kind, 0.5),
            "petals": rng.poisson(3 + 2 * kind),
            "leaves": rng.poisson(6 - kind),
            "color": colors,
            "note": notes,
            "kind": np.array(["a", "b", "c"])[kind],
        }
    )


FLOWERS = flowers()
MEASURES, COUNTS, MIXED = ["length", "width"], ["petals", "leaves"], ["length", "petals", "color"]


# --- the verb ------------------------------------------------------------------------------------


def test_batches_are_added_in_order(elsewhere):
    where, source = locate(elsewhere(FLOWERS))
    total = where.sum(lambda batch: batch.frame.column("length").to_pylist(), source)
    assert total == FLOWERS.column("length").to_pylist()


def test_batches_are_the_table_at_every_call(elsewhere):
    _, source = locate(elsewhere(FLOWERS))
    assert source.names == FLOWERS.column_names
    for _ in range(2):
        batches = [batch.frame.to_pydict() for batch in source.batches()]
        for name in ["length", "color"]:
            cells = [cell for batch in batches for cell in batch[name]]
            assert cells == FLOWERS.column(name).to_pylist()


def test_some_columns_can_be_selected(elsewhere):
    _, source = locate(elsewhere(FLOWERS))
    some = source.select(["color", "length"])
    if some is source:  # fewer columns are no cheaper there
        return
    assert some.names == ["color", "length"]
    assert next(some.batches()).frame.column_names == ["color", "length"]


def test_a_tree_adds_in_order(needs_parts, elsewhere):
    where, source = locate(elsewhere(FLOWERS, parts=PARTS))
    if isinstance(where, Dask | Spark):
        where = replace(where, fan_in=2)  # 5 sums, 3, 2, 1
    total = where.sum(lambda batch: batch.frame.column("length").to_pylist(), source)
    assert total == FLOWERS.column("length").to_pylist()


def test_parts_without_rows_change_nothing(needs_parts, elsewhere):
    few = FLOWERS.slice(0, 3)
    where, source = locate(elsewhere(few, parts=6))
    total = where.sum(lambda batch: batch.frame.column("length").to_pylist(), source)
    assert total == few.column("length").to_pylist()


def test_a_table_without_rows_is_an_error(elsewhere):
    with pytest.raises(ValueError, match="Expected rows, got an empty table"):
        posterior.GaussianNB().fit(
            elsewhere(FLOWERS.select([*MEASURES, "kind"]).slice(0, 0), parts=1), y="kind"
        )


# --- the models ----------------------------------------------------------------------------------

EXACT = {
    "GaussianNB": (posterior.GaussianNB(), MEASURES),
    "BernoulliNB": (posterior.BernoulliNB(binarize=4), COUNTS),
    "CategoricalNB": (posterior.CategoricalNB(), COUNTS),
    "MultinomialNB": (posterior.MultinomialNB(), COUNTS),
    "ComplementNB": (posterior.ComplementNB(), COUNTS),
    "PoissonNB": (posterior.PoissonNB(), COUNTS),
    "JointBayes": (posterior.JointBayes(), COUNTS),
    "NaiveBayes": (posterior.NaiveBayes(), MIXED),
    "AODE": (posterior.AODE(smoothing=posterior.BackOff()), MIXED),
    "TAN": (posterior.TAN(smoothing=posterior.BackOff()), MIXED),
    "KDB": (posterior.KDB(1, smoothing=posterior.BackOff()), MIXED),
}
NEAR = ["length", "petals"]  # near zero: far from it, scores lose the digits that are compared
ROUNDED = {
    "LinearDiscriminantAnalysis": (posterior.LinearDiscriminantAnalysis(), NEAR),
    "QuadraticDiscriminantAnalysis": (posterior.QuadraticDiscriminantAnalysis(), NEAR),
    "GaussianDiscriminantAnalysis": (posterior.GaussianDiscriminantAnalysis(), NEAR),
    "LogisticRegression": (posterior.LogisticRegression(), MIXED),
    "MixtureClassifier": (posterior.MixtureClassifier(posterior.GaussianNB()), NEAR),
}
HIDDEN = {
    "KMeans": (posterior.KMeans(3, random_state=0, max_iter=3, n_init=1), NEAR),
    "GaussianMixture": (
        posterior.GaussianMixture(2, random_state=0, max_iter=3, tol=1e-12),
        NEAR,
    ),
    "Mixture": (posterior.Mixture(random_state=0, max_iter=3, tol=1e-12), NEAR),
}
NOT_ELSEWHERE = {
    "Classifier": "sorts rows by content and deals them out to folds, in memory",
    "CountVectorizer": "transforms documents: TextClassifier counts them where they are",
    "HashingVectorizer": "learns nothing from documents",
    "TfidfTransformer": "reads the matrix of a vectorizer",
    "TfidfVectorizer": "transforms documents: TextClassifier counts them where they are",
    "KBinsDiscretizer": "sorts columns, which no sum does",
    "SupervisedDiscretizer": "sorts columns, which no sum does",
    "KMedoids": "keeps the distances of all pairs of rows",
    "KNeighborsClassifier": "keeps its rows, and is no sum of them",
    "LogisticRegressionCV": "splits rows into folds, in memory",
    "Pool": "sorts rows by content and deals them out to folds, in memory",
    "MiniBatchKMeans": "its steps depend on which rows are in a batch",
}


def test_every_estimator_is_in_this_suite_or_says_why_not():
    known = {*EXACT, *ROUNDED, *HIDDEN, "Additive", "TextClassifier"}
    public = {name for name in posterior.__all__ if hasattr(getattr(posterior, name), "fit")}
    assert public - known == NOT_ELSEWHERE.keys()


def both(model, columns, elsewhere):
    """The same model from memory and from elsewhere, and the columns that it reads."""
    from sklearn.base import clone

    table = FLOWERS.select([*columns, "kind"])
    there = clone(model).fit(elsewhere(table), y="kind")
    return clone(model).fit(table, y="kind"), there, FLOWERS.select(columns)


@pytest.mark.parametrize("name", EXACT)
def test_naive_bayes_is_the_one_in_memory_to_the_bit(name, elsewhere):
    here, there, X = both(*EXACT[name], elsewhere)
    assert_array_equal(there.classes_, here.classes_)
    assert_array_equal(there.predict_log_proba(X), here.predict_log_proba(X))
    theirs = there.statistics_.features.numbers()
    assert_array_equal(theirs, here.statistics_.features.numbers())


def test_an_additive_model_is_the_one_in_memory_to_the_bit(elsewhere):
    here, there, X = both(posterior.Additive(rounds=20), MIXED, elsewhere)
    assert_array_equal(there.predict_log_proba(X), here.predict_log_proba(X))
    assert (there.terms_, there.pace_) == (here.terms_, here.pace_)


@pytest.mark.parametrize("name", ROUNDED)
def test_a_classifier_is_the_one_in_memory(name, elsewhere):
    here, there, X = both(*ROUNDED[name], elsewhere)
    assert_array_equal(there.classes_, here.classes_)
    assert_allclose(there.predict_proba(X), here.predict_proba(X), rtol=1e-10, atol=1e-13)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # three steps
@pytest.mark.parametrize("name", HIDDEN)
def test_hidden_groups_are_those_found_in_memory(name, elsewhere):
    model, columns = HIDDEN[name]
    from sklearn.base import clone

    table = FLOWERS.select(columns)
    here, there = clone(model).fit(table), clone(model).fit(elsewhere(table))
    names = ("cluster_centers_", "means_", "covariances_", "weights_")
    learned = [name for name in names if hasattr(here, name)]
    assert learned
    for name in learned:
        assert_allclose(getattr(there, name), getattr(here, name), rtol=1e-10)
    assert_array_equal(there.predict(table), here.predict(table))


def test_a_text_classifier_is_the_one_in_memory_to_the_bit(elsewhere):
    table = FLOWERS.select(["note", "kind"])
    model = posterior.TextClassifier().fit(elsewhere(table), y="kind")
    here = posterior.TextClassifier().partial_fit(table, y="kind")  # holds nothing out, as there
    texts = FLOWERS.select(["note"])
    assert_array_equal(model.predict_log_proba(texts), here.predict_log_proba(texts))


def test_weights_are_a_column(elsewhere):
    table = FLOWERS.select([*MEASURES, "petals", "kind"])
    there = posterior.GaussianNB().fit(elsewhere(table), y="kind", sample_weight="petals")
    X, w = FLOWERS.select(MEASURES), FLOWERS.column("petals").to_numpy()
    here = posterior.GaussianNB().fit(X, FLOWERS.column("kind").to_numpy(), sample_weight=w)
    assert_array_equal(there.predict_log_proba(X), here.predict_log_proba(X))


def test_a_bad_cell_is_named_with_its_place_and_the_model_is_as_before(engine, elsewhere):
    table = FLOWERS.select([*MEASURES, "kind"])
    length = table.column("length").to_numpy().copy()
    length[-1] = np.inf
    bad = table.set_column(0, "length", pa.array(length))
    model = posterior.GaussianNB().fit(table, y="kind")
    before = model.predict_log_proba(FLOWERS.select(MEASURES))
    with pytest.raises(
        ValueError, match=r"contains infinity, first in row \d+, column 'length'"
    ) as e:
        model.fit(elsewhere(bad), y="kind")
    if (engine, "place") not in GAPS:
        assert str(e.value).startswith(("partition", "/"))
    assert_array_equal(model.predict_log_proba(FLOWERS.select(MEASURES)), before)


def test_a_target_that_is_no_column_is_an_error(elsewhere):
    with pytest.raises(ValueError, match=r"target column.*'sort'"):
        posterior.GaussianNB().fit(elsewhere(FLOWERS), y="sort")


# --- answers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "engine", ["dask", pytest.param("spark", marks=pytest.mark.slow)], indirect=True
)
def test_a_frame_of_answers_is_lazy_and_has_those_of_memory(engine, elsewhere):
    model = posterior.NaiveBayes().fit(FLOWERS.select([*MIXED, "kind"]), y="kind")
    frame = posterior.predict_frame(model, elsewhere(FLOWERS))
    assert list(frame.columns) == [*FLOWERS.column_names, "predicted", "p_a", "p_b", "p_c"]
    done = frame.compute() if engine == "dask" else frame.toPandas()
    X = FLOWERS.select(MIXED)
    assert_array_equal(done[["p_a", "p_b", "p_c"]].to_numpy(), model.predict_proba(X))
    assert list(done["predicted"]) == list(model.predict(X))
    assert list(done["length"]) == FLOWERS.column("length").to_pylist()


def test_a_frame_of_answers_needs_a_cluster():
    model = posterior.GaussianNB().fit(FLOWERS.select([*MEASURES, "kind"]), y="kind")
    with pytest.raises(TypeError, match="Expected a frame of Dask or Spark, got Table"):
        posterior.predict_frame(model, FLOWERS)


# --- faults --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_dask_worker_killed_in_the_middle_of_a_fit_changes_nothing(as_current, tmp_path):
    dd = pytest.importorskip("dask.dataframe")
    victim = next(iter(as_current.run(os.getpid).values()))
    killed = threading.Event()
    place = str(tmp_path)

    def slow(numbered):
        i, part = numbered
        Path(place, f"{os.getpid()}-{i}").touch()
        time.sleep(0.1)
        return part.to_pandas()

    def kill():
        """Once it has done a part, and works on the next."""
        for _ in range(1200):
            if len(list(tmp_path.glob(f"{victim}-*"))) > 1:
                os.kill(victim, signal.SIGKILL)
                return killed.set()
            time.sleep(0.02)

    table = FLOWERS.select([*MEASURES, "kind"])
    X = FLOWERS.select(MEASURES)
    parts = list(enumerate(cut(table, 12)))
    frame = dd.from_map(slow, parts, meta=table.slice(0, 0).to_pandas())
    watch = threading.Thread(target=kill)
    watch.start()
    there = posterior.GaussianNB().fit(frame, y="kind")
    watch.join()
    assert killed.is_set()
    here = posterior.GaussianNB().fit(table, y="kind")
    assert_array_equal(there.predict_log_proba(X), here.predict_log_proba(X))


@pytest.mark.slow
def test_a_python_worker_of_spark_that_dies_changes_nothing(spark, tmp_path):
    died = str(tmp_path / "died")

    def die_once(i):
        if i == 2 and not os.path.exists(died):
            open(died, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)

    table = FLOWERS.select([*MEASURES, "kind"])
    frame = in_spark(spark, table, 4, tmp_path, before=die_once)
    there = posterior.GaussianNB().fit(frame, y="kind")
    assert os.path.exists(died)
    here, X = posterior.GaussianNB().fit(table, y="kind"), FLOWERS.select(MEASURES)
    assert_array_equal(there.predict_log_proba(X), here.predict_log_proba(X))


# --- what only Dask has --------------------------------------------------------------------------


def test_a_dask_array_of_any_chunks_has_its_target_at_a_position():
    da = pytest.importorskip("dask.array")
    X = np.column_stack([FLOWERS.column(name).to_numpy() for name in [*MEASURES, "petals"]])
    there = posterior.GaussianNB().fit(da.from_array(X, chunks=(100, 2)), y=2)
    here = posterior.GaussianNB().fit(X[:, :2], X[:, 2])
    assert_array_equal(there.predict_log_proba(X[:, :2]), here.predict_log_proba(X[:, :2]))


def test_a_dask_bag_of_records_is_a_table():
    bag = pytest.importorskip("dask.bag")
    table = FLOWERS.select([*MIXED, "kind"])
    records = bag.from_sequence(table.to_pylist(), npartitions=4)
    there = posterior.NaiveBayes().fit(records, y="kind")
    here, X = posterior.NaiveBayes().fit(table, y="kind"), FLOWERS.select(MIXED)
    assert_array_equal(there.predict_log_proba(X), here.predict_log_proba(X))


def test_what_is_no_table_of_dask_is_refused():
    dask = pytest.importorskip("dask")
    da = pytest.importorskip("dask.array")
    bag = pytest.importorskip("dask.bag")
    for other in [dask.delayed(1), da.ones(3)]:
        with pytest.raises(TypeError, match="Expected a Dask frame"):
            posterior.GaussianNB().fit(other, y="kind")
    with pytest.raises(ValueError, match="got an empty bag"):
        posterior.GaussianNB().fit(bag.from_sequence([], npartitions=1), y="kind")


def test_a_look_at_some_rows_moves_no_whole_partition(spark):
    """`toLocalIterator` would bring the first partition to the driver, however large it is."""
    table = SparkTable(spark.range(100_000, numPartitions=1))
    assert first_rows(table, 7).frame.num_rows == 7
    (moved,) = table.head(7).batches()
    assert moved.frame.num_rows == 7


def test_the_lines_of_the_manual_run_on_spark(spark, tmp_path):
    text = (Path(__file__).parents[1] / "docs" / "clusters.md").read_text("utf-8")
    block = re.search(r"## Spark\n\n((?:    .*\n|\n)+)", text)[1]
    for folder in ("clicks/", "predictions/"):  # Java does not know where this test runs
        block = block.replace(f'"{folder}"', repr(str(tmp_path / folder)))
    (tmp_path / "clicks").mkdir()
    x = np.arange(40.0)
    table = pa.table({"age": x, "clicked": np.where(x % 7 > 3, "yes", "no")})
    pq.write_table(table, tmp_path / "clicks" / "a.parquet")
    exec(textwrap.dedent(block), {"posterior": posterior})
    answers = pq.read_table(tmp_path / "predictions")
    assert answers.column_names == ["age", "clicked", "predicted", "p_no", "p_yes"]
    assert answers.num_rows == 40
