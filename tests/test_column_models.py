"""Columns of many values, and texts beside others: models of their own make numbers of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import posterior
from posterior import Classifier
from posterior.estimators.pool.value_shares import PSEUDO_ROWS, ValueShares

pytestmark = pytest.mark.once

QUICK = ["naive-bayes", "logistic"]
MAKES = [f"make {i}" for i in range(70)]


def drawn(n: int, seed: int, k: int = 2) -> pd.DataFrame:
    """Makes have a class that they mostly are of, and titles a word that tells; size is noise."""
    random = np.random.default_rng(seed)
    make = random.integers(len(MAKES), size=n)
    y = np.where(random.random(n) < 0.85, make % k, random.integers(k, size=n))
    word = np.array(["Mr.", "Mrs.", "Dr."])[np.where(random.random(n) < 0.8, y, (y + 1) % k)]
    title = [f"{w} {'abcdefghij'[m % 10]}. Smith" for w, m in zip(word, make, strict=True)]
    names = [f"{t} {chr(97 + i % 26)}{chr(97 + i // 26 % 26)}q" for i, t in enumerate(title)]
    cells = {"make": [MAKES[m] for m in make], "name": names, "size": random.normal(size=n)}
    return pd.DataFrame(cells).assign(y=[f"c{each}" for each in y])


TWO, THREE = drawn(600, 0), drawn(600, 1, 3)


def test_shares_are_counts_drawn_towards_those_of_all() -> None:
    cells, codes = ["a", "a", "b", None, "a"], np.array([0, 1, 1, 0, 0], np.int32)
    shares = ValueShares.learn(cells, codes, 2, None)
    m, prior = shares.pseudo_rows, np.array([2.5, 2.5]) / 5  # of the cells that are known
    expected = np.array([(2 + m * prior[0]) / (3 + m), (0 + m * prior[0]) / (1 + m), prior[0]])
    assert_allclose(np.exp(shares.log_proba(["a", "b", "new"]))[:, 0], expected, rtol=1e-12)


def test_pseudo_rows_are_those_of_least_loss_when_each_row_is_left_out() -> None:
    random = np.random.default_rng(3)
    cells = [f"v{i}" for i in random.integers(40, size=300)]
    codes = (random.random(300) < 0.3).astype(np.int32)
    shares = ValueShares.learn(cells, codes, 2, None)
    prior = (np.bincount(codes) + 0.5) / 301

    def loss(m: float) -> float:
        total = 0.0
        for i, cell in enumerate(cells):
            others = [c for j, c in enumerate(codes) if cells[j] == cell and j != i]
            own = sum(c == codes[i] for c in others)
            total -= np.log((own + m * prior[codes[i]]) / (len(others) + m))
        return total

    assert shares.pseudo_rows == min(PSEUDO_ROWS, key=loss)


def test_rows_that_are_taken_back_leave_the_shares_of_the_others() -> None:
    cells = ["a", "b", "a", "c"]
    codes = np.array([0, 1, 1, 1], np.int32)
    rest = ValueShares.learn(cells, codes, 2, None).without(cells[2:], codes[2:], None)
    assert_array_equal(rest.counts.sum(axis=1), [1, 1, 0])


@pytest.mark.parametrize("table", [TWO, THREE], ids=["two classes", "three classes"])
def test_what_columns_say_adds_up(table: pd.DataFrame) -> None:
    model = Classifier(models=[*QUICK, "additive"]).fit(table, "y")
    found = model.evidence(table)
    scores = found.log_joint()
    expected = model.predict_log_proba(table)
    assert_allclose(
        scores - scores[:, :1], expected - expected[:, :1], rtol=0, atol=1e-8
    )  # sums of a hundred terms
    plain = {name for name in found.feature_names if "×" not in name}
    assert {"make", "name"} <= plain <= {"make", "name", "size", *model.members_}


@pytest.mark.parametrize("table", [TWO, THREE], ids=["two classes", "three classes"])
def test_new_rows_are_told_by_many_values_and_words(table: pd.DataFrame) -> None:
    k = table["y"].nunique()
    new = drawn(400, 9, k)
    model = Classifier(models=QUICK).fit(table, "y")
    plain = Classifier(models=QUICK).fit(table[["size", "y"]], "y")
    assert model.score(new, new["y"]) > 0.8 > 0.6 > plain.score(new, new["y"])
    held_out = float(np.exp(-model.held_out_.log_loss))
    fresh = model.predict_log_proba(new)[np.arange(len(new)), new["y"].str[1].astype(int)].mean()
    assert_allclose(held_out, np.exp(fresh), atol=0.06)  # 400 rows: two standard errors


def test_values_without_meaning_are_found_silent() -> None:
    random = np.random.default_rng(5)
    n = 400
    table = pd.DataFrame(
        {
            "code": [f"v{i}" for i in random.integers(150, size=n)],
            "size": random.normal(size=n),
            "y": random.integers(2, size=n),
        }
    )
    model = Classifier(models=QUICK).fit(table, "y")
    assert model.held_out_.log_loss > np.log(2) - 0.01
    assert model.feature_names_in_.tolist() == ["size"]


def test_a_missing_cell_may_speak() -> None:
    random = np.random.default_rng(6)
    n, y = 400, random.integers(2, size=400)
    known = random.random(n) < 0.2 + 0.6 * y
    cabin = [f"C{i % 90}" if there else None for i, there in enumerate(known)]
    table = pd.DataFrame({"cabin": cabin, "y": y})
    table["size"] = random.normal(size=n)
    model = Classifier(models=QUICK).fit(table, "y")
    gap = pd.DataFrame({"cabin": [None], "size": [0.0]})
    assert model.predict(gap).tolist() == [0]
    assert model.score(table, y) > 0.7


def test_values_and_words_never_seen_leave_the_shares_of_the_classes() -> None:
    model = Classifier(models=["logistic"]).fit(TWO, "y")
    row = pd.DataFrame({"make": ["%%%"], "name": ["%%% %%%"], "size": [0.0]})
    assert_allclose(model.predict_proba(row), 0.5, atol=0.1)


def test_a_row_alone_is_answered_as_among_others() -> None:
    model = Classifier(models=QUICK).fit(THREE, "y")
    many = model.predict_proba(THREE[:5])
    for i in range(5):
        assert_allclose(model.predict_proba(THREE[i : i + 1])[0], many[i], rtol=1e-12)


def test_the_order_of_rows_does_not_matter() -> None:
    other = TWO.sample(frac=1, random_state=1)
    first, second = (Classifier(models=QUICK).fit(rows, "y") for rows in (TWO, other))
    assert_array_equal(first.predict_proba(TWO), second.predict_proba(TWO))


def test_a_saved_model_answers_the_same(tmp_path: Path) -> None:
    model = Classifier(models=QUICK).fit(THREE, "y")
    posterior.save(model, tmp_path / "m.posterior")
    again = posterior.load(tmp_path / "m.posterior")
    assert_array_equal(again.predict_proba(THREE), model.predict_proba(THREE))
    assert str(again.explain(THREE[:1])) == str(model.explain(THREE[:1]))


def places(n: int) -> pd.DataFrame:
    """The rows of a grid of many classes by two numbers, and names that say next to nothing."""
    random = np.random.default_rng(5)
    x, z = random.random((2, n)) * [[6.0], [4.0]]
    cell = (4 * x.astype(int) + z.astype(int)).astype(str)
    parts = [random.choice(["Bay", "Old", "Fort", "Lake", "Mount", "New"], n) for _ in range(2)]
    name = [f"{a} {b}ville {i}" for i, (a, b) in enumerate(zip(*parts, strict=True))]
    name = [
        f"{text} {c}th" if i % 8 == 0 else text
        for i, (text, c) in enumerate(zip(name, cell, strict=True))
    ]
    return pd.DataFrame({"name": name, "x": x, "z": z, "y": [f"c{c}" for c in cell]})


def test_names_that_speak_of_many_classes_do_not_bury_the_other_columns(tmp_path: Path) -> None:
    table, new = places(900), places(1_100)[900:]
    model = Classifier(models=["naive-bayes", "discriminant", "neighbors"]).fit(table, "y")
    assert model.score(new.drop(columns="y"), new["y"]) > 0.85
    read = {name: set(member.feature_names_in_) for name, member in model.members_.items()}
    assert read["Nearest neighbors"] == {"x", "z"}  # not 23 numbers of each name
    assert all({"x", "z"} < columns for name, columns in read.items() if "Near" not in name)
    row = new.drop(columns="y").iloc[[3]]
    together = model.predict_proba(new.drop(columns="y"))[3]
    assert_array_equal(model.predict_proba(row)[0], together)
    posterior.save(model, tmp_path / "model.posterior")
    again = posterior.load(tmp_path / "model.posterior")
    assert_array_equal(again.predict_proba(row)[0], together)


def test_pools_that_read_otherwise_do_not_merge() -> None:
    one, other = (Classifier(models=["naive-bayes"]).fit(rows, "y") for rows in (TWO, TWO[::2]))
    with pytest.raises(ValueError, match="'make', 'name'"):
        one.merge(other)
    before = one.predict_proba(TWO)
    one.partial_fit(TWO[:50], TWO["y"][:50])
    assert not np.array_equal(before, one.predict_proba(TWO))
