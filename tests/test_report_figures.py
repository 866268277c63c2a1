"""What a report says of a table is true of the whole file: counted again from its text."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")
pytest.importorskip("jinja2")

from posterior.app.report.describing import choice_facts, data_facts
from posterior.app.report.facts import study
from posterior.app.report.page import render
from posterior.app.report.report_schema import Data
from posterior.preprocessing.infer_roles import infer
from posterior.selection import Comparison, compare
from posterior.selection.labeled_rows import labeled_rows
from posterior.sources.csv_files import MISSING
from posterior.sources.files import read

pytestmark = pytest.mark.once

TABLES = {
    "titanic.csv": "survived",
    "penguins.csv": "species",
    "adult-test.csv.gz": "income",
    "credit-g.csv": "class",
    "house-votes-84.csv": "class",
    "mushroom.csv": "class",
    "sms-spam.csv": "label",
    "glass.csv": "type",
    "pima-diabetes.csv": "diabetes",
    "wine.csv": "class",
    "weather-nominal.csv": "play",
}


def lines_of(path: Path) -> tuple[list[str], list[list[str | None]]]:
    """Header and cells of a file, None where they are missing, by nothing of ours."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        head = file.readline()
        delimiter = max(",;\t|", key=head.count)
        rows = [*csv.reader([head], delimiter=delimiter), *csv.reader(file, delimiter=delimiter)]
    header, *cells = rows
    return header, [[None if c in MISSING else c for c in row] for row in cells if row]


def described(path: Path, target: str) -> Data:
    file = read(path)
    roles = infer(file.frame, target)
    return data_facts(file.frame, labeled_rows(file.frame, roles), roles, file.source, ())


def assert_true_of(path: Path, target: str, told: Data) -> None:
    header, rows = lines_of(path)
    place = header.index(target)
    labels = Counter(row[place] for row in rows if row[place] is not None)
    assert told.file_rows == len(rows)
    assert [c.name for c in told.columns] == header
    assert told.missing_cells == sum(cell is None for row in rows for cell in row)
    assert told.incomplete_rows == sum(None in row for row in rows)
    columns = zip(*rows, strict=True)
    assert [c.missing for c in told.columns] == [sum(c is None for c in cells) for cells in columns]
    assert told.duplicate_rows == len(rows) - len(set(map(tuple, rows)))
    assert told.rows_without_target == len(rows) - labels.total()
    assert {c.name: c.rows for c in told.target} == labels
    assert told.rows == labels.total()
    for found in told.target:
        assert found.share == pytest.approx(labels[found.name] / labels.total())


@pytest.mark.parametrize("name", TABLES)
def test_figures_of_a_table_are_those_of_the_whole_file(shared_data: Path, name: str) -> None:
    assert_true_of(shared_data / name, TABLES[name], described(shared_data / name, TABLES[name]))


def write(path: Path, frame: pd.DataFrame) -> Path:
    frame.to_csv(path, index=False)
    return path


def holey(n: int = 90) -> pd.DataFrame:
    """Gaps in the target, in columns that models see, and in columns that they do not."""
    random = np.random.default_rng(0)
    label = pd.Series(np.arange(n) % 2).map({0: "a", 1: "b"})
    frame = pd.DataFrame(
        {
            "x": random.normal(size=n).round(1) + (label == "b"),
            "step": random.choice([-1, -2], n),  # whose hashes are equal
            "key": [f"k{i}" for i in range(n)],
            "empty": np.nan,
            "label": label,
        }
    )
    frame.loc[:9, "key"] = None
    frame.loc[5:7, "label"] = None
    frame.loc[20:22, "x"] = None
    return pd.concat([frame, frame[30:34]])


def test_columns_that_no_model_sees_are_counted_too(tmp_path: Path) -> None:
    path = write(tmp_path / "holey.csv", holey())
    told = described(path, "label")
    assert_true_of(path, "label", told)
    assert not any(c.used for c in told.columns if c.name in ("key", "empty"))


def test_the_page_says_how_many_cells_are_missing_and_where(tmp_path: Path) -> None:
    path = write(tmp_path / "holey.csv", holey())
    file = read(path)
    found = study(file.frame, "label", source=file.source)
    page = " ".join(render(found.facts).split())
    assert "</span> has 94 rows and 5 columns. 110 values are missing, in 94 rows: " in page
    assert "empty (94, not used), key (10, not used), x (3), label (3)." in page
    assert "4 rows repeat an earlier one. The models learn from 91 rows." in page
    assert "label is missing in 3 rows, which are set aside." in page
    assert "No cell is missing" not in page
    assert found.facts.missing is not None and found.facts.missing.incomplete is not None
    assert found.facts.missing.incomplete.rows == 3  # x, which the models see


def test_rows_that_differ_are_not_said_to_repeat() -> None:
    frame = pd.DataFrame({"x": [-1, -2] * 30, "y": np.arange(60) // 2, "label": ["a", "b"] * 30})
    roles = infer(frame, "label")
    assert data_facts(frame, labeled_rows(frame, roles), roles, "t", ()).duplicate_rows == 0


def test_the_largest_groups_are_shown(tmp_path: Path) -> None:
    """Of many values, not the first by the alphabet."""
    random = np.random.default_rng(0)
    names = [f"g{i:02}" for i in range(30)]
    sizes = np.where(np.arange(30) < 10, 4, 12)  # the first are too small to be judged
    group = np.repeat(names, sizes)
    label = random.integers(0, 2, len(group))
    frame = pd.DataFrame({"x": random.normal(size=len(group)) + label, "g": group, "label": label})
    found = study(frame, "label", subgroup=["g"])
    assert [s.value for s in found.facts.subgroups] == names[10:]


def test_dates_are_shown_as_dates() -> None:
    random = np.random.default_rng(0)
    day = pd.Timestamp("2024-03-01") + pd.to_timedelta(random.integers(0, 60, 80), "D")
    frame = pd.DataFrame({"day": day, "x": random.normal(size=80), "label": np.arange(80) % 2})
    page = render(study(frame, "label").facts)
    assert f"{day.min():%Y-%m-%d} to {day.max():%Y-%m-%d}" in page


@pytest.fixture(scope="module")
def compared() -> Comparison:
    random = np.random.default_rng(0)
    label = random.integers(0, 2, 120)
    frame = pd.DataFrame({"x": random.normal(size=120) + 3 * label, "label": label})
    return compare(frame, "label", models=["naive-bayes", "logistic"])


def test_a_model_alone_is_said_to_be_alone_and_corrected(compared: Comparison) -> None:
    (naive,) = (j for j in compared.judged if j.key == "naive-bayes")
    said = choice_facts(replace(compared, best=naive, chosen=naive), "", None)
    (pool,) = (j for j in compared.judged if j.key == "pool")
    assert said.sentence == (
        f"Naive Bayes has the least log loss, {naive.log_loss}, and is kept alone: all models "
        f"together have {pool.log_loss}."
    )
    assert f"{naive.raw.log_loss:.3f}" in said.calibration_sentence


def test_all_together_are_said_with_their_weights_and_the_best_alone(compared: Comparison) -> None:
    (pool,) = (j for j in compared.judged if j.key == "pool")
    said = choice_facts(replace(compared, best=pool, chosen=pool), "", None)
    for name, weight in compared.classifier.weights_.items():
        assert f"{name} ({weight:.2f})" in said.sentence
    assert said.sentence.startswith("All models together have the least log loss")
    best = min((j for j in compared.judged if j.corrected), key=lambda j: j.log_loss.value)
    assert f"The best model alone, {best.name}, has {best.log_loss}." in said.sentence
    assert said.calibration is None
