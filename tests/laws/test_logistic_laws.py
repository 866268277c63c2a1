"""What rows add to the logistic loss: the textbook's sums, however the rows come."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from strategies import bits, chunks, laid_out, merged, randoms, share, sparse_rows
from threadpoolctl import threadpool_limits

import posterior
from posterior.data.rows import Hard, Rows, Soft, SparseRows, take
from posterior.discriminative.loss import LogisticLoss
from posterior.discriminative.objective import Objective
from posterior.discriminative.penalty import Penalty
from posterior.engines.local import Local

n_rows, n_columns = st.integers(1, 90), st.integers(1, 12)
n_outputs, booleans = st.integers(1, 5), st.booleans()
cases = {
    "random": randoms, "n": n_rows, "d": n_columns, "outputs": n_outputs, "intercept": booleans
}  # fmt: skip
AS_GOOD = 1e-12  # of the sum of the terms' sizes: the same terms, added in another order


def some_rows(random, n, d, outputs):
    """Dense or sparse rows, with or without weights and offsets; some are left out."""
    X = random.normal(size=(n, d))
    if random.random() < 0.5:
        X[random.random((n, d)) < 0.6] = 0
        X = sparse_rows(X, random.choice([np.float32, np.float64]))
    else:
        X = laid_out(random, X)
    codes = random.integers(-(random.random() < 0.3), max(outputs, 2), n).astype(np.int32)
    weight = None if random.random() < 0.5 else random.integers(0, 4, n) * random.random(n)
    offset = None if random.random() < 0.5 else random.normal(size=(n, outputs))
    return Rows(X, Hard(codes, max(outputs, 2), weight), offset)


def a_case(random, n, d, outputs, intercept):
    rows, coef = some_rows(random, n, d, outputs), random.normal(size=(outputs, d + intercept))
    far = isinstance(rows.X, np.ndarray) and random.random() < 0.5
    origin = random.normal(size=d) if far else None
    return LogisticLoss(outputs, intercept, origin), rows, coef


def dense(X):
    return X.scipy().toarray().astype(float) if hasattr(X, "scipy") else X.astype(float)


def weight_of(rows):
    groups = rows.groups
    return np.where(groups.codes < 0, 0.0, 1.0 if groups.weight is None else groups.weight)


def textbook(loss, rows, coef):
    """Value, gradient and Hessian, a row at a time.

    g = Σᵢ wᵢ (pᵢ - eᵢ) xᵢᵀ      H = Σᵢ wᵢ (diag pᵢ - pᵢ pᵢᵀ) ⊗ xᵢ xᵢᵀ
    """
    X, m = dense(rows.X) - (0 if loss.origin is None else loss.origin), loss.outputs
    if loss.intercept:
        X = np.column_stack([X, np.ones(len(X))])
    offset = np.zeros((len(X), m)) if rows.offset is None else rows.offset
    value, gradient = 0.0, np.zeros(coef.shape)
    hessian = np.zeros((coef.size, coef.size))
    for x, y, w, known in zip(X, rows.groups.codes, weight_of(rows), offset, strict=True):
        eta = coef @ x + known
        if m == 1:
            p = 1 / (1 + np.exp(-eta))
            value += w * np.log1p(np.exp(-eta[0] if y == 1 else eta[0]))
            residual, curve = p - y, np.diag(p * (1 - p))
        else:
            p = np.exp(eta) / np.exp(eta).sum()
            value -= w * np.log(p[y])
            residual, curve = p - np.eye(m)[y], np.diag(p) - np.outer(p, p)
        gradient += w * np.outer(residual, x)
        hessian += w * np.kron(curve, np.outer(x, x))
    return value, gradient, hessian


def assert_same_quadratic(a, b, rtol=AS_GOOD):
    """Sums are compared by the size of the largest: their terms may cancel."""
    assert_allclose(a.value, b.value, rtol=rtol)
    for ours, other in ((a.gradient, b.gradient), (a.hessian, b.hessian)):
        assert (ours is None) == (other is None)
        if ours is not None:
            size = max(np.abs(other).max(initial=0.0), abs(b.value), 1.0)
            assert_allclose(ours, other, rtol=0, atol=rtol * size)


# ---- the textbook, and finite differences ----


@share(5)
@given(**cases)
def test_sums_are_those_of_the_textbook(random, n, d, outputs, intercept):
    loss, rows, coef = a_case(random, n, d, outputs, intercept)
    value, gradient, hessian = textbook(loss, rows, coef)
    near = {"rtol": 1e-11, "atol": 1e-11 * n}
    for found in (loss.gradient(rows, coef), loss.quadratic(rows, coef), loss.diagonal(rows, coef)):
        assert_allclose(found.value, value, **near)
        assert_allclose(found.gradient, gradient, **near)
    assert loss.gradient(rows, coef).hessian is None
    assert_allclose(loss.quadratic(rows, coef).hessian, hessian, **near)
    diagonal = hessian.diagonal().reshape(coef.shape)
    assert_allclose(loss.diagonal(rows, coef).hessian, diagonal, **near)
    direction = random.normal(size=coef.shape)
    turned = (hessian @ direction.ravel()).reshape(coef.shape)
    shares = Soft(loss.shares(rows, coef).together())
    assert_allclose(loss.product(Rows(rows.X, shares), direction), turned, **near)


@share(20)
@given(**cases)
def test_derivatives_are_the_slopes_of_what_they_derive(random, n, d, outputs, intercept):
    loss, rows, coef = a_case(random, n, d, outputs, intercept)
    found, h = loss.quadratic(rows, coef), 1e-5
    for c in range(coef.size):
        moved = np.zeros(coef.size)
        moved[c] = h
        moved = moved.reshape(coef.shape)
        above, below = (loss.gradient(rows, coef + step) for step in (moved, -moved))
        # the third derivatives leave h² of themselves, and rounding 1e-16 / h
        near = {"rtol": 1e-6, "atol": 1e-8 * n}
        assert_allclose((above.value - below.value) / (2 * h), found.gradient.ravel()[c], **near)
        slope = (above.gradient - below.gradient).ravel() / (2 * h)
        assert_allclose(slope, found.hessian[c], **near)


@share(10)
@given(**cases)
def test_the_hessian_is_symmetric_and_curves_upwards(random, n, d, outputs, intercept):
    loss, rows, coef = a_case(random, n, d, outputs, intercept)
    hessian = loss.quadratic(rows, 10 * coef).hessian
    assert_allclose(hessian, hessian.T, rtol=1e-13, atol=1e-15 * n)
    assert np.linalg.eigvalsh(hessian)[0] >= -1e-13 * n * max(np.abs(hessian).max(), 1)


@share(10)
@given(**cases)
def test_scores_are_what_the_loss_is_of(random, n, d, outputs, intercept):
    loss, rows, coef = a_case(random, n, d, outputs, intercept)
    eta = loss.scores(rows.X, coef) + (0 if rows.offset is None else rows.offset)
    full = np.column_stack([np.zeros(n), eta]) if outputs == 1 else eta
    mine = full[np.arange(n), rows.groups.codes]
    value = weight_of(rows) @ (np.logaddexp.reduce(full, axis=1) - mine)
    assert_allclose(loss.joined(*loss.parts(coef)), coef, atol=1e-14 * d)
    assert_allclose(loss.gradient(rows, coef).value, value, rtol=1e-12, atol=1e-12)


# ---- how the rows come ----


@share(10)
@given(**cases)
def test_parts_add_up_to_the_whole(random, n, d, outputs, intercept):
    loss, rows, coef = a_case(random, n, d, outputs, intercept)
    parts = []
    for index in chunks(random, n):
        groups = rows.groups
        weight = None if groups.weight is None else groups.weight[index]
        offset = None if rows.offset is None else rows.offset[index]
        part = Hard(groups.codes[index], groups.n_groups, weight)
        parts.append(loss.quadratic(Rows(take(rows.X, index), part, offset), coef))
    assert_same_quadratic(merged(random, parts), loss.quadratic(rows, coef))


@share(10)
@given(**cases)
def test_a_weight_counts_like_as_many_rows(random, n, d, outputs, intercept):
    loss, rows, coef = a_case(random, n, d, outputs, intercept)
    times = random.integers(0, 4, n)
    index, codes = np.repeat(np.arange(n), times), rows.groups.codes
    known = (None, None) if rows.offset is None else (rows.offset, rows.offset[index])
    k = rows.groups.n_groups
    weighted = Rows(rows.X, Hard(codes, k, times.astype(float)), known[0])
    repeated = Rows(take(rows.X, index), Hard(codes[index], k), known[1])
    for method in (loss.gradient, loss.quadratic, loss.diagonal):
        assert_same_quadratic(method(weighted, coef), method(repeated, coef))


@share(10)
@given(**cases)
def test_rows_left_out_are_not_there(random, n, d, outputs, intercept):
    loss, rows, coef = a_case(random, n, d, outputs, intercept)
    kept = np.flatnonzero(rows.groups.codes >= 0)
    weight = None if rows.groups.weight is None else rows.groups.weight[kept]
    groups = Hard(rows.groups.codes[kept], rows.groups.n_groups, weight)
    few = Rows(take(rows.X, kept), groups, None if rows.offset is None else rows.offset[kept])
    for method in (loss.gradient, loss.quadratic, loss.diagonal):
        assert_same_quadratic(method(rows, coef), method(few, coef))


@share(10)
@given(random=randoms, n=n_rows, d=n_columns, outputs=n_outputs, intercept=booleans)
def test_sparse_cells_stored_in_parts_are_their_sum(random, n, d, outputs, intercept):
    loss, coef = LogisticLoss(outputs, intercept), random.normal(size=(outputs, d + intercept))
    n_entries = random.integers(0, 4, n)
    start = np.concatenate([[0], np.cumsum(n_entries)]).astype(np.int32)
    column = random.integers(0, d, start[-1]).astype(np.int32)
    X = SparseRows(random.normal(size=start[-1]), column, start, d)
    groups = Hard(random.integers(0, max(outputs, 2), n).astype(np.int32), max(outputs, 2))
    for method in (loss.gradient, loss.quadratic, loss.diagonal):
        ours = method(Rows(X, groups), coef)
        assert_same_quadratic(ours, method(Rows(X.scipy().toarray(), groups), coef))
    v = random.normal(size=coef.shape)
    shares = Soft(loss.shares(Rows(X, groups), coef).together())
    ours, plain = (loss.product(Rows(T, shares), v) for T in (X, X.scipy().toarray()))
    assert_allclose(ours, plain, atol=AS_GOOD * n * d)


@share(10)
@given(**cases)
def test_nothing_is_written_to_the_rows(random, n, d, outputs, intercept):
    loss, rows, coef = a_case(random, n, d, outputs, intercept)
    before = bits([rows, coef])
    for method in (loss.gradient, loss.quadratic, loss.diagonal, loss.shares):
        method(rows, coef)
    loss.product(Rows(rows.X, Soft(loss.shares(rows, coef).together())), coef)
    loss.scores(rows.X, coef)
    assert bits([rows, coef]) == before


@share(10)
@given(**cases)
def test_an_offset_is_a_column_whose_coefficient_is_one(random, n, d, outputs, intercept):
    loss, rows, coef = a_case(random, n, d, outputs, intercept)
    known = random.normal(size=(n, outputs))
    X, loss = dense(rows.X), LogisticLoss(outputs, intercept)
    wider = Rows(np.hstack([known, X]), rows.groups)
    ours = loss.quadratic(Rows(X, rows.groups, known), coef)
    other = loss.quadratic(wider, np.hstack([np.eye(outputs), coef]))
    p = coef.shape[1]
    inner = other.hessian.reshape(outputs, p + outputs, outputs, p + outputs)
    assert_allclose(ours.value, other.value, rtol=AS_GOOD)
    assert_allclose(ours.gradient, other.gradient[:, outputs:], atol=AS_GOOD * n)
    inner = inner[:, outputs:, :, outputs:].reshape(ours.hessian.shape)
    assert_allclose(ours.hessian, inner, atol=AS_GOOD * n)


@share(10)
@given(random=randoms, n=n_rows, d=n_columns, outputs=st.integers(2, 9), intercept=booleans)
def test_permuting_the_classes_permutes_the_outputs(random, n, d, outputs, intercept):
    loss, rows, coef = a_case(random, n, d, outputs, intercept)
    order = random.permutation(outputs)
    codes = np.where(rows.groups.codes < 0, -1, np.argsort(order)[rows.groups.codes])
    codes = codes.astype(np.int32)
    groups = Hard(codes, outputs, rows.groups.weight)
    other = Rows(rows.X, groups, None if rows.offset is None else rows.offset[:, order].copy())
    a, b = loss.diagonal(rows, coef), loss.diagonal(other, coef[order])
    assert_allclose(b.value, a.value, rtol=AS_GOOD)
    assert_allclose(b.gradient, a.gradient[order], atol=AS_GOOD * n)
    assert_allclose(b.hessian, a.hessian[order], atol=AS_GOOD * n)


@share(10)
@given(random=randoms, n=n_rows, d=n_columns, intercept=booleans)
def test_exchanging_two_classes_turns_the_sign(random, n, d, intercept):
    loss, rows, coef = a_case(random, n, d, 1, intercept)
    codes = np.array([1, 0, -1], np.int32)[rows.groups.codes]
    groups = Hard(codes, 2, rows.groups.weight)
    other = Rows(rows.X, groups, None if rows.offset is None else -rows.offset)
    a, b = loss.quadratic(rows, coef), loss.quadratic(other, -coef)
    assert_allclose(b.value, a.value, rtol=AS_GOOD)
    assert_allclose(b.gradient, -a.gradient, atol=AS_GOOD * n)
    assert_allclose(b.hessian, a.hessian, atol=AS_GOOD * n)


@share(10)
@given(random=randoms, n=n_rows, d=n_columns, intercept=booleans)
def test_one_output_is_two_whose_first_is_zero(random, n, d, intercept):
    loss, rows, coef = a_case(random, n, d, 1, intercept)
    offset = None if rows.offset is None else np.hstack([0 * rows.offset, rows.offset])
    both = Rows(rows.X, rows.groups, offset)
    a = loss.quadratic(rows, coef)
    b = LogisticLoss(2, intercept, loss.origin).quadratic(both, np.vstack([0 * coef, coef]))
    assert_allclose(b.value, a.value, rtol=AS_GOOD, atol=AS_GOOD * n)
    assert_allclose(b.gradient, [-a.gradient[0], a.gradient[0]], atol=AS_GOOD * n)
    p = coef.shape[1]
    assert_allclose(b.hessian[p:, p:], a.hessian, atol=AS_GOOD * n)
    assert_allclose(b.hessian[:p, p:], -a.hessian, atol=AS_GOOD * n)


# ---- the digits that are kept ----


@pytest.mark.parametrize("code", [0, 1])
@pytest.mark.parametrize("eta", [1.0, 20.0, 40.0, 300.0, 700.0])
def test_one_output_keeps_its_digits_where_it_is_sure(code, eta):
    """Of a row that is right by a score of 40 the loss is 4e-18, and so are its derivatives."""
    rows = Rows(np.ones((1, 1)), Hard(np.array([code], np.int32), 2))
    coef = np.array([[eta if code == 1 else -eta]])
    found = LogisticLoss(1, intercept=False).gradient(rows, coef)
    assert_allclose(found.value, np.log1p(np.exp(-eta)), rtol=1e-14)
    slope = np.exp(-eta) / (1 + np.exp(-eta))
    assert_allclose(np.abs(found.gradient), slope, rtol=1e-14)


@pytest.mark.parametrize("outputs", [1, 3])
def test_float32_cells_are_squared_in_double(outputs):
    X = np.array([[3e25], [-1e-25]], np.float32)
    rows = Rows(X, Hard(np.array([0, 1], np.int32), max(outputs, 2)))
    loss, coef = LogisticLoss(outputs, intercept=False), np.zeros((outputs, 1))
    diagonal = loss.diagonal(rows, coef).hessian
    full = loss.quadratic(rows, coef).hessian.diagonal()
    assert_allclose(diagonal.ravel(), full, rtol=1e-12)


@pytest.mark.parametrize("outputs", [1, 3])
def test_an_origin_keeps_the_digits_of_columns_far_from_zero(outputs):
    """Columns of mean 2^27 and whole numbers about it: moved there, nothing is lost."""
    random = np.random.default_rng(0)
    near = random.integers(-5, 6, (300, 4)).astype(float)
    mean = np.full(4, 2.0**27)
    groups = Hard(random.integers(0, max(outputs, 2), 300).astype(np.int32), max(outputs, 2))
    coef = random.normal(size=(outputs, 5))
    moved, still = LogisticLoss(outputs, origin=mean), LogisticLoss(outputs)
    ours, plain = (
        loss.quadratic(Rows(X, groups), coef) for loss, X in ((moved, near + mean), (still, near))
    )
    assert_same_quadratic(ours, plain)
    assert_allclose(
        moved.diagonal(Rows(near + mean, groups), coef).hessian,
        still.diagonal(Rows(near, groups), coef).hessian,
        rtol=1e-12,
    )
    v = random.normal(size=coef.shape)
    shares = Soft(still.shares(Rows(near, groups), coef).together())
    ours, plain = moved.product(Rows(near + mean, shares), v), still.product(Rows(near, shares), v)
    # it subtracts after multiplying: eight digits are left, enough to choose a direction by
    assert_allclose(ours, plain, rtol=0, atol=1e-7 * np.abs(plain).max())


# ---- threads ----


def an_objective(kind, outputs):
    random = np.random.default_rng(7)
    n, d = 12_000, 60
    X = random.normal(size=(n, d)).astype(np.float32 if kind == "float32" else float)
    if kind == "sparse":
        X[random.random((n, d)) < 0.5] = 0
        X = sparse_rows(X)
    codes = random.integers(0, max(outputs, 2), n).astype(np.int32)
    rows = Rows(X, Hard(codes, max(outputs, 2), random.random(n)), random.normal(size=(n, outputs)))
    shape = (outputs, d + 1)
    penalty = Penalty(np.ones(shape), np.zeros(shape), np.zeros(shape))
    coef = 0.1 * random.normal(size=shape)
    return Objective(rows, LogisticLoss(outputs), penalty, Local()), coef


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("kind", ["float64", "float32", "sparse"])
def test_any_number_of_threads_gives_the_same_bits(kind, outputs):
    objective, coef = an_objective(kind, outputs)
    answers = []
    for n in (1, 2, 5):
        # what a user sets with OMP_NUM_THREADS holds for the package and for its matrix products
        with posterior.threads(n), threadpool_limits(n, user_api="blas"):
            q = objective.quadratic(coef)
            answers.append(
                bits([objective.gradient(coef), q, objective.diagonal(coef)])
                + bits([objective.curvature(coef)(coef)])
            )
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("kind", ["float64", "sparse"])
def test_chunks_of_any_size_add_up_to_the_whole(kind, outputs):
    objective, coef = an_objective(kind, outputs)
    rows, loss = objective.rows, objective.loss
    whole = loss.quadratic(rows, coef)
    for size in (997, 5_000, 20_000):
        found = Local(chunk_rows=size).sum(lambda part: loss.quadratic(part, coef), rows)
        assert_same_quadratic(found, whole)


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("kind", ["float64", "sparse"])
def test_an_objective_is_the_loss_and_the_penalty(kind, outputs):
    objective, coef = an_objective(kind, outputs)
    center = np.full(coef.shape, 0.3)
    ridge = np.arange(1.0, coef.size + 1).reshape(coef.shape)
    objective = replace(objective, penalty=Penalty(ridge, np.zeros(coef.shape), center))
    plain = objective.loss.quadratic(objective.rows, coef)
    hessian = plain.hessian + np.diag(ridge.ravel())
    value = plain.value + 0.5 * (ridge * (coef - center) ** 2).sum()
    gradient = plain.gradient + ridge * (coef - center)
    for found in (objective.gradient(coef), objective.quadratic(coef)):
        assert_allclose(found.value, value, rtol=1e-12)
        assert_allclose(found.gradient, gradient, atol=1e-8)
    assert_allclose(objective.quadratic(coef).hessian, hessian, atol=1e-8)
    assert_allclose(objective.diagonal(coef).ravel(), hessian.diagonal(), rtol=1e-10)
    turned = (hessian @ coef.ravel()).reshape(coef.shape)
    assert_allclose(objective.curvature(coef)(coef), turned, atol=1e-8)
