"""Sections of a report about columns, classes, thresholds and groups: computed again by NumPy."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency, rankdata, spearmanr

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")

from posterior.app.report.alerts_section import alerts
from posterior.app.report.boosting_by_folds import boosted, boosting_beside
from posterior.app.report.columns_section import bin_edges, is_skewed
from posterior.app.report.facts import Study, study
from posterior.app.report.model_card_section import card_json
from posterior.app.report.page import PICTURED, render
from posterior.evaluation.association import associations, cramer
from posterior.evaluation.gains import gains
from posterior.evaluation.held_out import HeldOut
from posterior.evaluation.thresholds import class_scores
from posterior.evaluation.worst_subgroups import GroupedColumn, holm, worst_subgroups

pytestmark = pytest.mark.once

N = 400


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    random = np.random.default_rng(3)
    rare = random.random(N) < 0.15
    frame = pd.DataFrame(
        {
            "amount": np.exp(random.normal(3 + 1.5 * rare, 1.0)),
            "age": random.integers(18, 90, N).astype(float),
            "city": random.choice(["Rome", "Oslo", "Bern"], N),
            "member": random.choice([True, False], N),
            "since": pd.Timestamp("2021-01-01") + pd.to_timedelta(random.integers(0, 900, N), "D"),
            "fraud": np.where(rare, "yes", "no"),
        }
    )
    frame["twin"] = -frame["age"] + random.normal(size=N)
    frame.loc[random.random(N) < 0.1, "age"] = np.nan
    frame.loc[random.random(N) < 0.1, "city"] = None
    return frame


@pytest.fixture(scope="module")
def found(table: pd.DataFrame) -> Study:
    return study(table, "fraud", source="frauds.csv")


@pytest.fixture(scope="module")
def told(found: Study) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(found.facts.to_json())
    return facts


# ---- every column by class ----


def test_every_used_column_is_counted_by_class(told: dict[str, Any], table: pd.DataFrame) -> None:
    shares = {column["name"]: column for column in told["column_shares"]}
    assert set(shares) == {c["name"] for c in told["data"]["columns"] if c["used"]}
    code = np.where(table["fraud"] == "yes", 1, 0)
    for name, column in shares.items():
        missing = table[name].isna().to_numpy()
        assert column["missing"] == np.bincount(code[missing], minlength=2).tolist()
        assert np.sum(column["counts"], axis=1).tolist() == np.bincount(code[~missing]).tolist()
    edges, amount = np.array(shares["amount"]["edges"]), table["amount"].to_numpy()
    inside = np.clip(amount, edges[0] * (1 + 1e-6), edges[-1] * (1 - 1e-6))
    for k in (0, 1):
        expected = np.histogram(inside[code == k], edges)[0]
        assert shares["amount"]["counts"][k] == expected.tolist()
    city = shares["city"]
    assert sorted(city["values"]) == ["Bern", "Oslo", "Rome"]
    for k, label in enumerate(["no", "yes"]):
        own = table["city"][table["fraud"] == label].value_counts()
        assert city["counts"][k] == [own[value] for value in city["values"]]


def test_numbers_are_drawn_by_logarithms_only_where_that_shows_more() -> None:
    random = np.random.default_rng(0)
    assert is_skewed(np.exp(random.normal(size=500)))
    assert not is_skewed(np.exp(random.normal(size=500)) - 1)  # some lie below zero
    assert not is_skewed(random.uniform(1, 100, 500))
    assert not is_skewed(np.full(5, 3.0))
    assert not is_skewed(100 - np.exp(random.normal(size=500).clip(-2, 2)))


def test_scales_follow_what_the_columns_hold(told: dict[str, Any], found: Study) -> None:
    scales = {column["name"]: column["scale"] for column in told["column_shares"]}
    assert scales["amount"] == "log" and scales["age"] == "linear" and scales["since"] == "date"
    page = render(found.facts)
    assert "amount (log scale)" in page and "2021-01-" in page


def test_bins_hold_every_number_of_a_column_that_never_varies() -> None:
    for values in (np.full(4, 7.0), np.full(4, 0.25), np.array([1e300, -1e300])):
        edges = bin_edges(values)
        assert len(edges) > 1 and np.isfinite(edges).all()


@pytest.mark.parametrize("highest", [5, 19, 20, 23, 100, 1_000])
def test_bins_of_whole_numbers_hold_equally_many(highest: int) -> None:
    values = np.arange(highest + 1.0)
    edges = bin_edges(values)
    held = np.histogram(np.arange(edges[0] + 0.5, edges[-1]), edges)[0]
    assert len(edges) <= 23 and len(set(held.tolist())) == 1
    assert np.histogram(values, edges)[0].sum() == len(values)


def test_80_columns_stay_below_two_megabytes_and_the_first_are_seen_at_once(
    found: Study,
) -> None:
    column = found.facts.column_shares[0]
    many = [column] * 80
    from dataclasses import replace

    page = render(replace(found.facts, column_shares=many))
    assert len(page.encode()) < 2_000_000
    assert page.count('<figure class="small">') == 80
    first, _ = page.split(f"Show all: {80 - PICTURED} more columns")
    assert first.count('<figure class="small">') == PICTURED


# ---- associations ----


def test_associations_of_a_report_are_those_of_the_file(
    told: dict[str, Any], table: pd.DataFrame
) -> None:
    pairs = {frozenset((a["first"], a["second"])): a for a in told["associations"]["strongest"]}
    twin = pairs[frozenset(("age", "twin"))]
    known = table["age"].notna()
    ranks = rankdata(table["age"][known]), rankdata(table["twin"])[known]
    assert twin["value"] == pytest.approx(-np.corrcoef(*ranks)[0, 1], abs=1e-9)
    assert twin["falls"] and twin["measure"] == "Spearman"
    names, matrix = told["associations"]["columns"], told["associations"]["matrix"]
    i, j = names.index("age"), names.index("twin")
    assert matrix[i][j] == matrix[j][i] == pytest.approx(twin["value"], abs=1e-3)


def test_measures_agree_with_the_textbook() -> None:
    random = np.random.default_rng(1)
    x, noise = random.normal(size=200), random.normal(size=200)
    kind = random.integers(0, 3, 200).astype(np.int32)
    other = np.where(random.random(200) < 0.6, kind, random.integers(0, 3, 200)).astype(np.int32)
    y = kind + noise
    value, sign = associations([x, x**3 - noise, y, kind, other])
    assert value[0, 1] == pytest.approx(abs(spearmanr(x, x**3 - noise).statistic))
    counts = np.zeros((3, 3))
    np.add.at(counts, (kind, other), 1)
    phi = chi2_contingency(counts, correction=False).statistic / 200 - 4 / 199
    side = 3 - 4 / 199
    assert value[3, 4] == pytest.approx(np.sqrt(phi / (side - 1)))
    within = sum(((y[kind == k] - y[kind == k].mean()) ** 2).sum() for k in range(3))
    eta = 1 - within / ((y - y.mean()) ** 2).sum() * 199 / 197
    assert value[2, 3] == pytest.approx(np.sqrt(eta))
    assert ((value >= 0) & (value <= 1)).all() and (value == value.T).all()
    assert sign[0, 1] == 1 and sign[2, 3] == 0


def test_what_cannot_be_known_of_a_pair_is_not_said() -> None:
    gone = np.full(6, np.nan)
    value, _ = associations(
        [np.arange(6.0), gone, np.full(6, 2.0), np.full(6, -1, np.int32), np.zeros(6, np.int32)]
    )
    assert np.isnan(value[np.triu_indices(5, 1)]).all()


def test_chance_alone_gives_no_association_of_categories() -> None:
    random = np.random.default_rng(0)
    codes = random.integers(0, 12, (2, 60)).astype(np.int32)
    assert cramer(*codes) < 0.25  # uncorrected it would be about 0.45


# ---- rows ----


def test_sample_rows_are_rows_of_the_file_with_their_held_out_predictions(
    told: dict[str, Any], table: pd.DataFrame
) -> None:
    rows = told["sample"]
    assert [r["row"] for r in rows[:5]] == [1, 2, 3, 4, 5] and len(rows) == 10
    assert [r["drawn"] for r in rows] == [False] * 5 + [True] * 5
    p = told["predictions"]
    for r in rows:
        assert r["label"] == table["fraud"][r["row"] - 1]
        i = p["rows"].index(r["row"])
        assert r["predicted"] == told["classes"][int(np.argmax(p["proba"][i]))]
        assert r["proba_predicted"] == pytest.approx(max(p["proba"][i]), abs=1e-5)


# ---- classes ----


def test_intervals_of_precision_recall_and_f1_follow_from_the_confusion_matrix(
    told: dict[str, Any],
) -> None:
    def wilson(hits: float, n: float) -> tuple[float, float]:
        z, p = 1.959964, hits / n
        half = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return (p + z * z / (2 * n) - half) / (1 + z * z / n), (p + z * z / (2 * n) + half) / (
            1 + z * z / n
        )

    counts = np.array(told["confusion"])
    for k, c in enumerate(told["decisions"]["classes"]):
        hits, predicted, rows = counts[k, k], counts[:, k].sum(), counts[k].sum()
        assert c["precision_interval"] == pytest.approx(wilson(hits, predicted), abs=1e-9)
        assert c["recall_interval"] == pytest.approx(wilson(hits, rows), abs=1e-9)
        low, high = (2 * j / (1 + j) for j in wilson(hits, predicted + rows - hits))
        assert c["f1_interval"] == pytest.approx((low, high), abs=1e-9)
        assert low <= c["f1"] <= high


def test_the_interval_of_f1_holds_what_it_says() -> None:
    """In 95 % of tables drawn by chance, up to what 400 of them can tell."""
    random, inside = np.random.default_rng(0), 0
    p = np.array([[0.08, 0.04], [0.03, 0.85]])  # of true and predicted class
    truth = 2 * 0.08 / (2 * 0.08 + 0.07)
    for _ in range(400):
        cells = random.multinomial(150, p.ravel()).reshape(2, 2)
        codes = np.repeat([0, 1], cells.sum(axis=1)).astype(np.int32)
        predicted = np.repeat([0, 1, 0, 1], cells.ravel())
        log_proba = np.log(np.where(np.eye(2)[predicted] == 1, 0.9, 0.1))
        low, high = class_scores(HeldOut(log_proba, codes, np.array(["a", "b"])))[0].f1_interval
        inside += low <= truth <= high
    assert 0.92 <= inside / 400 <= 0.98


# ---- gains and cost ----


def test_gains_and_costs_can_be_computed_again_from_the_predictions(told: dict[str, Any]) -> None:
    p = told["predictions"]
    score, own = np.array(p["proba"])[:, 1], np.array(p["codes"]) == 1
    g = told["gains"]
    assert g["name"] == "yes" and g["positives"] == own.sum() and g["rows"] == len(own)
    assert len(g["thresholds"]) <= 200 and g["thresholds"] == sorted(g["thresholds"])[::-1]
    for t, m, h in zip(g["thresholds"], g["predicted"], g["hits"], strict=True):
        assert m == (score >= t).sum() and h == (own & (score >= t)).sum()
    for c in g["costs"]:
        cost = [
            (c["ratio"] * (own & (score < t)).sum() + (~own & (score >= t)).sum()) / len(own)
            for t in [*score, 1.1]
        ]
        assert c["cost"] == pytest.approx(min(cost))
        assert c["cost_never"] == pytest.approx(c["ratio"] * own.mean())
        assert c["cost"] <= min(c["cost_by_odds"], c["cost_at_half"], c["cost_always"]) + 1e-12


def test_many_rows_are_told_by_200_thresholds_and_the_last_takes_all() -> None:
    p = np.random.default_rng(0).random(5000)
    codes = (np.random.default_rng(1).random(5000) < p).astype(np.int32)
    found = gains(HeldOut(np.log(np.c_[1 - p, p]), codes, np.array([0, 1])), 1)
    assert len(found.thresholds) == 200 and found.predicted[-1] == 5000
    assert found.hits[-1] == found.positives == codes.sum()


# ---- worst subgroups ----


def grouped(random: Any, n: int, d: int) -> list[GroupedColumn]:
    codes = random.integers(0, 4, (d, n)).astype(np.int32)
    return [GroupedColumn(f"c{j}", codes[j], ("a", "b", "c", "d")) for j in range(d)]


def drawn(random: Any, n: int) -> HeldOut:
    p = random.beta(0.5, 3, n)
    codes = (random.random(n) < p).astype(np.int32)
    return HeldOut(np.log(np.c_[1 - p, p]), codes, np.array(["a", "b"]))


def test_a_group_that_the_model_is_wrong_about_is_found_and_no_other() -> None:
    random = np.random.default_rng(5)
    held_out, columns = drawn(random, 1000), grouped(random, 1000, 6)
    inside = (columns[1].codes == 2) & (columns[4].codes == 0)
    held_out.codes[inside] = 1 - held_out.log_proba[inside].argmax(axis=1)
    found = worst_subgroups(held_out, columns)
    first = found.found[0]
    assert [(p.column, p.value) for p in first.parts] == [("c1", "c"), ("c4", "a")]
    assert first.rows == inside.sum() and first.accuracy.value == 0
    loss = -held_out.log_proba[np.arange(1000), held_out.codes]
    assert first.log_loss == pytest.approx(loss[inside].mean())
    assert first.expected_log_loss < first.log_loss
    assert first.p_adjusted == pytest.approx(min(1, first.p_value * found.looked_at))
    assert found.looked_at == 6 * 4 + 15 * 16


def test_where_nothing_is_wrong_hardly_a_group_is_found() -> None:
    """Of 60 tables at 5 %, at most seven with a group is what chance allows in 99 %."""
    wrong = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        wrong += bool(worst_subgroups(drawn(random, 500), grouped(random, 500, 8)).found)
    assert wrong <= 7


def test_holm_multiplies_each_p_value_by_those_not_yet_rejected() -> None:
    np.testing.assert_allclose(holm(np.array([0.04, 0.01, 0.03])), [0.06, 0.03, 0.06])
    assert holm(np.array([])).size == 0


def test_a_report_of_few_rows_says_that_no_group_was_looked_at() -> None:
    random = np.random.default_rng(0)
    label = np.array(["a", "b"] * 14)
    frame = pd.DataFrame({"x": random.normal(size=28) + 3 * (label == "b"), "label": label})
    found = study(frame, "label").facts
    assert found.worst is not None and found.worst.looked_at == 0
    assert found.alerts[0].kind == "few rows"
    assert "28 rows are few" in render(found)


# ---- alerts, card, yardstick ----


def test_alerts_stand_above_the_first_section_unfolded(found: Study) -> None:
    assert [a.kind for a in found.facts.alerts] == ["time"]
    page = render(found.facts)
    above = page[: page.index("<section")]
    assert found.facts.alerts[0].text in above and "<details" not in above


def test_alerts_name_rare_classes_failures_repeated_rows_and_doubtful_labels(
    found: Study,
) -> None:
    from dataclasses import replace

    from posterior.app.report.report_schema import ClassCount, Failure

    f = found.facts
    data = replace(f.data, target=[ClassCount("yes", 7, 0.02)], duplicate_rows=90)
    held_out = found.comparison.chosen.held_out
    codes = held_out.log_proba.argmax(axis=1).astype(np.int32)
    codes[:40] = 1 - codes[:40]
    sure = np.where(np.eye(2)[held_out.log_proba.argmax(axis=1)] == 1, 0.99, 0.01)
    wrong = HeldOut(np.log(sure), codes, held_out.classes)
    failed = [Failure("Trees", "no memory")]
    said = alerts(data, f.choice, failed, wrong, wrong.log_loss)
    assert [a.kind for a in said] == [
        "weak",
        "rare class",
        "time",
        "repeated rows",
        "labels",
        "failure",
    ]
    assert "yes (7)" in said[1].text and "40 rows (10.0 %)" in said[4].text


def test_the_card_says_what_the_report_says(told: dict[str, Any], found: Study) -> None:
    card = found.facts.card
    assert card is not None and told["card"] == json.loads(card_json(card))
    (chosen,) = (c for c in told["candidates"] if c["key"] == told["choice"]["key"])
    assert told["card"]["scores"]["log_loss"] == chosen["log_loss"]
    assert told["card"]["classes"] == {c["name"]: c["rows"] for c in told["data"]["target"]}
    assert {c["name"] for c in told["card"]["used"]} == {
        c["name"] for c in told["data"]["columns"] if c["used"]
    }
    weights = {m["name"]: m["weight"] for m in told["card"]["members"]}
    assert weights == pytest.approx(found.model.weights_)
    assert found.facts.alerts[0].text in told["card"]["limits"]


def test_the_yardstick_is_scored_on_the_same_rows_and_never_chosen(
    told: dict[str, Any], found: Study
) -> None:
    line = told["yardstick"]
    assert line["rows"] == len(told["predictions"]["rows"])
    assert line["key"] not in {c["key"] for c in told["candidates"]}
    base = next(c for c in told["candidates"] if c["kind"] == "baseline")
    assert line["log_loss"]["value"] < 2 * base["log_loss"]["value"]
    assert ">benchmark</span>" in render(found.facts)


@pytest.mark.parametrize("fails", [False, True])
def test_a_yardstick_beside_the_rest_says_the_same(
    fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    random, codes = np.random.default_rng(0), np.arange(200) % 3
    X = random.normal(size=(200, 2)) + codes[:, None]
    X[::7, 0], X[:, 1] = np.nan, X[:, 1].round() % 4
    rows = {"X": X, "categories": np.array([False, True]), "codes": codes, "n_classes": 4}
    rows |= {"folds": np.arange(200) % 5, "held_out": np.array([0, 1, 4])}
    here, _ = boosted(**rows)
    if fails:  # as for want of memory
        monkeypatch.setattr(sys, "executable", "false")
    there, seconds = boosting_beside()(**rows)()
    assert here.tobytes() == there.tobytes() and seconds > 0
    assert not here[rows["folds"] == 2].any() and not here[:, 3].any()
