"""Classes that few rows have: what the headline says, thresholds, and answers at other points."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    precision_recall_curve,
    precision_recall_fscore_support,
    roc_auc_score,
)

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")

from posterior import NaiveBayes, evaluation
from posterior.app.decisions import above, posterior
from posterior.evaluation import HeldOut, at_thresholds, best_f1, class_ranking, class_scores
from posterior.evaluation.thresholds import LEVELS, smaller_class

pytestmark = pytest.mark.once


def rare(n: int = 4000, share: float = 0.01) -> pd.DataFrame:
    random = np.random.default_rng(0)
    yes = random.random(n) < share
    amount = random.normal(np.where(yes, 2.0, 0.0), 1.0)
    hour = random.integers(0, 24, n)
    return pd.DataFrame({"amount": amount, "hour": hour, "fraud": np.where(yes, "yes", "no")})


def held_out(k: int, n: int = 600, seed: int = 1) -> HeldOut:
    """Rounded, so that probabilities are equal at times; the last class is rare."""
    random = np.random.default_rng(seed)
    codes = np.minimum(random.geometric(0.7, n) - 1, k - 1)
    logits = random.normal(size=(n, k)).round(1)
    logits[np.arange(n), codes] += 1.5
    p = np.exp(logits)
    log_proba = np.log(p / p.sum(axis=1, keepdims=True))
    return HeldOut(log_proba, codes.astype(np.int32), np.array([*"abcdef"[:k]]), codes * 0 + n % 5)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_scores_of_classes_are_those_of_scikit_learn(k: int) -> None:
    found = held_out(k)
    answer = found.log_proba.argmax(axis=1)
    told = precision_recall_fscore_support(
        found.codes, answer, labels=range(k), zero_division=np.nan
    )
    ours = [(c.precision, c.recall, c.f1, c.rows) for c in class_scores(found)]
    assert_allclose(ours, np.transpose(told), rtol=1e-14)
    mean = evaluation.balanced_accuracy(found).value
    assert mean == pytest.approx(balanced_accuracy_score(found.codes, answer))


def test_a_class_that_is_never_predicted_has_no_precision() -> None:
    never = HeldOut(np.log([[0.9, 0.1]] * 4), np.array([0, 0, 0, 1]), np.array(["no", "yes"]))
    score = class_scores(never)[1]
    assert np.isnan(score.precision) and (score.recall, score.f1, score.predicted) == (0, 0, 0)


def test_thresholds_count_the_rows_that_reach_them() -> None:
    found = held_out(2)
    p, own = found.proba[:, 1], found.codes == 1
    levels = [0.0, *LEVELS, p[3], 1.0]
    for t in at_thresholds(p, own, levels):
        reached = p >= t.threshold
        assert (t.predicted, t.share) == (reached.sum(), reached.mean())
        assert t.recall == own[reached].sum() / own.sum()
        if reached.any():
            assert t.precision == own[reached].mean()
            assert t.f1 == pytest.approx(2 * own[reached].sum() / (reached.sum() + own.sum()))


def test_the_ranking_of_a_class_agrees_with_scikit_learn() -> None:
    found = held_out(2)
    p, own = found.proba[:, 1], found.codes == 1
    ranking = class_ranking(found, 1)
    assert ranking.auc.value == pytest.approx(roc_auc_score(own, p))
    assert ranking.average_precision.value == pytest.approx(average_precision_score(own, p))
    precision, recall, _ = precision_recall_curve(own, p)
    with np.errstate(invalid="ignore"):
        assert best_f1(p, own).f1 == pytest.approx(
            np.nanmax(2 * precision * recall / (precision + recall))
        )
    top = np.sort(p)[-60]
    assert (p > top).sum() < 60 <= (p >= top).sum()
    assert own[p > top].sum() <= ranking.top_recall * own.sum() <= own[p >= top].sum()
    assert ranking.lift == pytest.approx(ranking.top_recall / 0.1)


def test_the_smaller_class_is_the_one_to_find() -> None:
    def of(codes: list[int], k: int = 2) -> int | None:
        log_proba = np.full((len(codes), k), np.log(1 / k))
        return smaller_class(HeldOut(log_proba, np.array(codes), np.arange(k)))

    assert [of([0, 0, 1]), of([0, 1, 1]), of([0, 1]), of([0, 1, 2], 3)] == [1, 0, 1, None]


def test_the_headline_of_a_rare_class_says_how_well_it_is_found() -> None:
    from posterior.app.report.headline import decisions, summary
    from posterior.selection import compare

    comparison = compare(rare(), "fraud", models=["naive-bayes"])
    found = decisions(comparison)
    told = summary(comparison, found)
    held = comparison.chosen.held_out
    auc = roc_auc_score(held.codes, held.proba[:, 1])
    assert found.headline == "ranking" and f"AUC for yes is {auc:.3f}" in told
    assert "average precision" in told and "lift" in told and "predicted correctly" not in told
    even = compare(rare(400, 0.5), "fraud", models=["naive-bayes"])
    assert "predicted correctly" in summary(even, decisions(even))


def test_the_headline_of_several_classes_names_one_that_is_not_found() -> None:
    from posterior.app.report.headline import decisions, summary
    from posterior.selection import compare

    random = np.random.default_rng(0)
    code = random.choice(3, 600, p=[0.88, 0.08, 0.04])
    x = random.normal(np.array([0.0, 4.0, 0.0])[code])
    frame = pd.DataFrame({"x": x, "kind": np.array(["usual", "high", "odd"])[code]})
    comparison = compare(frame, "kind", models=["naive-bayes"])
    found = decisions(comparison)
    told = summary(comparison, found)
    assert found.headline == "recall" and f"{100 * found.balanced_accuracy.value:.1f} %" in told
    assert "Recall is lowest for odd, 0.0 % of" in told


def test_a_class_is_answered_from_its_threshold_on() -> None:
    p = np.array([[0.7, 0.2, 0.1], [0.85, 0.1, 0.05], [0.1, 0.25, 0.65], [0.5, 0.2, 0.3]])
    nan = np.nan
    assert above(p, np.array([nan, 0.2, nan])).tolist() == [1, 0, 1, 1]
    assert above(p, np.array([nan, 0.2, 0.1])).tolist() == [1, 0, 2, 2]  # furthest above its own
    assert above(p, np.array([0.9, nan, nan])).tolist() == [1, 1, 2, 2]
    assert above(p, np.array([0.9, 0.9, 0.9])).tolist() == [0, 0, 2, 0]  # nearest to its own


def test_one_half_as_a_threshold_of_two_classes_changes_nothing() -> None:
    p = held_out(2).proba
    assert (above(p, np.array([np.nan, 0.5])) == (p[:, 1] >= 0.5)).all()


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    from typer.testing import CliRunner

    from posterior.app.cli.commands_app import app

    folder = tmp_path_factory.mktemp("rare")
    data, model = folder / "fraud.csv", folder / "fraud.posterior"
    rare(1000, 0.05).to_csv(data, index=False)
    asked = ["fit", str(data), "-t", "fraud", "-m", "naive-bayes", "-o", str(model)]
    assert CliRunner().invoke(app, asked).exit_code == 0
    return data, model


def asked(fitted: tuple[Path, Path], *options: str) -> tuple[pd.DataFrame, str]:
    """The answers, and which decision they are of."""
    from typer.testing import CliRunner

    from posterior.app.cli.commands_app import app

    data, model = fitted
    done = CliRunner().invoke(app, ["predict", str(model), str(data), "--json", *options])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    return pd.DataFrame(told["predictions"]), told["decision"]


def test_predict_answers_at_the_threshold_that_is_asked(fitted: tuple[Path, Path]) -> None:
    plain, told = asked(fitted)
    assert told == "the most probable class"
    at, said = asked(fitted, "--threshold", "yes=0.1")
    assert said == "yes where its probability is 0.1 or more"
    assert ((at["predicted"] == "yes") == (plain["p_yes"] >= 0.1)).all()
    assert (at["predicted"] == "yes").sum() > (plain["predicted"] == "yes").sum()


def test_a_cost_of_missing_is_a_threshold(fitted: tuple[Path, Path]) -> None:
    """Elkan 2001: yes is answered where p · c > 1 - p."""
    found, said = asked(fitted, "--cost", "yes=9")
    assert ((found["predicted"] == "yes") == (found["p_yes"] * 9 > 1 - found["p_yes"])).all()
    assert "to miss yes costs 9" in said


def test_other_shares_move_the_odds(fitted: tuple[Path, Path]) -> None:
    plain, moved = asked(fitted)[0], asked(fitted, "--prior", "yes=0.5")[0]
    share = (plain["fraud"] == "yes").mean()

    def odds(p: pd.Series) -> pd.Series:
        return np.log(p / (1 - p))

    usual = plain["p_yes"].between(1e-9, 1 - 1e-9)
    rise = (odds(moved["p_yes"]) - odds(plain["p_yes"]))[usual]
    assert_allclose(rise, -np.log(share / (1 - share)), rtol=1e-4)  # one pseudo-row of the prior


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--threshold", "yes=1.2"], "a number from 0 to 1"),
        (["--threshold", "maybe=0.2"], "one of the classes no, yes, got 'maybe'"),
        (["--cost", "yes"], "as a class and a number of 0 or more"),
        (["--cost", "yes=2", "--threshold", "yes=0.2"], "--cost or --threshold"),
        (["--prior", "yes=0.7", "--prior", "no=0.7"], "a sum of 1, got 1.4"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    fitted: tuple[Path, Path], options: list[str], message: str
) -> None:
    from typer.testing import CliRunner

    from posterior.app.cli.commands_app import app

    data, model = fitted
    done = CliRunner().invoke(app, ["predict", str(model), str(data), *options])
    assert done.exit_code == 1 and message in " ".join(done.stderr.split())


def test_the_server_answers_at_thresholds() -> None:
    pytest.importorskip("fastapi")
    from posterior.app.server.predicting import predicted, row_predictions
    from posterior.app.server.questions import PredictQuestion
    from posterior.app.server.served import Served

    frame = rare(1000, 0.05)
    model = NaiveBayes().fit(frame[["amount"]], frame["fraud"])
    rows = [{"amount": float(x)} for x in np.linspace(-1, 4, 30)]
    p = posterior(model, pd.DataFrame(rows))[:, 1]
    served = Served(model)
    found = predicted(served, PredictQuestion(rows=rows, thresholds={"yes": 0.1}))
    assert [each.prediction for each in row_predictions(served, found)] == np.where(
        p >= 0.1, "yes", "no"
    ).tolist()
    assert 0 < (p >= 0.1).sum() < len(p) and (p >= 0.5).sum() < (p >= 0.1).sum()
    with pytest.raises(ValueError, match="costs or thresholds"):
        both = {"no": {"yes": 1.0}, "yes": {"no": 2.0}}
        predicted(served, PredictQuestion(rows=rows, thresholds={"yes": 0.1}, costs=both))
