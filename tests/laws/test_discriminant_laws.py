"""Gaussian discriminant analysis is the sum of its rows, and its answers are those of SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from strategies import bits, chunks, merged, randoms, share

import posterior
from posterior import (
    DegenerateError,
    GaussianDiscriminantAnalysis,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from posterior.data.rows import Hard, Soft
from posterior.engines import Local
from posterior.statistics.cross_products import CrossSums

pytestmark = [
    pytest.mark.filterwarnings("ignore::posterior.DegenerateWarning"),
    pytest.mark.slow,
]
KINDS = ["shared", "own", "diagonal", "spherical"]
each_kind = pytest.mark.parametrize("kind", KINDS)
OFFSETS = [0.0, 1e3, 1e6]
widths = st.integers(1, 4)
TOLERANCE = 1e-12


def few(part):
    """EM takes hundreds of steps a case."""
    return share(30 * part)


def labels(random, n, k=3):
    """Every class has a third of the rows, about; in any order."""
    return random.permutation(np.arange(n) % k)


def table(random, y, d, offset=0.0, holes=0.0):
    """Correlated columns of sizes 0.1 to 10, classes apart by deviations, far from zero or not."""
    size = 10.0 ** random.uniform(-1, 1, d)
    A = (np.eye(d) + 0.4 * random.normal(size=(d, d))) * size
    center = random.normal(0, 2, (int(y.max(initial=0)) + 1, d)) * size
    X = random.normal(size=(len(y), d)) @ A + center[y] + offset * size
    X[random.random(X.shape) < holes] = np.nan
    return X


def weights(random, n):
    return [None, random.integers(1, 5, n).astype(float), random.uniform(0.1, 9, n)][
        random.integers(3)
    ]


def some(values, rows):
    return None if values is None else values[rows]


def fit(make, X, y, weight=None, rows=slice(None)):
    return make().fit(X[rows], y[rows], some(weight, rows))


def in_another_order(make, X, y, weight, random):
    return fit(make, X, y, weight, random.permutation(len(y)))


def in_chunks_of_an_engine(make, X, y, weight, random):
    model = make()
    model.engine_ = Local(chunk_rows=int(random.integers(1, 9)))
    return model.fit(X, y, weight)


def in_a_stream(make, X, y, weight, random):
    model = make()
    for part in chunks(random, len(y)):
        model.partial_fit(X[part], y[part], sample_weight=some(weight, part))
    return model


def row_by_row(make, X, y, weight, random):
    model = make()
    for i in random.permutation(len(y)):
        model.partial_fit(
            X[[i]],
            y[[i]],
            np.unique(y) if not hasattr(model, "classes_") else None,
            some(weight, [i]),
        )
    return model


def by_merging(make, X, y, weight, random):
    parts = [
        make().partial_fit(X[part], y[part], np.unique(y), some(weight, part))
        for part in chunks(random, len(y))
    ]
    return merged(random, parts)


WAYS = [in_another_order, in_chunks_of_an_engine, in_a_stream, row_by_row, by_merging]


def em_tolerance(offset):
    """EM multiplies rounding as it slows down, and adds doubles of the size of the mean."""
    return 1e-10 + 1e-14 * offset


def assert_near(ours, expected, tolerance=TOLERANCE):
    """Means and covariances, measured in deviations; a mean has at least its own last bits."""
    mean, covariance = expected.means_, expected.parameters_.covariance
    deviation = np.sqrt(np.einsum("kii->ki", covariance))
    np.testing.assert_array_equal(ours.classes_, expected.classes_)
    np.testing.assert_allclose(ours.priors_, expected.priors_, rtol=tolerance)
    error = np.abs(ours.means_ - mean) / (np.abs(mean) + deviation)
    assert error.max() < tolerance
    size = deviation[:, :, None] * deviation[:, None, :]
    error = np.abs(ours.parameters_.covariance - covariance) / np.where(size > 0, size, 1.0)
    assert error.max() < tolerance


@each_kind
@pytest.mark.parametrize("offset", OFFSETS)
@few(8)
@given(random=randoms, d=widths, way=st.sampled_from(WAYS))
def test_order_chunks_and_merging_do_not_matter(kind, offset, random, d, way):
    y = labels(random, 30)
    X, weight = table(random, y, d, offset), weights(random, 30)

    def make():
        return GaussianDiscriminantAnalysis(kind)

    assert_near(way(make, X, y, weight, random), fit(make, X, y, weight))


@each_kind
@few(20)
@given(
    random=randoms,
    d=st.integers(2, 4),
    way=st.sampled_from(WAYS),
    offset=st.sampled_from(OFFSETS),
)
def test_nor_do_they_with_missing_cells(kind, random, d, way, offset):
    y = labels(random, 60)
    X, weight = table(random, y, d, offset, holes=0.1), weights(random, 60)

    def make():
        return GaussianDiscriminantAnalysis(kind)

    expected = fit(make, X, y, weight)
    ours = way(make, X, y, weight, random)
    assert_near(ours, expected, em_tolerance(offset))


@pytest.mark.parametrize(
    "make",
    [
        LinearDiscriminantAnalysis,
        QuadraticDiscriminantAnalysis,
        lambda: LinearDiscriminantAnalysis("eigen", shrinkage=0.1),
        lambda: QuadraticDiscriminantAnalysis(reg_param=0.1),
        lambda: GaussianDiscriminantAnalysis("own", pseudo_rows=3.0, shrinkage=0.1),
        lambda: GaussianDiscriminantAnalysis("shared", predictive=True),
    ],
    ids=["linear", "quadratic", "eigen", "reg_param", "prior", "predictive"],
)
@few(20)
@given(random=randoms, d=widths, way=st.sampled_from(WAYS), offset=st.sampled_from(OFFSETS))
def test_order_chunks_and_merging_do_not_matter_to_any_class(make, random, d, way, offset):
    y = labels(random, 30)
    X, weight = table(random, y, d, offset), weights(random, 30)
    expected, ours = fit(make, X, y, weight), way(make, X, y, weight, random)
    assert_near(ours, expected)
    scale = np.abs(expected.predict_joint_log_proba(X)).max(axis=1, keepdims=True) + 1
    error = ours.predict_joint_log_proba(X) - expected.predict_joint_log_proba(X)
    assert (np.abs(error) / scale).max() < 1e-9


@each_kind
@few(8)
@given(random=randoms, d=widths, offset=st.sampled_from(OFFSETS), holes=st.sampled_from([0, 0.1]))
def test_rows_forgotten_were_never_seen(kind, random, d, offset, holes):
    """Half of them: what is left of rounding is 1e-16 of the scatter that was there."""
    y = labels(random, 60)
    X, weight = table(random, y, d, offset, holes), weights(random, 60)
    kept, left = np.split(random.permutation(60), 2)
    assume((np.bincount(y[kept], minlength=3) > 2 * d + 2).all())

    def make():
        return GaussianDiscriminantAnalysis(kind)

    ours = fit(make, X, y, weight)
    for part in chunks(random, 30):
        ours.forget(X[left[part]], y[left[part]], some(weight, left[part]))
    never = fit(make, X, y, weight, kept)
    assert_near(ours, never, em_tolerance(offset) if holes else 10 * TOLERANCE)
    left_over = never.statistics_.features.incomplete.compact()
    assert len(ours.statistics_.features.incomplete.compact()) == len(left_over)


@few(1)
@given(random=randoms, d=widths, offset=st.sampled_from(OFFSETS), holes=st.sampled_from([0, 0.2]))
def test_sums_taken_back_leave_no_trace(random, d, offset, holes):
    y = labels(random, 20)
    X, weight = table(random, y, d, offset, holes), weights(random, 20)
    codes = y.astype(np.int32)
    a, b = (
        CrossSums.of(X[rows], Hard(codes[rows], 3, some(weight, rows)))
        for rows in np.split(random.permutation(20), [7])
    )
    assert (a + b) - b == a
    assert (b + a) - a == b
    assert not (a + b) - a == a
    assert a + b == b + a
    assert (a + b) * 2 == a + a + b + b  # whole factors are exact; others round to a pair


@each_kind
@few(8)
@given(random=randoms, d=widths, offset=st.sampled_from(OFFSETS), holes=st.sampled_from([0, 0.1]))
def test_a_weight_of_two_is_two_rows(kind, random, d, offset, holes):
    y = labels(random, 40)
    X, w = table(random, y, d, offset, holes), random.integers(1, 4, 40)

    def make():
        return GaussianDiscriminantAnalysis(kind)

    weighted = fit(make, X, y, w.astype(float))
    repeated = fit(make, X, y, rows=np.repeat(np.arange(40), w))
    tolerance = em_tolerance(offset) if holes else TOLERANCE
    assert_near(weighted, repeated, tolerance)
    assert_near(
        fit(make, X, y, np.full(40, 2.0)),
        fit(make, X, y, rows=np.tile(np.arange(40), 2)),
        tolerance,
    )


@each_kind
@few(8)
@given(random=randoms, d=widths, holes=st.sampled_from([0, 0.1]))
def test_the_size_of_all_weights_does_not_matter(kind, random, d, holes):
    """Also if they sum to one."""
    y = labels(random, 40)
    X, w = table(random, y, d, 0, holes), random.uniform(0.5, 2, 40)

    def make():
        return GaussianDiscriminantAnalysis(kind)

    try:
        small = fit(make, X, y, w / w.sum())
    except DegenerateError:  # few rows are complete, and EM leaves no inverse of their covariance
        with pytest.raises(DegenerateError):
            fit(make, X, y, w)
        return
    assert_near(small, fit(make, X, y, w), 1e-10)


@each_kind
@few(8)
@given(random=randoms, d=widths, holes=st.sampled_from([0, 0.1]))
def test_threads_do_not_change_a_bit(kind, random, d, holes):
    y = labels(random, 60)
    X, weight = table(random, y, d, 0, holes), weights(random, 60)
    shown = []
    for n in (1, 3):
        model = GaussianDiscriminantAnalysis(kind)
        model.engine_ = Local(chunk_rows=7)
        with posterior.threads(n):
            model.fit(X, y, weight)
            answers = model.predict_joint_log_proba(X)
        shown.append(bits([model.means_, model.covariance_, answers]))
    assert shown[0] == shown[1]


@few(1)
@given(random=randoms, d=widths, offset=st.sampled_from(OFFSETS), holes=st.sampled_from([0, 0.2]))
def test_one_hot_groups_are_hard_groups(random, d, offset, holes):
    y = labels(random, 25)
    X, weight = table(random, y, d, offset, holes), weights(random, 25)
    R = np.eye(3)[y] * (1.0 if weight is None else weight[:, None])
    hard = CrossSums.of(X, Hard(y.astype(np.int32), 3, weight))
    soft = CrossSums.of(X, Soft(R))
    for name in ("weight", "total", "products"):
        a, b = (getattr(s.complete, name).rounded() for s in (hard, soft))
        np.testing.assert_allclose(b, a, rtol=1e-13, atol=1e-13 * np.abs(a).max(initial=0.0))
    for a, b in zip(hard.complete.scatter(), soft.complete.scatter(), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-12, atol=1e-12 * np.abs(a).max(initial=0.0))
    assert hard.incomplete == soft.incomplete
    left_out = Hard(np.where(y == 2, -1, y).astype(np.int32), 3, weight)
    without = CrossSums.of(X, left_out)
    np.testing.assert_allclose(without.complete.scatter()[0][:2], hard.complete.scatter()[0][:2])
    assert without.complete.scatter()[0][2] == 0
    assert without.incomplete.take([0, 1]) == hard.incomplete.take([0, 1])


# ---- held out ----

HELD_OUT = {
    "shared": lambda: GaussianDiscriminantAnalysis("shared"),
    "own": lambda: GaussianDiscriminantAnalysis("own"),
    "diagonal": lambda: GaussianDiscriminantAnalysis("diagonal"),
    "spherical": lambda: GaussianDiscriminantAnalysis("spherical"),
    "shared, pseudo-rows": lambda: GaussianDiscriminantAnalysis("shared", pseudo_rows=2.0),
    "own, pseudo-rows": lambda: GaussianDiscriminantAnalysis("own", pseudo_rows=2.0),
    "shared, shrinkage": lambda: GaussianDiscriminantAnalysis("shared", shrinkage=0.2),
    "own, shrinkage": lambda: GaussianDiscriminantAnalysis("own", shrinkage=0.2),
    "own, predictive": lambda: GaussianDiscriminantAnalysis("own", predictive=True),
    "linear": LinearDiscriminantAnalysis,
    "linear, priors": lambda: LinearDiscriminantAnalysis("lsqr", priors=[0.2, 0.2, 0.6]),
    "quadratic": QuadraticDiscriminantAnalysis,
    "quadratic, reg_param": lambda: QuadraticDiscriminantAnalysis(reg_param=0.2),
}
each_model = pytest.mark.parametrize("make", HELD_OUT.values(), ids=HELD_OUT.keys())


def honest(make, X, y, weight, folds):
    """Log probabilities by models fitted to the other folds, and the size of their log joints."""
    log_proba, scale = np.empty((len(y), 3)), np.empty((len(y), 1))
    for fold in np.unique(folds):
        test, train = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        model = make().partial_fit(X[train], y[train], np.arange(3), some(weight, train))
        log_proba[test] = model.predict_log_proba(X[test])
        scale[test, 0] = 1 + np.abs(model.predict_joint_log_proba(X[test])).max(axis=1)
    return log_proba, scale


def assert_honest(held_out, make, X, y, weight, folds, tolerance):
    try:
        expected, scale = honest(make, X, y, weight, folds)
    except DegenerateError:
        with pytest.raises(DegenerateError):
            held_out()
        return
    assert (np.abs(held_out().log_proba - expected) / scale).max() < tolerance


@each_model
@few(8)
@given(
    random=randoms,
    d=st.integers(1, 3),
    k=st.integers(2, 8),
    offset=st.sampled_from([0.0, 1e3]),
    holes=st.sampled_from([0, 0.05]),
)
def test_cross_validation_equals_honest_refits(make, random, d, k, offset, holes):
    y = labels(random, 45)
    X, weight = table(random, y, d, offset, holes), weights(random, 45)
    folds = random.permutation(np.arange(45) % k)
    assert_honest(
        lambda: make().cross_validate(X, y, folds, weight), make, X, y, weight, folds, 1e-9
    )


@each_model
@few(12)
@given(
    random=randoms,
    d=st.integers(1, 3),
    n=st.integers(12, 24),
    offset=st.sampled_from([0.0, 1e3]),
)
def test_leave_one_out_equals_honest_refits(make, random, d, n, offset):
    """A downdate may divide by what is left of a direction, a millionth at the least."""
    y = labels(random, n)
    X, weight = table(random, y, d, offset), weights(random, n)
    folds = np.arange(n)
    assert_honest(lambda: make().leave_one_out(X, y, weight), make, X, y, weight, folds, 1e-8)


@pytest.mark.parametrize("kind", ["shared", "own"])
@few(100)
@given(random=randoms)
def test_leave_one_out_equals_honest_refits_with_missing_cells(kind, random):
    y = labels(random, 30)
    X = table(random, y, 2)
    X[random.permutation(30)[:3], 0] = np.nan
    assert_honest(
        lambda: GaussianDiscriminantAnalysis(kind).leave_one_out(X, y),
        lambda: GaussianDiscriminantAnalysis(kind),
        X,
        y,
        None,
        np.arange(30),
        1e-7,
    )


@few(20)
@given(random=randoms, size=st.sampled_from([1e-3, 1e-2, 1.0]))
def test_quadratic_leave_one_out_follows_the_rule_of_its_tolerance(random, size):
    """Variances below `tol` are shrunken, in a model without a row as in any other."""
    y = labels(random, 24)
    X = table(random, y, 2) * [1.0, size]
    make = QuadraticDiscriminantAnalysis
    assert_honest(lambda: make().leave_one_out(X, y), make, X, y, None, np.arange(24), 1e-8)


# ---- answers ----

ANSWERING = {
    f"{kind}{', predictive' if predictive else ''}": (kind, predictive)
    for kind in KINDS
    for predictive in (False, True)
}
each_answer = pytest.mark.parametrize(("kind", "predictive"), ANSWERING.values(), ids=ANSWERING)


def fitted(random, kind, d, holes=0.2, offset=0.0, **settings):
    y = labels(random, 40)
    X = table(random, y, d, offset)
    new = X + random.normal(0, X.std(axis=0), X.shape)
    new[random.random(new.shape) < holes] = np.nan
    return GaussianDiscriminantAnalysis(kind, **settings).fit(X, y), new


def covariance_of(model, k):
    p = model.parameters_.covariance
    return p[k if len(p) > 1 else 0]


@each_answer
@few(8)
@given(random=randoms, d=widths)
def test_answers_are_those_of_scipy_on_the_observed_columns(kind, predictive, random, d):
    """Student's t of as many degrees of freedom as there are rows behind the covariance."""
    model, X = fitted(random, kind, d, predictive=predictive)
    rows = np.bincount(labels(random, 40)).astype(float)  # 14, 13, 13: in any order the same
    log_joint = model.predict_joint_log_proba(X)
    for i, x in enumerate(X):
        o = np.flatnonzero(~np.isnan(x))
        for k in range(3):
            S, m = covariance_of(model, k)[np.ix_(o, o)], model.means_[k, o]
            expected = np.log(model.priors_[k])
            if len(o) and predictive:
                df = 40.0 if kind == "shared" else rows[k]
                shape = S * (rows[k] + 1) / rows[k]
                expected += stats.multivariate_t(m, shape, df).logpdf(x[o])
            elif len(o):
                expected += stats.multivariate_normal(m, S).logpdf(x[o])
            assert log_joint[i, k] == pytest.approx(expected, rel=1e-9, abs=1e-9)
    proba = np.exp(log_joint - np.logaddexp.reduce(log_joint, axis=1)[:, None])
    np.testing.assert_allclose(model.predict_proba(X), proba, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), log_joint.argmax(axis=1))


@each_answer
@few(8)
@given(random=randoms, d=widths, offset=st.sampled_from([0.0, 1e3]))
def test_evidence_adds_up_to_the_joint(kind, predictive, random, d, offset):
    model, X = fitted(random, kind, d, 0.3, offset, predictive=predictive)
    X[0] = np.nan
    evidence, log_joint = model.evidence(X), model.predict_joint_log_proba(X)
    assert evidence.terms.shape == (40, 3, len(evidence.feature_names))
    # classes of one covariance are scored together: what rounds is the size of the farthest
    scale = 1 + np.abs(log_joint).max(axis=1)[:, None] + np.abs(evidence.terms).sum(axis=2)
    assert (np.abs(evidence.log_joint() - log_joint) / scale).max() < 1e-11
    assert (evidence.terms[0] == 0).all()  # nothing was seen


@each_answer
@few(8)
@given(random=randoms, d=widths)
def test_a_missing_cell_has_no_evidence(kind, predictive, random, d):
    model, X = fitted(random, kind, d, 0.3, predictive=predictive)
    evidence = model.evidence(X)
    gone = np.isnan(X)
    assert (evidence.terms[:, :, :d][np.broadcast_to(gone[:, None], (40, 3, d))] == 0).all()


@each_kind
@few(8)
@given(random=randoms, d=widths, offset=st.sampled_from([0.0, 1e2]))
def test_quadratics_are_the_log_joint(kind, random, d, offset):
    """Written around zero they lose the square of the distance from it."""
    model, X = fitted(random, kind, d, holes=0, offset=offset)
    A, b, c = model.quadratics()
    by_hand = np.einsum("ni,kij,nj->nk", X, A, X) + X @ b.T + c
    log_joint = model.predict_joint_log_proba(X)
    scale = 1 + np.abs(log_joint) + np.abs(np.einsum("ni,kij,nj->nk", X, A, X))
    assert (np.abs(by_hand - log_joint) / scale).max() < 1e-11
    np.testing.assert_allclose(A, A.transpose(0, 2, 1), rtol=0, atol=1e-12 * np.abs(A).max())
    if kind == "shared":
        np.testing.assert_array_equal(A, np.repeat(A[:1], 3, axis=0))


@each_answer
@few(12)
@given(random=randoms, d=widths, order=st.sampled_from("CF"))
def test_a_row_does_not_feel_its_neighbors(kind, predictive, random, d, order):
    """To rounding: matrix products take rows together."""
    model, X = fitted(random, kind, d, 0.2, predictive=predictive)
    X = np.asarray(X, order=order)
    together = model.predict_joint_log_proba(X)
    alone = np.concatenate([model.predict_joint_log_proba(X[[i]]) for i in range(len(X))])
    np.testing.assert_allclose(alone, together, rtol=1e-12, atol=1e-12)
    model.engine_ = Local(threads=2, chunk_rows=3)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), together, rtol=1e-12, atol=1e-12)


@each_kind
@few(12)
@given(random=randoms, d=widths, holes=st.sampled_from([0, 0.1]))
def test_relabeling_classes_permutes_the_answer(kind, random, d, holes):
    y = labels(random, 50)
    X = table(random, y, d, holes=holes)
    names = random.permutation(["kea", "owl", "emu"])
    model = GaussianDiscriminantAnalysis(kind).fit(X, y)
    renamed = GaussianDiscriminantAnalysis(kind).fit(X, names[y])
    column = np.searchsorted(renamed.classes_, names)
    ours = renamed.predict_joint_log_proba(X)[:, column]
    np.testing.assert_allclose(ours, model.predict_joint_log_proba(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", ["shared", "own"])
@few(12)
@given(random=randoms, d=widths, holes=st.sampled_from([0, 0.1]))
def test_moving_turning_and_stretching_a_table_changes_no_posterior(kind, random, d, holes):
    """Full covariances do not ask in which directions columns point."""
    y = labels(random, 50)
    X = table(random, y, d, holes=holes)
    scale, shift = random.uniform(0.1, 10, d), random.normal(size=d) * 100
    moved = X * scale + shift
    if not holes:
        moved = moved @ (np.eye(d) + 0.2 * random.normal(size=(d, d)))
    assume(np.linalg.cond(np.cov(moved[~np.isnan(moved).any(axis=1)].T).reshape(d, d)) < 1e6)
    a, b = (GaussianDiscriminantAnalysis(kind).fit(x, y) for x in (X, moved))
    ours, expected = b.predict_log_proba(moved), a.predict_log_proba(X)
    np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-6)
