"""What the benchmark of quality stores, counts and shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

from benchmarks.quality import __main__ as command
from benchmarks.quality import folds, kept, page, picture, scoring, tables
from benchmarks.quality.verdicts import Verdict, verdicts

pytestmark = pytest.mark.once

DOCS = Path(__file__).resolve().parents[1] / "docs"


@pytest.fixture
def answers() -> folds.Answers:
    """Of 200 rows of three classes, not well calibrated."""
    random = np.random.default_rng(0)
    proba = random.dirichlet([0.5, 1, 2], 200)
    return folds.Answers(
        proba,
        codes=random.integers(0, 3, 200),
        classes=np.array(["a", "b", "c"]),
        folds=np.arange(200, dtype=np.int32) % 5,
        seconds=np.array([0.3, 0.2, 0.4, 0.3, 0.5]),
        version="some 1.0",
    )


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.setattr(folds, "STORED", tmp_path / "quality")
    monkeypatch.setattr(kept, "KEPT", tmp_path / "kept")


def scored(log_loss: float, apart: float = 0.0, error: float = 0.01) -> dict[str, Any]:
    return {
        "log_loss": log_loss,
        "brier": 0.2,
        "calibration": 0.01,
        "calibration_error": 0.002,
        "accuracy": 0.9,
        "seconds": 1.0,
        "apart": apart,
        "apart_error": error,
        "version": "some 1.0",
        "cpu": "a processor",
    }


def summary(**models: dict[str, Any]) -> dict[str, Any]:
    """Of one table, as the page and the picture read it."""
    sets = {"car": {"rows": 1728, "classes": 4, "models": models}}
    tables = {"subject": "Additive", "sets": sets, "not_run": ["adult"]}
    return {"tables": tables}


def test_the_page_says_what_was_measured_where():
    models = {"Classifier": scored(0.1), "EBM": scored(0.2) | {"version": "b 2", "cpu": "other"}}
    told = page.page(summary(**models))
    assert "Measured with some 1.0 on a processor; b 2 on other." in told


def test_scores_are_those_of_scikit_learn(answers):
    found = scoring.scores(answers)
    each = np.eye(3)[answers.codes]
    best = answers.proba.argmax(axis=1)
    digits = {"rel": 1e-5}  # six digits are kept
    assert found["log_loss"] == pytest.approx(
        metrics.log_loss(answers.codes, answers.proba), **digits
    )
    assert found["brier"] == pytest.approx(
        sum(metrics.brier_score_loss(each[:, k], answers.proba[:, k]) for k in range(3)), **digits
    )
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(answers.codes, best), **digits)
    assert found["seconds"] == 0.2


def test_an_impossible_class_that_occurs_costs_a_finite_loss(answers):
    certain = replace(answers, proba=np.tile([1.0, 0.0, 0.0], (200, 1)))
    wrong = (answers.codes != 0).mean()
    assert certain.losses().mean() == pytest.approx(-wrong * np.log(folds.FLOOR))
    assert np.isfinite(list(scoring.scores(certain).values())).all()


def test_a_difference_of_the_same_size_in_every_row_has_no_error(answers):
    other = answers.proba.copy()
    other[np.arange(200), answers.codes] /= 2
    found = scoring.apart(answers, replace(answers, proba=other))
    assert found["apart"] == pytest.approx(-np.log(2), rel=1e-5)  # six digits are kept
    assert found["apart_error"] == pytest.approx(0, abs=1e-12)


def test_answers_to_other_rows_are_not_compared(answers):
    other = replace(answers, codes=answers.codes[::-1])
    with pytest.raises(ValueError, match="Expected answers to the same rows"):
        scoring.apart(answers, other)


@pytest.mark.parametrize(
    ("apart", "word"),
    [(-0.02, "won"), (-0.01, "tied"), (0.0, "tied"), (0.01, "tied"), (0.02, "lost")],
)
def test_within_one_standard_error_is_a_tie_on_either_side(apart, word):
    assert Verdict("car", "forest", apart, error=0.01).word == word


def test_the_rival_is_the_one_with_the_lowest_loss_of_those_that_answered():
    models = {
        "logistic": scored(0.5, -0.2),
        "forest": scored(0.2, 0.1),
        "boosting": {"stopped": 1500.0},
    }
    (found,) = verdicts(summary(**models)["tables"]["sets"], ["logistic", "forest", "boosting"])
    assert (found.rival, found.apart, found.word) == ("forest", 0.1, "lost")


def test_the_page_names_what_was_lost_and_what_was_stopped():
    text = page.page(
        summary(
            Additive=scored(0.3), forest=scored(0.2, 0.1), CatBoost=scored(0.1, 0.2, 0.3),
            EBM={"stopped": 1500.0},
        )
    )  # fmt: skip
    assert "| the best of scikit-learn's four | 1 | 0 | 0 | 1 | 0 | car to forest by 0.1000" in text
    assert "CatBoost and EBM | 1 | 0 | 1 | 0 | 0 |  |" in text
    assert "| car | 1,728 | 0.3000 | 0.2000 | **0.1000** | > 25 min |" in text


def test_a_table_that_ours_did_not_answer_is_shown_and_not_counted():
    forest = {name: value for name, value in scored(0.2).items() if "apart" not in name}
    text = page.page(summary(forest=forest))
    assert "scikit-learn's four | 0 |" in text
    assert "| car | 1,728 | **0.2000** |" in text
    assert "Not run, or stopped: Additive on car; logistic on car; boosting on car;" in text
    assert "; any model on adult." in text


def test_ratios_are_to_the_best_peer_and_stay_in_the_picture():
    models = {
        "Additive": scored(0.01),
        "forest": scored(0.2),
        "logistic": scored(0.4),
        "GaussianNB": scored(9),
    }
    points = picture.ratios(summary(**models)["tables"]["sets"], "Additive")
    found = {point["model"]: point["ratio"] for point in points}
    assert found == {
        "Additive": picture.LOW,
        "forest": 1.0,
        "logistic": 2.0,
        "GaussianNB": picture.HIGH,
    }


def test_stored_answers_come_back_as_they_were(stored, answers):
    assert folds.load("car", "forest") is None
    folds.save("car", "forest", answers)
    again = folds.load("car", "forest")
    for name in folds.Answers.__slots__:
        assert np.array_equal(getattr(again, name), getattr(answers, name))


def test_what_is_known_is_not_run_again(stored, answers, monkeypatch):
    monkeypatch.setattr(tables, "by_size", lambda names, keel: names)  # the data may be absent
    folds.save("car", "forest", answers)
    folds.save_stopped("car", "boosting", 1500)
    asked = command.parsed(["car", "--models", "forest,boosting,logistic"])
    assert list(command.jobs(asked)) == [("car", "logistic")]
    again = command.parsed(["car", "--models", "forest,boosting,logistic", "--again"])
    assert len(list(command.jobs(again))) == 3


def test_a_peer_that_was_kept_is_not_run_again_and_ours_are(stored, answers, monkeypatch):
    monkeypatch.setattr(tables, "by_size", lambda names, keel: names)
    kept.save("car", {"forest": answers, "Classifier": answers})
    asked = command.parsed(["car", "--models", "Classifier,forest"])
    assert list(command.jobs(asked)) == [("car", "Classifier")]


def test_ours_run_again_is_compared_with_peers_of_an_earlier_run(stored, answers):
    peer = replace(answers, proba=np.random.default_rng(1).dirichlet([1, 1, 1], 200))
    folds.save("car", "Classifier", answers)
    folds.save("car", "forest", peer)
    first = scoring.summary()
    folds.path("car", "forest").unlink()  # a new checkout has no folder build
    better = replace(answers, proba=0.9 * answers.proba + 0.1 * np.eye(3)[answers.codes])
    folds.save("car", "Classifier", better)
    again = scoring.summary(first)["tables"]["sets"]["car"]["models"]
    before = first["tables"]["sets"]["car"]["models"]["forest"]
    distance = (better.losses() - peer.losses()).mean()
    assert again["forest"]["apart"] == pytest.approx(distance, abs=1e-3)  # losses have 11 bits
    assert again["forest"]["apart"] < before["apart"]
    assert again["forest"]["log_loss"] == before["log_loss"]


def test_scores_whose_losses_are_lost_are_shown_and_not_compared_with_new_ones(stored, answers):
    folds.save("car", "Classifier", answers)
    before = summary(Classifier=scored(0.5), forest=scored(0.4, 0.1))
    found = scoring.summary(before)["tables"]["sets"]["car"]["models"]["forest"]
    assert found["log_loss"] == 0.4
    assert "apart" not in found


def test_a_table_that_nobody_ran_again_stays_as_it_was(stored):
    before = summary(Classifier=scored(0.5), forest=scored(0.4, 0.1))["tables"]["sets"]
    assert scoring.summary({"tables": {"sets": before}})["tables"]["sets"] == before


def test_a_name_that_is_not_known_is_refused(capsys):
    with pytest.raises(SystemExit):
        command.parsed(["--models", "forest,oak"])
    assert "got oak." in capsys.readouterr().err


def test_answers_take_the_place_of_a_stop(stored, answers):
    folds.save_stopped("car", "forest", 1500)
    assert folds.stopped_after("car", "forest") == 1500
    folds.save("car", "forest", answers)
    assert folds.stopped_after("car", "forest") is None


def test_a_class_that_a_fold_did_not_see_has_probability_zero(monkeypatch):
    """The rare class has one row: the model of the other folds cannot know it."""
    y = np.array(["a"] * 10 + ["b"] + ["c"] * 10)

    class Shares:
        def fit(self, X, y):
            self.classes_, n = np.unique(y, return_counts=True)
            self.shares = n / n.sum()
            return self

        def predict_proba(self, X):
            return np.tile(self.shares, (len(X), 1))

    monkeypatch.setattr(folds, "read", lambda table, keel: (pd.DataFrame({"x": range(21)}), y))
    monkeypatch.setattr(folds, "make", lambda model, table: Shares())
    with pytest.warns(UserWarning, match="least populated class"):
        found = folds.held_out("some", "some")
    assert found.classes.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(found.proba.sum(axis=1), 1)
    rare = found.codes == 1
    assert found.proba[rare, 1] == 0
    assert (found.proba[found.folds != found.folds[rare], 1] > 0).all()


def test_a_raw_table_of_keel_has_its_classes_last_and_its_gaps_found(tmp_path):
    (tmp_path / "bands.dat").write_text("1.5, red, yes\n<null>, ?, no\n", "utf-8")
    X, y = tables.read("keel-bands", tmp_path)
    assert X.columns.tolist() == ["x1", "x2"]
    assert y.tolist() == ["yes", "no"]
    assert X.isna().to_numpy().tolist() == [[False, False], [True, True]]


def test_the_page_of_the_manual_is_made_of_the_saved_scores():
    made = page.page(scoring.load())
    assert made == (DOCS / "results" / "quality.md").read_text("utf-8"), "run make quality"
