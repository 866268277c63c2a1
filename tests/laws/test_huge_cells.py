"""Cells so large that squares and products overflow: a refusal in words, or probabilities."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from everyone import every


@every(lambda subject: subject.is_classifier and subject.reads in ("numbers", "counts"))
@pytest.mark.parametrize("size", [1e155, 1e308])
def test_no_row_is_answered_by_nan(subject, size):
    X, y = subject.table(np.random.default_rng(0), 40)
    huge = X.copy()
    huge[5, 1] = size
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for table, rows in ((X, huge), (X, np.full_like(X, size)), (huge, huge), (huge, X)):
            try:
                answers = subject.fit(table, y).predict_proba(rows)
            except ValueError as error:
                assert "Expected" in str(error) or "Input" in str(error)
            else:
                np.testing.assert_allclose(answers.sum(axis=1), 1.0, rtol=1e-9)
