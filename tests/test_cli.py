"""The command line: round trips, files and pipes, errors in a line, exit codes."""

from __future__ import annotations

import contextlib
import csv
import doctest
import io
import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

from pyarrow import feather, parquet
from typer.testing import CliRunner

import posterior
from posterior.app.cli import command, main
from posterior.app.cli.commands_app import app
from posterior.preprocessing.infer_roles import infer
from posterior.sources import files, outputs

pytestmark = pytest.mark.once

REPOSITORY = Path(__file__).resolve().parents[1]
HEADER = ["weight", "river", "caught", "tagged", "species"]


def draw(n: int, seed: int) -> list[list[str]]:
    """Fish, as a file has them: numbers, words, dates, truth values and gaps."""
    random = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        salmon = random.random() < 0.4
        weight = random.normal(30 if salmon else 16, 4)
        river = random.choice(
            ["Rhine", "Elbe", "Oder"], p=[0.7, 0.2, 0.1] if salmon else [0.2, 0.3, 0.5]
        )
        caught = np.datetime64("2024-03-01") + random.integers(0, 60) + 30 * salmon
        cells = [
            f"{weight:.2f}",
            str(river),
            str(caught),
            "TRUE" if random.random() < 0.3 else "FALSE",
        ]
        cells = ["" if random.random() < 0.05 else cell for cell in cells]
        rows.append([*cells, "salmon" if salmon else "sea bass"])
    return rows


def write(path: Path, rows: list[list[str]], header: list[str] = HEADER) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def run(*arguments: object, code: int = 0, stdin: str | bytes | None = None) -> str:
    """What a command writes to stdout; it must end with the code."""
    result = CliRunner().invoke(app, [str(a) for a in arguments], input=stdin)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result.stdout


def complaint(*arguments: object, code: int = 1) -> str:
    """The one line that a command writes to stderr when it fails."""
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("posterior: ")
    return lines[0]


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def proba(model: Path, data: Path) -> list[dict[str, str]]:
    """The answers to a table, digit by digit."""
    return read_csv(run("predict", model, data, "--only"))


@pytest.fixture(scope="module")
def fish(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """Two files of fish, both together, and a naive Bayes model of the first."""
    folder = tmp_path_factory.mktemp("fish")
    first, second = draw(150, 0), draw(80, 1)
    found = SimpleNamespace(
        folder=folder,
        first=write(folder / "first.csv", first),
        second=write(folder / "second.csv", second),
        both=write(folder / "both.csv", first + second),
        new=write(folder / "new.csv", draw(40, 2)),
        model=folder / "first.posterior",
    )
    run("fit", found.first, "--target", "species", "--model", "naive-bayes", "-o", found.model)
    return found


# --- models go round --------------------------------------------------------------------------


def test_a_fitted_model_answers_as_the_library_does(fish):
    model = posterior.load(fish.model)
    answers = proba(fish.model, fish.new)
    assert len(answers) == 40
    assert list(answers[0]) == ["predicted", "p_salmon", "p_sea bass"]
    frame = files.read(fish.new).frame
    ours = np.array([[float(a["p_salmon"]), float(a["p_sea bass"])] for a in answers])
    np.testing.assert_array_equal(ours, model.predict_proba(frame))
    assert [a["predicted"] for a in answers] == model.predict(frame).tolist()


def test_rows_learned_and_forgotten_leave_no_trace(fish, tmp_path):
    model = tmp_path / "model.posterior"
    before = proba(fish.model, fish.new)
    run("update", fish.model, fish.second, "-o", model)
    assert proba(model, fish.new) != before
    run("forget", model, fish.second)
    assert proba(model, fish.new) == before


def test_an_updated_model_is_the_model_of_all_rows(fish, tmp_path):
    updated, whole = tmp_path / "updated.posterior", tmp_path / "whole.posterior"
    run("update", fish.model, fish.second, "-o", updated)
    run("fit", fish.both, "--target", "species", "--like", fish.model, "-o", whole)
    assert proba(updated, fish.new) == proba(whole, fish.new)


def test_merged_models_are_the_model_of_all_rows(fish, tmp_path):
    second, merged, whole = (tmp_path / f"{n}.posterior" for n in ("second", "merged", "whole"))
    run("fit", fish.second, "-t", "species", "--like", fish.model, "-o", second)
    run("fit", fish.both, "-t", "species", "--like", fish.model, "-o", whole)
    told = json.loads(run("merge", fish.model, second, "-o", merged, "--json"))
    assert told["out"] == str(merged)
    assert proba(merged, fish.new) == proba(whole, fish.new)


@pytest.mark.parametrize("kind", ["discriminant", "logistic", "neighbors", "additive"])
def test_every_kind_of_model_is_fitted_and_explains_itself(fish, tmp_path, kind):
    model = tmp_path / "model.posterior"
    told = json.loads(run("fit", fish.first, "-t", "species", "-m", kind, "-o", model, "--json"))
    assert told["model"] == kind
    assert len(proba(model, fish.new)) == 40
    assert "Why" in run("explain", model, fish.new, "--row", 3)


def test_the_best_model_is_chosen_where_none_is_named(fish, tmp_path):
    model = tmp_path / "model.posterior"
    told = json.loads(run("fit", fish.first, "-t", "species", "-o", model, "--json"))
    assert told["scores"]["accuracy"]["value"] > 0.9
    assert told["rows"] == 150
    assert json.loads(run("inspect", model, "--json"))["target"] == "species"


def test_an_explanation_adds_up_to_the_log_odds(fish):
    told = json.loads(run("explain", fish.model, fish.new, "--row", 1, "--json"))
    weights = [feature["weight"] for feature in told["features"]]
    assert sum(weights) + told["prior"] == pytest.approx(told["log_odds"], abs=1e-9)
    best, other = (told["posterior"][told[name]] for name in ("of", "against"))
    assert np.log(best / other) == pytest.approx(told["log_odds"], abs=1e-9)


def test_a_cell_may_be_set_to_ask_what_would_change(fish):
    light = json.loads(run("explain", fish.model, "--set", "weight=10", "--json"))
    heavy = json.loads(run("explain", fish.model, "-s", "weight=40", "-s", "river=Rhine", "--json"))
    assert light["of"] == "sea bass"
    assert heavy["of"] == "salmon"
    row = ["explain", fish.model, fish.new, "--row", 2, "--json"]
    plain, changed = (json.loads(run(*row, *more)) for more in ([], ["--set", "weight=100"]))
    values = [{f["name"]: f["value"] for f in told["features"]} for told in (plain, changed)]
    assert values[1]["weight"] == 100
    assert values[0]["river"] == values[1]["river"]


def test_reasons_stand_beside_the_answers(fish):
    answers = read_csv(run("predict", fish.model, fish.new, "--explain"))
    assert all(a["because"].count("(") == 3 for a in answers)
    assert any("weight = " in a["because"] for a in answers)


def test_samples_look_like_the_table(fish, tmp_path):
    out = tmp_path / "drawn.csv"
    run("sample", fish.model, "-n", 200, "-o", out, "--seed", 3)
    drawn = read_csv(out.read_text())
    assert {row["species"] for row in drawn} == {"salmon", "sea bass"}
    assert set(drawn[0]) == set(HEADER)
    salmon = [float(row["weight"]) for row in drawn if row["species"] == "salmon"]
    assert np.mean(salmon) == pytest.approx(30, abs=1.5)
    again = run("sample", fish.model, "-n", 200, "--seed", 3)
    assert again == out.read_text()


def test_inspect_shows_columns_classes_and_rows(fish):
    told = json.loads(run("inspect", fish.model, "--json"))
    assert told["classes"] == ["salmon", "sea bass"]
    assert told["rows"] == 150
    roles = {column["name"]: column["role"] for column in told["columns"]}
    assert roles == {"weight": "number", "river": "category", "caught": "date", "tagged": "boolean"}
    text = run("inspect", fish.model)
    assert "NaiveBayes" in text
    assert "species" in text


# --- files and pipes --------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "jsonl", "arrow"])
def test_answers_are_the_same_in_every_format(fish, tmp_path, ending):
    out = tmp_path / f"answers.{ending}"
    told = json.loads(run("predict", fish.model, fish.new, "-o", out, "--json"))
    assert told["rows"] == 40
    frame = files.read(out).frame
    expected = [float(a["p_salmon"]) for a in proba(fish.model, fish.new)]
    np.testing.assert_array_equal(frame.column("p_salmon").to_pylist(), expected)
    assert frame.column_names[:5] == HEADER


@pytest.mark.parametrize("ending", ["parquet", "arrow", "jsonl"])
def test_a_model_of_a_csv_file_reads_other_formats(fish, tmp_path, ending):
    frame, path = files.read(fish.new).frame, tmp_path / f"new.{ending}"
    if ending == "jsonl":
        outputs.write(str(path), iter([frame]))
    else:
        {"parquet": parquet.write_table, "arrow": feather.write_feather}[ending](frame, path)
    assert proba(fish.model, path) == proba(fish.model, fish.new)


def test_input_cells_are_written_as_they_were_read(fish):
    rows = read_csv(run("predict", fish.model, fish.new))
    assert [[row[name] for name in HEADER] for row in rows] == draw(40, 2)


def test_pieces_of_a_file_are_read_as_the_whole(fish, monkeypatch):
    whole = proba(fish.model, fish.new)
    batches = files.batches
    monkeypatch.setattr(files, "batches", lambda path, part: batches(path, rows=1))
    assert proba(fish.model, fish.new) == whole


def test_a_sheet_and_a_table_are_read_by_every_command(fish, tmp_path):
    """A workbook of two sheets, a database of two tables: the second of them is the fish."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    frames = {name: files.read(getattr(fish, name)).frame.to_pandas() for name in ("first", "new")}
    with pandas.ExcelWriter(tmp_path / "fish.xlsx", engine="openpyxl") as book:
        pandas.DataFrame({"about": ["fish"]}).to_excel(book, sheet_name="Notes", index=False)
        for name, frame in frames.items():
            frame.to_excel(book, sheet_name=name, index=False)
    with contextlib.closing(sqlite3.connect(tmp_path / "fish.sqlite")) as database:
        for name, frame in frames.items():
            frame.to_sql(name, database, index=False)
    model = tmp_path / "m.posterior"
    for place, option in (("fish.xlsx", "--sheet"), ("fish.sqlite", "--table")):
        data, first, new = tmp_path / place, [option, "first"], [option, "new"]
        run("fit", data, *first, "-t", "species", "-m", "naive-bayes", "-o", model)
        answers = read_csv(run("predict", model, data, *new, "--only"))
        assert answers == proba(fish.model, fish.new)
        said, known = (
            run("explain", *asked, "--row", 3).splitlines()
            for asked in ([model, data, *new], [fish.model, fish.new])
        )
        assert (said[0], said[-1]) == (known[0], known[-1])  # SQLite calls false 0
        run("update", model, data, *new)
        run("forget", model, data, *new)
        assert read_csv(run("predict", model, data, *new, "--only")) == answers
        facts = json.loads(run("cluster", data, *new, "--k", 2, "--json"))
        assert facts["rows"] == 40
        run("fit", data, *first, "-t", "species", "-m", "naive-bayes", "--stream", "-o", model)
        assert posterior.load(model).class_count_.sum() == 150
    assert proba(fish.model, tmp_path / "fish.xlsx") == proba(fish.model, fish.first)
    assert "--table" in complaint("predict", fish.model, tmp_path / "fish.sqlite")


def test_a_folder_and_a_pattern_are_learned_and_answered_as_one_table(fish, tmp_path):
    for name in ("first", "second"):
        (tmp_path / f"{name}.csv").write_bytes(getattr(fish, name).read_bytes())
    options = ["-t", "species", "-o", tmp_path / "m.posterior", "--json"]
    for data, more in ((tmp_path, ["-m", "naive-bayes"]), (tmp_path / "*.csv", [])):
        facts = json.loads(run("fit", data, *options, *more))
        assert facts["rows"] == 230 and facts["notes"] == ["2 files are read as one table."]
        assert proba(fish.model, data) == proba(fish.model, fish.both)


def test_files_are_named_after_the_table(fish, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("fit", fish.first, "-t", "species", "-m", "naive-bayes")
    run("fit", "-", "-t", "species", "-m", "naive-bayes", stdin=fish.first.read_bytes())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["first.posterior", "model.posterior"]
    assert proba(Path("first.posterior"), fish.new) == proba(Path("model.posterior"), fish.new)


def test_documents_are_read_and_explained(tmp_path):
    spam, ham = (
        ("win a free prize now", "claim your free prize"),
        ("see you at home", "lunch at noon"),
    )
    rows = [
        [f"{text} {i} then call me back", label]
        for i in range(15)
        for texts, label in ((spam, "spam"), (ham, "ham"))
        for text in texts
    ]
    data, model = (
        write(tmp_path / "mail.csv", rows, ["message", "label"]),
        tmp_path / "mail.posterior",
    )
    run("fit", data, "-t", "label", "-m", "text", "-o", model)
    told = json.loads(run("explain", model, "--set", "message=a free prize", "--json"))
    assert told["of"] == "spam"
    assert "prize" in [feature["name"] for feature in told["features"]]
    assert "Expected one of text" in complaint("fit", data, "-t", "label", "-m", "neighbors")


def test_stdin_is_a_table_and_stdout_has_the_answers_alone(fish):
    text = run("predict", fish.model, "-", stdin=fish.new.read_bytes())
    assert text == run("predict", fish.model, fish.new)
    told = json.loads(run("predict", fish.model, "-", "--json", stdin=fish.new.read_bytes()))
    assert len(told["predictions"]) == told["rows"] == 40


def test_columns_may_come_in_any_order_and_others_are_kept(fish, tmp_path):
    rows = [[*row[::-1], "x"] for row in draw(40, 2)]
    other = write(tmp_path / "other.csv", rows, [*HEADER[::-1], "note"])
    answers = read_csv(run("predict", fish.model, other))
    assert [a["p_salmon"] for a in answers] == [a["p_salmon"] for a in proba(fish.model, fish.new)]
    assert answers[0]["note"] == "x"


def test_words_that_look_like_numbers_stay_words(tmp_path):
    rows = [["007", "a"], ["7", "b"], ["x", "a"], ["y", "b"]] * 10
    data = write(tmp_path / "codes.csv", rows, ["code", "kind"])
    model = tmp_path / "codes.posterior"
    run("fit", data, "-t", "kind", "-m", "naive-bayes", "-o", model)
    for code, kind in (("007", "a"), ("7", "b")):  # a piece of one row, which looks like a number
        one = write(tmp_path / "one.csv", [[code]], ["code"])
        assert proba(model, one)[0]["predicted"] == kind


# --- clusters ---------------------------------------------------------------------------------


def test_clusters_are_found_without_labels(fish, tmp_path):
    out, model = tmp_path / "clusters.csv", tmp_path / "clusters.posterior"
    arguments = ["cluster", fish.first, "--drop", "species", "--k", "1..3", "-o", out]
    told = json.loads(run(*arguments, "--save", model, "--json"))
    assert sorted(map(int, told["bic"])) == [1, 2, 3]
    assert str(told["k"]) == min(told["bic"], key=told["bic"].get)
    rows = read_csv(out.read_text())
    sizes = [sum(row["cluster"] == str(c["cluster"]) for row in rows) for c in told["clusters"]]
    assert sizes == [cluster["rows"] for cluster in told["clusters"]]
    answers = proba(model, fish.first)
    assert [a["predicted"] for a in answers] == [row["cluster"] for row in rows]


def test_clusters_of_numbers_may_lean(tmp_path):
    random = np.random.default_rng(0)
    cloud = random.normal(size=(60, 2)) @ [[3, 2.9], [0, 0.3]]
    points = np.concatenate([cloud, cloud + np.array([0, 6])]).round(3).astype(str).tolist()
    told = json.loads(
        run("cluster", write(tmp_path / "p.csv", points, ["x", "y"]), "--k", "1..3", "--json")
    )
    assert told["kind"] == "GaussianMixture"
    assert [cluster["rows"] for cluster in told["clusters"]] == [60, 60]


# --- the report -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def report(fish) -> SimpleNamespace:
    """One report, said to machines and to people."""
    pytest.importorskip("vl_convert")
    folder, answers = fish.folder / "report", []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "_show", lambda answer, noted: answers.append(answer))
        run("report", fish.both, "-t", "species", "-o", folder, "--subgroup", "river")
    return SimpleNamespace(folder=folder, answer=answers[0])


@pytest.mark.slow
def test_a_report_writes_a_page_its_numbers_and_the_model(fish, report):
    told = command.plain(report.answer.facts)
    assert sorted(p.name for p in report.folder.iterdir()) == [
        "model.posterior",
        "model_card.json",
        "report.html",
        "report.json",
    ]
    facts = json.loads(Path(told["numbers"]).read_text("utf-8"))
    assert facts["choice"]["key"] == told["chosen"]
    assert [c["key"] for c in facts["candidates"]] == [c["key"] for c in told["comparison"]]
    assert {group["column"] for group in facts["subgroups"]} == {"river"}
    assert "</html>" in Path(told["page"]).read_text("utf-8")
    assert len(proba(Path(told["model"]), fish.new)) == 40


@pytest.mark.slow
def test_a_table_is_compared_with_what_a_model_learned(fish, report, tmp_path):
    model = report.folder / "model.posterior"
    told = json.loads(run("report", fish.both, "--against", model, "-o", tmp_path, "--json"))
    facts = json.loads((tmp_path / "drift.json").read_text("utf-8"))
    assert (
        told["drifted"] == [c["name"] for c in facts["columns"] if c["verdict"] != "stable"] == []
    )
    assert facts["rows_now"] == facts["rows_then"] == told["rows"]
    assert facts["performance"]["rows"] == told["rows"]
    assert "</html>" in (tmp_path / "drift.html").read_text("utf-8")
    assert "no such path" in complaint("report", fish.both, "--against", tmp_path / "none")
    run("report", fish.both, code=2)  # neither a target nor a model


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 120])
def test_a_report_in_the_terminal_fits(report, monkeypatch, capsys, width):
    monkeypatch.setenv("COLUMNS", str(width))
    command._show(report.answer, [])
    text = capsys.readouterr().out
    table = text.split("calibration\n")[1].split("\n\n")[0].splitlines()
    assert all(len(line) <= width for line in table)
    assert "…" not in text
    assert sum(line.startswith("* ") for line in table) == 1  # the chosen one
    assert str(report.folder / "report.html") in text


# --- what is wrong is said in a line ------------------------------------------------------------


@pytest.fixture
def bad(tmp_path: Path) -> SimpleNamespace:
    """Files that are wrong, each in its own way."""
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "noise.posterior").write_bytes(bytes(range(256)) * 9)
    (tmp_path / "noise.parquet").write_bytes(b"PAR1 no more")
    (tmp_path / "ragged.csv").write_text("weight,river,species\n1,Rhine,a\n2,Elbe,b,c,d\n")
    write(tmp_path / "no-rows.csv", [])
    write(tmp_path / "typo.csv", draw(5, 0), ["weihgt", *HEADER[1:]])
    write(tmp_path / "words.csv", [["heavy", *draw(1, 0)[0][1:]]])
    write(tmp_path / "one-class.csv", [[*row[:4], "eel"] for row in draw(20, 0)])
    write(tmp_path / "unlabeled.csv", [[*row[:4], ""] for row in draw(20, 0)])
    return SimpleNamespace(
        **{p.name.replace(".", "_").replace("-", "_"): p for p in tmp_path.iterdir()}
    )


def test_a_missing_column_names_the_nearest_one(fish, bad):
    assert "'weight'" in (said := complaint("predict", fish.model, bad.typo_csv))
    assert "Did you mean 'weihgt'?" in said
    assert "Did you mean 'species'?" in complaint("fit", fish.first, "-t", "specis")
    assert "Did you mean 'species'?" in complaint("report", fish.first, "-t", "Specie")
    assert "Did you mean 'river'?" in complaint(
        "fit", fish.first, "-t", "species", "--drop", "rivr"
    )
    assert "Did you mean 'weight'?" in complaint("explain", fish.model, "--set", "weigth=1")


def test_a_missing_file_is_said_to_be_missing(fish):
    assert "nowhere.csv" in complaint("predict", fish.model, fish.folder / "nowhere.csv")
    said = complaint("fit", fish.folder / "frist.csv", "-t", "species")
    assert "Did you mean 'first.csv'?" in said
    none = fish.folder / "none.posterior"
    for name, *more in (["inspect"], ["sample"], ["serve"], ["explain", "--set", "a=1"]):
        assert "none.posterior" in complaint(name, none, *more)


def test_a_file_that_is_no_model_is_refused(fish, bad):
    for path in (bad.noise_posterior, bad.empty_csv, fish.first):
        assert "Expected a model" in complaint("inspect", path)
        assert "Expected a model" in complaint("predict", path, fish.new)


def test_tables_that_cannot_be_read_are_told(fish, bad):
    assert "empty" in complaint("predict", fish.model, bad.empty_csv)
    assert "empty" in complaint("predict", fish.model, bad.no_rows_csv)
    assert "noise.parquet" in complaint("predict", fish.model, bad.noise_parquet)
    assert "line 3" in complaint("fit", bad.ragged_csv, "-t", "species")
    said = complaint("predict", fish.model, bad.words_csv)
    assert "numbers" in said
    assert "'heavy' in row 1" in said
    assert "two classes" in complaint("fit", bad.one_class_csv, "-t", "species")
    assert "labels" in complaint("fit", bad.unlabeled_csv, "-t", "species", "-m", "naive-bayes")
    assert "labels" in complaint("update", fish.model, bad.unlabeled_csv)


def test_what_a_model_cannot_do_is_told(fish, tmp_path):
    model = tmp_path / "model.posterior"
    run("fit", fish.first, "-t", "species", "-m", "logistic", "-o", model)
    before = model.read_bytes()
    for name in ("update", "forget"):
        assert "Fit again with all rows" in complaint(name, model, fish.second)
    assert "Fit again with all rows" in complaint("merge", model, model, "-o", model)
    assert "naive-bayes" in complaint("sample", model)
    assert model.read_bytes() == before
    assert "row" in complaint("explain", fish.model, fish.new, "--row", 41)


def chosen(fish: SimpleNamespace, path: Path, *keys: str) -> Path:
    """The file of a Classifier that has tried some models."""
    frame = files.read(fish.first).frame
    roles = infer(frame, "species")
    posterior.save(posterior.Classifier(models=keys, roles=roles).fit(frame, "species"), path)
    return path


def test_a_chosen_model_that_is_a_sum_goes_on_learning(fish, tmp_path):
    model, more = chosen(fish, tmp_path / "sum.posterior", "naive-bayes"), tmp_path / "more"
    before = proba(model, fish.new)
    run("update", model, fish.second, "-o", more)
    assert proba(more, fish.new) != before
    run("forget", more, fish.second)
    assert proba(more, fish.new) == before
    told = json.loads(run("inspect", model, "--json"))
    assert (told["class"], told["rows"]) == ("Classifier", 150)
    run("merge", model, model, "-o", more)
    assert json.loads(run("inspect", more, "--json"))["rows"] == 300


def test_a_chosen_model_that_is_no_sum_says_which_one_is_in_the_way(fish, tmp_path):
    model = chosen(fish, tmp_path / "trees.posterior", "additive")
    for arguments in (["update", model, fish.second], ["merge", model, model, "-o", model]):
        said = complaint(*arguments)
        assert "Additive" in said
        assert "Fit again with all rows, or fit --model naive-bayes." in said


def test_nearest_rows_explain_a_choice_of_neighbors(fish, tmp_path):
    model = chosen(fish, tmp_path / "near.posterior", "neighbors")
    told = json.loads(run("explain", model, fish.new, "--row", 1, "--json"))
    assert len(told["neighbors"]) > 0
    answers = read_csv(run("predict", model, fish.new, "--explain", "--only"))
    assert all(a["because"].startswith("row ") for a in answers)


def test_a_column_in_the_way_of_the_answers_is_named(fish, tmp_path):
    again = tmp_path / "again.csv"
    run("predict", fish.model, fish.new, "-o", again)
    said = complaint("predict", fish.model, again, "-o", tmp_path / "more.csv")
    assert "'predicted'" in said
    assert "--only" in said
    assert sorted(p.name for p in tmp_path.iterdir()) == ["again.csv"]


def test_an_ending_that_is_no_format_is_refused(fish, tmp_path):
    assert ".parquet" in complaint("predict", fish.model, fish.new, "-o", tmp_path / "x.docx")
    assert "folder" in complaint("predict", fish.model, fish.new, "-o", tmp_path / "no" / "x.csv")


def test_debug_shows_where_an_error_comes_from(fish, monkeypatch):
    arguments = ["inspect", str(fish.first)]
    for more, environment in ((["--debug"], "0"), ([], "1")):
        monkeypatch.setenv("POSTERIOR_DEBUG", environment)
        result = CliRunner().invoke(app, [*arguments, *more])
        assert result.exit_code == 1
        assert "Traceback" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["fit", "x.csv"],
        ["explain", "x.posterior"],
        ["explain", "x.posterior", "x.csv"],
        ["merge", "x.posterior", "-o", "y.posterior"],
        ["cluster", "x.csv", "--k", "some"],
        ["fit", "x.csv", "-t", "y", "--model", "oracle"],
        ["sample", "x.posterior", "-n", "0"],
    ],
)
def test_wrong_usage_ends_with_two(arguments):
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert result.stdout == ""


def test_a_file_is_never_half_written(fish, tmp_path, monkeypatch):
    out = tmp_path / "answers.csv"
    out.write_text("as it was")
    batches = files.batches

    def interrupted(path, **options):
        yield next(batches(path, **options))
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "batches", interrupted)
    run("predict", fish.model, fish.new, "-o", out, code=130)
    assert [p.name for p in tmp_path.iterdir()] == ["answers.csv"]
    assert out.read_text() == "as it was"


# --- the manual ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_commands_of_the_manual_say_what_it_says(tmp_path, monkeypatch):
    load_penguins = pytest.importorskip("palmerpenguins").load_penguins
    load_penguins().to_csv(tmp_path / "penguins.csv", index=False)
    monkeypatch.chdir(tmp_path)
    page = (REPOSITORY / "docs" / "command_line.md").read_text("utf-8")
    blocks = re.findall(r"```console\n(.*?)```", page, flags=re.DOTALL)
    commands = [part.partition("\n") for block in blocks for part in block.split("$ ")[1:]]
    assert len(commands) > 8
    same = doctest.OutputChecker().check_output
    for line, _, expected in commands:
        name, *arguments = shlex.split(line)
        assert name == "posterior"
        text = run(*arguments)
        assert same(expected, text, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE), text


# --- as a process -------------------------------------------------------------------------------

COMMAND = [sys.executable, "-m", "posterior"]


def test_help_comes_at_once():
    """In time of the processor: other work on the machine is no fault of ours."""

    def used() -> float:
        times = os.times()
        return times.children_user + times.children_system

    seconds = []
    for _ in range(3):
        before = used()
        done = subprocess.run([*COMMAND, "--help"], capture_output=True, check=True, text=True)
        seconds.append(used() - before)
    assert "Usage" in done.stdout
    assert min(seconds) < 0.3


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "typer", None)
    for name in [name for name in sys.modules if name.startswith("posterior.app.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(SystemExit, match=r"pip install 'posterior\[app\]'"):
        main()


def test_the_command_line_starts_without_the_library():
    code = "import sys, posterior.app.cli.commands_app; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"numpy", "sklearn", "scipy", "narwhals", "pyarrow", "duckdb", "rich"}


def test_a_pipe_of_processes(fish):
    with fish.new.open() as file:
        done = subprocess.run(
            [*COMMAND, "predict", str(fish.model), "-"], stdin=file, capture_output=True, text=True
        )
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout == run("predict", fish.model, fish.new)


def test_a_reader_that_has_read_enough_is_no_error(fish):
    process = subprocess.Popen(
        [*COMMAND, "sample", str(fish.model), "-n", "100000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline().startswith("weight")
    process.stdout.close()
    assert process.stderr.read() == ""
    process.wait()


def test_an_interrupt_ends_with_130_and_leaves_nothing(fish, tmp_path):
    out = tmp_path / "answers.csv"
    process = subprocess.Popen(
        [*COMMAND, "predict", str(fish.model), "-", "-o", str(out)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    deadline = time.monotonic() + 120
    while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)  # until it reads stdin, which never ends
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130, said
    assert b"Traceback" not in said
    assert list(tmp_path.iterdir()) == []
