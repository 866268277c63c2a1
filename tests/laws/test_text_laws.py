"""A vocabulary is a sum over documents: blocks, order, merging, forgetting and threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction import text as theirs
from strategies import share

import posterior
from posterior import CountVectorizer, HashingVectorizer, TfidfVectorizer
from posterior.text import blocks
from posterior.text.vocabulary import TermCounts, places

# Few letters of many kinds, so that terms meet again.
letters = st.sampled_from(
    "aAbB_1 ..,\n\u00e9\u00c9\u03a3\u03c3\u0130\u4e2d\u0301\0\ud800\U0001f600"
)
documents = st.lists(st.text(letters, max_size=12), min_size=1, max_size=8)
settings = st.fixed_dictionaries(
    {},
    optional={
        "analyzer": st.sampled_from(["word", "char", "char_wb"]),
        "ngram_range": st.sampled_from([(1, 1), (1, 2), (2, 3)]),
        "token_pattern": st.sampled_from([r"\w+", r"(?u)\b\w\w+\b", r"[ab]+"]),
        "lowercase": st.booleans(),
        "strip_accents": st.sampled_from([None, "unicode", "ascii"]),
        "binary": st.booleans(),
    },
)
choices = st.fixed_dictionaries(
    {},
    optional={
        "min_df": st.sampled_from([1, 2, 0.4]),
        "max_df": st.sampled_from([1.0, 0.6, 3]),
        "max_features": st.sampled_from([None, 1, 3]),
    },
)
some = share(4)  # two fits a case and more
each = pytest.mark.parametrize("Vectorizer", [CountVectorizer, TfidfVectorizer])
pytestmark = pytest.mark.filterwarnings("ignore:The parameter 'token_pattern' will not be used")


def fitted(Vectorizer, texts, **options):
    """As a stream, which may begin with nothing to keep."""
    return Vectorizer(**options).partial_fit(texts)


def assert_same(a, b):
    assert a.statistics_ == b.statistics_
    assert a.vocabulary_ == b.vocabulary_
    if isinstance(a, TfidfVectorizer):
        np.testing.assert_array_equal(a.idf_, b.idf_)


@each
@some
@given(texts=documents, options=settings, choice=choices, data=st.data())
def test_blocks_of_a_stream_give_the_vocabulary_of_all(Vectorizer, texts, options, choice, data):
    whole, stream = fitted(Vectorizer, texts, **options, **choice), Vectorizer(**options, **choice)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(texts)), max_size=3)))
    for a, b in zip([0, *cuts], [*cuts, len(texts)], strict=True):
        stream.partial_fit(texts[a:b])
    assert_same(stream, whole)
    try:
        at_once = Vectorizer(**options, **choice).fit(texts)
    except ValueError:  # nothing to keep, which a stream may say later
        assert len(whole.vocabulary_) == 0 or choice
    else:
        assert_same(at_once, whole)


@some
@given(first=documents, second=documents, options=settings, choice=choices)
def test_merged_vocabularies_are_that_of_all_documents(first, second, options, choice):
    a, b = (fitted(TfidfVectorizer, texts, **options, **choice) for texts in (first, second))
    whole = fitted(TfidfVectorizer, first + second, **options, **choice)
    assert_same(a + b, whole)
    assert_same(b + a, whole)
    assert_same(a.merge(b), whole)


@some
@given(kept=documents, removed=documents, options=settings, choice=choices)
def test_documents_taken_back_leave_no_trace(kept, removed, options, choice):
    model = fitted(TfidfVectorizer, kept + removed, **options, **choice).forget(removed)
    assert_same(model, fitted(TfidfVectorizer, kept, **options, **choice))


@some
@given(texts=documents, options=settings, choice=choices, data=st.data())
def test_the_order_of_documents_does_not_matter(texts, options, choice, data):
    shuffled = data.draw(st.permutations(texts))
    a, b = (fitted(TfidfVectorizer, t, **options, **choice) for t in (texts, shuffled))
    assert_same(a, b)
    if len(a.vocabulary_):
        row = dict(zip(shuffled, b.transform(shuffled).toarray(), strict=True))
        np.testing.assert_array_equal(a.transform(texts).toarray(), [row[t] for t in texts])


@some
@given(texts=documents, options=settings)
def test_threads_and_blocks_do_not_matter(texts, options):
    with pytest.MonkeyPatch.context() as patch:
        answers = []
        for threads, smallest in ((1, 1 << 16), (3, 1)):
            patch.setattr(blocks, "SMALLEST", smallest)
            with posterior.threads(threads):
                model = fitted(CountVectorizer, texts, **options)
                hashed = HashingVectorizer(**options, n_features=64).transform(texts)
                if len(model.vocabulary_):
                    counts = CountVectorizer(**options).fit_transform(texts)
                    again = model.transform(texts)
                    answers.append((model, hashed.toarray(), counts.toarray(), again.toarray()))
        if answers:
            (a, *X), (b, *Y) = answers
            assert_same(a, b)
            for x, y in zip(X, Y, strict=True):
                np.testing.assert_array_equal(x, y)


@some
@given(texts=documents, options=settings, choice=choices)
def test_counts_of_any_letters_are_those_of_sklearn(texts, options, choice):
    ours, others = (V(**options, **choice) for V in (CountVectorizer, theirs.CountVectorizer))
    try:
        expected = others.fit_transform(texts)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error).split(";")[0].split(".")[0]):
            ours.fit_transform(texts)
        return
    X = ours.fit_transform(texts)
    assert ours.vocabulary_ == others.vocabulary_
    np.testing.assert_array_equal(X.toarray(), expected.toarray())
    np.testing.assert_array_equal(X.toarray(), ours.transform(texts).toarray())


@some
@given(texts=documents, options=settings)
def test_counts_survive_their_arrays_and_have_a_zero(texts, options):
    counts = fitted(CountVectorizer, texts, **options).statistics_
    assert TermCounts.from_arrays(counts.arrays()) == counts
    assert counts + TermCounts.zero() == counts == TermCounts.zero() + counts
    assert counts - counts == TermCounts.zero()
    assert (counts.documents <= counts.total).all()
    assert counts.n_documents == len(texts)


@some
@given(first=documents, second=documents)
def test_terms_are_found_where_they_are(first, second):
    a, b = (fitted(CountVectorizer, t, token_pattern=r"\w+").statistics_ for t in (first, second))
    place, known = places(a.terms, b.terms), b.terms.strings()
    assert [known[p] if p >= 0 else None for p in place] == [
        t if t in known else None for t in a.terms.strings()
    ]
