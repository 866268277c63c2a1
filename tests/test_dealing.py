"""Rows by what they say: fingerprints, and the order and the folds that follow from them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from posterior.data.fingerprints import fingerprints
from posterior.data.rows import Blocks, CodedRows, Hard, Rows, SparseRows, take
from posterior.generative.dealing import by_content, in_turn

RANDOM = np.random.default_rng(0)
NUMBERS = RANDOM.integers(-1, 2, (60, 3)).astype(float)
CODES = RANDOM.integers(-1, 3, (60, 2))
CODED = CodedRows(CODES, (np.arange(3), np.arange(3)))
SPARSE = SparseRows.of(sparse.csr_array(NUMBERS))
FORMS = {
    "table": (NUMBERS, NUMBERS),
    "sparse": (SPARSE, NUMBERS),
    "codes": (CODED, CODES),
    "blocks": (Blocks((NUMBERS, CODED)), np.column_stack([NUMBERS, CODES])),
}
each_form = pytest.mark.parametrize(("X", "cells"), FORMS.values(), ids=FORMS.keys())


@each_form
def test_rows_have_one_fingerprint_where_their_cells_are_equal(X, cells):
    _, kind = np.unique(cells, axis=0, return_inverse=True)
    _, print_ = np.unique(fingerprints(X), return_inverse=True)
    pairs = {*zip(kind.tolist(), print_.tolist(), strict=True)}
    assert len(pairs) == kind.max() + 1 == print_.max() + 1 < len(cells)


@each_form
def test_a_row_has_its_fingerprint_wherever_it_stands(X, cells):
    order = RANDOM.permutation(len(cells))
    assert_array_equal(fingerprints(take(X, order)), fingerprints(X)[order])
    assert_array_equal(fingerprints(X[7:19]), fingerprints(X)[7:19])


def test_the_type_of_numbers_and_the_sign_of_nothing_do_not_matter():
    X = np.array([[0.0, np.nan], [1.5, -2.0]])
    same = np.array([[-0.0, -np.nan], [1.5, -2.0]], np.float32)
    assert_array_equal(fingerprints(X), fingerprints(same))
    assert fingerprints(X[:, ::-1])[1] != fingerprints(X)[1]


def test_rows_are_ordered_by_class_content_and_weight_and_those_without_weight_left_out():
    X = np.array([[1.0], [2.0], [1.0], [1.0], [2.0], [1.0]])
    codes = np.array([1, 0, 0, 1, 1, 1], np.int32)
    weight = np.array([2.0, 1, 0, 1, 3, 1])
    order, number = by_content(Rows(X, Hard(codes, 2, weight)))
    assert_array_equal(codes[order], [0, 1, 1, 1, 1])
    ones = weight[order][X[order, 0] == 1]
    assert_array_equal(ones, np.sort(ones))
    assert len(np.unique(number)) == 3
    assert (np.diff(number) >= 0).all()
    assert_array_equal(number[:1], [0])


def test_folds_in_turn_spread_classes_and_copies():
    assert_array_equal(in_turn(7, 3), [0, 1, 2, 0, 1, 2, 0])
