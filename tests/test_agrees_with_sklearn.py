"""The drop-in classes against scikit-learn's at matched settings: answers and fitted attributes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import naive_bayes as peer

import posterior

# Both sides sum some hundred terms of a few units each in a different order: rounding gives
# about 1e-13. The promise of the documentation is 1e-9, relative to the log probability.
RTOL = 1e-9
ATOL = 1e-12  # log probabilities next to zero, where the posterior is 1 to rounding

COUNTED = ("class_count_", "class_log_prior_", "feature_count_", "feature_log_prob_")


@dataclass
class Pair:
    """One of our classes, its peer, and the attributes that users read on both."""

    name: str
    attributes: tuple[str, ...]
    settings: dict[str, Any] = field(default_factory=dict)

    def models(self, **more: Any) -> tuple[Any, Any]:
        settings = self.settings | more
        return getattr(posterior, self.name)(**settings), getattr(peer, self.name)(**settings)


GAUSSIAN = Pair("GaussianNB", ("class_count_", "class_prior_", "theta_", "var_", "epsilon_"))
MULTINOMIAL = Pair("MultinomialNB", COUNTED)
COMPLEMENT = Pair("ComplementNB", (*COUNTED, "feature_all_"))
NORMED = Pair("ComplementNB", (*COUNTED, "feature_all_"), {"norm": True})
BERNOULLI = Pair("BernoulliNB", COUNTED)
CATEGORICAL = Pair(
    "CategoricalNB",
    ("class_count_", "class_log_prior_", "category_count_", "n_categories_", "feature_log_prob_"),
)
ALL = [GAUSSIAN, MULTINOMIAL, COMPLEMENT, NORMED, BERNOULLI, CATEGORICAL]
OF_WORDS = [MULTINOMIAL, COMPLEMENT, NORMED, BERNOULLI]
SMOOTHED = [*OF_WORDS, CATEGORICAL]


def each(pairs):
    def name(pair):
        return pair.name + "".join(f"-{k}" for k in pair.settings)

    return pytest.mark.parametrize("pair", pairs, ids=name)


def table(n: int = 300, d: int = 7, seed: int = 0) -> np.ndarray:
    """Small counts, so that every class can read them; every category occurs."""
    X = np.random.default_rng(seed).poisson(1.3, (n, d)).clip(0, 4)
    X[:5] = np.arange(5)[:, None]
    return X.astype(np.float64)


def labels(n: int = 300, k: int = 4, seed: int = 1) -> np.ndarray:
    y = np.random.default_rng(seed).choice(k, size=n, p=np.arange(1, k + 1) / (k * (k + 1) / 2))
    y[:k] = np.arange(k)
    return y


def assert_same_models(ours, theirs, attributes):
    assert_array_equal(ours.classes_, theirs.classes_)
    assert ours.n_features_in_ == theirs.n_features_in_
    for name in attributes:
        a, b = getattr(ours, name), getattr(theirs, name)
        if isinstance(b, list):
            assert len(a) == len(b)
        else:
            a, b = [a], [b]
        for mine, other in zip(a, b, strict=True):
            assert np.shape(mine) == np.shape(other), name
            assert_allclose(mine, other, rtol=RTOL, atol=ATOL, err_msg=name)


def assert_same_answers(ours, theirs, X, X_theirs=None):
    other = X if X_theirs is None else X_theirs
    for method in ("predict_joint_log_proba", "predict_log_proba", "predict_proba"):
        a, b = getattr(ours, method)(X), getattr(theirs, method)(other)
        assert_allclose(a, b, rtol=RTOL, atol=ATOL, err_msg=method)
    # where two classes tie, rounding decides: only clear answers must be the same
    ranked = np.sort(theirs.predict_joint_log_proba(other), axis=1)
    clear = np.ones(len(ranked), bool)
    if ranked.shape[1] > 1:
        clear = ranked[:, -1] - ranked[:, -2] > 1e-9
    assert_array_equal(ours.predict(X)[clear], theirs.predict(other)[clear])


def assert_agree(pair, X, y, X_theirs=None, weight=None, weight_theirs=None, **settings):
    """Fit both and compare; theirs may read another form of the same table."""
    ours, theirs = pair.models(**settings)
    other = X if X_theirs is None else X_theirs
    ours.fit(X, y, sample_weight=weight)
    theirs.fit(other, y, sample_weight=weight if weight_theirs is None else weight_theirs)
    assert_same_models(ours, theirs, pair.attributes)
    assert_same_answers(ours, theirs, X, other)


# ---- forms of input ----


@each(ALL)
@pytest.mark.parametrize("k", [1, 2, 4])
def test_dense_tables(pair, k):
    assert_agree(pair, table(), labels(k=k))


@each(ALL)
@pytest.mark.parametrize("shape", [(1, 1), (2, 1), (3, 9), (5000, 3)], ids=str)
def test_tables_of_any_shape(pair, shape):
    if (pair is GAUSSIAN and shape[0] == 1) or (pair is NORMED and shape[1] == 1):
        return  # scikit-learn answers NaN; what we answer is in test_bad_input
    X = table(*shape) if shape[0] > 5 else np.arange(shape[0])[:, None] + np.ones(shape)
    assert_agree(pair, X, np.arange(shape[0]) % 2)


@each(ALL)
def test_rows_that_were_not_learned(pair):
    ours, theirs = pair.models()
    ours.fit(table(), labels())
    theirs.fit(table(), labels())
    assert_same_answers(ours, theirs, table(seed=5))


@each(OF_WORDS)
@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csr_array, sparse.csc_array])
def test_sparse_tables(pair, form):
    assert_agree(pair, form(table(d=40)), labels())


@each(OF_WORDS)
def test_sparse_tables_with_wide_indices(pair):
    X = sparse.csr_matrix(table(d=40))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    assert_agree(pair, X, labels(), X_theirs=table(d=40))


@each(OF_WORDS)
def test_sparse_tables_with_zeros_duplicates_and_disorder(pair):
    X = table(d=12)
    row, column = (np.tile(index[::-1], 2) for index in np.nonzero(X))
    data = X[row, column] / 2  # every entry twice, half of it each time, and last to first
    row, column, data = np.append(row, 0), np.append(column, 11), np.append(data, 0.0)
    order = np.argsort(row, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(X)))])
    messy = sparse.csr_matrix((data[order], column[order], start), shape=X.shape)
    assert not messy.has_canonical_format
    assert_agree(pair, messy, labels(), X_theirs=X)


@each(OF_WORDS)
def test_sparse_rows_give_what_dense_rows_give(pair):
    ours, _ = pair.models()
    dense, thin = table(d=40), sparse.csr_matrix(table(d=40))
    model = ours.fit(dense, labels())
    assert_allclose(model.predict_log_proba(thin), model.predict_log_proba(dense), rtol=1e-12)


@each(ALL)
def test_fortran_order_and_strides(pair):
    X = table()
    assert_agree(pair, np.asfortranarray(X), labels())
    assert_agree(pair, X[::2, ::-1], labels()[::2])
    assert_agree(pair, X[::-1, ::3], labels())


@each(ALL)
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int16, np.uint8, np.uint16, np.int8])
def test_whole_numbers(pair, dtype):
    assert_agree(pair, table().astype(dtype), labels(), X_theirs=table())


@each(ALL)
def test_booleans(pair):
    bits = table() > 1
    assert_agree(pair, bits, labels(), X_theirs=bits.astype(np.float64))


@each(ALL)
@pytest.mark.parametrize("order", ["C", "F"])
def test_single_precision_is_summed_in_double(pair, order):
    X = np.asarray(table() * (1.1 if pair is not CATEGORICAL else 1), np.float32, order=order)
    assert_agree(pair, X, labels(), X_theirs=X.astype(np.float64))


@each(OF_WORDS)
def test_single_precision_sparse(pair):
    X = sparse.csr_matrix((table() * 1.1).astype(np.float32))
    assert_agree(pair, X, labels(), X_theirs=X.astype(np.float64))


@each(ALL)
def test_lists(pair):
    assert_agree(pair, table(20).tolist(), labels(20).tolist())


NAMED = [
    pytest.param(labels() - 1, id="negative whole numbers"),
    pytest.param(labels() * 1_000_003, id="far apart"),
    pytest.param(labels().astype(np.float64), id="floats"),
    pytest.param(labels().astype(np.uint8), id="uint8"),
    pytest.param(labels() > 1, id="booleans"),
    pytest.param(np.array(["b", "a", "ccc", "é"])[labels()], id="strings"),
    pytest.param(np.array(["b", "a", "ccc", "é"], object)[labels()], id="objects"),
]


@pytest.mark.parametrize("y", NAMED)
@each(ALL)
def test_labels_of_any_type(pair, y):
    assert_agree(pair, table(), y)
    ours, theirs = (model.fit(table(), y) for model in pair.models())
    # scikit-learn's naive Bayes alone turns objects into strings; its other classifiers do not
    assert ours.classes_.dtype in (theirs.classes_.dtype, y.dtype)
    assert ours.predict(table()).dtype == ours.classes_.dtype


@pytest.mark.parametrize("library", [pd, pl, pa], ids=lambda m: m.__name__)
@each(ALL)
def test_frames(pair, library):
    X = table()
    columns = {f"column {j}": X[:, j] for j in range(X.shape[1])}
    frame = pa.table(columns) if library is pa else library.DataFrame(columns)
    ours, theirs = pair.models()
    ours.fit(frame, labels())
    theirs.fit(X, labels())
    assert_same_models(ours, theirs, pair.attributes)
    assert_same_answers(ours, theirs, frame, X)
    assert list(ours.feature_names_in_) == list(columns)


@each(ALL)
def test_labels_as_a_series(pair):
    assert_agree(pair, pd.DataFrame(table()), pd.Series(labels()))


# ---- weights ----


@each(SMOOTHED)
@pytest.mark.parametrize("zeros", [False, True])
def test_weights(pair, zeros):
    weight = np.random.default_rng(2).exponential(size=300)
    weight[::7] *= not zeros
    assert_agree(pair, table(), labels(), weight=weight)


@each(OF_WORDS)
def test_weights_of_sparse_rows(pair):
    weight = np.random.default_rng(2).exponential(size=300)
    assert_agree(pair, sparse.csr_matrix(table()), labels(), weight=weight)


def test_weights_of_gaussians():
    """var_smoothing is 0: our epsilon_ weighs the rows, scikit-learn's does not."""
    weight = np.random.default_rng(2).exponential(size=300)
    assert_agree(GAUSSIAN, table(), labels(), weight=weight, var_smoothing=0)


def test_weights_count_in_the_variance_floor():
    weight = np.random.default_rng(2).integers(0, 4, 300).astype(float)
    ours = posterior.GaussianNB(var_smoothing=0.1).fit(table(), labels(), sample_weight=weight)
    repeated = np.repeat(np.arange(300), weight.astype(int))
    theirs = peer.GaussianNB(var_smoothing=0.1).fit(table()[repeated], labels()[repeated])
    assert_same_models(ours, theirs, GAUSSIAN.attributes)
    assert_same_answers(ours, theirs, table())


# ---- settings ----


@each(ALL)
def test_class_probabilities_as_given(pair):
    name = "priors" if pair is GAUSSIAN else "class_prior"
    assert_agree(pair, table(), labels(), **{name: [0.1, 0.2, 0.3, 0.4]})


@each(SMOOTHED)
def test_class_probabilities_all_alike(pair):
    assert_agree(pair, table(), labels(), fit_prior=False)


@pytest.mark.parametrize("smoothing", [0.0, 1e-12, 1e-3, 1.0, 100.0])
def test_variance_smoothing(smoothing):
    assert_agree(GAUSSIAN, table() * 3.7 - 5, labels(), var_smoothing=smoothing)


@each(SMOOTHED)
@pytest.mark.parametrize("alpha", [1e-12, 1e-3, 0.5, 1, 30.0])
def test_pseudo_counts(pair, alpha):
    assert_agree(pair, table(), labels(), alpha=alpha)


@each([MULTINOMIAL, COMPLEMENT, NORMED])
def test_pseudo_counts_by_feature(pair):
    assert_agree(pair, table(), labels(), alpha=np.linspace(0.1, 3, 7))


def test_pseudo_counts_by_feature_of_bernoullis():
    """scikit-learn's own class fails on them unless there are as many classes as features."""
    alpha, X, y = np.linspace(0.1, 3, 7), table(), labels()
    together = posterior.BernoulliNB(alpha=alpha).fit(X, y)
    for j, a in enumerate(alpha):
        alone = peer.BernoulliNB(alpha=a).fit(X[:, [j]], y)
        ours = together.feature_log_prob_[:, [j]]
        assert_allclose(ours, alone.feature_log_prob_, rtol=RTOL)


@each(SMOOTHED)
def test_plain_counting(pair):
    """Every count is positive here, so that logarithms of zero do not enter."""
    X = np.vstack([table(), *[np.full((4, 7), v) for v in range(5)]])
    y = np.concatenate([labels(), np.tile(np.arange(4), 5)])
    assert_agree(pair, X, y, alpha=0)


@each(SMOOTHED)
def test_tiny_pseudo_counts_are_raised_unless_forced(pair):
    ours, theirs = pair.models(alpha=0, force_alpha=False)
    for model in (ours, theirs):
        with pytest.warns(UserWarning, match=r"alpha too small.*1\.0e-10"):
            model.fit(table(), labels())
    assert_same_models(ours, theirs, pair.attributes)
    assert_same_answers(ours, theirs, table())


@pytest.mark.parametrize("binarize", [0.0, 0.5, 1.0, 2.5])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_thresholds(binarize, form):
    assert_agree(BERNOULLI, form(table()), labels(), binarize=binarize)


def test_no_threshold_takes_zeros_and_ones():
    bits = (table() > 1).astype(float)
    assert_agree(BERNOULLI, bits, labels(), binarize=None)
    assert_agree(BERNOULLI, sparse.csr_matrix(bits), labels(), binarize=None)


@pytest.mark.parametrize("least", [3, 9, [5, 6, 7, 8, 9, 10, 11]], ids=str)
def test_categories_that_exist_at_least(least):
    assert_agree(CATEGORICAL, table(), labels(), min_categories=least)


def test_categories_up_to_the_least_can_be_asked_for():
    ours, theirs = (m.fit(table(), labels()) for m in CATEGORICAL.models(min_categories=9))
    assert_same_answers(ours, theirs, np.full((1, 7), 8))


# ---- streams ----


@pytest.mark.filterwarnings("ignore:divide by zero")  # scikit-learn's logarithm of a prior of 0
@each(ALL)
def test_declared_classes_that_never_came(pair):
    ours, theirs = pair.models(**({} if pair is GAUSSIAN else {"fit_prior": False}))
    for model in (ours, theirs):
        model.partial_fit(table(), labels() * 2, classes=[0, 2, 3, 4, 6])
    assert_array_equal(ours.classes_, [0, 2, 3, 4, 6])
    seen = [0, 1, 3, 4]
    if pair is GAUSSIAN:
        # scikit-learn has a mean of 0 for a class without rows; its prior is 0 in both
        assert ours.class_prior_[2] == theirs.class_prior_[2] == 0
        assert_array_equal(ours.predict_proba(table())[:, 2], 0)
        a, b = ours.predict_log_proba(table()), theirs.predict_log_proba(table())
        assert_allclose(a[:, seen], b[:, seen], rtol=RTOL, atol=ATOL)
    else:
        assert_same_models(ours, theirs, pair.attributes)
        assert_same_answers(ours, theirs, table())


@each(SMOOTHED)
def test_chunks(pair):
    """GaussianNB has its own test: scikit-learn smooths with the last chunk's variance."""
    ours, theirs = pair.models()
    for rows in (slice(0, 90), slice(90, 91), slice(91, 300)):
        for model in (ours, theirs):
            model.partial_fit(table()[rows], labels()[rows], classes=np.arange(4))
    assert_same_models(ours, theirs, pair.attributes)
    assert_same_answers(ours, theirs, table())


def test_chunks_of_gaussians():
    ours, theirs = GAUSSIAN.models(var_smoothing=0)
    for rows in (slice(0, 90), slice(90, 91), slice(91, 300)):
        for model in (ours, theirs):
            model.partial_fit(table()[rows], labels()[rows], classes=np.arange(4))
    assert_same_models(ours, theirs, GAUSSIAN.attributes)
    assert_same_answers(ours, theirs, table())


@each(ALL)
def test_other_classes_than_declared_are_refused(pair):
    for model in pair.models():
        model.partial_fit(table(), labels(), classes=np.arange(4))
        with pytest.raises(ValueError, match="is not the same as on last call to partial_fit"):
            model.partial_fit(table(), labels(), classes=np.arange(5))


# ---- attributes are settable ----


def _by_hand(model, **values):
    for name, value in values.items():
        setattr(model, name, value)
    return model


def test_gaussians_can_be_set_by_hand():
    values = {
        "theta_": np.array([[0.0, 1.0], [2.0, -1.0]]),
        "var_": np.array([[1.0, 2.0], [0.5, 4.0]]),
        "class_prior_": np.array([0.25, 0.75]),
    }
    X = np.random.default_rng(0).normal(size=(50, 2))
    fitted = [model.fit(X, np.arange(50) % 2) for model in GAUSSIAN.models()]
    ours, theirs = (_by_hand(model, **values) for model in fitted)
    assert_same_answers(ours, theirs, X)
    new = _by_hand(posterior.GaussianNB(), classes_=np.array([0, 1]), n_features_in_=2, **values)
    assert_same_answers(new, theirs, X)


@each(OF_WORDS)
def test_words_can_be_set_by_hand(pair):
    values = {
        "feature_log_prob_": np.log(np.array([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]])),
        "class_log_prior_": np.log([0.25, 0.75]),
    }
    X, y = table(d=3), labels(k=2)
    ours, theirs = (_by_hand(model.fit(X, y), **values) for model in pair.models())
    assert_same_answers(ours, theirs, X)
    new = _by_hand(pair.models()[0], classes_=np.array([0, 1]), n_features_in_=3, **values)
    assert_same_answers(new, theirs, X)


def test_categories_can_be_set_by_hand():
    X, y = table(d=2), labels(k=2)
    theirs = peer.CategoricalNB().fit(X, y)
    log_prob = [np.log((np.exp(p) + 1 / p.shape[1]) / 2) for p in theirs.feature_log_prob_]
    values = {"feature_log_prob_": log_prob, "class_log_prior_": np.log([0.25, 0.75])}
    ours = _by_hand(posterior.CategoricalNB().fit(X, y), **values)
    assert_same_answers(ours, _by_hand(theirs, **values), X)
    new = _by_hand(
        posterior.CategoricalNB(),
        classes_=np.array([0, 1]),
        n_features_in_=2,
        n_categories_=np.array([5, 5]),
        **values,
    )
    assert_same_answers(new, theirs, X)
