"""Compiled kernels look at what they divide by and index with, and refuse what leads astray."""

from __future__ import annotations

import numpy as np
import pytest

import posterior
from posterior import ModelFileError, kernels
from posterior.storage import container

compiled = pytest.importorskip("posterior.kernels._compiled")
pytestmark = pytest.mark.once

CODES = np.zeros(5, np.int32)
TABLE = np.zeros((5, 3))
DOCUMENTS = ["fish and chips", "peas"]


@pytest.mark.parametrize("n_features", [0, -1, 2**31, 1.5, None])
def test_terms_are_hashed_into_columns_that_there_are(n_features):
    """Nothing may divide by zero, fitted or not."""
    model = posterior.HashingVectorizer(n_features=n_features)
    with pytest.raises(ValueError, match="n_features"):
        model.transform(DOCUMENTS)


def test_settings_in_a_file_are_those_that_a_fit_would_take(tmp_path):
    path = tmp_path / "a.posterior"
    for model, told, new in [
        (posterior.HashingVectorizer(n_features=64), b'"n_features":64', b'"n_features":0'),
        (posterior.GaussianNB(), b'"var_smoothing":1e-09', b'"var_smoothing":-1'),
        (posterior.KMeans(n_clusters=3), b'"n_clusters":3', b'"n_clusters":0'),
        (posterior.KNeighborsClassifier(5), b'"n_neighbors":5', b'"n_neighbors":"x"'),
    ]:
        posterior.save(model, path)
        tensors, head = container.read(path)
        tree = tensors["model"].tobytes()
        assert told in tree
        changed = np.frombuffer(tree.replace(told, new), np.uint8)
        container.write(path, {**tensors, "model": changed}, head)
        with pytest.raises(ModelFileError, match=r"parameter of \w+ must be"):
            posterior.load(path)


def test_a_kernel_that_divides_looks_at_what_it_divides_by():
    no_words = np.empty(0, np.uint8), np.zeros(1, np.int64)
    rule = compiled.Rule(0, 1, 1, True, 2, np.empty(0, np.uint32), *no_words)
    for n in (0, 2**31):
        with pytest.raises(ValueError, match="columns to hash into"):
            compiled.hash_terms(compiled.Documents(("a bc",)), rule, n, True)


@pytest.mark.parametrize("code", [3, 2**31 - 1])
def test_codes_beyond_the_groups_are_refused(code):
    codes = CODES.copy()
    codes[2] = code
    for call in [
        lambda: kernels.group_counts(codes, 3),
        lambda: kernels.rows_by_group(codes, 3),
        lambda: kernels.moments(TABLE, codes, None, 3),
        lambda: kernels.category_counts(TABLE.astype(np.int64), codes, None, 3, np.ones(3, int)),
        lambda: kernels.centered_by_group(TABLE, codes, np.zeros((3, 3)), np.empty((5, 8))),
        lambda: kernels.own_distances(TABLE, np.zeros((3, 3)), codes, np.empty(5)),
    ]:
        with pytest.raises((ValueError, IndexError)):
            call()


def test_arrays_whose_sizes_do_not_agree_are_refused():
    out = np.empty((5, 2))
    mean, term = np.zeros((2, 3)), np.zeros((2, 3))
    kernels.gaussian_log_joint(TABLE, mean, mean + 1, term, np.zeros(2), out)
    for wrong in [
        (TABLE, mean[:, :2].copy(), mean + 1, term, np.zeros(2), out),
        (TABLE, mean, mean + 1, term, np.zeros(1), out),
        (TABLE, mean, mean + 1, term, np.zeros(2), np.empty((4, 2))),
        (TABLE[:, :2], mean, mean + 1, term, np.zeros(2), out),
    ]:
        with pytest.raises(ValueError, match=r"sizes agree|broadcast|operands"):
            compiled.gaussian_log_joint(*wrong)


TREE = {
    "codes": np.zeros((2, 5), np.uint8),
    "residual": np.ones((5, 2, 1), np.int64),
    "sizes": np.array([3, 2], np.int32),
    "ordered": np.ones(2, np.uint8),
    "candidates": np.zeros((3, 1), np.int32),
    "unit": 1.0,
    "shrinkage": 1.0,
    "noise": (0.0, np.zeros(1024), 0),
}
SUM = {
    "codes": np.zeros((2, 5), np.uint8),
    "axis": np.array([0, 2]),
    "column": np.array([0, 1], np.int32),
    "first": np.array([0, 3, 5]),
    "stride": np.array([2, 1]),
    "group": np.array([0, 1, 2, 0, 1], np.uint8),
    "start": np.array([0, 6]),
    "values": np.zeros((6, 1)),
    "out": np.zeros((5, 1)),
}


@pytest.mark.parametrize(
    "wrong",
    [
        {"codes": np.full((2, 5), 3, np.uint8)},
        {"candidates": np.full((3, 1), 2, np.int32)},
        {"candidates": np.full((3, 1), -1, np.int32)},
        {"candidates": np.zeros((9, 1), np.int32)},
        {"sizes": np.array([257, 2], np.int32)},
        {"sizes": np.array([3], np.int32)},
        {"residual": np.ones((4, 2, 1), np.int64)},
        {"noise": (1.0, np.zeros(9), 0)},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_a_tree_is_of_cells_and_columns_that_there_are(wrong):
    kernels.symmetric_tree(**TREE)
    with pytest.raises(ValueError, match="Expected"):
        kernels.symmetric_tree(**TREE | wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"codes": np.full((2, 5), 3, np.uint8)},
        {"column": np.array([0, 2], np.int32)},
        {"stride": np.array([3, 1])},
        {"stride": np.array([-2, 1])},
        {"stride": np.array([2**62, 1])},
        {"group": np.array([0, 1, 2, 0, 2], np.uint8)},
        {"axis": np.array([0, 3])},
        {"first": np.array([0, 3, 6])},
        {"start": np.array([0, 7])},
        {"start": np.array([1, 6])},
        {"values": np.zeros((5, 1))},
        {"out": np.zeros((5, 2))},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_tables_are_added_where_they_have_cells(wrong):
    kernels.add_tables(**SUM)
    with pytest.raises(ValueError, match="Expected"):
        kernels.add_tables(**SUM | wrong)


def test_arrays_at_odd_addresses_are_refused_by_kernels():
    """Estimators copy them: test_layout_laws."""
    moved = np.frombuffer(bytearray(TABLE.nbytes + 1), np.float64, TABLE.size, 1).reshape(5, 3)
    with pytest.raises(ValueError, match="multiples of their numbers' size"):
        compiled.find_exponents(moved, np.zeros(3, np.int64))


def test_the_farthest_query_has_neighbors():
    """Products of numbers that large are infinite; their distances are not."""
    X = np.random.default_rng(0).normal(size=(400, 3))
    Q = np.array([[1e150, 0, 0], [0, -1e30, 1], [1e300, 1e300, 1e300], [0, 0, 0]])
    model = posterior.KNeighborsClassifier(3, algorithm="brute").fit(X, np.arange(400) % 2)
    distance, row = model.kneighbors(Q[:2])
    for q, d, r in zip(Q, distance, row, strict=False):
        true = np.sqrt(((X - q) ** 2).sum(axis=1))
        np.testing.assert_allclose(d, np.sort(true)[:3], rtol=1e-12)
        np.testing.assert_allclose(true[r], d, rtol=1e-12)
    assert (model.kneighbors(Q)[1] < 400).all()


def test_sizes_that_lie_across_addresses_are_refused():
    """A tree reads the number of cells of each column before it looks at a row."""
    memory = np.zeros(3 * 4 + 1, np.uint8)
    sizes = memory[1:].view(np.int32)
    sizes[:] = 2
    whole = np.zeros((1, 3), np.int32)
    arguments = [
        np.zeros((3, 5), np.uint8),
        np.zeros((5, 2, 1), np.int64),
        sizes,
        np.zeros(3, np.uint8),
        whole,
    ]
    outputs = np.zeros(1, np.int32), np.zeros((1, 256), np.uint8), np.zeros((2, 2, 1), np.int64)
    with pytest.raises(ValueError, match="multiples of their numbers' size"):
        compiled.symmetric_tree(*arguments, 1.0, 1.0, 0.0, np.zeros(1024), 0, *outputs)
