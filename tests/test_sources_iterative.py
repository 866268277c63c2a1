"""Models of many passes, on tables that are elsewhere: the ones of rows in memory."""

from __future__ import annotations

import warnings
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from pyarrow import parquet
from sklearn.base import clone

from posterior import (
    GaussianDiscriminantAnalysis,
    GaussianMixture,
    GaussianNB,
    KMeans,
    LogisticRegression,
    LogisticRegressionCV,
    MiniBatchKMeans,
    Mixture,
    MixtureClassifier,
)
from posterior.data.errors import SeparationWarning
from posterior.sources import sampling
from posterior.sources.sampling import Kept
from posterior.sources.source import Batch
from posterior.sources.table_files import Files

ROWS, BATCH = 1_200, 150


def mixed_table() -> pa.Table:
    """Numbers with gaps, whole numbers, words with gaps, two or three classes, weights."""
    draw = np.random.default_rng(1)
    group = draw.integers(0, 3, ROWS)
    size = draw.normal(size=ROWS) + group
    age = draw.normal(40.0, 9.0, ROWS)
    drawn = np.where(draw.random(ROWS) < 0.5, group, draw.integers(0, 3, ROWS))
    words = np.array(["red", "green", "blue"])[drawn]
    score = size - 0.1 * (age - 40) + (words == "red") - 1
    y = np.where(draw.random(ROWS) < 1 / (1 + np.exp(-score)), "yes", "no")
    known, said = draw.random(ROWS) > 0.05, draw.random(ROWS) > 0.05
    return pa.table(
        {
            "size": size,
            "age": pa.array(np.where(known, age, np.nan), from_pandas=True),
            "n": draw.integers(0, 5, ROWS),
            "word": [w if s else None for w, s in zip(words.tolist(), said, strict=True)],
            "y": y,
            "some": [
                v if r < 0.2 else None for v, r in zip(y.tolist(), draw.random(ROWS), strict=True)
            ],
            "kind": group,
            "weight": draw.random(ROWS) + (draw.random(ROWS) > 0.1),
        }
    )


TABLE = mixed_table()
WORDS = ["size", "age", "n", "word"]
NUMBERS = ["size", "n"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


def source(folder: Path, *columns: str) -> Files:
    """Columns of the table in two files, read in small batches."""
    table, paths = TABLE.select(columns), []
    for i, part in enumerate((table[:700], table[700:])):
        paths.append(folder / f"{'-'.join(columns)}-{i}.parquet")
        parquet.write_table(part, paths[-1])
    return Files(tuple(paths), BATCH)


def column(name: str) -> Any:
    return TABLE[name].to_numpy(zero_copy_only=False)


@pytest.mark.parametrize("target", ["y", "kind"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"C": np.inf},
        {"C": 0.1, "fit_intercept": False},
        {"class_weight": "balanced"},
        {"l1_ratio": 1.0, "C": 0.05, "tol": 1e-8},
        {"solver": "lbfgs"},
        {"solver": "newton-cg"},
        {"solver": "gradient-ascent", "step": 1e-7, "max_iter": 5, "tol": 0.0},
    ],
    ids=str,
)
def test_logistic_regression_learns_what_it_learns_in_memory(
    settings: dict[str, Any], target: str, folder: Path
) -> None:
    here = LogisticRegression(**settings).fit(TABLE.select([*WORDS, target]), target)
    there = LogisticRegression(**settings).fit(source(folder, *WORDS, target), target)
    assert there.solver_ == here.solver_
    assert there.n_iter_ == here.n_iter_
    assert list(there.fitted_.reader.names) == list(here.fitted_.reader.names)
    assert_array_equal(there.classes_, here.classes_)
    assert there.classes_.dtype == here.classes_.dtype
    assert_allclose(there.coef_, here.coef_, rtol=1e-10, atol=1e-12)
    assert_allclose(there.intercept_, here.intercept_, rtol=1e-10, atol=1e-11)
    assert_allclose(there.typical_, here.typical_, rtol=1e-12)
    some = TABLE.select(WORDS)[:50]
    assert_allclose(there.predict_proba(some), here.predict_proba(some), rtol=1e-10)


def test_weights_of_rows_are_a_column(folder: Path) -> None:
    here = LogisticRegression().fit(TABLE.select(WORDS), column("y"), column("weight"))
    there = LogisticRegression().fit(source(folder, *WORDS, "y", "weight"), "y", "weight")
    assert_allclose(there.coef_, here.coef_, rtol=1e-10)
    clusters = (
        KMeans(3, random_state=0).fit(TABLE.select(NUMBERS), sample_weight=column("weight")),
        KMeans(3, random_state=0).fit(source(folder, *NUMBERS, "weight"), sample_weight="weight"),
    )
    assert_array_equal(*(model.cluster_centers_ for model in clusters))
    normals = (
        GaussianMixture(2, random_state=0).fit(TABLE.select(NUMBERS), None, column("weight")),
        GaussianMixture(2, random_state=0).fit(source(folder, *NUMBERS, "weight"), None, "weight"),
    )
    assert_allclose(*(model.means_ for model in normals), rtol=1e-10)


def test_rows_that_do_not_count_are_refused(tmp_path: Path) -> None:
    nothing = pa.table({"x": np.arange(40.0), "y": np.arange(40) % 2, "w": np.zeros(40)})
    parquet.write_table(nothing, tmp_path / "t.parquet")
    rows = Files((tmp_path / "t.parquet",), 16)
    for model in (LogisticRegression(), GaussianMixture(2), KMeans(2), MixtureClassifier()):
        with pytest.raises(ValueError, match="at least one row of positive weight"):
            model.fit(rows, "y", "w")


def test_numbers_alone_are_read_as_they_are(folder: Path) -> None:
    here = LogisticRegression().fit(TABLE.select(NUMBERS), column("kind"))
    there = LogisticRegression().fit(source(folder, *NUMBERS, "kind"), "kind")
    assert there.encoding_ is None
    assert_allclose(there.coef_, here.coef_, rtol=1e-10)
    assert_array_equal(there.feature_names_in_, here.feature_names_in_)


@pytest.mark.parametrize("robust", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_a_summary_needs_no_rows_in_memory(robust: bool, intercept: bool, folder: Path) -> None:
    settings: dict[str, Any] = {"C": np.inf, "fit_intercept": intercept, "tol": 1e-8}
    here = (
        LogisticRegression(**settings).fit(TABLE.select(WORDS), column("y")).summary(robust=robust)
    )
    model = LogisticRegression(**settings).fit(source(folder, *WORDS, "y"), "y")
    there = model.summary(robust=robust)
    for name, cells in here.coefficients.columns.items():
        if cells.dtype.kind == "f":
            assert_allclose(there.coefficients[name], cells, rtol=1e-8)
    assert_allclose(there.fit.bic, here.fit.bic, rtol=1e-10)
    assert_allclose(there.fit.null_log_likelihood, here.fit.null_log_likelihood, rtol=1e-10)
    low, high = model.predict_interval(TABLE.select(WORDS)[:5])
    assert (low < high).all()


def test_what_needs_rows_in_memory_says_so(folder: Path) -> None:
    rows = source(folder, *WORDS, "y")
    with pytest.raises(ValueError, match="Expected rows in memory"):
        LogisticRegression().leave_one_out(rows, "y")
    with pytest.raises(ValueError, match="firth=False for a remote table"):
        LogisticRegression(firth=True).fit(rows, "y")
    with pytest.raises(ValueError, match="no offset"):
        LogisticRegression().fit(rows, "y", offset=np.zeros(ROWS))
    with pytest.raises(TypeError, match="Expected rows in memory"):
        LogisticRegressionCV().fit(rows, "y")
    with pytest.raises(ValueError, match="'held_out', which learns from parts"):
        GaussianMixture("held_out").fit(source(folder, *NUMBERS))
    with pytest.raises(ValueError, match="got shares of its rows"):
        GaussianMixture(2, init_params=np.ones((ROWS, 2))).fit(source(folder, *NUMBERS))


def test_separation_is_found_in_a_table_that_is_elsewhere(tmp_path: Path) -> None:
    x = np.arange(40.0)
    parquet.write_table(pa.table({"x": x, "y": (x > 20).astype(int)}), tmp_path / "t.parquet")
    with pytest.warns(SeparationWarning, match=r"by column\(s\) x"):
        LogisticRegression(C=np.inf).fit(Files((tmp_path / "t.parquet",), 7), "y")


@pytest.mark.parametrize(
    ("model", "columns"),
    [
        (GaussianMixture(2, random_state=0), NUMBERS),
        (GaussianMixture(3, random_state=0, covariance_type="tied", max_iter=9), NUMBERS),
        (GaussianMixture(2, random_state=0, covariance_type="diag"), ["size", "age"]),
        (GaussianMixture(2, random_state=0, init_params="random_from_data"), ["size", "age"]),
        (GaussianMixture([1, 2], random_state=0, criterion="icl"), NUMBERS),
        (GaussianMixture(2, random_state=0, accelerate=True, n_init=2), NUMBERS),
        (Mixture(n_components=2, random_state=0, n_init=2, max_iter=6), WORDS),
        (Mixture({"n": "poisson"}, 2, random_state=0, n_init=1, max_iter=5), WORDS),
    ],
    ids=str,
)
def test_mixtures_learn_what_they_learn_in_memory(
    model: Any, columns: list[str], folder: Path
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few steps are enough to compare
        here = clone(model).fit(TABLE.select(columns))
        there = clone(model).fit(source(folder, *columns))
    assert_allclose(there.weights_, here.weights_, rtol=1e-10)
    assert_allclose(there.lower_bounds_, here.lower_bounds_, rtol=1e-10)
    assert there.converged_ == here.converged_
    some = TABLE.select(columns)[:50]
    assert_allclose(there.predict_proba(some), here.predict_proba(some), rtol=1e-9, atol=1e-12)
    if hasattr(here, "selection_"):
        assert_allclose(there.selection_["icl"], here.selection_["icl"], rtol=1e-10)


@pytest.mark.parametrize(
    ("model", "columns"),
    [
        (MixtureClassifier(), WORDS),
        (MixtureClassifier(GaussianNB(), n_components=2, random_state=0), ["size", "n"]),
        (MixtureClassifier(hidden_weight=0.5, hidden_label="hidden"), WORDS),
        (MixtureClassifier(GaussianDiscriminantAnalysis()), ["size", "age"]),
    ],
    ids=str,
)
@pytest.mark.parametrize("target", ["y", "some"])
def test_classes_that_are_mixtures_are_learned_as_in_memory(
    model: MixtureClassifier, columns: list[str], target: str, folder: Path
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        here = clone(model).fit(TABLE.select([*columns, target]), target)
        there = clone(model).fit(source(folder, *columns, target), target)
    assert_array_equal(there.classes_, here.classes_)
    assert_allclose(there.lower_bounds_, here.lower_bounds_, rtol=1e-10)
    some = TABLE.select(columns)[:50]
    assert_allclose(there.predict_proba(some), here.predict_proba(some), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("columns", [["size", "n"], ["size", "age"], ["n"]], ids=str)
@pytest.mark.parametrize(
    "settings", [{}, {"init": "random", "n_init": 3}, {"n_clusters": 9}], ids=str
)
def test_k_means_finds_the_bits_of_the_centers_in_memory(
    settings: dict[str, Any], columns: list[str], folder: Path
) -> None:
    settings = {"n_clusters": 4, "random_state": 0} | settings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a column has no nine different numbers
        here = KMeans(**settings).fit(TABLE.select(columns))
        there = KMeans(**settings).fit(source(folder, *columns))
    assert_array_equal(there.cluster_centers_, here.cluster_centers_)
    assert there.reason_ == here.reason_
    assert there.n_iter_ == here.n_iter_
    assert_allclose(there.inertias_, here.inertias_, rtol=1e-10, atol=1e-9)
    assert_allclose(there.weights_, here.weights_, rtol=1e-12)
    assert_allclose(there.variance_, here.variance_, rtol=1e-10, atol=1e-12)
    assert not hasattr(there, "labels_")
    assert_array_equal(there.predict(TABLE.select(columns)), here.labels_)


@pytest.mark.parametrize("weight", [None, "weight"])
def test_small_batches_find_the_clusters_of_all_rows(weight: str | None, folder: Path) -> None:
    columns, settings = ["size", "age"], {"random_state": 0, "init": [[0.0, 50.0], [2.0, 30.0]]}
    rows = source(folder, *columns, *([weight] if weight else []))
    model = MiniBatchKMeans(2, batch_size=64, **settings).fit(rows, sample_weight=weight)
    whole = KMeans(2, **settings).fit(rows, sample_weight=weight)
    assert whole.inertia_ <= model.inertia_ * (1 + 1e-12) < 1.05 * whole.inertia_
    assert not hasattr(model, "labels_")
    again = MiniBatchKMeans(2, batch_size=64, **settings).fit(rows, sample_weight=weight)
    assert_array_equal(again.cluster_centers_, model.cluster_centers_)
    assert model.n_steps_ > 5


def test_a_table_larger_than_the_sample_ends_in_the_same_models(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "MOST", 300)
    settings: dict[str, Any] = {"tol": 1e-10, "max_iter": 200}
    here = LogisticRegression(**settings).fit(TABLE.select(WORDS), column("y"))
    there = LogisticRegression(**settings).fit(source(folder, *WORDS, "y"), "y")
    assert_allclose(there.coef_, here.coef_, rtol=1e-7)
    centers = [[0.0, 1.0], [2.0, 3.0]]
    near = KMeans(2, init=centers).fit(TABLE.select(NUMBERS))
    far = KMeans(2, init=centers).fit(source(folder, *NUMBERS))
    assert_array_equal(far.cluster_centers_, near.cluster_centers_)
    start: dict[str, Any] = {
        "means_init": centers,
        "weights_init": [0.5, 0.5],
        "precisions_init": [np.eye(2)] * 2,
    }
    one = GaussianMixture(2, **start).fit(TABLE.select(NUMBERS))
    other = GaussianMixture(2, **start).fit(source(folder, *NUMBERS))
    assert_allclose(other.means_, one.means_, rtol=1e-10)
    mixed = Mixture(n_components=2, random_state=0, n_init=1, tol=1e-4)
    value = mixed.fit(source(folder, *WORDS)).lower_bound_
    assert_allclose(value, mixed.fit(TABLE.select(WORDS)).lower_bound_, rtol=0.1)  # two starts


def test_a_bad_cell_is_named_with_its_file_and_row(tmp_path: Path) -> None:
    x = np.arange(400.0)
    x[333] = np.inf
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for path, rows in zip(paths, (slice(0, 200), slice(200, 400)), strict=True):
        parquet.write_table(pa.table({"x": x[rows], "y": np.arange(200) % 2}), path)
    for model in (LogisticRegression(), GaussianMixture(2), KMeans(2)):
        before = vars(model).copy()
        with pytest.raises(ValueError, match=r"b\.parquet: .*infinity.*row 133, column 'x'"):
            model.fit(Files(tuple(paths), 64), "y")
        assert vars(model) == before
    with pytest.raises(ValueError, match="Expected a target column 'z', got the columns"):
        LogisticRegression().fit(Files(tuple(paths), 64), "z")
    with pytest.raises(TypeError, match="Expected the target column by its name"):
        LogisticRegression().fit(Files(tuple(paths), 64), x)
    with pytest.raises(TypeError, match="Expected the column of weights by its name"):
        KMeans(2).fit(Files(tuple(paths), 64), sample_weight=x)
    for method in (KMeans(2).fit_predict, KMeans(2).fit_transform, GaussianMixture().fit_predict):
        with pytest.raises(TypeError, match="Expected rows in memory for fit_"):
            method(Files(tuple(paths), 64))


def test_what_is_summed_travels_without_the_sample(folder: Path) -> None:
    """As to a cluster: nothing but what the function needs."""

    class Cluster:
        largest = 0

        def sum(self, function: Any, source: Any) -> Any:
            sent = cloudpickle.dumps(function)
            self.largest = max(self.largest, len(sent))
            parts = [cloudpickle.loads(sent)(batch) for batch in source.batches()]
            return reduce(add, parts)

    cluster = Cluster()
    where = cluster, source(folder, *WORDS, "y")
    rows = cluster, source(folder, *NUMBERS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("posterior.estimators.remote.locate", lambda _: where)
        model = LogisticRegression(C=np.inf, solver="newton-cg").fit(None, "y")
        model.summary(robust=True)
        patch.setattr("posterior.estimators.remote.locate", lambda _: rows)
        GaussianMixture(2, random_state=0).fit(None)
        KMeans(2, random_state=0).fit(None)
    assert cluster.largest < 20_000  # the sample alone has 1,200 rows of 7 columns


@given(sizes=st.lists(st.integers(1, 40), min_size=1, max_size=9), most=st.integers(1, 60))
def test_a_sample_does_not_depend_on_how_parts_are_added(sizes: list[int], most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sampling, "MOST", most)
        first, parts = 0, []
        for size in sizes:
            rows = pa.table({"row": np.arange(first, first + size)})
            parts.append(Kept.of(Batch(rows, "table", first)))
            first += size
        left = reduce(add, parts)
        right = reduce(lambda total, part: part + total, reversed(parts))
        samples = [total.frame()["row"].to_pylist() for total in (left, right)]
    assert samples[0] == samples[1] == sorted(samples[0])
    assert len(samples[0]) == min(most, first)
    assert left.n_rows == right.n_rows == first


def test_every_row_is_as_likely_in_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "MOST", 2_000)
    batches = [Batch(np.arange(i, i + 500.0)[:, None], "t", i) for i in range(0, 20_000, 500)]
    sample = reduce(add, map(Kept.of, batches)).frame()[:, 0]
    assert len(sample) == 2_000
    counts = np.histogram(sample, 20, (0, 20_000))[0]
    assert (np.abs(counts - 100) < 5 * np.sqrt(100)).all()
