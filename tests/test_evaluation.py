"""Evaluation: pure functions of held-out probabilities and models, against scikit-learn's."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import average_precision_score, confusion_matrix, log_loss, roc_auc_score

from posterior import (
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    evaluation,
    plots,
)
from posterior.evaluation import HeldOut

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def cancer() -> HeldOut:
    return GaussianNB().cross_validate(*load_breast_cancer(return_X_y=True))


@pytest.fixture(scope="module")
def iris() -> HeldOut:
    return GaussianNB().cross_validate(*load_iris(return_X_y=True))


def test_the_area_under_a_curve_is_that_of_scikit_learn(cancer, iris):
    (curve,) = evaluation.roc(cancer)
    (precision,) = evaluation.precision_recall(cancer)
    p = cancer.proba[:, 1]
    assert curve.area == pytest.approx(roc_auc_score(cancer.codes, p), abs=1e-12)
    assert precision.area == pytest.approx(average_precision_score(cancer.codes, p), abs=1e-12)
    areas = [c.area for c in evaluation.roc(iris)]
    expected = [roc_auc_score(iris.codes == k, iris.proba[:, k]) for k in range(3)]
    np.testing.assert_allclose(areas, expected, atol=1e-12)


def test_the_confusion_matrix_counts_every_row_once(iris):
    expected = confusion_matrix(iris.codes, iris.proba.argmax(axis=1))
    np.testing.assert_array_equal(evaluation.confusion(iris), expected)


def test_a_measure_is_the_mean_over_rows(iris):
    found = evaluation.measure(iris, "log_loss")
    assert found.value == pytest.approx(log_loss(iris.codes, iris.proba), rel=1e-9)
    assert found.standard_error is not None


def test_the_bins_of_a_reliability_diagram_hold_all_rows(cancer):
    found = evaluation.reliability(cancer, "naive Bayes")
    assert sum(b.rows for b in found.bins) == sum(found.histogram) == len(cancer.codes)
    assert found.of == "1"
    assert all(b.observed_low <= b.observed <= b.observed_high for b in found.bins)


def test_planted_wrong_labels_are_doubted():
    X, y = load_breast_cancer(return_X_y=True)
    wrong = np.array([3, 40, 100, 300])
    y[wrong] = 1 - y[wrong]
    held_out = LinearDiscriminantAnalysis().cross_validate(X, y)
    doubted = evaluation.doubtful_labels(held_out)
    assert doubted[wrong].mean() > 5 * doubted.mean()  # far more often than others
    assert doubted.mean() < 0.1
    worst = evaluation.least_expected(held_out)
    own = evaluation.own_probability(held_out)
    assert (np.diff(own[worst]) >= 0).all()


def test_subgroups_part_the_rows(cancer):
    inside = np.arange(len(cancer.codes)) % 2 == 0
    halves = [evaluation.subgroup("row", str(v), cancer, inside == v) for v in (True, False)]
    assert sum(h.rows for h in halves) == len(cancer.codes)
    mean = sum(h.rows * h.accuracy.value for h in halves) / len(cancer.codes)
    assert mean == pytest.approx(cancer.accuracy)


def test_a_learning_curve_falls_and_takes_frames_and_arrays():
    X, y = load_iris(return_X_y=True, as_frame=True)
    of_frame = evaluation.learning_curve(GaussianNB(), X, y, repeats=3)
    of_array = evaluation.learning_curve(GaussianNB(), X.to_numpy(), y, repeats=3)
    assert of_frame == of_array
    assert of_frame[-1].log_loss.value < of_frame[0].log_loss.value
    assert [point.rows for point in of_frame] == sorted({point.rows for point in of_frame})


def test_the_plane_holds_what_the_model_predicts():
    table, y = load_iris(return_X_y=True, as_frame=True)
    X = table.iloc[:, 2:]
    model = GaussianNB().fit(X, y)
    found = evaluation.plane(model, X)
    i, j = 20, 30
    cell = pd.DataFrame([[found.x[j], found.y[i]]], columns=X.columns)
    assert found.codes[i, j] == model.predict(cell)[0]
    assert found.probability[i, j] == pytest.approx(model.predict_proba(cell).max())
    with pytest.raises(ValueError, match="two columns"):
        evaluation.plane(model, table)


def test_pictures_take_models_and_held_out_probabilities(cancer, iris):
    table, y = load_iris(return_X_y=True, as_frame=True)
    X = table.iloc[:, 2:]
    two = y < 2
    logistic = LogisticRegression().fit(X.iloc[:, :1][two], y[two])
    drawn = [
        plots.roc(iris),
        plots.precision_recall(cancer),
        plots.reliability(cancer),
        plots.confusion(iris),
        plots.regions(GaussianNB().fit(X, y), X, y),
        plots.sigmoid(logistic, X.iloc[:, :1][two], y[two]),
    ]
    for chart in drawn:
        assert len(json.dumps(chart.to_dict())) > 1000
    with pytest.raises(ValueError, match="one column"):
        plots.sigmoid(LogisticRegression().fit(X, y), X, y)
