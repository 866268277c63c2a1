"""A classifier without each fold: the same settings and weights, and nothing of the rows asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_softmax
from scipy.stats import spearmanr

pytest.importorskip("pyarrow")

from posterior.estimators.pool.fold_models import FoldModels
from posterior.selection.comparison import Comparison, compare

pytestmark = pytest.mark.once
NUMBERS = ["x0", "x1", "x2", "x3", "noise"]
SLOPES = np.array([2.0, 1.2, 0.7, 0.3, 0.0])


def table(n: int = 300, seed: int = 0) -> pd.DataFrame:
    """Columns from telling to silent."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(random.normal(size=(n, len(NUMBERS))), columns=NUMBERS)
    frame["kind"] = random.choice(["red", "green", "blue"], n)
    odds = frame[NUMBERS].to_numpy() @ SLOPES + 1.5 * (frame["kind"] == "red")
    frame["target"] = np.where(random.random(n) < 1 / (1 + np.exp(-odds)), "yes", "no")
    return frame


def asked(found: Comparison) -> tuple[FoldModels, Any]:
    models = FoldModels.of(found.classifier.fitted_, found.rows.dealt)
    return models, models.some(10**6)


def rises(models: FoldModels, index: Any) -> dict[str, Any]:
    """What each row loses without each column."""
    own = np.arange(len(index)), models.rows.codes[index]
    lost = models.log_proba(index)[own] - models.log_proba_without(index)[:, own[0], own[1]]
    return dict(zip(models.columns, lost, strict=True))


@pytest.mark.parametrize("key", ["naive-bayes", "discriminant", "logistic", "additive"])
def test_a_copy_says_what_the_comparison_heard_of_rows_held_out(key: str) -> None:
    found = compare(table(), "target", models=[key])
    models, index = asked(found)
    place = np.searchsorted(found.chosen.index, models.rows.order[index])
    for fold, copy in models.copies.items():
        own = models.rows.folds[index] == fold
        said = copy.said(copy.members[0], models.given(index[own]))
        expected = found.chosen.raw.log_proba[place[own]]
        np.testing.assert_allclose(log_softmax(said, axis=1), expected, atol=1e-5)


@pytest.mark.parametrize("key", ["logistic", "aode", "kdb", "additive", "additive-convex"])
def test_a_copy_owes_nothing_to_the_labels_of_its_fold(key: str) -> None:
    found = compare(table(200), "target", models=[key])
    (member,), rows = found.classifier.fitted_.members, found.rows.dealt
    gone = np.flatnonzero(rows.folds == 0)
    turned = rows.codes.copy()
    turned[gone] = 1 - turned[gone]
    first, other = (member.without(rows.X, rows.classes[c], gone) for c in (rows.codes, turned))
    np.testing.assert_array_equal(first.predict_log_proba(rows.X), other.predict_log_proba(rows.X))


@pytest.mark.parametrize("key", ["naive-bayes-auto", "neighbors", "quadratic"])
def test_a_copy_keeps_what_all_rows_have_chosen(key: str) -> None:
    frame = table(200).drop(columns="kind")
    (member,) = (found := compare(frame, "target", models=[key])).classifier.fitted_.members
    models, _ = asked(found)
    names = {
        "naive-bayes-auto": ["chosen_"],
        "neighbors": ["n_neighbors_", "weights_", "whiten_"],
        "quadratic": ["covariance_mix_", "shrinkage_"],
    }[key]
    for copy in models.copies.values():
        for name in names:
            assert getattr(copy.members[0].model_, name) == getattr(member.model_, name)


@pytest.mark.parametrize("key", ["naive-bayes", "aode", "discriminant", "logistic"])
def test_a_model_without_a_column_is_nearly_the_model_of_the_others(key: str) -> None:
    frame = table(400)
    found = compare(frame, "target", models=[key])
    models, index = asked(found)
    for name in ("x0", "kind"):
        rest = compare(frame.drop(columns=name), "target", models=[key]).chosen.held_out
        expected = rest.log_loss - found.chosen.held_out.log_loss
        assert rises(models, index)[name].mean() == pytest.approx(expected, abs=0.03)


def test_importance_ranks_columns_as_refits_without_them_do() -> None:
    frame = table(400)
    keys = ["naive-bayes", "logistic", "additive", "neighbors"]
    found = compare(frame, "target", models=keys)
    lost = rises(*asked(found))
    refits = [
        compare(frame.drop(columns=name), "target", models=keys).chosen.held_out.log_loss
        for name in lost
    ]
    means = [lost[name].mean() for name in lost]
    assert spearmanr(means, refits).statistic > 0.9
    noise = lost["noise"]
    assert noise.mean() < 2 * noise.std() / np.sqrt(len(noise))


def test_a_column_that_the_model_is_better_without_is_below_zero() -> None:
    random = np.random.default_rng(1)
    strong, weak = random.normal(size=(2, 400))
    copies = {f"copy{i}": weak + 0.01 * random.normal(size=400) for i in range(6)}
    frame = pd.DataFrame({"strong": strong, **copies})
    odds = 2 * strong + 0.3 * weak
    frame["target"] = np.where(random.random(400) < 1 / (1 + np.exp(-odds)), "yes", "no")
    lost = rises(*asked(compare(frame, "target", models=["naive-bayes"])))
    assert lost["strong"].mean() > 0.1
    assert lost["copy0"].mean() < 0  # naive Bayes counts the same evidence six times


def test_an_additive_model_without_a_column_is_not_one_that_sees_it_missing() -> None:
    frame = table(300)
    frame.loc[frame["x0"] > 0.8, "x1"] = np.nan  # missing says something here
    models, index = asked(compare(frame, "target", models=["additive"]))
    without = models.log_proba_without(index)[[*models.columns].index("x1")]
    for fold, copy in models.copies.items():
        own = models.rows.folds[index] == fold
        found = copy.evidence(models.given(index[own]), np.array([], object))
        gone = np.array(["x1" in str(name).split(" × ") for name in found.feature_names])
        rest = found.log_prior + found.terms[:, :, ~gone].sum(axis=2)
        np.testing.assert_allclose(without[own], log_softmax(rest, axis=1), atol=1e-6)


def test_rows_are_drawn_by_content_whatever_their_order() -> None:
    frame = table(300)
    turned = frame.iloc[::-1].reset_index(drop=True)
    one, two = (compare(f, "target", models=["naive-bayes"]) for f in (frame, turned))
    first, second = (FoldModels.of(c.classifier.fitted_, c.rows.dealt) for c in (one, two))
    drawn, again = first.some(50), second.some(50)
    assert abs(len(drawn) - 50) <= 5
    np.testing.assert_array_equal(first.rows.order[drawn], 299 - second.rows.order[again])
    assert len(np.unique(first.rows.codes[drawn])) == 2


def test_documents_without_their_text_are_given_the_shares_of_the_classes() -> None:
    words = {"ham": ["lunch at noon", "see you soon"], "spam": ["win money now", "cheap money"]}
    cells = [(f"{text} {i}", label) for i in range(25) for label in words for text in words[label]]
    frame = pd.DataFrame(cells, columns=["text", "target"])
    models, index = asked(compare(frame, "target"))
    assert [*models.columns] == ["text"]
    (without,) = np.exp(models.log_proba_without(index))
    assert np.abs(without - without.mean(axis=0)).max() < 0.02  # whatever the document said
    assert rises(models, index)["text"].mean() > 0.3
