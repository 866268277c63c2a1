"""Additive: boosted tables, compared with a textbook loop, and what its answers are made of."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, log_softmax, logit

import posterior
from posterior import Additive, ModelFileError
from posterior.data.errors import NotFiniteError
from posterior.discriminative.additive.boosting import (
    GENTLE,
    SHARP,
    Pace,
    Progress,
    prior,
)
from posterior.discriminative.additive.cell_rows import FOLDS, CellRows
from posterior.engines.local import Local

# Trees of NumPy are those of the compiled kernels to the bit (laws/test_boosting_twins.py), and
# take thirty times as long.
twice_is_slow = pytest.mark.once
RANDOM = np.random.default_rng(7)
N = 240
X = RANDOM.normal(size=(N, 3)).round(1)
Y = (X[:, 0] + X[:, 1] * X[:, 2] + RANDOM.normal(size=N) > 0).astype(int)
CITIES = np.array(["Rome", "Oslo", "Ys"])[RANDOM.integers(0, 3, N)]
FRAME = pd.DataFrame(
    {
        "size": np.where(RANDOM.random(N) < 0.1, np.nan, X[:, 0]),
        "city": np.where(RANDOM.random(N) < 0.1, None, CITIES),
        "visits": RANDOM.poisson(2.0, N),
    }
)
KINDS = np.where(CITIES == "Rome", "south", np.where(X[:, 0] > 0, "north", "far"))
MANY = pd.DataFrame({f"c{j}": RANDOM.integers(0, 4, N) for j in range(7)})


@pytest.fixture
def random():
    return np.random.default_rng(3)


def few(**settings) -> Additive:
    """A model of few rounds, for what does not depend on their number."""
    return Additive(**{"rounds": 30} | settings)


def told(model, table=X):
    """All that a model says, to the last bit."""
    fitted = model.fitted_
    return (
        model.decision_function(table).tobytes(),
        model.predict_proba(table).tobytes(),
        model.intercept_.tobytes(),
        fitted.terms.values.tobytes(),
        fitted.terms.group.tobytes(),
        model.n_rounds_,
        model.pace_,
    )


# ---- what it learns ----


def parity(n_columns):
    """All cells of some columns of 0 and 1, and whether their sum is odd."""
    cells = np.array(list(product([0, 1], repeat=n_columns)))
    return cells, cells.sum(axis=1) % 2


@twice_is_slow
@pytest.mark.parametrize("n_columns", [2, 3])
def test_parity_of_columns_that_tell_nothing_alone_is_learned(n_columns, random):
    cells, odd = parity(n_columns)
    rows, wrong = random.integers(0, len(cells), 400), random.random(400) < 0.05
    model = Additive().fit(cells[rows], odd[rows] ^ wrong)
    assert (model.predict_proba(cells)[np.arange(len(cells)), odd] > 0.85).all()
    assert tuple(range(n_columns)) in model.terms_


def test_parity_of_three_columns_is_no_sum_of_pairs():
    cells, odd = parity(3)
    rows = np.repeat(np.arange(8), 50)  # equally many of each: no pair of columns tells anything
    model = Additive(depth=2, rounds=50).fit(cells[rows], odd[rows])
    assert_allclose(model.predict_proba(cells), 0.5, atol=1e-9)


def textbook(rows: CellRows, sizes, ordered, rate, shrinkage, depth, rounds):
    """Newton boosting of symmetric trees as a book has it: every cut is tried, in plain floats."""
    codes, y, w = rows.codes, rows.labels, rows.weight
    score, trees = np.full(len(y), logit((w[y == 1].sum() + 0.5) / (w.sum() + 1))), []
    for _ in range(rounds):
        p = expit(score)
        g, h = w * (p - y), w * p * (1 - p)
        leaf, tree = np.zeros(len(y), int), []
        for _ in range(depth):
            best, taken = -1.0, None
            for j, size in enumerate(sizes):
                cuts = [np.arange(size) <= t for t in range(size - 1)]
                if ordered[j] and (codes[j] == 0).any():  # missing cells may go right as well
                    cuts += [cut & (np.arange(size) > 0) for cut in cuts[1:]]
                if not ordered[j]:
                    cuts = list(np.eye(size, dtype=bool))
                for left in cuts:
                    split = 2 * leaf + ~left[codes[j]]
                    G, H = np.bincount(split, g), np.bincount(split, h)
                    gain = (G**2 / (H + shrinkage)).sum()
                    if gain > best + 1e-9:  # of equal gains the first
                        best, taken = gain, (j, left, split)
            j, left, leaf = taken
            tree.append((j, left))
        G, H = np.bincount(leaf, g, 2**depth), np.bincount(leaf, h, 2**depth)
        score = score - (rate * G / (H + shrinkage))[leaf]
        trees.append(tree)
    return trees, score


def some_rows(missing):
    """Two columns of numbers and one of categories, as cells."""
    random = np.random.default_rng(11)
    sizes, ordered = np.array([7, 5, 4], np.int32), np.array([1, 1, 0], np.uint8)
    codes = np.stack([random.integers(0 if missing else 1, s, 300) for s in sizes])
    y = (codes[0] + 2 * (codes[2] == 2) + random.normal(0, 1.5, 300) > 4).astype(np.int32)
    return CellRows.of(codes.astype(np.uint8), y, random.uniform(0.5, 3, 300), 2), sizes, ordered


@pytest.mark.parametrize("missing", [True, False])
def test_boosting_without_chance_is_that_of_the_textbook(missing):
    rows, sizes, ordered = some_rows(missing)
    fit = Progress(
        *(rows, rows.weighing(np.zeros(len(rows))), sizes, ordered),
        *(Pace("plain", rate=0.3, shrinkage=0.7), 3, prior(rows)),
    )
    fit.advance(12)
    trees, score = textbook(rows, sizes, ordered, 0.3, 0.7, 3, 12)
    for ours, plain in zip(fit.trees, trees, strict=True):
        assert ours.columns.tolist() == [j for j, _ in plain]
        for side, (j, left) in zip(ours.sides, plain, strict=True):
            assert_array_equal(side[: sizes[j]], ~left)
    found = np.tile(prior(rows), (len(rows), 1))
    for tree in fit.trees:
        tree.add_to(rows.codes, found)
    assert_allclose(found[:, 0], score, atol=1e-9)  # whole numbers of 2⁻⁴⁰ round by 1e-12


@twice_is_slow
def test_the_loss_at_the_chosen_round_is_that_of_the_folds_fitted_anew():
    model = Additive().fit(X, Y)
    fitted, losses = model.fitted_, model.held_out_
    pace = {"gentle": GENTLE, "sharp": SHARP}[model.pace_]
    total, weights = 0.0, []
    for part in fitted.rows.dealt(FOLDS):
        kept, out = (fitted.rows.weighing(w) for w in (fitted.rows.weight - part, part))
        given = fitted.reader.sizes, fitted.reader.ordered
        fit = Progress(kept, kept.weighing(0 * kept.weight), *given, pace, 3, prior(kept))
        fit.advance(model.n_rounds_)
        score = np.tile(prior(kept), (len(out), 1))
        for tree in fit.trees:
            tree.add_to(out.codes, score)
        log_p = log_softmax(np.column_stack([np.zeros(len(out)), score]), axis=1)
        total -= (out.weight * log_p[np.arange(len(out)), out.labels]).sum()
        weights.append(out.weight.sum())
    here = (losses["pace"] == model.pace_) & (losses["round"] == model.n_rounds_)
    assert_allclose(losses["log_loss"][here], total / N, rtol=1e-12)
    assert losses["log_loss"].min() == losses["log_loss"][here]
    assert_allclose(weights, N / FOLDS)  # every row is held out once


# ---- evidence and tables ----

CASES = {
    "two classes": (few(), X, Y),
    "three classes": (few(), FRAME, KINDS),
    "pairs": (few(depth=2), FRAME, Y),
    "one by one": (few(depth=1), FRAME, KINDS),
    "four columns a term": (few(depth=4), MANY, Y),
    "six columns a term": (few(depth=6, rate=0.2, rounds=10), MANY, KINDS),
}
TABLES = {name: case for name, case in CASES.items() if case[0].depth <= 3}
each_case = pytest.mark.parametrize(("model", "table", "y"), CASES.values(), ids=CASES.keys())
each_table = pytest.mark.parametrize(("model", "table", "y"), TABLES.values(), ids=TABLES.keys())


@each_case
def test_evidence_adds_up_to_the_scores(model, table, y):
    model.fit(table, y)
    score = model.decision_function(table)
    joint = model.evidence(table).log_joint()
    shown = joint[:, 1] - joint[:, 0] if joint.shape[1] == 2 else joint
    assert_allclose(shown, score, atol=1e-9)


@each_table
def test_tables_are_zero_on_average_over_any_column(model, table, y):
    fitted = model.fit(table, y).fitted_
    assert len(fitted.terms) > 0
    for t in range(len(fitted.terms)):
        term = fitted.terms[t]
        for axis, (j, group) in enumerate(zip(term.columns, term.groups, strict=True)):
            weight = np.bincount(group[:-1], fitted.cell_weight[j], term.table.shape[axis])
            mean = np.tensordot(weight / weight.sum(), term.table, (0, axis))
            assert np.abs(mean).max() < 1e-9


def test_purified_tables_are_the_same_sum_as_the_trees():
    model = few().fit(FRAME, KINDS)
    fitted, score = model.fitted_, model.decision_function(FRAME)
    pace = {"gentle": GENTLE, "sharp": SHARP}[model.pace_]
    given = fitted.reader.sizes, fitted.reader.ordered, pace, 3, prior(fitted.rows)
    fit = Progress(fitted.rows, fitted.rows.weighing(0 * fitted.rows.weight), *given)
    fit.advance(model.n_rounds_)
    plain = np.tile(prior(fitted.rows), (N, 1))
    codes = fitted.reader.codes(fitted.reader.read(FRAME))
    for tree in fit.trees:
        tree.add_to(codes, plain)
    assert_allclose(score, plain, atol=1e-9)


@each_case
def test_what_was_never_seen_adds_nothing(model, table, y):
    """A word or a code that no row had, where none is so rare that they share a cell."""
    name = list(table)[1] if isinstance(table, pd.DataFrame) else None
    if name is None:
        table, name = pd.DataFrame(table, columns=list("abc")).assign(b=CITIES), "b"
    model = model.set_params(categories=[name]).fit(table, y)
    unseen = "Atlantis" if table[name].dtype.kind not in "if" else 99
    evidence = model.evidence(table[:20].assign(**{name: unseen}))
    names = [str(n).split(" × ") for n in evidence.feature_names]
    of_column = [name in parts for parts in names]
    assert sum(of_column) > 0
    if model.fitted_.by_table:
        assert (evidence.terms[:, :, of_column] == 0).all()
    else:  # by path: the column itself, whatever came before it
        assert np.abs(evidence.terms[:, :, of_column]).max() < 1e-9


def test_evidence_by_path_names_columns_one_by_one():
    evidence = few(depth=5).fit(MANY, Y).evidence(MANY[:3])
    assert evidence.feature_names.tolist() == list(MANY)


def test_explanations_show_pairs_and_triples():
    model = few().fit(FRAME, KINDS)
    names = [" × ".join(map(str, term)) for term in model.terms_]
    evidence = model.evidence(FRAME[:1])
    assert set(names) <= set(evidence.feature_names.tolist())
    assert any(len(term) == 2 for term in model.terms_)


# ---- settings ----


@pytest.mark.parametrize(("labels", "outputs"), [(Y, 1), (KINDS, 3)])
def test_parameters_are_counted_once_for_each_output(labels, outputs):
    """One cut: two numbers and a constant."""
    assert Additive(depth=1, rounds=1).fit(X, labels).n_parameters_ == 3 * outputs


def test_rounds_are_as_many_as_asked():
    assert few(rounds=17).fit(X, Y).n_rounds_ == 17
    assert len(Additive(rounds=17).fit(X, Y).held_out_) == 2 * 17  # at both paces


def test_the_rate_is_how_much_of_a_tree_is_added():
    start = np.log((Y.sum() + 0.5) / (N - Y.sum() + 0.5))
    one, two = (few(rounds=1, rate=rate).fit(X, Y) for rate in (0.1, 0.2))
    assert one.pace_ == two.pace_
    first, second = (model.decision_function(X) - start for model in (one, two))
    assert_allclose(second, 2 * first, atol=1e-12)
    assert np.abs(first).max() > 0.01


def test_much_shrinkage_leaves_the_shares_of_the_classes():
    share = (Y.sum() + 0.5) / (N + 1)
    found = few(shrinkage=1e12).fit(X, Y).predict_proba(X)[:, 1]
    assert_allclose(found, share, atol=1e-8)


@pytest.mark.parametrize("cells", [2, 5, 126])
def test_cells_are_as_many_as_asked(cells, random):
    column = np.arange(500.0)[:, None]
    y = random.random(500) < column[:, 0] / 500
    model = few(cells=cells, depth=1, rounds=100, rate=0.1).fit(column, y)
    different = len(np.unique(model.decision_function(column)))
    assert different == cells if cells <= 5 else 5 < different <= cells


def test_codes_are_categories_if_asked(random):
    codes = random.integers(0, 9, (400, 2))
    y = (codes[:, 0] == 4).astype(int)
    apart = few(depth=1, rounds=1, categories=[0]).fit(codes, y)
    assert apart.kinds_ == ("category", "number")
    assert few(categories=True).fit(codes, y).kinds_ == ("category", "category")
    score = apart.decision_function(np.column_stack([np.arange(9), np.zeros(9)]))
    assert score.argmax() == 4
    assert len(np.unique(score)) == 2  # one against the rest, where numbers have an order


@pytest.mark.parametrize(
    "settings",
    [
        *({"depth": 0}, {"depth": 7}, {"rounds": 0}, {"rate": 0}, {"rate": 1.5}),
        *({"shrinkage": 0}, {"cells": 1}, {"cells": 300}, {"categories": 3}),
    ],
    ids=str,
)
def test_settings_out_of_range_are_named(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        Additive(**settings).fit(X, Y)


def test_categories_that_are_no_columns_are_named():
    with pytest.raises(ValueError, match=r"columns of .*'city'.*got \['town'\]"):
        few(categories=["town"]).fit(FRAME, Y)


# ---- laws ----


@twice_is_slow
def test_the_order_of_rows_does_not_matter(random):
    model = told(few().fit(FRAME, KINDS), FRAME)
    shuffled = random.permutation(N)
    by_class = np.argsort(KINDS, kind="stable")
    for order in (shuffled, by_class, np.arange(N)[::-1]):
        assert told(few().fit(FRAME.iloc[order], KINDS[order]), FRAME) == model


@twice_is_slow
def test_the_number_of_threads_does_not_matter(monkeypatch):
    found = []
    for n in (1, 2, 4):
        monkeypatch.setattr(Additive, "engine_", Local(threads=n, chunk_rows=64))
        found.append(told(Additive().fit(X, Y)))
    assert found[0] == found[1] == found[2]


@twice_is_slow
def test_a_row_of_weight_two_is_two_rows(random):
    weight = random.integers(0, 4, N)
    again = np.repeat(np.arange(N), weight)
    heavy = Additive(rounds=60).fit(X, Y, sample_weight=weight)
    many = Additive(rounds=60).fit(X[again], Y[again])
    assert told(heavy) == told(many)
    assert_array_equal(heavy.held_out_["log_loss"], many.held_out_["log_loss"])


def test_rows_of_no_weight_do_not_count():
    """Nor do the values that only they have."""
    more = pd.concat([FRAME, pd.DataFrame({"size": [1e9], "city": ["Rome"], "visits": [77]})])
    weight = np.append(np.ones(N), 0.0)
    model = few().fit(more, np.append(KINDS, "far"), sample_weight=weight)
    assert told(model, FRAME) == told(few().fit(FRAME, KINDS), FRAME)


@pytest.mark.parametrize("factor", [1e-200, 0.01, 3.0, 2.0**40, 1e200])
def test_units_do_not_matter(factor):
    """Cells are cut halfway between values: rounding aside, where no value is."""
    plain, scaled = few().fit(X, Y), few().fit(X * factor, Y)
    assert told(plain, X) == told(scaled, X * factor)


def test_a_monotone_change_of_a_column_does_not_matter():
    changed = np.column_stack([np.exp(X[:, 0]), X[:, 1] ** 3, np.arctan(X[:, 2])])
    assert told(few().fit(X, Y), X) == told(few().fit(changed, Y), changed)


def test_names_of_classes_do_not_matter():
    named = few().fit(X, np.array(["a", "b"])[Y])
    assert told(named) == told(few().fit(X, Y))
    assert_array_equal(named.predict(X), np.array(["a", "b"])[few().fit(X, Y).predict(X)])


def test_classes_in_another_order_have_the_same_probabilities():
    """To 1e-9: sums of scores of other signs round otherwise."""
    ours, turned = few().fit(X, Y), few().fit(X, 1 - Y)
    assert ours.pace_ == turned.pace_
    assert_allclose(turned.predict_proba(X)[:, ::-1], ours.predict_proba(X), atol=1e-9)


def test_rows_are_answered_one_by_one_as_together():
    model = few().fit(FRAME, KINDS)
    together = model.predict_proba(FRAME)
    one_by_one = [model.predict_proba(FRAME[i : i + 1])[0] for i in range(N)]
    assert_array_equal(np.array(one_by_one), together)


def test_missing_cells_that_tell_the_class_are_told_from_values(random):
    gap = random.random(N) < 0.4
    table = np.where(gap, np.nan, X[:, 0])[:, None]
    model = few(depth=1).fit(table, gap)
    assert (model.predict(table) == gap).all()


def test_columns_of_all_types_are_read():
    table = pd.DataFrame(
        {
            "truth": X[:, 0] > 0,
            "word": CITIES,
            "kind": pd.Categorical(CITIES),
            "whole": pd.array(np.where(X[:, 1] > 1, None, X[:, 1] // 1), dtype="Int64"),
            "perhaps": pd.array(np.where(X[:, 1] > 1, None, X[:, 1] > 0), dtype="boolean"),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(N), unit="D"),
            "same": 1.0,
            "none": np.nan,
        }
    )
    model = few().fit(table, Y)
    category, number = "category", "number"
    kinds = (category, category, category, number, category, number, number, number)
    assert model.kinds_ == kinds
    assert_array_equal(model.predict_proba(table), few().fit(table, Y).predict_proba(table))


# ---- hard data ----


def test_a_column_that_never_varies_says_nothing():
    """All rows are answered alike, by about the shares of the classes."""
    found = few().fit(np.ones((N, 1)), Y).predict_proba([[1.0], [5.0]])
    assert_array_equal(found[0], found[1])
    assert_allclose(found[0, 1], Y.mean(), atol=0.5 / N)


def test_two_hundred_thousand_kinds_share_cells(random):
    n = 200_000
    table = pd.DataFrame({"id": np.arange(n), "x": random.normal(size=n)})
    y = table["x"].to_numpy() > 0
    model = Additive(rounds=3, categories=["id"]).fit(table, y)
    assert model.fitted_.reader.sizes[0] <= 255
    assert model.score(table[:1000], y[:1000]) > 0.99


@twice_is_slow
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_few_rows_have_an_answer(n):
    model = Additive().fit(X[:n], np.arange(n) % 2)
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.held_out_ is not None


def test_classes_of_one_row_have_an_answer():
    shares = few().fit(X[:9], np.arange(9)).predict_proba(X[:9])
    assert_allclose(shares.sum(axis=1), 1.0)


@pytest.mark.parametrize("weight", [1e-300, 1e-9, 1e9, 1e99])
def test_weights_of_any_size_have_an_answer(weight):
    model = few().fit(X, Y, sample_weight=np.full(N, weight))
    if weight > 1:
        assert model.score(X, Y) > 0.8
    else:  # against rows of weight one, by which leaves are shrunk, they say nothing
        assert_allclose(model.predict_proba(X), 0.5, atol=1e-3)


def test_weights_that_cannot_be_squared_are_named():
    weight = np.ones(N)
    weight[5] = 1e200
    with pytest.raises(ValueError, match=r"up to 1e\+100, got 1e\+200 at row 5"):
        few().fit(X, Y, sample_weight=weight)


def test_infinite_cells_are_named():
    table = FRAME.assign(visits=np.where(np.arange(N) == 3, np.inf, 1.0))
    with pytest.raises(NotFiniteError, match=r"row 3, column 'visits'"):
        few().fit(table, Y)
    with pytest.raises(NotFiniteError, match=r"row 3, column 'visits'"):
        few().fit(FRAME, Y).predict(table)


def test_one_class_is_refused_and_leaves_the_model_as_it_was():
    model = few().fit(X, Y)
    before = told(model)
    with pytest.raises(ValueError, match="one class"):
        model.fit(X, np.zeros(N))
    with pytest.raises(ValueError, match="one class"):
        model.fit(X, Y, sample_weight=Y)
    assert told(model) == before


# ---- files ----


@pytest.mark.parametrize("way", ["pickle", "file"])
def test_no_rows_are_stored(way, tmp_path):
    model = few().fit(FRAME, KINDS)
    if way == "pickle":
        loaded = pickle.loads(pickle.dumps(model))
    else:
        posterior.save(model, tmp_path / "a")
        loaded = posterior.load(tmp_path / "a")
    assert loaded.fitted_.rows is None
    assert told(loaded, FRAME) == told(model, FRAME)
    assert str(loaded.explain(FRAME[:1])) == str(model.explain(FRAME[:1]))
    assert str(loaded.held_out_) == str(model.held_out_)


def test_a_file_is_answered_as_its_table(tmp_path):
    model = few().fit(FRAME, KINDS)
    FRAME.to_parquet(tmp_path / "rows.parquet")
    assert model.predict_file(tmp_path / "rows.parquet", tmp_path / "out.parquet") == N
    answers = pd.read_parquet(tmp_path / "out.parquet")
    assert_array_equal(answers["predicted"], model.predict(FRAME))
    shares = answers[[f"p_{name}" for name in model.classes_]].to_numpy()
    assert_array_equal(shares, model.predict_proba(FRAME))


def test_rows_in_a_file_are_not_taken(tmp_path):
    """What is never stored cannot come from a file that somebody made."""
    from posterior.storage.value_tree import Reader, Writer

    writer = Writer()
    fitted = few().fit(FRAME, KINDS).fitted_
    state = {n: writer.node(v) for n, v in few().get_params().items()}
    node = {"class": ["estimators.Additive", state | {"fitted_": writer.node(fitted)}]}
    assert Reader(writer.tensors, writer.arrays).value(node).fitted_.rows is None
    broken = {"class": ["estimators.Additive", state | {"fitted_": writer.node(fitted.reader)}]}
    with pytest.raises(ModelFileError):
        Reader(writer.tensors, writer.arrays).value(broken)
