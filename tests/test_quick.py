"""What commands import, what is kept between them, and what they say of their time."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from posterior import Classifier
from posterior.data import process
from posterior.estimators.pool.candidates import QUICK_CELLS, candidates, quick
from posterior.families.credible import beta_interval, chi2_quantile, gamma_interval
from posterior.families.dependence import left_out
from posterior.preprocessing.infer_roles import infer

pytest.importorskip("typer", reason="needs the command line: pip install 'posterior[app]'")

from posterior.app.cli import progress_bar
from posterior.app.report.facts import study
from posterior.plots import vega_bundle

WATCHED = """
import atexit, sys
atexit.register(lambda: print("\\nLOADED", *sys.modules, file=sys.stderr))
from posterior.app.cli import main
main()
"""
LIBRARIES = {"numpy", "scipy", "sklearn", "narwhals", "pyarrow", "duckdb", "altair", "rich"}
UNUSED = {"pandas", "scipy.stats", "scipy.optimize", "sklearn.metrics", "sklearn.neighbors"}
UNUSED |= {"sklearn.linear_model", "altair", "vl_convert", "jinja2"}


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
    assert "pyarrow" not in modules or not line.startswith("inspect")


@pytest.mark.once
def test_scikit_learn_is_whole_after_it_was_imported_without_statistics():
    code = """if True:
    from posterior.app.lean_imports import import_sklearn, take_process
    take_process(); import_sklearn()
    import sys
    assert "sklearn" in sys.modules and "scipy.stats" not in sys.modules
    import scipy.stats, sklearn.metrics, sklearn.linear_model
    from sklearn.utils.fixes import _mode
    print(_mode([1, 2, 2])[0].item(), scipy.stats.norm.cdf(0))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2", "0.5"]


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
    assert b"learning: Additive model" in shown
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
