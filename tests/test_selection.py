"""Comparison of models: the same folds, honest scores, one of them or all together."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")

from sklearn.base import clone
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import PredefinedSplit, cross_val_predict

from posterior import Classifier, NaiveBayes
from posterior.estimators import TableClassifier
from posterior.estimators.pool.choice import race
from posterior.evaluation.reliability import bin_of, calibration_error, edges
from posterior.preprocessing.infer_roles import infer
from posterior.preprocessing.numbers import Numbers
from posterior.selection import Comparison, compare
from posterior.selection.comparison import Judged, sampled
from posterior.selection.labeled_rows import labeled_rows
from posterior.sources.files import read

pytestmark = [pytest.mark.once, pytest.mark.filterwarnings("error:::posterior")]


@pytest.fixture(scope="module")
def penguins(shared_data: Path) -> Any:
    return read(shared_data / "penguins.csv").frame


@pytest.fixture(scope="module")
def comparison(penguins: Any) -> Comparison:
    return compare(penguins, "species")


def blobs(n: int, apart: float, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    label = random.integers(0, 2, n)
    return pd.DataFrame(
        {
            "x": random.normal(label * apart),
            "color": random.choice(["red", "blue"], n),
            "label": np.where(label == 1, "yes", "no"),
        }
    )


def test_all_kinds_of_models_are_compared(comparison: Comparison) -> None:
    keys = {judged.key for judged in comparison.judged}
    expected = {"majority", "naive-bayes", "discriminant", "logistic", "neighbors", "pool"}
    assert keys == expected | {"naive-bayes-auto", "aode", "kdb", "additive"}
    assert comparison.failures == ()


def test_models_are_judged_by_the_same_rows_and_folds(comparison: Comparison) -> None:
    for judged in comparison.judged:
        assert np.array_equal(judged.held_out.folds, comparison.rows.folds)
        assert np.array_equal(judged.held_out.codes, comparison.rows.codes)


def test_naive_bayes_for_the_price_of_one_fit_is_naive_bayes_fold_by_fold(
    comparison: Comparison,
) -> None:
    (judged,) = (j for j in comparison.judged if j.key == "naive-bayes")
    rows = comparison.rows
    table = comparison.roles.prepare(rows.frame).to_pandas()
    long_way = cross_val_predict(
        NaiveBayes(), table, rows.y, cv=PredefinedSplit(rows.folds), method="predict_proba"
    )
    np.testing.assert_allclose(judged.raw.proba, long_way, atol=1e-9)


def test_scores_are_what_sklearn_says_of_the_same_probabilities(comparison: Comparison) -> None:
    for judged in comparison.judged:
        proba, y = judged.held_out.proba, comparison.rows.y
        assert judged.log_loss.value == pytest.approx(log_loss(y, proba), rel=1e-6)
        right = comparison.rows.classes[proba.argmax(axis=1)] == y
        assert judged.accuracy.value == pytest.approx(right.mean())
        each = [
            brier_score_loss(y == c, proba[:, k]) for k, c in enumerate(comparison.rows.classes)
        ]
        assert judged.brier.value == pytest.approx(sum(each))


def test_all_together_are_chosen_or_one_that_is_ahead_by_a_standard_error(
    comparison: Comparison,
) -> None:
    models = [j for j in comparison.judged if j.is_model]
    assert comparison.best.log_loss.value == min(j.log_loss.value for j in models)
    (together,) = (j for j in models if j.key == "pool")
    ahead = [j for j in models if j.candidate is not None and behind(j, together) <= -1.0]
    assert comparison.chosen is (min(ahead, key=lambda j: j.log_loss.value) if ahead else together)


def behind(judged: Judged, best: Judged) -> float:
    """The mean difference of log losses row by row, in standard errors of it."""
    own, least = (
        -np.log(j.held_out.proba[np.arange(len(j.index)), j.held_out.codes]) for j in (judged, best)
    )
    apart = own - least
    return float(apart.mean() / (apart.std(ddof=1) / np.sqrt(len(apart))))


def test_with_a_tolerance_the_simplest_is_chosen_of_those_level_row_by_row() -> None:
    found = compare(blobs(400, 2.0), "label", tolerance=2.0)
    (together,) = (j for j in found.judged if j.key == "pool")
    alone = [j for j in found.judged if j.candidate is not None]
    level = [j for j in alone if behind(j, together) <= 1.0]
    assert len(level) > 1
    assert found.chosen.simplicity == min(j.simplicity for j in level)


def test_what_is_scored_is_what_is_kept(comparison: Comparison, penguins: Any) -> None:
    again = Classifier(roles=comparison.roles).fit(penguins, "species")
    np.testing.assert_array_equal(
        again.predict_proba(penguins), comparison.classifier.predict_proba(penguins)
    )
    kept = list(comparison.classifier.members_)
    assert kept == [comparison.chosen.name] or comparison.chosen.key == "pool"


def test_a_simple_truth_is_left_to_the_simple_model() -> None:
    keys = ["naive-bayes", "neighbors", "additive"]
    found = compare(blobs(400, 2.0), "label", models=keys, tolerance=2.0)
    assert found.chosen.key == "naive-bayes"


def test_a_model_that_knows_nothing_is_no_better_than_the_class_shares() -> None:
    found = compare(blobs(300, 0.0), "label", models=["naive-bayes", "logistic"])
    (base,) = (j for j in found.judged if not j.is_model)
    assert found.chosen.log_loss.value > base.log_loss.value - 0.01


def test_every_class_is_in_as_many_folds_as_it_can_be(comparison: Comparison) -> None:
    rows = comparison.rows
    for c in range(len(rows.classes)):
        counts = np.bincount(rows.folds[rows.codes == c], minlength=rows.n_folds)
        assert counts.max() - counts.min() <= 1


def test_rows_in_another_order_are_in_the_same_folds(penguins: Any) -> None:
    roles = infer(penguins, "species")
    order = np.random.default_rng(0).permutation(penguins.num_rows)
    first, other = (labeled_rows(frame, roles) for frame in (penguins, penguins.take(order)))
    assert first.n_folds == 5
    assert np.array_equal(first.folds[order], other.folds)


def test_of_ten_thousand_rows_one_fold_is_held_out() -> None:
    frame = blobs(10_000, 2.0)
    found = compare(frame, "label", models=["naive-bayes"])
    rows = found.rows
    assert len(found.chosen.index) == 2000 and set(rows.folds[found.chosen.index]) == {0}
    train = rows.folds != 0
    table = found.roles.prepare(rows.frame)
    model = NaiveBayes().fit(table[train], rows.y[train])
    expected = model.predict_proba(table[~train])
    np.testing.assert_allclose(found.chosen.raw.proba, expected, atol=1e-9)


def test_rows_without_a_label_are_set_aside_and_counted() -> None:
    frame = blobs(60, 1.0)
    frame.loc[[3, 5], "label"] = None
    rows = labeled_rows(frame, infer(frame, "label"))
    assert rows.set_aside == 2 and 3 not in rows.places and len(rows) == 58


def test_a_class_of_one_row_is_set_aside_and_named() -> None:
    frame = blobs(60, 1.0)
    frame.loc[7, "label"] = "maybe"
    rows = labeled_rows(frame, infer(frame, "label"))
    assert rows.names == ["no", "yes"] and "maybe" in rows.notes[0]


def test_a_table_of_counts_is_the_rows_it_stands_for(shared_data: Path) -> None:
    frame = read(shared_data / "titanic-counts.csv").frame
    rows = labeled_rows(frame, infer(frame, "Survived"))
    assert len(rows) == 2201 and len(np.unique(rows.places)) == 24


@pytest.mark.parametrize(
    ("target", "said"),
    [("x", "different numbers"), ("name", "classes that repeat"), ("none", "got none in any row")],
)
def test_targets_that_are_no_classes_are_refused(target: str, said: str) -> None:
    frame = blobs(60, 1.0).assign(name=[f"n{i}" for i in range(60)], none=None)
    with pytest.raises(ValueError, match=said):
        compare(frame, target)


def test_one_class_is_refused() -> None:
    frame = blobs(60, 1.0).assign(label="same")
    with pytest.raises(ValueError, match="two classes or more"):
        compare(frame, "label")


def test_a_model_that_cannot_read_the_table_is_named() -> None:
    with pytest.raises(ValueError, match="text-multinomial"):
        compare(blobs(60, 1.0), "label", models=["text-multinomial"])


def test_overconfident_probabilities_are_corrected() -> None:
    """Naive Bayes takes each copy of a column for new evidence."""
    once = blobs(2000, 1.5)
    copies = once.assign(**{f"copy {i}": once["x"] + 1e-3 * i for i in range(6)})
    honest, sure = (
        compare(frame, "label", models=["naive-bayes"]).chosen for frame in (once, copies)
    )
    lost = sure.raw.log_loss - honest.log_loss.value
    assert lost > 0.1
    assert sure.log_loss.value - honest.log_loss.value < lost / 5  # the color is scaled down, too
    assert sure.calibration_error.value < 0.04  # its standard error is 0.008


def test_the_calibration_error_is_zero_only_for_what_comes_true() -> None:
    p = np.repeat([0.2, 0.8], 100)
    hit = np.r_[np.arange(100) < 20, np.arange(100) < 80]
    assert calibration_error(p, hit) == pytest.approx(0)
    assert calibration_error(np.where(p > 0.5, 0.99, 0.01), hit) == pytest.approx(0.19)
    assert set(bin_of(p, edges(p))) <= set(range(len(edges(p)) - 1))


def test_a_sample_keeps_the_shares_of_classes_and_folds(comparison: Comparison) -> None:
    rows = comparison.rows
    index = sampled(rows, 100, 0)
    assert 80 <= len(index) <= 100 and len(np.unique(index)) == len(index)
    share = np.bincount(rows.codes[index]) / len(index)
    np.testing.assert_allclose(share, np.bincount(rows.codes) / len(rows), atol=0.05)
    assert np.array_equal(np.unique(rows.folds[index]), np.arange(rows.n_folds))


def cones(n: int = 4000, width: int = 16) -> pd.DataFrame:
    """Two classes of the same mean, one wider: no line tells them apart."""
    random = np.random.default_rng(0)
    label = random.integers(0, 2, n)
    X = random.normal(size=(n, width)) * np.where(label, 1.5, 1.0)[:, None]
    return pd.DataFrame(X).add_prefix("x").assign(label=np.where(label, "wide", "narrow"))


def test_terms_of_several_columns_are_named_after_them() -> None:
    frame = cones(300, 2)
    model = compare(frame, "label", models=["quadratic"]).classifier
    names = list(model.explain(frame.iloc[:1]).feature_names)
    assert names == ["x0", "x1", "x0 × x1", "spread"]


@pytest.mark.parametrize("key", ["naive-bayes", "discriminant", "logistic", "neighbors"])
def test_the_model_reads_files_as_they_come(key: str, penguins: Any) -> None:
    model = compare(penguins, "species", models=[key]).classifier
    proba = model.predict_proba(penguins)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    shuffled = penguins.to_pandas()[["year", "sex", *penguins.column_names[::-1][2:]]]
    np.testing.assert_allclose(model.predict_proba(shuffled.assign(more=1)), proba)
    text = penguins.to_pandas().astype(object)
    text = text.where(text.notna(), None).map(lambda cell: None if cell is None else str(cell))
    np.testing.assert_allclose(model.predict_proba(text), proba)
    assert model.score(penguins, "species") > 0.95
    with pytest.raises(ValueError, match="Did you mean 'sexe'"):
        model.predict(penguins.rename_columns({"sex": "sexe"}))


@pytest.mark.parametrize(
    "models", [["naive-bayes"], ["discriminant"], ["logistic"], ["naive-bayes", "logistic"]]
)
def test_reasons_add_up_to_the_log_odds(models: list[str], penguins: Any) -> None:
    model = compare(penguins, "species", models=models).classifier
    why = model.explain(penguins.slice(20, 1))
    assert list(why.feature_names) == [c.name for c in model.roles_.table]
    log_proba = model.predict_log_proba(penguins.slice(20, 1))[0]
    codes = [list(model.classes_).index(c) for c in (why.of, why.against)]
    assert why.log_odds == pytest.approx(log_proba[codes[0]] - log_proba[codes[1]], abs=1e-6)


def test_what_is_learned_later_and_taken_back_leaves_no_trace(penguins: Any) -> None:
    model = compare(penguins, "species", models=["naive-bayes"]).classifier
    before = model.predict_proba(penguins)
    more = penguins.slice(0, 40)
    y = np.array(more["species"].to_pylist())
    model.partial_fit(more, y)
    assert not np.array_equal(model.predict_proba(penguins), before)
    assert np.array_equal(model.forget(more, y).predict_proba(penguins), before)


def test_halves_that_merge_are_the_whole(penguins: Any) -> None:
    roles = infer(penguins, "species")
    whole, first, second = (TableClassifier(NaiveBayes(), roles) for _ in range(3))
    y = np.array(penguins["species"].to_pylist())
    whole.fit(penguins, y)
    first.fit(penguins.slice(0, 200), y[:200])
    second.fit(penguins.slice(200), y[200:])
    assert np.array_equal(
        first.merge(second).predict_proba(penguins), whole.predict_proba(penguins)
    )


def test_other_class_shares_move_the_posterior_as_bayes_says(penguins: Any) -> None:
    model = TableClassifier(NaiveBayes(), infer(penguins, "species")).fit(penguins, "species")
    priors = np.array([0.2, 0.5, 0.3])
    moved = model.predict_proba(penguins, priors=priors)
    odds = model.predict_proba(penguins) * priors / np.exp(model.class_log_prior_)
    np.testing.assert_allclose(moved, odds / odds.sum(axis=1, keepdims=True), atol=1e-12)


def test_a_fitted_model_is_cloned_and_copied() -> None:
    frame = blobs(60, 2.0)
    model = compare(frame, "label", models=["logistic"]).classifier
    assert clone(model).get_params()["models"] == ["logistic"]
    assert np.array_equal(copy.deepcopy(model).predict_proba(frame), model.predict_proba(frame))


def test_numbers_are_standardized_and_new_gaps_and_levels_are_met() -> None:
    frame = pd.DataFrame({"x": [1.0, 3.0, 5.0], "c": ["a", "a", "b"]})
    numbers = Numbers.learn(frame)
    assert numbers.names().tolist() == ["x", "c = b"]
    np.testing.assert_allclose(numbers(frame)[:, 0].mean(), 0, atol=1e-12)
    np.testing.assert_allclose(numbers(frame)[:, 0].std(), 1)
    strange = pd.DataFrame({"x": [np.nan, 3.0], "c": ["z", None]})
    assert numbers(strange).tolist() == [[0, 0], [0, 0]]


def test_many_levels_and_gaps_have_columns_of_their_own() -> None:
    cells = [f"v{i % 60:02}" for i in range(600)]
    cells[:10] = [None] * 10  # type: ignore[list-item]
    numbers = Numbers.learn(pd.DataFrame({"c": cells}))
    names = numbers.names().tolist()
    assert names[-2:] == ["c is rare", "c is missing"] and len(names) == 51
    assert (numbers(pd.DataFrame({"c": cells})).sum(axis=1) <= 1).all()


def test_text_is_compared_by_models_of_words(shared_data: Path) -> None:
    frame = read(shared_data / "sms-spam.csv").frame.slice(0, 600)
    found = compare(frame, "label")
    assert {j.key for j in found.judged} >= {"text-multinomial", "text-bernoulli", "text-logistic"}
    assert found.chosen.accuracy.value > 0.94
    why = found.classifier.explain(frame.slice(2, 1))  # "Free entry in 2 a wkly comp ..."
    assert why.of == "spam" and "free" in why.terms.tolist()


def test_names_are_compared_by_their_letters(shared_data: Path) -> None:
    frame = read(shared_data / "names" / "names-gender.csv").frame
    index = np.arange(0, frame.num_rows, 10)
    found = compare(frame.take(index), "gender", models=["text-multinomial"])
    assert found.chosen.accuracy.value > 0.7


MAILS = ("win a free prize", "claim cheap money now", "lunch at noon", "see you at home today")


def mails(n: int, seed: int) -> pd.DataFrame:
    """Spam in large fonts and ham in small ones, told apart by words as well."""
    random = np.random.default_rng(seed)
    kind = random.integers(0, 4, n)
    text = [f"{MAILS[k]} and then call {i} of us back" for i, k in enumerate(kind)]
    font = np.where(kind < 2, 14.0, 11.0) + random.normal(0, 2, n)
    return pd.DataFrame({"text": text, "font": font, "label": np.where(kind < 2, "spam", "ham")})


def test_a_chosen_model_of_text_goes_on_learning_and_forgets() -> None:
    first, more = mails(60, 0).drop(columns="font"), mails(25, 1).drop(columns="font")
    model = compare(first, "label", models=["text-multinomial"]).classifier
    before = model.predict_log_proba(more)
    model.partial_fit(more, "label")
    count = pd.concat([first, more])["label"].value_counts(normalize=True).sort_index()
    np.testing.assert_allclose(np.exp(model.class_log_prior_), count)
    assert (model.predict_log_proba(more) != before).any()
    model.forget(more, "label")
    np.testing.assert_array_equal(model.predict_log_proba(more), before)


def test_models_of_text_merge() -> None:
    first, more = mails(60, 0).drop(columns="font"), mails(25, 1).drop(columns="font")
    model = compare(first, "label", models=["text-multinomial"]).classifier
    other = clone(model).fit(more, "label")
    both = copy.deepcopy(model).partial_fit(more, "label")
    model.merge(other)
    np.testing.assert_array_equal(model.predict_log_proba(first), both.predict_log_proba(first))
    np.testing.assert_array_equal(model.class_log_prior_, both.class_log_prior_)


def test_every_model_reads_text_beside_other_columns() -> None:
    frame = mails(120, 2)
    keys = ["naive-bayes", "logistic", "additive"]
    found, without = (
        compare(table, "label", models=keys).judged for table in (frame, frame.drop(columns="text"))
    )
    told, plain = ({j.key: j.log_loss.value for j in each} for each in (found, without))
    assert all(told[key] < plain[key] for key in keys)
    why = compare(frame, "label", models=keys[:1]).classifier.explain(frame.iloc[:1])
    assert sorted(why.feature_names) == ["font", "text"]
    assert frame["text"][0] in why.values


WORDS = ["text-multinomial", "text-bernoulli"]


def pooled(frame: pd.DataFrame, keys: list[str]) -> Classifier:
    """All together, whether or not one of them does as well."""
    roles = infer(frame, "label")
    rows = labeled_rows(frame, roles)
    tried = race(roles, rows.dealt, keys)
    alone = replace(tried, runners=tuple(r for r in tried.runners if r.key == "pool"))
    return Classifier(models=keys, roles=roles).after(alone, rows.dealt, roles)


def shares(why: Any) -> list[float]:
    """Of both classes, by the sum of what an explanation lists."""
    return [1 / (1 + np.exp(-why.log_odds)), 1 / (1 + np.exp(why.log_odds))]


def test_words_of_a_pool_add_up_and_are_marked_in_the_text() -> None:
    frame = mails(200, 3).drop(columns="font")
    model, row = pooled(frame, WORDS), frame.iloc[:1]
    assert len(model.members_) == 2
    why = model.explain(row)
    assert {*why.terms} <= {*frame["text"][0].lower().split()}
    assert why.rest != 0  # of words that the document does not have, by the Bernoulli model
    expected = sorted(model.predict_proba(row)[0], reverse=True)
    np.testing.assert_allclose(shares(why), expected, rtol=1e-9)
    assert [frame["text"][0][m.start : m.end] for m in why.marks] != []


def test_a_document_without_a_known_word_is_explained_by_the_prior() -> None:
    model = compare(mails(60, 3).drop(columns="font"), "label", models=WORDS[:1]).classifier
    for text in ("", None, "xyzzy"):
        row = pd.DataFrame({"text": [text]})
        why = model.explain(row)
        assert len(why.terms) == 0
        expected = sorted(model.predict_proba(row)[0], reverse=True)
        np.testing.assert_allclose(shares(why), expected, rtol=1e-9)


def test_a_text_beside_other_columns_is_one_term_of_a_pool() -> None:
    frame = mails(200, 4)
    model, row = pooled(frame, ["naive-bayes", "logistic"]), frame.iloc[:1]
    assert len(model.members_) == 2
    why = model.explain(row)
    assert (
        dict(zip(why.feature_names, why.values, strict=True))
        == row.drop(columns="label").iloc[0].to_dict()
    )
    expected = sorted(model.predict_proba(row)[0], reverse=True)
    np.testing.assert_allclose(shares(why), expected, rtol=1e-9)


def test_columns_that_say_nothing_are_not_asked_for() -> None:
    frame = mails(120, 5).assign(noise=[f"v{i % 60}" for i in range(120)])
    model = compare(frame, "label", models=["naive-bayes"]).classifier
    assert sorted(model.feature_names_in_) == ["font", "text"]
    rest = frame[["text", "font"]]
    assert model.predict(rest).tolist() == model.predict(frame).tolist()


def test_neighbors_kept_alone_are_known_by_their_places_in_the_table() -> None:
    frame = blobs(80, 2.0, seed=6)
    model = Classifier(models=["neighbors"]).fit(frame, "label")
    for i in (3, 40):
        near = model.explain(frame.iloc[[i]])
        assert near.rows[near.distances == 0].tolist() == [i]
        assert near.labels.tolist() == frame["label"][near.rows].tolist()
    assert not hasattr(model, "evidence")  # which would be one term, of the neighbors
