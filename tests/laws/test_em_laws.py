"""EM, for every family: a step never lowers likelihood and prior, strides neither, and names of
components mean nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from listed import KINDS as LISTED
from strategies import Random, counts, randoms, share, sparse_rows, table

from posterior import (
    AddedVariance,
    Bernoulli,
    Categorical,
    DegenerateError,
    Gaussian,
    Laplace,
    MEstimate,
    Multinomial,
    MultivariateGaussian,
    Poisson,
    Product,
    PseudoRows,
)
from posterior.data.rows import HIDDEN, Blocks, CodedRows, Hard, Rows, Soft, SparseRows
from posterior.families.covariance import KINDS
from posterior.families.family import fill
from posterior.generative.em import Hidden, Stop, climb, leap
from posterior.generative.expectation import expectation
from posterior.generative.joint import Joint, labeled

K = 3
VALUES = (np.array(["a", "b", "c"]), np.array(["x", "y", "z"]))
ROUNDING = 1e-9


# ---- rows of each kind, and the families of which the law is true ----


def numbers(random: Random, n: int, holes: bool = True) -> np.ndarray:
    """Heaps of numbers, about a third of the tables with holes."""
    heap = random.integers(0, K, n)
    X = random.normal(0, 1, (n, 2)) + 3 * np.array([[0, 0], [1, 0], [0, 1]])[heap]
    if holes and random.random() < 0.4:
        X[random.random((n, 2)) < 0.2] = np.nan
    return X


def bits(random: Random, n: int) -> np.ndarray:
    return table(random, n, 3, lambda r, shape: r.integers(0, 2, shape))


def events(random: Random, n: int) -> np.ndarray:
    return table(random, n, 3, counts)


def words(random: Random, n: int) -> np.ndarray:
    return table(random, n, 4, counts, holes=False)


def sparse_words(random: Random, n: int) -> SparseRows:
    return sparse_rows(words(random, n))


def categories(random: Random, n: int) -> CodedRows:
    codes = np.stack([random.integers(-1, len(v), n) for v in VALUES], axis=1)
    return CodedRows(codes.astype(np.int32), VALUES)


def mixed(random: Random, n: int) -> Blocks:
    return Blocks((numbers(random, n), categories(random, n), events(random, n)))


@dataclass(frozen=True)
class Case:
    """A family, its rows, and whether a component may collapse on too few of them."""

    family: Any
    rows: Callable[[Random, int], Any]
    collapses: bool = False


SHARES = MEstimate(2.0, (0.5, 0.3, 0.2))
CASES = {
    "Gaussian": Case(Gaussian(), numbers),
    "Gaussian, few pseudo-rows": Case(Gaussian(PseudoRows(0.1)), numbers),
    "Gaussian, no prior": Case(Gaussian(None), numbers, collapses=True),
    "Gaussian, alike": Case(Gaussian(alike=True), numbers),
    "Gaussian, alike, no prior": Case(Gaussian(None, alike=True), numbers, collapses=True),
    "Gaussian, known variance": Case(Gaussian(None, variance=2.0), numbers),
    "Gaussian, known variance and pseudo-rows": Case(Gaussian(variance=0.5), numbers),
    "Bernoulli": Case(Bernoulli(), bits),
    "Bernoulli, no prior": Case(Bernoulli(Laplace(0.0)), bits),
    "Bernoulli, m-estimate": Case(Bernoulli(MEstimate(2.0)), bits),
    "Bernoulli, m-estimate of everyone": Case(Bernoulli(MEstimate(2.0, None)), bits),
    "Bernoulli, m-estimate as chosen": Case(Bernoulli(MEstimate(2.0, 0.3)), bits),
    "Categorical": Case(Categorical(), categories),
    "Categorical, no prior": Case(Categorical(Laplace(0.0)), categories),
    "Categorical, more values": Case(Categorical(Laplace(0.5), n_values=(5, 3)), categories),
    "Categorical, m-estimate": Case(Categorical(MEstimate(2.0)), categories),
    "Categorical, m-estimate, more values": Case(
        Categorical(MEstimate(2.0), n_values=(4, 6)), categories
    ),
    "Categorical, m-estimate of everyone": Case(Categorical(MEstimate(2.0, None)), categories),
    "Categorical, m-estimate as chosen": Case(Categorical(SHARES), categories),
    "Multinomial": Case(Multinomial(), words),
    "Multinomial, no prior": Case(Multinomial(Laplace(0.0)), words),
    "Multinomial, alpha by word": Case(Multinomial(Laplace((2.0, 1.0, 0.5, 0.0))), words),
    "Multinomial, m-estimate": Case(Multinomial(MEstimate(2.0)), words),
    "Multinomial, m-estimate of everyone": Case(Multinomial(MEstimate(2.0, None)), words),
    "Multinomial, sparse": Case(Multinomial(Laplace(0.1)), sparse_words),
    "Poisson": Case(Poisson(), events),
    "Poisson, no prior": Case(Poisson(PseudoRows(0.0)), events),
    "Product": Case(
        Product((Gaussian(), Categorical(), Poisson()), ((0, 1), (2, 3), (4, 5, 6))), mixed
    ),
} | {
    f"MultivariateGaussian, {kind}, {m:g} pseudo-rows": Case(
        MultivariateGaussian(kind, pseudo_rows=m), numbers, collapses=m == 0
    )
    for kind in KINDS
    for m in (0.0, 1.5)
}
NOT_CLIMBING = {
    "binned": "cuts are found from labels, and stay",
    "kernel": "widths follow a rule, not the likelihood",
    "student": "its prior has no log density",
    "words": "texts have no place in a mixture",
}


def of_support(kind: Any, random: Random, n: int) -> Any:
    """Cells that a family has a density for; those of heaps, if they are numbers."""
    if kind.support == "count":
        return table(random, n, 3, counts, kind.reads_missing)
    X = numbers(random, n)
    return X if kind.support == "real" else np.exp(0.5 * X)


CASES |= {
    f"{name}, as listed": Case(kind(), partial(of_support, kind))
    for name, kind in LISTED.items()
    if name not in NOT_CLIMBING and kind.support != "category"
}
FEW = {
    name: CASES[name]
    for name in (
        "Gaussian",
        "Gaussian, alike",
        "Gaussian, known variance",
        "Bernoulli",
        "Categorical, m-estimate of everyone",
        "Multinomial, no prior",
        "Multinomial, sparse",
        "Poisson",
        "Product",
        "MultivariateGaussian, own, 1.5 pseudo-rows",
        "MultivariateGaussian, shared, 0 pseudo-rows",
    )
}
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
each_kind = pytest.mark.parametrize("case", FEW.values(), ids=FEW.keys())
sizes = st.integers(15, 25)


# ---- labels hidden, known for some rows, or known to be among some ----


@dataclass(frozen=True)
class Labels:
    """The codes of some labels, and which components each leaves."""

    codes: np.ndarray
    allowed: np.ndarray | None = None


def labels(random: Random, n: int) -> Labels:
    some = random.random(n) < 0.5
    match random.integers(3):
        case 0:
            return Labels(np.full(n, HIDDEN, np.int32))
        case 1:
            return Labels(np.where(some, random.integers(0, K, n), HIDDEN).astype(np.int32))
    codes = np.where(some, random.integers(0, 2, n), HIDDEN).astype(np.int32)
    overlap = bool(random.integers(2))
    return Labels(codes, np.array([[True, True, False], [False, overlap, True]]))


def weights(random: Random, n: int) -> np.ndarray | None:
    """None, whole numbers of which some are zero, or fractions."""
    whole, fractions = random.integers(0, 4, n).astype(float), random.uniform(0.2, 3, n)
    return [None, whole, fractions][random.integers(3)]


def log_of(p: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(p)


def problem(family: Any, rows: Rows, allowed: Any, m: float) -> Hidden[Any, Any]:
    """EM over rows; each component has m of them beforehand, in its share of all."""
    weight = rows.groups.weight
    pooled = labeled(Rows(rows.X, Hard(np.zeros(len(rows), np.int32), 1, weight)), family)

    def maximize(sums: Any, before: Any) -> Joint[Any, Any]:
        share = sums.weight.rounded() + m
        if before is None:
            parameters = family.estimate(sums.features, pooled.features)
        else:
            parameters = family.improve(sums.features, pooled.features, before.parameters)
        return Joint(family, log_of(share / share.sum()), parameters)

    def log_prior(joint: Joint[Any, Any]) -> float:
        shares = m * joint.log_prior.sum() if m else 0.0
        return shares + family.log_prior(joint.parameters, pooled.features)

    return Hidden(
        expect=lambda joint: expectation(joint, allowed)(rows),
        maximize=maximize,
        log_prior=log_prior,
        weight=float(pooled.weight.rounded()[0]),
    )


def first_guess(hidden: Hidden[Any, Any], family: Any, rows: Rows, R: np.ndarray) -> Any:
    X, shares = rows.X, R if rows.groups.weight is None else R * rows.groups.weight[:, None]
    if isinstance(family, MultivariateGaussian):
        X = np.nan_to_num(X)  # with holes, an estimate is an EM of its own
    return hidden.maximize(labeled(Rows(X, Soft(shares)), family), None)


def heights(way: Any, hidden: Hidden[Any, Any], first: Any, case: Case, steps: int) -> list[float]:
    """The objective before each step, up to one in which a component collapses."""
    trace: list[float] = []
    try:
        way(hidden, first(), Stop(steps, 0.0), lambda step, value, change: trace.append(value))
    except DegenerateError:
        assert case.collapses
    return trace


def assert_never_falls(trace: list[float]) -> None:
    assert not np.isnan(trace).any()
    for before, after in pairwise(trace):
        assert after >= before - ROUNDING * max(1.0, abs(before)), trace


@each_case
@share(100)
@given(random=randoms, n=sizes, m=st.sampled_from([0.0, 1.0]))
def test_no_step_lowers_likelihood_and_prior(case, random, n, m):
    assert_climbs(climb, case, random, n, m)


@each_kind
@share(100)
@given(random=randoms, n=sizes, m=st.sampled_from([0.0, 1.0]))
def test_no_stride_lowers_them_either(case, random, n, m):
    assert_climbs(leap, case, random, n, m)


def assert_climbs(way: Any, case: Case, random: Random, n: int, m: float) -> None:
    X, given, weight = case.rows(random, n), labels(random, n), weights(random, n)
    rows = Rows(X, Hard(given.codes, K, weight))
    hidden = problem(case.family, rows, given.allowed, m)
    R = random.dirichlet(np.ones(K), n)
    first = partial(first_guess, hidden, case.family, rows, R)
    assert_never_falls(heights(way, hidden, first, case, 4))


@each_case
@share(100)
@given(random=randoms, n=sizes, weighted=st.booleans())
def test_estimates_are_the_top_of_expected_likelihood_and_prior(case, random, n, weighted):
    """On the way from the sums of these shares of rows to those of others, the slope is zero."""
    if isinstance(case.family, MultivariateGaussian):
        X = numbers(random, n, holes=False)  # with holes, `estimate` is an EM of its own
    else:
        X = case.rows(random, n)
    w = random.uniform(0.2, 3, n) if weighted else np.ones(n)
    R, S = (random.dirichlet(np.full(K, 2.0), n) * w[:, None] for _ in range(2))
    pooled = case.family.statistics(X, Hard(np.zeros(n, np.int32), 1, w))
    here, there = (case.family.statistics(X, Soft(shares)) for shares in (R, S))

    def height(t: float) -> float:
        parameters = case.family.estimate(here * (1 - t) + there * t, pooled)
        scores = fill(case.family.scorer(parameters, np.zeros(K)), X, K)
        likelihood = (R * np.where(R > 0, scores, 0.0)).sum()
        return likelihood + case.family.log_prior(parameters, pooled)

    top, step = height(0.0), 1e-3
    sides = height(-step), height(step)
    drop = 2 * top - sum(sides)  # of a parabola: -f'' step²
    assert drop >= -ROUNDING * abs(top)
    assert abs(sides[1] - sides[0]) <= 0.05 * drop + ROUNDING * abs(top)
    assert height(0.3) <= top + ROUNDING * abs(top)


@each_kind
def test_strides_end_where_plain_steps_change_nothing(case):
    random = np.random.default_rng(0)
    X, R = case.rows(random, 40), random.dirichlet(np.full(K, 0.3), 40)
    rows = Rows(X, Hard(np.full(40, HIDDEN, np.int32), K))
    hidden = problem(case.family, rows, None, 1.0)
    first = first_guess(hidden, case.family, rows, R)
    top = leap(hidden, first, Stop(1000, 1e-12), lambda *_: None)
    assert top.reason == "converged"
    expected = hidden.expect(top.joint)
    again = hidden.maximize(expected.statistics, top.joint)
    gain = hidden.value(again, hidden.expect(again)) - hidden.value(top.joint, expected)
    assert abs(gain) < 1e-11
    sums = expected.statistics.numbers(), top.statistics.numbers()
    np.testing.assert_allclose(*sums, atol=1e-4 * np.abs(sums[1]).max())


@each_kind
@share(100)
@given(random=randoms, n=sizes)
def test_shares_of_one_and_nothing_are_groups(case, random, n):
    X, codes, weight = case.rows(random, n), random.integers(0, K, n), weights(random, n)
    R = np.eye(K)[codes] * (1.0 if weight is None else weight[:, None])
    hard = case.family.statistics(X, Hard(codes.astype(np.int32), K, weight))
    soft = case.family.statistics(X, Soft(R))
    a, b = soft.numbers(), hard.numbers()
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12 * np.abs(b).max(initial=1.0))
    if hasattr(hard, "incomplete"):
        np.testing.assert_array_equal(soft.incomplete.X, hard.incomplete.X)
        np.testing.assert_array_equal(soft.incomplete.R, hard.incomplete.R)


@each_kind
@share(100)
@given(random=randoms, n=sizes)
def test_names_of_components_mean_nothing(case, random, n):
    """Another order of the components is another order of the answer."""
    X, given, weight = case.rows(random, n), labels(random, n), weights(random, n)
    allowed = np.eye(K, dtype=bool) if given.allowed is None else given.allowed
    rows = Rows(X, Hard(given.codes, K, weight))
    R, order = random.dirichlet(np.ones(K), n), random.permutation(K)
    answers = []
    for shares, leaves in ((R, allowed), (R[:, order], allowed[:, order])):
        hidden = problem(case.family, rows, leaves, 1.0)
        try:
            first = first_guess(hidden, case.family, rows, shares)
            answers.append(climb(hidden, first, Stop(3, 0.0), lambda *_: None))
        except DegenerateError:
            assert case.collapses
            return
    one, other = answers
    np.testing.assert_allclose(one.trace, other.trace, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(one.joint.log_prior[order], other.joint.log_prior, atol=1e-6)
    scores = (fill(answer.joint.scorer(), X, K) for answer in answers)
    np.testing.assert_allclose(next(scores)[:, order], next(scores), rtol=1e-5, atol=1e-5)


# ---- settings that are each other's special cases ----


def prior_of(name: str, alike: bool) -> tuple[Gaussian, MultivariateGaussian]:
    """The same model, column by column and by covariances."""
    priors = {
        "no prior": (None, {}),
        "pseudo-rows": (PseudoRows(2.0), {"pseudo_rows": 2.0}),
        "added variance": (AddedVariance(0.1), {"added": 0.1}),
    }
    prior, settings = priors[name]
    kind = "spherical" if alike else "diagonal"
    return Gaussian(prior, alike=alike), MultivariateGaussian(kind, **settings)


@pytest.mark.parametrize("alike", [False, True], ids=["diagonal", "spherical"])
@pytest.mark.parametrize("name", ["no prior", "pseudo-rows", "added variance"])
@share(50)
@given(random=randoms, n=sizes)
def test_columns_one_by_one_are_covariances_without_correlations(name, alike, random, n):
    X, R = numbers(random, n, holes=False), random.dirichlet(np.ones(K), n)
    X = np.column_stack([X, 100 + random.normal(0, 5, n)])
    scores, log_priors, sizes_ = [], [], []
    for family in prior_of(name, alike):
        pooled = family.statistics(X, Soft(np.ones((n, 1))))
        parameters = family.estimate(family.statistics(X, Soft(R)), pooled)
        scores.append(fill(family.scorer(parameters, np.zeros(K)), X, K))
        log_priors.append(family.log_prior(parameters, pooled))
        sizes_.append(family.n_parameters(parameters))
    np.testing.assert_allclose(*scores, rtol=1e-8)
    np.testing.assert_allclose(*log_priors, rtol=1e-8)
    assert sizes_[0] == sizes_[1] == K * 3 + (K if alike else K * 3)


@pytest.mark.parametrize("alike", [False, True], ids=["diagonal", "spherical"])
@pytest.mark.parametrize("name", ["no prior", "pseudo-rows"])
def test_with_missing_cells_too(name, alike):
    """EM over missing cells of independent columns ends at the cells that are there."""
    random = np.random.default_rng(0)
    X, R = random.normal(3, 2, (60, 3)), random.dirichlet(np.ones(K), 60)
    X[random.random(X.shape) < 0.2] = np.nan
    columns, together = prior_of(name, alike)
    estimates = []
    for family in (columns, together):
        pooled = family.statistics(X, Soft(np.ones((60, 1))))
        estimates.append(family.estimate(family.statistics(X, Soft(R)), pooled))
    a, b = estimates
    np.testing.assert_allclose(a.mean, b.mean, rtol=1e-6)
    np.testing.assert_allclose(a.variance, np.einsum("kii->ki", b.covariance), rtol=1e-6)


def test_columns_that_never_vary_share_the_variance_of_those_that_do():
    random = np.random.default_rng(0)
    X = np.column_stack([random.normal(0, 1, (20, 2)), np.full(20, 7.0)])
    groups = Soft(random.dirichlet(np.ones(K), 20))
    columns, together = prior_of("pseudo-rows", alike=True)
    a, b = (f.estimate(f.statistics(X, groups)) for f in (columns, together))
    np.testing.assert_allclose(a.variance, np.einsum("kii->ki", b.covariance), rtol=1e-10)
    empty = np.where(np.arange(3) == 1, np.nan, X)  # nobody knows the second column
    c = columns.estimate(columns.statistics(empty, groups))
    d = columns.estimate(columns.statistics(X[:, [0, 2]], groups))
    np.testing.assert_allclose(c.variance[:, [0, 2]], d.variance, rtol=1e-12)
    assert np.isinf(c.variance[:, 1]).all()


@pytest.mark.parametrize("family", [Gaussian(), Gaussian(alike=True)], ids=repr)
def test_what_rounding_makes_of_equal_rows_is_no_variance(family):
    X, random = np.full((30, 2), 0.3), np.random.default_rng(0)
    rows = Rows(X, Hard(np.full(30, HIDDEN, np.int32), K))
    hidden = problem(family, rows, None, 1.0)
    first = first_guess(hidden, family, rows, random.dirichlet(np.ones(K), 30))
    assert_never_falls(list(climb(hidden, first, Stop(20, 0.0), lambda *_: None).trace))
    assert np.isinf(first.parameters.variance).all()


def test_a_group_that_misses_a_column_has_the_variance_of_its_others():
    X = np.array([[0.0, 1.0], [2.0, 5.0], [1.0, np.nan], [4.0, np.nan]])
    family = Gaussian(None, alike=True)
    groups = Hard(np.array([0, 0, 1, 1], np.int32), 2)
    variance = family.estimate(family.statistics(X, groups)).variance
    np.testing.assert_allclose(variance, [[2.5, 2.5], [2.25, 2.25]])


NUMBER_OF_PARAMETERS = {  # of two groups and three columns
    Gaussian(): 12,
    Gaussian(alike=True): 8,
    Gaussian(variance=2.0): 6,
    Gaussian(alike=True, variance=2.0): 6,
    MultivariateGaussian(): 18,
    MultivariateGaussian("shared"): 12,
    MultivariateGaussian("diagonal", added=0.1): 12,
    MultivariateGaussian("spherical"): 8,
}


@pytest.mark.parametrize(("family", "n"), NUMBER_OF_PARAMETERS.items(), ids=repr)
def test_parameters_are_what_the_rows_determine(family, n):
    X, codes = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20, dtype=np.int32) % 2
    assert family.n_parameters(family.estimate(family.statistics(X, Hard(codes, 2)))) == n


LEFT_OUT = [
    Gaussian(alike=True),
    Gaussian(None, alike=True),
    Gaussian(AddedVariance(0.1), alike=True),
    Gaussian(AddedVariance(0.1)),
    Gaussian(variance=2.0),
    Gaussian(None, alike=True, variance=2.0),
    MultivariateGaussian("shared", added=0.1),
    MultivariateGaussian("spherical"),
]


@pytest.mark.parametrize("family", LEFT_OUT, ids=repr)
@share(50)
@given(random=randoms, n=sizes)
def test_rows_left_out_are_scored_as_by_refits(family, random, n):
    """NaN asks for the refit itself."""
    holes = isinstance(family, Gaussian)
    X, codes = numbers(random, n, holes=holes), (np.arange(n) % 2).astype(np.int32)
    weight = weights(random, n)
    groups = Hard(codes, 2, weight if weight is None else weight + 0.5)
    sums = family.statistics(X, groups)
    ours = family.leave_one_out(X, groups, sums)
    for i in range(n):
        if isinstance(family, MultivariateGaussian) and np.isnan(ours[i]).all():
            continue
        parameters = family.estimate(sums - family.statistics(X[i : i + 1], groups[i : i + 1]))
        refit = fill(family.scorer(parameters, np.zeros(2)), X[i : i + 1], 2)
        np.testing.assert_allclose(ours[i : i + 1], refit, rtol=1e-9, atol=1e-9)
