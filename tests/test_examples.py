"""The examples run, and print what they promise."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

REPOSITORY = Path(__file__).resolve().parents[1]
EXAMPLES = REPOSITORY / "examples"
RESULTS = REPOSITORY / "docs" / "results"


def started(text, begin):
    """The line that begins so."""
    (found,) = [line for line in text.splitlines() if line.startswith(begin)]
    return found


def run(name, monkeypatch, capsys, folder="/nowhere"):
    monkeypatch.setenv("POSTERIOR_DATA", str(folder))
    monkeypatch.setattr("sys.argv", [name])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    return capsys.readouterr().out


def shown(name):
    """What the manual shows: a figure that moves is to be explained, then `make reproductions`."""
    return (RESULTS / f"{name}.txt").read_text("utf-8")


def test_exclusive_or_is_solved_by_a_product(monkeypatch, capsys):
    text = run("exclusive_or.py", monkeypatch, capsys)
    assert text == shown("exclusive_or")
    assert "50% of four points right" in text
    assert "100% of four points right" in text


@pytest.mark.slow
def test_gradient_ascent_without_the_course_data(monkeypatch, capsys):
    text = run("gradient_ascent.py", monkeypatch, capsys)
    assert "simulated: 300 rows" in text
    assert "maximum" in text


@pytest.mark.slow
def test_gradient_ascent_on_the_course_data(monkeypatch, capsys, shared_data):
    """Accuracies of the course's setting: η = 1e-4, 10,000 steps."""
    text = run("gradient_ascent.py", monkeypatch, capsys, shared_data)
    lines = [line.split() for line in text.splitlines() if " 10,000  0.0001" in line]
    assert [line[-1] for line in lines] == ["77.5%", "83.7%", "66.0%"]
    laplace = [line.split() for line in text.splitlines() if line.startswith("Laplace")]
    assert [line[-1] for line in laplace] == ["74.9%", "77.7%", "67.2%"]
    assert text == shown("gradient_ascent")


def test_fish_are_told_apart_up_to_the_bayes_error(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("POSTERIOR_DATA", "/nowhere")
    pytest.importorskip("vl_convert")
    runpy.run_path(str(EXAMPLES / "fish.py"))["main"](str(tmp_path / "fish.svg"))
    text = capsys.readouterr().out
    assert "With endless fish it would change at -26.95 and 22.95." in text
    assert started(text, "Bayes error").endswith("1.89%")
    assert 1.7 < float(started(text, "error on the test fish").split()[-3].rstrip("%")) < 2.1
    assert (tmp_path / "fish.svg").is_file()


def test_the_fish_of_the_manual(monkeypatch, capsys, shared_data):
    assert run("fish.py", monkeypatch, capsys, shared_data) == shown("fish")


def test_em_climbs_to_the_means_and_tennis_is_the_lectures(monkeypatch, capsys):
    text = run("em_and_kmeans.py", monkeypatch, capsys)
    assert text == shown("em_and_kmeans")
    assert started(text, "counted").split()[1:3] == started(text, "in the notes").split()[3:]
    steps = [line.split() for line in text.splitlines() if line.startswith("       ")]
    climb = [float(step[3]) for step in steps if len(step) == 4 and step[0].isdigit()]
    assert len(climb) > 5
    assert climb == sorted(climb)
    for way in ("EM, one known deviation", "GaussianMixture", "KMeans"):
        light, heavy = map(float, re.findall(r"\d\d\.\d\d", started(text, way))[:2])
        assert abs(light - 16) < 0.5
        assert abs(heavy - 30) < 0.5


def test_the_claims_of_the_fifth_lecture(monkeypatch, capsys):
    monkeypatch.setenv("POSTERIOR_DATA", "/nowhere")
    runpy.run_path(str(EXAMPLES / "classification.py"))["main"](draws=3)
    text = capsys.readouterr().out
    shares = {
        name: [float(cell) for cell in re.findall(r"([\d.]+)%", started(text, name))]
        for name in (
            "log-normal columns, GDA",
            "log-normal columns, logistic",
            "     0 ",
            "     1 ",
            "GDA, one covariance",
            "5 nearest neighbors",
        )
    }
    assert shares["log-normal columns, GDA"][-1] > shares["log-normal columns, logistic"][-1] + 2
    assert shares["     0 "][0] > 10  # impossible in both classes
    assert shares["     1 "][0] == 0
    assert shares["GDA, one covariance"][0] < 75
    assert shares["5 nearest neighbors"][0] > 99


def test_old_faithful_has_two_kinds_of_eruption(monkeypatch, capsys, shared_data):
    text = run("faithful.py", monkeypatch, capsys, shared_data)
    assert "BIC says 2." in text
    assert "log likelihood -1130.264" in text
    for line in (started(text, "two, each its own"), started(text, "three that share one")):
        ours, published = line.split()[-2:]
        assert ours.startswith(published)  # to the digits that mclust prints


def test_a_geyser_that_was_drawn_has_two_kinds_of_eruption(monkeypatch, capsys, tmp_path):
    pytest.importorskip("vl_convert")
    monkeypatch.setenv("POSTERIOR_DATA", "/nowhere")
    runpy.run_path(str(EXAMPLES / "faithful.py"))["main"](str(tmp_path / "pictures"))
    assert "272 eruptions, drawn just now" in (text := capsys.readouterr().out)
    assert "BIC says 2." in text
    names = {file.name for file in (tmp_path / "pictures").iterdir()}
    assert names == {"components.png", "waiting.png", "selection.png", "trace.png"}


def test_hidden_labels_help_where_labels_are_few(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("POSTERIOR_DATA", "/nowhere")
    file = tmp_path / "curve.svg"
    runpy.run_path(str(EXAMPLES / "hidden_labels.py"))["main"](str(file), sizes=(10,))
    text = capsys.readouterr().out
    (line,) = [line.split() for line in text.splitlines() if line.startswith("      10 ")]
    alone, full = (float(cell.rstrip("%")) for cell in line[1:3])
    assert full > alone + 10
    assert "5 components for the others" in text
    assert "labeled documents of each group" in file.read_text("utf-8")


@pytest.mark.slow
def test_hidden_labels_of_twenty_newsgroups(monkeypatch, capsys, shared_data):
    """Much with 20 labels of each group; the one component of nineteen groups hurts."""
    monkeypatch.setenv("POSTERIOR_DATA", str(shared_data))
    runpy.run_path(str(EXAMPLES / "hidden_labels.py"))["main"](sizes=(20,))
    text = capsys.readouterr().out
    (line,) = [line.split() for line in text.splitlines() if line.startswith("      20 ")]
    alone, full = (float(cell.rstrip("%")) for cell in line[1:3])
    assert full > alone + 8
    shares = [float(line.split()[-1].rstrip("%")) for line in text.splitlines()[-6:-3]]
    assert shares[1] < shares[0]
    assert shares[1] < shares[2]


def accuracies(text, line):
    """The shares at the end of the line that begins so."""
    (found,) = [row for row in text.splitlines() if row.startswith(line)]
    return [float(cell.rstrip("%")) for cell in found.split()[-2:]]


def test_names_by_edits_and_by_letters(monkeypatch, capsys, shared_data):
    monkeypatch.setenv("POSTERIOR_DATA", str(shared_data))
    runpy.run_path(str(EXAMPLES / "names.py"))["main"](4_000)
    text = capsys.readouterr().out
    assert "4,000 names of 18 languages, read from a file" in text
    edits = accuracies(text, "edits, levenshtein")
    for plain in ("places", "counts"):
        letters = accuracies(text, f"Euclidean, {plain}")
        assert edits[0] > letters[0] + 5
        assert edits[1] > letters[1]


def test_names_that_were_made_up(monkeypatch, capsys):
    text = run("names.py", monkeypatch, capsys)
    assert "1,500 names of 3 languages, made up just now" in text
    assert accuracies(text, "edits, normalized")[0] > 85


def test_signals_by_correlation_whatever_the_gain(monkeypatch, capsys, shared_data):
    text = run("signals.py", monkeypatch, capsys, shared_data)
    assert text == shown("signals")
    shares = [line.split()[-2:] for line in text.splitlines() if line.endswith("%")]
    assert shares == [
        ["95.5%", "95.5%"],
        ["95.5%", "61.2%"],
        ["80.0%", "80.0%"],
        ["80.0%", "33.7%"],
    ]


def test_signals_that_were_drawn(monkeypatch, capsys):
    text = run("signals.py", monkeypatch, capsys)
    correlation, euclidean = accuracies(text, "each with its own gain and offset")
    assert correlation > euclidean + 20


@pytest.mark.slow
def test_the_homework_on_documents(monkeypatch, capsys, shared_data):
    text = run("documents.py", monkeypatch, capsys, shared_data)
    assert text == shown("documents")
    assert "200 to learn from, 100 to test on, 10,770 words" in text
    lines = {line.split()[0]: line.split()[1:] for line in text.splitlines() if "%  " in line}
    assert lines["1"][:2] == ["99.0%", "74.0%"]  # Laplace's naive Bayes
    assert lines["10,000"][:2] == ["100.0%", "73.0%"]  # gradient ascent
    assert "which say mac for all posts: 34%" in text


def test_documents_that_were_drawn(monkeypatch, capsys):
    text = run("documents.py", monkeypatch, capsys)
    assert "200 to learn from, 100 to test on, 2,000 words" in text
    assert "handed out" not in text


def test_first_fit(monkeypatch, capsys):
    text = run("first_fit.py", monkeypatch, capsys)
    assert "GaussianNB is right about 97.6%" in text


def test_learning_curves_cross(monkeypatch, capsys, tmp_path):
    """Naive Bayes is ahead with few rows, logistic regression with many."""
    pytest.importorskip("vl_convert")
    monkeypatch.setenv("POSTERIOR_DATA", "/nowhere")
    main = runpy.run_path(str(EXAMPLES / "learning_curves.py"))["main"]
    main(str(tmp_path / "curves.svg"), ("pima", "digits 2 and 3"), draws=3)
    text = capsys.readouterr().out
    assert "pima                left out: there is no pima-diabetes.csv" in text
    cells = started(text, "digits 2 and 3").split()
    assert cells[-1] == "rows"
    assert float(cells[-3].rstrip("%")) < float(cells[-4].rstrip("%"))
    assert "digits 2 and 3" in (tmp_path / "curves.svg").read_text("utf-8")


def test_learning_curves_of_words(monkeypatch, capsys, shared_data):
    monkeypatch.setenv("POSTERIOR_DATA", str(shared_data))
    main = runpy.run_path(str(EXAMPLES / "learning_curves.py"))["main"]
    main(None, ("voting records", "lenses"), draws=4)
    few = [
        float(cell.rstrip("%")) for cell in started(capsys.readouterr().out, "voting").split()[4:6]
    ]
    assert few[0] < few[1]


@pytest.mark.parametrize(
    "name", ["complement_news", "nb_weighted_logistic", "news_semi_supervised"]
)
def test_documents_that_are_missing_are_named(name, monkeypatch, capsys):
    with pytest.raises(SystemExit, match=r"Expected \S+\.csv\.gz .*set POSTERIOR_DATA"):
        run(f"{name}.py", monkeypatch, capsys)


@pytest.mark.slow
def test_complement_news_is_what_the_manual_shows(monkeypatch, capsys, shared_data):
    monkeypatch.setenv("POSTERIOR_DATA", str(shared_data))
    script = runpy.run_path(str(EXAMPLES / "complement_news.py"))
    X, y, later = script["news"]()
    parts = (~later).nonzero()[0], later.nonzero()[0]
    right = script["score"](X, y, parts, 3, script["MODELS"]["complement, normed"])
    shown = (RESULTS / "complement_news.txt").read_text("utf-8")
    line = started(shown, "complement, normed  and length one")
    assert f"{right:.3f}" == line.split()[-1]


@pytest.mark.slow
def test_hidden_posts_help_as_the_manual_shows(monkeypatch, capsys, shared_data):
    monkeypatch.setenv("POSTERIOR_DATA", str(shared_data))
    main = runpy.run_path(str(EXAMPLES / "news_semi_supervised.py"))["main"]
    monkeypatch.setitem(main.__globals__, "WORDS", (5_000,))
    main(sizes=(300,), draws=1, hidden=4_000)
    line = started(capsys.readouterr().out, "     300 ").split()
    alone, both = (float(cell.rstrip("%")) for cell in line[1:3])
    assert both > alone + 8


@pytest.mark.slow
def test_weighed_words_are_at_least_as_good_as_either_model(monkeypatch, capsys, shared_data):
    monkeypatch.setenv("POSTERIOR_DATA", str(shared_data))
    script = runpy.run_path(str(EXAMPLES / "nb_weighted_logistic.py"))
    monkeypatch.setitem(script["main"].__globals__, "TERMS", {"words": (1, 1)})
    script["main"]("reviews", folds=3)
    cells = started(capsys.readouterr().out, "reviews").split()
    assert float(cells[6]) > float(cells[2]) + 2
    assert float(cells[6]) > float(cells[4]) - 1
