"""The search for the nearest center: as near as any, and with bounds as without."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posterior import kernels
from posterior.engines.local import Local
from posterior.generative.kmeans import bounded
from posterior.generative.kmeans.bounded import Bounded, Moving, lengths, origin_of
from posterior.kernels.centers import GROUP, Centers, neighborhoods
from posterior.kernels.reference import search as twins

Array = Any
DTYPES = st.sampled_from([np.float32, np.float64])


@st.composite
def tables(draw: Any) -> tuple[Array, Array]:
    """Rows and a start of at most as many centers, some of them easy to get wrong."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(1, 150)), draw(st.sampled_from([1, 2, 3, 7, 8, 16, 17, 33]))
    k = draw(st.integers(1, n))
    X = rng.normal(size=(n, d)) + 3 * rng.integers(0, 3, (n, 1))
    kind = draw(st.sampled_from(["normal", "grid", "duplicates", "offset", "constant", "outlier"]))
    if kind == "grid":
        X = np.round(X)
    elif kind == "duplicates":
        X = X[rng.integers(0, max(1, n // 4), n)]
    elif kind == "offset":
        X = X + 1e5 * rng.normal(size=d)
    elif kind == "constant":
        X[:, rng.integers(0, d)] = 12345.678
    elif kind == "outlier":
        X[rng.integers(0, n)] *= 1e6
    X = X.astype(draw(DTYPES))
    return X, X[rng.permutation(n)[:k]].astype(np.float64)


def steps_of_lloyd(X: Array, centers: Array, n: int, rng: Any) -> list[Array]:
    """Centers of some iterations; now and then one jumps to a row."""
    steps = [centers]
    labels = np.full(len(X), -1, np.int32)
    origin = origin_of(X)
    for i in range(n):
        twins.nearest(X, around(centers, origin), labels)
        means = [X[labels == c].mean(axis=0, dtype=np.float64) if (labels == c).any() else old
                 for c, old in enumerate(centers)]  # fmt: skip
        centers = np.array(means)
        if i % 4 == 3:
            centers[rng.integers(len(centers))] = X[rng.integers(len(X))]
        steps.append(centers)
    return steps


def around(centers: Array, origin: Array, number: Array = None) -> Centers:
    return Centers.of((centers - origin).astype(origin.dtype), origin, number)


def squared(X: Array, centers: Array) -> Array:
    return ((X.astype(np.float64)[:, None] - centers.astype(np.float64)) ** 2).sum(axis=2)


def rounding(X: Array, table: Centers) -> Array:
    """How much the square of a distance may be wrong by, for each row."""
    x = lengths(X.astype(np.float64) - table.origin)
    epsilon = (X.shape[1] + 8) * np.finfo(X.dtype).eps
    return 2 * epsilon * (x + lengths(table.points).max()) ** 2


@pytest.mark.parametrize("search", [kernels.nearest, twins.nearest])
@given(table=tables())
def test_no_center_is_nearer_than_the_nearest(search: Any, table: Any) -> None:
    X, start = table
    centers = around(start, origin_of(X))
    labels = np.full(len(X), -1, np.int32)
    assert search(X, centers, labels) == len(X)
    # rows and centers around the origin are rounded once; the search is right for these
    D = squared(X - centers.origin, centers.points)
    own = D[np.arange(len(X)), labels]
    assert (own <= D.min(axis=1) + rounding(X, centers)).all()
    assert search(X, centers, labels) == 0


@given(table=tables(), data=st.data())
def test_the_first_of_equal_centers_is_the_nearest(table: Any, data: Any) -> None:
    X, start = table
    index = data.draw(st.lists(st.integers(0, len(start) - 1), min_size=1, max_size=60))
    start = start[index]
    _, first, which = np.unique(start, axis=0, return_index=True, return_inverse=True)
    labels = np.full(len(X), -1, np.int32)
    kernels.nearest(X, around(start, origin_of(X)), labels)
    np.testing.assert_array_equal(labels, first[which.ravel()][labels])
    moving = Moving(len(X), around(start, origin_of(X)).points)
    centers = around(start, origin_of(X), moving.number)
    again = np.zeros(len(X), np.int32)
    kernels.nearest_bounded(X, centers, moving.bounds, again)
    np.testing.assert_array_equal(again, labels)


@given(table=tables(), seed=st.integers(0, 1000))
def test_bounds_hold_and_give_the_labels_of_a_full_search(table: Any, seed: int) -> None:
    X, start = table
    origin, rng = origin_of(X), np.random.default_rng(seed)
    full, labels = np.zeros(len(X), np.int32), np.zeros(len(X), np.int32)
    moving, before = None, None
    for centers in steps_of_lloyd(X, start, 8, rng):
        plain = around(centers, origin)
        if moving is None or not moving.follow(plain.points, lengths(plain.points - before)):
            moving = Moving(len(X), plain.points)
        before = plain.points.astype(np.float64)
        kernels.nearest(X, plain, full)
        kernels.nearest_bounded(X, around(centers, origin, moving.number), moving.bounds, labels)
        np.testing.assert_array_equal(labels, full)
        distance = np.sqrt(squared(X - origin, plain.points))
        bounds, own = moving.bounds, distance[np.arange(len(X)), labels]
        assert (own <= bounds.upper + bounds.way[labels]).all()
        distance[np.arange(len(X)), labels] = np.inf
        groups = np.where(moving.number >= 0, distance[:, moving.number], np.inf).min(axis=2)
        known = slice(len(moving.number))
        assert (groups >= (bounds.lower - bounds.farthest)[:, known]).all()


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds from the second search on, however little they save."""
    monkeypatch.setattr(bounded, "READ", -1e9)
    monkeypatch.setattr(bounded, "expected_work", lambda *_: 0.0)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_space_with_bounds_is_as_one_without(dtype: Any, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(3001, 5)) + 2 * rng.integers(0, 4, (3001, 1)) + 1e3).astype(dtype)
    weight = rng.integers(0, 4, len(X)).astype(float) if weighted else None
    engine = Local(threads=1)
    space = Bounded(X, weight, 50, engine.fill, engine.sum)
    centers = X[:50].astype(np.float64)
    for _ in range(15):
        plain = Bounded(X, weight, 50, engine.fill, engine.sum)
        plain.assign(centers)
        moved = space.assign(centers)
        np.testing.assert_array_equal(space.labels, plain.labels)
        for ours, theirs in zip(space.sums(), plain.sums(), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        own = centers[space.labels]
        np.testing.assert_allclose(
            space.distances(), ((X - own) ** 2).sum(axis=1), rtol=1e-12, atol=0
        )
        weights, means = space.sums()
        w = np.ones(len(X)) if weight is None else weight
        np.testing.assert_array_equal(weights, np.bincount(space.labels, w, 50))
        centers = np.where(np.isnan(means), centers, means)
    assert 0 <= moved < len(X) / 4


@pytest.mark.usefixtures("eager")
def test_threads_and_chunks_do_not_change_a_bit() -> None:
    rng = np.random.default_rng(1)
    X, start = rng.normal(size=(5000, 4)), rng.normal(size=(40, 4))
    answers = []
    for engine in (Local(threads=1), Local(threads=3, chunk_rows=577)):
        space, centers = Bounded(X, None, 40, engine.fill, engine.sum), start
        for _ in range(10):
            space.assign(centers)
            centers = space.sums()[1]
        answers.append((space.labels, centers, space.distances()))
    for one, three in zip(*answers, strict=True):
        np.testing.assert_array_equal(one, three)


@pytest.mark.may_skip("nothing was compiled here")
def test_bounds_save_most_of_the_work_once_centers_are_at_rest() -> None:
    if kernels.nearest is twins.nearest:
        pytest.skip("the reference kernels look at all centers")
    rng = np.random.default_rng(2)
    X = rng.normal(size=(4000, 6)) + 8 * rng.integers(0, 5, (4000, 6))
    origin, start = origin_of(X), steps_of_lloyd(X, X[:200], 3, rng)[-1]
    moving, labels = Moving(len(X), start - origin), np.zeros(len(X), np.int32)
    centers = around(start, origin, moving.number)
    kernels.nearest_bounded(X, centers, moving.bounds, labels)
    moving.follow(centers.points, np.zeros(len(start)))
    moved, looked = kernels.nearest_bounded(X, centers, moving.bounds, labels)
    assert moved == 0 and looked < 0.1 * len(X)


@pytest.mark.parametrize(("step", "pays"), [(1e-6, True), (10.0, False)])
def test_a_sample_tells_whether_bounds_pay(step: float, pays: bool) -> None:
    rows = np.random.default_rng(3).normal(size=(256, 4))
    work = bounded.expected_work(rows, rows[:64], np.full(64, step))
    assert work < 0.1 if pays else work == 1.0


def test_an_empty_center_has_no_mean_and_distances_do_not_cancel() -> None:
    engine = Local(threads=1)
    X = np.array([[1e8, 0.0], [1e8 + 1, 0.0], [1e8 + 2, 0.0]])
    space = Bounded(X, None, 2, engine.fill, engine.sum)
    assert space.labels.tolist() == [-1, -1, -1]
    assert space.assign(np.array([[1e8 + 1, 0.5], [0.0, 0.0]])) == 3
    weight, mean = space.sums()
    assert weight.tolist() == [3, 0] and np.isnan(mean[1]).all()
    assert mean[0].tolist() == [1e8 + 1, 0.0]
    assert space.distances().tolist() == [1.25, 0.25, 1.25]


@given(k=st.integers(1, 100), d=st.integers(1, 5))
def test_neighborhoods_hold_every_center_once(k: int, d: int) -> None:
    groups = neighborhoods(np.random.default_rng(k).normal(size=(k, d)))
    assert groups.shape == (-(-k // GROUP), GROUP)
    assert sorted(groups[groups >= 0]) == list(range(k))
    assert (groups[:, 0] >= 0).all()
    for group in groups:
        known = group[group >= 0]
        assert (np.diff(known) > 0).all() and (group[len(known) :] == -1).all()


def test_whole_numbers_stay_whole_around_the_origin() -> None:
    X = np.random.default_rng(0).integers(0, 50, (100, 3)).astype(np.float32) + 1e6
    origin = origin_of(X.astype(np.float32))
    assert (origin == np.round(origin)).all() and (np.abs(origin - X.mean(axis=0)) < 20).all()
