"""Free held-out scores are those of honest refits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import randoms, share
from subjects import (
    SUBJECTS,
    Subject,
    each_setting,
    each_subject,
    labels,
    numbers,
    pick,
    positive_weights,
)

from posterior import DegenerateError, GaussianNB

pytestmark = pytest.mark.filterwarnings("ignore::posterior.DegenerateWarning")
TOLERANCE = 1e-12


def honest(subject, X, y, weight, folds):
    """Log probabilities by a model fitted to the other folds, and the size of its log joint."""
    log_proba, scale = np.empty((2, len(y), len(np.unique(y))))
    for fold in np.unique(folds):
        test, train = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        model = subject.make()
        model.partial_fit(pick(X, train), y[train], np.unique(y), pick(weight, train))
        log_proba[test] = model.predict_log_proba(pick(X, test))
        scale[test] = np.abs(model.predict_joint_log_proba(pick(X, test)))
    return log_proba, np.where(np.isfinite(scale), scale, 0).max(axis=1, initial=1, keepdims=True)


def assert_honest(subject, X, y, weight, folds, held_out):
    """To 1e-12 of the row's largest log joint, from which its log probabilities are differences."""
    try:
        expected, scale = honest(subject, X, y, weight, folds)
    except DegenerateError:
        with pytest.raises(DegenerateError):
            held_out()
        return
    ours = held_out().log_proba
    np.testing.assert_array_equal(np.isneginf(ours), np.isneginf(expected))
    finite = np.isfinite(expected)
    error = np.where(finite, ours, 0) - np.where(finite, expected, 0)
    np.testing.assert_array_less(np.abs(error) / scale, TOLERANCE)


@each_subject
@share(16)  # a fit for each fold
@given(random=randoms, n=st.integers(2, 12), k=st.integers(2, 12))
def test_cross_validation_equals_honest_refits(subject, random, n, k):
    X, y, weight = subject.table(random, n), labels(random, n), positive_weights(random, n)
    folds = random.permutation(np.arange(n) % k)  # at least two, of any sizes
    assert_honest(
        subject, X, y, weight, folds, lambda: subject.make().cross_validate(X, y, folds, weight)
    )


@each_subject
@share(20)
@given(random=randoms, n=st.integers(2, 12))
def test_a_number_of_folds_is_dealt_out_once(subject, random, n):
    X, y, weight = subject.table(random, n), labels(random, n), positive_weights(random, n)
    k = int(random.integers(2, n + 1))
    try:
        held_out = subject.make().cross_validate(X, y, k, weight)
    except DegenerateError:
        return
    assert set(held_out.folds) == set(range(k))
    again = subject.make().cross_validate(X, y, held_out.folds, weight)
    np.testing.assert_array_equal(again.log_proba, held_out.log_proba)


def one_size(random, n):
    """Means up to 1e9 deviations from zero: a row is taken from a sum in pairs of doubles.

    Their 106 bits leave an error of 5e-32 μ² / σ² in a variance, 5e-14 at that distance.
    """
    d, decimals = random.integers(1, 4), random.integers(0, 3)
    X = np.round(random.normal(0, 10.0 ** random.integers(0, 3), (n, d)), decimals)
    X += random.choice([0, 1e6 if decimals else 1e8])
    X[random.random((n, d)) < 0.1] = np.nan
    return X


def one_size_frame(random, n):
    return SUBJECTS["NaiveBayes"].table(random, n).assign(size=one_size(random, n)[:, 0])


NEARLY = {
    "NaiveBayes of binned",  # shares of the bins that all rows have
    "NaiveBayes of student",  # one step of EM from the fit of all rows
    "NaiveBayes of words",  # words that no other row has stay among those that are known
}
LEFT_OUT = {name: subject for name, subject in SUBJECTS.items() if name not in NEARLY} | {
    "GaussianNB": Subject(GaussianNB, one_size),
    "NaiveBayes": Subject(SUBJECTS["NaiveBayes"].make, one_size_frame),
    "NaiveBayes, predictive": Subject(SUBJECTS["NaiveBayes, predictive"].make, one_size),
    "NaiveBayes of gaussian": Subject(SUBJECTS["NaiveBayes of gaussian"].make, one_size),
}


@pytest.mark.parametrize("subject", LEFT_OUT.values(), ids=LEFT_OUT.keys())
@share(16)  # a fit for each row
@given(random=randoms, n=st.integers(2, 9))
def test_leave_one_out_equals_honest_refits(subject, random, n):
    X, y, weight = subject.table(random, n), labels(random, n), positive_weights(random, n)
    assert_honest(
        subject, X, y, weight, np.arange(n), lambda: subject.make().leave_one_out(X, y, weight)
    )


@each_setting
@share(40)  # a fit for each fold, and for each row
@given(random=randoms, n=st.integers(2, 9))
def test_any_setting_is_held_out_honestly(subject, random, n):
    X, y, weight = subject.table(random, n), labels(random, n), positive_weights(random, n)
    if subject.table is numbers:
        X = one_size(random, n)
    folds, model = random.permutation(np.arange(n) % 3), subject.make()
    for fold, held_out in (
        (folds, lambda: model.cross_validate(X, y, folds, weight)),
        (np.arange(n), lambda: model.leave_one_out(X, y, weight)),
    ):
        assert_honest(subject, X, y, weight, fold, held_out)
