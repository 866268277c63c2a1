"""The page of a report: what it says, what it leaves out, and that nothing in it can break out."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from dataclasses import fields, is_dataclass, replace
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest

from posterior.app.report import phrases
from posterior.app.report import report_schema as s
from posterior.app.report import section_schema as parts
from posterior.app.report.charts import draw
from posterior.app.report.page import PICTURED, SECTIONS, render
from posterior.evaluation.gains import CostChoice
from posterior.evaluation.held_out import SCORES
from posterior.evaluation.worst_subgroups import GroupPart, WorstSubgroup, WorstSubgroups

pytestmark = pytest.mark.once

BREAKOUT = "<script>alert(1)</script>"
NASTY = [BREAKOUT, "\"quoted\" & 'single'\nnew line", "🐧 </script><!--<script>"]
SCORE = s.Measure(0.1234, 0.0123)
SHARE = s.Measure(0.9421, 0.0113)


def candidate(key, name, kind, log_loss=0.1234, accuracy=0.9421):
    values = dict.fromkeys(SCORES, 0.0512) | {"log_loss": log_loss, "accuracy": accuracy}
    fold = s.FoldScore(fold=0, rows=30, **values, calibration_error=0.02)
    return s.CandidateFacts(
        key=key,
        name=name,
        kind=kind,
        settings=f"{name} as it comes.",
        simplicity=1,
        rows=300,
        calibration=None,
        **{name: s.Measure(value, 0.0123) for name, value in values.items()},
        calibration_error=s.Measure(0.0213, None),
        folds=[fold],
        log_loss_uncalibrated=None,
        seconds=0.31,
        note=None,
    )


def column(name, role="number", flags=(), used=True):
    low, mean, high = (12.5, 31.25, 59.75) if role == "number" else (None, None, None)
    examples = [] if role == "number" else ["first", "second"]
    return s.ColumnRole(
        name,
        role,
        used,
        "It looks like one.",
        164,
        2,
        tuple(examples),
        low,
        mean,
        high,
        tuple(flags),
    )


def facts_of(classes, features, kinds=("island", "sex"), target="species", n_columns=None):
    """Facts of every section, made up."""
    k, rng = len(classes), np.random.default_rng(0)
    counts = rng.integers(1, 90, (k, 12)).tolist()
    x = np.linspace(10, 60, 13).tolist()
    gaps, three = [0] * (k - 1) + [2], rng.integers(1, 90, (k, 3)).tolist()
    shares = [
        parts.ColumnShares(name, "number", "linear", "", x, [], counts, gaps, ["31.25"] * k)
        for name in features
    ] + [
        parts.ColumnShares(
            name, "category", "category", "", [], [classes[0], "b", "c"], three, gaps, ["b"] * k
        )
        for name in kinds
    ]
    bins = [
        s.ReliabilityBin(0, 0.5, 120, 0.25, 0.2375, 0.175, 0.3125),
        s.ReliabilityBin(0.5, 1, 180, 0.875, 0.8625, 0.8125, 0.9125),
    ]
    curve = ([0, 0.05, 1], [0, 0.925, 1])
    group = s.Subgroup(
        kinds[0], "Biscoe", 168, SHARE, 0.1375, [1 / k] * k, [0.9 / k] * (k - 1) + [1.2 / k]
    )
    other = replace(group, value="Dream", rows=124)
    row = s.RowFacts(
        17,
        classes[0],
        classes[1],
        0.00213,
        0.9925,
        {features[0]: "59.5", kinds[0]: "Dream"},
        [f"{features[0]} = 59.5 favors {classes[1]} (+4.25)"],
    )
    learning = [
        s.LearningPoint(n, s.Measure(v, 0.0213), s.Measure(1 - v / 3, 0.0113))
        for n, v in ((20, 0.575), (80, 0.2875), (270, 0.1425))
    ]
    threshold = s.Threshold(0.5, 120, 0.3488, 0.9125, 0.8875, 0.9038)
    flags = [s.Flag("leak", "warning", "It alone predicts the target."), s.Flag("x", "note", "Hm.")]
    columns = [column(target, "target", used=False), *(column(name) for name in features)]
    columns += [column(kinds[0], "category", flags), column(kinds[1], "category")]
    return s.Facts(
        schema=1,
        version="0.1.0",
        title=f"What tells {target}",
        target=target,
        classes=list(classes),
        seed=0,
        folds=10,
        seconds=3.25,
        steps=[s.Step("compare", 2.125)],
        data=s.Data(
            "penguins.csv",
            344,
            342,
            2,
            columns,
            19,
            11,
            3,
            [s.ClassCount(c, 114, 1 / k) for c in classes],
            ["Read as UTF-8."],
        ),
        candidates=[
            candidate("naive-bayes", "Naive Bayes", "generative"),
            candidate("logistic", "Logistic regression", "discriminative", 0.1312),
            candidate("majority", "Majority class", "baseline", 1.0425, 0.4413),
        ],
        failures=[s.Failure("Text model", "There is no text.")],
        choice=s.Choice(
            "naive-bayes",
            "Naive Bayes",
            "naive-bayes",
            0.1357,
            "Naive Bayes has the least log loss.",
            None,
            "It needs no calibration.",
            f"Naive Bayes predicts {target}.",
            s.Suspects([kinds[0]], False, "Naive Bayes", SCORE, SHARE, f"{kinds[0]} is left out."),
        ),
        reliability=[s.Reliability("Naive Bayes", None, 0.0213, bins, [0] * 19 + [300])],
        decisions=s.Decisions(
            "ranking" if k == 2 else "accuracy",
            [s.ClassScore(c, 114, 112, 0.9525, 0.9375, 0.9425) for c in classes],
            SHARE,
            s.ClassRanking(
                classes[1], 0.3125, SHARE, SHARE, 0.0988, 0.2875, 2.875, threshold, [threshold]
            )
            if k == 2
            else None,
        ),
        confusion=(np.eye(k, dtype=int) * 100 + rng.integers(0, 3, (k, k))).tolist(),
        roc=[s.RankCurve(c, *curve, 0.9875, 0.5) for c in classes[:10]],
        precision_recall=[s.RankCurve(c, *curve, 0.9625, 0.3125) for c in classes[:10]],
        learning=s.LearningCurves(
            [
                s.LearningCurve("naive-bayes", "Naive Bayes", "generative", learning),
                s.LearningCurve("logistic", "Logistic regression", "discriminative", learning),
            ],
            72,
            5,
            "Naive Bayes is better with few rows.",
        ),
        evidence=[
            s.FeatureEvidence(name, 2.25 / (1 + i), 0.0413, 0.0071)
            for i, name in enumerate([*features, *kinds])
        ],
        terms=[s.TextTerms("notes", [["egg", "nest"]] * k, [[1.75, 0.875]] * k)],
        boundary=s.Boundary(
            "Naive Bayes",
            features[0],
            features[1],
            [1.0, 2.0, 3.0],
            [5.0, 6.0],
            [[0, 0, 1], [0, 1, k - 1]],
            [[0.9375, 0.8125, 0.7625], [0.9125, 0.7125, 0.6125]],
            [s.BoundaryPoint(1.5, 5.5, 0)],
            SHARE,
        ),
        surprises=s.Surprises(
            [row],
            [row],
            1,
            "A label with less than 1 %.",
            [s.StrangeRow(9, classes[0], -41.25, {})],
        ),
        subgroups=[group, other],
        missing=s.MissingFacts(group, other, [replace(group, column=kinds[1])]),
        parameters=[
            s.Parameters(
                "Naive Bayes",
                0.95,
                [s.ParameterFacts(features[0], "mean", classes[0], 38.75, 38.125, 39.375)] * 30,
                29,
            )
        ],
        snippets=[s.Snippet("Python", "python", 'posterior.load("penguins.posterior")')],
        predictions=s.Predictions([], [], [], None, [], []),
        how=["Every score is out of fold."],
        learned=[
            s.LearnedMember(
                "Additive model",
                0.625,
                0.8125,
                "A sum of tables.",
                [
                    s.ColumnEffect(
                        features[0],
                        "effect on the log odds",
                        True,
                        [classes[0]],
                        [
                            s.EffectStep("< 40", classes[0], 1.25, 0.75, 1.75, 150, 30.0, 40.0),
                            s.EffectStep("≥ 40", classes[0], -1.5, -2.0, -1.0, 190, 40.0, 60.0),
                            s.EffectStep("missing", classes[0], 0.25, -1.0, 1.5, 2),
                        ],
                    ),
                    s.ColumnEffect(
                        kinds[0],
                        "effect on the log odds",
                        False,
                        [classes[0]],
                        [s.EffectStep("Dream", classes[0], 0.5, 0.25, 0.75, 124)],
                    ),
                ],
                [
                    s.PairEffect(
                        [features[0], kinds[0]],
                        classes[0],
                        [["< 40", "≥ 40"], ["Biscoe", "Dream"]],
                        [[0.125, -0.125], [None, 0.375]],
                        [[80, 70], [0, 54]],
                    )
                ],
                s.Dependence([features[0], kinds[0]], [[], [0]]),
                s.Parameters(
                    "Additive model",
                    0.95,
                    [s.ParameterFacts(features[0], "mean |effect|", "", 0.875, None, None)],
                    58,
                ),
            )
        ],
        alerts=[parts.Alert("failure", "Text model could not be compared: There is no text.")],
        column_shares=shares,
        associations=parts.Associations(
            300,
            3,
            [parts.Association(features[0], kinds[0], 0.6125, "correlation ratio", False)],
            [features[0], features[1], kinds[0]],
            [[1.0, 0.2375, None], [0.2375, 1.0, 0.6125], [None, 0.6125, 1.0]],
        ),
        sample=[
            parts.SampleRow(
                1, False, classes[0], classes[1], 0.0625, 0.9375, {features[0]: "59.5"}
            ),
            parts.SampleRow(7, True, classes[0], None, None, None, {features[0]: ""}),
        ],
        class_gains=[
            s.Gains(
                classes[1],
                300,
                80,
                [0.9125, 0.3875],
                [75, 140],
                [70, 78],
                [CostChoice(2.0, 0.3875, 0.2125, 0.3333, 0.2375, 0.2625, 0.5375, 0.7375)],
            )
        ],
        worst=WorstSubgroups(
            412,
            31,
            0.05,
            0.1357,
            0.9421,
            [
                WorstSubgroup(
                    [GroupPart(features[0], "above 44"), GroupPart(kinds[0], classes[0])],
                    41,
                    0.4125,
                    0.2875,
                    SHARE,
                    0.00002,
                    0.0082,
                )
            ],
        ),
        yardstick=candidate("yardstick", "Boosting", "yardstick", 0.1517, 0.9325),
        card=parts.ModelCard(
            target,
            dict.fromkeys(classes, 114),
            "penguins.csv",
            342,
            [parts.CardColumn(features[0], "number", "")],
            [parts.CardColumn(kinds[0], "category", "it may give the target away")],
            "Naive Bayes",
            [parts.CardMember("Naive Bayes", 0.6875), parts.CardMember("Logistic", 0.3125)],
            "342 rows, in 10 folds.",
            {},
            {},
            "It needs no calibration.",
            ["Rare classes are often missed."],
            "2026-01-31T12:00:00+00:00",
            "0.1.0",
            "3.11.4",
            "model.predict(rows)",
        ),
    )


def poor(facts):
    """The same file when nothing but a comparison could be made."""
    return replace(
        facts,
        reliability=[],
        confusion=[],
        roc=[],
        precision_recall=[],
        learning=None,
        evidence=[],
        terms=[],
        boundary=None,
        surprises=s.Surprises([], [], 0, "", []),
        subgroups=[],
        missing=None,
        parameters=[],
        snippets=[],
        learned=[],
        alerts=[],
        column_shares=[],
        associations=None,
        sample=[],
        class_gains=[],
        worst=None,
        yardstick=None,
        card=None,
    )


@pytest.fixture(scope="module")
def rich():
    return facts_of(["Adelie", "Chinstrap", "Gentoo"], ["bill_length_mm", "bill_depth_mm"])


@pytest.fixture(scope="module")
def page(rich):
    return render(rich, beside="penguins.json")


class Reader(HTMLParser):
    """Text that is seen, tags with their attributes, and what stands in script elements."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.scripts, self.texts, self.hidden, self.open = [], [], [], None, []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.hidden = tag if tag in {"script", "style"} else None
        if tag not in {"meta", "input"}:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        self.hidden = None
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.hidden == "script":
            self.scripts.append(data)
        elif self.hidden is None:
            self.texts.append(data)


def ids(page):
    return [a["id"] for tag, a in Reader(page).tags if tag == "section"]


# ---- sections ----


def test_rich_facts_have_every_section_in_order(page):
    assert ids(page) == [key for key in SECTIONS if key != "what-if"]  # which needs the model


def test_sections_without_facts_are_left_out(rich):
    assert ids(render(poor(rich))) == ["data", "comparison", "how"]


def test_the_contents_link_to_the_sections_that_are_there(rich, page):
    for shown in (page, render(poor(rich))):
        links = [a["href"] for tag, a in Reader(shown).tags if tag == "a" and "href" in a]
        inside = [link[1:] for link in links if link.startswith("#")]
        assert inside == ["main", *ids(shown)]


def test_the_answer_stands_above_everything_else(page):
    assert page.index("Naive Bayes predicts species.") < page.index("<section")


def test_a_warning_about_a_column_stands_above_the_first_section(page):
    assert page.index("It alone predicts the target.") < page.index("<section")


def test_rows_that_the_model_expects_are_not_called_unexpected(rich):
    seen = rich.surprises.least_expected[0]
    expected = replace(rich.surprises, likely_errors=[], strange=[])
    expected = replace(expected, least_expected=[replace(seen, label=seen.predicted)])
    assert 'id="rows"' not in render(replace(rich, surprises=expected))


def test_of_many_classes_the_largest_are_seen_first(rich):
    many = [s.ClassCount(f"kind {i:02}", 10 + i, 0.05) for i in range(20)]
    text = render(replace(rich, data=replace(rich.data, target=many)))
    assert text.index("kind 19") < text.index("kind 00")


def test_the_page_is_well_formed(rich, page):
    assert Reader(page).open == []
    assert Reader(render(poor(rich))).open == []


def test_every_chart_has_a_place_and_words_for_those_who_cannot_see_it(rich, page):
    places = {a["id"]: a for _, a in Reader(page).tags if a.get("class") == "chart"}
    assert list(places) == [f"chart-{f.key}" for part in draw(rich).values() for f in part]
    assert all(a["role"] == "img" and len(a["aria-label"]) > 10 for a in places.values())


def test_the_json_beside_it_is_linked_by_a_relative_address(rich):
    odd = render(poor(rich), beside='javascript:alert(1)"> .json')
    links = {a["href"] for tag, a in Reader(odd).tags if tag == "a" and a["href"][0] != "#"}
    assert links == {"./javascript%3Aalert%281%29%22%3E%20.json"}


# ---- nothing gets out, nothing gets in ----


def test_names_cannot_break_out_of_the_page(rich):
    nasty = facts_of(NASTY, NASTY, kinds=(NASTY[0] + "1", NASTY[1] + "1"), target=BREAKOUT)
    shown, plain = Reader(render(nasty)), Reader(render(rich))
    assert sum(tag == "script" for tag, _ in shown.tags) == 6  # two of data, three, and a loader
    assert len(shown.scripts) == len(plain.scripts) == 6
    assert shown.scripts[2:] == plain.scripts[2:]  # the data differ, what runs does not
    assert not [a for _, a in shown.tags if any(name.startswith("on") for name in a)]
    assert BREAKOUT in "".join(shown.texts)


def test_the_page_allows_its_own_scripts_alone(page):
    policy = next(a["content"] for tag, a in Reader(page).tags if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'")
    assert "script-src 'unsafe-eval' 'sha256-" in policy and "'unsafe-inline'; img" in policy
    assert policy.count("'sha256-") == 4


def test_nothing_is_fetched(page):
    for tag, attributes in Reader(page).tags:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base", "form"}
        assert not {"src", "srcset", "action", "background", "poster"} & set(attributes)
        assert not attributes.get("href", "").startswith(("http", "//"))
    css = page[page.index("<style>") : page.index("</style>")]
    assert "url(" not in css and "@import" not in css and "http" not in css


def test_charts_are_valid_json(page, rich):
    drawings = json.loads(gzip.decompress(b64decode(Reader(page).scripts[0])))
    assert set(drawings) == {f.key for part in draw(rich).values() for f in part}
    assert all(spec["width"] == "container" for spec in drawings.values())


def test_without_charts_there_is_no_script(rich):
    shown = render(poor(rich), charts={})
    assert "<script" not in shown
    assert len(shown) < 40_000


# ---- sizes ----


def test_26_classes_and_60_columns_stay_small_and_legible():
    letters = [chr(ord("A") + i) for i in range(26)]
    facts = facts_of(letters, [f"a very long name of column number {i}" * 2 for i in range(60)])
    figures = draw(facts)
    assert all(len(f.legend.entries) <= 8 for part in figures.values() for f in part)
    page = render(facts, figures)
    assert len(page.encode()) < 3_000_000
    assert "51 more" in page  # columns beyond the first twelve
    assert f"Show all: {62 - PICTURED} more columns" in page


def test_a_usual_page_is_smaller_than_three_megabytes(page):
    assert len(page.encode()) < 1_200_000


def test_the_table_in_the_terminal_fits_however_many_scores_there_are(rich, monkeypatch):
    reporting = pytest.importorskip("posterior.app.cli.reporting", exc_type=ImportError)
    console = pytest.importorskip("rich.console").Console(width=200)
    for name in ("another", "one more"):
        monkeypatch.setitem(SCORES, name, SCORES["brier"])
    assert console.measure(reporting._comparison(rich)).maximum <= 80


# ---- numbers ----


def values_of(part):
    """Every number and text in the facts."""
    if is_dataclass(part):
        for field in fields(part):
            yield from values_of(getattr(part, field.name))
    elif isinstance(part, dict):
        yield from values_of([*part, *part.values()])
    elif isinstance(part, list | tuple):
        yield len(part)
        for item in part:
            yield from values_of(item)
    else:
        yield part


def written(facts):
    """Every way in which the page may write a number of the facts."""
    known = set()
    measures = []

    def look(part):
        if isinstance(part, s.Measure):
            measures.append(part)
        elif is_dataclass(part):
            for field in fields(part):
                look(getattr(part, field.name))
        elif isinstance(part, list | tuple):
            for item in part:
                look(item)

    look(facts)
    texts = [phrases.measure(m) for m in measures] + [phrases.percent_measure(m) for m in measures]
    for value in values_of(facts):
        if isinstance(value, str):
            texts.append(value)
        elif isinstance(value, int | float):
            texts += [phrases.number(value, n) for n in (2, 3, 4)]
            texts += [
                phrases.percent(value),
                phrases.count(value),
                phrases.seconds(value),
                str(value),
            ]
            texts += [phrases.score(value), f"{100 * value:.0f} %", f"{value:.1f}"]
    for text in texts:
        known |= set(re.findall(NUMBER, text))
    return known


NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[-−]?\d+)?"


def test_every_number_on_the_page_is_in_the_facts(rich, page):
    seen = set()
    for text in Reader(page).texts:
        seen |= set(re.findall(NUMBER, text))
    said = {"1", "1.96", "2.7", "80", "95", "2002", "18"}  # in sentences of the page, and "18 more"
    said |= {str(10 * tenth) for tenth in range(11)}  # on axes of shares
    assert seen - written(rich) - said == set()
    assert len(seen) > 60


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.98914, "98.9 %"),
        (1.0, "100.0 %"),
        (0.99999, ">99.9 %"),
        (0.0, "0.0 %"),
        (1e-7, "<0.01 %"),
        (0.00213, "0.21 %"),
        (float("nan"), "-"),
        (None, "-"),
    ],
)
def test_shares_are_never_rounded_to_certainty(value, text):
    assert phrases.percent(value) == text


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0.123456, 0.0123, "0.123 ± 0.012"),
        (0.123456, 0.00012, "0.1235 ± 0.0001"),
        (0.5, None, "0.500"),
        (0.5, 0.0, "0.500 ± 0.000"),
        (3.2559, 0.00002, "3.2559 ± <0.0001"),
        (float("inf"), None, "-"),
    ],
)
def test_scores_have_the_digits_their_error_allows(value, error, text):
    assert phrases.measure(s.Measure(value, error)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(1234567.0, "1,234,567"), (0.123456, "0.123"), (-41.25, "−41.2"), (1e-9, "1e−9")],
)
def test_numbers_have_few_digits(value, text):
    assert phrases.number(value) == text


def test_long_names_are_cut_and_still_told_apart():
    names = ["x" * 50 + str(i) + "y" * 50 for i in range(3)]
    cut = phrases.shortened(names, 20)
    assert len(set(cut)) == 3 and max(map(len, cut)) <= 24
    assert phrases.short("a\n b\t c") == "a b c"
    assert phrases.short("") == "-"


def test_escaped_text_reads_as_it_was_written(rich):
    facts = replace(rich, choice=replace(rich.choice, summary="P(a & b) < 1 > 'x'"))
    page = render(poor(facts), charts={})
    assert "P(a & b) < 1 > 'x'" in unescape(page)
    assert "P(a & b)" not in page
