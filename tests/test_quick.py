"""What commands import, what is kept between them, and what they say of their time."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import time
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from posterior import Classifier, GaussianNB, NaiveBayes, save
from posterior.data import process
from posterior.estimators.pool.candidates import (
    ADDITIVE_SUMS,
    QUICK_CELLS,
    SEARCH_VALUES,
    candidates,
    patterns,
    quick,
)
from posterior.families.credible import beta_interval, chi2_quantile, gamma_interval
from posterior.families.dependence import left_out
from posterior.preprocessing.infer_roles import infer
from posterior.storage import checks, registry

pytest.importorskip("typer", reason="needs the command line: pip install 'posterior[app]'")

from posterior.app.cli import progress_bar
from posterior.app.report.facts import study
from posterior.plots import vega_bundle

pytestmark = pytest.mark.once

WATCHED = """
import atexit, sys
atexit.register(lambda: print("\\nLOADED", *sys.modules, file=sys.stderr))
from posterior.app.cli import main
main()
"""
LIBRARIES = {"numpy", "scipy", "sklearn", "narwhals", "pyarrow", "duckdb", "altair", "rich"}
UNUSED = {"pandas", "scipy.stats", "scipy.optimize", "sklearn.metrics", "sklearn.neighbors"}
UNUSED |= {"sklearn.linear_model", "altair", "vl_convert", "jinja2"}
NEEDLESS = {"duckdb", "psutil", "rich.console", "rich.progress", "posterior.evaluation.drift"}


def table(n: int = 60) -> pd.DataFrame:
    random = np.random.default_rng(0)
    size, word = random.normal(size=n), random.choice(["a", "b"], n)
    kind = np.where(size + (word == "a") + random.normal(size=n) > 0.5, "yes", "no")
    return pd.DataFrame({"size": size.round(3), "word": word, "kind": kind})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, and a pool of models that has learned it, neighbors among them."""
    from posterior.app import models
    from posterior.sources import files

    place = tmp_path_factory.mktemp("quick")
    table().to_csv(place / "table.csv", index=False)
    frame = files.read(place / "table.csv").frame
    known = Classifier(roles=infer(frame, "kind"), models=["naive-bayes", "neighbors"])
    known.fit(*models.labeled(known, frame, "kind"))
    models.save(known, str(place / "model.posterior"), frame)
    return place


def loaded(folder, *arguments: str) -> tuple[int, set[str]]:
    """How a command ended, and the modules that it imported."""
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, *arguments], cwd=folder, capture_output=True, text=True
    )
    said, _, modules = done.stderr.rpartition("\nLOADED ")
    assert "Traceback" not in said, said
    assert "leaked" not in done.stderr  # as compiled modules say if memory is not taken down
    return done.returncode, set(modules.split())


@pytest.mark.once
@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("--help", 0),
        ("report --help", 0),
        ("inspect nowhere.posterior", 1),
        ("predict nowhere.posterior table.csv", 1),
        ("predict model.posterior nowhere.csv", 1),
        ("explain model.posterior nowhere.csv --row 1", 1),
        ("report nowhere.csv --target kind", 1),
        ("fit nowhere.csv --target kind", 1),
        ("fit 'nowhere/*.csv' --target kind", 1),
        ("cluster nowhere.csv", 1),
        ("update model.posterior nowhere.csv", 1),
        ("merge model.posterior nowhere.posterior -o all.posterior", 1),
        ("report table.csv", 2),
        ("explain model.posterior", 2),
        ("fit table.csv --target kind --sheet a --table b", 2),
        ("fit table.csv --target kind --quick --model logistic", 2),
    ],
)
def test_bad_usage_is_refused_before_a_library_is_imported(folder, line, code):
    ended, modules = loaded(folder, *line.replace("'", "").split())
    assert ended == code
    assert not modules & LIBRARIES


@pytest.mark.once
def test_a_target_that_is_not_there_is_refused_before_models_are_imported(folder):
    for command in ("report", "fit"):
        ended, modules = loaded(folder, command, "table.csv", "--target", "nothing")
        assert ended == 1
        assert not modules & {"sklearn", "scipy", *UNUSED}


@pytest.mark.once
@pytest.mark.parametrize(
    "line",
    [
        "inspect model.posterior",
        "predict model.posterior table.csv -o answers.csv",
        "explain model.posterior table.csv --row 1",
        "explain model.posterior --set size=1",
    ],
)
def test_an_answer_imports_nothing_that_only_fits_and_pictures_need(folder, line):
    ended, modules = loaded(folder, *line.split())
    assert ended == 0
    assert not modules & UNUSED
    assert not modules & NEEDLESS or line.startswith("inspect")  # which draws tables
    assert "pyarrow" not in modules or not line.startswith("inspect")


@pytest.mark.once
def test_naive_bayes_answers_without_what_fits_models_and_reads_documents(folder):
    frame = pd.read_csv(folder / "table.csv")
    save(NaiveBayes().fit(frame[["size", "word"]], frame["kind"]), folder / "small.posterior")
    ended, modules = loaded(folder, *"predict small.posterior table.csv -o answers.csv".split())
    parts = ("discriminative", "neighbors", "text.counting", "estimators.pool", "evaluation.drift")
    assert ended == 0
    assert [m for m in modules if m.startswith(tuple(f"posterior.{part}." for part in parts))] == []


@pytest.mark.once
def test_small_and_large_tables_get_the_same_answers(folder, monkeypatch):
    import pyarrow as pa

    from posterior.sources import files, plain_csv

    small = [*files.batches(folder / "table.csv", 7)]
    monkeypatch.setattr(plain_csv, "PIECE", 0)  # as if no file were small
    large = [*files.batches(folder / "table.csv", 60)]
    assert [piece.num_rows for piece in small] == [7] * 8 + [4]
    assert pa.concat_tables(small).equals(pa.concat_tables(large))


@pytest.mark.once
def test_a_report_of_a_file_that_duckdb_reads_complains_of_nothing(folder):
    doubled = '"""a"" or b"'
    quoted = (folder / "table.csv").read_text("utf-8").replace(",a,", f",{doubled},")
    (folder / "quoted.csv").write_text(quoted, "utf-8")
    code, modules = loaded(folder, "report", "quoted.csv", "-t", "kind", "-o", "quoted", "--quick")
    assert code == 0
    assert "duckdb" in modules


@pytest.mark.once
def test_an_answer_starts_no_threads_of_blas_and_leaves_as_usual(folder):
    code = "import atexit, os, sys; from posterior.app.cli import main; "
    code += "atexit.register(lambda: print(os.environ['OPENBLAS_NUM_THREADS'])); main()"
    command = ["predict", "model.posterior", "table.csv", "-o", "answers.csv"]
    settings = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
    for asked, threads in ({}, "1"), ({"OPENBLAS_NUM_THREADS": "2"}, "2"):
        done = subprocess.run(
            [sys.executable, "-c", code, *command],
            cwd=folder,
            env=settings | asked,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.splitlines() == ["60 rows predicted, in answers.csv", threads]
        assert done.stderr == ""  # nothing leaked, as compiled modules would say


@pytest.mark.once
def test_a_name_of_a_package_is_never_a_module_of_the_same_name():
    code = "import importlib, sys, types\n"
    code += "for name in 'evaluation evaluation.worst_subgroups evaluation.gains text'.split():\n"
    code += "    importlib.import_module(f'posterior.{name}')\n"
    code += "for name in ('posterior', 'posterior.evaluation', 'posterior.text'):\n"
    code += "    package = importlib.import_module(name)\n"
    code += "    for n in package.__all__:\n"
    code += "        assert not isinstance(getattr(package, n), types.ModuleType), n\n"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.once
def test_a_model_file_is_inspected_without_building_its_model(folder):
    ended, modules = loaded(folder, "inspect", "model.posterior")
    assert ended == 0
    assert not modules & {"sklearn", "scipy", "narwhals", "posterior.estimators"}


@pytest.mark.once
def test_a_file_says_of_itself_what_its_model_says(folder):
    from posterior.storage import inspect, load
    from posterior.storage.summary import of_table

    told = inspect(folder / "model.posterior", verify=True)
    assert told["table"] == of_table(load(folder / "model.posterior"))
    assert told["table"]["target"] == "kind"


@pytest.mark.once
@pytest.mark.parametrize("library", [GaussianNB, NaiveBayes], ids=lambda kind: kind.__name__)
def test_loading_naive_bayes_imports_no_other_model(tmp_path, library):
    save(library().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1]), tmp_path / "a.posterior")
    code = "import sys, posterior; print(posterior.load('a.posterior').predict([[4.5]])[0]); "
    done = subprocess.run(
        [sys.executable, "-c", code + "print(*sys.modules)"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    predicted, modules = done.stdout.splitlines()
    others = {"additive", "mixture", "neighbors", "pool", "kmeans", "text.count_vectorizer"}
    assert predicted == "1"
    assert not {*modules.split()} & {f"posterior.estimators.{other}" for other in others}
    assert not {*modules.split()} & {"altair", "duckdb", "sklearn.ensemble", "sklearn.metrics"}


@pytest.mark.once
def test_a_class_is_found_by_its_name_whatever_was_imported():
    code = "import sys; from posterior.storage.registry import class_named, classes; "
    code += "asked = [*map(class_named, sys.argv[1:])]; "
    code += "print(all(classes()[name] is kind for name, kind in zip(sys.argv[1:], asked)))"
    names = sorted(registry.classes())
    for order in (names, names[::-1]):
        done = subprocess.run([sys.executable, "-c", code, *order], capture_output=True, text=True)
        assert done.stdout.split() == ["True"], done.stderr


def test_every_value_of_a_file_reaches_the_check_of_its_class():
    for module in {*checks.ELSEWHERE.values()}:
        import_module(f"posterior.storage.{module}")
    for kind, function in checks.looks.registry.items():
        homes = [part for part in checks.ELSEWHERE if checks.is_of(kind, part)]
        known = {"checks", *(checks.ELSEWHERE[part] for part in homes)}
        assert function.__module__.removeprefix("posterior.storage.") in known, kind


@pytest.mark.once
def test_scikit_learn_is_whole_after_it_was_imported_without_statistics():
    code = """if True:
    from posterior.app.lean_imports import import_sklearn, take_process
    take_process(); import_sklearn()
    import sys
    assert "sklearn" in sys.modules and "scipy.stats" not in sys.modules
    import numpy.testing, scipy.stats, sklearn.metrics, sklearn.linear_model
    numpy.f2py.get_include, numpy.testing.assert_allclose
    from sklearn.utils.fixes import _mode
    print(_mode([1, 2, 2])[0].item(), scipy.stats.norm.cdf(0))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2", "0.5"]


@pytest.mark.once
@pytest.mark.parametrize("version", ["del found.FunctionDoc", "found.FunctionDoc = Other"])
def test_scikit_learn_is_imported_as_usual_with_a_scipy_that_reads_docstrings_otherwise(version):
    code = f"""if True:
    import scipy._lib._docscrape as found
    from posterior.app import lean_imports
    usual = found.FunctionDoc
    class Other(usual):
        def __init__(self, function):
            super().__init__(function)
    lean_imports.take_process()
    {version}
    lean_imports.import_sklearn()
    import sys
    assert "scipy.sparse" not in sys.modules  # nothing was imported that could have failed
    found.FunctionDoc = Other if "Other" in {version!r} else usual
    import scipy.stats, sklearn.base
    print(scipy.stats.norm.cdf(0), bool(scipy.special.gammainc.__doc__))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["0.5", "True"], done.stderr


def test_a_library_imported_by_others_keeps_pandas_and_scikit_learns_base_class():
    from sklearn.neighbors._base import KNeighborsMixin

    from posterior import KNeighborsClassifier

    assert not process.is_ours
    assert issubclass(KNeighborsClassifier, KNeighborsMixin)


# ---- the script that draws ----


@pytest.fixture
def cache(tmp_path, monkeypatch):
    pytest.importorskip("vl_convert")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    forget_bundle()
    yield tmp_path / "posterior"
    forget_bundle()


def forget_bundle() -> None:
    vega_bundle._bundled.cache_clear()
    vega_bundle._making.cache_clear()


@pytest.mark.once
def test_the_script_that_draws_is_made_once_and_kept_whole(cache):
    vega_bundle.prepare_bundle()
    script = vega_bundle.bundle()
    (kept,) = cache.iterdir()
    assert "vegaEmbed" in script
    assert gzip.decompress(kept.read_bytes()).decode() == script

    forget_bundle()
    vega_bundle.prepare_bundle()
    assert vega_bundle.bundle() == script
    assert vega_bundle._making.cache_info().currsize == 0  # read, not made

    forget_bundle()
    kept.write_bytes(kept.read_bytes()[:-100])  # as a full disk leaves it
    assert vega_bundle.bundle() == script
    assert gzip.decompress(kept.read_bytes()).decode() == script


# ---- what is compared, and how far it is ----


def test_quick_compares_three_models_and_says_so():
    found = study(table(), "kind", quick=True)
    assert {c.key for c in found.facts.candidates} == {
        *("majority", "naive-bayes", "logistic", "additive", "pool")
    }
    assert any("Quick, as asked" in note for note in found.facts.data.notes)
    assert any("--quick" in snippet.text for snippet in found.facts.snippets)
    plain = study(table(), "kind").facts
    assert len(plain.candidates) > len(found.facts.candidates)
    assert not any("Quick" in note for note in plain.data.notes)


def test_quick_goes_by_rows_and_columns_alone():
    listed = candidates(infer(table(), "kind"), 60, 2)
    keys = [c.key for c in quick(listed, QUICK_CELLS, 2)]
    assert keys == ["naive-bayes", "logistic", "additive"]
    assert [c.key for c in quick(listed, QUICK_CELLS + 1, 2)] == keys[:-1]
    assert [c.key for c in quick(listed, QUICK_CELLS // 2, 3)] == keys[:-1]


def test_tables_of_more_sums_than_anyone_waits_for_are_left_out():
    roles = infer(table(), "kind")
    d = len(roles.table)
    slow = {"additive", "naive-bayes-auto"}
    few = {c.key for c in candidates(roles, 60, ADDITIVE_SUMS // d)}
    many = {c.key for c in candidates(roles, 60, ADDITIVE_SUMS // d + 1)}
    assert few - many == {"additive"}
    assert slow & {c.key for c in candidates(roles, 60, int(SEARCH_VALUES))} == set()


def test_missing_cells_are_searched_and_marginalized_as_far_as_that_is_soon_done():
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(400, 30)), columns=[f"x{j}" for j in range(30)])
    few, many = X.copy(), X.mask(random.random(X.shape) < 0.3)
    few.loc[random.random(400) < 0.3, "x0"] = np.nan
    kept = {}
    for name, table_of in {"none": X, "few": few, "many": many}.items():
        roles = infer(table_of.assign(y=random.choice([*"abcdefgh"], 400)), "y")
        ways = {"none": 0, "few": 2, "many": 400}[name]
        assert patterns(roles, 400) == ways
        listed = {c.key: c.classifier for c in candidates(roles, 400, 8)}
        large = {c.key: c.most_rows for c in candidates(roles, 10**6, 8)}
        kept[name] = listed["discriminant"].keep_missing, large["neighbors"]
    assert kept == {"none": (True, 18_257), "few": (True, 5_773), "many": (False, 5_773)}


def test_quick_reads_texts_too():
    words = ["good fine day", "bad sad night", "fine good sun", "sad dark rain"] * 10
    texts = pd.DataFrame({"text": words, "mood": ["up", "down", "up", "down"] * 10})
    model = Classifier(models="quick").fit(texts, "mood")
    assert model.predict(texts.iloc[:2]).tolist() == ["up", "down"]


def test_what_is_done_grows_to_all_of_it():
    told: list[tuple[str, int, int]] = []
    study(table(), "kind", quick=True, progress=lambda *step: told.append(step))
    names, done, total = zip(*told, strict=True)
    assert names[0] == "comparing: Naive Bayes" and names[-1] == "drawing"
    assert list(done) == sorted(done) and done[0] == 0
    assert len({*total}) == 1 and done[-1] < total[0]


def test_the_time_left_is_that_of_what_is_left():
    left = progress_bar.TimeLeft()
    assert left.said(99.0) == ""
    left.tell(0.0, 100.0)
    assert left.said(100.0) == ""
    left.tell(0.25, 110.0)
    assert left.said(110.0) == "about 30 s left"
    assert left.said(120.0) == "about 20 s left"
    assert left.said(999.0) == "about 1 s left"
    left.tell(0.5, 600.0)
    assert left.said(600.0) == "about 8 min left"


@pytest.mark.once
@pytest.mark.skipif(os.name != "posix", reason="needs a terminal of its own")
def test_a_bar_is_shown_on_a_terminal_alone(folder):
    import pty

    command = [sys.executable, "-m", "posterior", "fit", "table.csv", "--target", "kind"]
    command += ["--quick", "-o", "bar.posterior"]
    ours, theirs = pty.openpty()
    child = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 65_536):
            shown += part
    except OSError:  # Linux says so at the end
        pass
    assert child.wait() == 0
    assert b"learning: " in shown
    piped = subprocess.run(command, cwd=folder, capture_output=True, check=True)
    assert piped.stderr == b""


@pytest.mark.once
@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs Linux")
def test_seconds_count_from_the_start_of_the_process():
    code = "import time; time.sleep(0.5); from posterior.data import process; "
    code += "print(process.seconds())"
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0.5 <= float(done.stdout) <= time.monotonic() - began + 0.02


@pytest.mark.once
def test_a_report_says_the_time_of_the_whole_process(folder):
    command = [sys.executable, "-m", "posterior", "report", "table.csv", "-t", "kind", "--quick"]
    began = time.monotonic()
    done = subprocess.run(
        [*command, "--json"], cwd=folder, capture_output=True, text=True, check=True
    )
    whole = time.monotonic() - began
    said = json.loads(done.stdout)
    written = json.loads((folder / "table-report" / "report.json").read_text())
    steps = sum(step["seconds"] for step in written["steps"])
    assert steps < written["seconds"] <= said["seconds"] <= whole
    assert (folder / "table-report" / "report.html").stat().st_size < 2_000_000


# ---- the same bits ----


def test_credible_intervals_are_those_of_scipy_stats_to_the_last_bit():
    random = np.random.default_rng(0)
    a, b = np.exp(random.normal(0, 3, (2, 1000)))
    a[:3], b[1:3] = (0, np.nan, np.inf), (0, 1)
    for level in (0.5, 0.95):
        for ours, theirs in (
            (beta_interval(level, a, b), stats.beta.interval(level, a, b)),
            (gamma_interval(level, a, 1 / b[3]), stats.gamma.interval(level, a, scale=1 / b[3])),
            (chi2_quantile(level, a), stats.chi2.ppf(level, a)),
        ):
            np.testing.assert_array_equal(ours, theirs)


def test_blocks_of_rows_change_no_bit_of_a_score_or_its_gradient(monkeypatch):
    random = np.random.default_rng(0)
    n, k, parents, d = 50, 3, 4, 5
    both = random.integers(0, 9, (n, k, parents, d)).astype(float)
    alone = random.integers(0, 9, (n, k, d)).astype(float)
    weight = (random.random((n, parents)) > 0.3) * random.random(parents)
    weight[0] = 0.0  # a row without a parent
    size = random.integers(2, 9, d).astype(float)
    pairs = left_out.AveragedPairs(alone, alone + 20.0, both, both + 7.0, size, weight)
    m, R = np.exp(random.normal(size=(d, 2))), random.normal(size=(n, k))
    found = []
    for cells in (1, 7 * k * parents * d, 1 << 30):
        monkeypatch.setattr(left_out, "BLOCK_CELLS", cells)
        score, gradient = pairs(m)
        found.append((score, gradient(R)))
    for score, slope in found[1:]:
        np.testing.assert_array_equal(score, found[0][0])
        np.testing.assert_array_equal(slope, found[0][1])
