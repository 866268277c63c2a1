"""Rows shared among groups: sums of the compiled kernels, of their twins, and of plain formulas."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import Random, laid_out, randoms, share

from posterior import kernels
from posterior.data.errors import NotFiniteError
from posterior.data.rows import Hard, Soft
from posterior.kernels import limbs, reference
from posterior.statistics import CrossProducts, CrossSums, Exact, Moments

widths = st.sampled_from([1, 2, 7, 8, 9, 16, 17, 24, 31])
lengths = st.sampled_from([1, 2, 63, 64, 65, 255, 256, 257, 600])
groups = st.integers(1, 9)
kinds = st.sampled_from(["spread", "certain", "separated", "vanishing", "without some"])


def parts(random: Random, n: int, k: int, kind: str) -> np.ndarray:
    """Parts (n, k) of rows of all kinds of weights, also none."""
    R = random.dirichlet(np.ones(k), n)
    if kind == "certain":
        R = np.eye(k)[random.integers(0, k, n)]
    elif kind == "separated":
        R = np.exp(
            -random.uniform(0, 200, (n, k)) * (np.arange(k) != random.integers(0, k, (n, 1)))
        )
    elif kind == "vanishing":
        R[:, 0] *= 1e-150
    elif kind == "without some":
        R[:, random.random(k) < 0.5] = 0.0
    weight = random.choice([0.0, 0.5, 1.0, 3.0], (n, 1))
    return R * weight


def rows(random: Random, n: int, d: int, narrow: bool) -> np.ndarray:
    scale = 10.0 ** random.integers(-3, 4, d)
    X = random.choice([0.0, 100.0], d) * scale + scale * random.normal(size=(n, d))
    return laid_out(random, X).astype(np.float32) if narrow else laid_out(random, X)


def products_of(X, R, origin):
    """The plain formulas."""
    apart = X.astype(np.float64)[:, None] - origin
    return np.einsum("nk,nkd->kd", R, apart), np.einsum("nk,nki,nkj->kij", R, apart, apart)


def assert_products(ours, plain, weight) -> None:
    """Within 1e-12 of √(Q_ii Q_jj), and the sums of √(w Q_ii); half of Q is not looked at."""
    (s, Q), (s_plain, Q_plain) = ours, plain
    length = np.sqrt(np.einsum("kii->ki", Q_plain))
    i, j = np.triu_indices(Q.shape[1])
    bound = 1e-12 * length[:, i] * length[:, j]
    assert (np.abs(Q - Q_plain)[:, i, j] <= bound).all()
    assert (np.abs(s - s_plain) <= 1e-12 * np.sqrt(weight)[:, None] * length).all()


@share(2)
@given(random=randoms, n=lengths, d=widths, k=groups, kind=kinds, narrow=st.booleans())
def test_products_of_shared_rows_agree(random, n, d, k, kind, narrow):
    X, R = rows(random, n, d, narrow), parts(random, n, k, kind)
    origin = random.normal(size=(k, d)) + X.mean(axis=0)
    plain = products_of(X, R, origin)
    assert_products(reference.soft_products(X, R, origin), plain, R.sum(axis=0))
    assert_products(kernels.soft_products(X, R, origin), plain, R.sum(axis=0))


@share(2)
@given(
    random=randoms,
    n=lengths,
    d=widths,
    k=groups,
    kind=kinds,
    narrow=st.booleans(),
    holes=st.sampled_from([0.0, 0.001, 0.3]),
)
def test_moments_of_shared_rows_agree(random, n, d, k, kind, narrow, holes):
    X, R = rows(random, n, d, narrow), parts(random, n, k, kind)
    origin = random.normal(size=(k, d)) + X.mean(axis=0)
    X[random.random((n, d)) < holes] = np.nan
    seen = ~np.isnan(X)
    apart = np.where(seen[:, None], X.astype(np.float64)[:, None] - origin, 0.0)
    weight = R.T @ seen.astype(float)
    squares = np.einsum("nk,nkd->kd", R, apart**2)
    for w, s, q in (f(X, R, origin) for f in (reference.soft_moments, kernels.soft_moments)):
        np.testing.assert_allclose(w, weight, rtol=1e-13)
        np.testing.assert_allclose(q, squares, rtol=1e-13)
        total = np.einsum("nk,nkd->kd", R, apart)
        assert (np.abs(s - total) <= 1e-13 * np.sqrt(weight * squares)).all()


def test_wide_rows_of_one_group_agree():
    random = np.random.default_rng(0)
    X, R = random.normal(size=(300, 100)), random.random((300, 1))
    origin = random.normal(size=(1, 100))
    assert_products(kernels.soft_products(X, R, origin), products_of(X, R, origin), R.sum(axis=0))


@pytest.mark.parametrize("far", [1.0, 1e6, 1e12])
def test_a_tiny_part_of_a_far_row_counts(far):
    """It is left out at first, as all parts below 2^-70 are, and then found to matter."""
    random = np.random.default_rng(0)
    X, R = random.normal(size=(400, 3)), np.ones((400, 2))
    X[7], R[7] = far, [2.0**-71, 1.0]
    R[random.random(400) < 0.5, 0] = 0.0
    R[7, 0] = 2.0**-71
    origin = np.zeros((2, 3))
    assert_products(kernels.soft_products(X, R, origin), products_of(X, R, origin), R.sum(axis=0))


@share(2)
@given(random=randoms, terms=st.integers(1, 5), cells=st.integers(1, 9), wide=st.booleans())
def test_sums_of_products_are_those_of_fractions(random, terms, cells, wide):
    reach = 400 if wide else 3
    a, b = np.ldexp(random.normal(size=(2, terms, cells)), random.integers(-reach, reach, cells))
    a[random.random(a.shape) < 0.2] = 0.0
    ours = kernels.sums_of_products(a, b)
    assert Exact(*ours) == Exact(*reference.sums_of_products(a, b))
    for c, number in enumerate(limbs.whole(ours[0])):
        exact = sum((Fraction(x) * Fraction(y) for x, y in zip(a[:, c], b[:, c], strict=True)))
        assert Fraction(int(number)) * Fraction(2) ** ours[1] == exact


KINDS = {"products": CrossProducts, "moments": Moments}
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())


def close(a, b) -> None:
    for name, numbers in b.arrays().items():
        if name.endswith(".limbs"):
            field = name.removesuffix(".limbs")
            ours, other = (getattr(x, field).rounded() for x in (a, b))
            assert numbers.shape[0] == len(ours)
            np.testing.assert_allclose(
                ours, other, rtol=1e-12, atol=1e-12 * np.abs(other).max(initial=0.0)
            )


@each_kind
@share(4)
@given(random=randoms, n=lengths, d=widths, k=groups, offset=st.sampled_from([0.0, 1e8]))
def test_certain_rows_are_those_of_hard_groups(kind, random, n, d, k, offset):
    X, codes = offset + random.normal(size=(n, d)), random.integers(0, k, n).astype(np.int32)
    weight = random.choice([0.0, 0.5, 1.0, 3.0], n)
    hard = kind.of(X, Hard(codes, k, weight))
    soft = kind.of(X, Soft(np.eye(k)[codes] * weight[:, None]))
    close(soft, hard)
    scatters = (s.mean_and_scatter() if kind is Moments else s.scatter()[1:] for s in (soft, hard))
    for a, b in zip(*scatters, strict=True):
        empty = np.isnan(a) | np.isnan(b)  # a mean of nothing
        np.testing.assert_allclose(a[~empty], b[~empty], rtol=1e-9, atol=1e-9)


@each_kind
@share(4)
@given(random=randoms, n=lengths, d=widths, k=groups, where=kinds)
def test_parts_sum_to_the_whole(kind, random, n, d, k, where):
    X, R = random.normal(size=(n, d)), parts(random, n, k, where)
    cut = int(random.integers(0, n + 1))
    close(kind.of(X[:cut], Soft(R[:cut])) + kind.of(X[cut:], Soft(R[cut:])), kind.of(X, Soft(R)))


@each_kind
@pytest.mark.parametrize("part", [0.0, 1e-40, 1.0])
@pytest.mark.parametrize("bad", [np.inf, -np.inf, 1e200])
def test_a_number_too_large_is_refused_whoever_receives_it(kind, part, bad):
    X, R = np.random.default_rng(0).normal(size=(500, 3)), np.ones((500, 2))
    X[300, 1], R[300] = bad, part
    if part == 0.0 and np.isfinite(bad):
        return  # nobody has it
    with pytest.raises(NotFiniteError):
        kind.of(X, Soft(R))


def test_rows_with_gaps_are_kept_apart():
    random = np.random.default_rng(0)
    X, R = random.normal(size=(400, 3)), random.dirichlet(np.ones(2), 400)
    X[random.random((400, 3)) < 0.1] = np.nan
    gaps = np.isnan(X).any(axis=1)
    sums = CrossSums.of(X, Soft(R))
    close(sums.complete, CrossProducts.of(X[~gaps], Soft(R[~gaps])))
    np.testing.assert_array_equal(sums.incomplete.R, R[gaps])


@share(4)
@given(random=randoms, n=lengths, d=widths, k=groups)
def test_halves_of_distances_are_taken_from_constants(random, n, d, k):
    X, vectors = random.normal(size=(n, d)), -(-d // 8)
    axes, centers = random.normal(size=(k, vectors, d, 8)), random.normal(size=(k, vectors, 8))
    origin, constant = random.normal(size=d), random.normal(size=k)
    distance, ours, twin = np.empty((3, n, k))
    kernels.square_distances(X, origin, axes, centers, distance)
    kernels.square_distances(X, origin, axes, centers, ours, constant)
    reference.square_distances(X, origin, axes, centers, twin, constant)
    np.testing.assert_allclose(ours, constant - 0.5 * distance, rtol=1e-12)
    np.testing.assert_allclose(ours, twin, rtol=1e-12, atol=1e-12)
