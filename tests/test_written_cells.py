"""Cells as people write them: numbers in disguise, dates, marks of what is missing, row numbers."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta, timezone
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")

import pyarrow as pa

from posterior import Classifier, load, save
from posterior.data.one_row import OneRow
from posterior.preprocessing.cell_shapes import Shapes
from posterior.preprocessing.column_roles import role_of
from posterior.preprocessing.dates import MONTHS, WrittenDates, written_dates
from posterior.preprocessing.infer_roles import infer
from posterior.preprocessing.roles import ColumnRole, Roles, frame_of
from posterior.preprocessing.written_numbers import WrittenNumbers, written_numbers
from posterior.sources.files import read

pytestmark = pytest.mark.once

N = 240
DAYS = [datetime(2023, 1, 1) + timedelta(days=3 * i, hours=i % 24) for i in range(N)]
AMOUNTS = np.round(np.random.default_rng(0).gamma(2, 900, N), 2)


def role(cells: Any, name: str = "column") -> ColumnRole:
    return role_of(frame_of(pd.DataFrame({name: cells})).get_column(name))


def numbers(cells: Any, name: str = "column") -> list[float]:
    """What a column of text is read as."""
    series = frame_of(pd.DataFrame({name: cells})).get_column(name)
    found = role_of(series)
    assert found.role == "number"
    return [float(value) for value in found.read(series).to_list()]


def flagged(found: ColumnRole, kind: str) -> str:
    (text,) = (flag.text for flag in found.flags if flag.kind == kind)
    return text


# --- numbers --------------------------------------------------------------------------------------

STYLES: dict[str, Any] = {
    "dollars": lambda x: f"${x:,.2f}",
    "dollars behind a sign": lambda x: f"-${-x:,.2f}" if x < 0 else f"${x:,.2f}",
    "an accountant's": lambda x: f"({-x:,.2f})" if x < 0 else f"{x:,.2f}",
    "German": lambda x: f"{x:,.2f} €".translate(str.maketrans(",.", ".,")),
    "French": lambda x: f"{x:,.2f}".replace(",", "\u202f").replace(".", ","),
    "Swiss": lambda x: f"CHF {x:,.2f}".replace(",", "'"),
    "percent": lambda x: f"{x:.2f}%",
    "kilograms": lambda x: f"{x:.2f} kg",
    "with a true minus": lambda x: f"{x:.2f}".replace("-", "\u2212"),
}


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
@given(values=st.lists(st.integers(-(10**9), 10**9), min_size=12, max_size=40, unique=True))
@example(values=[-(10**9), *range(-500_000, 500_000, 40_000)])
def test_numbers_written_in_any_style_are_read_back_exactly(style: Any, values: list[int]) -> None:
    cents = [value / 100 for value in values]
    cells = [style(value) for value in cents]
    found = written_numbers(cells, np.ones(len(cells)))
    assert found is not None and found.odd == ()
    assert found.values.tolist() == cents
    assert found.written.values(Shapes.of(cells)).tolist() == cents  # many cells take another way


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["54,321", "1,234", "12"], [54321, 1234, 12]),
        (["1.026,00", "12,50"], [1026, 12.5]),
        (["1 234,5", "7,25"], [1234.5, 7.25]),
        (["1.2k", "3M", "700"], [1200, 3e6, 700]),
        (["+5", "\u22123", "4"], [5, -3, 4]),
        (["1,00,000", "2,500", "12"], [1e5, 2500, 12]),
        (["$1.5 bn", "$20 k", "$3"], [1.5e9, 2e4, 3]),
        (["1.234 €", "12.500 €"], [1234, 12500]),
        (["1,234", "17", "250"], [1234, 17, 250]),
    ],
    ids=str,
)
def test_a_column_decides_what_commas_and_points_mean(
    cells: list[str], values: list[float]
) -> None:
    found = written_numbers(cells, np.ones(len(cells)))
    assert found is not None and found.values.tolist() == values


@pytest.mark.parametrize(
    "cells",
    [
        ["007", "012"],
        ["$5", "€3"],
        ["5 kg", "3 lb"],
        ["1.2.3", "2.3.4"],
        ["25-34", "35-44"],
        ["555 1234", "555 9876"],
        ["2WD", "4WD"],
        ["10+ years", "< 1 year"],
        ["A12", "B7"],
        ["15.01.2024", "16.01.2024"],
    ],
    ids=str,
)
def test_names_and_codes_are_no_numbers(cells: list[str]) -> None:
    assert written_numbers(cells, np.ones(len(cells))) is None


def test_what_is_counted_is_said() -> None:
    assert role([f"${x:,.2f}" for x in AMOUNTS]).reason.startswith("dollars, written as $")
    assert role([f"{x / 100:.1f}%" for x in AMOUNTS]).reason.startswith("percent")
    assert "kg" in role([f"{x:.1f} kg" for x in AMOUNTS]).reason
    ambiguous = role([f"{x},{y:03}" for x, y in zip(range(1, 41), range(40), strict=True)])
    assert "thousands apart, though" in ambiguous.reason


def test_a_few_cells_that_are_no_numbers_are_missing_and_said() -> None:
    cells = [f"${x:,.2f}" for x in AMOUNTS]
    cells[7], cells[9] = "call us", "n/a"
    found = role(cells)
    assert (found.role, found.missing, found.gaps) == ("number", 2, ("call us",))
    assert flagged(found, "marks") == "column: 'n/a', 'call us' are read as missing in 2 rows."


# --- what is missing ------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", ["NA", "n/a", "-", "--", "?", ".", "null", "none", "unknown", " "])
def test_marks_among_numbers_are_missing(mark: str) -> None:
    cells = [str(i) for i in range(40)]
    cells[3] = cells[5] = mark
    found = role(cells)
    assert (found.role, found.missing) == ("number", 2)
    assert "read as missing in 2 rows" in flagged(found, "marks")


def test_marks_among_words_are_missing_too_and_unknown_is_a_word() -> None:
    found = role(["red", "n/a", "?", "unknown"] * 20)
    assert (found.role, found.distinct, found.missing) == ("category", 2, 40)
    frame = pd.DataFrame({"color": ["red", "blue", "?", "NA"] * 20, "y": ["a", "b"] * 40})
    prepared = infer(frame, "y").prepare(frame)["color"]
    assert prepared.isna().sum() == 40


def test_numbers_and_words_in_one_column_of_python_are_read() -> None:
    found = role([1.5, "n/a", 3, "4,000"] * 20)
    assert (found.role, found.missing) == ("number", 20)
    assert role([1, "two", None, "three"] * 20).role == "category"


@pytest.mark.parametrize("mark", [999, -1, -99])
def test_a_repeated_number_far_from_the_others_is_suspected(mark: int) -> None:
    ages = np.random.default_rng(0).integers(18, 80, N)
    ages[::20] = mark
    found = role(ages, "age")
    assert found.used and f"is {mark} in 12 rows" in flagged(found, "sentinel")
    assert role(np.where(ages == mark, 81, ages), "age").flags == ()


# --- dates ----------------------------------------------------------------------------------------

FORMATS = {
    "%Y-%m-%dT%H:%M:%S": "year",
    "%Y/%m/%d": "year",
    "%m/%d/%Y": "month",
    "%m/%d/%Y %H:%M": "month",
    "%m/%d/%Y %I:%M %p": "month",
    "%d.%m.%Y": "day",
    "%d/%m/%Y %H:%M:%S": "day",
    "%m/%d/%y": "month",
    "%b %d, %Y": "name and day",
    "%d %B %Y": "day and name",
    "%d-%b-%Y": "day and name",
    "%a, %d %b %Y %H:%M": "day and name",
    "%b-%Y": "name",
}


@pytest.mark.parametrize("form", FORMATS)
def test_dates_are_read_as_python_reads_them(form: str) -> None:
    cells = [day.strftime(form) for day in DAYS]
    found = written_dates(cells, np.ones(N))
    assert found is not None and (found.written.form, found.odd) == (FORMATS[form], ())
    theirs = [datetime.strptime(cell, form) for cell in cells]
    assert found.values.astype("datetime64[us]").tolist() == theirs
    many = cells * 30  # which Arrow takes apart
    assert found.written.values(many).tolist() == theirs * 30


def test_times_of_other_zones_are_one_time() -> None:
    east = timezone(timedelta(hours=2))
    cells = [day.replace(tzinfo=east).isoformat() for day in DAYS]
    found = written_dates(cells, np.ones(N))
    assert found is not None
    here = [day.replace(tzinfo=east).astimezone(UTC).replace(tzinfo=None) for day in DAYS]
    assert found.values.tolist() == here


def test_one_cell_decides_whether_the_day_or_the_month_comes_first() -> None:
    early = [f"0{i % 9 + 1}/0{i % 7 + 1}/2024" for i in range(60)]
    either = role(early)
    assert "month first" in flagged(either, "dates")
    (warning,) = either.flags
    assert warning.severity == "warning"
    day = role([*early, "25/01/2024"])
    assert day.flags == () and day.written == WrittenDates("day") and "day first" in day.reason
    assert role([cell.replace("/", ".") for cell in early]).written == WrittenDates("day")


@pytest.mark.parametrize(
    ("name", "cells", "form"),
    [
        ("order_date", [44_000 + 5 * i for i in range(N)], "days since 1900"),
        ("created_at", [1_600_000_000 + 86_400 * i for i in range(N)], "seconds since 1970"),
        (
            "timestamp",
            [(1_600_000_000 + 7 * i) * 1000 for i in range(N)],
            "milliseconds since 1970",
        ),
        ("ShipDate", [int(day.strftime("%Y%m%d")) for day in DAYS], "digits"),
    ],
)
def test_numbers_are_dates_where_the_name_says_so(name: str, cells: list[int], form: str) -> None:
    found = role(cells, name)
    assert (found.role, found.written) == ("date", WrittenDates(form))
    drawn = np.random.default_rng(0).integers(min(cells), max(cells) + 1, N)
    assert role(drawn, "salary").role == "number"


def test_a_time_in_the_study_is_no_date() -> None:
    assert role(np.random.default_rng(0).integers(4, 285, N), "time").role == "number"


def test_a_time_of_day_is_hours() -> None:
    assert numbers([f"{i % 24}:{30 * (i % 2):02}" for i in range(48)])[:4] == [0, 1.5, 2, 3.5]


def test_times_of_day_and_lengths_of_time_are_numbers() -> None:
    times = role([time(i % 24) for i in range(N)])
    lengths = role(pd.to_timedelta(np.arange(N) ** 2, "h"))
    assert (times.role, times.high, times.parts) == ("number", 23 / 24, ())
    assert (lengths.role, lengths.reason) == ("number", "lengths of time, in days")


def test_a_day_that_no_calendar_has_is_no_date() -> None:
    assert written_dates(["02/30/2024", "02/31/2024"], np.ones(2)) is None


def test_a_date_becomes_what_can_speak() -> None:
    frame = pd.DataFrame({"day": DAYS, "y": ["a", "b"] * (N // 2)})
    roles = infer(frame, "y")
    assert roles["day"].parts == ("month", "weekday", "hour")
    prepared = roles.prepare(frame)
    assert prepared["day month"].tolist() == [day.strftime("%b") for day in DAYS]
    assert prepared["day weekday"].tolist() == [day.strftime("%a") for day in DAYS]
    assert prepared["day hour"].tolist() == [day.hour for day in DAYS]
    assert tuple(datetime(2024, m, 1).strftime("%b") for m in range(1, 13)) == MONTHS


def test_parts_that_do_not_vary_are_left_away() -> None:
    week = [datetime(2024, 1, 1) + timedelta(days=i % 5) for i in range(N)]
    firsts = [datetime(1900 + i, 1, 1) for i in range(100)]
    assert role(week).parts == ()
    assert role(firsts).parts == ()
    months = [day.strftime("%b-%Y") for day in DAYS]
    assert role(months).parts == ("month",)


# --- row numbers and codes ------------------------------------------------------------------------


def test_numbers_that_rise_evenly_count_the_rows_in_any_order() -> None:
    random = np.random.default_rng(0)
    counted = 1000 + np.cumsum(random.integers(1, 4, N))
    sizes = np.sort(random.choice(10**6, N, replace=False))
    assert role(counted, "EmployeeNo").role == role(counted, "what").role == "identifier"
    assert role(sizes, "population").role == "number"
    assert role(random.permutation(counted), "what").role == "identifier"
    assert role(random.permutation(sizes), "population").role == "number"
    assert role(np.arange(1900, 1900 + N), "year").role == "number"


@pytest.mark.parametrize("name", ["ID", "Id", "id", "customerId", "CustomerID", "user_id", "UUID"])
def test_whole_numbers_that_mostly_differ_are_identifiers_where_the_name_says_so(name: str) -> None:
    numbers = np.random.default_rng(0).choice(10**6, N)
    numbers[1] = numbers[0]
    assert role(numbers, name).role == "identifier"
    assert role(numbers, "humidity").role == role(numbers, "valid").role == "number"


def test_whole_numbers_that_are_called_codes_are_categories() -> None:
    codes = np.random.default_rng(0).choice([10001, 90210, 60601], N)
    found = role(codes, "Zip Code")
    assert found.role == "category" and "--as 'Zip Code=number'" in flagged(found, "codes")
    assert role(codes, "income").role == "number"
    masked = role([f"{code % 900}xx" for code in np.arange(N) % 40 + 100], "zip_code")
    assert masked.role == "many-valued"


# --- as a person says -----------------------------------------------------------------------------


def table() -> pd.DataFrame:
    """Orders as a shop writes them."""
    random = np.random.default_rng(1)
    late = random.random(N) < 0.5
    return pd.DataFrame(
        {
            "Ordered": [day.strftime("%m/%d/%Y") for day in DAYS],
            "Sales": [f"${x:,.2f}" for x in AMOUNTS + 800 * late],
            "Discount": [f"{x}%" for x in random.integers(0, 40, N)],
            "Weight": [f"{x:.1f} kg" for x in random.gamma(3, 4, N)],
            "zip": random.choice([10001, 90210, 60601], N),
            "Region": random.choice(["East", "West", "?"], N),
            "Late": np.where(late, "yes", "no"),
        }
    )


def test_a_person_says_what_a_column_is() -> None:
    frame = table().assign(note=[f"n{i % 40}" for i in range(N)])
    roles = infer(frame, "Late", kinds={"zip": "number", "Discount": "category", "note": "text"})
    assert [roles[name].role for name in ("zip", "Discount", "note")] == [
        "number",
        "category",
        "text",
    ]
    assert infer(frame, "Late", kinds={"Region": "boolean"})["Region"].role == "boolean"


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({"Region": "number"}, "Expected numbers in 'Region', as asked, got '(East|West)'"),
        ({"Region": "date"}, "Expected dates in 'Region', as asked"),
        ({"zip": "date"}, "Expected dates in 'zip', as asked, got"),
        ({"Weight": "boolean"}, "Expected two values in 'Weight'"),
        ({"Region": "money"}, "Expected 'Region' to be read as one of number, category"),
        ({"Reigon": "text"}, "Did you mean 'Region'"),
    ],
)
def test_what_cannot_be_read_so_is_refused(kinds: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        infer(table(), "Late", kinds=kinds)


def test_a_classifier_is_told_what_columns_are() -> None:
    models = ["naive-bayes"]
    model = Classifier(models=models, kinds={"zip": "number"}, leave_out=["Region"])
    model.fit(table(), "Late")
    assert model.roles_["zip"].role == "number"
    assert "Region" not in model.feature_names_in_
    with pytest.raises(ValueError, match="Expected 'zip' to be read as one of"):
        Classifier(models=models, kinds={"zip": "digits"}).fit(table(), "Late")


# --- the whole way --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model() -> Classifier:
    return Classifier(models=["naive-bayes", "logistic", "additive"]).fit(table(), "Late")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_every_library_reads_the_same_cells(library: str, model: Classifier) -> None:
    frame = table().drop(columns="Late")
    given: Any = frame.sample(frac=1, random_state=0)  # whose index is not in order
    if library == "polars":
        given = pytest.importorskip("polars").from_pandas(given)
    elif library == "pyarrow":
        given = pa.Table.from_pandas(given, preserve_index=False)
    order = frame.sample(frac=1, random_state=0).index
    expected = model.predict_proba(frame)[order]
    assert model.predict_proba(given).tolist() == expected.tolist()


def test_a_row_alone_is_read_as_among_others(model: Classifier) -> None:
    frame = table().drop(columns="Late").head(20)
    alone = [model.predict_proba(frame.iloc[[i]])[0] for i in range(len(frame))]
    assert np.array(alone).tolist() == model.predict_proba(frame).tolist()
    row = OneRow.of(list(frame.columns), frame.iloc[0].tolist())
    read_alone = model.roles_.prepare(row).cells
    prepared = model.roles_.prepare(frame)
    for name in prepared.columns:
        assert read_alone[name] == prepared[name].iloc[0]


def test_a_saved_model_reads_cells_as_before(model: Classifier, tmp_path: Any) -> None:
    save(model, tmp_path / "m.posterior")
    again = load(tmp_path / "m.posterior")
    assert again.roles_ == model.roles_
    frame = table().drop(columns="Late")
    assert again.predict_proba(frame).tolist() == model.predict_proba(frame).tolist()


def test_reasons_of_a_date_are_one_term_and_add_up(model: Classifier) -> None:
    frame = table().drop(columns="Late")
    evidence = model.evidence(frame)
    names = [str(name) for name in evidence.feature_names]
    assert names[: len(frame.columns)] == list(frame.columns)
    assert not any("month" in name or "weekday" in name for name in names)
    joint = evidence.log_joint()
    log_proba = joint - np.logaddexp.reduce(joint, axis=1)[:, None]
    np.testing.assert_allclose(np.exp(log_proba), model.predict_proba(frame), atol=1e-9)
    why = model.explain(frame.iloc[[0]])
    assert why.values[:2] == (frame["Ordered"][0], frame["Sales"][0])  # as the file has them


def test_a_cell_that_cannot_be_read_is_named(model: Classifier) -> None:
    frame = table().drop(columns="Late").head(3)
    frame.loc[2, "Sales"] = "call us"
    with pytest.raises(ValueError, match=r"dollars in column 'Sales', got 'call us' in row 2"):
        model.predict(frame)
    frame.loc[2, "Sales"] = "n/a"
    assert len(model.predict(frame)) == 3


def test_a_file_is_read_as_python_reads_its_cells(tmp_path: Any) -> None:
    table().to_csv(tmp_path / "orders.csv", index=False)
    here, there = (infer(frame, "Late") for frame in (table(), read(tmp_path / "orders.csv").frame))
    assert [(c.name, c.role, c.written, c.parts) for c in here.columns] == [
        (c.name, c.role, c.written, c.parts) for c in there.columns
    ]


def test_a_server_takes_cells_as_people_write_them(model: Classifier) -> None:
    pytest.importorskip("fastapi")
    from posterior.app.server.served import Served

    served = Served(model)
    written = {"Sales": "$1,250.00", "Ordered": "12/24/2023", "Weight": "12.5 kg", "Discount": "-"}
    plain = {"Sales": 1250, "Ordered": "2023-12-24", "Weight": 12.5, "Discount": None}
    here, there = (served.record_posterior(served.reading.record(r)) for r in (written, plain))
    assert here.tolist() == there.tolist()
    with pytest.raises(ValueError, match="Expected dates in column 'Ordered', got 'someday'"):
        served.record_posterior(served.reading.record({"Ordered": "someday"}))


def test_the_command_line_is_told_what_columns_are(tmp_path: Any) -> None:
    testing = pytest.importorskip("typer.testing")
    from posterior.app.cli.commands_app import app

    table().to_csv(tmp_path / "orders.csv", index=False)
    out = tmp_path / "model.posterior"
    options = [
        "--target",
        "Late",
        "--model",
        "naive-bayes",
        "--as",
        "zip=number",
        "--out",
        str(out),
    ]
    done = testing.CliRunner().invoke(app, ["fit", str(tmp_path / "orders.csv"), *options])
    assert done.exit_code == 0, done.output
    assert load(out).roles["zip"].role == "number"


def test_numbers_that_are_written_can_be_cut_into_bands() -> None:
    roles = infer(table(), "Sales", bands=[1000, 2000])
    column = frame_of(table()).get_column("Sales")
    values = [float(cell[1:].replace(",", "")) for cell in table()["Sales"]]
    expected = [
        "under 1000" if v < 1000 else "1000 to 2000" if v < 2000 else "2000 and more"
        for v in values
    ]
    assert roles.labels(column) == expected


def test_roles_of_earlier_versions_have_no_parts() -> None:
    day = ColumnRole("day", "date", True, "dates", 2, 0, ())
    roles = Roles("y", (day,))
    prepared = roles.prepare(pd.DataFrame({"day": ["2024-01-31", "2024-02-01T12:00"]}))
    assert prepared["day"].tolist() == [19753, 19754.5]


def test_how_numbers_are_written_is_one_value() -> None:
    assert WrittenNumbers(",", ".").values(["1.234,5", "x"]).tolist()[0] == 1234.5
    assert np.isnan(WrittenNumbers().values(["1.234,5"])).all()
