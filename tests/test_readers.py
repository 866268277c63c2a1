"""Threads that read a table together: answers in order, the first error, and never too much."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from posterior import GaussianNB, LinearDiscriminantAnalysis, NaiveBayes, kernels, threads
from posterior.data.rows import Hard, Rows
from posterior.engines import readers
from posterior.engines.local import Local, n_threads
from posterior.engines.readers import answers
from posterior.families import Gaussian
from posterior.kernels.reference import columns

MANY = 40  # threads, more than answers that may wait


@settings(deadline=None, max_examples=30)
@given(sizes=st.lists(st.integers(0, 30), max_size=6), n=st.sampled_from([1, 2, 3, MANY]))
def test_answers_come_in_the_order_of_the_rows(sizes: list[int], n: int) -> None:
    def wait(item: tuple[int, int]) -> tuple[int, int]:
        time.sleep(1e-4 * (sum(item) % 3))
        return item

    parts = [[(p, i) for i in range(size)] for p, size in enumerate(sizes)]
    assert list(answers(wait, map(iter, parts), n)) == [item for part in parts for item in part]


@pytest.mark.parametrize("n", [1, 2, MANY])
def test_the_first_error_is_that_of_the_first_row(n: int) -> None:
    def check(item: int) -> int:
        if item == 17:
            time.sleep(0.02)  # later ones fail earlier
        if item >= 17:
            raise ValueError(f"row {item}")
        return item

    found = []
    with pytest.raises(ValueError, match="row 17"):
        for answer in answers(
            check, [iter(range(10)), iter(range(10, 20)), iter(range(20, 40))], n
        ):
            found.append(answer)
    assert found == list(range(17))


@pytest.mark.parametrize("n", [1, 2, MANY])
def test_what_cannot_be_read_stops_after_what_was_read_before(n: int) -> None:
    def torn() -> Iterator[int]:
        yield 3
        raise OSError("torn")

    found = []
    with pytest.raises(OSError, match="torn"):
        for answer in answers(abs, [iter([1, 2]), torn(), iter([4])], n):
            found.append(answer)
    assert found == [1, 2, 3]


@pytest.mark.parametrize("n", [2, MANY])
def test_later_parts_wait_for_one_that_is_slow(n: int) -> None:
    go, read = threading.Event(), []

    def slow() -> Iterator[int]:
        go.wait(10)
        yield from range(100)

    def fast() -> Iterator[int]:
        for i in range(1000):
            read.append(i)
            yield i

    found = answers(abs, [slow(), fast()], n)
    threading.Timer(0.1, lambda: (seen.append(len(read)), go.set())).start()
    seen: list[int] = []
    assert sum(1 for _ in found) == 1100
    assert seen[0] <= max(readers.AHEAD, 2 * n)


def test_threads_end_with_whoever_asked() -> None:
    before, found = threading.active_count(), answers(abs, [iter(range(1000)), iter(range(9))], 4)
    assert next(found) == 0
    found.close()
    assert threading.active_count() == before


def test_a_thread_beside_others_sums_by_itself() -> None:
    X, codes = np.random.default_rng(0).normal(size=(70_000, 10)), np.zeros(70_000, np.int32)

    def total(_: int) -> Any:
        assert n_threads() == 1
        rows = Rows(X, Hard(codes, 1))
        return Local().sum(lambda part: Gaussian().statistics(part.X, part.groups), rows)

    alone = Gaussian().statistics(X, Hard(codes, 1))
    with threads(3):
        assert all(found == alone for found in answers(total, map(iter, [range(3)] * 3), 3))
        inside = Local().map(lambda _: list(Local().map(abs, range(5))), range(5))
        assert list(inside) == [list(range(5))] * 5  # and waits for nobody


# --- files of Parquet -----------------------------------------------------------------------------


def written(folder: Path, n: int = 4000, name: str = "t.parquet", **columns: Any) -> Any:
    """A file of ten row groups with strings, missing cells, and a class that comes late."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    random = np.random.default_rng(0)
    code = random.integers(0, 2, n)
    code[-30:] = 2
    given: dict[str, Any] = {
        "height": random.normal(size=n) * 1e3 + code,
        "visits": pa.array(random.poisson(2 + code), mask=random.random(n) < 0.1),
        "plan": np.array(["gold", "free", "team"])[(random.integers(0, 2, n) + code) % 3],
        "bought": np.array(["no", "yes", "perhaps"])[code],
    }
    frame = pa.table(given | columns)
    parquet.write_table(frame, folder / name, row_group_size=n // 10)
    return frame


@pytest.fixture
def many_parts(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], Any]:
    """Files in parts of a few row groups, and batches that do not fit into them."""
    pytest.importorskip("duckdb")
    from posterior.sources import parquet_files
    from posterior.sources.table_files import matching

    monkeypatch.setattr(parquet_files, "SPAN_ROWS", 900)
    return lambda path: replace(matching(path), rows=170)


def test_parts_of_files_are_their_rows_in_order(tmp_path: Path, many_parts: Any) -> None:
    pa = pytest.importorskip("pyarrow")
    frames = [written(tmp_path, n, f"{n}.parquet") for n in (4000, 700)]
    source = many_parts([tmp_path / "4000.parquet", tmp_path / "700.parquet"])
    batches = [list(part) for part in source.parts()]
    assert [len(part) > 1 for part in batches] == [True] * 5
    flat = [batch for part in batches for batch in part]
    whole = pa.concat_tables(frames)
    for name in whole.column_names:
        cells = [cell for batch in flat for cell in batch.frame[name].to_pylist()]
        assert cells == whole[name].to_pylist()
    coded = {str(field.type).startswith("dictionary") for field in flat[0].frame.schema}
    assert coded == {True, False}
    for path, frame in zip(source.paths, frames, strict=True):
        here = [batch for batch in flat if batch.place == str(path)]
        ends = np.cumsum([batch.frame.num_rows for batch in here])
        assert [batch.first for batch in here] == [0, *ends[:-1]]
        assert ends[-1] == frame.num_rows


@pytest.mark.parametrize("n", [1, 3])
def test_a_file_of_many_parts_is_its_table_to_the_bit(
    tmp_path: Path, many_parts: Any, n: int
) -> None:
    frame = written(tmp_path)
    with threads(n):
        ours = NaiveBayes().fit(many_parts(tmp_path / "t.parquet"), y="bought")
    theirs = NaiveBayes().fit(frame, y="bought")
    assert_array_equal(ours.classes_, ["no", "perhaps", "yes"])
    assert ours.statistics_ == theirs.statistics_


def test_sums_that_round_have_the_same_bits_on_any_number_of_threads(
    tmp_path: Path, many_parts: Any
) -> None:
    frame = written(tmp_path).drop_columns(["plan", "visits"])
    probabilities = []
    for n in (1, 2, 7):
        with threads(n):
            model = LinearDiscriminantAnalysis()
            model.fit(many_parts(tmp_path / "t.parquet").select(["height", "bought"]), y="bought")
        probabilities.append(model.predict_proba(frame.drop_columns(["bought"])))
    assert_array_equal(probabilities[0], probabilities[1])
    assert_array_equal(probabilities[0], probabilities[2])


def test_an_error_of_the_last_part_names_file_and_row(tmp_path: Path, many_parts: Any) -> None:
    height = np.zeros(4000)
    height[[3456, 3999]] = np.inf
    written(tmp_path, height=height)
    source = many_parts(tmp_path / "t.parquet").select(["height", "bought"])
    with threads(3), pytest.raises(ValueError, match=r"t\.parquet: .*infinity.*row 3,456"):
        GaussianNB().fit(source, y="bought")


def test_wide_tables_and_texts_are_one_part_and_no_codes(tmp_path: Path, many_parts: Any) -> None:
    from posterior.sources import parquet_files

    texts = np.array([f"a text that comes once, {i * i}" for i in range(4000)])
    more = {f"x{j}": np.zeros(4000) for j in range(parquet_files.WIDE)}
    written(tmp_path, plan=texts, **more)
    source = many_parts(tmp_path / "t.parquet")
    assert len(source.parts()) == 1
    first = next(iter(source.parts()[0])).frame
    assert str(first.schema.field("plan").type) == "string"


# --- columns --------------------------------------------------------------------------------------


def test_values_that_no_row_has_are_no_classes() -> None:
    pa = pytest.importorskip("pyarrow")
    from posterior.data import arrow
    from posterior.sources import target

    for kind in (pa.int8(), pa.int32(), pa.uint16()):
        few = pa.DictionaryArray.from_arrays(pa.array([3, 1, 1], kind), ["d", "b", "never", "a"])
        others = pa.DictionaryArray.from_arrays(pa.array([0, 1], kind), ["z", "b"])
        classes, codes = target.labels(pa.chunked_array([few, others]))
        assert_array_equal(classes[codes], ["a", "b", "b", "z", "b"])
        assert_array_equal(classes, ["a", "b", "z"])
        gaps = pa.DictionaryArray.from_arrays(pa.array([1, None], kind), ["never", "b"])
        known = arrow.strings(pa.chunked_array([gaps]))
        assert known is not None and known[0] == ["b"]
        assert_array_equal(known[1], [0, -1])


@given(
    kind=st.sampled_from(["f4", "f8", "i4", "i8", "u8"]),
    n=st.integers(0, 700),
    d=st.integers(1, 40),
)
def test_columns_side_by_side_are_their_twins(kind: str, n: int, d: int) -> None:
    X = np.arange(n * d).reshape(d, n).astype(kind)
    ours, plain = kernels.stack_columns(list(X)), columns.stack_columns(list(X))
    assert ours.flags.c_contiguous and ours.dtype == plain.dtype
    assert_array_equal(ours, plain)
    assert_array_equal(kernels.stack_columns(list(X[:, ::-1])), plain[::-1])


@pytest.mark.parametrize("library", ["pyarrow", "polars", "pandas"])
def test_missing_numbers_are_not_numbers(library: str) -> None:
    nw, module = pytest.importorskip("narwhals"), pytest.importorskip(library)
    from posterior.data import frames

    for cells in ([1.5, None, -2.0], [3, None, 2**60 + 1]):
        made = {"pyarrow": "table"}.get(library, "DataFrame")
        column = nw.from_native(getattr(module, made)({"a": cells}), eager_only=True)["a"]
        plain = [np.nan if cell is None else float(cell) for cell in cells]
        assert_array_equal(frames.numbers(column), plain)
