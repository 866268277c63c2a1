"""Classifiers of dependent columns: by hand, by brute force, and by refitting."""

from __future__ import annotations

import json
import runpy
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import posterior
from posterior import AODE, KDB, TAN, BackOff, CategoricalNB, Laplace, MEstimate, kernels
from posterior.data.rows import CodedRows, Hard
from posterior.estimators.dependence import base
from posterior.families.dependence.dependence_graph import in_order, k_dependence, spanning_tree
from posterior.kernels.reference import dependence as twin
from posterior.statistics.information import conditional_mutual_information, mutual_information
from posterior.statistics.pair_counts import PairCounts
from posterior.statistics.tuple_counts import TupleCounts

MODELS = [AODE(), AODE(weighted=True), AODE(smoothing=Laplace(1.0)), TAN(), KDB(1), KDB(3)]
each_model = pytest.mark.parametrize("model", MODELS, ids=repr)


def fresh(model):
    return type(model)(**model.get_params())


def settled(model, X, y):
    """The same with all that a fit chooses, as these rows choose it."""
    found = fresh(model).fit(X, y)
    chosen = {"bins": found.cut_points_, "smoothing": found.smoothing_}
    if isinstance(model, KDB):
        chosen["structure"] = found.structure_
    return fresh(model).set_params(**chosen)


def table(n=120, seed=0, missing=0.08):
    """Categories that depend on each other, a column of numbers, and missing cells."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, n)
    a = (y + random.integers(0, 2, n)) % 3
    b = (a * (y + 1) + random.integers(0, 2, n)) % 4
    c = random.integers(0, 3, n)
    frame = pd.DataFrame({"a": a, "b": b, "c": c, "d": (b + c) % 3}).astype(str)
    frame["size"] = np.round(b + y + random.normal(size=n), 1)
    holes = random.random(frame.shape) < missing
    return frame.mask(holes), np.array(["x", "y", "z"])[y]


FRAME, Y = table()


# counts


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int16, np.uint8])
@pytest.mark.parametrize("order", ["C", "F"])
def test_pairs_are_counted_as_the_twin_counts_them(dtype, order):
    random = np.random.default_rng(1)
    lowest = 0 if dtype is np.uint8 else -2  # missing cells
    X = np.asarray(random.integers(lowest, 70, (9_000, 5)), dtype, order)
    codes = random.integers(-1, 3, len(X)).astype(np.int32)
    sizes = np.array([3, 70, 1, 60, 12])  # codes beyond are left out
    arguments = X, codes, 3, sizes
    assert_array_equal(kernels.pair_counts(*arguments), twin.pair_counts(*arguments))


def test_pairs_of_no_rows_and_of_one_value_are_counted():
    codes = np.zeros((0, 2), np.int32), np.zeros(0, np.int32)
    assert not kernels.pair_counts(*codes, 2, np.array([2, 3])).any()
    X = np.zeros((10_000, 2), np.int32)
    counts = kernels.pair_counts(X, np.zeros(10_000, np.int32), 1, np.array([1, 1]))
    assert_array_equal(counts, np.full((1, 2, 2), 10_000))


@pytest.mark.parametrize("n_groups", [1, 2, 3, 5, 26])
def test_scores_of_pairs_are_those_of_the_twin(n_groups):
    random = np.random.default_rng(2)
    log_prob = np.log(random.random((11, 11, n_groups)))
    weight = random.integers(0, 3, 11).astype(np.float64)
    X = random.integers(-1, 11, (200, 6)).astype(np.int32)
    X[0], X[1] = -1, np.argmin(weight)  # nothing known; no parent
    given = kernels.side_by_side_pairs(log_prob)
    ours, plain = np.empty((200, n_groups)), np.empty((200, n_groups))
    kernels.one_dependence_log_joint(X, given, weight, ours)
    twin.one_dependence_log_joint(X, log_prob, weight, plain)
    assert_allclose(ours, plain, rtol=1e-12)


def coded(n, seed, values=("a", "b", "c", "d")):
    random = np.random.default_rng(seed)
    codes = random.integers(-1, len(values), (n, 3)).astype(np.int32)
    weight = random.integers(1, 5, n) * 0.1
    return CodedRows(codes, (np.array(values),) * 3), random.integers(0, 2, n), weight


PARENTS = ((), (0,), (0, 1))


def of(kind, rows, weighted):
    X, y, weight = rows
    groups = Hard(y.astype(np.int32), 2, weight if weighted else None)
    return PairCounts.of(X, groups) if kind is PairCounts else TupleCounts.of(X, groups, PARENTS)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [PairCounts, TupleCounts])
def test_counts_of_different_vocabularies_add_and_subtract(kind, weighted):
    first, second = coded(40, 1), coded(50, 2, ("b", "e", "f"))
    a, b = of(kind, first, weighted), of(kind, second, weighted)
    assert a + b == b + a
    assert (a + b) - b == a
    assert a + a == a * 2
    assert not (a - a).seen().numbers().any()
    assert kind.from_arrays((a + b).arrays()) == a + b


@pytest.mark.parametrize("kind", [PairCounts, TupleCounts])
def test_counts_of_parts_are_those_of_the_whole(kind):
    X, y, weight = coded(60, 3)
    whole = of(kind, (X, y, weight), True)
    parts = [
        of(kind, (X[i : i + 7], y[i : i + 7], weight[i : i + 7]), True) for i in range(0, 60, 7)
    ]
    assert sum(parts[1:], start=parts[0]) == whole
    assert whole.single() == whole.single().seen()
    assert_allclose(whole.single().totals().rounded().sum(), weight @ (X.codes >= 0).sum(axis=1))


def test_weights_of_pairs_are_sums_of_the_rows_that_have_both():
    X, y, weight = coded(60, 4)
    counts = of(PairCounts, (X, y, weight), True).table.rounded()
    for (i, v), (j, w) in product(product(range(3), range(4)), repeat=2):
        both = (X.codes[:, i] == v) & (X.codes[:, j] == w)
        for k in (0, 1):
            assert_allclose(counts[k, 4 * i + v, 4 * j + w], weight[both & (y == k)].sum())


# AODE


def weka(X, y, row, alpha=1, limit=1):
    """P(y, x) = Σᵢ P(y, xᵢ) ∏ⱼ P(xⱼ | y, xᵢ) with Laplace's rule, as Weka computes it."""
    classes, d, n = sorted(set(y)), len(row), len(y)
    sizes = [len({r[j] for r in X}) for j in range(d)]
    scores = []
    for k in classes:
        rows = [r for r, label in zip(X, y, strict=True) if label == k]
        total = Fraction(0)
        for i in range(d):
            if sum(r[i] == row[i] for r in X) < limit:
                continue
            own = [r for r in rows if r[i] == row[i]]
            term = Fraction(len(own) + alpha, n + len(classes) * sizes[i] * alpha)
            for j in range(d):
                if j != i:
                    both = sum(r[j] == row[j] for r in own)
                    term *= Fraction(both + alpha, len(own) + sizes[j] * alpha)
            total += term
        scores.append(total)
    return [score / sum(scores) for score in scores]


WEATHER = [
    "sunny hot high", "sunny hot high", "overcast hot high", "rainy mild high",
    "rainy cool normal", "rainy cool normal", "overcast cool normal", "sunny mild high",
    "sunny cool normal", "rainy mild normal", "sunny mild normal", "overcast mild high",
]  # fmt: skip
PLAY = ["no", "no", "yes", "yes", "yes", "no", "yes", "no", "yes", "yes", "yes", "yes"]


@pytest.mark.parametrize("limit", [1, 3, 4])
def test_aode_is_that_of_weka_to_the_last_fraction(limit):
    X = [row.split() for row in WEATHER]
    model = AODE(smoothing=Laplace(1.0), limit=limit).fit(X, PLAY)
    for row in X:
        expected = [float(p) for p in weka(X, PLAY, row, limit=limit)]
        assert_allclose(model.predict_proba([row])[0], expected, rtol=1e-13)


def test_aode_without_a_parent_is_naive_bayes():
    X = np.array([row.split() for row in WEATHER])
    codes = np.stack([np.unique(column, return_inverse=True)[1] for column in X.T], axis=1)
    model = AODE(smoothing=Laplace(1.0), limit=100).fit(X, PLAY)
    naive = CategoricalNB().fit(codes, PLAY)
    assert_allclose(model.predict_proba(X), naive.predict_proba(codes), rtol=1e-13)


def test_aode_leans_on_shorter_contexts_as_its_equation_says():
    X = np.array([row.split() for row in WEATHER])
    y, m = np.array(PLAY), Fraction(2)
    model = AODE(smoothing=BackOff(2.0)).fit(X, y)
    row, scores = X[0], []
    for k in ("no", "yes"):
        rows = X[y == k]
        share = [
            (Fraction(int((rows[:, j] == row[j]).sum())) + m / len(set(X[:, j]))) / (len(rows) + m)
            for j in range(3)
        ]
        total = Fraction(0)
        for i in range(3):
            own, term = rows[rows[:, i] == row[i]], share[i]
            for j in {0, 1, 2} - {i}:
                term *= (int((own[:, j] == row[j]).sum()) + m * share[j]) / (len(own) + m)
            total += term / 3
        scores.append(np.log(float(total * Fraction(len(rows), len(X)))))
    assert_allclose(model.predict_joint_log_proba(X[:1])[0], scores, rtol=1e-13)


def test_weighted_parents_count_by_what_they_tell_of_the_class():
    model = AODE(weighted=True).fit(FRAME, Y)
    told = mutual_information(model.statistics_.features.single())
    tables = model.family_.tables(model.statistics_.features)
    starts = tables.start[np.array([0, 1, 2, 3, 4])]
    assert_allclose(tables.weight[starts], told)
    model = AODE(weighted=True, smoothing=BackOff(3.0))
    alone = model.fit([["a", "u"], ["b", "u"]] * 4, [0, 1] * 4)
    assert_allclose(alone.predict_proba([["a", "u"]]), [[5.5 / 7, 1.5 / 7]])


# structures


def conditional_information(x, z, y):
    """By the definition."""
    total = 0.0
    for a, b, k in product(set(x), set(z), set(y)):
        p = np.mean((x == a) & (z == b) & (y == k))
        if p:
            share = np.mean(y == k)
            total += p * np.log(
                p * share / np.mean((x == a) & (y == k)) / np.mean((z == b) & (y == k))
            )
    return total


def test_the_tree_is_the_best_of_all_trees():
    frame, y = table(missing=0.0)
    columns = [frame[c].to_numpy() for c in "abcd"]
    d = len(columns)
    weight = np.zeros((d, d))
    for i, j in combinations(range(d), 2):
        weight[i, j] = weight[j, i] = conditional_information(columns[i], columns[j], y)
    model = TAN().fit(frame[list("abcd")], y)
    found = conditional_mutual_information(model.statistics_.features)
    assert_allclose(found, weight, atol=1e-12)
    chosen = sum(weight[j, above[0]] for j, above in enumerate(model.structure_) if above)
    pairs = list(combinations(range(d), 2))
    trees = [edges for edges in combinations(pairs, d - 1) if connected(edges, d)]
    assert len(trees) == d ** (d - 2)  # Cayley
    assert_allclose(chosen, max(sum(weight[e] for e in edges) for edges in trees))


def connected(edges, d):
    group = list(range(d))
    for i, j in edges:
        group = [group[i] if g == group[j] else g for g in group]
    return len(set(group)) == 1


@pytest.mark.parametrize("seed", range(5))
def test_a_spanning_tree_is_the_heaviest(seed):
    random = np.random.default_rng(seed)
    weight = random.random((6, 6))
    weight += weight.T
    parents = spanning_tree(weight, 2)
    assert parents[2] == ()
    chosen = sum(weight[j, above[0]] for j, above in enumerate(parents) if above)
    trees = combinations(list(combinations(range(6), 2)), 5)
    best = max(sum(weight[e] for e in edges) for edges in trees if connected(edges, 6))
    assert_allclose(chosen, best)


def test_parents_of_kdb_are_the_closest_of_the_columns_before():
    told = np.array([0.1, 0.9, 0.5, 0.3])
    weight = np.array([[0, 3, 1, 2], [3, 0, 1, 1], [1, 1, 0, 5], [2, 1, 5, 0]], float)
    assert k_dependence(told, weight, 2) == ((1, 3), (), (1,), (2, 1))
    assert k_dependence(told, weight, 0) == ((), (), (), ())
    assert in_order(k_dependence(told, weight, 2)) == [1, 2, 3, 0]


def test_tan_is_kdb_of_its_own_tree():
    tree = TAN().fit(FRAME, Y)
    model = KDB(structure=tree.structure_).fit(FRAME, Y)
    assert_allclose(model.predict_proba(FRAME), tree.predict_proba(FRAME), rtol=1e-12)


def test_kdb_of_no_parents_is_naive_bayes():
    model = KDB(0, smoothing=Laplace(1.0)).fit(FRAME[["a", "b", "c"]], Y)
    naive = posterior.NaiveBayes().fit(FRAME[["a", "b", "c"]], Y)
    assert_allclose(
        model.predict_proba(FRAME[["a", "b", "c"]]), naive.predict_proba(FRAME[["a", "b", "c"]])
    )


def test_kdb_backs_off_from_context_to_context():
    frame, y = table(missing=0.0)
    X = ("v" + frame[["a", "b", "c"]]).to_numpy()
    m, row = 1.5, X[0]
    model = KDB(structure=((), (0,), (0, 1)), smoothing=BackOff(m)).fit(X, y)
    terms = model.evidence(X[:1]).terms[0]
    for k, label in enumerate(model.classes_):
        rows = X[y == label]
        p = ((rows[:, 2] == row[2]).sum() + m / 3) / (len(rows) + m)
        for depth in (1, 2):
            own = rows[(rows[:, :depth] == row[:depth]).all(axis=1)]
            p = ((own[:, 2] == row[2]).sum() + m * p) / (len(own) + m)
        assert_allclose(terms[k, 2], np.log(p))


def test_selective_kdb_scores_every_size_as_leaving_each_row_out_does():
    frame, y = table(80, missing=0.1)
    model = KDB(2, selective=True).fit(frame, y)
    chosen = model.selection_
    best = int(np.argmin(chosen["log_loss"]))
    assert chosen["chosen"][best] == "<-"
    kept = [j for j, above in enumerate(model.structure_) if above is not None]
    assert len(kept) == chosen["columns"][best]
    assert max(len(model.structure_[j]) for j in kept) <= chosen["parents"][best]
    again = KDB(structure=model.structure_, bins=model.cut_points_, smoothing=BackOff())
    # class probabilities without the row differ a little from those of all rows
    assert_allclose(again.leave_one_out(frame, y).log_loss, chosen["log_loss"][best], atol=0.02)


def test_selective_kdb_leaves_out_what_tells_nothing():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 400)
    noise = np.array(list("abcdefgh"))[random.integers(0, 8, (400, 3))]
    X = np.column_stack([(y ^ (random.random(400) < 0.2)).astype(int).astype(str), noise])
    model = KDB(2, selective=True).fit(X, y)
    assert model.structure_[0] == ()
    assert model.structure_[1:] == (None, None, None)
    terms = model.evidence(X[:1]).terms
    assert not terms[:, :, 1:].any()
    drawn, _ = model.sample(5, 0)
    assert [cell for row in drawn[:, 1:] for cell in row] == [None] * 15


# sums


@each_model
def test_parts_merge_to_the_model_of_all_rows(model):
    model = settled(model, FRAME, Y)
    whole = fresh(model).fit(FRAME, Y)
    parts = [fresh(model).fit(FRAME[i::3], Y[i::3]) for i in range(3)]
    merged = parts[0] + parts[1] + parts[2]
    streamed = fresh(model).partial_fit(FRAME[:50], Y[:50]).partial_fit(FRAME[50:], Y[50:])
    for other in (merged, streamed):
        assert other.statistics_ == whole.statistics_
        assert_array_equal(other.predict_proba(FRAME), whole.predict_proba(FRAME))
        assert getattr(other, "structure_", None) == getattr(whole, "structure_", None)


@each_model
def test_rows_taken_back_leave_no_trace(model):
    first = fresh(model).fit(FRAME[:90], Y[:90])
    more = pd.concat([FRAME[90:], FRAME[:1].assign(a="never seen")])
    labels = np.append(Y[90:], "new")
    before = first.predict_proba(FRAME)
    first.partial_fit(more, labels)
    assert "new" in first.classes_
    first.forget(more, labels)
    assert_array_equal(first.predict_proba(FRAME), before)
    with pytest.raises(ValueError, match="rows that were learned"):
        first.forget(FRAME[:1].assign(a="stranger"), Y[:1])


@each_model
def test_a_weight_of_two_is_two_rows(model):
    weight = np.random.default_rng(9).integers(0, 3, len(Y))
    weighted = fresh(model).fit(FRAME, Y, sample_weight=weight.astype(float))
    index = np.repeat(np.arange(len(Y)), weight)
    repeated = fresh(model).fit(FRAME.iloc[index], Y[index])
    assert weighted.statistics_ == repeated.statistics_
    assert_allclose(weighted.predict_proba(FRAME), repeated.predict_proba(FRAME), rtol=1e-12)


@each_model
def test_threads_do_not_change_a_bit(model):
    frame, y = table(900)
    answers = []
    for chunk in (None, 101):
        other = fresh(model)
        other.engine_ = posterior.engines.Local(chunk_rows=chunk)
        answers.append(other.fit(frame, y).predict_proba(frame))
    assert_array_equal(*answers)


@pytest.mark.parametrize("model", [m for m in MODELS if not getattr(m, "weighted", 0)], ids=repr)
def test_leave_one_out_is_refitting(model):
    frame, y = table(40, seed=3)
    held = fresh(model).leave_one_out(frame, y)
    model = settled(model, frame, y)
    tree = fresh(model).fit(frame, y).structure_ if isinstance(model, TAN) else None
    for i in range(40):
        others = np.delete(np.arange(40), i)
        again = fresh(model).fit(frame.iloc[others], y[others])
        if tree is not None and again.structure_ != tree:
            continue  # the tree of all rows is kept
        assert_allclose(held.proba[i], again.predict_proba(frame[i : i + 1])[0], rtol=1e-10)


@each_model
def test_cross_validation_is_refitting(model):
    fold = np.arange(len(Y)) % 4
    held = fresh(model).cross_validate(FRAME, Y, fold)
    model = settled(model, FRAME, Y)
    for f in range(4):
        again = fresh(model).fit(FRAME[fold != f], Y[fold != f])
        assert_allclose(held.proba[fold == f], again.predict_proba(FRAME[fold == f]), rtol=1e-10)


# what is missing, and what was never seen


@each_model
def test_a_missing_cell_is_left_out(model):
    X = FRAME[["a", "b", "c"]]
    fitted = fresh(model).fit(X, Y)
    empty = pd.DataFrame({"a": [None], "b": [None], "c": [None]}, dtype=object)
    assert_allclose(fitted.predict_proba(empty)[0], fitted.class_count_ / len(Y))
    evidence = fitted.evidence(X.assign(b=None)[:9])
    assert not evidence.terms[:, :, 1].any()


@each_model
def test_a_value_never_seen_has_the_probability_of_its_prior(model):
    fitted = fresh(model).fit(FRAME, Y)
    strange = fitted.predict_proba(FRAME[:5].assign(c="never", b="seen"))
    assert np.isfinite(strange).all()
    assert_allclose(strange.sum(axis=1), 1.0)


@each_model
def test_evidence_adds_up_to_the_score(model):
    fitted = fresh(model).fit(FRAME, Y)
    evidence = fitted.evidence(FRAME)
    assert_allclose(evidence.log_joint(), fitted.predict_joint_log_proba(FRAME), rtol=1e-10)
    assert "posterior" in str(fitted.explain(FRAME[:1]))


@pytest.mark.parametrize("model", [AODE(), TAN(), KDB(2)], ids=repr)
def test_samples_have_the_shares_of_the_model(model):
    fitted = fresh(model).fit(FRAME, Y)
    drawn, labels = fitted.sample(20_000, 0)
    assert list(drawn.columns) == list(FRAME.columns)
    assert_allclose((labels == "x").mean(), (Y == "x").mean(), atol=0.02)
    again = fresh(model).set_params(bins=fitted.cut_points_).fit(drawn, labels)
    pairs = [m.statistics_.features.single().table.rounded() for m in (fitted, again)]
    shares = [p / p.sum() for p in pairs]
    assert_allclose(*shares, atol=0.02)
    assert drawn["size"].between(FRAME["size"].min(), FRAME["size"].max()).all()


@pytest.mark.parametrize("make", [AODE, TAN, KDB])
def test_arrays_of_codes_are_categories_if_asked(make):
    X = np.random.default_rng(0).integers(0, 4, (90, 3))
    y = (X[:, 0] + X[:, 1]) % 2
    by_code = make(categories=True).fit(X, y)
    words = pd.DataFrame(X.astype(str), columns=list("abc"))
    by_name = make().fit(words, y)
    assert by_name.kinds_ == by_code.kinds_ == ("category",) * 3
    assert_array_equal(by_code.predict_proba(X), by_name.predict_proba(words))
    assert make(categories=[0, 1]).fit(X, y).kinds_ == ("category", "category", "number")
    assert by_code.score(X, y) > 0.9


# pictures


def drawn_from(chart, layer):
    """The rows of a layer, which may share them with others."""
    data = layer.get("data") or chart["data"]
    return data["values"] if "values" in data else chart["datasets"][data["name"]]


def test_the_graph_has_a_box_for_each_column_and_an_arrow_for_each_parent():
    pytest.importorskip("altair")
    model = KDB(2).fit(FRAME, Y)
    chart = model.plot().to_dict()
    arrows, tips, boxes = (drawn_from(chart, layer) for layer in chart["layer"][:3])
    names = list(FRAME.columns)
    drawn = {(arrow["parent"], arrow["column"]) for arrow in arrows}
    assert drawn == {
        (names[a], names[j]) for j, above in enumerate(model.structure_) for a in above
    }
    assert len(tips) == len(arrows)
    assert [box["name"] for box in boxes] == names
    assert all(arrow["y"] < arrow["y2"] for arrow in arrows)  # parents above children
    for one, other in combinations(boxes, 2):
        apart = one["right"] <= other["left"] or other["right"] <= one["left"]
        assert apart or one["y"] != other["y"]


def test_the_graph_of_one_column_and_of_no_structure():
    pytest.importorskip("altair")
    chart = posterior.plots.structure(TAN().fit(FRAME[["a"]], Y)).to_dict()
    assert [box["name"] for box in drawn_from(chart, chart["layer"][0])] == ["a"]
    with pytest.raises(TypeError, match="such as TAN or KDB, got AODE"):
        posterior.plots.structure(AODE().fit(FRAME, Y))


def test_the_structure_is_told_by_names():
    model = KDB(structure=((), (0,), None, (1, 0), None)).fit(FRAME, Y)
    told = model.structure_table()
    assert list(told["column"]) == ["a", "b", "d"]
    assert list(told["depends on"]) == ["", "a", "b, a"]


# tables that are elsewhere


@pytest.fixture
def files(tmp_path):
    """The table in four files, the values of each its own, and the column of the classes."""
    for i in range(4):
        part = slice(30 * i, 30 * i + 30)
        FRAME[part].assign(kind=Y[part]).to_parquet(tmp_path / f"{i}.parquet")
    return str(tmp_path / "*.parquet")


def test_a_given_structure_is_learned_from_files(files):
    here = KDB(structure=((), (0,), None, (1, 0), ())).fit(FRAME, Y)
    there = KDB(structure=here.structure_, smoothing=here.smoothing_).fit(files, y="kind")
    assert there.statistics_ == here.statistics_
    assert_array_equal(there.predict_log_proba(FRAME), here.predict_log_proba(FRAME))


def test_weights_and_classes_of_some_files_only_are_learned_as_in_memory(tmp_path):
    ordered = FRAME.assign(kind=Y, w=np.arange(len(Y)) % 3).sort_values("kind", ignore_index=True)
    for i in range(4):  # the first has one class, and the last another
        ordered[30 * i : 30 * i + 30].to_parquet(tmp_path / f"{i}.parquet")
    there = TAN().fit(str(tmp_path / "*.parquet"), y="kind", sample_weight="w")
    X, weight = ordered[FRAME.columns], ordered["w"].to_numpy(float)
    here = TAN().fit(X, ordered["kind"].to_numpy(), sample_weight=weight)
    assert there.statistics_ == here.statistics_
    assert there.structure_ == here.structure_


def test_more_values_than_are_counted_one_by_one_are_cut_nearby(tmp_path, monkeypatch):
    monkeypatch.setattr(base, "MOST_VALUES", 500)
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 4_000)
    X = pd.DataFrame({"x": random.normal(3.0 * y), "z": random.normal(size=4_000)})
    for i in range(4):
        part = slice(1_000 * i, 1_000 * i + 1_000)
        X[part].assign(y=y[part]).to_parquet(tmp_path / f"{i}.parquet")
    here, there = AODE().fit(X, y), AODE().fit(str(tmp_path / "*.parquet"), y="y")
    assert [len(cuts) for cuts in there.cut_points_.values()] == [6, 0]
    assert_allclose(there.score(X, y), here.score(X, y), atol=0.005)
    first_and_last = [model.cut_points_["x"][[0, -1]] for model in (here, there)]
    assert_allclose(*first_and_last, atol=0.1)


def test_a_fit_of_many_passes_goes_on_where_it_was_stopped(files, tmp_path, monkeypatch):
    counted, path = TupleCounts.of, tmp_path / "fit.checkpoint"

    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(TupleCounts, "of", stop)
    with pytest.raises(KeyboardInterrupt):
        KDB(1).fit(files, y="kind", checkpoint=path)
    monkeypatch.setattr(TupleCounts, "of", counted)
    monkeypatch.setattr(PairCounts, "of", stop)  # pairs are known, and not counted again
    there = KDB(1).fit(files, y="kind", checkpoint=path)
    monkeypatch.undo()
    assert there.statistics_ == KDB(1).fit(FRAME, Y).statistics_
    assert not path.exists()


def test_what_needs_rows_in_memory_says_so_and_weights_of_zero_are_no_rows(files, tmp_path):
    with pytest.raises(ValueError, match=r"all rows at once.*structure="):
        KDB(selective=True).fit(files, y="kind")
    FRAME.assign(kind=Y, w=0.0).to_parquet(tmp_path / "zero.parquet")
    with pytest.raises(ValueError, match="weights of zero only"):
        AODE().fit(str(tmp_path / "zero.parquet"), y="kind", sample_weight="w")


# real tables

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "dependence_accuracy.py"


def test_the_page_shows_what_was_measured():
    example = runpy.run_path(str(EXAMPLE))
    results = json.loads(example["RESULTS"].read_text("utf-8"))
    page = example["PAGE"].read_text("utf-8")
    assert example["shown"](page, results) == page
    assert all(set(results[name]) == set(example["MODELS"]) for name in example["SETS"])
    for name in results:  # in log loss, as the page says
        losses = {kind: found["log_loss"] for kind, found in results[name].items()}
        assert max(losses["AODE"], losses["KDB, k = 2"]) < losses["naive Bayes"]


def test_the_default_smoothing_is_what_other_tables_choose():
    told = (ROOT / "docs" / "results" / "dependence_smoothing.txt").read_text("utf-8")
    assert told.endswith(f"Least at m = {BackOff().m:g}.\n")


@pytest.mark.parametrize(
    "name",
    ["car", "tic-tac-toe"]
    + [pytest.param(n, marks=pytest.mark.slow) for n in ("mushroom", "letter", "adult")],
)
def test_dependence_pays_in_log_loss(name, monkeypatch, shared_data):
    monkeypatch.setenv("POSTERIOR_DATA", str(shared_data))
    example = runpy.run_path(str(EXAMPLE))
    X, y = example["read"](name)
    naive, *others = (
        example["held_out"](model, X, y)[0] for model in (posterior.NaiveBayes(), AODE(), KDB(2))
    )
    assert max(others) < naive


# bad input


def test_what_cannot_be_is_refused_by_name():
    with pytest.raises(
        ValueError, match="columns of \\['a', 'b', 'c', 'd', 'size'\\], got \\['z'\\]"
    ):
        AODE(categories=["z"]).fit(FRAME, Y)
    with pytest.raises(ValueError, match="ascending cut points of column 'size'"):
        AODE(bins={"size": [2.0, 1.0]}).fit(FRAME, Y)
    with pytest.raises(ValueError, match="bins of the columns of numbers"):
        AODE(bins={"a": [2.0]}).fit(FRAME, Y)
    with pytest.raises(ValueError, match="BackOff"):
        TAN(smoothing=MEstimate(2.0, None)).fit(FRAME, Y)
    with pytest.raises(ValueError, match="m, rows of the prior, to be positive"):
        BackOff(0.0)
    with pytest.raises(ValueError, match="do not depend on themselves"):
        KDB(structure=((1,), (0,), (), (), ())).fit(FRAME, Y)
    with pytest.raises(ValueError, match="parents of 5 columns"):
        KDB(structure=((),)).fit(FRAME, Y)
    with pytest.raises(ValueError, match="infinity, first in row 3, column 'size'"):
        TAN().fit(FRAME.assign(size=np.where(np.arange(len(Y)) == 3, np.inf, 1.0)), Y)
    model = AODE().fit(FRAME, Y)
    with pytest.raises(ValueError, match="cut at the same points"):
        model.merge(AODE(bins={"size": [0.5]}).fit(FRAME, Y))
    with pytest.raises(ValueError, match="same structure"):
        KDB(1).fit(FRAME[["a", "b"]], Y).merge(KDB(0).fit(FRAME[["a", "b"]], Y))


def test_pairs_of_too_many_values_are_refused():
    X = np.array([f"v{i}" for i in range(40_000)], object)[:, None]
    with pytest.raises(ValueError, match="values of all columns together"):
        AODE().fit(X, np.arange(40_000) % 2)
