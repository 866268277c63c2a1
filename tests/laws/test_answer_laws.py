"""What a fitted model answers: terms that add up, rows that stand alone, priors that hold."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import logsumexp
from strategies import bits, counts, n_rows, plain, randoms, share, table
from subjects import SETTINGS, SUBJECTS, each_subject, labels, pick, positive_weights

from posterior import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    DegenerateError,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
)
from posterior.engines import Local

MODELS = SUBJECTS | SETTINGS
each_model = pytest.mark.parametrize("subject", MODELS.values(), ids=MODELS.keys())
pytestmark = pytest.mark.filterwarnings("ignore::posterior.DegenerateWarning")


def some_model(subject, random, n):
    """A fitted model that can answer, its rows, and rows that it never saw."""
    X, y, weight = subject.table(random, n), labels(random, n), positive_weights(random, n)
    model = subject.make().fit(X, y, weight)
    while True:
        new = subject.table(random, n)
        if new.shape == X.shape:
            break
    try:
        model.predict(X)
    except DegenerateError:
        assume(False)
    return model, X, new


def scale_of(log_joint):
    """The size of each row's log joint: its rounding errors are relative to that."""
    return np.abs(log_joint).max(axis=1, initial=1.0, where=np.isfinite(log_joint))[:, None]


def assert_close(ours, expected, scale):
    np.testing.assert_array_equal(np.isfinite(ours), np.isfinite(expected))
    finite = np.isfinite(expected)
    error = np.where(finite, ours, 0) - np.where(finite, expected, 0)
    np.testing.assert_array_less(np.abs(error) / scale, 1e-12)


@each_model
@share(40)  # a fit and several answers a case
@given(random=randoms, n=n_rows)
def test_evidence_adds_up_to_the_joint(subject, random, n):
    model, X, new = some_model(subject, random, n)
    for rows in (X, new):
        evidence, log_joint = model.evidence(rows), model.predict_joint_log_proba(rows)
        assert evidence.terms.shape[:2] == log_joint.shape
        size = np.abs(np.where(np.isfinite(evidence.terms), evidence.terms, 0)).sum(axis=2)
        scale = scale_of(log_joint) + size.max(axis=1, keepdims=True)
        assert_close(evidence.log_prior + evidence.terms.sum(axis=2), log_joint, scale)
        assert_close(evidence.log_joint(), log_joint, scale)


@each_model
@share(40)  # a fit and several answers a case
@given(random=randoms, n=n_rows)
def test_posteriors_sum_to_one_and_follow_from_the_joint(subject, random, n):
    model, X, new = some_model(subject, random, n)
    for rows in (X, new):
        log_joint, proba = model.predict_joint_log_proba(rows), model.predict_proba(rows)
        scale = scale_of(log_joint)
        assert ((proba >= 0) & (proba <= 1)).all()
        np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-12)
        evidence = logsumexp(log_joint, axis=1)
        assert_close(model.log_evidence(rows), evidence, scale[:, 0])
        possible = np.isfinite(evidence)  # of a row that no class allows nothing is known
        np.testing.assert_array_equal(proba[~possible], 1 / len(model.classes_))
        log_proba, share = model.predict_log_proba(rows), log_joint[possible]
        assert_close(log_proba[possible], share - evidence[possible, None], scale[possible])
        np.testing.assert_allclose(np.exp(log_proba), proba, rtol=1e-12 * scale.max())
        assert (model.predict(rows) == model.classes_[log_joint.argmax(axis=1)]).all()


@each_subject
@share(20)
@given(random=randoms, n=n_rows)
def test_the_learned_priors_change_nothing(subject, random, n):
    model, X, new = some_model(subject, random, n)
    k = len(model.classes_)
    learned = np.exp(getattr(model, "class_log_prior_", 0) + np.zeros(k))
    if isinstance(model, GaussianNB):
        learned = model.class_prior_
    if isinstance(model, ComplementNB):  # its classes are alike, whatever it learned
        learned = np.full(k, 1 / k)
    for rows in (X, new):
        scale = scale_of(model.predict_joint_log_proba(rows))
        plain, asked = model.predict_log_proba(rows), model.predict_log_proba(rows, priors=learned)
        assert_close(asked, plain, scale)


@each_subject
@share(20)
@given(random=randoms, n=n_rows)
def test_a_class_of_no_prior_is_never_the_answer(subject, random, n):
    model, X, _ = some_model(subject, random, n)
    k = len(model.classes_)
    assume(k > 1)
    proba = model.predict_proba(X, priors=np.append(np.full(k - 1, 1 / (k - 1)), 0))
    assert (proba[:, -1] == 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-12)


@each_subject
@share(40)  # a fit and several answers a case
@given(random=randoms, n=n_rows, order=st.sampled_from("CF"))
def test_a_row_does_not_feel_its_neighbors(subject, random, n, order):
    model, X, new = some_model(subject, random, n)
    for rows in (X, new):
        if isinstance(rows, np.ndarray):
            rows = np.asarray(rows, order=order)
        assert_rows_stand_alone(model, rows, random)


WIDE = {
    "GaussianNB": (GaussianNB, plain),
    "BernoulliNB": (BernoulliNB, plain),
    "CategoricalNB": (CategoricalNB, counts),
    "MultinomialNB": (MultinomialNB, counts),
    "ComplementNB": (ComplementNB, counts),
    "PoissonNB": (PoissonNB, counts),
    "NaiveBayes": (partial(NaiveBayes, predictive=True), plain),
    "NaiveBayes, Poisson": (partial(NaiveBayes, "poisson", predictive=True), counts),
    "NaiveBayes, multinomial": (partial(NaiveBayes, "multinomial", predictive=True), counts),
}
NO_HOLES = "MultinomialNB", "ComplementNB", "NaiveBayes, multinomial"


@pytest.mark.parametrize("name", WIDE)
@share(20)
@given(random=randoms, n=st.integers(2, 70), d=st.integers(8, 20), order=st.sampled_from("CF"))
def test_a_wide_row_does_not_feel_its_neighbors(name, random, n, d, order):
    """Enough columns that sums over them are taken in several lanes."""
    make, cells = WIDE[name]
    X = table(random, n, d, cells, holes=name not in NO_HOLES)
    model = make().fit(X, labels(random, n))
    assert_rows_stand_alone(model, np.asarray(X, order=order), random)


def assert_rows_stand_alone(model, rows, random):
    try:
        together = model.predict_joint_log_proba(rows)
    except DegenerateError:
        return
    shares, n = model.predict_proba(rows), len(together)
    for i in random.permutation(n)[:8]:
        alone = pick(rows, slice(i, i + 1))
        assert bits(model.predict_joint_log_proba(alone)[0]) == bits(together[i])
        assert bits(model.predict_proba(alone)[0]) == bits(shares[i])
    order = random.permutation(n)
    assert bits(model.predict_joint_log_proba(pick(rows, order))) == bits(together[order])
    model.engine_ = Local(threads=2, chunk_rows=3)
    assert bits(model.predict_joint_log_proba(rows)) == bits(together)


@each_subject
@share(20)
@given(random=randoms, n=n_rows)
def test_relabeling_classes_permutes_the_answer(subject, random, n):
    """To 1e-12 of each row's log joint: sums over all classes are taken in another order."""
    X, weight = subject.table(random, n), positive_weights(random, n)
    codes = random.integers(0, 3, n)
    names = random.permutation(["kea", "owl", "emu"])
    model = subject.make().fit(X, codes, weight)
    renamed = subject.make().fit(X, names[codes], weight)
    column = np.searchsorted(renamed.classes_, names[model.classes_])
    try:
        log_joint = model.predict_joint_log_proba(X)
    except DegenerateError:
        return
    assert_close(renamed.predict_joint_log_proba(X)[:, column], log_joint, scale_of(log_joint))
