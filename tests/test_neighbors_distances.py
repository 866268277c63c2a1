"""Neighbors by edits, in mixed tables and in rows with gaps are those that naive loops find."""

from __future__ import annotations

import math
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from rapidfuzz.distance import Levenshtein
from sklearn.metrics.pairwise import nan_euclidean_distances

from posterior.engines.local import Local
from posterior.neighbors import edit_distance, gower, nan_euclidean
from posterior.neighbors.edit_distance import EditIndex
from posterior.neighbors.gower import MixedIndex
from posterior.neighbors.nan_euclidean import NanEuclideanIndex

ENGINES = [Local(1), Local(1, 1), Local(2, 1), Local(2, 3), Local(3, 2), Local(2)]
KINDS = ["levenshtein", "damerau", "alignment", "normalized"]


# ---- naive loops ----


def in_order(distances, k, skip=-1):
    """The first k rows by distance and number."""
    rows = [i for i in sorted(range(len(distances)), key=lambda i: (distances[i], i)) if i != skip]
    return [distances[i] for i in rows[:k]], rows[:k]


def assert_nearest(found, distances, k, skip=None, rtol=0.0):
    skip = [-1] * len(distances) if skip is None else skip
    expected = [in_order(row, k, s) for row, s in zip(distances, skip, strict=True)]
    assert found[1].dtype == np.int64
    assert found[0].shape == found[1].shape == (len(distances), k)
    assert_array_equal(found[1], np.reshape([rows for _, rows in expected], (-1, k)))
    assert_allclose(found[0], np.reshape([d for d, _ in expected], (-1, k)), rtol=rtol)


def edits(a, b, kind):
    """Wagner and Fischer's table; swaps as Lowrance and Wagner, or of neighbors only."""
    D = {(i, 0): i for i in range(len(a) + 1)} | {(0, j): j for j in range(len(b) + 1)}
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            D[i, j] = min(
                D[i - 1, j] + 1, D[i, j - 1] + 1, D[i - 1, j - 1] + (a[i - 1] != b[j - 1])
            )
            for s in range(1, i) if kind in ("damerau", "alignment") else ():
                for t in range(1, j):
                    between = (i - s - 1) + (j - t - 1)
                    if a[s - 1] == b[j - 1] and a[i - 1] == b[t - 1]:
                        if kind == "damerau" or between == 0:
                            D[i, j] = min(D[i, j], D[s - 1, t - 1] + between + 1)
    return D[len(a), len(b)]


def edits_between(a, b, kind, longest):
    if a is None or b is None:
        return 1.0 if kind == "normalized" else float(max(longest, len(a or ""), 1))
    if kind == "normalized":
        return edits(a, b, kind) / max(len(a), len(b), 1)
    return float(edits(a, b, kind))


def edit_distances(queries, strings, kind):
    longest = max((len(s) for s in strings if s is not None), default=1)
    return [[edits_between(q, s, kind, longest) for s in strings] for q in queries]


# ---- edits ----

words = st.text("abé\N{FISH}", max_size=5)
# As many cases as other laws, of all kinds together: the oracle takes pairs letter by letter.
of_each_kind = settings(max_examples=max(25, settings.default.max_examples // len(KINDS)))


@pytest.mark.parametrize("kind", KINDS)
@of_each_kind
@given(
    strings=st.lists(st.none() | words, min_size=1, max_size=12),
    queries=st.lists(st.none() | words, max_size=6),
    k=st.integers(1, 12),
    engine=st.sampled_from(ENGINES),
)
def test_strings_nearest_by_edits(kind, strings, queries, k, engine):
    k = min(k, len(strings))
    found = EditIndex(strings, kind, engine.fill).nearest(queries, k)
    assert_nearest(found, edit_distances(queries, strings, kind), k)


@pytest.mark.parametrize("kind", KINDS)
@of_each_kind
@given(
    strings=st.lists(st.none() | words, min_size=2, max_size=12),
    asked=st.lists(st.tuples(words, st.integers(-1, 1)), min_size=1, max_size=6),
)
def test_a_row_to_skip_is_no_neighbor(kind, strings, asked):
    queries, skip = zip(*asked, strict=True)
    k = len(strings) - 1
    found = EditIndex(strings, kind, Local().fill).nearest(list(queries), k, np.array(skip))
    assert_nearest(found, edit_distances(queries, strings, kind), k, skip)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", [12, 30, 64, 70, 700])
def test_pruning_loses_no_neighbor_of_longer_strings(kind, length, monkeypatch):
    """Beyond 64 characters RapidFuzz goes by words, and beyond 255 a round takes several edits."""
    monkeypatch.setattr(edit_distance, "QUERIES", 7)
    monkeypatch.setattr(edit_distance, "PAIRS", 50)
    random = np.random.default_rng(length)
    alphabet = np.array(list("aabbcdefghij klmnopqrst\N{SNOWMAN}\U0001f41f"))
    seeds = ["".join(random.choice(alphabet, random.integers(1, length + 1))) for _ in range(6)]

    def edited(text):
        for _ in range(random.integers(1, 2 + len(text) // 4)):
            i = random.integers(len(text) + 1)
            text = text[:i] + str(random.choice(alphabet)) * random.integers(2) + text[i + 1 :]
        return text

    strings = [edited(seeds[i % 6]) for i in range(40)]
    queries = [edited(seeds[i % 6]) for i in range(15)] + ["", strings[0] * 2]
    scorer = edit_distance.KINDS[kind].scorer
    D = [[float(scorer(q, s)) for s in strings] for q in queries]
    if kind == "normalized":
        D = [[Levenshtein.normalized_distance(q, s) for s in strings] for q in queries]
    for engine in (Local(1), Local(2, 4)):
        assert_nearest(EditIndex(strings, kind, engine.fill).nearest(queries, 5), D, 5)


def test_names_have_the_neighbors_of_the_whole_matrix(shared_data):
    table = pd.read_csv(shared_data / "names" / "names-language.csv", keep_default_na=False)
    names = table.iloc[:, 0].sample(2_000, random_state=0).tolist()
    queries = names[::40]  # with themselves left out
    skip = np.arange(0, 2_000, 40)
    for kind in KINDS:
        D = [[edit_distance.KINDS[kind].scorer(q, s) for s in names] for q in queries]
        if kind == "normalized":
            D = [[Levenshtein.normalized_distance(q, s) for s in names] for q in queries]
        found = EditIndex(names, kind, Local(2, 16).fill).nearest(queries, 5, skip)
        assert_nearest(found, D, 5, skip)


def test_equal_strings_come_in_the_order_of_their_rows():
    strings = ["b", "ab", "a", "ab", "", "ab"]
    distance, row = EditIndex(strings, "levenshtein", Local().fill).nearest(["ab"], 6)
    assert row.tolist() == [[1, 3, 5, 0, 2, 4]]
    assert distance.tolist() == [[0, 0, 0, 1, 1, 2]]


def test_kinds_differ_in_what_a_swap_costs():
    costs = {}
    for kind in KINDS:
        index = EditIndex(["abc"], kind, Local().fill)
        costs[kind] = index.nearest(["ca", "bac"], 1)[0][:, 0].tolist()
    assert costs == {
        "levenshtein": [3, 2],
        "damerau": [2, 1],
        "alignment": [3, 1],
        "normalized": [1, 2 / 3],
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_string_is_as_far_as_can_be(kind):
    index = EditIndex(["abc", None, "xyz"], kind, Local().fill)
    distance, row = index.nearest(["abcd", None, float("nan")], 3)
    assert row.tolist() == [[0, 1, 2]] * 3
    far = (1, 1) if kind == "normalized" else (4, 3)
    assert distance[0].tolist() == [1 / 4 if kind == "normalized" else 1, far[0], far[0]]
    assert distance[1:].tolist() == [[far[1]] * 3] * 2


def test_only_missing_strings():
    index = EditIndex([None, None], "levenshtein", Local().fill)
    assert index.nearest(["ab", None], 2)[1].tolist() == [[0, 1], [0, 1]]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, lambda t: t["name"]])
def test_a_column_of_strings_of_any_library(make):
    index = EditIndex(make({"name": ["ann", "bob", None]}), "levenshtein", Local().fill)
    assert index.nearest(make({"name": ["bo", "an"]}), 1)[1].tolist() == [[1], [0]]


def test_an_array_with_one_column_of_strings():
    index = EditIndex(np.array([["ann"], ["bob"]]), "levenshtein", Local().fill)
    assert index.nearest(np.array(["bo"], dtype=object), 1)[1].tolist() == [[1]]
    assert index.nearest([], 1)[1].shape == (0, 1)


def test_what_edit_distance_cannot_read_is_named():
    with pytest.raises(ValueError, match=r"Expected a kind of edit distance .* got 'hamming'"):
        EditIndex(["a"], "hamming", Local().fill)
    with pytest.raises(ValueError, match=r"one column of strings, got a table of shape \(1, 2\)"):
        EditIndex([["a", "b"]], "levenshtein", Local().fill)


@pytest.mark.parametrize(("k", "skip"), [(0, None), (3, None), (2, np.array([0]))])
def test_more_neighbors_than_rows_are_refused(k, skip):
    for index in (
        EditIndex(["a", "b"], "levenshtein", Local().fill),
        MixedIndex(pd.DataFrame({"a": ["a", "b"]}), Local().fill),
    ):
        query = ["a"] if isinstance(index, EditIndex) else pd.DataFrame({"a": ["a"]})
        with pytest.raises(ValueError, match=r"Expected 1 to \d neighbors of 2 rows"):
            index.nearest(query, k, skip)


# ---- mixed tables ----


def gower_distance(a, b, kinds, ranges, weights):
    total = weight = 0.0
    for x, y, kind, spread, w in zip(a, b, kinds, ranges, weights, strict=True):
        if x is None or y is None:
            continue
        if kind == "number":
            apart = min(abs(x - y) / spread, 1.0) if spread else float(x != y)
        elif kind == "text":
            apart = edits(x, y, "levenshtein") / max(len(x), len(y), 1)
        else:
            apart = float(x != y)
        total, weight = total + w * apart, weight + w
    return total / weight if weight else 1.0


cells = {
    "number": st.integers(-3, 3).map(float),
    "category": st.sampled_from(["red", "green", "blue"]),
    "flag": st.booleans(),
    "text": words,
}


@st.composite
def tables(draw):
    """Columns of every kind, training rows and queries, and weights that add without rounding."""
    kinds = draw(st.lists(st.sampled_from(sorted(cells)), min_size=1, max_size=4))
    row = st.tuples(*(st.none() | cells[kind] for kind in kinds))
    rows = draw(st.lists(row, min_size=1, max_size=10))
    queries = draw(st.lists(row, min_size=1, max_size=5))
    weights = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=4, max_size=4))
    return kinds, rows, queries, weights[: len(kinds)]


def framed(kinds, rows):
    dtypes = {"number": pl.Float64, "category": pl.String, "flag": pl.Boolean, "text": pl.String}
    return pl.DataFrame(
        {f"{j} {kind}": [row[j] for row in rows] for j, kind in enumerate(kinds)},
        schema={f"{j} {kind}": dtypes[kind] for j, kind in enumerate(kinds)},
    )


def naive_gower(kinds, rows, queries, weights):
    known = [[row[j] for row in rows if row[j] is not None] for j in range(len(kinds))]
    ranges = [
        max(c) - min(c) if c and kind == "number" else 0
        for kind, c in zip(kinds, known, strict=True)
    ]
    return [[gower_distance(q, row, kinds, ranges, weights) for row in rows] for q in queries]


@given(table=tables(), k=st.integers(1, 10), engine=st.sampled_from(ENGINES))
def test_rows_of_mixed_tables_nearest_by_gower(table, k, engine):
    kinds, rows, queries, weights = table
    if not any(weights):
        weights = [1.0] * len(kinds)
    k = min(k, len(rows))
    text = [f"{j} {kind}" for j, kind in enumerate(kinds) if kind == "text"]
    index = MixedIndex(framed(kinds, rows), engine.fill, weights=weights, text=text)
    found = index.nearest(framed(kinds, queries), k)
    assert_nearest(found, naive_gower(kinds, rows, queries, weights), k)


@settings(max_examples=max(10, settings.default.max_examples // 10))  # slow: blocks of three rows
@given(table=tables(), engine=st.sampled_from(ENGINES))
def test_mixed_tables_are_searched_in_blocks(table, engine):
    kinds, rows, _, _ = table
    rows = rows * 4
    skip = np.arange(len(rows))
    text = [f"{j} {kind}" for j, kind in enumerate(kinds) if kind == "text"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gower, "ROWS", 3)
        patch.setattr(gower, "CELLS", 6)
        frame = framed(kinds, rows)
        found = MixedIndex(frame, engine.fill, text=text).nearest(frame, 2, skip)
    assert_nearest(found, naive_gower(kinds, rows, rows, [1.0] * len(kinds)), 2, skip)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_mixed_table_of_any_library(make):
    rows = {
        "age": [20, None, 60],
        "smokes": [True, False, None],
        "city": ["Rome", "Oslo", None],
        "since": [date(2020, 1, 1), date(2020, 1, 11), None],
    }
    asked = {"age": [30], "smokes": [True], "city": ["Bonn"], "since": [date(2020, 1, 6)]}
    distance, row = MixedIndex(make(rows), Local().fill).nearest(make(asked), 3)
    assert row.tolist() == [[0, 2, 1]]
    expected = [(0.25 + 0 + 1 + 0.5) / 4, 0.75, (1 + 1 + 0.5) / 3]
    assert_allclose(distance, [expected], rtol=1e-15)


def test_weights_by_name_and_a_query_beyond_the_range():
    rows = pd.DataFrame({"x": [0.0, 10.0], "c": ["a", "b"]})
    asked = pd.DataFrame({"x": [30.0], "c": ["a"]})
    distance, row = MixedIndex(rows, Local().fill, weights={"x": 3}).nearest(asked, 2)
    assert row.tolist() == [[0, 1]]
    assert distance.tolist() == [[3 / 4, 1]]


def test_an_array_is_a_table_of_numbers():
    X = np.array([[0.0, 1.0], [4.0, 1.0], [np.nan, np.nan]])
    distance, row = MixedIndex(X, Local().fill).nearest(np.array([[3.0, 2.0]]), 3)
    assert row.tolist() == [[1, 0, 2]]
    assert distance.tolist() == [[(1 / 4 + 1) / 2, (3 / 4 + 1) / 2, 1]]  # column 1 has no range


def test_what_a_mixed_table_cannot_read_is_named():
    table = pd.DataFrame({"x": [0.0, 1.0], "c": ["a", "b"]})
    fill = Local().fill
    with pytest.raises(ValueError, match=r"text columns of \['x', 'c'\], got \['d'\]"):
        MixedIndex(table, fill, text=["d"])
    with pytest.raises(ValueError, match=r"weights for columns of \['x', 'c'\], got \['d'\]"):
        MixedIndex(table, fill, weights={"d": 1})
    with pytest.raises(ValueError, match="not all of them 0"):
        MixedIndex(table, fill, weights=[0, 0])
    with pytest.raises(ValueError, match="Expected 2 weights"):
        MixedIndex(table, fill, weights=[1])
    with pytest.raises(ValueError, match="infinity, first in row 1, column 'x'"):
        MixedIndex(table.assign(x=[0, math.inf]), fill)
    with pytest.raises(ValueError, match="Expected 2 columns, got 1"):
        MixedIndex(table, fill).nearest(table[["x"]], 1)


# ---- gaps ----


def gap_distance(a, b):
    shared = [(x - y) ** 2 for x, y in zip(a, b, strict=True) if not math.isnan(x - y)]
    if len(shared) == len(a):
        return math.sqrt(sum(shared))
    return math.sqrt(sum(shared) / len(shared) * len(a)) if shared else math.inf


holed = st.sampled_from([math.nan, 0.0, 1.0, 2.0, 5.0])


@given(
    data=st.data(),
    d=st.integers(1, 4),
    engine=st.sampled_from(ENGINES),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_rows_with_gaps_nearest_by_the_columns_they_share(data, d, engine, dtype):
    row = st.lists(holed, min_size=d, max_size=d)
    X = np.array(data.draw(st.lists(row, min_size=2, max_size=12)), dtype)
    Q = np.array(data.draw(st.lists(row, min_size=1, max_size=6)), dtype)
    k = data.draw(st.integers(1, len(X) - 1))
    skip = np.array(data.draw(st.lists(st.integers(-1, 1), min_size=len(Q), max_size=len(Q))))
    D = [[gap_distance(q, x) for x in X.tolist()] for q in Q.tolist()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nan_euclidean, "CELLS", data.draw(st.sampled_from([1, 8, 10_000])))
        assert_nearest(NanEuclideanIndex(X, engine.fill).nearest(Q, k, skip), D, k, skip)


@pytest.mark.parametrize("offset", [0.0, 1e8, -1e-170])
def test_gaps_agree_with_scikit_learn_and_with_differences(offset):
    random = np.random.default_rng(0)
    scale = 1e-170 if abs(offset) < 1e-100 and offset else 1.0
    X = random.normal(size=(500, 9)) * scale + offset
    X[random.random(X.shape) < 0.3] = np.nan
    X[0] = np.nan
    Q = X[:50].copy()
    distance, row = NanEuclideanIndex(X, Local(2, 7).fill).nearest(Q, 4)
    D = np.array([[gap_distance(q, x) for x in X.tolist()] for q in Q.tolist()])
    expected = np.lexsort((np.broadcast_to(np.arange(500), D.shape), D))[:, :4]
    if not offset:
        theirs = nan_euclidean_distances(Q, X)
        assert_allclose(distance[1:], np.take_along_axis(theirs, row, 1)[1:], atol=1e-7)
    assert_array_equal(row, expected)
    assert_allclose(distance, np.take_along_axis(D, expected, 1), rtol=1e-14)


def test_rows_that_share_nothing_come_last():
    X = np.array([[np.nan, 1.0], [np.nan, 2.0], [9.0, np.nan]])
    distance, row = NanEuclideanIndex(X, Local().fill).nearest(np.array([[0.0, np.nan]]), 3)
    assert row.tolist() == [[2, 0, 1]]
    assert distance.tolist() == [[math.sqrt(162), math.inf, math.inf]]
