"""Flags of many columns are told once, those of few one by one."""

from __future__ import annotations

import numpy as np
import pandas as pd

from posterior.app.report.flag_groups import grouped
from posterior.preprocessing.infer_roles import infer

RANDOM = np.random.default_rng(0)


def told(**columns: object) -> list[str]:
    """What is listed about a table of these columns and a target."""
    frame = pd.DataFrame({**columns, "y": np.arange(200) % 2})
    return [flag.text for _, flag in grouped(infer(frame, "y").columns)]


def questionnaire(n: int) -> dict[str, object]:
    return {f"A{i}": RANDOM.integers(1, 7, 200) for i in range(1, n + 1)}


def test_many_columns_of_codes_are_one_sentence_with_the_option_to_copy() -> None:
    (said,) = told(**questionnaire(25))
    assert said.startswith("25 columns (A1, A2, A3 and 22 more) hold few whole numbers")
    assert said.endswith("if they are codes of categories: --as A1=category.")


def test_two_columns_are_told_one_by_one() -> None:
    said = told(**questionnaire(2))
    assert [text.split()[0] for text in said] == ["A1", "A2"]


def test_kinds_are_told_apart_and_warnings_stand_first() -> None:
    lengths = {
        f"z{i}": np.where(RANDOM.random(200) < 0.2, 0, RANDOM.normal(80, 9, 200)) for i in "abc"
    }
    said = told(**questionnaire(3), **dict.fromkeys("uvw", "same"), **lengths)
    assert [text.partition(")")[0] for text in said] == [
        "3 columns (za, zb, zc",
        "3 columns (A1, A2, A3",
        "3 columns (u, v, w",
    ]


def test_codes_read_as_categories_do_not_join_those_read_as_numbers() -> None:
    zips = {f"zip {i}": RANDOM.choice([10115, 20095, 80331, 50667], 200) for i in (1, 2, 3)}
    numbers, categories = sorted(told(**questionnaire(3), **zips))
    assert numbers.startswith("3 columns (A1, A2, A3) hold few whole numbers")
    assert categories.startswith("3 columns (zip 1, zip 2, zip 3)")
    assert categories.endswith("--as 'zip 1=number'.")
