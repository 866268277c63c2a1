"""A model of documents as SQL: words are cut out of text as Python cuts them."""

from __future__ import annotations

import csv
import re

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")

import test_sql

import posterior
from posterior import TextClassifier, to_sql
from posterior.estimators.table_classifier import TableClassifier
from posterior.evaluation.calibration import Temperature
from posterior.preprocessing.infer_roles import infer
from posterior.text.damping import WEIGHTINGS

pytestmark = pytest.mark.once

dialect = test_sql.dialect
on_each = pytest.mark.parametrize("dialect", ["duckdb", "postgres"], indirect=True)

MAILS = [
    "Win money now, cheap money",
    "cheap pills, buy now: CHEAP PILLS",
    "win a prize: money, MONEY, money!",
    "see you at lunch, Café Zoë",
    "lunch at noon? see the agenda",
    "the agenda of our meeting at noon",
    "meeting moved, see you there",
    "größe ÜBER naïve Straße, ΩMEGA",
]
LABELS = ["spam", "spam", "spam", "ham", "ham", "ham", "work", "work"]
ASKED = [
    *MAILS,
    "",
    None,
    "  .,;! ",
    "zebra okapi",
    "CAFÉ ZOË, MONEY MONEY MONEY",
    "cafe\u0301 zoe\u0308",  # accents that stand beside their letters end a word
    "GRÖSSE über GRÖßE straße STRASSE ωmega",
    "money_money money2 2money x money x",
    "中文money money中文 money",
    "\u212aelvin İstanbul \u0131stanbul see\u00a0you\u2009there\u200bthere",
    "win\tmoney\nnow\r\n'money'\"money\"\\money",
    "a b c I at",
    "at noon at at noon at at at",
    "'; drop table x; -- money",
    "money " * 300,
]


def check(model, dialect: str, texts=ASKED) -> None:
    frame = pd.DataFrame({"id": np.arange(len(texts)), "mail": pd.Series(texts, dtype=object)})
    query = to_sql(model, dialect, columns=["mail"], keep="id")
    answer = test_sql.ENGINES[dialect](query, frame)
    assert answer["id"].tolist() == frame["id"].tolist()
    given = answer.iloc[:, 2:].to_numpy(float)
    np.testing.assert_allclose(given, model.predict_proba(texts), rtol=0, atol=1e-9)
    assert answer["predicted"].tolist() == model.predict(texts).tolist()


@on_each
@pytest.mark.parametrize(
    "settings",
    [
        *({"model": "multinomial", "weighting": weighting} for weighting in WEIGHTINGS),
        {"model": "bernoulli"},
        {"model": "complement", "ngram_range": (1, 2)},
        {"model": "contrast", "ngram_range": (2, 3), "stop_words": ["the", "at", "see"]},
        {"model": "multinomial", "stop_words": "english", "min_df": 2},
        {"model": "multinomial", "lowercase": False, "token_pattern": r"\w+"},
        {"model": "logistic"},
        {"model": "contrast", "token_pattern": r"\b\w{4,}\b", "class_prior": [0.2, 0.3, 0.5]},
        {"model": "multinomial", "analyzer": "char_wb", "ngram_range": (1, 4), "min_df": 2},
        {"model": "logistic", "analyzer": "char_wb", "ngram_range": (5, 6)},
    ],
    ids=str,
)
def test_the_database_answers_as_the_model_does(settings, dialect):
    check(TextClassifier(**settings).fit(MAILS, LABELS), dialect)


@on_each
def test_a_class_without_documents_and_a_model_without_words_answer_too(dialect):
    model = TextClassifier("multinomial", alpha=1.0, calibrated=False)
    check(model.partial_fit(MAILS[:3], LABELS[:3], classes=["eggs", "ham", "spam"]), dialect)
    check(TextClassifier("multinomial", min_df=99).fit(MAILS, LABELS), dialect)


@on_each
def test_all_letters_are_those_of_python(dialect):
    """Each character between two words: one word, or two that are known, or, as İ becomes i and a
    dot in lower case, one that is not and one that is."""
    odd = [chr(i) for i in [*range(1, 0x3000), *range(0xA000, 0xD800, 97), 0x1D400, 0x10FFFF]]
    texts = [f"money{c}money" for c in odd if c != "\0"]
    model = TextClassifier("multinomial", alpha=1.0, calibrated=False).fit(MAILS, LABELS)
    check(model, dialect, texts)
    assert len({*model.predict_proba(texts)[:, 0].round(9)}) == 3


@on_each
def test_white_space_is_that_of_python(dialect):
    """Each character between two words: as one word, they have other letters in a row."""
    odd = [chr(i) for i in [*range(1, 0x100), *range(0x1600, 0x1700), *range(0x2000, 0x3100)]]
    texts = [f"at{c}noon" for c in odd]
    settings = {"analyzer": "char_wb", "ngram_range": (1, 2), "alpha": 1.0, "calibrated": False}
    model = TextClassifier("multinomial", **settings).fit(MAILS, LABELS)
    check(model, dialect, texts)
    assert model.predict_proba(["at noon"]) != pytest.approx(model.predict_proba(["atXnoon"]))


@on_each
def test_messages_are_answered_as_in_python(dialect, shared_data):
    with (shared_data / "sms-spam.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))[::6]
    texts, labels = [row["text"] for row in rows], [row["label"] for row in rows]
    model = TextClassifier("multinomial", alpha=0.1).fit(texts[:500], labels[:500])
    check(model, dialect, texts[500:])


def test_a_frame_tells_the_column_and_other_names_are_left_alone():
    frame = pd.DataFrame({"row": MAILS, "kind": LABELS})
    model = TextClassifier("multinomial").fit(frame, "kind")
    frame["words"], frame["numbered"], frame["words_0"] = 1, 2, 3
    answer = test_sql.on_duckdb(to_sql(model, keep=list(frame)), frame)
    assert list(answer)[:5] == ["row", "kind", "words", "numbered", "words_0"]
    assert answer["predicted"].tolist() == model.predict(MAILS).tolist()
    assert answer["row"].tolist() == MAILS


@on_each
def test_the_text_of_a_file_is_answered_by_a_query(dialect):
    frame = pd.DataFrame({"mail": [f"{mail} {i}" for i, mail in enumerate(MAILS * 5)]})
    labeled = frame.assign(kind=LABELS * 5)
    documents = TextClassifier("multinomial", alpha=1.0, calibrated=False)
    model = TableClassifier(
        documents, infer(labeled, "kind"), reads="documents", calibrator=Temperature(2.0)
    ).fit(labeled, "kind")
    answer = test_sql.ENGINES[dialect](to_sql(model, dialect), frame)
    given = answer.iloc[:, 2:].to_numpy(float)
    np.testing.assert_allclose(given, model.predict_proba(frame), rtol=0, atol=1e-9)


def test_evidence_of_the_text_is_what_its_words_add_up_to():
    model = TextClassifier("multinomial", alpha=1.0, calibrated=False).fit(MAILS, LABELS)
    frame = pd.DataFrame({"mail": ASKED[:4]})
    answer = test_sql.on_duckdb(to_sql(model, columns=["mail"], explain=True), frame)
    shown = answer.filter(regex="^evidence_").to_numpy()
    evidence = model.evidence(ASKED[:4]).terms.sum(axis=2)
    np.testing.assert_allclose(np.diff(shown), np.diff(evidence), atol=1e-9)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"analyzer": "char"}, "cut out words, and letters inside of them"),
        ({"analyzer": str.split}, "terms that a function makes"),
        ({"token_pattern": r"[a-z]+"}, "databases read patterns otherwise"),
        ({"strip_accents": "unicode"}, "strip_accents='unicode', for which"),
    ],
    ids=str,
)
def test_what_no_query_cuts_out_is_refused_with_the_reason(settings, reason):
    model = TextClassifier("multinomial", **settings).fit(MAILS, LABELS)
    with pytest.raises(TypeError, match=reason):
        to_sql(model, columns=["mail"])


def test_a_sigma_in_lower_case_is_refused():
    model = TextClassifier("multinomial").fit(["λόγος", "λέξη"], ["a", "b"])
    with pytest.raises(TypeError, match="whether Σ becomes σ or ς"):
        to_sql(model, columns=["mail"])


@pytest.mark.parametrize("dialect", ["sqlite", "spark", "bigquery"])
def test_databases_that_do_not_cut_text_are_refused(dialect):
    model = TextClassifier("multinomial").fit(MAILS, LABELS)
    with pytest.raises(TypeError, match=re.escape("dialects ['duckdb', 'postgres']")):
        to_sql(model, dialect, columns=["mail"])


def test_the_column_must_be_known():
    model = TextClassifier("multinomial").fit(MAILS, LABELS)
    with pytest.raises(ValueError, match="name of the column of text"):
        to_sql(model)
    with pytest.raises(ValueError, match="Expected 1 names as columns="):
        to_sql(model, columns=["a", "b"])


def test_functions_of_a_subclass_are_refused():
    class Letters(posterior.TextClassifier):
        def build_tokenizer(self):
            return list

    with pytest.raises(TypeError, match="terms that a function makes"):
        to_sql(Letters("multinomial").fit(MAILS, LABELS), columns=["mail"])
