"""A table against a model: what changed is found and nothing else, and numbers follow from JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")
pytest.importorskip("jinja2")

import posterior
from posterior import Classifier
from posterior.app.report.drift_facts import drift
from posterior.app.report.drift_page import render_drift
from posterior.evaluation.drift import drift_test, index_by_chance, stability_index
from posterior.storage import ModelFileError

pytestmark = pytest.mark.once


def table(n: int, seed: int, shift: float = 0.0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    label = random.random(n) < 0.4
    frame = pd.DataFrame(
        {
            "size": random.normal(2.0 * label + shift, 1.0),
            "kind": random.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2]),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 300, n), "D"),
            "label": np.where(label, "yes", "no"),
        }
    )
    frame.loc[random.random(n) < 0.1, "kind"] = None
    return frame


@pytest.fixture(scope="module")
def model() -> Classifier:
    return Classifier(models=["naive-bayes", "logistic"]).fit(table(800, 0), "label")


@pytest.fixture(scope="module")
def changed() -> pd.DataFrame:
    frame = table(500, 2, shift=1.0)
    frame.loc[:99, "kind"] = "z"
    return frame


@pytest.fixture(scope="module")
def told(model: Classifier, changed: pd.DataFrame) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(drift(model, changed, source="new.csv").to_json())
    return found


def test_rows_from_where_the_model_learned_have_not_drifted(model: Classifier) -> None:
    found = drift(model, table(500, 3))
    assert [c.verdict for c in found.columns] == ["stable"] * 3
    assert found.score is not None and found.score.verdict == "stable"
    assert found.alerts == [] and "None of 3 columns has drifted" in found.summary


def test_columns_that_changed_are_found_and_no_others(told: dict[str, Any]) -> None:
    verdicts = {c["name"]: c["verdict"] for c in told["columns"]}
    assert verdicts == {"size": "large drift", "kind": "large drift", "day": "stable"}
    (kind,) = (c for c in told["columns"] if c["name"] == "kind")
    assert kind["unseen_values"] == ["z"]
    assert {"unseen", "worse"} <= {a["kind"] for a in told["alerts"]}


def test_figures_of_a_column_can_be_computed_again(
    told: dict[str, Any], changed: pd.DataFrame
) -> None:
    old = table(800, 0)
    for c in told["columns"]:
        cells = changed[c["name"]]
        gaps_then, gaps_now = old[c["name"]].isna().sum(), cells.isna().sum()
        then, now = np.array(c["then"]), np.array(c["now"])
        assert c["missing_then"] == gaps_then / 800 and c["missing_now"] == gaps_now / 500
        assert then.sum() == 800 - gaps_then and now.sum() == 500 - gaps_now
        both = np.array([[*then, gaps_then], [*now, gaps_now]])
        p, q = (both + 0.5) / (both + 0.5).sum(axis=1, keepdims=True)
        assert c["stability_index"] == pytest.approx(((q - p) * np.log(q / p)).sum())
        test = chi2_contingency(both[:, both.any(axis=0)], correction=False)
        assert c["statistic"] == pytest.approx(test.statistic) and c["freedom"] == test.dof
        assert c["p_value"] == pytest.approx(test.pvalue, rel=1e-6)
        if c["values"]:
            counts = cells.value_counts()
            assert now[:-1].tolist() == [counts.get(value, 0) for value in c["values"]]
            assert c["unseen"] == pytest.approx(counts["z"] / now.sum())
    (size,) = (c for c in told["columns"] if c["name"] == "size")
    x, edges = changed["size"].to_numpy(), size["edges"]
    inner = np.searchsorted(edges[1:-1], x, side="left")
    assert size["now"] == np.bincount(inner, minlength=len(edges) - 1).tolist()
    assert size["outside"] == pytest.approx(((x < edges[0]) | (x > edges[-1])).mean())


def test_performance_and_score_can_be_computed_again_from_the_predictions(
    told: dict[str, Any], model: Classifier
) -> None:
    p = told["predictions"]
    proba, codes = np.array(p["proba"]), np.array(p["codes"])
    own = proba[np.arange(len(codes)), codes]
    loss, accuracy, _ = told["performance"]["scores"]
    assert loss["now"]["value"] == pytest.approx(-np.log(own).mean(), rel=1e-4)
    error = np.log(own).std() / np.sqrt(len(own))
    assert loss["now"]["standard_error"] == pytest.approx(error, rel=1e-3)
    z = (loss["then"]["value"] - loss["now"]["value"]) / np.hypot(
        error, loss["then"]["standard_error"]
    )
    assert loss["z"] == pytest.approx(z, rel=1e-3) and z < -2
    assert accuracy["now"]["value"] == (proba.argmax(axis=1) == codes).mean()
    assert accuracy["low"] < accuracy["now"]["value"] < accuracy["high"]
    kept = model.comparison_["log loss"][model.comparison_[""] == "<- kept"]
    assert loss["then"]["value"] == pytest.approx(kept[0])
    score = told["score"]
    bins = np.searchsorted(score["cuts"], proba[:, 1], side="left")
    assert score["now"] == np.bincount(bins, minlength=len(score["then"])).tolist()
    for k, c in enumerate(score["classes"]):
        assert c["mean_now"] == pytest.approx(proba[:, k].mean(), rel=1e-4)
        assert c["predicted_now"] == (proba.argmax(axis=1) == k).mean()
        assert c["share_now"] == (codes == k).mean()


def test_without_labels_performance_is_not_said(model: Classifier, changed: pd.DataFrame) -> None:
    found = drift(model, changed.drop(columns="label"))
    assert found.performance is None and "Performance is unknown without labels" in found.summary
    assert found.score is not None and found.score.classes[0].share_now is None
    assert 'id="performance"' not in render_drift(found)


def test_a_model_is_told_columns_it_reads_that_are_absent_and_labels_it_never_saw(
    model: Classifier, changed: pd.DataFrame
) -> None:
    frame = changed.drop(columns="day").assign(label=lambda f: f["label"].replace("no", "maybe"))
    frame.loc[:4, "label"] = None
    found = drift(model, frame)
    assert any("read as missing: day." in a.text for a in found.alerts)
    assert found.performance is not None and found.performance.unlabeled == 5
    assert set(found.performance.unknown_classes) == {"maybe"}
    with pytest.raises(ValueError, match="Expected columns that the model reads"):
        drift(model, pd.DataFrame({"other": [1]}))
    with pytest.raises(ValueError, match="empty table"):
        drift(model, changed[:0])


def test_one_row_is_enough_to_compare(model: Classifier, changed: pd.DataFrame) -> None:
    found = drift(model, changed[200:201])
    assert found.rows_now == 1 and [c.verdict for c in found.columns] == ["stable"] * 3
    json.loads(found.to_json())
    render_drift(found)


def test_a_model_file_remembers_its_table_in_few_bytes(
    model: Classifier, changed: pd.DataFrame, tmp_path: Path
) -> None:
    path, bare = tmp_path / "model.posterior", tmp_path / "bare.posterior"
    posterior.save(model, path)
    again = posterior.load(path)
    assert drift(again, changed).to_json() == drift(model, changed).to_json()
    again.fitted_ = replace(again.fitted_, learned_from=None)
    posterior.save(again, bare)
    assert path.stat().st_size - bare.stat().st_size < 5_000
    found = drift(posterior.load(bare), changed)
    assert found.columns == [] and found.score is None and found.performance is not None
    assert "fit it again" in found.alerts[0].text and render_drift(found)


def test_a_file_whose_counts_are_not_counts_is_refused(model: Classifier, tmp_path: Path) -> None:
    learned = model.fitted_.learned_from
    assert learned is not None
    wrong = replace(learned, class_counts=learned.class_counts - 1e6)
    broken = Classifier()
    broken.fitted_ = replace(model.fitted_, learned_from=wrong)
    with pytest.raises((ValueError, ModelFileError), match="a count of each class"):
        posterior.save(broken, tmp_path / "broken.posterior")


def test_rows_that_were_taken_back_leave_no_trace_in_the_summary() -> None:
    frame = table(200, 5)
    model = Classifier(models=["naive-bayes"]).fit(frame, "label")
    assert model.fitted_.learned_from is not None
    model.forget(frame[:10].drop(columns="label"), frame["label"][:10])
    assert model.fitted_.learned_from is None


def test_the_summary_does_not_depend_on_the_order_of_rows() -> None:
    frame = table(300, 6)
    pair = [
        Classifier(models=["naive-bayes"]).fit(f, "label").fitted_.learned_from
        for f in (frame, frame[::-1])
    ]
    for a, b in zip(pair[0].columns, pair[1].columns, strict=True):
        assert a.values == b.values and a.ends == b.ends
        np.testing.assert_array_equal(a.counts, b.counts)


def test_the_page_is_well_formed_and_every_picture_has_words(
    told: dict[str, Any], model: Any
) -> None:
    names = [f'<b>"{i}"' for i in range(3)]
    frame = table(200, 3).rename(columns=dict(zip(["size", "kind", "day"], names, strict=True)))
    nasty = Classifier(models=["naive-bayes"]).fit(frame, "label")
    page = render_drift(drift(nasty, frame, source="</script>"), "drift.json")
    assert "<b>" not in page and "</script>" not in page and "<script" not in page
    assert page.count("<svg") == page.count('role="img" aria-label="Chart: ') + page.count(
        'aria-hidden="true"'
    )


def test_the_index_is_zero_of_equal_shares_and_symmetric() -> None:
    before, after = [50, 30, 20], [10, 30, 60]
    assert stability_index(before, [500, 300, 200]) == pytest.approx(0, abs=1e-3)
    assert stability_index(before, after) == pytest.approx(stability_index(after, before))
    assert drift_test([5, 5, 0], [4, 6, 0]).freedom == 1
    assert drift_test([5, 0], [0, 0]).p_value == 1.0


def test_the_index_that_chance_gives_is_what_it_is_on_average() -> None:
    random, p = np.random.default_rng(0), np.full(10, 0.1)
    drawn = [
        stability_index(random.multinomial(400, p), random.multinomial(300, p)) for _ in range(300)
    ]
    expected = index_by_chance(400 * p, 300 * p)
    assert np.mean(drawn) == pytest.approx(expected, rel=0.1)
