"""Evaluation: pure functions of held-out probabilities and models, against scikit-learn's."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    confusion_matrix,
    log_loss,
    recall_score,
    roc_auc_score,
)

from posterior import (
    BernoulliNB,
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


def scores_of(table, group) -> dict[str, tuple[float, float, float]]:
    """Value, low and high by score, of one group."""
    lines = zip(*(table[name] for name in ("group", "score", "value", "low", "high")), strict=True)
    return {score: numbers for g, score, *numbers in lines if g == group}


def test_scores_by_group_are_those_of_scikit_learn_on_the_rows_of_the_group(cancer):
    groups = np.where(np.arange(len(cancer.codes)) % 3 == 0, "third", "other").astype(object)
    groups[:5] = None
    table = evaluation.by_group(cancer.classes[cancer.codes], cancer.proba, groups, level=0.9)
    answer = cancer.log_proba.argmax(axis=1)
    for group in ("third", "other"):
        inside = groups == group
        true, said, p = cancer.codes[inside], answer[inside], cancer.proba[inside, 1]
        (right_no, wrong_yes), (wrong_no, right_yes) = confusion_matrix(true, said)
        found, n = scores_of(table, group), inside.sum()
        shares = {
            "accuracy": (right_no + right_yes, n),
            "base rate": (true.sum(), n),
            "predicted positive": (said.sum(), n),
            "true positive rate": (right_yes, right_yes + wrong_no),
            "false positive rate": (wrong_yes, right_no + wrong_yes),
            "precision": (right_yes, right_yes + wrong_yes),
        }
        for name, (hits, rows) in shares.items():
            interval = binomtest(int(hits), int(rows)).proportion_ci(0.9, method="wilson")
            assert found[name] == pytest.approx([hits / rows, *interval], abs=1e-12)
        assert found["mean probability"][0] == pytest.approx(p.mean())
        own = cancer.proba[inside][np.arange(n), true]
        assert found["log loss"][0] == pytest.approx(-np.log(own).mean(), rel=1e-12)
        assert found["Brier score"][0] == pytest.approx(2 * brier_score_loss(true, p))
        assert found["log loss"][1] < found["log loss"][0] < found["log loss"][2]


def test_groups_of_several_classes_have_rates_of_the_one_asked_for(iris):
    truth, groups = iris.classes[iris.codes], np.arange(len(iris.codes)) % 2
    plain = evaluation.by_group(truth, iris.proba, groups)
    assert set(plain["score"]) == {"accuracy", "log loss", "Brier score"}
    answers = iris.predicted
    rates = scores_of(evaluation.by_group(truth, answers, groups, positive=2), 1)
    inside = groups == 1
    recall = recall_score(truth[inside], answers[inside], labels=[2], average=None)[0]
    assert rates["true positive rate"][0] == pytest.approx(recall)
    assert "log loss" not in rates  # predicted classes say nothing of probabilities


def test_a_group_without_positives_has_no_true_positive_rate():
    found = scores_of(evaluation.by_group([0, 1, 0, 0], [0, 1, 0, 1], ["a", "a", "b", "b"]), "b")
    assert np.isnan(found["true positive rate"]).all()
    assert found["false positive rate"][0] == 0.5


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (([0, 1], [0.2, 0.8], ["a", "b"]), "fractions in one column"),
        (([0, 1], [0, 1], ["a"]), "a group for each of 2 rows"),
        (([0, 1], [0, 1], [None, None]), "all are missing"),
        (([0, 1], [[0.5, 0.2, 0.3]] * 2, ["a", "b"]), "probabilities of 2 classes"),
        (([0, 1], [[1.5, -0.5]] * 2, ["a", "b"]), "some below zero"),
    ],
)
def test_groups_that_make_no_sense_are_refused(arguments, match):
    with pytest.raises(ValueError, match=match):
        evaluation.by_group(*arguments)
    with pytest.raises(ValueError, match="as positive, got 'x'"):
        evaluation.by_group([0, 1], [0, 1], ["a", "b"], positive="x")


@pytest.mark.parametrize(("name", "rows"), [("heart", 187), ("netflix", 500)])
def test_the_homework_is_told_apart_by_demographic(shared_data, name, rows):
    """The course leaves the column out of the model, and asks how each group fares."""
    train, test = (
        pd.read_csv(shared_data / "cs109" / f"{name}-{part}.csv") for part in ("train", "test")
    )
    features = train.columns.difference(["Demographic", "Label"], sort=False)
    model = BernoulliNB(alpha=1).fit(train[features], train["Label"])
    table = evaluation.by_group(
        test["Label"], model.predict_proba(test[features]), test["Demographic"]
    )
    predicted = model.predict(test[features])
    for group, part in test.assign(predicted=predicted).groupby("Demographic"):
        true, said = part["Label"] == 1, part["predicted"] == 1
        found = scores_of(table, group)
        assert found["accuracy"][0] == pytest.approx((true == said).mean())
        assert found["true positive rate"][0] == pytest.approx(said[true].mean())
        assert found["false positive rate"][0] == pytest.approx(said[~true].mean())
    assert table["rows"][table["score"] == "accuracy"].sum() == rows


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
