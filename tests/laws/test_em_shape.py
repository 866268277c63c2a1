"""Labels known, hidden or some of each: sums in expectation, and a likelihood that never falls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import Random, plain, randoms, share, table

from posterior import Bernoulli, Categorical, Gaussian, Laplace, Poisson, Product
from posterior.data.rows import Blocks, CodedRows, Hard, Rows, Soft
from posterior.generative import HIDDEN, Joint, JointStatistics, expectation, labeled

K = 2
VALUES = (np.array(["a", "b", "c"]), np.array(["x", "y"]))


def numbers(random: Random, n: int) -> np.ndarray:
    """Two heaps of numbers, with a few holes."""
    heap = random.integers(0, 2, n)
    X = random.normal(0, 1, (n, 2)) + 3 * heap[:, None]
    X[random.random((n, 2)) < 0.1] = np.nan
    return X


def categories(random: Random, n: int) -> CodedRows:
    codes = np.stack([random.integers(-1, len(v), n) for v in VALUES], axis=1)
    return CodedRows(codes.astype(np.int32), VALUES)


def both(random: Random, n: int) -> Blocks:
    return Blocks((numbers(random, n), categories(random, n)))


@dataclass(frozen=True)
class Case:
    """A family without a prior, whose estimates are those of maximum likelihood, and its rows."""

    family: Any
    rows: Callable[[Random, int], Any]


CASES = {
    "Gaussian": Case(Gaussian(None), numbers),
    "Categorical": Case(Categorical(Laplace(0.0)), categories),
    "Product": Case(Product((Gaussian(None), Categorical(Laplace(0.0))), ((0, 1), (2, 3))), both),
}
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def maximized(statistics: JointStatistics[Any], family: Any) -> Joint[Any, Any]:
    """The joint that makes the rows of these statistics most probable."""
    with np.errstate(divide="ignore"):
        weight = np.log(statistics.weight.rounded())
    prior = weight - np.logaddexp.reduce(weight)
    return Joint(family, prior, family.estimate(statistics.features))


def can_end(joint: Joint[Any, Any]) -> bool:
    """Whether no group holds one number only: its likelihood would have no end."""
    parameters = joint.parameters if isinstance(joint.parameters, tuple) else [joint.parameters]
    return all((p.variance > 1e-6).all() for p in parameters if hasattr(p, "variance"))


def first_guess(case: Case, X: Any, random: Random, n: int) -> Joint[Any, Any]:
    R = random.dirichlet(np.ones(K), n)
    return maximized(labeled(Rows(X, Soft(R)), case.family), case.family)


@each_case
@share(4)
@given(random=randoms, n=st.integers(4, 20), weighted=st.booleans())
def test_rows_of_known_labels_are_summed_as_they_are(case, random, n, weighted):
    """To 1e-12 of the largest possible sum: rows in expectation add by matrix products."""
    X, codes = case.rows(random, n), random.integers(0, K, n).astype(np.int32)
    weight = random.random(n) if weighted else None
    rows, joint = Rows(X, Hard(codes, K, weight)), first_guess(case, X, random, n)
    assume(can_end(joint))
    soft = expectation(joint)(rows).statistics
    hard = labeled(rows, case.family)
    np.testing.assert_allclose(soft.weight.rounded(), hard.weight.rounded(), rtol=1e-12)
    a, b = (getattr(s.features, "parts", [s.features]) for s in (soft, hard))
    for one, other in zip(a, b, strict=True):
        for name in ("weight", "total", "squares", "table"):
            if hasattr(one, name):
                sums = [getattr(s, name).rounded() for s in (one, other)]
                np.testing.assert_allclose(*sums, rtol=0, atol=1e-12 * n * 100)


@each_case
@share(4)
@given(
    random=randoms,
    n=st.integers(4, 20),
    hidden=st.sampled_from([0.5, 1.0]),
    weighted=st.booleans(),
)
def test_the_likelihood_never_falls(case, random, n, hidden, weighted):
    X, codes = case.rows(random, n), random.integers(0, K, n).astype(np.int32)
    codes[random.random(n) < hidden] = HIDDEN
    weight = random.uniform(0.5, 2, n) if weighted else None
    rows, joint = Rows(X, Hard(codes, K, weight)), first_guess(case, X, random, n)
    before = -np.inf
    for _ in range(5):
        if not can_end(joint):
            return
        expected = expectation(joint)(rows)
        joint, log_likelihood = maximized(expected.statistics, case.family), expected.log_likelihood
        assert log_likelihood >= before - 1e-9 * max(1, abs(before))
        before = log_likelihood


@pytest.mark.parametrize(
    "family", [Bernoulli(Laplace(0.0)), Poisson(), Categorical(Laplace(0.0))], ids=repr
)
def test_a_label_counts_even_where_the_joint_calls_its_row_impossible(family):
    """The joint has seen x = 0 in group 0 only; a row x = 1 of group 0 still belongs there."""
    X = np.array([[0.0], [0.0], [1.0], [0.0]])
    if isinstance(family, Categorical):
        X = CodedRows(X.astype(np.int32), (np.array(["no", "yes"]),))
    learned = Rows(X[:2], Hard(np.array([0, 1], np.int32), K))
    joint = maximized(labeled(learned, family), family)
    codes = np.array([0, 1, 0, 0], np.int32)
    soft = expectation(joint)(Rows(X, Hard(codes, K))).statistics
    np.testing.assert_allclose(soft.weight.rounded(), [3, 1], rtol=1e-12)


@share(4)
@given(random=randoms, n=st.integers(2, 12))
def test_hidden_rows_are_shared_out_whole(random, n):
    X, family = table(random, n, 2, plain), Gaussian()
    guess = labeled(Rows(X, Soft(random.dirichlet(np.ones(K), n))), family)
    codes = np.where(random.random(n) < 0.5, HIDDEN, random.integers(0, K, n)).astype(np.int32)
    rows = Rows(X, Hard(codes, K))
    expected = expectation(maximized(guess, family))(rows)
    known = np.bincount(codes[codes >= 0], minlength=K)
    assert (expected.statistics.weight.rounded() >= known - 1e-12).all()
    np.testing.assert_allclose(expected.statistics.weight.sum().rounded(), n, rtol=1e-12)
    assert np.isfinite(expected.log_likelihood)
