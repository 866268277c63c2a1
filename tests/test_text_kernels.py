# ruff: noqa: RUF001, letters that look alike are the point
"""The counters of terms on all of Unicode, on long and odd documents, and on bad input."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils import murmurhash3_32

from posterior import kernels
from posterior.kernels.letters import DOTTED_I, HARD, KNOWN, SIGMA, SPACE, WORD, alphabet
from posterior.kernels.reference import text as plain_text
from posterior.kernels.terms import Rule, Terms, Utf8Column

EVERYTHING = [chr(code) for code in range(sys.maxunicode + 1)]
ALL_SPACES_AND_MORE = EVERYTHING[:0x3100] + EVERYTHING[0x3100::97]


def rows(bag, place=None, index=np.int32, value=np.int64):
    place = np.arange(len(bag.terms), dtype=np.int32) if place is None else place
    n_entries = int(bag.documents[place >= 0].sum())
    ends, indices = np.zeros(bag.n_rows, index), np.zeros(n_entries, index)
    values = np.zeros(n_entries, value)
    bag.rows(place, 0, ends, indices, values)
    return ends.tolist(), indices.tolist(), values.tolist()


@pytest.mark.parametrize(
    ("unit", "lowercase", "written", "letters"),
    [
        ("word", True, "x{0}{0} ", EVERYTHING),
        ("word", False, "x{0}{0} ", EVERYTHING),
        ("char", True, "{0}{0}", ALL_SPACES_AND_MORE),
        ("char_wb", True, "x{0}", ALL_SPACES_AND_MORE),
    ],
    ids=["word, lower", "word", "char", "char_wb"],
)
def test_every_code_point_has_pythons_case_and_class(unit, lowercase, written, letters):
    texts = ["".join(map(written.format, letters))]
    pattern = {"token_pattern": r"(?u)\b\w+\b"} if unit == "word" else {}
    theirs = CountVectorizer(analyzer=unit, lowercase=lowercase, **pattern)
    expected = theirs.fit_transform(texts).toarray()[0]
    ours = kernels.count_terms(texts, Rule(unit, (1, 1), lowercase, 1))
    assert ours.terms.strings() == list(theirs.get_feature_names_out())
    np.testing.assert_array_equal(ours.total, expected)


def test_no_white_space_was_left_out_above():
    assert not any(letter.isspace() for letter in set(EVERYTHING) - set(ALL_SPACES_AND_MORE))


@pytest.mark.parametrize("last", ["a", "é", "ж", "\U0001f600"])
def test_documents_of_all_widths_have_the_same_words(last):
    text = "Some Words that are_long enough, and 32 of them or so. " * 3 + "É" * (last > "~")
    bag = kernels.count_terms([text + " " + last * 3], Rule())
    assert (
        bag.terms.strings()
        == plain_text.count_terms([text + " " + last * 3], Rule()).terms.strings()
    )
    assert "are_long" in bag.terms.strings()


def test_words_of_every_length_cross_the_blocks_they_are_read_in():
    texts = [" " * gap + "a" * size + " bb" for gap in range(0, 70, 3) for size in range(1, 140, 7)]
    texts += [text.replace("bb", "éé") for text in texts]
    assert_same(texts, Rule())


def assert_same(texts, rule):
    ours, plain = kernels.count_terms(texts, rule), plain_text.count_terms(texts, rule)
    assert ours.terms.strings() == plain.terms.strings()
    assert rows(ours) == rows(plain)


def test_a_final_sigma_is_lowered_as_python_does():
    texts = ["ΟΔΥΣΣΕΥΣ ΑΣ. Σ ΣΑ ΑΣ\u0301Α", "İstanbul", "no such letter"]
    assert_same(texts, Rule(min_length=1))
    assert "οδυσσευς" in kernels.count_terms(texts, Rule()).terms.strings()


def test_one_long_line_is_a_document():
    line = "word another Éa third_one " * 40_000
    bag = kernels.count_terms([line, ""], Rule(ngrams=(1, 2)))
    assert bag.n_rows == 2
    assert bag.terms.strings()[0] == "another"
    assert bag.total[0] == 40_000 and bag.documents[0] == 1


def test_a_term_may_be_a_megabyte_long():
    long = "a" * 1_000_000
    bag = kernels.count_terms([long, long + "b", long], Rule())
    assert bag.terms.strings() == [long, long + "b"]
    assert bag.documents.tolist() == [2, 1]


def test_nul_is_a_character_and_no_end():
    bag = kernels.count_terms(["a\0b\0\0", "a"], Rule("char", (1, 2), min_length=1))
    assert bag.terms.strings() == ["\0", "\0\0", "\0b", "a", "a\0", "b", "b\0"]


def test_many_terms_are_sorted_by_code_point():
    texts = [
        " ".join(
            f"{chr(97 + i % 26)}{'xyz'[i % 3] * (i % 30)}{i * 7919 % 5000}é" for i in range(5000)
        )
    ]
    strings = kernels.count_terms(texts, Rule()).terms.strings()
    assert strings == sorted(set(strings)) and len(strings) == 5000


def test_long_rows_of_many_columns_ascend():
    random = np.random.default_rng(0)
    texts = [" ".join(f"w{i}" for i in random.integers(0, 9000, n)) for n in (0, 1, 30, 200, 5000)]
    assert_same(texts, Rule())


@pytest.mark.parametrize("value", [np.int64, np.float64, np.float32])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_rows_are_written_in_the_types_asked_for(index, value):
    bag = kernels.count_terms(["b a b", "", "c b"], Rule(min_length=1))
    assert rows(bag, None, index, value) == ([2, 2, 4], [0, 1, 1, 2], [1, 2, 1, 1])


def test_pruned_terms_have_no_entries():
    bag = kernels.count_terms(["b a b", "a", "c b"], Rule(min_length=1))
    place = np.array([-1, 1, 0], np.int32)
    assert rows(bag, place) == ([1, 1, 3], [1, 0, 1], [2, 1, 1])


def test_a_bag_without_rows_has_the_same_sums():
    texts = ["b a b", "", "c b"]
    kept, lean = (kernels.count_terms(texts, Rule(min_length=1), keep) for keep in (True, False))
    assert lean.terms.strings() == kept.terms.strings() and lean.n_entries == 0
    assert lean.documents.tolist() == kept.documents.tolist() == [1, 2, 1]
    assert lean.total.tolist() == kept.total.tolist() == [1, 3, 1]
    with pytest.raises(ValueError, match="keep_rows=True"):
        rows(lean)


def test_threads_may_share_given_terms():
    texts = ["some words and more words", "words", "ΣΑΣ"] * 50
    known = kernels.lookup(Terms.of(["and", "words", "σας"]))
    with ThreadPoolExecutor(4) as pool:
        bags = list(pool.map(lambda _: kernels.count_known(texts, Rule(), known), range(8)))
    assert {tuple(bag.total.tolist()) for bag in bags} == {(50, 150, 50)}


@pytest.mark.parametrize("n", [1, 400], ids=["few documents", "many"])
def test_given_terms_have_the_same_sums_whatever_the_number_of_documents(n):
    known = Terms.of(f"w{i}" for i in range(2000))
    texts = ["w7 w1999 w7 unknown", "", "other W7"] * n
    bag = kernels.count_known(texts, Rule(), kernels.lookup(known))
    last, seven = known.strings().index("w1999"), known.strings().index("w7")
    assert bag.n_entries == bag.documents.sum() == 3 * n
    assert bag.documents[[last, seven]].tolist() == [n, 2 * n]
    assert bag.total[[last, seven]].tolist() == [n, 3 * n]
    ends, indices, values = rows(bag)
    assert ends[:3] == [2, 2, 3]
    assert list(zip(indices, values, strict=True))[:3] == [(last, 1), (seven, 2), (seven, 1)]


def test_missing_documents_are_empty_rows():
    column = Utf8Column(
        np.frombuffer(b"one two", np.uint8), np.array([0, 3, 7]), np.array([True, False])
    )
    bag = kernels.count_terms(column, Rule())
    assert bag.terms.strings() == ["one"] and bag.n_rows == 2


@pytest.mark.parametrize("documents", [["a", None], ["a", b"b"], ["a", float("nan")]])
def test_what_is_no_string_is_named_with_its_number(documents):
    with pytest.raises(TypeError, match=r"got (NoneType|bytes|float) as document 1\."):
        kernels.count_terms(documents, Rule())


@pytest.mark.parametrize("offsets", [[0, 5, 3], [-1, 3], [0, 9], []])
def test_a_damaged_column_is_refused(offsets):
    with pytest.raises(ValueError, match="ascending offsets within 8 bytes"):
        Utf8Column(np.zeros(8, np.uint8), np.array(offsets, np.int64))


@pytest.mark.parametrize("ngrams", [(0, 1), (2, 1)])
def test_ngrams_must_ascend(ngrams):
    with pytest.raises(ValueError, match="1 <= a <= b"):
        Rule(ngrams=ngrams)


def test_arrays_of_wrong_sizes_are_refused():
    bag = kernels.count_terms(["some words"], Rule())
    ends, two, three = np.zeros(1, np.int32), np.zeros(2, np.int32), np.zeros(3, np.int32)
    place = np.arange(2, dtype=np.int32)
    for arrays in ((ends, three, np.zeros(2)), (ends, two, np.zeros(3)), (two, two, np.zeros(2))):
        with pytest.raises(ValueError):
            bag.rows(place, 0, *arrays)


def test_murmur_is_scikit_learns():
    random = np.random.default_rng(0)
    for size in range(40):
        data = random.bytes(size)
        assert plain_text.murmur(data) == murmurhash3_32(data, seed=0)


def test_the_hash_without_a_positive_twin_has_a_column():
    word = "ol6tk7ej"  # its hash is -2³¹
    assert plain_text.murmur(word.encode()) == -(2**31)
    hashed = kernels.hash_terms([word], Rule(), 1000, True)
    ends, indices, values = np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1)
    hashed.rows(0, ends, indices, values)
    assert (indices[0], values[0]) == (2**31 % 1000, -1)


def test_terms_can_be_chosen():
    terms = Terms.of(["b", "é", "a", "中文", "\ud800", "b"])
    assert terms.strings() == ["a", "b", "é", "中文", "\ud800"]
    assert terms[np.array([0, 3])].strings() == ["a", "中文"]
    assert terms[np.array([False, True, True, False, True])].strings() == ["b", "é", "\ud800"]
    assert terms[np.zeros(5, bool)].strings() == []


@pytest.mark.parametrize("lowercase", [False, True])
def test_the_alphabet_knows_every_code_point_as_python_does(lowercase) -> None:
    table, hard, wrong = alphabet(lowercase), set(), []
    for code in range(sys.maxunicode + 1):
        letter = chr(code).lower() if lowercase else chr(code)
        entry = int(table[code]) if code < KNOWN else code
        if entry & HARD:
            hard.add(chr(code))
            continue
        classes = letter.isalnum() or letter == "_", letter.isspace()
        said = bool(entry & WORD), bool(entry & SPACE)
        if said != classes or chr(entry & (1 << 21) - 1) != letter:
            wrong.append(hex(code))
    assert wrong == []
    assert hard == ({DOTTED_I, SIGMA} if lowercase else set())
