"""Text beside numbers and categories, in one naive Bayes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_extraction.text import CountVectorizer

import posterior
from posterior import MultinomialNB, NaiveBayes

WORDS = np.array(
    [
        ["free", "money", "win", "now", "cash", "prize", "click", "today"],
        ["meeting", "lunch", "report", "project", "see", "you", "tomorrow", "thanks"],
    ]
)


def mails(n=120, seed=0):
    """Ages, cities and mails of two classes; one of each is missing."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    own = random.random((n, 8)) < 0.7
    words = WORDS[np.where(own, y[:, None], 1 - y[:, None]), random.integers(0, 8, (n, 8))]
    table = pd.DataFrame(
        {
            "age": random.normal(30 + 5 * y, 10),
            "city": random.choice(["Rome", "Oslo"], n),
            "mail": [" ".join(row) for row in words],
        }
    )
    table.loc[1, "age"], table.loc[2, "city"], table.loc[3, "mail"] = np.nan, None, None
    return table, y


def test_sentences_are_read_as_words_and_short_strings_as_categories():
    table, y = mails()
    columns = NaiveBayes().fit(table, y).columns_
    assert columns["family"].tolist() == ["Gaussian", "Categorical", "Words"]
    assert columns["values"][2] == "16 words"


def test_a_text_alone_is_multinomial_naive_bayes_of_its_counts():
    table, y = mails()
    counts = CountVectorizer().fit_transform(table["mail"].fillna(""))
    ours = NaiveBayes(prior_rows=0.5).fit(table[["mail"]], y).predict_proba(table[["mail"]])
    assert_allclose(ours, MultinomialNB(alpha=0.5).fit(counts, y).predict_proba(counts), atol=1e-14)


def test_the_evidence_of_columns_adds_up_to_the_log_odds():
    table, y = mails()
    model = NaiveBayes().fit(table, y)
    evidence = model.evidence(table)
    assert evidence.terms.shape == (len(table), 2, 3)
    scores = evidence.log_prior + evidence.terms.sum(axis=2)
    log_proba = model.predict_log_proba(table)
    assert_allclose(scores[:, 1] - scores[:, 0], log_proba[:, 1] - log_proba[:, 0], atol=1e-10)
    assert_array_equal(evidence.terms[3, :, 2], 0)  # a missing mail says nothing
    assert "mail" in str(model.explain(table.iloc[[0]]))


def test_streams_merges_and_forgets_to_the_bit():
    table, y = mails()
    whole = NaiveBayes().fit(table, y).predict_log_proba(table)
    first, rest = (table[:50], y[:50]), (table[50:], y[50:])
    streamed = NaiveBayes().fit(*first).partial_fit(*rest)
    assert_array_equal(streamed.predict_log_proba(table), whole)
    merged = NaiveBayes().fit(*first) + NaiveBayes().fit(*rest)
    assert_array_equal(merged.predict_log_proba(table), whole)
    alone = NaiveBayes().fit(*first).predict_log_proba(table)
    assert_array_equal(streamed.forget(*rest).predict_log_proba(table), alone)


def test_words_never_seen_say_nothing():
    table, y = mails()
    model = NaiveBayes().fit(table, y)
    plain, strange = table[:1].copy(), table[:1].copy()
    strange.loc[0, "mail"] += " zymurgy"
    assert_array_equal(model.predict_log_proba(strange), model.predict_log_proba(plain))


def test_held_out_scores_are_those_of_refits():
    table, y = mails(60)
    folds = np.arange(60) % 3
    held_out = NaiveBayes().cross_validate(table, y, folds=folds)
    for fold in range(3):
        out = folds == fold
        refit = NaiveBayes().fit(table[~out], y[~out])
        assert_allclose(
            held_out.log_proba[out], refit.predict_log_proba(table[out]), rtol=1e-9, atol=1e-12
        )


def test_two_texts_have_their_own_words():
    table, y = mails()
    table["reply"] = table["mail"].str[::-1]
    model = NaiveBayes().fit(pl.from_pandas(table), y)
    assert model.columns_["family"].tolist()[2:] == ["Words", "Words"]
    assert model.columns_["values"].tolist()[2:] == ["16 words", "16 words"]
    assert model.score(pl.from_pandas(table), y) > 0.8


def test_a_family_can_be_asked_for(tmp_path):
    table, y = mails()
    by_name = NaiveBayes({"mail": "words", "city": "words"}).fit(table, y)
    assert by_name.columns_["family"].tolist() == ["Gaussian", "Words", "Words"]
    as_kinds = NaiveBayes({"mail": "categorical"}).fit(table, y)
    assert as_kinds.columns_["family"].tolist()[2] == "Categorical"


def test_parameters_files_and_samples(tmp_path):
    table, y = mails()
    model = NaiveBayes().fit(table, y)
    parameters = model.parameters()
    assert "p(money)" in parameters["parameter"][parameters["feature"] == "mail"]
    posterior.save(model, tmp_path / "mails.posterior")
    loaded = posterior.load(tmp_path / "mails.posterior")
    assert_array_equal(loaded.predict_log_proba(table), model.predict_log_proba(table))
    with pytest.raises(TypeError, match="got one of text"):
        model.sample(2)
