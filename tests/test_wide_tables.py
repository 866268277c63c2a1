"""Tables of very many columns: those that tell are found, and rows held out stay unseen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from posterior import Classifier, LogisticRegression, NaiveBayes, load, save
from posterior.app.report.facts import study
from posterior.app.report.page import render
from posterior.estimators.pool.candidates import SHRUNKEN, SPARSE
from posterior.estimators.pool.dealt_rows import DealtRows
from posterior.estimators.pool.screening import LEAST, MOST, Screening, is_wide
from posterior.estimators.table_classifier import Readings, TableClassifier
from posterior.preprocessing.column_gains import (
    Labels,
    by_chance,
    gains_of_levels,
    gains_of_numbers,
    normal_scores,
    telling,
)
from posterior.preprocessing.infer_roles import infer

pytestmark = pytest.mark.once

N, COLUMNS, TELLING, SHIFT = 200, 1000, 5, 0.7
FEWER = 210  # just enough to be screened
MODELS = ["naive-bayes", "logistic", SHRUNKEN, SPARSE]


def made(n: int = N, columns: int = COLUMNS, shift: float = SHIFT, seed: int = 0) -> pd.DataFrame:
    """Normal columns; the first few have means a distance of two shifts apart."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    X = random.standard_normal((n, columns))
    X[:, :TELLING] += shift * (2 * y - 1)[:, None]
    table = pd.DataFrame(X, columns=[f"c{j}" for j in range(columns)])
    return table.assign(y=np.where(y == 1, "yes", "no"))


@pytest.fixture(scope="module")
def wide() -> pd.DataFrame:
    return made()


@pytest.fixture(scope="module")
def model(wide: pd.DataFrame) -> Classifier:
    return Classifier(models=MODELS).fit(wide, "y")


@pytest.fixture(scope="module")
def noise() -> Classifier:
    return Classifier(models=MODELS).fit(made(shift=0.0), "y")


def dealt(table: pd.DataFrame) -> DealtRows:
    classes, codes = np.unique(table["y"], return_inverse=True)
    rows = DealtRows.of(table.drop(columns="y"), codes.astype(np.int32), classes, None)
    return replace(rows, X=Readings(rows.X))


# ---- what one column says ----


def labels(n: int, k: int, seed: int = 1) -> Labels:
    codes = np.random.default_rng(seed).integers(0, k, n).astype(np.int32)
    return Labels(codes, np.ones(n), k)


@pytest.mark.parametrize("k", [2, 4])
def test_the_gain_of_shares_is_that_of_naive_bayes_refitted_without_each_row(k):
    known = labels(30, k)
    levels = np.random.default_rng(2).integers(0, 3, (30, 2)).astype(np.int32)
    found, freedom = gains_of_levels(levels, known)
    expected = np.zeros(2)
    for i in range(30):
        rest = np.arange(30) != i
        counts = np.bincount(known.codes[rest], minlength=k)
        share = (counts + 1 / k) / (29 + 1)
        for j in range(2):
            same = rest & (levels[:, j] == levels[i, j])
            given = (np.bincount(known.codes[same], minlength=k) + 1 / 3) / (counts + 1)
            joint = share * given
            own = known.codes[i]
            expected[j] += np.log(joint[own] / joint.sum() / share[own])
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert freedom.tolist() == [2 * (k - 1)] * 2


def test_the_gain_of_numbers_is_that_of_normal_densities_refitted_without_each_row():
    known = labels(25, 2)
    numbers = np.random.default_rng(3).standard_normal((25, 1))
    found, freedom = gains_of_numbers(numbers, known)
    x, mean, variance = numbers[:, 0], numbers.mean(), numbers.var()
    expected = 0.0
    for i in range(25):
        joint = np.empty(2)
        for c in range(2):
            own = np.flatnonzero((known.codes == c) & (np.arange(25) != i))
            middle = (x[own].sum() + mean) / (len(own) + 1)  # one row of all begins each class
            square = ((x[own] ** 2).sum() + variance + mean**2) / (len(own) + 1)
            joint[c] = norm.pdf(x[i], middle, np.sqrt(square - middle**2)) * (len(own) + 0.5) / 25
        own = known.codes[i]
        share = (np.sum(known.codes == own) - 1 + 0.5) / 25
        expected += np.log(joint[own] / joint.sum() / share)
    np.testing.assert_allclose(found, [expected], rtol=1e-10)
    assert freedom.tolist() == [2]


@pytest.mark.parametrize("kind", ["numbers", "gaps", "levels"])
def test_columns_that_say_nothing_are_beyond_chance_as_often_as_chance_is(kind):
    random = np.random.default_rng(4)
    known = labels(300, 2)
    if kind == "levels":
        gains, freedom = gains_of_levels(random.integers(0, 4, (300, 4000)), known)
    else:
        X = random.standard_normal((300, 4000))
        if kind == "gaps":
            X[random.random(X.shape) < 0.1] = np.nan
        gains, freedom = gains_of_numbers(normal_scores(X), known)
    _, log_p = by_chance(gains, freedom)
    for level in (0.1, 0.01):  # four standard errors of a count, and a tenth: χ² is a limit
        error = 4 * np.sqrt(level * 4000) + 0.25 * level * 4000
        assert abs((log_p < np.log(level)).sum() - level * 4000) < error
    assert len(telling(gains, freedom, 0.1)) <= 2


def test_no_more_than_the_share_asked_for_is_there_by_chance():
    random = np.random.default_rng(5)
    false = np.array(
        [(telling(*_gains(random, telling_columns=40), 0.1) >= 40).mean() for _ in range(5)]
    )
    assert false.mean() < 0.15  # a tenth in expectation (Benjamini and Hochberg), of 200 in all


def _gains(random: np.random.Generator, telling_columns: int):
    known = labels(200, 2)
    X = random.standard_normal((200, 1000))
    X[:, :telling_columns] += (known.codes - 0.5)[:, None] * 0.8
    return gains_of_numbers(normal_scores(X), known)


def test_a_column_whose_gaps_tell_has_a_gain():
    known = labels(200, 2)
    X = np.random.default_rng(6).standard_normal((200, 2))
    X[:, 0] = np.where((known.codes == 1) & (X[:, 1] > 0), np.nan, X[:, 0])
    gains, _ = gains_of_numbers(normal_scores(X), known)
    assert gains[0] > 10 > 0 > gains[1]


def test_screening_knows_no_units_and_no_tails():
    known = labels(200, 2)
    X = np.random.default_rng(7).standard_normal((200, 20)) + 0.5 * known.codes[:, None]
    stretched = np.exp(3 * X) * 1e-6
    (one, _), (other, _) = (
        gains_of_numbers(normal_scores(table), known) for table in (X, stretched)
    )
    np.testing.assert_array_equal(one, other)


# ---- the columns that are kept ----


def test_tables_are_wide_by_their_columns_and_rows():
    def wide(rows: int, columns: int) -> bool:
        return is_wide(infer(made(rows, columns), "y"), rows)

    assert wide(300, 201) and wide(90, 60)
    assert not wide(300, 150) and not wide(30, 20) and not wide(150, 60)


def test_columns_that_tell_are_kept_with_few_others(wide):
    screening = Screening.of(infer(wide, "y"), dealt(wide))
    for roles in (screening.roles, *(fold.roles for fold in screening.folds)):
        names = {column.name for column in roles.used}
        assert {f"c{j}" for j in range(TELLING)} <= names
        assert LEAST <= len(names) <= 2 * TELLING


def test_of_columns_that_all_tell_no_more_are_kept_than_can_be_counted():
    table = made(120, 300)
    table.iloc[:, :-1] += 2.0 * (table["y"] == "yes").to_numpy()[:, None]
    assert len(Screening.of(infer(table, "y"), dealt(table)).roles.used) == MOST


def test_a_fold_has_no_part_in_the_columns_that_answer_it():
    table = made(seed=8)
    rows, roles = dealt(table), infer(table, "y")
    before = Screening.of(roles, rows)
    test = rows.folds == 0
    codes = np.where(test, 1 - rows.codes, rows.codes).astype(np.int32)
    after = Screening.of(roles, replace(rows, codes=codes, X=Readings(rows.X.frame)))
    assert before.folds[0].roles == after.folds[0].roles
    assert before.roles != after.roles


def test_words_and_truths_and_gaps_are_screened_as_well():
    random = np.random.default_rng(9)
    table = made(300, 250, shift=0.0)
    yes = (table["y"] == "yes").to_numpy()
    told = np.where(random.random(300) < 0.8, yes, random.random(300) < 0.5)
    table["word"] = np.where(told, "up", np.where(random.random(300) < 0.5, "down", "left"))
    table["truth"] = np.where(random.random(300) < 0.8, yes, ~yes)
    table["gap"] = np.where(told & (random.random(300) < 0.7), np.nan, random.random(300))
    kept = Screening.of(infer(table, "y"), dealt(table)).roles
    assert {"word", "truth", "gap"} <= {column.name for column in kept.used}


# ---- models of them ----


def test_a_wide_table_is_told_nearly_as_well_as_can_be(model):
    fresh = made(2000, seed=10)
    best = norm.cdf(SHIFT * np.sqrt(TELLING))  # of the densities that made the table
    found = np.mean(model.predict(fresh) == fresh["y"])
    assert found > best - 0.03  # the error of 2,000 rows is 0.005: the rest is for 200 to learn by
    assert abs(model.held_out_.accuracy - found) < 0.08  # three standard errors of 200 rows


def test_labels_that_are_noise_are_not_told_on_rows_held_out(noise):
    counts = np.unique(made(shift=0.0)["y"], return_counts=True)[1]
    shares = -np.average(np.log(counts / N), weights=counts)
    assert abs(noise.held_out_.accuracy - 0.5) < 3 * 0.5 / np.sqrt(N)
    loss = noise.comparison_.columns["log loss"]
    assert (loss > shares - 0.01).all()  # whatever was tried; a weight or two is chosen


def test_screening_with_all_rows_would_be_optimistic():
    """That is why it is done fold by fold: noise would look like knowledge."""
    table = made(shift=0.0, seed=11)
    rows, roles = dealt(table), infer(table, "y")
    screening = Screening.of(roles, rows)
    member = TableClassifier(NaiveBayes(), screening.roles)
    honest = screening.trial("naive Bayes", member)
    own = rows.codes[rows.held_out]
    optimistic = member.fit_held_out(screening.readings, rows.labels, rows.folds)
    assert np.mean(optimistic[rows.held_out].argmax(axis=1) == own) > 0.6
    assert np.mean(honest.said.argmax(axis=1) == own) < 0.6


def test_roles_say_what_was_screened_out(model, wide):
    used = {column.name for column in model.columns_read}
    assert {f"c{j}" for j in range(TELLING)} <= used
    assert len(model.roles_.screened) == COLUMNS - len(used)
    assert {c.name for c in model.roles_.used} == used
    assert "screened" in model.roles_[f"c{_unread(model)}"].reason


def _unread(model: Classifier) -> int:
    used = {column.name for column in model.columns_read}
    return next(j for j in range(COLUMNS) if f"c{j}" not in used)


def test_a_row_needs_the_columns_that_are_read_and_no_others(model):
    fresh = made(20, seed=12)
    names = [column.name for column in model.columns_read]
    expected = model.predict_proba(fresh)
    np.testing.assert_array_equal(model.predict_proba(fresh[names]), expected)
    one = model.predict_proba(fresh[names][:1])
    np.testing.assert_allclose(one, expected[:1], rtol=1e-12)
    with pytest.raises(ValueError, match="'c0'"):
        model.predict(fresh.drop(columns="c0"))


def test_evidence_adds_up_over_the_columns_that_are_read(model):
    fresh = made(5, seed=13)
    found = model.evidence(fresh)
    joint = found.log_joint()
    expected = np.log(model.predict_proba(fresh))
    gap = joint - expected
    np.testing.assert_allclose(gap, gap[:, :1] * np.ones(2), atol=1e-9)
    assert {c.name for c in model.columns_read} <= set(found.feature_names)


def test_a_model_of_a_wide_table_is_stored(model, tmp_path):
    save(model, tmp_path / "wide.posterior")
    again = load(tmp_path / "wide.posterior")
    fresh = made(10, seed=14)
    np.testing.assert_array_equal(again.predict_proba(fresh), model.predict_proba(fresh))
    assert again.roles_ == model.roles_


def test_the_order_of_rows_does_not_matter():
    wide, fresh = made(columns=FEWER), made(10, FEWER, seed=15)
    one, other = (
        Classifier(models=MODELS).fit(rows, "y").predict_proba(fresh)
        for rows in (wide, wide.sample(frac=1.0, random_state=0))
    )
    np.testing.assert_array_equal(one, other)


def test_an_array_may_be_wide():
    wide = made(columns=FEWER)
    X = wide.drop(columns="y").to_numpy()
    model = Classifier(models=["naive-bayes"]).fit(X, wide["y"])
    fresh = made(2000, FEWER, seed=16)
    assert np.mean(model.predict(fresh.drop(columns="y").to_numpy()) == fresh["y"]) > 0.85


def test_weights_count_rows_of_a_wide_table():
    wide = made(columns=FEWER)
    weight = np.ones(N)
    weight[:20] = 2
    repeated = pd.concat([wide, wide[:20]], ignore_index=True)
    fresh = made(10, FEWER, seed=17)
    models = ["naive-bayes"]
    one = Classifier(models=models).fit(wide, "y", sample_weight=weight)
    other = Classifier(models=models).fit(repeated, "y")
    np.testing.assert_array_equal(one.predict_proba(fresh), other.predict_proba(fresh))


def test_where_nothing_is_found_the_shares_of_the_classes_are_all_that_is_said():
    table = made(60, FEWER, shift=0.0, seed=20)
    model = Classifier(models=MODELS).fit(table, "y")
    shares = table["y"].value_counts(normalize=True)[model.classes_]
    fresh = made(5, FEWER, seed=30)
    expected = np.tile(shares, (5, 1))
    np.testing.assert_allclose(model.predict_proba(fresh), expected, rtol=1e-12)
    assert set(model.weights_.values()) == {0.0}


def test_a_pool_that_found_nothing_is_stored_and_explains_itself(tmp_path):
    model = Classifier(models=MODELS).fit(made(60, FEWER, shift=0.0, seed=20), "y")
    fresh = made(3, FEWER, seed=30)
    save(model, tmp_path / "nothing.posterior")
    again = load(tmp_path / "nothing.posterior")
    np.testing.assert_array_equal(again.predict_proba(fresh), model.predict_proba(fresh))
    joint = model.evidence(fresh).log_joint()
    expected = np.log(model.predict_proba(fresh))
    np.testing.assert_allclose(joint[:, 1] - joint[:, 0], expected[:, 1] - expected[:, 0])


# ---- a logistic regression of likely effects ----


def test_columns_too_weak_to_be_sure_of_tell_together():
    """Twenty effects of 3.5 standard errors each: by themselves few of them are beyond chance."""
    random = np.random.default_rng(19)
    y = random.integers(0, 2, 2300)
    X = random.standard_normal((2300, 600))
    X[:, :20] += 0.2 * (2 * y - 1)[:, None]
    table = pd.DataFrame(X, columns=[f"c{j}" for j in range(600)]).assign(y=y)
    model = Classifier(models=[SHRUNKEN]).fit(table[:300], "y")
    assert np.mean(model.predict(table[300:]) == y[300:]) > 0.74  # 0.81 is the best possible


def test_columns_of_words_and_several_classes_have_likely_effects():
    random = np.random.default_rng(21)
    y = random.integers(0, 3, 400)
    table = made(400, 250, shift=0.0).drop(columns="y")
    table["c0"] += y
    told = np.where(random.random(400) < 0.8, y, random.integers(0, 3, 400))
    table["word"] = np.array(["low", "middle", "high"])[told]
    model = Classifier(models=[SHRUNKEN]).fit(table[:300].assign(y=y[:300]), "y")
    assert {"c0", "word"} <= {column.name for column in model.columns_read}
    assert len(model.columns_read) < 20
    assert np.mean(model.predict(table[300:]) == y[300:]) > 0.75
    joint = model.evidence(table[300:305]).log_joint()
    gap = joint - np.log(model.predict_proba(table[300:305]))
    np.testing.assert_allclose(gap, gap[:, :1] * np.ones(3), atol=1e-9)


# ---- a sparse logistic regression ----


def test_coefficients_are_those_of_all_columns_with_zeros_left_out():
    wide = made(columns=FEWER)
    model = Classifier(models=[SPARSE]).fit(wide, "y")
    (member,) = model.members_.values()
    names = list(member.feature_names_in_)
    assert TELLING <= len(names) < FEWER
    X = wide.drop(columns="y")
    X = (X - X.mean()) / X.std(ddof=0)
    settings = {"C": member.model_.C, "l1_ratio": member.model_.l1_ratio, "tol": 1e-8}
    whole = LogisticRegression(**settings).fit(X.to_numpy(), wide["y"])
    expected = {f"c{j}": whole.coef_[0, j] for j in np.flatnonzero(whole.coef_[0])}
    found = dict(zip(names, member.model_.coef_[0], strict=True))
    for name in {*expected, *names}:  # within what the default tolerance leaves
        assert abs(found.get(name, 0.0) - expected.get(name, 0.0)) < 0.01


def test_columns_that_tell_only_together_are_found():
    """Each of two columns alone says nothing: what they share hides what one has of its own."""
    random = np.random.default_rng(18)
    X = random.standard_normal((400, 300))
    shared = 2 * random.standard_normal(400)
    y = random.random(400) < 1 / (1 + np.exp(-2.5 * X[:, 0]))
    X[:, 0], X[:, 1] = X[:, 0] + shared, shared
    table = pd.DataFrame(X, columns=[f"c{j}" for j in range(300)]).assign(y=y)
    model = Classifier(models=["naive-bayes", SPARSE]).fit(table, "y")
    assert model.members_.keys() >= {"Sparse logistic regression"}
    assert {"c0", "c1"} <= {column.name for column in model.columns_read}


# ---- the report ----


def test_a_report_says_how_many_columns_are_used_and_lists_no_others():
    facts = study(made(90, FEWER), "y", source="wide.csv").facts
    used = sum(column.used for column in facts.data.columns)
    assert any(f"{FEWER:,} columns were screened; {used:,} are used" in n for n in facts.data.notes)
    assert facts.learning is None
    assert len(facts.evidence) == used
    page = render(facts)
    assert f"{FEWER - used:,} columns that were screened out are not listed" in page
    assert len(page) < 3e6
