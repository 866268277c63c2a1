"""Columns of numbers in bins and with heavy tails, and the choice between families."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_iris

from posterior import (
    Binned,
    Categorical,
    Gaussian,
    Laplace,
    MEstimate,
    Mixture,
    NaiveBayes,
    PseudoRows,
    StudentT,
    SupervisedDiscretizer,
    kernels,
    load,
    save,
)
from posterior.data.rows import Hard, Soft
from posterior.generative.choice import least_loss
from posterior.kernels.reference import student as twins
from posterior.statistics import Histograms

some = settings(max_examples=max(25, settings.default.max_examples // 5))
RANDOM = np.random.default_rng(0)
IRIS = load_iris(return_X_y=True)


def hard(n, k=1, weight=None, codes=None):
    return Hard(np.zeros(n, np.int32) if codes is None else codes, k, weight)


def two_humps(n=400, seed=0):
    """The first column of class 1 lies on both sides of class 0; the second has a few far out."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % 2
    humps = np.where(y == 0, 0.0, random.choice([-4.0, 4.0], n)) + random.normal(size=n)
    tails = random.standard_t(1.2, n) + 3 * y
    normal = random.normal(size=n) + y
    return np.stack([humps, tails, normal], axis=1), y


# sums of values


values = st.lists(
    st.one_of(
        st.integers(-8, 8).map(float),
        st.floats(-1e300, 1e300, allow_subnormal=True),
        st.just(float("nan")),
    ),
    min_size=0,
    max_size=40,
)


def histograms(cells, limit, k=2):
    x = np.array(cells, float)[:, None]
    codes = (np.arange(len(x)) % k).astype(np.int32)
    return Histograms.of(x, hard(len(x), k, codes=codes), limit)


@some
@given(parts=st.lists(values, min_size=1, max_size=4), limit=st.integers(2, 12))
def test_parts_sum_to_the_whole_whatever_their_order(parts, limit):
    x = np.array([v for part in parts for v in part], float)[:, None]
    codes = np.array([i % 2 for part in parts for i in range(len(part))], np.int32)
    whole = Histograms.of(x, hard(len(x), 2, codes=codes), limit)
    sums = [histograms(part, limit) for part in parts]
    forward = sum(sums[1:], sums[0])
    back = sum(sums[-2::-1], sums[-1])
    assert forward == whole
    assert back == whole
    assert_array_equal(forward.shift, whole.shift)
    assert len(whole.counts.values[0]) <= limit or whole.shift[0] == 52


@some
@given(kept=values, removed=values)
def test_rows_taken_back_leave_no_trace_while_values_are_few(kept, removed):
    a, b = histograms(kept, 1000), histograms(removed, 1000)
    assert (a + b) - b == a
    assert not (a + b - b).impossible().any()


@some
@example(cells=[0.0, 1.0, -1e-308], limit=2)
@given(cells=values, limit=st.integers(2, 12))
def test_cells_hold_the_weight_of_their_rows_and_no_other(cells, limit):
    x = np.array(cells, float)
    found = histograms(cells, limit)
    (first,), (last,) = found.counts.values, found.last()
    known = x[~np.isnan(x)]
    assert ((first[:, None] <= known) & (known <= last[:, None])).sum(axis=0).tolist() == (
        [1] * len(known)
    )
    inside = [
        np.count_nonzero((known >= a) & (known <= b)) for a, b in zip(first, last, strict=True)
    ]
    assert_array_equal(found.counts.table.rounded().sum(axis=0), inside)


def test_rows_without_weight_or_group_make_no_cells():
    x = np.array([[1.0], [2.0], [3.0]])
    without = Histograms.of(x, Hard(np.array([0, -1, 0], np.int32), 1, np.array([1.0, 1, 0])), 9)
    assert_array_equal(without.counts.values[0], [1.0])


def test_hard_groups_are_soft_ones_that_are_sure():
    x = np.round(RANDOM.normal(size=(60, 2)), 1)
    codes = RANDOM.integers(0, 3, 60).astype(np.int32)
    sure = Histograms.of(x, Soft(np.eye(3)[codes]), 50)
    assert sure == Histograms.of(x, Hard(codes, 3), 50)


def test_a_far_away_mean_costs_no_resolution():
    x = 1e8 + RANDOM.normal(size=(20_000, 1))
    found = Histograms.of(x, hard(len(x)), 4096)
    assert (np.diff(found.counts.values[0]) > 0).all()
    assert 2.0 ** (found.shift[0] - 52 + 26) < 0.01  # the width of a cell


# bins


def test_shares_are_counts_of_bins_and_pseudo_rows_like_all_classes():
    """Petal length below 2.45 holds 50 setosas and no other flower of 150."""
    X, y = IRIS
    parameters = Binned(MEstimate(2.0, None)).estimate(
        Binned().statistics(X[:, 2:3], Hard(y.astype(np.int32), 3))
    )
    assert_allclose(parameters.edges[0], [1.0, 2.45, 4.75, 6.9])
    expected = np.array([50, 0, 0]) + 2 * 50 / 150
    assert_allclose(np.exp(parameters.bins.log_prob[0][:, 0]), expected / 52)


def test_posteriors_are_those_of_categories_of_the_supervised_discretizer():
    X, y = IRIS
    bins = SupervisedDiscretizer().fit(X, y)
    codes = pd.DataFrame(bins.transform(X)).astype(int).astype(str)
    plain = NaiveBayes(Categorical(MEstimate(1.0, None))).fit(codes, y)
    ours = NaiveBayes(Binned()).fit(X, y)
    assert_allclose(ours.predict_proba(X), plain.predict_proba(codes), rtol=1e-10)


@pytest.mark.parametrize("n_bins", [None, 6])
def test_bins_reach_from_lowest_to_highest_and_leave_a_hundredth_to_a_tail(n_bins):
    X, y = two_humps()
    model = NaiveBayes(Binned(n_bins=n_bins)).fit(X[:, :1], y)
    (edges,), (density,) = model.joint_.parameters.edges, model.joint_.parameters.log_density()
    assert edges[0] == X[:, 0].min()
    assert edges[-1] == X[:, 0].max()
    area = np.exp(density) * np.diff(edges)
    area[:, [0, -1]] *= 1.01
    assert_allclose(area.sum(axis=1), 1)


@pytest.mark.parametrize("low", [1.0, 0.0, -1.0, 1e300, 5e-324, -5e-324])
def test_neighbors_among_numbers_have_bins_of_their_own(low):
    x, y = np.array([[low], [np.nextafter(low, np.inf)]] * 20), np.arange(40) % 2
    model = NaiveBayes(Binned(n_bins=2)).fit(x, y)
    (edges,) = model.joint_.parameters.edges
    assert len(edges) == 3 and (np.diff(edges) > 0).all()
    assert np.isfinite(model.log_evidence(x)).all()
    assert (model.predict(x) == y).all()


def test_a_value_beyond_all_others_is_strange_and_leaves_the_odds_of_its_bin():
    X, y = two_humps()
    model = NaiveBayes("binned").fit(X, y)
    highest = X.max(axis=0)
    rows = np.stack([highest, highest + 1, highest + 100])
    assert (np.diff(model.log_evidence(rows)) < -10).all()
    assert_allclose(model.predict_proba(rows), model.predict_proba(rows[[0, 0, 0]]))
    terms = model.evidence(rows).terms.sum(axis=2) + model.class_log_prior_
    assert_allclose(terms, model.predict_joint_log_proba(rows))


def test_terms_add_up_and_missing_cells_add_nothing():
    X, y = two_humps()
    model = NaiveBayes("binned").fit(X, y)
    holes = np.where(RANDOM.random(X.shape) < 0.3, np.nan, X)
    terms = model.evidence(holes).terms
    assert (terms[np.isnan(holes).nonzero()[0], :, np.isnan(holes).nonzero()[1]] == 0).all()
    assert_allclose(
        terms.sum(axis=2) + model.class_log_prior_, model.predict_joint_log_proba(holes)
    )


def test_samples_fill_the_bins_as_the_classes_do():
    X, y = two_humps()
    model = NaiveBayes("binned").fit(X, y)
    rows, classes = model.sample(20_000, random_state=0)
    for j, edges in enumerate(model.joint_.parameters.edges):
        assert edges[0] <= rows[:, j].min()
        assert rows[:, j].max() <= edges[-1]
        for k in range(2):
            share = np.histogram(rows[classes == k, j], edges)[0] / (classes == k).sum()
            expected = np.exp(model.joint_.parameters.bins.log_prob[j][k, :-1])
            assert_allclose(share, expected, atol=0.02)


@pytest.mark.parametrize("family", [Binned(), StudentT()], ids=repr)
def test_streams_parts_and_rows_taken_back_give_the_model_of_all_rows(family):
    X, y = two_humps()
    X = np.where(RANDOM.random(X.shape) < 0.1, np.nan, X)
    whole = NaiveBayes(family).fit(X, y)
    stream = NaiveBayes(family).partial_fit(X[:150], y[:150]).partial_fit(X[150:], y[150:])
    merged = NaiveBayes(family).fit(X[200:], y[200:]) + NaiveBayes(family).fit(X[:200], y[:200])
    more, labels = two_humps(seed=1)
    forgetful = NaiveBayes(family).fit(np.vstack([X, more]), np.r_[y, labels])
    forgetful.forget(more, labels)
    for model in (stream, merged, forgetful):
        assert model.statistics_ == whole.statistics_
        assert_array_equal(model.predict_log_proba(X), whole.predict_log_proba(X))
    with pytest.raises(ValueError, match="rows that were learned"):
        whole.forget(X[:2] + 0.123, y[:2])


@pytest.mark.parametrize("family", [Binned(), Binned(n_bins=4), StudentT()], ids=repr)
def test_every_fold_learns_its_own_cuts_and_tails(family):
    X, y = two_humps(120)
    folds = np.arange(len(y)) % 3
    held_out = NaiveBayes(family).cross_validate(X, y, folds=folds)
    for f in range(3):
        alone = NaiveBayes(family).fit(X[folds != f], y[folds != f])
        answer = alone.predict_log_proba(X[folds == f])
        assert_allclose(held_out.log_proba[folds == f], answer, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("family", [Binned(), StudentT()], ids=repr)
def test_leaving_one_out_is_near_what_a_fit_without_the_row_says(family):
    X, y = two_humps(80)
    X = X[:, :2]
    close = NaiveBayes(family).leave_one_out(X, y).log_proba
    folds = np.arange(len(y))
    exact = NaiveBayes(family).cross_validate(X, y, folds=folds).log_proba
    own = np.arange(len(y)), y
    assert np.median(np.abs(close[own] - exact[own])) < 1e-3
    assert abs(close[own].mean() - exact[own].mean()) < 0.05


def test_weights_are_rows():
    X, y = two_humps(100)
    weight = RANDOM.integers(0, 3, len(y))
    for family in (Binned(), StudentT()):
        weighted = NaiveBayes(family).fit(X, y, sample_weight=weight)
        repeated = NaiveBayes(family).fit(X.repeat(weight, axis=0), y.repeat(weight))
        assert_allclose(
            weighted.predict_log_proba(X), repeated.predict_log_proba(X), rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("family", ["binned", "student"])
def test_hard_columns_are_no_obstacle(family):
    n = 60
    y = np.arange(n) % 2
    table = np.stack(
        [
            np.full(n, 7.0),  # never varies
            np.full(n, np.nan),  # never observed
            np.where(y == 0, -1.7e308, 1.7e308) if family == "binned" else 1e8 + y,
            np.where(np.arange(n) == 5, np.nan, 1e8 + RANDOM.normal(size=n) + 3 * y),
            np.where(RANDOM.random(n) < 0.9, 0.0, RANDOM.integers(1, 50, n)),  # mostly one value
            np.where(y == 0, 0.1, np.nextafter(0.1, 1)),
        ],
        axis=1,
    )
    model = NaiveBayes(family).fit(table, y)
    assert np.isfinite(model.predict_log_proba(table)).all()
    assert np.isfinite(model.log_evidence(table)).all()
    assert model.score(table, y) == 1.0
    assert np.isfinite(model.cross_validate(table, y, folds=3).log_loss)
    rows, _ = model.sample(5, random_state=0)
    assert rows.shape == (5, 6)


def test_one_row_of_a_class_and_none_are_enough():
    model = NaiveBayes("binned").partial_fit([[1.0], [2.0], [9.0]], [0, 0, 1], classes=[0, 1, 2])
    assert_allclose(model.predict_proba([[5.0]])[0, 2], 0, atol=1e-12)
    model = NaiveBayes("student").partial_fit([[1.0], [2.0], [9.0]], [0, 0, 1], classes=[0, 1, 2])
    assert np.isfinite(model.predict_proba([[5.0]])).all()


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: Binned(n_bins=1), "two bins or more"),
        (lambda: Binned(max_values=1), "two values or more"),
        (lambda: StudentT(max_values=0), "two values or more"),
    ],
)
def test_settings_without_a_meaning_are_refused(make, what):
    with pytest.raises(ValueError, match=what):
        make()


def test_frames_have_families_by_name_and_say_so():
    frame = pd.DataFrame(dict(zip(("humps", "tails", "plain"), two_humps()[0].T, strict=True)))
    frame["word"] = np.where(frame["plain"] > 0, "up", "down")
    y = two_humps()[1]
    model = NaiveBayes({"humps": Binned(), "tails": "student"}).fit(frame, y)
    families = dict(zip(model.columns_["column"], model.columns_["family"], strict=True))
    assert families == {
        "humps": "Binned",
        "tails": "StudentT",
        "plain": "Gaussian",
        "word": "Categorical",
    }
    bins = len(model.joint_.parameters[0].edges[0]) - 1
    assert f"{bins} bins" in model.columns_["values"][0]
    table = model.parameters()
    assert any(name.startswith("P([") for name in table["parameter"])
    assert {"mean", "scale", "variance"} <= set(table["parameter"])


@pytest.mark.parametrize("families", ["binned", "student", "auto"])
def test_a_file_holds_bins_tails_and_choices(families, tmp_path):
    X, y = two_humps()
    model = NaiveBayes(families).fit(X, y)
    save(model, tmp_path / "model.posterior")
    again = load(tmp_path / "model.posterior")
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    again.partial_fit(X[:50], y[:50])
    model.partial_fit(X[:50], y[:50])
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_mixture_keeps_the_bins_of_its_first_guess():
    X, _ = two_humps(100)
    model = Mixture(Binned(), n_components=2, random_state=0, tol=0.01).fit(X[:, :2])
    assert np.isfinite(model.score_samples(X[:, :2])).all()
    assert len(model.joint_.parameters.edges[0]) > 2


# ranges that are given


EDGES = [-1.0, 0.0, 1.5]


def test_given_ranges_are_categories_of_their_names():
    X, y = two_humps()
    names = np.array(["< -1", "-1 to 0", "0 to 1.5", "> 1.5"])
    words = pd.DataFrame(names[np.searchsorted(EDGES, X, side="right")])
    ranges = NaiveBayes(Binned(Laplace(1.0), edges=EDGES)).fit(X, y)
    categories = NaiveBayes(Categorical(Laplace(1.0))).fit(words, y)
    assert_allclose(ranges.predict_log_proba(X), categories.predict_log_proba(words), rtol=1e-12)
    assert_allclose(ranges.log_evidence(X), categories.log_evidence(words), rtol=1e-12)
    assert_allclose(
        ranges.leave_one_out(X, y).log_proba, categories.leave_one_out(words, y).log_proba
    )
    table = ranges.parameters()
    assert set(table["parameter"]) == {"P((-∞, -1))", "P([-1, 0))", "P([0, 1.5))", "P([1.5, ∞))"}
    assert_allclose(table["value"].sum(), X.shape[1] * 2)


def test_an_edge_belongs_to_the_range_above_it():
    X, y = np.array([[49.9], [50.0], [59.9], [60.0]]), [0, 1, 1, 0]
    model = NaiveBayes(Binned(Laplace(1.0), edges=[50, 60])).fit(X, y)
    proba = model.predict_proba([[np.nextafter(50, 0)], [50], [np.nextafter(60, 0)], [60], [1e300]])
    assert_allclose(proba[:, 1], [1 / 3, 3 / 4, 3 / 4, 1 / 3, 1 / 3])


def test_given_ranges_stream_merge_and_forget_to_the_bit():
    X, y = two_humps()
    X = np.where(RANDOM.random(X.shape) < 0.1, np.nan, X)
    family = Binned(edges=EDGES, max_values=2)  # which says nothing of ranges
    whole = NaiveBayes(family).fit(X, y)
    stream = NaiveBayes(family).partial_fit(X[:150], y[:150]).partial_fit(X[150:], y[150:])
    merged = NaiveBayes(family).fit(X[200:], y[200:]) + NaiveBayes(family).fit(X[:200], y[:200])
    more, labels = two_humps(seed=1)
    forgetful = NaiveBayes(family).fit(np.vstack([X, more]), np.r_[y, labels])
    forgetful.forget(more, labels)
    for model in (stream, merged, forgetful):
        assert model.statistics_ == whole.statistics_
        assert_array_equal(model.predict_log_proba(X), whole.predict_log_proba(X))
    with pytest.raises(ValueError, match="the same families to merge"):
        whole + NaiveBayes(Binned(edges=[0.0])).fit(X, y)


def test_a_range_that_no_row_is_in_is_not_impossible():
    X, y = two_humps()
    model = NaiveBayes(Binned(edges=[*EDGES, 1e6])).fit(X, y)
    assert np.isfinite(model.predict_log_proba(np.full((1, X.shape[1]), 1e7))).all()
    table = model.parameters()
    assert_allclose(table["value"].sum(), X.shape[1] * 2)
    assert (table["value"] > 0).all()


def test_a_file_holds_given_ranges_and_samples_fall_into_them(tmp_path):
    X, y = two_humps()
    model = NaiveBayes({0: Binned(edges=EDGES)}).fit(X, y)
    save(model, tmp_path / "model.posterior")
    again = load(tmp_path / "model.posterior")
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.families[0].edges == tuple(EDGES)
    rows, classes = again.sample(20_000, random_state=0)
    for k in range(2):
        share = np.bincount(np.searchsorted(EDGES, rows[classes == k, 0], side="right"))
        expected = np.exp(model.joint_.parameters[0].bins.log_prob[0][k, :-1])
        assert_allclose(share / share.sum(), expected, atol=0.02)  # four deviations of a share


@pytest.mark.parametrize(
    "edges", [[], [60, 50], [50, 50], [1, np.inf], [np.nan], ["a"], 5], ids=str
)
def test_edges_that_part_nothing_are_refused(edges):
    with pytest.raises(ValueError, match="edges of ranges to be numbers that increase"):
        Binned(edges=edges)
    with pytest.raises(ValueError, match="edges or n_bins, got both"):
        Binned(edges=[1.0], n_bins=3)


# heavy tails


@some
@given(st.floats(1, 200), st.floats(-50, 50), st.floats(1e-3, 1e3), st.floats(-100, 100))
def test_the_density_is_that_of_scipy(freedom, mean, scale, x):
    from posterior.families.gaussian import GaussianParameters

    one = GaussianParameters(*(np.array([[v]]) for v in (mean, scale**2, freedom)))
    expected = stats.t.logpdf(x, freedom, mean, scale)
    assert_allclose(StudentT().evidence(np.array([[x]]), one)[0, 0, 0], expected, rtol=1e-9)


@pytest.mark.parametrize("freedom", [1.5, 3.0, 8.0])
def test_parameters_are_those_of_scipys_search(freedom):
    x = 5 + 2 * np.random.default_rng(1).standard_t(freedom, 1500)
    family = StudentT(PseudoRows(0.0))
    found = family.estimate(family.statistics(x[:, None], hard(len(x))))
    nu, mean, scale = stats.t.fit(x, freedom, loc=5, scale=2)
    ours = found.freedom[0, 0], found.mean[0, 0], np.sqrt(found.variance[0, 0])
    assert_allclose(ours, (nu, mean, scale), rtol=2e-3)
    assert stats.t.logpdf(x, *ours).sum() >= stats.t.logpdf(x, nu, mean, scale).sum() - 1e-4


def test_cells_of_many_values_hardly_change_the_tails():
    x = np.random.default_rng(2).standard_t(3, (20_000, 1))
    exact, rough = (
        StudentT(max_values=limit).estimate(StudentT(max_values=limit).statistics(x, hard(len(x))))
        for limit in (30_000, 1_000)
    )
    assert_allclose(rough.variance, exact.variance, rtol=2e-3)
    assert_allclose(rough.freedom, exact.freedom, rtol=5e-3)


def test_steps_agree_with_their_twin():
    x = np.sort(RANDOM.standard_t(2, 300))
    W = RANDOM.integers(0, 3, (3, 300)).astype(float)
    W[2] = 0
    start = twins.Tails(np.zeros(3), np.ones(3), 4.0, np.zeros(3))
    for m in (0.0, 1.0):
        ours, plain = (
            fit(x, W, start, m, 1e-9) for fit in (kernels.student_fit, twins.student_fit)
        )
        for name in ("mean", "square", "freedom", "weight"):
            a, b = getattr(ours, name), getattr(plain, name)
            assert_allclose(a, b, rtol=1e-8, atol=1e-10)


def test_heavy_tails_are_foretold_better_than_by_a_normal():
    random = np.random.default_rng(3)
    y = np.arange(600) % 3
    X = random.standard_t(1.5, (600, 3)) + 2 * y[:, None]
    student, normal, binned = (
        NaiveBayes(f).cross_validate(X, y).log_loss for f in ("student", None, "binned")
    )
    assert student < min(normal, binned)


# the choice


def test_each_column_gets_the_family_that_foretells_best():
    X, y = two_humps(1000)
    model = NaiveBayes("auto").fit(X, y)
    assert list(model.columns_["family"]) == ["Binned", "StudentT", "Gaussian"]
    assert model.chosen_ == {0: "binned", 1: "student", 2: "gaussian"}


def test_other_columns_keep_their_families_and_take_part():
    X, y = two_humps(600)
    frame = pd.DataFrame(X, columns=["humps", "tails", "plain"])
    frame["word"] = np.where(RANDOM.random(600) < 0.2 + 0.6 * y, "up", "down")
    frame.loc[::7, "humps"] = None
    model = NaiveBayes("auto").fit(frame, y)
    assert list(model.columns_["family"])[0::3] == ["Binned", "Categorical"]
    held_out = NaiveBayes("auto").cross_validate(frame, y)
    assert held_out.log_loss < NaiveBayes().cross_validate(frame, y).log_loss - 0.1


def test_a_stream_goes_on_with_the_families_chosen():
    X, y = two_humps(600)
    model = NaiveBayes("auto").fit(X[:400], y[:400]).partial_fit(X[400:], y[400:])
    named = NaiveBayes(dict(model.chosen_)).fit(X, y)
    assert_array_equal(model.predict_proba(X), named.predict_proba(X))
    with pytest.raises(ValueError, match=r"Expected fit\(\) before partial_fit\(\)"):
        NaiveBayes("auto").partial_fit(X, y)
    with pytest.raises(ValueError, match="Expected one of"):
        Mixture("auto", n_components=2).fit(X)


def test_pseudo_rows_are_tuned_whatever_was_chosen():
    X, y = two_humps(200)
    model = NaiveBayes("auto").tune(X, y, folds=4, grid={"prior_rows": [0.1, 50.0]})
    assert np.diff(model.tuning_["log_loss"])[0] != 0
    assert model.prior_rows == 0.1


def test_a_table_without_numbers_has_nothing_to_choose():
    frame = pd.DataFrame({"word": ["a", "b"] * 20})
    model = NaiveBayes("auto").fit(frame, np.arange(40) % 2)
    assert model.chosen_ == {}
    assert model.score(frame, np.arange(40) % 2) == 1.0
    assert clone(model).families == "auto"


def test_a_choice_that_gains_nothing_is_not_made():
    terms = np.log(RANDOM.random((3, 2, 50, 2)))
    terms[1:] = terms[0]
    chosen = least_loss(terms, np.zeros((50, 2)), (np.arange(50) % 2).astype(np.int32))
    assert_array_equal(chosen, [0, 0])


def test_chosen_families_foretell_diabetes_better(shared_data):
    frame = pd.read_csv(shared_data / "pima-diabetes.csv")
    y = frame.pop("diabetes").to_numpy()
    folds = np.arange(len(y)) % 3
    loss = 0.0
    for f in range(3):
        model = NaiveBayes("auto").fit(frame[folds != f], y[folds != f])
        proba = model.predict_log_proba(frame[folds == f])
        loss -= proba[np.arange(len(proba)), y[folds == f]].sum() / len(y)
    normal = NaiveBayes(Gaussian()).cross_validate(frame, y, folds=folds).log_loss
    assert loss < normal - 0.04


@pytest.mark.parametrize("n_bins", [1, 2**31])
def test_bins_are_as_many_as_can_be_told_apart(n_bins):
    with pytest.raises(ValueError, match=f"up to 1,000,000, or None, got n_bins={n_bins}"):
        Binned(n_bins=n_bins)
