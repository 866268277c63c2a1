"""Strings nearest by edits: the compiled kernel, its twin in NumPy, and RapidFuzz agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from rapidfuzz import process
from rapidfuzz.distance import OSA, Levenshtein
from strategies import Random, randoms, share

from posterior import kernels
from posterior.kernels import reference
from posterior.kernels.spelling import Dictionary, Spelling
from posterior.neighbors.edit_distance import Alphabet, numbered

KINDS = {  # swaps, normalized
    "levenshtein": (False, False),
    "alignment": (True, False),
    "normalized": (False, True),
}
longest = st.sampled_from([1, 7, 8, 9, 16, 17, 32, 33, 64])
n_letters = st.sampled_from([1, 2, 4, 26, 3000])


def words(random: Random, n: int, longest: int, n_letters: int) -> list[str]:
    """Strings of all lengths; the letters are beyond those of bytes if there are many."""
    lengths = random.integers(0, longest + 1, n)
    return ["".join(map(chr, 97 + random.integers(0, n_letters, size))) for size in lengths]


def spelled(strings, queries) -> tuple[Spelling, Dictionary]:
    distinct, code = numbered(strings, by_length=True)
    alphabet = Alphabet(distinct)
    known, asked = alphabet.spell(distinct), alphabet.spell(queries)
    return asked, Dictionary.of(known, len(alphabet), code)


def search(find, strings, queries, kind, k):
    distance, row = np.empty((len(queries), k)), np.empty((len(queries), k), np.int64)
    find(*spelled(strings, queries), *KINDS[kind], distance, row)
    return distance, row


@pytest.mark.parametrize("kind", KINDS)
@share(8)
@given(
    random=randoms,
    n=st.sampled_from([1, 2, 20, 150]),
    longest=longest,
    n_letters=n_letters,
    k=st.integers(1, 8),
)
def test_the_kernel_finds_the_rows_of_its_twin(kind, random, n, longest, n_letters, k):
    known = [*words(random, n, longest, n_letters), None]
    strings = [known[i] for i in random.integers(0, n + 1, n)]  # some twice, some missing
    queries = [*words(random, 4, 2 * longest, n_letters + 1), known[0], ""]
    for wanted in (min(k, n), n):
        ours, plain = (
            search(find, strings, queries, kind, wanted)
            for find in (kernels.nearest_strings, reference.nearest_strings)
        )
        assert_array_equal(ours[0], plain[0])
        assert_array_equal(ours[1], plain[1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("longest", [24, 64])
def test_few_near_strings_are_found_among_many_long_ones(kind, longest):
    random = np.random.default_rng(longest)
    strings = [s.ljust(longest, "x") for s in words(random, 300, longest, 26)]
    for i in range(0, 300, 3):
        strings[i] = strings[i + 1][:5] + "y" + strings[i + 1][6:]
    queries = [s[:9] + "z" + s[10:] for s in strings[::15]]
    ours, plain = (
        search(find, strings, queries, kind, 2)
        for find in (kernels.nearest_strings, reference.nearest_strings)
    )
    assert_array_equal(ours[0], plain[0])
    assert_array_equal(ours[1], plain[1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("longest", [8, 16, 32, 64])
def test_all_distances_are_those_of_rapidfuzz(kind, longest):
    random = np.random.default_rng(longest)
    strings = [*words(random, 200, longest, 3), "a" * longest, "ab" * (longest // 2)]
    queries = [*words(random, 20, longest + 5, 4), "", "b" * 200, strings[-1]]
    scorer = OSA.distance if kind == "alignment" else Levenshtein.distance
    if kind == "normalized":
        scorer = Levenshtein.normalized_distance
    D = process.cdist(queries, strings, scorer=scorer, dtype=np.float64)
    distance, row = search(kernels.nearest_strings, strings, queries, kind, len(strings))
    assert_array_equal(row, np.argsort(D, axis=1, kind="stable"))
    assert_array_equal(distance, np.take_along_axis(D, row, axis=1))


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_are_equally_far_come_in_order_whatever_their_length(kind):
    random = np.random.default_rng(0)
    strings = words(random, 1_000, 12, 20)
    distance, row = search(kernels.nearest_strings, strings, ["Z" * 12], kind, 40)
    assert row.tolist() == [[*range(40)]]
    assert distance.tolist() == [[1.0 if kind == "normalized" else 12.0] * 40]


@share(8)
@given(random=randoms, first=st.integers(0, 8), size=st.integers(0, 8))
def test_a_query_is_answered_the_same_in_any_company(random, first, size):
    strings, queries = words(random, 80, 10, 5), words(random, 16, 12, 6)
    distance, row = search(kernels.nearest_strings, strings, queries, "levenshtein", 5)
    asked, dictionary = spelled(strings, queries)
    some = slice(first, first + size)
    part = np.empty((size, 5)), np.empty((size, 5), np.int64)
    kernels.nearest_strings(asked[some], dictionary, False, False, *part)
    assert_array_equal(part[0], distance[some])
    assert_array_equal(part[1], row[some])
