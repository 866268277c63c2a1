"""scikit-learn's own checks of what an estimator must do, on every estimator exported."""

from __future__ import annotations

from unittest import SkipTest

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import posterior

# Some tables of the checks have fewer rows than columns, or columns that never vary.
pytestmark = pytest.mark.filterwarnings("ignore::posterior.DegenerateWarning")

# Fewer fits inside one fit: the checks are on what it accepts and shows, not on what it chooses.
SETTINGS = {
    "LogisticRegressionCV": {"Cs": 3, "cv": 3},
    "Additive": {"rounds": 20},
    "Classifier": {"models": ["naive-bayes", "logistic"]},
}
ESTIMATORS = [
    thing(**SETTINGS.get(thing.__name__, {}))
    for thing in (getattr(posterior, name) for name in posterior.__all__)
    if isinstance(thing, type) and issubclass(thing, BaseEstimator)
]

# Checks that skip themselves, and why no installation changes that.
SKIPS = {
    "check_array_api_input": "runs only in a process that set SCIPY_ARRAY_API before importing",
}


def name_of(check) -> str:
    return getattr(check, "func", check).__name__


def test_there_are_estimators_to_check():
    assert len(ESTIMATORS) >= 8


def expected_failures(estimator) -> dict[str, str]:
    """Checks that scikit-learn's own classes of these names fail too, and why."""
    sparse = {
        "check_sample_weight_equivalence_on_sparse_data": "asks for predict_proba, which clusters "
        "of sparse rows do not have"
    }
    if isinstance(estimator, posterior.MiniBatchKMeans):
        batches = "batches are drawn by the number of a row, not by its weight"
        return sparse | {"check_sample_weight_equivalence_on_dense_data": batches}
    return sparse if isinstance(estimator, posterior.KMeans) else {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_every_estimator_keeps_the_contract(estimator, check, request):
    try:
        check(estimator)
    except SkipTest:
        if reason := SKIPS.get(name_of(check)):
            request.applymarker(pytest.mark.may_skip(reason))
        raise
