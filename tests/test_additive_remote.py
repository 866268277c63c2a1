"""Additive models of rows that are elsewhere, that come later, and that are taken back."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pyarrow import parquet
from sklearn.metrics import log_loss

import posterior
from posterior import Additive
from posterior.data import memory
from posterior.discriminative.additive import additive_rule, cell_parts
from posterior.discriminative.additive.cell_parts import CellParts
from posterior.discriminative.additive.cell_rows import CellRows
from posterior.readers.cells import LookAtCells
from posterior.selection import compare

pytestmark = pytest.mark.once
READ = ["length", "petals", "color"]


def flowers(n: int = 600, seed: int = 0) -> pd.DataFrame:
    """Three kinds that overlap: a measure with gaps, a count, a color, and weights that round."""
    random = np.random.default_rng(seed)
    kind = random.integers(0, 3, n)
    length = random.normal(2 * kind, 1.5)
    length[random.random(n) < 0.1] = np.nan
    return pd.DataFrame(
        {
            "length": length,
            "petals": random.poisson(3 + kind),
            "color": np.array(["red", "blue", "white", "pink"])[
                (kind + random.integers(0, 3, n)) % 4
            ],
            "weight": random.choice([0.0, 0.1, 0.3, 1.0, 1.7], n),
            "kind": np.array(["a", "b", "c"])[kind],
        }
    )


FLOWERS = flowers()


def fit(table: pd.DataFrame, weighted: bool = False, **settings: Any) -> Additive:
    weight = table["weight"] if weighted else None
    return Additive(**{"rounds": 20} | settings).fit(table[READ], table["kind"], weight)


def add(model: Additive, table: pd.DataFrame) -> Additive:
    return model.partial_fit(table[READ], table["kind"])


def assert_same(a: Additive, b: Additive, table: pd.DataFrame = FLOWERS) -> None:
    assert_array_equal(a.predict_log_proba(table[READ]), b.predict_log_proba(table[READ]))
    assert a.terms_ == b.terms_


@pytest.fixture(scope="module")
def whole() -> Additive:
    return fit(FLOWERS, weighted=True)


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was boosted since: "chosen", with rows held out, or "again", without."""
    found: list[str] = []

    def boosted(rows: Any, sizes: Any, ordered: Any, depth: Any, paces: Any, *rest: Any) -> Any:
        found.append("chosen" if len(paces) > 1 else "again")
        return real(rows, sizes, ordered, depth, paces, *rest)

    real = additive_rule.boosted
    monkeypatch.setattr(additive_rule, "boosted", boosted)
    return found


# --- rows elsewhere ------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 7, 64, 500])
def test_parts_in_any_order_are_the_rows_at_once_to_the_bit(size: int) -> None:
    random = np.random.default_rng(1)
    codes = random.integers(0, 3, (3, 500)).astype(np.uint8)
    labels = random.integers(0, 2, 500).astype(np.int32)
    weight = random.choice([0.0, 0.1, 0.3, 1e-9, 1e9], 500)
    at_once = CellRows.of(codes, labels, weight, 2)
    total = CellParts()
    for i in np.array_split(random.permutation(500), 500 // size):
        total = total + CellParts((CellRows.of(codes[:, i], labels[i], weight[i], 2),))
    gathered = total.together()
    for name in ("codes", "labels", "weight", "key"):
        assert_array_equal(getattr(gathered, name), getattr(at_once, name))
    added: dict[tuple[int, ...], list[float]] = {}
    for *row, w in zip(labels, *codes, weight, strict=True):
        added.setdefault(tuple(row), []).append(w)
    rows = zip(gathered.labels, *gathered.codes, strict=True)
    exact = [math.fsum(added[row]) for row in rows]
    assert_allclose(gathered.weight, exact, rtol=2**-52)  # both are rounded once


def test_each_part_is_twice_as_long_as_the_next() -> None:
    total, n = CellParts(), 300
    for i in range(n):
        code = np.array([[i % 256], [i // 256]], np.uint8)
        total = total + CellParts((CellRows.of(code, np.zeros(1, np.int32), None, 1),))
    lengths = [len(part) for part in total.parts]
    assert sum(lengths) == n
    assert all(a >= 2 * b for a, b in pairwise(lengths))


def written(table: pd.DataFrame, folder: Path, files: int, group: int) -> str:
    for i, index in enumerate(np.array_split(np.arange(len(table)), files)):
        part = pa.Table.from_pandas(table.iloc[index], preserve_index=False)
        parquet.write_table(part, folder / f"{i}.parquet", row_group_size=group)
    return str(folder / "*.parquet")


@pytest.mark.parametrize(("files", "group", "threads"), [(1, 1000, 1), (3, 50, 2), (7, 9, 4)])
def test_files_give_the_bits_of_memory_in_any_order_and_parts(
    whole: Additive, tmp_path: Path, files: int, group: int, threads: int
) -> None:
    shuffled = FLOWERS.sample(frac=1.0, random_state=files)
    place = written(shuffled, tmp_path, files, group)
    with posterior.threads(threads):
        there = Additive(rounds=20).fit(place, y="kind", sample_weight="weight")
    assert_same(there, whole)


@pytest.mark.parametrize("parts", [1, 5])
def test_dask_gives_the_bits_of_memory(whole: Additive, parts: int) -> None:
    dd = pytest.importorskip("dask.dataframe", reason="needs Dask: pip install 'posterior[dask]'")
    table = dd.from_pandas(FLOWERS, npartitions=parts)
    there = Additive(rounds=20).fit(table, y="kind", sample_weight="weight")
    assert_same(there, whole)
    answers = posterior.predict_frame(there, table).compute()
    assert_array_equal(answers[["p_a", "p_b", "p_c"]], whole.predict_proba(FLOWERS[READ]))


def test_a_file_of_answers_has_those_of_memory(whole: Additive, tmp_path: Path) -> None:
    place = written(FLOWERS, tmp_path, 2, 100)
    assert whole.predict_file(place, tmp_path / "answers.parquet") == len(FLOWERS)
    answers = parquet.read_table(tmp_path / "answers.parquet").to_pandas()
    assert_array_equal(answers[["p_a", "p_b", "p_c"]], whole.predict_proba(FLOWERS[READ]))


def test_a_fit_that_was_stopped_while_it_boosted_reads_no_row_again(
    whole: Additive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = written(FLOWERS, tmp_path, 2, 100)
    given = {"y": "kind", "sample_weight": "weight", "checkpoint": tmp_path / "fit.checkpoint"}

    def stopped(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(additive_rule, "boosted", stopped)
        with pytest.raises(KeyboardInterrupt):
            Additive(rounds=20).fit(place, **given)
    monkeypatch.setattr(LookAtCells, "__call__", stopped)
    assert_same(Additive(rounds=20).fit(place, **given), whole)
    assert not (tmp_path / "fit.checkpoint").exists()


def test_rows_without_room_are_refused_and_the_model_is_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, place = fit(FLOWERS), written(FLOWERS, tmp_path, 5, 100)
    before = model.predict_proba(FLOWERS[READ])
    for limit, verb in ((1e3, "gather"), (1e5, "boost")):
        monkeypatch.setattr(cell_parts, "memory_limit", lambda limit=limit: limit)
        with pytest.raises(ValueError, match=rf"fit into memory, got .* GB to {verb}, .* NaiveB"):
            model.fit(place, y="kind")
    assert_array_equal(model.predict_proba(FLOWERS[READ]), before)


def test_the_limit_of_memory_is_that_of_the_machine_or_less(tmp_path: Path) -> None:
    pages = memory._machine()
    assert 0 < memory.memory_limit() <= pages
    (tmp_path / "memory.max").write_text("123456\n")
    assert memory._container(str(tmp_path / "memory.max")) == 123456
    (tmp_path / "memory.max").write_text("max\n")
    assert memory._container(str(tmp_path / "memory.max")) == np.inf


def test_rows_that_weigh_nothing_are_refused(tmp_path: Path) -> None:
    place = written(FLOWERS.assign(weight=0.0), tmp_path, 2, 100)
    with pytest.raises(ValueError, match="at least one row of positive weight"):
        Additive().fit(place, y="kind", sample_weight="weight")


# --- rows that come later ------------------------------------------------------------------------


def test_a_stream_fits_when_rows_have_grown_and_chooses_when_they_have_doubled(
    fits: list[str],
) -> None:
    model = fit(FLOWERS[:200])
    told = []
    for start in range(200, 420, 5):
        before = len(fits)
        add(model, FLOWERS[start : start + 5])
        told += [fits[-1] if len(fits) > before else "waits"]
    assert told[:5] == ["waits", "again", "waits", "waits", "again"]  # at 210 and 225 rows
    assert told.count("chosen") == 1
    assert told.index("chosen") == 39  # 400 rows
    assert told.count("again") <= np.log(2) / np.log(1.05) + 3


def test_after_a_stream_the_trees_are_those_of_all_rows(fits: list[str]) -> None:
    model = add(add(fit(FLOWERS[:400]), FLOWERS[400:405]), FLOWERS[405:600])
    other = add(fit(FLOWERS[:400]), FLOWERS[400:600].iloc[::-1])
    assert fits == ["chosen", "again", "chosen", "again"]
    assert_same(model, other)
    assert model.fitted_.rows is not None
    assert model.fitted_.rows.total == 600


def test_a_stream_after_fit_comes_close_to_fit() -> None:
    table, new = flowers(3000, 1), flowers(3000, 2)
    model = fit(table[:1000], rounds=60)
    for start in range(1000, 3000, 250):
        add(model, table[start : start + 250])
    losses = [
        log_loss(new["kind"], m.predict_proba(new[READ])) for m in (model, fit(table, rounds=60))
    ]
    assert losses[0] < losses[1] + 0.005  # cells of a third of the rows


def test_a_stream_without_a_fit_is_one_when_its_rows_have_doubled() -> None:
    model = Additive(rounds=20)
    for n in range(256):
        add(model, FLOWERS[n : n + 1])
    assert_same(model, fit(FLOWERS[:256]))
    add(model, FLOWERS[256:257])
    assert model.n_rounds_ == 20


def test_a_stream_chooses_its_cells_by_its_first_thousand_rows() -> None:
    table = flowers(2500, 3)
    model = Additive(rounds=5)
    for start in range(0, 1200, 300):
        add(model, table[start : start + 300])
    assert_same(model, fit(table[:1200], rounds=5))
    cuts = model.fitted_.reader.cuts
    assert model.fitted_.early == ()
    assert add(model, table[1200:]).fitted_.reader.cuts == cuts


def test_a_class_may_come_first_mid_stream(fits: list[str]) -> None:
    a, rest = FLOWERS[FLOWERS["kind"] == "a"], FLOWERS[FLOWERS["kind"] != "a"]
    model = add(Additive(rounds=5), a)  # nothing to tell apart
    assert_array_equal(model.predict_proba(a[READ]), np.ones((len(a), 1)))
    add(model, rest[rest["kind"] == "c"])
    add(model, rest[rest["kind"] == "b"])
    assert fits == ["chosen", "chosen"]
    assert_same(model, fit(FLOWERS, rounds=5))
    with pytest.raises(ValueError, match=r"\['d'\] in y do not exist"):
        closed = Additive(rounds=5).partial_fit(a[READ], a["kind"], classes=["a", "b", "c"])
        closed.partial_fit(a[READ][:3], ["d"] * 3)


def test_a_pace_that_is_not_tried_on_so_many_rows_is_chosen_anew() -> None:
    model = fit(FLOWERS[:200])
    rule, rows = model.rule(), model.fitted_.all_rows()
    paces = [pace for pace in rule.paces(200) if pace.name != model.pace_]
    again = replace(rule, paces=lambda n: paces).again(model.fitted_, model.fitted_.labels, rows)
    assert again.pace == paces[0].name


def test_new_categories_share_a_cell_and_are_learned() -> None:
    first = FLOWERS[FLOWERS["color"] != "pink"].assign(kind="a")
    first.loc[first.index[::2], "kind"] = "b"
    pink = FLOWERS[FLOWERS["color"] == "pink"].assign(kind="b")
    model = fit(first)
    before = model.predict_proba(pink[READ])[:, 1]
    add(model, pink)
    assert model.predict_proba(pink[READ])[:, 1].mean() > before.mean() + 0.1
    assert model.fitted_.reader.names_of(2)[-1] == "others"
    model.forget(pink[READ], pink["kind"])
    assert_same(model, fit(first))


@pytest.mark.parametrize("call", ["partial_fit", "forget"])
def test_a_stored_model_holds_no_rows_and_says_so(whole: Additive, call: str) -> None:
    stored = pickle.loads(pickle.dumps(whole))
    with pytest.raises(ValueError, match="got one that was stored or sent, which holds none"):
        getattr(stored, call)(FLOWERS[READ], FLOWERS["kind"])
    with pytest.raises(ValueError, match="stored or sent"):
        copy.copy(whole).merge(stored)


def test_rows_elsewhere_are_no_stream(whole: Additive, tmp_path: Path) -> None:
    place = written(FLOWERS, tmp_path, 1, 100)
    for call in ("partial_fit", "cross_validate"):
        with pytest.raises(TypeError, match=f"Expected rows in memory for {call}"):
            getattr(copy.copy(whole), call)(place, "kind")


# --- rows taken back, and models put together ----------------------------------------------------


def test_rows_taken_back_leave_no_trace_whatever_they_weigh() -> None:
    first, later = FLOWERS[:300], FLOWERS[300:]
    model = fit(first, weighted=True)
    model.partial_fit(later[READ], later["kind"], sample_weight=later["weight"])
    model.forget(later[READ], later["kind"], sample_weight=later["weight"])
    assert_same(model, fit(first, weighted=True))


def test_rows_that_were_never_learned_cannot_be_taken_back(whole: Additive) -> None:
    model = fit(FLOWERS[:300])
    before = pickle.dumps(model)
    odd = FLOWERS[300:302].assign(length=[99.0, 0.0], petals=[0, 40], color="red")
    asked = pd.concat([FLOWERS[:3], odd])
    with pytest.raises(ValueError, match=r"got 2 that were not.*the first is row 3, of class"):
        model.forget(asked[READ], asked["kind"])
    twice = pd.concat([FLOWERS[:1]] * 50)
    with pytest.raises(ValueError, match="not as often: the first is row 0"):
        model.forget(twice[READ], twice["kind"])
    assert pickle.dumps(model) == before


def test_models_of_the_same_cells_merge_to_the_fit_of_all() -> None:
    often = FLOWERS["petals"].between(1, 7)  # twice and more in each, so that it has a cell
    a, b, few = FLOWERS[often][:300], FLOWERS[often][300:], ["petals", "color"]
    parts = [Additive(rounds=20, categories=["petals"]).fit(t[few], t["kind"]) for t in (a, b)]
    both = pd.concat([b, a])
    together = Additive(rounds=20, categories=["petals"]).fit(both[few], both["kind"])
    merged = parts[0] + parts[1]
    assert_array_equal(merged.predict_proba(both[few]), together.predict_proba(both[few]))
    assert parts[0].fitted_.rows is not None
    assert parts[0].fitted_.rows.total == len(a)  # which + leaves as it was


def test_models_of_other_cells_do_not_merge(whole: Additive) -> None:
    with pytest.raises(ValueError, match="the same cells to merge, but column 'length' has others"):
        fit(FLOWERS[:300]).merge(whole)
    with pytest.raises(TypeError, match="Expected another Additive to merge, got GaussianNB"):
        copy.copy(whole).merge(posterior.GaussianNB().fit([[0.0], [1.0]], [0, 1]))


# --- rows held out -------------------------------------------------------------------------------


def test_cross_validation_is_a_fit_for_each_fold() -> None:
    fold = np.arange(len(FLOWERS)) % 3
    held_out = Additive(rounds=20).cross_validate(FLOWERS[READ], FLOWERS["kind"], fold)
    for f in range(3):
        answer = fit(FLOWERS[fold != f]).predict_log_proba(FLOWERS[fold == f][READ])
        assert_allclose(held_out.log_proba[fold == f], answer, atol=1e-9)  # of the floor
    assert 0.3 < held_out.mean("log_loss") < 1.0


def test_additive_tables_are_compared_with_all_others() -> None:
    table = FLOWERS[[*READ, "kind"]][:200]
    found = compare(table, "kind", models=["naive-bayes", "additive"], folds=2)
    keys = {"majority", "naive-bayes", "additive", "pool"}
    assert {judged.key for judged in found.judged} == keys
    assert keys < {judged.key for judged in compare(table, "kind", folds=2).judged}
