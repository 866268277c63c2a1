"""What a report knows: complete, out of sample, and to be computed again from its own JSON."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")

from sklearn.metrics import average_precision_score, confusion_matrix, log_loss, roc_auc_score

from posterior.app.report.facts import Study, facts, study
from posterior.app.report.learned_section import learned_members
from posterior.app.report.learning_section import learning_curves
from posterior.estimators.pool.fold_models import FoldModels
from posterior.preprocessing.infer_roles import infer
from posterior.selection.comparison import compare
from posterior.sources.files import read

pytestmark = [pytest.mark.filterwarnings("error:::posterior"), pytest.mark.once]


@pytest.fixture(scope="module")
def penguins(shared_data: Path) -> Study:
    file = read(shared_data / "penguins.csv")
    return study(file.frame, "species", source=file.source)


@pytest.fixture(scope="module")
def told(penguins: Study) -> dict[str, Any]:
    """What the file beside the report says."""
    found: dict[str, Any] = json.loads(penguins.facts.to_json())
    return found


def sample(shared_data: Path, name: str, n: int) -> Any:
    frame = read(shared_data / name).frame
    index = np.sort(np.random.default_rng(0).permutation(frame.num_rows)[:n])
    return frame.take(index)


def test_the_facts_are_plain_json_without_a_number_that_is_none(told: dict[str, Any]) -> None:
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_every_score_can_be_computed_again_from_the_predictions(told: dict[str, Any]) -> None:
    p = told["predictions"]
    proba, codes = np.array(p["proba"]), np.array(p["codes"])
    proba = proba / proba.sum(axis=1, keepdims=True)
    (chosen,) = (c for c in told["candidates"] if c["key"] == told["choice"]["key"])
    assert chosen["log_loss"]["value"] == pytest.approx(log_loss(codes, proba), rel=1e-3)
    assert chosen["accuracy"]["value"] == pytest.approx((proba.argmax(axis=1) == codes).mean())
    truth = np.eye(len(told["classes"]))[codes]
    brier = ((proba - truth) ** 2).sum(axis=1).mean()
    assert chosen["brier"]["value"] == pytest.approx(brier, rel=1e-3)
    assert told["confusion"] == confusion_matrix(codes, proba.argmax(axis=1)).tolist()
    for k, (roc, recall) in enumerate(zip(told["roc"], told["precision_recall"], strict=True)):
        assert roc["area"] == pytest.approx(roc_auc_score(codes == k, proba[:, k]), abs=1e-4)
        expected = average_precision_score(codes == k, proba[:, k])
        assert recall["area"] == pytest.approx(expected, abs=1e-4)


def test_means_and_errors_follow_from_the_folds(told: dict[str, Any]) -> None:
    for candidate in told["candidates"]:
        folds = candidate["folds"]
        rows = np.array([f["rows"] for f in folds])
        for name in ("log_loss", "accuracy", "brier"):
            values = np.array([f[name] for f in folds])
            assert candidate[name]["value"] == pytest.approx(np.average(values, weights=rows))
            error = values.std(ddof=1) / np.sqrt(len(values))
            assert candidate[name]["standard_error"] == pytest.approx(error)


def calibration_error(p: Any, hit: Any) -> float:
    """The definition, bin by bin: ten of about as many rows each, fewer of few rows."""
    n_bins = min(max(len(p) // 20, 1), 10)
    inner = np.unique(np.quantile(p, np.arange(1, n_bins) / n_bins))
    ends = np.array([-np.inf, *inner[(inner > 0) & (inner < 1)], np.inf])
    total = 0.0
    for low, high in pairwise(ends):
        inside = (low <= p) & (p < high)
        total += abs(hit[inside].sum() - p[inside].sum())
    return total / len(p)


def test_folds_and_calibration_can_be_computed_again_from_the_predictions(
    told: dict[str, Any],
) -> None:
    p = told["predictions"]
    proba, codes, folds = (np.array(p[name]) for name in ("proba", "codes", "folds"))
    (chosen,) = (c for c in told["candidates"] if c["key"] == told["choice"]["key"])
    own = proba[np.arange(len(codes)), codes]
    top, hit = proba.max(axis=1), proba.argmax(axis=1) == codes
    without = []
    for fold in chosen["folds"]:
        inside = folds == fold["fold"]
        assert fold["rows"] == inside.sum()
        assert fold["log_loss"] == pytest.approx(-np.log(own[inside]).mean(), abs=1e-5)
        assert fold["accuracy"] == pytest.approx(hit[inside].mean())
        without.append(calibration_error(top[~inside], hit[~inside]))
    found, k = chosen["calibration_error"], len(without)
    assert found["value"] == pytest.approx(calibration_error(top, hit), abs=1e-4)
    spread = np.var(without) * (k - 1)
    assert found["standard_error"] == pytest.approx(np.sqrt(spread), abs=1e-4)


def test_the_rows_of_the_file_are_named_by_their_number(
    told: dict[str, Any], shared_data: Path
) -> None:
    frame = pd.read_csv(shared_data / "penguins.csv")
    for row in told["surprises"]["least_expected"][:5]:
        cells = frame.iloc[row["row"] - 1]
        assert cells["species"] == row["label"]
        assert row["values"]["island"] == cells["island"]
    proba = [row["proba_label"] for row in told["surprises"]["least_expected"]]
    assert proba == sorted(proba)


def test_reliability_bins_hold_every_row_and_give_the_error(told: dict[str, Any]) -> None:
    for reliability in told["reliability"]:
        bins = reliability["bins"]
        rows = np.array([b["rows"] for b in bins])
        gaps = np.array([abs(b["predicted"] - b["observed"]) for b in bins])
        assert rows.sum() == told["data"]["rows"] == sum(reliability["histogram"])
        assert reliability["error"] == pytest.approx(rows @ gaps / rows.sum())
        assert all(b["observed_low"] <= b["observed"] <= b["observed_high"] for b in bins)


def test_columns_are_ranked_by_what_the_chosen_model_loses_without_them(
    told: dict[str, Any],
) -> None:
    rises = {f["name"]: f["log_loss_rise"] for f in told["evidence"]}
    assert list(rises) == sorted(rises, key=lambda name: -rises[name])
    assert rises["bill_length_mm"] > 20 * rises["year"]


def test_importance_can_be_computed_again_from_its_rows(told: dict[str, Any]) -> None:
    lost = told["importance"]
    rises, weights = np.array(lost["log_loss_rises"]), np.array(lost["weights"])
    assert rises.shape == weights.shape == (len(told["evidence"]), len(lost["rows"]))
    for f, rise, weight in zip(told["evidence"], rises, weights, strict=True):
        assert f["log_loss_rise"] == pytest.approx(rise.mean(), abs=1e-5)
        error = rise.std(ddof=1) / np.sqrt(len(rise))
        assert f["log_loss_rise_error"] == pytest.approx(error, rel=1e-3)
        assert f["weight"] == pytest.approx(np.abs(weight).mean(), rel=1e-3)
    # each row by the model that never saw it: nearly what the comparison said of it
    own = dict(zip(told["predictions"]["rows"], told["predictions"]["proba_label"], strict=True))
    said = np.array([-np.log(own[row]) for row in lost["rows"]])
    assert np.mean(lost["log_loss"]) == pytest.approx(said.mean(), abs=0.02)


def test_surprising_labels_can_be_counted_again(told: dict[str, Any]) -> None:
    p, found = told["predictions"], told["surprises"]
    proba = np.array(p["proba"])
    assert found["n_surprising"] == np.sum(np.array(p["proba_label"]) < found["bound"])
    assert found["expected"] == pytest.approx(proba[proba < found["bound"]].sum(), rel=1e-4)


def test_the_boundary_lies_in_two_columns_and_its_grid_is_whole(told: dict[str, Any]) -> None:
    boundary = told["boundary"]
    assert {boundary["x_name"], boundary["y_name"]} <= {c["name"] for c in told["column_shares"]}
    shape = len(boundary["y"]), len(boundary["x"])
    assert np.shape(boundary["codes"]) == np.shape(boundary["proba"]) == shape
    assert np.min(boundary["proba"]) >= 1 / 3 - 1e-3 and boundary["accuracy"]["value"] > 0.9


def test_learning_curves_compare_both_kinds_at_growing_sizes(told: dict[str, Any]) -> None:
    curves = told["learning"]["curves"]
    assert [c["kind"] for c in curves] == ["chosen", "generative", "discriminative"]
    assert curves[0]["name"] == told["choice"]["name"]
    for curve in curves:
        sizes = [point["rows"] for point in curve["points"]]
        # an eighth of the rows is too few for some member of all together
        assert sizes == sorted(set(sizes)) and len(sizes) >= (3 if curve is curves[0] else 6)
        losses = [point["log_loss"]["value"] for point in curve["points"]]
        assert losses[-1] < losses[0]


def test_a_curve_has_no_point_where_rows_are_fewer_than_the_neighbors_that_vote() -> None:
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"a": random.normal(size=120)})
    frame["target"] = np.where(frame["a"] + random.normal(size=120) > 0, "yes", "no")
    frame["b"] = random.normal(size=120)
    found = compare(frame, "target", models=["neighbors"])
    k = found.classifier.members_["Nearest neighbors"].model_.n_neighbors_
    models = FoldModels.of(found.classifier.fitted_, found.rows.dealt)
    learning = learning_curves(found.rows, models, "Nearest neighbors", [], 0)
    assert k > 96 / 4 and learning is not None  # of four fifths of the rows
    assert min(point.rows for point in learning.curves[0].points) >= k


def test_rows_with_missing_cells_are_told_apart(told: dict[str, Any]) -> None:
    missing = told["missing"]
    assert missing["complete"]["rows"] + missing["incomplete"]["rows"] == told["data"]["rows"]
    assert missing["incomplete"]["rows"] == told["data"]["incomplete_rows"] == 11


def test_the_members_that_count_come_first_with_their_weights(told: dict[str, Any]) -> None:
    weights = [member["weight"] for member in told["learned"]]
    assert weights and weights == sorted(weights, reverse=True)
    assert told["choice"]["name"] in ("All together", told["learned"][0]["name"])
    shown = {member["name"] for member in told["learned"] if member["parameters"]}
    assert not shown & {model["model"] for model in told["parameters"]}


def test_parameters_have_intervals_around_them(told: dict[str, Any]) -> None:
    own = [member["parameters"] for member in told["learned"] if member["parameters"]]
    for model in [*own, *told["parameters"]]:
        assert model["rows"] and model["n_parameters"] > 0
        for row in model["rows"]:
            assert row["low"] <= row["value"] <= row["high"]


def test_what_is_shown_of_an_additive_model_is_what_it_adds() -> None:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"size": random.normal(size=400), "kind": random.choice(["red", "blue"], 400)}
    )
    odds = 3 * (frame["size"] > 0.5) + 2 * (frame["kind"] == "red") - 2
    frame["late"] = np.where(random.random(400) < 1 / (1 + np.exp(-odds)), "yes", "no")
    roles = infer(frame, "late")
    found = compare(frame, "late", roles=roles, models=["additive"])
    (member,) = learned_members(found.classifier, ["size"])
    assert member.share == 1 and "sum of tables" in member.sentence
    model = found.classifier.members_["Additive model"].model_
    for effect in member.effects:
        steps = [step for step in effect.steps if step.start is not None or not effect.numeric]
        total = sum(step.rows for step in steps)
        mean = sum(step.rows * step.effect for step in steps) / total
        assert total == 400 and mean == pytest.approx(0, abs=1e-6)  # what columns add is centered
    (size,) = (effect for effect in member.effects if effect.column == "size")
    ends = [step.effect for step in size.steps]
    assert ends[-1] - ends[0] > 1.5
    cell = frame[["size", "kind"]].iloc[:1].assign(size=size.steps[-1].end)
    told = model.evidence(cell)
    place = [str(name) for name in told.feature_names].index("size")
    assert told.terms[0, 1, place] == pytest.approx(ends[-1], abs=1e-9)


def test_the_model_answers_the_file_it_was_made_from(penguins: Study, shared_data: Path) -> None:
    frame = read(shared_data / "penguins.csv").frame
    assert penguins.model.score(frame, "species") > 0.97


def test_the_same_seed_gives_the_same_report(penguins: Study, shared_data: Path) -> None:
    frame = read(shared_data / "penguins.csv").frame
    again = facts(frame, "species", source="penguins.csv").to_dict()
    first = penguins.facts.to_dict()
    for name in ("predictions", "choice", "evidence", "surprises", "boundary", "learning"):
        assert again[name] == first[name]


def test_subgroups_are_those_asked_for(shared_data: Path) -> None:
    frame = sample(shared_data, "titanic.csv", 300)
    found = facts(frame, "survived", subgroup=["age", "sex"]).subgroups
    assert {group.column for group in found} == {"age", "sex"}
    assert sum(group.rows for group in found if group.column == "sex") == 300
    with pytest.raises(ValueError, match="Did you mean 'sex'"):
        facts(frame, "survived", subgroup=["sexe"])


def test_a_wrong_label_is_doubted() -> None:
    random = np.random.default_rng(0)
    label = np.repeat(["a", "b"], 100)
    x = random.normal(np.where(label == "a", 0.0, 8.0))
    label[[7, 150]] = ["b", "a"]
    surprises = facts(pd.DataFrame({"x": x, "label": label}), "label").surprises
    assert {row.row for row in surprises.likely_errors} == {8, 151}
    assert "x = " in surprises.likely_errors[0].reasons[0]


def test_no_label_is_called_wrong_where_classes_overlap() -> None:
    random = np.random.default_rng(0)
    label = np.repeat(["a", "b"], 150)
    x = random.normal(np.where(label == "a", 0.0, 1.5))
    surprises = facts(pd.DataFrame({"x": x, "label": label}), "label").surprises
    assert surprises.likely_errors == [] and surprises.n_likely_errors == 0
    assert "overlap too much" in surprises.rule
    assert surprises.least_expected[0].proba_label < 0.2


def test_a_table_of_counts_shows_each_row_once(shared_data: Path) -> None:
    found = facts(read(shared_data / "ucb-admissions-counts.csv").frame.slice(0, 8), "Admit")
    numbers = [row.row for row in found.surprises.least_expected]
    assert len(set(numbers)) == len(numbers) and max(numbers) <= 8
    assert any("stand for" in note for note in found.data.notes)


def test_documents_have_telling_words_instead_of_columns(shared_data: Path) -> None:
    found = facts(sample(shared_data, "sms-spam.csv", 500), "label")
    (terms,) = found.terms
    spam = terms.terms[found.classes.index("spam")]
    assert {"claim", "free", "txt", "call"} & set(spam)
    assert [f.name for f in found.evidence] == ["text"] and found.boundary is None
    assert found.evidence[0].log_loss_rise > 0.2
    assert any(row.reasons for row in found.surprises.least_expected)


def test_the_edges_of_words_are_seen_where_letters_are_read(shared_data: Path) -> None:
    found = facts(sample(shared_data, "names/names-gender.csv", 300), "gender")
    pieces = [piece for line in found.terms[0].terms for piece in line]
    assert any(piece.endswith("·") for piece in pieces) and not any(" " in p for p in pieces)


def test_four_rows_are_enough_for_a_report(shared_data: Path) -> None:
    found = facts(read(shared_data / "cs109" / "simple-train.csv").frame, "Label")
    assert found.learning is None and any("few" in note for note in found.data.notes)
    assert "largest class, is correct in 50.0 %" in found.choice.summary


def test_strange_names_are_kept_as_they_are() -> None:
    frame = pd.DataFrame({'<b>"x"\n': np.arange(40.0) % 7, "label": ['<i>"', "é\n"] * 20})
    found = facts(frame, "label")
    assert found.classes == ['<i>"', "é\n"] and found.evidence[0].name == '<b>"x"\n'


TABLES = {
    "adult-train.csv.gz": "income",
    "car.csv": "class",
    "credit-g.csv": "class",
    "fish/fish-train.csv.gz": "species",
    "glass.csv": "type",
    "letter.csv.gz": "letter",
    "movie-polarity-v2.csv.gz": "label",
    "mushroom.csv": "class",
    "names/names-language.csv": "language",
    "signals/italypowerdemand-train.csv": "label",
    "titanic-counts.csv": "Survived",
    "weather-numeric.csv": "play",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_every_kind_of_table_gets_a_report_that_beats_guessing_or_says_so(
    name: str, shared_data: Path
) -> None:
    """On a sample of each kind of table, so that all of them take seconds."""
    found = facts(sample(shared_data, name, 200), TABLES[name])
    assert found.failures == []
    (chosen,) = (c for c in found.candidates if c.key == found.choice.key)
    (base,) = (c for c in found.candidates if c.kind == "baseline")
    better = chosen.log_loss.value < base.log_loss.value
    assert better or "no better" in found.choice.summary
    json.dumps(found.to_dict(), allow_nan=False)
