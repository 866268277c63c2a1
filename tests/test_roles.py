"""What columns are taken for, on made-up tables and on every real one."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")

from posterior.preprocessing.infer_roles import infer
from posterior.preprocessing.roles import Roles
from posterior.sources.files import read

pytestmark = pytest.mark.once

N = 200


def table(**columns: Any) -> pd.DataFrame:
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {"label": random.choice(["a", "b"], N), "size": random.normal(5, 1, N), **columns}
    )


def flags(roles: Roles, name: str) -> list[str]:
    return [flag.kind for flag in roles[name].flags]


def words(n: int, each: int) -> list[str]:
    random = np.random.default_rng(1)
    return [" ".join(random.choice(["red", "green", "blue", "dog", "cat"], each)) for _ in range(n)]


@pytest.mark.parametrize(
    ("column", "role", "used"),
    [
        (np.linspace(0, 1, N), "number", True),
        (["x", "y"] * (N // 2), "category", True),
        ([True, False] * (N // 2), "boolean", True),
        ([0, 1] * (N // 2), "boolean", True),
        (list(range(1000, 1000 + N)), "identifier", False),
        ([f"u{i}" for i in range(N)], "identifier", False),
        ([f"t{i // 3 * 2}" for i in range(N // 2)] + list("ab") * (N // 4), "many-valued", True),
        ([f"t{i}" for i in range(N // 2 + 9)] + ["same"] * (N // 2 - 9), "many-valued", True),
        (["same"] * N, "constant", False),
        ([None] * N, "empty", False),
        ([date(2020, 1, 1) + timedelta(i) for i in range(N)], "date", True),
        ([f"{i} {text}" for i, text in enumerate(words(N, 12))], "text", True),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_column_is_what_its_values_are(column: Any, role: str, used: bool) -> None:
    found = infer(table(column=column), "label")["column"]
    assert (found.role, found.used) == (role, used)


def test_an_identifier_may_repeat() -> None:
    """Posts that went to several newsgroups; the file is sorted by group, so their ids tell it."""
    frame = pd.DataFrame({"id": [*range(80), *range(60, 120)], "group": ["a"] * 80 + ["b"] * 60})
    frame["words"] = 1.5 * np.arange(140) % 7
    assert infer(frame, "group")["id"].role == "identifier"


def test_whole_numbers_called_an_identifier_are_one() -> None:
    values = np.random.default_rng(0).permutation(10_000)[:N]
    frame = table(user_id=values, salary=values)
    roles = infer(frame, "label")
    assert (roles["user_id"].role, roles["salary"].role) == ("identifier", "number")


def test_a_copy_of_the_target_is_a_leak() -> None:
    frame = table()
    frame["copy"] = np.where(frame["label"] == "a", 3.0, 7.0) + np.linspace(0, 1, N)
    frame["word"] = frame["label"].str.upper()
    roles = infer(frame, "label")
    assert flags(roles, "copy") == flags(roles, "word") == ["leak"]
    assert flags(roles, "size") == [] and roles["copy"].used


def test_zeros_far_below_all_other_values_are_flagged() -> None:
    pressure = np.r_[np.zeros(9), np.random.default_rng(0).integers(50, 110, N - 9)]
    children = np.random.default_rng(0).poisson(2, N)
    roles = infer(table(pressure=pressure, children=children), "label")
    assert "zeros" in flags(roles, "pressure") and "zeros" not in flags(roles, "children")


def test_few_whole_numbers_may_be_names_of_kinds() -> None:
    roles = infer(table(ward=np.arange(N) % 4 + 1, age=np.arange(N) % 60), "label")
    assert flags(roles, "ward") == ["codes"] and flags(roles, "age") == []


def test_counts_beside_the_cells_of_a_cross_table_are_weights() -> None:
    cells = pd.DataFrame(
        {"sex": ["m", "f"] * 2, "live": ["y", "y", "n", "n"], "Freq": [4, 9, 7, 1]}
    )
    assert infer(cells, "live").weight == "Freq"
    twice = pd.concat([cells, cells])
    assert infer(twice, "live").weight is None


def test_a_column_can_be_kept_or_dropped_by_name() -> None:
    frame = table(key=[f"u{i}" for i in range(N)], color=["x", "y"] * (N // 2))
    roles = infer(frame, "label", keep=["key"], leave_out=["color"])
    assert roles["key"].used and not roles["color"].used
    with pytest.raises(ValueError, match="Did you mean 'color'"):
        infer(frame, "label", leave_out=["colour"])


def test_a_missing_target_offers_the_nearest_name() -> None:
    with pytest.raises(ValueError, match="Did you mean 'label'"):
        infer(table(), "Labels")


def test_words_alone_are_read_by_their_letters() -> None:
    frame = pd.DataFrame({"name": [f"n{i}" for i in range(N)], "label": ["a", "b"] * (N // 2)})
    roles = infer(frame, "label")
    assert roles["name"].role == "word" and roles.by_letters


def test_nothing_to_learn_from_is_an_error() -> None:
    frame = pd.DataFrame({"label": ["a", "b"] * 20, "same": ["x"] * 40})
    with pytest.raises(ValueError, match="a column to learn from"):
        infer(frame, "label")


def test_a_prepared_table_does_not_depend_on_the_types_of_the_file() -> None:
    frame = table(flag=[True, False] * (N // 2), color=["1", "2"] * (N // 2))
    roles = infer(frame, "label")
    typed = roles.prepare(frame)
    text = frame.astype(str).replace({"True": "TRUE", "False": "FALSE"})
    assert roles.prepare(text).equals(typed)
    assert roles.prepare(text.assign(more=1)[["more", *frame.columns[::-1]]]).equals(typed)


def test_dates_written_as_text_are_read_as_dates() -> None:
    days = [date(2020, 1, 1) + timedelta(i) for i in range(N)]
    frame = table(day=days)
    roles = infer(frame, "label")
    text = frame.assign(day=[day.isoformat() for day in days])
    assert roles.prepare(text)["day"].tolist() == roles.prepare(frame)["day"].tolist()


def test_several_texts_are_one_document() -> None:
    frame = table(title=words(N, 6), body=words(N, 8))
    frame["title"] += [f" {i}" for i in range(N)]
    frame["body"] += [f" {i}" for i in range(N)]
    frame.loc[0, ["title", "body"]] = None
    frame.loc[1, "title"] = None
    documents = infer(frame, "label").documents(frame)
    assert documents[0] is None and documents[1] == frame["body"][1]
    assert documents[2] == f"{frame['title'][2]}\n{frame['body'][2]}"


# (file, target): columns left out, columns flagged, and roles that all used columns have
REAL: dict[tuple[str, str], tuple[dict[str, str], dict[str, str], set[str]]] = {
    ("adult-test.csv.gz", "income"): ({}, {"capital-gain": "sentinel"}, {"number", "category"}),
    ("banknote-authentication.csv", "class"): ({}, {}, {"number"}),
    ("car.csv", "class"): ({}, {}, {"category"}),
    ("contact-lenses.csv", "contact-lenses"): ({}, {}, {"category"}),
    ("cs109/heart-train.csv", "Label"): ({}, {}, {"boolean"}),
    ("fish/fish-sample.csv", "species"): ({}, {}, {"number"}),
    ("glass.csv", "type"): ({}, {}, {"number"}),
    ("house-votes-84.csv", "class"): ({}, {}, {"category"}),
    ("ionosphere.csv", "class"): ({"x2": "constant"}, {}, {"number", "boolean"}),
    ("iris.csv", "Species"): ({}, {}, {"number"}),
    ("movie-polarity-v2.csv.gz", "label"): ({"id": "identifier"}, {}, {"text", "number"}),
    ("mushroom.csv", "class"): ({"veil-type": "constant"}, {}, {"category"}),
    ("names/names-gender.csv", "gender"): ({}, {}, {"word"}),
    ("penguins.csv", "species"): ({}, {"year": "codes"}, {"number", "category"}),
    ("pima-diabetes.csv", "diabetes"): (
        {},
        dict.fromkeys(("glucose", "blood_pressure", "skin_thickness", "insulin", "bmi"), "zeros"),
        {"number"},
    ),
    ("sms-spam.csv", "label"): ({}, {}, {"text"}),
    ("sonar.csv", "class"): ({}, {}, {"number"}),
    ("tic-tac-toe.csv", "class"): ({}, {}, {"category"}),
    ("titanic.csv", "survived"): (
        {},
        {"pclass": "codes", "parch": "codes", "fare": "zeros", "cabin": "missing"},
        {"number", "category", "many-valued", "text"},
    ),
    ("titanic-counts.csv", "Survived"): ({"Freq": "weight"}, {}, {"category"}),
    ("ucb-admissions-counts.csv", "Admit"): ({"Freq": "weight"}, {}, {"category"}),
    ("weather-numeric.csv", "play"): ({}, {}, {"number", "category", "boolean"}),
    ("wine.csv", "class"): ({}, {}, {"number"}),
}


@pytest.mark.parametrize("which", REAL, ids=lambda which: which[0])
def test_columns_of_real_tables_are_taken_for_what_they_are(
    which: tuple[str, str], shared_data: Path
) -> None:
    file, target = which
    left_out, flagged, kinds = REAL[which]
    roles = infer(read(shared_data / file).frame, target)
    others = [c for c in roles.columns if not c.used and c.name != target]
    assert {c.name: c.role for c in others} == left_out
    assert {c.name: c.flags[0].kind for c in roles.used if c.flags} == flagged
    assert {c.role for c in roles.used} == kinds
