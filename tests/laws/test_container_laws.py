"""The container does not matter: the same values give the same model, whatever holds them."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from everyone import Subject, every
from numpy.testing import assert_allclose, assert_array_equal

from posterior import AODE, BernoulliNB, GaussianNB, LogisticRegression, NaiveBayes

pytestmark = pytest.mark.once  # kernels see numbers, whatever held them

Table = list[list[Any]]  # rows of Python's own values, None where a cell is missing

KINDS = ("numbers", "wholes", "truths", "strings")
NULLABLE = {"numbers": "Float64", "wholes": "Int64", "truths": "boolean", "strings": "string"}
ARROW = {
    "numbers": pa.float64(),
    "wholes": pa.int64(),
    "truths": pa.bool_(),
    "strings": pa.string(),
}
NUMPY = {"numbers": np.float64, "wholes": np.int64, "truths": np.bool_, "strings": np.str_}
POLARS = {"numbers": pl.Float64, "wholes": pl.Int64, "truths": pl.Boolean, "strings": pl.String}


def table(kind: str, n: int, gaps: bool, seed: int = 0) -> tuple[Table, np.ndarray]:
    """Rows of one kind of value, and their classes."""
    random = np.random.default_rng(seed)
    codes = np.arange(n) % 2
    made = {
        "numbers": random.gamma(2.0 + codes[:, None], size=(n, 3)),
        "wholes": random.poisson(1.0 + codes[:, None], (n, 3)),
        "truths": random.random((n, 3)) < 0.3 + 0.3 * codes[:, None],
        # digits among them: strings all the same
        "strings": np.array(["0", "1", "red", "2"])[random.poisson(codes[:, None], (n, 3)) % 4],
    }
    rows = made[kind].tolist()
    if gaps:
        for i in range(0, n, 7):
            rows[i][i % 3] = None
    return rows, np.array(["no", "yes"])[codes]


def columns(rows: Table) -> dict[str, list[Any]]:
    return {f"c{j}": list(cells) for j, cells in enumerate(zip(*rows, strict=True))}


def array(rows: Table, kind: str) -> np.ndarray:
    """Of NumPy's type for the kind, if it has one for missing cells as well."""
    gaps = any(None in row for row in rows)
    if gaps and kind in ("truths", "strings"):
        return np.array(rows, object)
    return np.array(rows, np.float64 if gaps else NUMPY[kind])


def arrow(rows: Table, kind: str) -> pa.Table:
    return pa.table({n: pa.array(c, ARROW[kind]) for n, c in columns(rows).items()})


CONTAINERS: dict[str, Callable[[Table, str], Any]] = {
    "array": array,
    "array by columns": lambda rows, kind: np.asfortranarray(array(rows, kind)),
    "array of objects": lambda rows, kind: np.array(rows, object),
    "lists": lambda rows, kind: rows,
    "tuples": lambda rows, kind: tuple(map(tuple, rows)),
    "pandas": lambda rows, kind: pd.DataFrame(columns(rows)),
    "pandas objects": lambda rows, kind: pd.DataFrame(columns(rows), dtype=object),
    "pandas nullable": lambda rows, kind: pd.DataFrame(columns(rows), dtype=NULLABLE[kind]),
    "pandas Arrow": lambda rows, kind: pd.DataFrame(columns(rows)).astype(
        pd.ArrowDtype(ARROW[kind])
    ),
    "polars": lambda rows, kind: pl.DataFrame(
        columns(rows), schema={f"c{j}": POLARS[kind] for j in range(len(rows[0]))}
    ),
    "Arrow": arrow,
}
CODED: dict[str, Callable[[Table, str], Any]] = {
    "pandas categories": lambda rows, kind: pd.DataFrame(columns(rows)).astype("category"),
    "polars categories": lambda rows, kind: pl.DataFrame(columns(rows)).cast(pl.Categorical),
    "polars enum": lambda rows, kind: pl.DataFrame(columns(rows)).cast(
        pl.Enum(["red", "2", "1", "0"])
    ),
    "Arrow dictionaries": lambda rows, kind: pa.table(
        {n: pa.array(c, pa.string()).dictionary_encode() for n, c in columns(rows).items()}
    ),
}


# Few steps show as much as many.
QUICK = {
    "LogisticRegressionCV": {"Cs": 2, "cv": 2, "tol": 1e-2},
    "Mixture": {"n_init": 1, "max_iter": 5},
    "MixtureClassifier": {"n_init": 1, "max_iter": 5},
    "GaussianMixture": {"max_iter": 5},
    "KMeans": {"n_init": 1, "max_iter": 5},
    "HashingVectorizer": {"n_features": 64},
}
# Whose products of matrices round in the order in which the cells lie in memory.
ROUNDED = {"LinearDiscriminantAnalysis"}


def outcome(subject: Subject, X: Any, y: np.ndarray, **settings: Any) -> dict[str, np.ndarray]:
    """What is learned, and what is answered; nothing if the values are refused."""
    try:
        model = subject.fit(X, y, **QUICK.get(subject.name, {}), **settings)
        answers = subject.answers(model, X)
    except (TypeError, ValueError):
        return {}
    learned = {
        name: value
        for name, value in vars(model).items()
        if name.endswith("_") and isinstance(value, np.ndarray) and value.dtype.kind in "fiu"
    }
    return learned | answers


def assert_same(
    found: dict[str, np.ndarray], expected: dict[str, np.ndarray], subject: Subject
) -> None:
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if subject.name in ROUNDED and value.dtype.kind == "f":
            assert_allclose(found[name], value, rtol=1e-9, atol=1e-12, err_msg=name)
        else:
            assert_array_equal(found[name], value, err_msg=name)


def containers_of(kind: str) -> dict[str, Callable[[Table, str], Any]]:
    return CONTAINERS | (CODED if kind == "strings" else {})


GAPS = {
    "LogisticRegression": "its arrays of numbers refuse gaps, as scikit-learn's do; frames do not",
    "LogisticRegressionCV": "as LogisticRegression",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
@every(lambda subject: subject.reads != "documents")
def test_the_container_does_not_matter(subject, kind):
    rows, y = table(kind, 40, gaps=False)
    expected = outcome(subject, array(rows, kind), y)
    assert expected or kind in ("truths", "strings")
    for name, hold in containers_of(kind).items():
        if not (name in CODED and not expected):  # numbers in dictionaries are numbers' codes
            assert_same(outcome(subject, hold(rows, kind), y), expected, subject)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
@every(lambda subject: subject.reads != "documents", but=GAPS)
def test_the_container_of_missing_cells_does_not_matter(subject, kind):
    rows, y = table(kind, 40, gaps=True)
    expected = outcome(subject, array(rows, kind), y)
    for hold in CONTAINERS.values():
        assert_same(outcome(subject, hold(rows, kind), y), expected, subject)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@every(lambda subject: subject.name == "KNeighborsClassifier")
def test_the_container_of_mixed_neighbors_does_not_matter(subject, kind, gaps):
    rows, y = table(kind, 40, gaps)
    expected = outcome(subject, array(rows, kind), y, metric="mixed")
    assert expected
    for hold in containers_of(kind).values():
        assert_same(outcome(subject, hold(rows, kind), y, metric="mixed"), expected, subject)


@pytest.mark.filterwarnings("ignore")
def test_kinds_of_columns_do_not_depend_on_the_container():
    rows = [[True, "1", 1, 0.5], [False, "0", 2, None], [True, None, 3, 2.5], [None, "1", 4, 1.0]]
    kinds = {
        "array of objects": np.array(rows, object),
        "lists": rows,
        "pandas": pd.DataFrame(columns(rows)),
        "pandas nullable": pd.DataFrame(columns(rows)).convert_dtypes(),
        "polars": pl.DataFrame(columns(rows)),
        "Arrow": pa.table(columns(rows)),
    }
    expected = ["Categorical", "Categorical", "Gaussian", "Gaussian"]
    for name, X in kinds.items():
        model = NaiveBayes().fit(X, [0, 1, 0, 1])
        assert list(model.columns_["family"]) == expected, name


def test_whole_numbers_that_no_double_holds_stay_apart():
    """Identifiers, made categories by name, beside real numbers and missing cells."""
    known = {"id": [2**60, 2**60 + 1] * 10, "x": [0.5, 1.5] * 10}
    gaps = {"id": [2**60, 2**60 + 1, None, 2**60] * 5, "x": [0.5, 1.5] * 10}
    held = [
        pd.DataFrame(known),
        pd.DataFrame({"id": pd.array(gaps["id"], "Int64"), "x": gaps["x"]}),
        *(hold(table) for table in (known, gaps) for hold in (pl.DataFrame, pa.table)),
    ]
    for X in held:
        model = NaiveBayes({"id": "categorical"}).fit(X, np.arange(20) % 2)
        assert model.columns_["values"][0] == f"{2**60}, {2**60 + 1}"
    for rows in (list(zip(*known.values(), strict=True)), list(zip(*gaps.values(), strict=True))):
        model = NaiveBayes({0: "categorical"}).fit(np.array(rows, object), np.arange(20) % 2)
        assert model.columns_["values"][0] == f"{2**60}, {2**60 + 1}"


DOCUMENTS: dict[str, Callable[[list[str]], Any]] = {
    "array": np.array,
    "array of objects": lambda texts: np.array(texts, object),
    "pandas": lambda texts: pd.Series(texts),
    "pandas objects": lambda texts: pd.Series(texts, dtype=object),
    "pandas string": lambda texts: pd.Series(texts, dtype="string"),
    "pandas Arrow": lambda texts: pd.Series(texts, dtype=pd.ArrowDtype(pa.string())),
    "polars": lambda texts: pl.Series(texts),
    "Arrow": lambda texts: pa.array(texts),
    "Arrow chunks": lambda texts: pa.chunked_array([texts[:7], texts[7:]]),
}


@every(lambda subject: subject.reads == "documents")
def test_the_container_of_documents_does_not_matter(subject):
    texts, y = subject.table(np.random.default_rng(0), 40)
    expected = outcome(subject, texts, y)
    assert expected
    for hold in DOCUMENTS.values():
        assert_same(outcome(subject, hold(texts), y), expected, subject)


# ---- what is no table says what to pass instead ----


@pytest.mark.filterwarnings("ignore")
@every(lambda subject: subject.reads != "documents")
def test_a_single_row_or_column_of_a_frame_is_refused_with_the_remedy(subject):
    rows, y = table("wholes", 20, gaps=False)
    frame = pd.DataFrame(columns(rows))
    model = subject.fit(frame, y, **QUICK.get(subject.name, {}))
    ask = model.predict if hasattr(model, "predict") else model.transform
    remedies = {
        r"frame\.iloc\[\[0\]\]": frame.iloc[0],
        r"frame\.select": pl.from_pandas(frame)["c0"],
        r"table\.slice": pa.array([1, 2]),
        r"pandas\.DataFrame\(\[row\]\)": dict(frame.iloc[0]),
    }
    for remedy, given in remedies.items():
        with pytest.raises((TypeError, ValueError), match=remedy):
            ask(given)


@every(lambda subject: subject.reads != "documents")
def test_texts_are_not_taken_for_paths(subject):
    texts = ["some text", "other words"] * 10
    with pytest.raises((FileNotFoundError, ValueError), match="TextClassifier reads documents"):
        subject.make().fit(texts, np.arange(20) % 2)


@pytest.mark.filterwarnings("ignore")
@every(lambda subject: subject.reads != "documents")
def test_a_word_among_numbers_is_refused_with_what_the_model_has(subject):
    rows, y = table("wholes", 20, gaps=False)
    model = subject.fit(pd.DataFrame(columns(rows)), y, **QUICK.get(subject.name, {}))
    ask = model.predict if hasattr(model, "predict") else model.transform
    strange = pd.DataFrame(columns(rows)).astype(object)
    strange.iloc[3, 0] = "old"
    with pytest.raises((TypeError, ValueError), match=r"column 'c0'") as refused:
        ask(strange)
    owners = [NaiveBayes()] if subject.name in ("Classifier", "MixtureClassifier") else [model]
    if subject.name == "Pool":  # it is a member that refuses
        owners = list(model.fitted_.members)
    known = {name for owner in owners for name in owner.get_params()}
    for parameter in ("families", "categories", "metric"):
        assert f"{parameter}=" not in str(refused.value) or parameter in known


# ---- and costs about the same ----


def best(calls: dict[str, Callable[[], Any]], rounds: int = 5) -> dict[str, float]:
    """Seconds of each call, at its best; they take turns, since others use the machine as well."""
    seconds = dict.fromkeys(calls, np.inf)
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    return seconds


OBJECTS = {"array of objects", "lists", "pandas objects"}
SLACK = 0.1  # seconds; reading cell by cell took fifteen times as long


@pytest.mark.once
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (NaiveBayes(), "numbers"),
        (NaiveBayes(), "truths"),
        (NaiveBayes(), "strings"),
        (GaussianNB(), "wholes"),
        (BernoulliNB(), "truths"),
        (AODE(), "truths"),
        (LogisticRegression(max_iter=2), "truths"),
    ],
    ids=repr,
)
def test_no_container_takes_three_times_as_long_as_another(model, kind):
    """Python's objects may take as long again as NumPy needs to look at them."""
    rows, y = table(kind, 100_000, gaps=False)
    held = {name: hold(rows, kind) for name, hold in CONTAINERS.items() if name != "tuples"}
    calls = {name: partial(model.fit, X, y) for name, X in held.items()}
    seconds = best(calls | {"look": partial(np.asarray, rows)})
    look = seconds.pop("look")
    fastest = min(seconds.values())
    for name, taken in seconds.items():
        objects = name in OBJECTS or (name.startswith("array") and kind == "strings")
        assert taken <= 3 * (fastest + objects * look) + SLACK, (name, seconds, look)


@pytest.mark.once
@pytest.mark.slow
def test_a_wide_table_is_planned_once():
    X = np.random.default_rng(0).normal(size=(200, 10_000))
    y = np.arange(200) % 2
    mixed, plain = NaiveBayes().fit(X, y), GaussianNB().fit(X, y)
    fit = best({"mixed": partial(mixed.fit, X, y), "plain": partial(plain.fit, X, y)})
    assert fit["mixed"] <= 3 * fit["plain"] + SLACK, fit
    row = X[:1]
    answer = best({"mixed": partial(mixed.predict, row), "plain": partial(plain.predict, row)})
    assert answer["mixed"] <= 3 * answer["plain"] + SLACK / 10, answer
