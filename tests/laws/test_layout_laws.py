"""How an array lies in memory does not matter: its cells alone do."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from everyone import every
from scipy import sparse

import posterior


def shifted(X):
    """A part of a buffer, from an odd byte on."""
    memory = np.frombuffer(bytearray(X.nbytes + 1), X.dtype, X.size, offset=1).reshape(X.shape)
    memory[...] = X
    assert not memory.flags.aligned
    return memory


def field(X):
    """A field of records of nine bytes."""
    records = np.zeros(X.shape, [("flag", "u1"), ("x", X.dtype)])
    records["x"] = X
    return records["x"]


def frozen(X):
    X = X.copy()
    X.setflags(write=False)
    return X


def sparse_in_memory(X):
    """Tall, and with cells far from each other."""
    wide = np.full((len(X) * 50, X.shape[1] * 7), 9, X.dtype)
    wide[::50, ::7] = X
    return wide[::50, ::7]


LAYOUTS = {
    "from an odd byte": shifted,
    "field of records": field,
    "other byte order": lambda X: X.astype(X.dtype.newbyteorder()),
    "read-only": frozen,
    "column by column": np.asfortranarray,
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "far apart": sparse_in_memory,
}
NUMBERS = {"numbers", "counts", "categories", "truths"}


@every(lambda subject: subject.reads in NUMBERS)
def test_the_layout_of_an_array_does_not_matter(subject):
    X, y = subject.table(np.random.default_rng(0), 40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = subject.answers(subject.fit(X, y), X)
        for name, lay_out in LAYOUTS.items():
            laid_out = lay_out(X)
            assert np.array_equal(laid_out, X)
            found = subject.answers(subject.fit(laid_out, y), laid_out)
            for method, answer in expected.items():
                np.testing.assert_allclose(
                    found[method], answer, rtol=1e-7, atol=1e-9, err_msg=f"{name}: {method}"
                )


@every(lambda subject: subject.reads in NUMBERS)
def test_rows_that_share_their_memory_are_rows(subject):
    """A broadcast row has a stride of zero."""
    X, y = subject.table(np.random.default_rng(0), 40)
    model = subject.fit(X, y)
    shared = np.broadcast_to(X[3], (7, X.shape[1]))
    expected = subject.answers(model, shared.copy())
    for method, answer in subject.answers(model, shared).items():
        np.testing.assert_allclose(answer, expected[method], rtol=1e-7, atol=1e-12)


@every(lambda subject: subject.reads in NUMBERS)
def test_what_is_no_table_is_refused_in_words(subject):
    X, y = subject.table(np.random.default_rng(0), 40)
    model = subject.fit(X, y)
    for bad in (np.float64(3.0), X[0], X[:0], X[:, :0], X[None]):
        with pytest.raises(ValueError, match=r"Expected|Found|minimum|features"):
            subject.answers(model, bad)


@pytest.mark.parametrize("y", [shifted, field, LAYOUTS["other byte order"], frozen])
def test_the_layout_of_labels_and_weights_does_not_matter(y):
    X, labels = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 3
    weight = np.linspace(1, 2, 40)
    plain = posterior.GaussianNB().fit(X, labels, sample_weight=weight)
    other = posterior.GaussianNB().fit(X, y(labels), sample_weight=y(weight))
    assert np.array_equal(plain.predict_proba(X), other.predict_proba(X))


def test_the_layout_of_sparse_rows_does_not_matter():
    random = np.random.default_rng(0)
    X, y = sparse.random_array((60, 9), density=0.3, rng=random, format="csr"), np.arange(60) % 2
    other = X.copy()
    other.data, other.indices, other.indptr = map(shifted, (X.data, X.indices, X.indptr))
    for model in (posterior.MultinomialNB(), posterior.LogisticRegression(solver="lbfgs")):
        expected = model.fit(X, y).predict_proba(X)
        assert np.array_equal(model.fit(other, y).predict_proba(other), expected)


@pytest.mark.parametrize("column", [-1, 9, 2**30])
@pytest.mark.parametrize("kind", ["MultinomialNB", "BernoulliNB", "LogisticRegression", "KMeans"])
def test_sparse_rows_with_columns_outside_of_the_table_are_refused(kind, column):
    X = sparse.random_array((60, 9), density=0.3, rng=np.random.default_rng(0), format="csr")
    model, y = getattr(posterior, kind)(), np.arange(60) % 2
    model.fit(X, y)
    bad = X.copy()
    bad.indices[5] = column
    for call in (lambda: model.predict(bad), lambda: model.fit(bad, y)):
        with pytest.raises(ValueError, match=r"[Cc]olumn|[Ii]ndices"):
            call()
