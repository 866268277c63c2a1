"""Compiled counters of terms equal their twins and scikit-learn's vectorizers on any document."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from strategies import randoms, share
from writing import assert_same_matrix, column, counts, csr, documents, rules

from posterior import kernels
from posterior.data.rows import SparseRows
from posterior.kernels import reference
from posterior.kernels.terms import Rule, Terms, Utf8Column
from posterior.text.term_rows import TermRows

sizes = st.integers(0, 8)


def settings_of(rule: Rule) -> dict:
    shared = {
        "analyzer": rule.unit,
        "ngram_range": rule.ngrams,
        "lowercase": rule.lowercase,
    }
    of_words = {
        "token_pattern": rf"(?u)\b\w{{{rule.min_length},}}\b",
        "stop_words": list(rule.stop_words) or None,
    }
    return shared | of_words if rule.unit == "word" else shared


def assert_same_bag(ours, plain):
    assert ours.n_rows == plain.n_rows and ours.n_entries == plain.n_entries
    assert ours.terms.strings() == plain.terms.strings()
    np.testing.assert_array_equal(ours.terms.data, plain.terms.data)
    np.testing.assert_array_equal(ours.terms.starts, plain.terms.starts)
    np.testing.assert_array_equal(ours.documents, plain.documents)
    np.testing.assert_array_equal(ours.total, plain.total)


@given(random=randoms, n=sizes, rule=rules())
def test_counts_agree_with_their_twin(random, n, rule):
    texts = documents(random, n)
    ours, plain = kernels.count_terms(texts, rule), reference.count_terms(texts, rule)
    assert_same_bag(ours, plain)
    place = random.permutation(len(ours.terms)).astype(np.int32)
    place[random.random(len(place)) < random.choice([0, 0.5, 1])] = -1
    width = len(ours.terms)
    assert_same_matrix(csr(ours, place, width), csr(plain, place, width))


@given(random=randoms, n=sizes, rule=rules())
def test_counts_agree_with_scikit_learn(random, n, rule):
    texts = documents(random, n)
    try:
        vectorizer = CountVectorizer(**settings_of(rule))
        theirs = vectorizer.fit_transform(texts)
    except ValueError:  # no document, or no term in any
        assert len(kernels.count_terms(texts, rule).terms) == 0
        return
    bag = kernels.count_terms(texts, rule)
    assert bag.terms.strings() == list(vectorizer.get_feature_names_out())
    theirs.sort_indices()
    assert_same_matrix(counts(bag), theirs)


@share(2)
@given(random=randoms, n=st.integers(1, 8), rule=rules(), signed=st.booleans())
def test_hashes_agree_with_scikit_learn(random, n, rule, signed):
    texts = documents(random, n, surrogates=False)
    n_features = int(random.choice([1, 2, 7, 1000, 2**20, 2**31 - 1]))
    theirs = HashingVectorizer(
        **settings_of(rule), n_features=n_features, alternate_sign=signed, norm=None
    ).transform(texts)
    hashed = kernels.hash_terms(texts, rule, n_features, signed)
    assert_same_matrix(csr(hashed, n_columns=n_features, dtype=float), theirs)


@share(2)
@given(random=randoms, n=sizes, rule=rules())
def test_hashes_agree_with_their_twin(random, n, rule):
    texts, n_features = documents(random, n), int(random.choice([1, 7, 2**20]))
    ours = kernels.hash_terms(texts, rule, n_features, True)
    plain = reference.hash_terms(texts, rule, n_features, True)
    assert_same_matrix(csr(ours, n_columns=n_features), csr(plain, n_columns=n_features))


@given(random=randoms, n=sizes, rule=rules())
def test_given_terms_are_counted_and_others_left_out(random, n, rule):
    texts = documents(random, n)
    all_terms = reference.count_terms(texts, rule).terms.strings()
    given_terms = [term for term in all_terms if random.random() < 0.5]
    known = Terms.of([*given_terms, "never", "a" * 40, ""])
    ours = kernels.count_known(texts, rule, kernels.lookup(known))
    plain = reference.count_known(texts, rule, reference.lookup(known))
    assert_same_bag(ours, plain)
    assert_same_matrix(counts(ours), counts(plain))


@given(random=randoms, n=sizes, rule=rules(), parts=st.integers(1, 4))
def test_the_matrix_does_not_depend_on_the_split(random, n, rule, parts):
    texts = documents(random, n)
    whole = kernels.count_terms(texts, rule)
    cuts = [0, *sorted(random.integers(0, n + 1, parts - 1).tolist()), n]
    bags = [kernels.count_terms(texts[a:b], rule) for a, b in pairwise(cuts)]
    terms = Terms.of([])
    for bag in bags:
        terms, _, _ = kernels.union(terms, bag.terms)
    assert terms.strings() == whole.terms.strings()
    n_entries = sum(bag.n_entries for bag in bags)
    ends, indices = np.zeros(n + 1, np.int64), np.zeros(n_entries, np.int64)
    values = np.zeros(n_entries, np.float32)
    first = 0
    for (a, b), bag in zip(pairwise(cuts), bags, strict=True):
        _, _, place = kernels.union(terms, bag.terms)
        part = slice(first, first + bag.n_entries)
        bag.rows(place, first, ends[a + 1 : b + 1], indices[part], values[part])
        first = part.stop
    expected = counts(whole)
    np.testing.assert_array_equal(ends, expected.indptr)
    np.testing.assert_array_equal(indices, expected.indices)
    np.testing.assert_array_equal(values, expected.data)
    np.testing.assert_array_equal(sum(bag.total.sum() for bag in bags), whole.total.sum())


@given(random=randoms, n=sizes, rule=rules())
def test_a_column_of_utf_8_is_counted_as_its_strings_are(random, n, rule):
    texts = documents(random, n, surrogates=False)
    utf8 = column(texts, random)
    ours, plain = kernels.count_terms(utf8, rule), kernels.count_terms(texts, rule)
    assert_same_bag(ours, plain)
    assert_same_matrix(counts(ours), counts(plain))
    part = slice(*sorted(random.integers(0, n + 1, 2).tolist()))
    assert_same_bag(kernels.count_terms(utf8[part], rule), kernels.count_terms(texts[part], rule))


@given(random=randoms, rule=rules())
def test_any_bytes_are_counted_or_refused_as_python_decodes_them(random, rule):
    pieces = [b"\xc3\xa9", b"\xce\xa3", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\xf4\x90\x80\x80"]
    pieces += [b"\xc0\x80", b"\xe0\x80\x80", b"abc ", b"A" * 40]
    if random.random() < 0.7:
        pieces += [bytes([c]) for c in random.integers(0, 256, 3).tolist()]
    data = b"".join(pieces[i] for i in random.integers(len(pieces), size=random.integers(6)))
    one = Utf8Column(np.frombuffer(data, np.uint8), np.array([0, len(data)], np.int32), first=7)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        for count in (kernels.count_terms, reference.count_terms):
            with pytest.raises(ValueError, match=r"UTF-8, got other bytes in document 7"):
                count(one, rule)
        return
    assert_same_bag(kernels.count_terms(one, rule), kernels.count_terms([text], rule))


@given(random=randoms, n=sizes, m=sizes)
def test_a_union_agrees_with_its_twin(random, n, m):
    a, b = (Terms.of(" ".join(documents(random, k)).split(" ")) for k in (n, m))
    for ours, plain in zip(kernels.union(a, b)[1:], reference.union(a, b)[1:], strict=True):
        np.testing.assert_array_equal(ours, plain)
    assert kernels.union(a, b)[0].strings() == reference.union(a, b)[0].strings()


@given(
    random=randoms,
    n=sizes,
    rule=rules(),
    n_logs=st.sampled_from([0, 4]),
    unit=st.sampled_from([0.0, 2.0**-20]),
)
def test_sums_by_group_agree_with_their_twin(random, n, rule, n_logs, unit):
    texts = documents(random, n)
    ours, plain = kernels.count_terms(texts, rule), reference.count_terms(texts, rule)
    place = np.cumsum(random.integers(1, 3, len(ours.terms)), dtype=np.int32)
    codes = random.integers(-1, 3, n).astype(np.int32)
    logs = np.cumsum(random.integers(0, 1000, n_logs))
    settings = codes, 3, place, logs, unit
    for mine, twin in zip(ours.group_sums(*settings), plain.group_sums(*settings), strict=True):
        np.testing.assert_array_equal(mine, twin)


@given(random=randoms, n=sizes, rule=rules())
def test_fingerprints_agree_with_their_twin_and_with_those_of_the_table(random, n, rule):
    texts = documents(random, n)
    ours, plain = kernels.count_terms(texts, rule), reference.count_terms(texts, rule)
    place = np.cumsum(random.integers(1, 3, len(ours.terms)), dtype=np.int32)
    some = random.permutation(n)[: n // 2]
    for a, b in ((ours, plain), (ours.take(some), plain.take(some))):
        np.testing.assert_array_equal(a.fingerprints(place), b.fingerprints(place))
    place, table = np.arange(len(place), dtype=np.int32), counts(ours)
    rows = TermRows(ours.terms, SparseRows.of(table))
    np.testing.assert_array_equal(ours.fingerprints(place), rows.fingerprints())


@given(random=randoms, n=sizes, rule=rules())
def test_some_documents_of_a_bag_agree_with_their_twin(random, n, rule):
    texts, index = documents(random, n), random.permutation(n)[: n // 2]
    ours, plain = (m.count_terms(texts, rule).take(index) for m in (kernels, reference))
    assert_same_bag(ours, plain)
    assert_same_matrix(counts(ours), counts(plain))
    assert_same_matrix(counts(ours), counts(kernels.count_terms(texts, rule))[index])


@given(random=randoms, n_groups=st.integers(0, 3))
def test_sums_of_two_agree_with_their_twin(random, n_groups):
    def some():
        there = random.random((n_groups, 5)) < 0.5
        start = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int64)
        sums = random.integers(-9, 9, (2, start[-1]))
        return start, np.nonzero(there)[1], *sums

    a, b = some(), some()
    for ours, plain in zip(kernels.add_cells(a, b), reference.add_cells(a, b), strict=True):
        np.testing.assert_array_equal(ours, plain)
