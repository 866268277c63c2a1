"""The vectorizers: scikit-learn's answers for every setting, and what they can do beyond."""

from __future__ import annotations

import copy
import io
import json
import pickle
import re
import sys
import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import text as theirs
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import posterior
from posterior import (
    CountVectorizer,
    HashingVectorizer,
    MultinomialNB,
    TfidfTransformer,
    TfidfVectorizer,
)
from posterior.engines.progress import Progress
from posterior.text import ngrams
from posterior.text.analysis import shortest_run


def named(value):
    """The name of a case, the same in every process."""
    return re.sub(r" at 0x\w+", "", repr(value))


FOOD = [
    "the pizza pizza beer copyright",
    "The Pizza burger beer copyright",
    "the the pizza beer beer",
    "",
    "the coke burger burger: salad!",
]
SCRIPTS = [
    "İstanbul'da ΣΊΣΥΦΟΣ, Straße und ǅungla; naïve café — 中文 分词 日本語 カタカナ",
    "  tabs\tand\n\nlines\u00a0\u2003of  space \x1c\x85 ",
    "a_b _ __ x1 ١٢٣ ²³ ½ ﬁne ™ Ⅷ ⅷ e\u0301 \u0301 עברית हिन्दी ไทย",
    "nul\0nul \ud800lone surrogate\udfff 😀 \U0001d518\U0001d52b \U0010ffff",
    "A B C aa BB ab AB aB the THE The of and",
]
ALL = (CountVectorizer, TfidfVectorizer, HashingVectorizer)
COUNTING = (CountVectorizer, TfidfVectorizer)


def split(text):
    return text.split()


def upper(text):
    return text.upper()


def other(ours):
    """scikit-learn's class of the same name."""
    return getattr(theirs, ours.__name__)


def same_matrix(ours, others):
    others.sort_indices()
    assert type(ours) is type(others)
    assert ours.shape == others.shape
    for name in ("indptr", "indices", "data"):
        mine, their = getattr(ours, name), getattr(others, name)
        assert mine.dtype == their.dtype
        # theirs adds up a row's length in another order
        assert_allclose(mine, their, rtol=1e-6 if mine.dtype == np.float32 else 1e-14, atol=0)
    assert ours.has_sorted_indices


def same_answers(Ours, documents, new, **settings):
    """Vocabulary, matrices, weights, warnings and errors are those of scikit-learn."""
    if Ours is HashingVectorizer:  # theirs has no hash of lone surrogates
        documents, new = ([d.encode(errors="ignore").decode() for d in t] for t in (documents, new))
    told, answers = [], []
    for Vectorizer in (Ours, other(Ours)):
        model = Vectorizer(**settings)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                answers.append((model.fit_transform(documents), model.transform(new)))
            except ValueError as error:
                answers.append(error)
        told.append(sorted({str(w.message) for w in caught}))
        answers.append(model)
    mine, ours, their, reference = answers
    assert told[0] == told[1]
    if isinstance(their, ValueError):
        assert isinstance(mine, ValueError)
        assert str(mine).startswith(str(their).rstrip("."))
        return
    for X, Y in zip(mine, their, strict=True):
        same_matrix(X, Y)
    if Ours is not HashingVectorizer:
        assert ours.vocabulary_ == reference.vocabulary_
        assert_array_equal(ours.get_feature_names_out(), reference.get_feature_names_out())
    if Ours is TfidfVectorizer and settings.get("use_idf", True):
        assert ours.idf_.dtype == reference.idf_.dtype
        assert_array_equal(ours.idf_, reference.idf_)


ANALYSES = [
    {},
    {"lowercase": False},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 3), "stop_words": ["the", "of", "and"]},
    {"stop_words": "english"},
    {"token_pattern": r"(?u)\b\w+\b"},
    {"token_pattern": r"\w{3,}", "ngram_range": (1, 3)},
    {"token_pattern": r"\b(\w\w+)\b", "lowercase": False},
    {"token_pattern": r"[a-z]+|\d"},
    {"token_pattern": r"(\w)\w+", "stop_words": ["t"]},
    {"strip_accents": "unicode"},
    {"strip_accents": "ascii", "ngram_range": (1, 2)},
    {"strip_accents": upper},
    {"strip_accents": "unicode", "lowercase": False, "analyzer": "char", "ngram_range": (2, 2)},
    {"preprocessor": upper},
    {"tokenizer": split, "token_pattern": None},
    {"tokenizer": split, "token_pattern": None, "ngram_range": (2, 2), "stop_words": ["the"]},
    {"analyzer": split},
    {"analyzer": "char"},
    {"analyzer": "char", "ngram_range": (1, 4)},
    {"analyzer": "char", "ngram_range": (3, 5), "lowercase": False},
    {"analyzer": "char_wb", "ngram_range": (1, 1)},
    {"analyzer": "char_wb", "ngram_range": (2, 5)},
    {"analyzer": "char_wb", "ngram_range": (6, 7), "preprocessor": upper},
    {"ngram_range": (0, 2)},
]
CHOICES = [
    {},
    {"binary": True, "min_df": 2},
    {"min_df": 0.3, "max_df": 0.7},
    {"max_features": 7, "max_df": 3},
    {"max_features": 3, "binary": True},
    {"vocabulary": ["the", "beer", "pizza", "a", "th", "THE", "never seen"]},
    {"vocabulary": {"beer pizza": 1, "the": 0, "e": 2}},
    {"dtype": np.float32},
]


@pytest.fixture(scope="module")
def corpora(shared_data):
    news = pd.read_csv(shared_data / "20news-bydate-train.csv.gz", nrows=25)["text"]
    reviews = pd.read_csv(shared_data / "rt-polarity.csv.gz", nrows=200)["text"]
    sms = pd.read_csv(shared_data / "sms-spam.csv", nrows=200)["text"]
    return {name: list(c) for name, c in [("news", news), ("reviews", reviews), ("sms", sms)]}


@pytest.mark.parametrize("Vectorizer", ALL)
@pytest.mark.parametrize("analysis", ANALYSES, ids=named)
def test_every_analysis_gives_the_counts_of_sklearn(Vectorizer, analysis):
    same_answers(Vectorizer, FOOD + SCRIPTS, SCRIPTS[::-1] + FOOD[:2], **analysis)


@pytest.mark.parametrize("Vectorizer", COUNTING)
@pytest.mark.parametrize("choice", CHOICES, ids=named)
@pytest.mark.parametrize(
    "analysis", [{}, {"ngram_range": (1, 2)}, {"analyzer": "char"}, {"tokenizer": split}], ids=named
)
def test_every_choice_of_terms_is_that_of_sklearn(Vectorizer, choice, analysis):
    same_answers(Vectorizer, FOOD + SCRIPTS, FOOD[::-1], **analysis, **choice)


@pytest.mark.parametrize(
    ("norm", "use_idf", "smooth_idf", "sublinear_tf"),
    list(product(["l1", "l2", None], [True, False], [True, False], [True, False])),
)
def test_every_weighting_is_that_of_sklearn(norm, use_idf, smooth_idf, sublinear_tf):
    settings = {"norm": norm, "use_idf": use_idf, "smooth_idf": smooth_idf}
    settings["sublinear_tf"] = sublinear_tf
    same_answers(TfidfVectorizer, FOOD + SCRIPTS, FOOD, **settings)
    counts = CountVectorizer().fit_transform(FOOD + SCRIPTS)
    same_matrix(
        TfidfTransformer(**settings).fit_transform(counts),
        theirs.TfidfTransformer(**settings).fit_transform(counts),
    )


@pytest.mark.parametrize("name", ["news", "reviews", "sms"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"ngram_range": (1, 2), "min_df": 2, "max_features": 500},
        {"stop_words": "english", "strip_accents": "unicode", "max_df": 0.5},
        {"analyzer": "char_wb", "ngram_range": (2, 4)},
    ],
    ids=named,
)
def test_real_documents_give_the_counts_of_sklearn(corpora, name, settings):
    documents = corpora[name]
    same_answers(CountVectorizer, documents, documents[:20], **settings)


@pytest.mark.parametrize(
    "settings",
    [
        {"n_features": 8},
        {"n_features": 8, "alternate_sign": False, "norm": "l1"},
        {"n_features": 3, "binary": True, "norm": None},
        {"norm": None, "dtype": np.float32},
        {"n_features": 5, "tokenizer": split, "norm": None},
    ],
    ids=named,
)
def test_hashes_and_their_sums_are_those_of_sklearn(settings):
    same_answers(HashingVectorizer, FOOD + SCRIPTS, FOOD, **settings)


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, bool, np.float64])
def test_counts_have_the_type_asked_for(dtype):
    same_answers(CountVectorizer, FOOD, FOOD, dtype=dtype, max_features=3)


@pytest.mark.parametrize("n", range(1, 40, 6))
def test_of_terms_that_are_as_frequent_the_same_are_kept_as_in_sklearn(n):
    documents = [f"{chr(97 + i % 26)}{chr(97 + i * 7 % 26)}" for i in range(60)]
    same_answers(CountVectorizer, documents, documents, max_features=n)


@pytest.mark.parametrize(
    ("pattern", "length"),
    [
        (r"(?u)\b\w\w+\b", 2),
        (r"\b\w+\b", 1),
        (r"\w{4,}", 4),
        (r"(?u)\b(\w{2,})\b", 2),
        (r"\b\w\w\w+", 3),
        (r"\w{0,}", None),
        (r"\w", None),
        (r"(\w)\w+", None),
        (r"\w{2,5}", None),
        (r"\W+", None),
        (r"(?a)\w+", None),
        (None, None),
    ],
)
def test_only_patterns_of_whole_words_have_a_rule(pattern, length):
    assert shortest_run(pattern) == length


def test_accents_are_those_of_sklearn_on_all_of_unicode():
    letters = "".join(map(chr, range(sys.maxunicode + 1)))
    assert ngrams.without_accents(letters) == theirs.strip_accents_unicode(letters)
    assert ngrams.plain_ascii(letters) == theirs.strip_accents_ascii(letters)


@pytest.mark.parametrize("Vectorizer", ALL)
@pytest.mark.parametrize(
    "settings",
    [
        {"ngram_range": (2, 1)},
        {"ngram_range": [1, 2]},
        {"stop_words": "german"},
        {"token_pattern": r"(a)(b)"},
        {"analyzer": "syllable"},
        {"strip_accents": "none"},
        {"lowercase": "yes"},
        {"missing": "maybe"},
    ],
    ids=named,
)
def test_settings_that_mean_nothing_are_refused(Vectorizer, settings):
    with pytest.raises(ValueError, match=r"."):
        Vectorizer(**settings).fit_transform(["a word"])


@pytest.mark.parametrize("Vectorizer", COUNTING)
@pytest.mark.parametrize(
    ("settings", "documents"),
    [
        ({}, []),
        ({}, ["", "!"]),
        ({"stop_words": "english"}, ["to be or not to be"]),
        ({"min_df": 3}, ["ab", "cd"]),
        ({"min_df": 2}, ["ab", "cd", "ef"]),
        ({"min_df": 2, "max_df": 0.1}, ["ab", "cd"]),
        ({"vocabulary": ["ab"]}, []),
        ({"vocabulary": []}, ["ab"]),
        ({"vocabulary": {"a": 0, "b": 0}}, ["ab"]),
        ({"vocabulary": {"a": 1, "b": 2}}, ["ab"]),
        ({"vocabulary": ["a", "b", "a"]}, ["ab"]),
        ({"vocabulary": ["A", "b"]}, ["ab"]),
    ],
    ids=named,
)
def test_a_vocabulary_that_would_be_empty_or_wrong_is_refused_in_sklearns_words(
    Vectorizer, settings, documents
):
    same_answers(Vectorizer, documents, documents, **settings)


def test_unused_settings_are_named_as_in_sklearn():
    for settings in (
        {"tokenizer": split},
        {"analyzer": split, "preprocessor": upper, "ngram_range": (1, 2)},
        {"analyzer": "char", "stop_words": ["a"], "token_pattern": r"\w+", "tokenizer": split},
        {"stop_words": ["you've", "AND"]},
    ):
        for Vectorizer in ALL:
            same_answers(Vectorizer, FOOD, FOOD, **settings)


def test_odd_stop_words_are_named_once():
    vectorizer = CountVectorizer(stop_words=["you've"])
    with pytest.warns(UserWarning, match="inconsistent"):
        vectorizer.fit(FOOD)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vectorizer.fit(FOOD).transform(FOOD)


def test_a_subclass_may_replace_every_step():
    class Lines(CountVectorizer):
        def build_analyzer(self):
            return lambda document: document.split("|")

    class Shouting(CountVectorizer):
        def build_preprocessor(self):
            return upper

    class Letters(CountVectorizer):
        def build_tokenizer(self):
            return list

    class Doubled(CountVectorizer):
        def decode(self, document):
            return document + " " + document

    assert sorted(Lines().fit(["a b|c", "c"]).vocabulary_) == ["a b", "c"]
    assert sorted(Shouting().fit(["one Two"]).vocabulary_) == ["ONE", "TWO"]
    assert sorted(Letters().fit(["ab"]).vocabulary_) == ["a", "b"]
    assert Doubled().fit_transform(["one"]).toarray().tolist() == [[2]]


def test_documents_may_be_anything_that_the_functions_take():
    rows = [{"text": "One two"}, {"text": "two"}]
    model = CountVectorizer(preprocessor=lambda row: row["text"])
    assert model.fit_transform(rows).toarray().tolist() == [[1, 1], [0, 1]]
    assert model.vocabulary_ == {"One": 0, "two": 1}
    tokens = [["a", "b"], ["b"]]
    model = CountVectorizer(analyzer=lambda tokens: tokens)
    assert model.fit_transform(tokens).toarray().tolist() == [[1, 1], [0, 1]]
    assert model.fit_transform(np.array([["a", "b"], ["b", "b"]])).toarray()[1, 1] == 2


def test_terms_that_are_no_strings_are_refused():
    with pytest.raises(TypeError, match="Expected terms that are strings, got int"):
        CountVectorizer(analyzer=lambda tokens: tokens).fit([[1, 2]])


def test_an_error_of_a_function_reaches_the_user():
    def fails(text):
        raise LookupError("no such word")

    for Vectorizer in ALL:
        with pytest.raises(LookupError, match="no such word"):
            Vectorizer(tokenizer=fails, token_pattern=None).fit_transform(FOOD)


# --- the vocabulary ------------------------------------------------------------------------------


def test_the_vocabulary_is_a_plain_dictionary():
    vocabulary = CountVectorizer().fit(FOOD).vocabulary_
    assert type(vocabulary) is dict
    assert json.loads(json.dumps(vocabulary)) == vocabulary


@pytest.mark.parametrize("Vectorizer", COUNTING)
def test_without_documents_there_is_no_vocabulary(Vectorizer):
    model = Vectorizer()
    assert not hasattr(model, "vocabulary_")
    for call in (model.get_feature_names_out, lambda: model.transform(FOOD)):
        with pytest.raises(NotFittedError):
            call()
    with pytest.raises(NotFittedError):
        model.forget(FOOD)


def test_a_given_vocabulary_needs_no_documents():
    model = CountVectorizer(vocabulary=["beer", "the"])
    assert model.transform(FOOD[:1]).toarray().tolist() == [[1, 1]]
    assert model.fixed_vocabulary_
    assert model.get_feature_names_out().tolist() == ["beer", "the"]


def test_a_vocabulary_can_be_set_and_added_to():
    model = CountVectorizer()
    model.vocabulary_ = {"beer": 1, "the": 0}
    assert model.transform(FOOD[:1]).toarray().tolist() == [[1, 1]]
    model.vocabulary_["pizza"] = 2
    assert model.transform(FOOD[:1]).toarray().tolist() == [[1, 1, 2]]
    assert model.get_feature_names_out().tolist() == ["the", "beer", "pizza"]


@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize("Vectorizer", COUNTING)
def test_copies_count_as_the_original(Vectorizer, read):
    model = Vectorizer(ngram_range=(1, 2)).fit(FOOD)
    if read:
        assert model.vocabulary_
    model.transform(FOOD)
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        same_matrix(twin.transform(FOOD), model.transform(FOOD))
        assert twin.vocabulary_ == model.vocabulary_
        assert twin.statistics_ == model.statistics_
        assert twin.partial_fit(SCRIPTS).statistics_ != model.statistics_
    assert not hasattr(clone(model), "statistics_")


@pytest.mark.parametrize("step", ["build_analyzer", "build_preprocessor", "build_tokenizer"])
def test_built_functions_can_be_pickled(step):
    function = getattr(CountVectorizer(strip_accents="ascii"), step)()
    text = SCRIPTS[0]
    assert pickle.loads(pickle.dumps(function))(text) == function(text)


def test_terms_of_a_row_come_back():
    for Vectorizer in COUNTING:
        model = Vectorizer()
        X = model.fit_transform(FOOD)
        for rows in (X, X.toarray(), sparse.csc_array(X)):
            back = model.inverse_transform(rows)
            assert [sorted(terms) for terms in back] == [
                sorted({t.lower() for t in re.findall(r"\w\w+", d)}) for d in FOOD
            ]
    X = sparse.csr_array(np.array([[0, 1, 2]]))
    X.data[0] = 0
    model = CountVectorizer(vocabulary=["aa", "bb", "cc"])
    assert model.inverse_transform(X)[0].tolist() == ["cc"]
    assert X.nnz == 2  # the matrix of the user is left alone


def test_terms_may_end_in_nul():
    model = CountVectorizer(analyzer="char").fit(["a\0"])
    assert model.get_feature_names_out().tolist() == ["\0", "a"]
    assert model.inverse_transform([[1, 0]])[0].tolist() == ["\0"]


# --- beyond scikit-learn -------------------------------------------------------------------------


@pytest.mark.parametrize("Vectorizer", COUNTING)
def test_a_stream_may_begin_without_a_term_that_is_kept(Vectorizer):
    model = Vectorizer(min_df=2).partial_fit(["one two"])
    assert model.vocabulary_ == {}
    with pytest.raises(ValueError, match="Vocabulary is empty"):
        model.transform(["one"])
    assert model.partial_fit(["two three"]).vocabulary_ == {"two": 0}


def test_pruned_terms_are_gone_and_come_back_as_new():
    model = CountVectorizer().fit(["rare word", "word"]).prune(2)
    assert model.vocabulary_ == {"word": 0}
    assert model.statistics_.pruned == 2
    model.partial_fit(["rare"])
    assert dict(
        zip(model.statistics_.terms.strings(), model.statistics_.documents, strict=True)
    ) == {
        "rare": 1,
        "word": 2,
    }
    model.forget(["rare word"])  # a document whose term was dropped
    assert model.vocabulary_ == {"word": 0}
    with pytest.raises(ValueError, match="at least one"):
        model.prune(0)
    with pytest.raises(ValueError, match="given stays"):
        CountVectorizer(vocabulary=["a"]).fit(["a"]).prune(1)


@pytest.mark.parametrize("Vectorizer", COUNTING)
@pytest.mark.parametrize(
    "documents", [["never seen"], ["the the the"], ["", ""], FOOD + FOOD, [""] * 9, FOOD]
)
def test_documents_that_were_not_learned_cannot_be_forgotten(Vectorizer, documents):
    model = Vectorizer().fit(FOOD)
    before = model.statistics_
    with pytest.raises(ValueError, match="Expected "):
        model.forget(documents)
    assert model.statistics_ is before


def test_only_alike_vectorizers_merge():
    model = CountVectorizer().fit(FOOD)
    with pytest.raises(ValueError, match="Expected lowercase=True to merge, got False"):
        model.merge(CountVectorizer(lowercase=False).fit(FOOD))
    with pytest.raises(TypeError, match="Expected another CountVectorizer"):
        model.merge(TfidfVectorizer().fit(FOOD))
    with pytest.raises(NotFittedError):
        model.merge(CountVectorizer())
    with pytest.raises(ValueError, match="given vocabulary"):
        CountVectorizer(vocabulary=["a"]).fit(FOOD).merge(
            CountVectorizer(vocabulary=["b"]).fit(FOOD)
        )


@pytest.mark.parametrize("Vectorizer", COUNTING)
@pytest.mark.parametrize("call", ["fit", "fit_transform", "partial_fit", "forget"])
def test_a_call_that_fails_leaves_the_vectorizer_as_it_was(Vectorizer, call):
    model = Vectorizer().fit(FOOD)
    before, weights = model.vocabulary_.copy(), getattr(model, "idf_", np.zeros(0)).copy()
    with pytest.raises(ValueError, match="invalid document"):
        getattr(model, call)(["fine", None])
    assert model.vocabulary_ == before
    assert_array_equal(getattr(model, "idf_", np.zeros(0)), weights)


def test_weights_of_rows_stream_merge_and_forget():
    X = CountVectorizer().fit_transform(FOOD)
    whole = TfidfTransformer().fit(X)
    streamed = TfidfTransformer().partial_fit(X[:2]).partial_fit(X[2:])
    merged = TfidfTransformer().fit(X[:3]) + TfidfTransformer().fit(X[3:])
    forgetful = TfidfTransformer().fit(sparse.vstack([X, X[1:3]])).forget(X[1:3])
    for model in (streamed, merged, forgetful):
        assert_array_equal(model.idf_, whole.idf_)
    with pytest.raises(ValueError, match="Expected rows that were learned"):
        whole.forget(sparse.vstack([X, X]))
    with pytest.raises(ValueError, match="features"):
        whole.merge(TfidfTransformer().fit(X[:, :2]))


def test_idf_can_be_set():
    model = TfidfVectorizer().fit(FOOD)
    twin = TfidfVectorizer(vocabulary=model.vocabulary_)
    twin.idf_ = model.idf_
    same_matrix(twin.transform(FOOD), model.transform(FOOD))
    with pytest.raises(ValueError, match="must be equal to vocabulary size"):
        twin.idf_ = [1.0]
    with pytest.raises(ValueError, match="cannot be set"):
        TfidfVectorizer(use_idf=False).idf_ = [1.0]
    with pytest.raises(NotFittedError):
        _ = TfidfVectorizer().idf_


@pytest.mark.parametrize("Vectorizer", ALL)
def test_vectorizers_serve_in_pipelines_and_searches(Vectorizer):
    hashing = Vectorizer is HashingVectorizer
    positive = {"alternate_sign": False, "n_features": 64} if hashing else {}
    pipe = make_pipeline(Vectorizer(**positive), MultinomialNB())
    step = Vectorizer.__name__.lower()
    search = GridSearchCV(pipe, {f"{step}__ngram_range": [(1, 1), (1, 2)]}, cv=2)
    documents = [*FOOD[:3], *SCRIPTS[:3]] * 2
    search.fit(documents, [0, 0, 0, 1, 1, 1] * 2)
    assert search.score(documents, [0, 0, 0, 1, 1, 1] * 2) == 1.0


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_shown_on_a_terminal_alone(monkeypatch, capsys):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    CountVectorizer().fit(FOOD)
    assert terminal.getvalue() == ""
    CountVectorizer(verbose=True).fit(FOOD)
    assert "Counted 5 documents" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")
    monkeypatch.undo()
    HashingVectorizer(verbose=1).fit_transform(FOOD)
    assert capsys.readouterr() == ("", "")


def test_progress_of_a_long_call_is_shown_unasked(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("posterior.engines.progress.PATIENCE", 0.0)
    with Progress(False, "Counted", "documents") as progress:
        progress(1234)
    assert "1,234 documents" in terminal.getvalue()


@pytest.mark.parametrize("Vectorizer", ALL)
def test_sklearns_parameters_come_first_with_its_defaults(Vectorizer):
    mine, their = (list(V().get_params(deep=False)) for V in (Vectorizer, other(Vectorizer)))
    assert sorted(set(mine) - set(their)) == ["missing", "verbose"]
    assert {k: v for k, v in Vectorizer().get_params().items() if k in their} == other(
        Vectorizer
    )().get_params()


def test_our_vectorizers_are_our_own():
    for name in ("CountVectorizer", "HashingVectorizer", "TfidfTransformer", "TfidfVectorizer"):
        assert not issubclass(getattr(posterior, name), getattr(theirs, name))


@pytest.mark.parametrize("kind", [CountVectorizer, HashingVectorizer, TfidfVectorizer])
@pytest.mark.parametrize("token_pattern", [r"(?u)\b\w\w+\b", r"[a-z]+"])
def test_runs_of_fewer_than_no_terms_are_refused(kind, token_pattern):
    """A count from minus infinity on would not end."""
    model = kind(ngram_range=(-(2**63), 2), token_pattern=token_pattern)
    with pytest.raises(ValueError, match="0 <= a <= b"):
        model.fit_transform(["fish and chips"])
