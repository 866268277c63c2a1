"""Tables that are elsewhere: a streamed fit is the fit in memory, and errors name file and row."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pa = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")
from pyarrow import csv, feather, parquet  # noqa: E402

from posterior import (  # noqa: E402
    KDB,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianDiscriminantAnalysis,
    GaussianNB,
    JointBayes,
    KMeans,
    KNeighborsClassifier,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    TextClassifier,
    kernels,
    load,
)
from posterior.engines.locate import locate  # noqa: E402
from posterior.engines.progress import Progress  # noqa: E402
from posterior.engines.streaming import ahead  # noqa: E402
from posterior.sources import strings  # noqa: E402
from posterior.sources.files import read  # noqa: E402
from posterior.sources.query import Query  # noqa: E402
from posterior.sources.table_files import Files, matching  # noqa: E402

BITS = [GaussianNB, BernoulliNB, PoissonNB, NaiveBayes]
COUNTS = [MultinomialNB, ComplementNB, CategoricalNB, JointBayes]
ROUNDED = [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, GaussianDiscriminantAnalysis]


def table(n: int = 2000) -> pa.Table:
    """Numbers, counts, categories and a class that the first half lacks."""
    random = np.random.default_rng(0)
    code = random.integers(0, 2, n)
    code[n // 2 :: 7] = 2
    return pa.table(
        {
            "height": random.exponential(size=n) * 3.7 + code,
            "visits": random.poisson(2 + code),
            "grade": random.integers(0, 4, n),
            "plan": np.array(["gold", "free", "team"])[(random.integers(0, 2, n) + code) % 3],
            "bought": np.array(["no", "yes", "perhaps"])[code],
        }
    )


def numbers() -> pa.Table:
    return table().drop_columns(["plan"])


def counts() -> pa.Table:
    return table().drop_columns(["plan", "height"])


def streamed(path: object) -> Files:
    """The files that a path names, in batches so small that they have several."""
    return replace(matching(path), rows=300)


def written(folder: Path, frame: pa.Table, name: str = "t.parquet") -> Path:
    path = folder / name
    if name.endswith(".csv"):
        csv.write_csv(frame, path)
    elif name.endswith(".feather"):
        feather.write_feather(frame, path, chunksize=450)
    elif name.endswith(".jsonl"):
        frame.to_pandas().to_json(path, orient="records", lines=True)
    else:
        parquet.write_table(frame, path, row_group_size=900)
    return path


def assert_same_model(ours: object, theirs: object) -> None:
    assert_array_equal(ours.classes_, theirs.classes_)
    assert_array_equal(ours.feature_names_in_, theirs.feature_names_in_)
    assert ours.statistics_ == theirs.statistics_
    assert vars(ours).keys() == vars(theirs).keys()


# --- the same model -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [*BITS, *COUNTS], ids=lambda kind: kind.__name__)
def test_naive_bayes_of_a_file_is_that_of_its_table_to_the_bit(tmp_path: Path, kind: type) -> None:
    frame = counts() if kind in COUNTS else table() if kind is NaiveBayes else numbers()
    path = written(tmp_path, frame)
    ours, theirs = kind().fit(streamed(path), y="bought"), kind().fit(frame, y="bought")
    assert_same_model(ours, theirs)
    rows = frame.drop_columns(["bought"]).slice(0, 50)
    assert_array_equal(ours.predict_proba(rows), theirs.predict_proba(rows))


@pytest.mark.parametrize("kind", ROUNDED, ids=lambda kind: kind.__name__)
def test_discriminants_of_a_file_are_those_of_its_table(tmp_path: Path, kind: type) -> None:
    frame = numbers()
    path = written(tmp_path, frame)
    ours, theirs = kind().fit(streamed(path), y="bought"), kind().fit(frame, y="bought")
    rows = frame.drop_columns(["bought"])
    assert_allclose(ours.predict_proba(rows), theirs.predict_proba(rows), rtol=1e-10, atol=1e-13)


def test_priors_of_classes_that_come_late_are_no_trouble(tmp_path: Path) -> None:
    frame = numbers()
    model = LinearDiscriminantAnalysis(solver="lsqr", priors=[0.5, 0.25, 0.25])
    model.fit(streamed(written(tmp_path, frame)), y="bought")
    assert_allclose(model.priors_, [0.5, 0.25, 0.25])


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.feather", "t.jsonl"])
def test_every_format_gives_the_model_of_the_file_read_whole(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, table(), name)
    theirs = NaiveBayes().fit(read(path).frame, y="bought")
    assert_same_model(NaiveBayes().fit(streamed(path), y="bought"), theirs)
    assert_same_model(NaiveBayes().fit(str(path), y="bought"), theirs)


def test_patterns_lists_folders_relations_and_queries_are_one_table(tmp_path: Path) -> None:
    frame = table()
    for i, name in enumerate(["a.parquet", "b.parquet", "c.parquet"]):
        written(tmp_path, frame.slice(700 * i, 700), name)
    pattern = str(tmp_path / "*.parquet")
    connection = duckdb.connect()
    given = [
        pattern,
        tmp_path,
        [tmp_path / "a.parquet", str(tmp_path / "[bc].parquet")],
        connection.sql(f"FROM '{pattern}'"),
        f"select * from '{pattern}'",
    ]
    theirs = NaiveBayes().fit(frame, y="bought")
    for source in given:
        assert_same_model(NaiveBayes().fit(source, y="bought"), theirs)


def test_weights_are_a_column(tmp_path: Path) -> None:
    frame = numbers()
    weight = np.arange(len(frame)) % 5 / 4.0
    weight[:300] = 0.0  # a whole batch
    path = written(tmp_path, frame.append_column("times", pa.array(weight)))
    ours = GaussianNB().fit(streamed(path), y="bought", sample_weight="times")
    assert_same_model(ours, GaussianNB().fit(frame, y="bought", sample_weight=weight))


def test_missing_cells_of_some_batches_are_missing(tmp_path: Path) -> None:
    frame = table()
    for j in (0, 1, 3):
        holes = np.arange(len(frame)) % 900 > 850
        column = pa.array(frame.column(j).to_pylist(), mask=holes, type=frame.schema.types[j])
        frame = frame.set_column(j, frame.column_names[j], column)
    ours = NaiveBayes().fit(streamed(written(tmp_path, frame)), y="bought")
    assert_same_model(ours, NaiveBayes().fit(frame, y="bought"))


def test_sentences_are_found_as_in_the_whole_table(tmp_path: Path) -> None:
    kinds = ["the small red one", "the large blue one", "some other old thing"]
    plain = ["free", "gold"] * 1000
    late = [kinds[i % 3] if i < 400 else f"word number {i} of a long text" for i in range(2000)]
    early = [f"word number {i} of a long text" if i < 400 else kinds[i % 3] for i in range(2000)]
    frame = pa.table({"plan": plain, "late": late, "early": early, "y": ["a", "b"] * 1000})
    ours = NaiveBayes().fit(streamed(written(tmp_path, frame)), y="y")
    assert ours.plan_.kinds == ("category", "text", "category")
    assert_same_model(ours, NaiveBayes().fit(frame, y="y"))
    named = NaiveBayes({"late": "categorical"}).fit(streamed(tmp_path / "t.parquet"), y="y")
    assert_same_model(named, NaiveBayes({"late": "categorical"}).fit(frame, y="y"))


def test_texts_of_a_file_are_learned_as_a_stream_of_them(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    words = np.array("win money now cheap lunch noon see you meeting tomorrow".split())
    code = random.integers(0, 2, 1000)
    texts = [" ".join(words[5 * k + random.integers(0, 5, 6)]) for k in code]
    frame = pa.table({"mail": texts, "kind": np.array(["spam", "ham"])[code]})
    path = written(tmp_path, frame, "mails.csv")
    settings = {"model": "multinomial", "alpha": 0.1, "calibrated": False}
    ours = TextClassifier(**settings).fit(streamed(path), y="kind")
    theirs = TextClassifier(**settings).fit(frame, y="kind")
    assert_array_equal(ours.predict_log_proba(texts[:99]), theirs.predict_log_proba(texts[:99]))
    stream = TextClassifier().partial_fit(frame, "kind")
    ours = TextClassifier().fit(streamed(path), y="kind")
    assert_array_equal(ours.predict_proba(texts[:99]), stream.predict_proba(texts[:99]))


def test_a_streamed_model_goes_on_learning_and_merges(tmp_path: Path) -> None:
    frame = table()
    half = len(frame) // 2
    first = NaiveBayes().fit(streamed(written(tmp_path, frame[:half])), y="bought")
    whole = NaiveBayes().fit(frame, y="bought")
    assert (first + NaiveBayes().fit(frame[half:], y="bought")).statistics_ == whole.statistics_
    assert first.partial_fit(frame[half:], "bought").statistics_ == whole.statistics_


def test_a_checkpoint_is_gone_when_the_fit_is_done(tmp_path: Path) -> None:
    path = written(tmp_path, table())
    model = NaiveBayes().fit(streamed(path), y="bought", checkpoint=tmp_path / "half")
    assert model.statistics_ == NaiveBayes().fit(table(), y="bought").statistics_
    assert not (tmp_path / "half").exists()
    with pytest.raises(ValueError, match="remote table"):
        NaiveBayes().fit(table(), y="bought", checkpoint=tmp_path / "half")


# --- types of columns -----------------------------------------------------------------------------


def test_a_csv_has_the_types_of_all_its_cells(tmp_path: Path) -> None:
    lines = ["n,x,word,flag,day,code,none,y"]
    lines += [f"{i},{i},{i},true,2020-01-02,{i},,a" for i in range(500)]
    lines += ["1,2.5,x,FALSE,2021-02-03,007,,b"]
    path = tmp_path / "late.csv"
    path.write_text("\n".join(lines))
    source = streamed(path)
    assert source.schema.equals(read(path).frame.schema)
    whole = pa.concat_tables([batch.frame for batch in source.batches()])
    assert whole.equals(read(path).frame)
    assert source.n_rows == 501


def test_types_of_several_files_are_those_of_one_table(tmp_path: Path) -> None:
    for name, cell in [("a.csv", "1"), ("b.csv", "2.5"), ("c.csv", "3")]:
        (tmp_path / name).write_text(f"x,y\n{cell},a\n")
    assert [str(t) for t in streamed(tmp_path).schema.types] == ["double", "string"]
    written(tmp_path, pa.table({"x": [1], "y": ["a"]}), "a.parquet")
    written(tmp_path, pa.table({"y": ["b"], "x": [2.5]}), "b.parquet")
    source = streamed(str(tmp_path / "*.parquet"))
    assert [batch.frame.to_pydict() for batch in source.batches()] == [
        {"x": [1.0], "y": ["a"]},
        {"x": [2.5], "y": ["b"]},
    ]


def test_parquet_of_every_type_is_read_as_duckdb_reads_it(tmp_path: Path) -> None:
    import datetime as dt

    n = 5
    frame = pa.table(
        {
            "small": pa.array([1, None, 3, 4, 5], pa.int8()),
            "float": pa.array([0.5] * n, pa.float32()),
            "flag": [True, None, False, True, True],
            "day": [dt.date(2020, 1, 2)] * n,
            "moment": pa.array([dt.datetime(2020, 1, 2, 3)] * n, pa.timestamp("us")),
            "kind": pa.array(["a", "b", "a", None, "c"]),
            "coded": pa.array(["a", "b", "a", None, "c"]).dictionary_encode(),
            "nano": pa.array([dt.datetime(2020, 1, 2, 3)] * n, pa.timestamp("ns")),
        }
    )
    for names in (frame.column_names[:6], frame.column_names):
        path = written(tmp_path, frame.select(names))
        whole = pa.concat_tables([batch.frame for batch in streamed(path).batches()])
        assert whole.equals(read(path).frame)


def test_some_columns_are_read_alone(tmp_path: Path) -> None:
    frame = table()
    for name in ("t.parquet", "t.csv", "t.feather"):
        source = streamed(written(tmp_path, frame, name)).select(["plan", "grade"])
        whole = pa.concat_tables([batch.frame for batch in source.batches()])
        assert whole.to_pydict() == frame.select(["plan", "grade"]).to_pydict()
    relation = duckdb.connect().sql(f"FROM '{tmp_path / 't.parquet'}'")
    assert Query(relation).select(["grade"]).names == ["grade"]


def test_strings_are_counted_alike_in_parts_and_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [f"word {i % 700} of some" for i in range(5000)]
    whole = strings.Strings.of(pa.chunked_array([cells]))
    parts = [
        strings.Strings.of(pa.chunked_array([cells[i : i + 300]])) for i in range(0, 5000, 300)
    ]
    added = sum(parts[1:], start=parts[0])
    assert (added.cells, added.distinct, added.first) == (5000, 700, whole.first)
    monkeypatch.setattr(strings, "MOST", 256)
    few = strings.Strings.of(pa.chunked_array([cells]))
    assert len(few.hashes) == 256 and abs(few.distinct - 700) < 200


# --- what goes wrong ------------------------------------------------------------------------------


def test_a_bad_cell_is_named_by_file_row_and_column_and_the_model_stays(tmp_path: Path) -> None:
    frame = numbers()
    good, bad = written(tmp_path, frame[:1000], "a.parquet"), frame[1000:]
    heights = bad.column("height").to_numpy().copy()
    heights[712] = np.inf
    bad = bad.set_column(0, "height", pa.array(heights))
    written(tmp_path, bad, "b.parquet")
    model = GaussianNB().fit(good, y="bought")
    before = dict(vars(model))
    with pytest.raises(ValueError, match=r"b\.parquet: .*row 712, column 'height'"):
        model.fit(streamed(tmp_path), y="bought")
    assert vars(model) == before


def test_rows_beyond_a_thousand_are_written_for_people(tmp_path: Path) -> None:
    frame = table(2000)
    labels = [None if i == 1512 else label for i, label in enumerate(frame["bought"].to_pylist())]
    path = written(tmp_path, frame.set_column(4, "bought", pa.array(labels)))
    with pytest.raises(ValueError, match=r"t\.parquet: Input y contains .*row 1,512"):
        NaiveBayes().fit(streamed(path), y="bought")


@pytest.mark.parametrize(
    ("source", "y", "error", "said"),
    [
        ("none*.parquet", "bought", FileNotFoundError, "files that match"),
        ("t.parket", "bought", FileNotFoundError, "Did you mean 't.parquet'"),
        ("empty", "bought", FileNotFoundError, "a folder with tables"),
        ("t.parquet", "buoght", ValueError, "Did you mean 'bought'"),
        ("t.parquet", None, TypeError, "target column by its name"),
        ("head.csv", "y", ValueError, "empty table"),
        ("broken.parquet", "y", ValueError, "broken.parquet"),
    ],
)
def test_what_cannot_be_read_is_told(
    tmp_path: Path, source: str, y: object, error: type[Exception], said: str
) -> None:
    written(tmp_path, table())
    (tmp_path / "empty").mkdir()
    (tmp_path / "head.csv").write_text("x,y\n")
    (tmp_path / "broken.parquet").write_text("no")
    with pytest.raises(error, match=said):
        NaiveBayes().fit(tmp_path / source, y)


def test_files_of_other_columns_types_or_formats_are_told(tmp_path: Path) -> None:
    written(tmp_path, pa.table({"x": [1.0], "y": ["a"]}), "a.parquet")
    for other, said in [
        ({"x": [1.0], "z": ["a"]}, r"b\.parquet has 'z' more and lacks 'y'"),
        ({"x": [1.0], "y": [[1]]}, "same types"),
    ]:
        written(tmp_path, pa.table(other), "b.parquet")
        with pytest.raises(ValueError, match=said):
            GaussianNB().fit(str(tmp_path / "*.parquet"), y="y")
    (tmp_path / "b.parquet").unlink()
    (tmp_path / "b.csv").write_text("x,y\n1,a\n")
    with pytest.raises(ValueError, match="one format"):
        GaussianNB().fit(tmp_path, y="y")


def test_a_damaged_page_is_told(tmp_path: Path) -> None:
    path = written(tmp_path, numbers())
    content = bytearray(path.read_bytes())
    content[1000:9000] = bytes(8000)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"t\.parquet"):
        GaussianNB().fit(path, y="bought")


def test_a_query_that_fails_is_told_in_one_sentence() -> None:
    with pytest.raises(ValueError, match="the query") as caught:
        GaussianNB().fit("SELECT nothing FROM nowhere", y="y")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(calibrated="temperature"),
        LinearDiscriminantAnalysis("lsqr", shrinkage="auto"),
        GaussianDiscriminantAnalysis("tune"),
        TextClassifier("logistic"),
        KDB(selective=True),
    ],
    ids=lambda model: type(model).__name__,
)
def test_models_that_need_all_rows_at_once_say_so(tmp_path: Path, model: object) -> None:
    frame = (
        numbers() if not isinstance(model, TextClassifier) else table().select(["plan", "bought"])
    )
    with pytest.raises(ValueError, match=r"all rows at once|all of them (at once|before)"):
        model.fit(written(tmp_path, frame), y="bought")


# --- reading --------------------------------------------------------------------------------------


def test_rows_in_memory_are_not_elsewhere() -> None:
    for here in (np.eye(2), [[1.0]], table(), table().to_pandas(), ["a text", 1], []):
        assert locate(here) is None


def test_reading_ahead_keeps_the_order_and_ends_with_its_reader() -> None:
    assert list(ahead(iter(range(1, 100)))) == list(range(1, 100))
    closed = []

    def items():
        try:
            yield from range(1, 100)
        finally:
            closed.append(True)

    source = items()
    reader = ahead(source)
    assert next(reader) == 1
    reader.close()
    source.close()
    assert closed == [True]


def test_an_error_of_the_reader_reaches_the_fit() -> None:
    def items():
        yield 1
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        list(ahead(items()))


def test_progress_tells_rows_and_time_left() -> None:
    progress = Progress(0, "Read", total=4000)
    assert progress.line(1000, 2.0) == "Read 1,000 of 4,000 rows in 2.0 s, 6 s left"
    assert Progress(0, "Read").line(1000, 2.0) == "Read 1,000 rows in 2.0 s"


# --- answers to a file ----------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet", ".arrow", ".csv.gz"])
def test_answers_are_written_beside_the_rows_in_any_format(tmp_path: Path, ending: str) -> None:
    frame = table(700)
    model = NaiveBayes().fit(frame, y="bought")
    out = tmp_path / f"answers{ending}"
    assert model.predict_file(streamed(written(tmp_path, frame)), out) == 700
    found = read(out).frame
    assert found.column_names == [*frame.column_names, "predicted", "p_no", "p_perhaps", "p_yes"]
    p = model.predict_proba(frame.drop_columns(["bought"]))
    assert found["predicted"].to_pylist() == model.classes_[p.argmax(axis=1)].tolist()
    assert_allclose(found["p_yes"].to_numpy(), p[:, 2], rtol=1e-15)


def test_a_file_of_text_keeps_its_cells_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("x,note,y\n1.50,007,a\n2,,b\n3,x,a\n4.25,y,b\n")
    model = GaussianNB().fit(read(path).frame.select(["x", "y"]), y="y")
    model.predict_file(path, tmp_path / "out.csv")
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert [line.split(",")[:3] for line in lines[1:3]] == [["1.50", "007", "a"], ["2", "", "b"]]
    model.predict_file(path, tmp_path / "only.jsonl", only=True)
    assert read(tmp_path / "only.jsonl").frame.column_names == ["predicted", "p_a", "p_b"]


@pytest.mark.parametrize(
    "model", [KMeans(2, random_state=0), KNeighborsClassifier(3), LogisticRegression()], ids=repr
)
def test_every_model_that_predicts_predicts_to_a_file(tmp_path: Path, model: object) -> None:
    frame = numbers()[:400]
    rows = frame.drop_columns(["bought"])
    labels = frame["bought"].to_numpy(zero_copy_only=False)
    model.fit(rows.to_pandas(), labels)
    model.predict_file(streamed(written(tmp_path, frame)), tmp_path / "out.parquet", only=True)
    found = read(tmp_path / "out.parquet").frame["predicted"].to_numpy(zero_copy_only=False)
    answers = model.predict(rows.to_pandas())
    assert_array_equal(found, 1 + answers if isinstance(model, KMeans) else answers)


def test_answers_of_texts_are_written(tmp_path: Path) -> None:
    mails = ["win money now", "cheap money", "see you at lunch", "lunch at noon"]
    frame = pa.table({"mail": mails, "kind": ["spam", "spam", "ham", "ham"]})
    model = TextClassifier("multinomial").fit(frame, "kind")
    model.predict_file(written(tmp_path, frame), tmp_path / "out.csv")
    assert read(tmp_path / "out.csv").frame["predicted"].to_pylist() == ["spam"] * 2 + ["ham"] * 2


def test_answers_that_fail_name_the_row_and_leave_no_file(tmp_path: Path) -> None:
    frame = numbers()
    model = GaussianNB().fit(frame, y="bought")
    heights = frame["height"].to_numpy().copy()
    heights[1234] = -np.inf
    path = written(tmp_path, frame.set_column(0, "height", pa.array(heights)))
    with pytest.raises(ValueError, match=r"t\.parquet: .*row 1,234, column 'height'"):
        model.predict_file(streamed(path), tmp_path / "out.csv")
    with pytest.raises(ValueError, match="ending"):
        model.predict_file(path, tmp_path / "out.xlsx")
    with pytest.raises(TypeError, match="predict_proba"):
        model.predict_file(frame, tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == [path]


# --- the command line -----------------------------------------------------------------------------


def test_the_command_line_fits_patterns_and_answers_by_the_model(tmp_path: Path) -> None:
    testing = pytest.importorskip("typer.testing")
    from posterior.app.cli.commands_app import app

    frame = table(600)
    written(tmp_path, frame[:400], "a.csv")
    written(tmp_path, frame[400:], "b.csv")

    def run(*arguments: object) -> object:
        return testing.CliRunner().invoke(app, [str(argument) for argument in arguments])

    model, pattern = tmp_path / "m.posterior", tmp_path / "*.csv"
    done = run("fit", pattern, "-t", "bought", "-m", "naive-bayes", "--drop", "grade", "-o", model)
    assert done.exit_code == 0 and "600 rows, 3 columns, 2 files" in done.output
    theirs = NaiveBayes().fit(frame.drop_columns(["grade"]), y="bought")
    assert load(model).statistics_ == theirs.statistics_
    out = tmp_path / "out.jsonl"
    assert run("predict", model, tmp_path / "a.csv", "--only", "-o", out).exit_code == 0
    p = theirs.predict_proba(frame[:400].drop_columns(["grade", "bought"]))
    assert_allclose(read(out).frame["p_yes"].to_numpy(), p[:, 2])
    assert "naive-bayes" in run("fit", pattern, "-t", "bought", "--stream").stderr


# --- memory ---------------------------------------------------------------------------------------

CHILD = """
import pathlib, resource, sys
from dataclasses import replace
from posterior import GaussianNB
from posterior.sources.table_files import matching

def status(name):
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(name + ":")).split()[1])

few, path, more = sys.argv[1:]
path, few = (replace(matching(p), rows=16_384) for p in (path, few))
GaussianNB().fit(few, y="y")  # threads are started and libraries loaded
pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak so far is none of ours
size, before = status("VmSize"), status("VmRSS")
resource.setrlimit(resource.RLIMIT_AS, (size + int(more), size + int(more)))
model = GaussianNB().fit(path, y="y")
print(int(model.class_count_.sum()), status("VmHWM") - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux counts memory by process")
def test_a_file_ten_times_the_memory_that_is_allowed_is_fitted(tmp_path: Path) -> None:
    compiled = kernels.active == "compiled"
    # the twins make arrays on their way
    n_batches, share, n_threads = (50, 10, 2) if compiled else (30, 2, 1)
    batch = 65_536
    random = np.random.default_rng(0)
    code = random.integers(0, 2, batch)
    columns = {name: random.normal(size=batch) + code for name in "abcd"}
    part = pa.table({**columns, "y": np.array(["no", "yes"])[code]})
    written(tmp_path, pa.concat_tables([part] * 2), "few.parquet")
    with parquet.ParquetWriter(tmp_path / "t.parquet", part.schema, compression="none") as out:
        for _ in range(n_batches):
            out.write_table(part)
    size = (tmp_path / "t.parquet").stat().st_size
    command = ["sh", "-c", 'ulimit -s 1024; exec "$@"', "child", sys.executable, "-c", CHILD]
    settings = {
        "OMP_NUM_THREADS": str(n_threads),
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "MALLOC_ARENA_MAX": "2",
        "MALLOC_MMAP_THRESHOLD_": "65536",  # what is free is given back
    }
    child = subprocess.run(
        [*command, str(tmp_path / "few.parquet"), str(tmp_path / "t.parquet"), str(size // share)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **settings},
    )
    assert child.returncode == 0, child.stderr
    n_rows, peak = map(int, child.stdout.split())
    assert n_rows == n_batches * batch
    assert peak < 4 * size / share  # pages that were mapped before count too
