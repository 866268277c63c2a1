"""What a document may be, and what becomes of documents that are bad, missing or huge."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

import posterior
from posterior import CountVectorizer, HashingVectorizer, TfidfVectorizer
from posterior.sources.class_folders import files_of, labeled_files
from posterior.text import blocks
from posterior.text.arrow_text import ArrowText
from posterior.text.decoding import Decoder, is_missing


def named(value):
    """The name of a case, the same in every process."""
    return re.sub(r" at 0x\w+", "", repr(value))


TEXTS = ["Fish and chips", "", "naïve café, ΣΊΣΥΦΟΣ", "fish 😀 peas"]
HOLES = ["Fish and chips", None, "naïve café, ΣΊΣΥΦΟΣ", "fish 😀 peas"]
ALL = (CountVectorizer, TfidfVectorizer, HashingVectorizer)

COLUMNS = {
    "tuple": tuple,
    "iterator": iter,
    "generator": lambda texts: (text for text in texts),
    "object array": lambda texts: np.array(texts, dtype=object),
    "pandas": pd.Series,
    "pandas objects": lambda texts: pd.Series(texts, dtype=object, index=[3, 1, 2, 0]),
    "pandas category": lambda texts: pd.Series(texts, dtype="category"),
    "polars": pl.Series,
    "arrow": pa.array,
    "arrow large": lambda texts: pa.array(texts, pa.large_string()),
    "arrow view": lambda texts: pa.array(texts, pa.string_view()),
    "arrow dictionary": lambda texts: pa.array(texts).dictionary_encode(),
    "arrow slice": lambda texts: pa.array(["left out", *texts, "left out"])[1:5],
    "arrow chunks": lambda texts: pa.chunked_array([texts[:1], [], texts[1:3], texts[3:]]),
    "arrow column of a table": lambda texts: pa.table({"text": texts})["text"],
}


@pytest.fixture(params=COLUMNS.values(), ids=COLUMNS.keys())
def column(request):
    return request.param


@pytest.mark.parametrize("Vectorizer", ALL)
@pytest.mark.parametrize("tokenizer", [None, str.split], ids=["native", "Python"])
def test_a_column_of_any_kind_counts_as_a_list(column, Vectorizer, tokenizer):
    few = {"n_features": 64} if Vectorizer is HashingVectorizer else {}
    pattern = None if tokenizer else r"\b\w\w+\b"
    model = Vectorizer(tokenizer=tokenizer, token_pattern=pattern, **few)
    expected = model.fit_transform(TEXTS)
    assert_array_equal(model.fit_transform(column(TEXTS)).toarray(), expected.toarray())
    assert_array_equal(model.transform(column(TEXTS)).toarray(), expected.toarray())


@pytest.mark.parametrize(
    "settings",
    [{}, {"strip_accents": "ascii"}, {"tokenizer": lambda text: [text], "token_pattern": None}],
    ids=["native", "prepared", "function"],
)
def test_missing_documents_are_an_error_or_hold_nothing(column, settings):
    with pytest.raises(ValueError, match=r"invalid document, expected byte or unicode.*ocument 1 "):
        CountVectorizer(**settings).fit(column(HOLES))
    X = CountVectorizer(**settings, missing="empty").fit_transform(column(HOLES))
    assert X.shape[0] == 4
    assert np.diff(X.indptr).tolist()[1] == 0
    assert all(n > 0 for n in np.diff(X.indptr)[[0, 2, 3]])


@pytest.mark.parametrize("nothing", [None, np.nan, float("nan"), pd.NA, pd.NaT], ids=named)
def test_every_mark_of_a_missing_document_is_known(nothing):
    assert is_missing(nothing)
    for Vectorizer in ALL:
        with pytest.raises(ValueError, match="is an invalid document, expected byte or unicode"):
            Vectorizer().fit_transform(["a word", nothing])
        assert Vectorizer(missing="empty").fit_transform(["a word", nothing])[1].nnz == 0
    seen = []
    model = CountVectorizer(analyzer=lambda d: seen.append(d) or ["x"], missing="empty")
    assert model.fit_transform(["a", nothing]).toarray().tolist() == [[1], [0]]
    assert seen == ["a"]


@pytest.mark.parametrize("document", ["", b"", 0, [], {}, Path("x"), io.StringIO()], ids=named)
def test_what_is_empty_is_not_missing(document):
    assert not is_missing(document)


def test_arrow_strings_are_read_where_they_lie():
    array = pa.array(TEXTS * 3)[2:9]
    (block,) = ArrowText.of(array).columns()
    offsets, data = array.buffers()[1:]
    assert block.data.ctypes.data == data.address
    assert block.offsets.ctypes.data == offsets.address + 2 * 4
    assert list(block) == (TEXTS * 3)[2:9]


def test_small_chunks_are_put_together():
    chunks = pa.chunked_array([["one", None], ["two"], ["three"] * 3])
    (block,) = ArrowText.of(chunks).columns()
    assert list(block) == ["one", "", "two", "three", "three", "three"]


def test_no_strings_no_arrow_text():
    assert ArrowText.of(pa.array([1, 2])) is None
    assert ArrowText.of(pd.Series(["a", 1], dtype=object)) is None
    assert ArrowText.of(["a"]) is None


def test_a_column_without_pyarrow_is_read_by_its_own_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    X = CountVectorizer().fit_transform(pl.Series(TEXTS))
    assert_array_equal(X.toarray(), CountVectorizer().fit_transform(TEXTS).toarray())


# --- bytes, files and folders --------------------------------------------------------------------


@pytest.mark.parametrize("tokenizer", [None, str.split], ids=["native", "Python"])
def test_bytes_are_decoded(tokenizer):
    pattern = None if tokenizer else r"\b\w\w+\b"
    for encoding in ("utf-8", "utf-16", "utf-8-sig"):
        model = CountVectorizer(encoding=encoding, tokenizer=tokenizer, token_pattern=pattern)
        X = model.fit_transform([text.encode(encoding) for text in TEXTS])
        assert_array_equal(X.toarray(), model.fit_transform(TEXTS).toarray())
    mixed = [TEXTS[0], TEXTS[2].encode("utf-8")]
    assert "café" in str(CountVectorizer().fit(mixed).vocabulary_)


@pytest.mark.parametrize(
    "settings",
    [{}, {"analyzer": "char"}, {"tokenizer": str.split, "token_pattern": None}, {"analyzer": list}],
    ids=named,
)
@pytest.mark.parametrize("Vectorizer", ALL)
def test_bad_bytes_name_their_document(Vectorizer, settings):
    documents = ["fine", b"fine", "caf\xe9".encode("latin-1")]
    with pytest.raises(UnicodeDecodeError, match=r"in document 2; name its encoding") as caught:
        Vectorizer(**settings).fit_transform(documents)
    assert caught.value.object == b"caf\xe9"


def test_bad_bytes_are_replaced_or_left_out():
    bad = [b"caf\xe9s open"]
    assert sorted(CountVectorizer(decode_error="ignore").fit(bad).vocabulary_) == ["cafs", "open"]
    assert sorted(CountVectorizer(decode_error="replace").fit(bad).vocabulary_) == ["caf", "open"]
    assert sorted(CountVectorizer(encoding="latin-1").fit(bad).vocabulary_) == ["cafés", "open"]


@pytest.fixture
def folder(tmp_path):
    for name, text in {
        "ham/b.txt": TEXTS[0],
        "ham/a.txt": TEXTS[2],
        "spam/c.txt": TEXTS[3],
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / ".hidden").write_bytes(b"\xff")
    return tmp_path


def test_a_folder_is_its_files_in_order(folder):
    expected = CountVectorizer().fit_transform([TEXTS[2], TEXTS[0], TEXTS[3]]).toarray()
    files = files_of(folder)
    assert [file.name for file in files] == ["a.txt", "b.txt", "c.txt"]
    for documents, settings in [
        (folder, {}),
        (folder, {"input": "filename"}),
        ([str(file) for file in files], {"input": "filename"}),
        (files, {}),
        ([file.open("rb") for file in files], {"input": "file"}),
        ([file.open(encoding="utf-8") for file in files], {}),
    ]:
        X = CountVectorizer(**settings).fit_transform(documents)
        assert_array_equal(X.toarray(), expected)


def test_folders_are_classes(folder):
    files, labels = labeled_files(folder)
    assert [file.name for file in files] == ["a.txt", "b.txt", "c.txt"]
    assert labels == ["ham", "ham", "spam"]
    (folder / "stray.txt").write_text("which class?")
    with pytest.raises(ValueError, match=r"one folder for each class .*'stray\.txt'"):
        labeled_files(folder)
    with pytest.raises(NotADirectoryError, match="Expected a folder"):
        labeled_files(folder / "nowhere")


def test_a_bad_file_is_named(folder):
    (folder / "spam" / "d.txt").write_bytes(b"caf\xe9")
    with pytest.raises(UnicodeDecodeError, match=r"in the file '.*d\.txt'; name its encoding"):
        CountVectorizer().fit(folder)
    assert (
        "café" in CountVectorizer(encoding="latin-1").fit([folder / "spam" / "d.txt"]).vocabulary_
    )


def test_a_file_is_its_lines(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_bytes("one two\r\n\ntwo café\n".encode())
    assert CountVectorizer().fit_transform(path).toarray().tolist() == [
        [0, 1, 1],
        [0, 0, 0],
        [1, 0, 1],
    ]
    path.write_bytes(b"fine\ncaf\xe9\n")
    with pytest.raises(UnicodeDecodeError, match="in line 1 of "):
        CountVectorizer().fit(path)
    with pytest.raises(ValueError, match="Expected input='content'"):
        CountVectorizer(input="file").fit(path)
    with pytest.raises(FileNotFoundError):
        CountVectorizer().fit(tmp_path / "nothing.txt")


# --- what is no collection of documents ----------------------------------------------------------


@pytest.mark.parametrize("Vectorizer", ALL)
@pytest.mark.parametrize(
    ("documents", "error", "message"),
    [
        ("one string", ValueError, "raw text documents expected, string object received"),
        (b"bytes", ValueError, "raw text documents expected, bytes object received"),
        (pd.DataFrame({"text": TEXTS}), TypeError, "Expected one column of documents, got a table"),
        (pl.DataFrame({"text": TEXTS}), TypeError, "Expected one column of documents, got a table"),
        (pa.table({"text": TEXTS}), TypeError, "Expected one column of documents, got a table"),
        (3, TypeError, "Expected an iterable of documents, got int"),
        ([1, 2], TypeError, "got int as document 0"),
        (["a", ["b"]], TypeError, "got list as document 1"),
        (np.array([["a", "b"]]), TypeError, "got list as document 0"),
        (pa.array([1, 2]), TypeError, "got int as document 0"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_collection_of_documents_is_refused(Vectorizer, documents, error, message):
    for call in ("fit_transform", "transform"):
        model = Vectorizer()
        if call == "transform" and Vectorizer is not HashingVectorizer:
            model.fit(TEXTS)
        with pytest.raises(error, match=message):
            getattr(model, call)(documents)


def test_no_documents_are_no_rows():
    assert CountVectorizer().fit(TEXTS).transform([]).shape == (0, 7)
    with pytest.raises(ValueError, match="Cannot vectorize empty sequence"):
        HashingVectorizer().transform([])


# --- blocks --------------------------------------------------------------------------------------


def test_blocks_hold_all_documents_in_order():
    random = np.random.default_rng(0)
    texts = ["x" * n for n in random.integers(0, 3000, 400)]
    for n in (1, 2, 3, 7, 100):
        parts = list(blocks.text_blocks(texts, Decoder(), n))
        assert [text for part in parts for text in part] == texts
        assert len(parts) <= n
    sizes = [sum(map(len, part)) for part in blocks.text_blocks(texts, Decoder(), 4)]
    assert max(sizes) - min(sizes) < 2 * 3000


def test_a_stream_is_read_in_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "STREAM", 400)
    monkeypatch.setattr(blocks, "SMALLEST", 1)
    read = []

    def stream():
        for i in range(50):
            read.append(i)
            yield f"word{i % 7} of document{i}"

    parts = blocks.text_blocks(stream(), Decoder(), 2)
    assert len(next(parts)) == 3
    assert len(read) == 3
    X = CountVectorizer().fit_transform(stream())
    assert_array_equal(X.toarray(), CountVectorizer().fit_transform(list(stream())).toarray())


def test_a_fit_to_a_stream_keeps_no_document(monkeypatch):
    monkeypatch.setattr(blocks, "STREAM", 10_000)
    monkeypatch.setattr(blocks, "SMALLEST", 1)

    class Text(str):
        alive = 0

        def __new__(cls, text):
            cls.alive += 1
            return super().__new__(cls, text)

        def __del__(self):
            type(self).alive -= 1

    most = 0

    def stream():
        nonlocal most
        for i in range(2000):
            yield Text(f"document number {i}")
            most = max(most, Text.alive)

    with posterior.threads(2):
        CountVectorizer().fit(stream())
    assert most < 150


def test_one_line_of_many_letters_is_a_document():
    line = "lorem Ipsum dolor " * 60_000
    X = CountVectorizer().fit_transform([line, "ipsum"])
    assert X.toarray().tolist() == [[60_000, 60_000, 60_000], [0, 1, 0]]
    long = "x" * 1_000_000
    assert CountVectorizer().fit([long]).vocabulary_ == {long: 0}


def test_nul_and_lone_surrogates_are_letters_like_others():
    documents = ["a\0b \ud800 c\0", "x\ud800y\udfff"]
    letters = CountVectorizer(analyzer="char", lowercase=False).fit(documents).vocabulary_
    assert sorted(letters) == sorted(set("".join(documents)))
    assert HashingVectorizer(analyzer="char").transform(documents).shape[0] == 2
