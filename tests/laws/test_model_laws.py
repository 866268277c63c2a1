"""A model is the sum of its rows: however they came, whoever added them, and whatever left."""

from __future__ import annotations

import copy
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import bits, chunks, merged, n_rows, randoms, share
from subjects import (
    CATEGORICAL,
    SUBJECTS,
    assert_same,
    each_subject,
    labels,
    learned,
    pick,
    positive_weights,
)

import posterior
from posterior import GaussianNB, MultinomialNB
from posterior.engines import Local

pytestmark = pytest.mark.filterwarnings("ignore::posterior.DegenerateWarning")


def fitted(subject, X, y, weight=None, rows=slice(None)):
    return subject.make().fit(pick(X, rows), y[rows], pick(weight, rows))


def in_another_order(subject, X, y, weight, random):
    return fitted(subject, X, y, weight, random.permutation(len(y)))


def on_threads(subject, X, y, weight, random):
    model = subject.make()
    model.engine_ = Local(chunk_rows=3)
    with posterior.threads(int(random.integers(1, 4))):
        return model.fit(X, y, weight)


def in_a_stream(subject, X, y, weight, random):
    first, *others = chunks(random, len(y))
    model = fitted(subject, X, y, weight, first)
    for part in others:  # they may bring new classes
        model.partial_fit(pick(X, part), y[part], sample_weight=pick(weight, part))
    return model


def in_a_stream_of_known_classes(subject, X, y, weight, random):
    model, classes = subject.make(), np.unique(y)
    for part in chunks(random, len(y)):
        model.partial_fit(pick(X, part), y[part], classes, pick(weight, part))
        classes = None
    return model


def by_merging(subject, X, y, weight, random):
    parts = [fitted(subject, X, y, weight, part) for part in chunks(random, len(y))]
    return merged(random, parts)


LEARNING = SUBJECTS | CATEGORICAL
each_learner = pytest.mark.parametrize("subject", LEARNING.values(), ids=LEARNING.keys())
WAYS = [in_another_order, on_threads, in_a_stream, in_a_stream_of_known_classes, by_merging]


@each_learner
@share(40)  # all five ways a case, against one fit of all rows
@given(random=randoms, n=n_rows)
def test_order_chunks_threads_and_merging_change_no_bit(subject, random, n):
    X, y, weight = subject.table(random, n), labels(random, n), positive_weights(random, n)
    whole = learned(fitted(subject, X, y, weight), X)
    for way in WAYS:
        assert_same(learned(way(subject, X, y, weight, random), X), whole, way.__name__)


@each_learner
@share(16)  # three fits a case, and three changes
@given(random=randoms, n=st.integers(2, 12))
def test_rows_forgotten_were_never_seen(subject, random, n):
    """Also where they brought a class, a category or a number of digits of their own."""
    X, y, weight = subject.table(random, n), labels(random, n), positive_weights(random, n)
    kept, left = np.split(random.permutation(n), [random.integers(1, n)])
    never = learned(fitted(subject, X, y, weight, kept), X)
    less = pick(X, left), y[left], pick(weight, left)
    assert_same(learned(fitted(subject, X, y, weight).forget(*less), X), never)
    later = fitted(subject, X, y, weight, kept)
    later.partial_fit(less[0], less[1], sample_weight=less[2])
    for part in np.array_split(left, random.integers(1, 3)):
        if len(part):
            later.forget(pick(X, part), y[part], pick(weight, part))
    assert_same(learned(later, X), never)


@each_subject
@share(16)  # four fits a case
@given(random=randoms, n=n_rows)
def test_a_weight_of_two_is_two_rows(subject, random, n):
    X, y = subject.table(random, n), labels(random, n)
    twice = fitted(subject, X, y, rows=np.tile(np.arange(n), 2))
    assert_same(learned(fitted(subject, X, y, np.full(n, 2)), X), learned(twice, X))
    w = random.integers(1, 4, n)
    repeated = fitted(subject, X, y, rows=np.repeat(np.arange(n), w))
    assert_same(learned(fitted(subject, X, y, w), X), learned(repeated, X))


@each_subject
@share(20)
@given(random=randoms, n=n_rows)
def test_a_decay_of_one_changes_nothing(subject, random, n):
    X, y, weight = subject.table(random, n), labels(random, n), positive_weights(random, n)
    model = fitted(subject, X, y, weight)
    before = learned(model, X)
    assert_same(learned(model.decay(1), X), before)


@each_subject
@share(20)
@given(random=randoms, n=n_rows)
def test_merging_leaves_both_parts_as_they_were(subject, random, n):
    X, y = subject.table(random, n), labels(random, n)
    parts = [fitted(subject, X, y, rows=part) for part in chunks(random, n)]
    before = [bits(vars(part)) for part in parts]
    whole = reduce(add, parts)
    assert [bits(vars(part)) for part in parts] == before
    if len(parts) > 1:
        assert not any(part is whole for part in parts)


def wrong_calls(model, X, y):
    """Calls that have no meaning, by what is wrong with them."""
    n = len(y)
    stranger = np.append(y[1:], "stranger" if y.dtype.kind == "U" else 77)
    narrow = X.iloc[:, :-1] if hasattr(X, "iloc") else X[:, :-1]
    other = GaussianNB() if isinstance(model, MultinomialNB) else MultinomialNB()
    twice = np.tile(np.arange(n), 2)
    return {
        "too few labels": lambda: model.partial_fit(X, y[1:]),
        "labels missing": lambda: model.fit(X, [None] * n),
        "too few columns": lambda: model.partial_fit(narrow, y),
        "no rows": lambda: model.fit(X[:0], y[:0]),
        "a negative weight": lambda: model.fit(X, y, np.full(n, -1.0)),
        "no weight": lambda: model.fit(X, y, sample_weight=np.zeros(n)),
        "a class never learned": lambda: model.forget(X, stranger),
        "more rows than were learned": lambda: model.forget(pick(X, twice), y[twice]),
        "all rows": lambda: model.forget(X, y),
        "a factor of zero": lambda: model.decay(0),
        "another kind of model": lambda: model.merge(other.fit([[1, 2], [2, 1]], [0, 1])),
    }


@each_subject
@share(40)  # up to fourteen calls a case
@given(random=randoms, n=n_rows)
def test_a_call_that_fails_leaves_the_model_as_it_was(subject, random, n):
    X, y = subject.table(random, n), labels(random, n)
    model = fitted(subject, X, y)
    before = bits(vars(model))
    for wrong, call in wrong_calls(model, X, y).items():
        with pytest.raises((ValueError, TypeError)):
            call()
        assert bits(vars(model)) == before, wrong
    if isinstance(X, np.ndarray):
        infinite = X.copy()
        infinite[-1, -1] = np.inf
        for call in (model.fit, model.partial_fit, model.forget):
            with pytest.raises(ValueError, match="infinity"):
                call(infinite, y)
            assert bits(vars(model)) == before


@each_subject
@share(20)
@given(random=randoms, n=n_rows)
def test_classes_named_at_the_start_are_closed(subject, random, n):
    X, y = subject.table(random, n), labels(random, n)
    model = subject.make().partial_fit(X, y, classes=np.unique(y))
    before = bits(vars(model))
    with pytest.raises(ValueError, match=r"stranger|77"):
        model.partial_fit(X, np.full(n, "stranger" if y.dtype.kind == "U" else 77))
    assert bits(vars(model)) == before
    assert_same(learned(copy.deepcopy(model), X), learned(model, X))
