"""Bins: those of scikit-learn, and those that tell classes apart."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import preprocessing as theirs
from sklearn.base import clone
from sklearn.datasets import load_iris

from posterior import CategoricalNB, KBinsDiscretizer, SupervisedDiscretizer, kernels, threads
from posterior.kernels.reference import cuts as twins
from posterior.preprocessing.edges import kmeans
from posterior.statistics.class_histogram import ClassHistogram, class_histograms

some = settings(max_examples=max(25, settings.default.max_examples // 5))  # of a few fits each
RANDOM = np.random.default_rng(0)
TABLE = np.stack(
    [RANDOM.normal(size=400), RANDOM.lognormal(size=400), RANDOM.integers(0, 9, 400)], axis=1
)
GAPS = np.where(RANDOM.random(TABLE.shape) < 0.1, np.nan, TABLE)
CLASSES = (TABLE[:, 0] > 0) + (TABLE[:, 1] > 2).astype(int)


def quiet_fit(model, *arguments, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(*arguments, **named)


# scikit-learn's bins


@pytest.mark.parametrize("encode", ["ordinal", "onehot", "onehot-dense"])
@pytest.mark.parametrize("strategy", ["uniform", "quantile", "kmeans"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bins_are_those_of_scikit_learn(strategy, encode, dtype):
    X = TABLE.astype(dtype)
    ours, other = (
        quiet_fit(thing([4, 7, 3], strategy=strategy, encode=encode), X)
        for thing in (KBinsDiscretizer, theirs.KBinsDiscretizer)
    )
    rounding = 1e-10 if dtype is np.float64 else 1e-5
    for a, b in zip(ours.bin_edges_, other.bin_edges_, strict=True):
        assert_allclose(a, b, rtol=rounding, atol=rounding)
    a, b = ours.transform(X), other.transform(X)
    assert type(a) is type(b)
    assert a.dtype == b.dtype
    assert_array_equal(*(z.toarray() if sparse.issparse(z) else z for z in (a, b)))
    assert_allclose(ours.inverse_transform(a), other.inverse_transform(b), rtol=1e-4, atol=1e-4)
    assert_array_equal(ours.get_feature_names_out(), other.get_feature_names_out())


@pytest.mark.parametrize("method", ["averaged_inverted_cdf", "inverted_cdf"])
def test_weighted_quantiles_are_those_of_scikit_learn(method):
    weight = RANDOM.integers(0, 4, len(TABLE))
    ours, other = (
        quiet_fit(thing(6, quantile_method=method), TABLE, sample_weight=weight)
        for thing in (KBinsDiscretizer, theirs.KBinsDiscretizer)
    )
    for a, b in zip(ours.bin_edges_, other.bin_edges_, strict=True):
        assert_allclose(a, b, rtol=1e-14)


@pytest.mark.parametrize("strategy", ["uniform", "quantile", "kmeans"])
def test_a_subsample_is_the_one_of_scikit_learn(strategy):
    X = TABLE[:, :2]  # values halfway between two centers go where rounding sends them
    ours, other = (
        quiet_fit(thing(4, strategy=strategy, subsample=100, random_state=3), X)
        for thing in (KBinsDiscretizer, theirs.KBinsDiscretizer)
    )
    for a, b in zip(ours.bin_edges_, other.bin_edges_, strict=True):
        assert_allclose(a, b, rtol=1e-10)


@pytest.mark.parametrize("strategy", ["uniform", "quantile", "kmeans"])
def test_a_weight_of_two_is_two_rows_and_of_zero_none(strategy):
    weight = RANDOM.integers(0, 3, len(TABLE))
    weighted = quiet_fit(KBinsDiscretizer(4, strategy=strategy), TABLE, sample_weight=weight)
    repeated = quiet_fit(KBinsDiscretizer(4, strategy=strategy), TABLE.repeat(weight, axis=0))
    for a, b in zip(weighted.bin_edges_, repeated.bin_edges_, strict=True):
        assert_allclose(a, b, rtol=1e-10)


@pytest.mark.parametrize("strategy", ["uniform", "quantile", "kmeans"])
@pytest.mark.parametrize("encode", ["ordinal", "onehot", "onehot-dense"])
def test_missing_cells_leave_no_trace_in_bins_and_come_back_missing(strategy, encode):
    model = quiet_fit(KBinsDiscretizer(4, strategy=strategy, encode=encode), GAPS)
    for j, edges in enumerate(model.bin_edges_):
        known = GAPS[~np.isnan(GAPS[:, j]), j : j + 1]
        alone = quiet_fit(KBinsDiscretizer(4, strategy=strategy), known)
        assert_array_equal(edges, alone.bin_edges_[0])
    codes = model.transform(GAPS)
    if encode == "ordinal":
        assert_array_equal(np.isnan(codes), np.isnan(GAPS))
    else:
        assert codes.sum() == np.count_nonzero(~np.isnan(GAPS))
    assert_array_equal(np.isnan(model.inverse_transform(codes)), np.isnan(GAPS))


def test_a_column_without_a_known_cell_has_one_bin():
    X = np.array([[np.nan, 1.0], [np.nan, 2.0]])
    with pytest.warns(UserWarning, match="Feature 0 has no known cell"):
        model = KBinsDiscretizer(2, encode="ordinal").fit(X)
    assert_array_equal(model.n_bins_, [1, 2])
    assert_array_equal(model.transform([[5.0, 1.0]]), [[0.0, 0.0]])


def test_a_bin_that_does_not_exist_cannot_be_undone():
    model = KBinsDiscretizer(2, encode="ordinal").fit([[1.0], [2.0], [3.0]])
    with pytest.raises(ValueError, match="bins from 0 to 1 in feature 0, got 7"):
        model.inverse_transform([[7.0]])


@some
@given(
    values=st.sets(st.integers(-50, 50), min_size=4, max_size=30).map(sorted),
    weights=st.lists(st.integers(1, 5), min_size=30, max_size=30),
)
def test_centers_in_one_dimension_are_means_of_what_is_nearest(values, weights):
    x, w = np.array(values, float), np.array(weights[: len(values)], float)
    centers = kmeans(x, w, np.linspace(x[0], x[-1], 3))
    near = np.abs(x[:, None] - centers).argmin(axis=1)
    means = [np.average(x[near == k], weights=w[near == k]) for k in range(3)]
    # steps end when centers hardly move, or not at all
    assert_allclose(means, centers, atol=0.02 * np.ptp(x))


# cuts between classes


def entropy(y, w):
    shares = np.bincount(y, w) / w.sum()
    return -sum(p * np.log2(p) for p in shares if p > 0)


def brute_force(x, y, w):
    """Cut points by Fayyad and Irani's recursion as the paper has it."""
    values = np.unique(x)
    n, whole, k = w.sum(), entropy(y, w), len(np.unique(y))
    choices = []
    for a, b in pairwise(values):
        low = x <= a
        parts = [(y[side], w[side]) for side in (low, ~low)]
        inside = sum(part[1].sum() / n * entropy(*part) for part in parts)
        choices.append((inside, (a + b) / 2, parts))
    if k < 2 or not choices:
        return []
    least = min(choice[0] for choice in choices)
    inside, cut, parts = next(c for c in choices if c[0] < least + 1e-9)
    delta = np.log2(3.0**k - 2) - k * whole
    delta += sum(len(np.unique(part[0])) * entropy(*part) for part in parts)
    if n <= 1 or whole - inside <= (np.log2(n - 1) + delta) / n:
        return []
    low = x < cut
    return [*brute_force(x[low], y[low], w[low]), cut, *brute_force(x[~low], y[~low], w[~low])]


labeled = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 2), st.integers(1, 4)), min_size=2, max_size=40
)


@some
@given(rows=labeled, shift=st.sampled_from([0, 3, 6]))
def test_cuts_are_those_of_brute_force(rows, shift):
    x, y, w = np.array(rows).T
    x = x + shift * y  # so that there is something to find
    expected = brute_force(x * 0.5, y, w.astype(float))
    model = SupervisedDiscretizer().fit(x[:, None] * 0.5, y, sample_weight=w)
    assert_allclose(model.cut_points_[0], expected)
    repeated = SupervisedDiscretizer().fit(x.repeat(w)[:, None] * 0.5, y.repeat(w))
    assert_allclose(repeated.cut_points_[0], expected)


def test_iris_is_cut_where_the_literature_cuts_it():
    """As R's discretization::mdlp and Weka's Discretize, which cut halfway too, print them."""
    model = SupervisedDiscretizer().fit(*load_iris(return_X_y=True))
    expected = [[5.55, 6.15], [2.95, 3.35], [2.45, 4.75], [0.8, 1.75]]
    for cuts, published in zip(model.cut_points_, expected, strict=True):
        assert_allclose(cuts, published, rtol=1e-12)


def test_the_first_cut_of_petal_length_by_hand():
    """50 setosas lie below 2.45, and no other flower: 150 log₂ 3 - 100 bits are gained.

    The price is log₂ 149 + log₂ 25 - 3 log₂ 3 + 0 + 2 · 1.
    """
    gain = 150 * np.log2(3) - 100
    price = np.log2(149) + np.log2(25) - 3 * np.log2(3) + 2
    assert gain > price
    X, y = load_iris(return_X_y=True)
    some = SupervisedDiscretizer().fit(X[:100, 2:3], y[:100])
    assert_allclose(some.cut_points_[0], [2.45])


def test_a_column_that_tells_nothing_keeps_one_bin():
    y = np.arange(200) % 2
    model = SupervisedDiscretizer().fit(RANDOM.normal(size=(200, 1)), y)
    assert model.n_bins_[0] == 1
    assert model.intervals() == [["(-∞, ∞)"]]


def test_neighboring_numbers_are_told_apart():
    a = 0.1
    b = np.nextafter(a, 1)
    X, y = np.repeat([a, b], 20)[:, None], np.repeat([0, 1], 20)
    model = SupervisedDiscretizer().fit(X, y)
    assert_array_equal(model.transform(X)[:, 0], y)
    many = SupervisedDiscretizer(max_values=5).fit(X, y)  # by keys, of which both have one
    assert_array_equal(many.transform(X)[:, 0], y)


@pytest.mark.parametrize("method", ["mdl", "frequency"])
def test_missing_cells_are_left_out(method):
    model = SupervisedDiscretizer(method).fit(GAPS, CLASSES)
    for j, cuts in enumerate(model.cut_points_):
        known = ~np.isnan(GAPS[:, j])
        alone = SupervisedDiscretizer(method).fit(GAPS[known, j : j + 1], CLASSES[known])
        assert_array_equal(cuts, alone.cut_points_[0])
    assert_array_equal(np.isnan(model.transform(GAPS)), np.isnan(GAPS))


def test_equal_frequency_gives_every_class_the_same_say():
    x = np.r_[np.arange(900.0), 2000 + np.arange(100.0)]
    y = np.repeat([0, 1], [900, 100])
    model = SupervisedDiscretizer("frequency", n_bins=4).fit(x[:, None], y)
    assert_allclose(model.cut_points_[0], [449.5, (899 + 2000) / 2, 2049.5])


@some
@given(st.lists(st.integers(0, 60), min_size=3, max_size=80), st.data())
def test_chunks_and_parts_give_the_cuts_of_all_rows(values, data):
    x = np.array(values, float)[:, None]
    y = np.array([data.draw(st.integers(0, 1)) + (v > 30) for v in values])
    cut = data.draw(st.integers(1, len(x) - 1))
    whole = SupervisedDiscretizer().fit(x, y)
    stream = SupervisedDiscretizer().partial_fit(x[:cut], y[:cut]).partial_fit(x[cut:], y[cut:])
    first, second = (SupervisedDiscretizer().fit(x[s], y[s]) for s in (np.s_[:cut], np.s_[cut:]))
    for model in (stream, first + second, second.merge(first)):
        assert_array_equal(model.classes_, whole.classes_)
        assert_array_equal(model.cut_points_[0], whole.cut_points_[0])
        assert model.error_[0] == 0.0


@some
@given(
    chunks=st.lists(st.lists(st.integers(0, 300), min_size=1, max_size=60), min_size=1, max_size=6),
    limit=st.integers(2, 20),
    weighted=st.booleans(),
)
def test_what_cells_lose_is_at_most_the_error_they_state(chunks, limit, weighted):
    parts = []
    for chunk in chunks:
        x = np.array(chunk, float)
        weight = 1 + x % 3 if weighted else None
        parts += class_histograms(x[:, None], (x % 2).astype(np.int32), weight, 2, limit)
        assert parts[-1].error <= parts[-1].weight / limit + 1
        assert len(parts[-1].values) <= limit
    total = sum(parts[1:], parts[0])
    x = np.concatenate(chunks).astype(float)
    w = 1 + x % 3 if weighted else np.ones(len(x))
    assert_allclose(total.weight, w.sum())
    for at in (*np.unique(x), 1000.0):
        for k in range(2):
            true = w[(x <= at) & (x % 2 == k)].sum()
            kept = total.counts[total.values <= at, k].sum()
            assert true - total.error - 1e-9 <= kept <= true + 1e-9


def test_many_values_are_cut_almost_where_all_of_them_are():
    x = RANDOM.normal(size=(20_000, 2))
    y = (x[:, 0] + RANDOM.normal(scale=0.1, size=len(x)) > 0.3).astype(int)
    exact = SupervisedDiscretizer(max_values=len(x)).fit(x, y)
    rough = SupervisedDiscretizer(max_values=1_000).fit(x, y)
    assert (exact.error_ == 0).all()
    assert (rough.error_ <= 1e-3 + 1 / len(x)).all()
    assert exact.n_bins_[1] == rough.n_bins_[1] == 1
    agree = exact.transform(x)[:, 0] > 0, rough.transform(x)[:, 0] > 0
    assert np.mean(agree[0] != agree[1]) <= 2e-3


def test_many_rows_of_few_values_are_counted_exactly():
    x = np.round(RANDOM.normal(size=5_000), 1)
    x[::7] = np.nan
    y = RANDOM.integers(0, 3, len(x)).astype(np.int32)
    few = class_histograms(x[:, None], y, None, 3, 200)[0]
    one_by_one = ClassHistogram.of(x, y, None, 3, 10_000)
    assert_array_equal(few.values, one_by_one.values)
    assert_array_equal(few.counts, one_by_one.counts)
    assert (few.error, few.lowest) == (0.0, one_by_one.lowest)


def test_a_class_that_comes_later_has_its_place():
    model = SupervisedDiscretizer().partial_fit([[1.0], [2.0]], ["b", "c"])
    model.partial_fit([[3.0]], ["a"])
    assert_array_equal(model.classes_, ["a", "b", "c"])
    assert_array_equal(model.statistics_[0].counts, [[0, 1, 0], [0, 0, 1], [1, 0, 0]])


def test_codes_become_columns_names_ranges_and_centers():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = SupervisedDiscretizer(encode="onehot-dense").fit(X[["petal width (cm)"]], y)
    names = ["(-∞, 0.8)", "[0.8, 1.75)", "[1.75, ∞)"]
    assert_array_equal(model.get_feature_names_out(), [f"petal width (cm) in {n}" for n in names])
    table = model.transform(pd.DataFrame({"petal width (cm)": [0.1, 1.75, None]}))
    assert_array_equal(table, [[1, 0, 0], [0, 0, 1], [0, 0, 0]])
    assert_allclose(model.inverse_transform(table), [[0.45], [2.125], [np.nan]])
    text = model.inverse_transform(table, text=True)
    assert text.tolist() == [["(-∞, 0.8)"], ["[1.75, ∞)"], [None]]
    assert_array_equal(
        model.set_output(transform="pandas").transform(X[["petal width (cm)"]]).sum(), [50, 54, 46]
    )


def test_frames_of_numbers_and_times_are_read_by_column():
    days = pd.Series(pd.date_range("2020-01-01", periods=40))
    frame = pd.DataFrame({"day": days, "size": pd.array([1, None] * 20, dtype="Int64")})
    model = SupervisedDiscretizer().fit(frame, np.arange(40) >= 20)
    assert_array_equal(model.n_bins_, [2, 1])
    assert_array_equal(model.transform(frame)[:, 0], np.arange(40) >= 20)
    with pytest.raises(ValueError, match="'city', got categories"):
        SupervisedDiscretizer().fit(frame.assign(city="Rome"), np.arange(40) >= 20)


def test_a_failed_fit_leaves_the_model_as_it_was():
    model = SupervisedDiscretizer().fit(TABLE, CLASSES)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        model.fit(TABLE[:, :1], CLASSES[:5])
    assert model.n_features_in_ == 3
    model.transform(TABLE)


@some
@given(rows=labeled, more=labeled)
def test_rows_taken_back_leave_no_trace(rows, more):
    (x, y, w), (x_2, y_2, w_2) = (np.array(part).T for part in (rows, more))
    alone = SupervisedDiscretizer().fit(x[:, None], y, sample_weight=w)
    both = np.r_[x, x_2][:, None], np.r_[y, y_2], np.r_[w, w_2]
    model = SupervisedDiscretizer().fit(*both)
    model.forget(x_2[:, None], y_2, sample_weight=w_2)
    assert_array_equal(model.cut_points_[0], alone.cut_points_[0])
    assert_array_equal(model.statistics_[0].values, alone.statistics_[0].values)
    assert model.statistics_[0].lowest == alone.statistics_[0].lowest


def test_rows_that_were_not_learned_cannot_be_taken_back():
    model = SupervisedDiscretizer().fit(TABLE, CLASSES)
    before = model.cut_points_
    with pytest.raises(ValueError, match="never seen"):
        model.forget(TABLE[:2], [7, 7])
    with pytest.raises(ValueError, match="rows that were learned"):
        model.forget(TABLE[:2] + 0.1234, CLASSES[:2])
    with pytest.raises(ValueError, match="Expected some rows to remain"):
        model.forget(TABLE, CLASSES)
    assert model.cut_points_ is before
    rough = SupervisedDiscretizer(max_values=20).fit(TABLE, CLASSES)
    with pytest.raises(ValueError, match="feature 0 has more than max_values=20"):
        rough.forget(TABLE[:2], CLASSES[:2])


def test_threads_change_nothing():
    X, y = RANDOM.normal(size=(12_000, 5)), RANDOM.integers(0, 3, 12_000)
    X[:, 0] += y
    with threads(1):
        one = SupervisedDiscretizer().fit(X, y)
    with threads(3):
        several = SupervisedDiscretizer().fit(X, y)
    for a, b in zip(one.cut_points_, several.cut_points_, strict=True):
        assert_array_equal(a, b)
    assert_array_equal(one.transform(X), several.transform(X))


def test_models_of_other_columns_do_not_merge():
    a = SupervisedDiscretizer().fit(TABLE, CLASSES)
    with pytest.raises(ValueError, match="Expected 3 features"):
        a.merge(SupervisedDiscretizer().fit(TABLE[:, :2], CLASSES))


def test_naive_bayes_reads_the_codes_with_their_gaps():
    codes = SupervisedDiscretizer().fit_transform(GAPS, CLASSES)
    assert CategoricalNB().fit(codes, CLASSES).score(codes, CLASSES) > 0.85


# kernels and their twins


@given(
    st.lists(
        st.floats(allow_infinity=False) | st.sampled_from([0.0, -0.0, 1.0, np.nan]), max_size=60
    )
)
def test_a_column_is_sorted_as_by_its_twin(cells):
    x = np.array(cells, float)
    for ours, plain in zip(kernels.sort_column(x), twins.sort_column(x), strict=True):
        assert ours.tobytes() == plain.tobytes()


def test_cells_that_agree_in_half_of_their_bits_are_sorted_too():
    x = 1e9 + RANDOM.permutation(500) * 1e-6
    value, row = kernels.sort_column(x)
    assert_array_equal(value, np.sort(x))
    assert_array_equal(x[row], value)


@some
@given(
    cells=st.lists(st.integers(-40, 40), max_size=80),
    bits=st.integers(2, 12),
    limit=st.integers(2, 30),
)
def test_keys_and_cells_agree_with_their_twins(cells, bits, limit):
    X = np.array(cells, float).reshape(-1, 1) / 7
    X = np.hstack([X, np.where(X > 1, np.nan, -X)])
    code = (np.arange(len(X)) % 3).astype(np.int32)
    memory = np.empty(X.shape[::-1], np.uint64)
    both = kernels.pack_columns(X, code, bits, memory), twins.pack_columns(X, code, bits, memory)
    for ours, plain in zip(*both, strict=True):
        assert_array_equal(ours, plain)
        key = np.sort(ours)
        for a, b in zip(
            kernels.class_cells(key, bits, 3, limit),
            twins.class_cells(key, bits, 3, limit),
            strict=True,
        ):
            assert_array_equal(a, b)


@some
@given(rows=labeled)
def test_cuts_agree_with_their_twin(rows):
    x, y, w = (column.copy() for column in np.array(sorted(rows)).T)
    arguments = (x + 0.0, y.astype(np.int32), w + 0.0, 3)
    expected = twins.mdl_cuts(*arguments)
    assert_array_equal(kernels.mdl_cuts(*arguments), expected)
    table = np.arange(200.0) * np.log2(np.maximum(np.arange(200), 1))
    assert_array_equal(kernels.mdl_cuts(*arguments, table), expected)


@pytest.mark.parametrize("n_cuts", [0, 3, 100])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bins_agree_with_their_twin(n_cuts, dtype):
    X = np.asfortranarray(GAPS, dtype)
    cuts = [np.sort(RANDOM.normal(size=n_cuts)), np.unique(X[:n_cuts, 1]), np.empty(0)]
    cuts[1] = cuts[1][~np.isnan(cuts[1])].astype(np.float64)
    ours, plain = kernels.digitize(X, cuts), twins.digitize(X, cuts)
    assert ours.dtype == dtype
    assert_array_equal(ours, plain)


@pytest.mark.parametrize("model", [KBinsDiscretizer(3), SupervisedDiscretizer()], ids=repr)
def test_a_fit_that_fails_leaves_the_bins_and_the_columns(model):
    named = pd.DataFrame(TABLE, columns=["a", "b", "c"])
    model = quiet_fit(clone(model), named, CLASSES)
    before, answer = dict(vars(model)), model.transform(named)
    for fails in (
        lambda: model.fit(TABLE[:, :2], CLASSES, sample_weight=-np.ones(400)),
        lambda: model.set_params(n_bins=1).fit(TABLE[:, :2], CLASSES),
    ):
        with pytest.raises(ValueError, match=r"non-negative|n_bins"):
            fails()
    assert all(vars(model)[n] is value for n, value in before.items() if n != "n_bins")
    again = model.set_params(n_bins=3).transform(named)
    assert_array_equal(*(z.toarray() if sparse.issparse(z) else z for z in (again, answer)))
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(named[["c", "b", "a"]])


@pytest.mark.parametrize("model", [KBinsDiscretizer(3), SupervisedDiscretizer()], ids=repr)
def test_names_of_columns_are_those_of_the_last_fit(model):
    model = quiet_fit(clone(model), pd.DataFrame(TABLE, columns=["a", "b", "c"]), CLASSES)
    assert_array_equal(model.feature_names_in_, ["a", "b", "c"])
    quiet_fit(model, TABLE[:, :2], CLASSES)
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")
