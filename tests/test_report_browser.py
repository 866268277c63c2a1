"""The report in a real browser, opened from disk: what-if panel and sliders against Python."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")
pytest.importorskip("playwright.sync_api")

from playwright.sync_api import Browser, Page
from test_server_browser import PATIENCE

import posterior
from benchmarks.javascript import cells
from posterior.app.report import page as report_page
from posterior.app.report.facts import Study, study
from posterior.app.report.page import render
from posterior.app.report.what_if_section import NOT_HELD, TOO_LARGE
from posterior.estimators.table_classifier import TableClassifier
from posterior.preprocessing.infer_roles import infer

pytestmark = pytest.mark.once

N = 240
ASKED = 1000
AXE = Path(__file__).parent.parent / "build" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
HOSTILE = "</script><script>alert(1)</script>"
RATIOS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)


def frame_of(n: int, seed: int) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    rare = random.random(n) < 0.25
    frame = pd.DataFrame(
        {
            "amount": np.exp(random.normal(3 + rare, 1.0)),
            "age": random.integers(18, 90, n).astype(float),
            "city": random.choice(["Rome", "Oslo", HOSTILE], n, p=[0.4, 0.4, 0.2]),
            "member": random.choice([True, False], n),
            "since": pd.Timestamp("2021-01-01") + pd.to_timedelta(random.integers(0, 900, n), "D"),
            **{f"other {j}": random.normal(size=n).round(3) for j in range(5)},
            "fraud": np.where(rare, "yes", "no"),
        }
    )
    frame.loc[random.random(n) < 0.1, "age"] = np.nan
    frame.loc[random.random(n) < 0.1, "city"] = None
    return frame


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return frame_of(N, 0)


@pytest.fixture(scope="module")
def found(table: pd.DataFrame) -> Study:
    return study(table, "fraud", source="frauds.csv", quick=True)


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Opens a page from disk, which says nothing to the console and asks nobody."""
    wrong: list[str] = []
    contexts = []

    def open_page(text: str, width: int = 1280, scheme: Any = "light") -> Page:
        place = tmp_path / "report.html"
        place.write_text(text, "utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text))
        page.on("request", lambda r: None if r.url == place.as_uri() else wrong.append(r.url))
        page.goto(place.as_uri())
        page.wait_for_function("!document.querySelector('script[type=\"application/gzip\"]')")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture(scope="module")
def text(found: Study) -> str:
    return render(found.facts, model=found.model)


def shown(page: Page) -> list[float]:
    """The probabilities behind what the panel writes."""
    numbers = page.locator("#what-if-panel .p").all()
    return [float(number.get_attribute("data-probability") or "nan") for number in numbers]


def fitted(table: pd.DataFrame, model: Any, reads: str) -> Any:
    roles = infer(table, "fraud")
    made = TableClassifier(model, roles, reads=reads)
    return made.fit(roles.read(table), table["fraud"])


MODELS: dict[str, Callable[[pd.DataFrame, Study], Any]] = {
    "naive Bayes": lambda table, _: fitted(table, posterior.NaiveBayes(), "table"),
    "logistic": lambda table, _: fitted(table, posterior.LogisticRegression(), "numbers"),
    "additive": lambda table, _: fitted(table, posterior.Additive(), "table"),
    "network": lambda table, _: fitted(table, posterior.TAN(), "table"),
    "neighbors": lambda table, _: fitted(
        table, posterior.KNeighborsClassifier("auto", metric="mixed", weights="auto"), "table"
    ),
    "pool": lambda _, found: found.model,
    "pool with neighbors": lambda table, _: posterior.Classifier(
        models=["naive-bayes", "logistic", "neighbors"]
    ).fit(table, "fraud"),
}


@pytest.mark.parametrize("kind", MODELS)
def test_the_panel_says_what_python_says(
    kind: str, table: pd.DataFrame, found: Study, opened: Callable[..., Page]
) -> None:
    model = MODELS[kind](table, found)
    page = opened(render(found.facts, charts={}, model=model))
    asked = frame_of(ASKED, 1).drop(columns="fraud")
    asked.loc[::7, "city"] = "never seen"
    asked.loc[::11, "amount"] = np.nan
    ours = page.evaluate(
        "rows => rows.map((r) => chosenModel.predict(r).probabilities)", cells(asked)
    )
    assert np.abs(np.array(ours) - model.predict_proba(asked)).max() < 1e-9
    for i, row in enumerate(cells(asked)[:3]):
        page.evaluate(
            "document.querySelectorAll('#what-if details').forEach(d => { d.open = true; })"
        )
        page.get_by_label("amount", exact=True).fill(str(row["amount"] or ""))
        page.get_by_label("age", exact=True).fill(str(row["age"] or ""))
        page.get_by_label("since", exact=True).fill(row["since"][:10])
        city = {None: "(missing)", "never seen": "another value"}.get(row["city"], row["city"])
        page.get_by_label("city", exact=True).select_option(label=city)
        page.get_by_label("member", exact=True).select_option(label=str(row["member"]).lower())
        for j in range(5):
            page.get_by_label(f"other {j}", exact=True).fill(str(row[f"other {j}"]))
        assert np.abs(np.array(shown(page)) - model.predict_proba(asked[i : i + 1])[0]).max() < 1e-9


def test_the_panel_starts_from_the_first_row_and_from_any_shown(
    found: Study, table: pd.DataFrame, text: str, opened: Callable[..., Page]
) -> None:
    page = opened(text)
    model = found.model
    assert np.allclose(shown(page), model.predict_proba(table[:1])[0], atol=1e-9, rtol=0)
    rows = {r.row for r in (*found.facts.sample, *found.facts.surprises.least_expected)}
    buttons = page.locator("button.try:visible")
    assert {int(b.get_attribute("data-row") or 0) for b in page.locator("button.try").all()} >= rows
    for i in (1, buttons.count() - 1):
        row = int(buttons.nth(i).get_attribute("data-row") or 0)
        buttons.nth(i).click()
        expected = model.predict_proba(table[row - 1 : row])[0]
        assert np.allclose(shown(page), expected, atol=1e-9, rtol=0)


def test_the_panel_is_used_by_keyboard_alone(text: str, opened: Callable[..., Page]) -> None:
    page = opened(text)
    before, said = shown(page), page.locator("#what-if-said").inner_text()
    page.locator("#what-if-start").focus()
    page.keyboard.press("Tab")  # start again
    page.keyboard.press("Tab")
    seen = set()
    for _ in range(8):
        seen.add(page.evaluate("document.activeElement.id"))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none"
        if page.evaluate("document.activeElement.type") == "number":
            for _ in range(15):
                page.keyboard.press("ArrowUp")
        page.keyboard.press("Tab")
    assert {f"what-if-{j}" for j in range(4)} <= seen
    assert shown(page) != before and page.locator("#what-if-said").inner_text() != said
    assert page.locator("#what-if-said").get_attribute("aria-live") == "polite"
    page.locator("button.try").first.focus()
    page.keyboard.press("Enter")
    assert shown(page) == before and page.evaluate("document.activeElement.id") == "what-if-start"


def test_long_numbers_are_shown_short_and_stay_exact_until_edited(
    found: Study, table: pd.DataFrame, text: str, opened: Callable[..., Page]
) -> None:
    page = opened(text)
    field = page.get_by_label("amount", exact=True)
    for place in range(3):
        page.locator("#what-if-start").select_option(str(place))
        row = found.facts.whole_rows[place].row
        exact = float(table["amount"][row - 1])
        short = field.input_value()
        assert len(short) <= 7 and float(short) == pytest.approx(exact, rel=1e-2)
        assert float(field.get_attribute("title") or "nan") == exact
        expected = found.model.predict_proba(table[row - 1 : row])[0]
        assert np.abs(np.array(shown(page)) - expected).max() < 1e-12
    field.fill("12.5")
    changed = table[row - 1 : row].assign(amount=12.5)
    assert np.abs(np.array(shown(page)) - found.model.predict_proba(changed)[0]).max() < 1e-12
    assert not field.get_attribute("title")


def test_evidence_in_the_waterfall_ends_at_the_posterior(
    text: str, opened: Callable[..., Page]
) -> None:
    page = opened(text)
    p = shown(page)
    last = page.locator("#what-if-panel .waterfall title").last.text_content()
    (weight,) = re.findall(r"posterior: \+([\d.]+) log odds", last or "")
    assert float(weight) == pytest.approx(abs(np.log(p[0] / p[1])), abs=0.006)
    page.locator("#what-if-class").select_option(label="no")
    assert "P(no)" in (page.locator("#what-if-panel .waterfall").text_content() or "")


def moved(page: Page, key: str) -> float:
    return float(page.locator(f"#moved-{key}").get_attribute("data-value") or "nan")


def slide(page: Page, key: str, value: float) -> None:
    page.locator(f"#move-{key}").evaluate(
        "(e, v) => { e.value = v; e.dispatchEvent(new Event('input')); }", str(value)
    )


def test_sliders_move_what_they_should(
    found: Study, text: str, opened: Callable[..., Page]
) -> None:
    page = opened(text)
    told, gains = found.facts.predictions, found.facts.gains
    assert told.proba is not None and gains is not None
    own = np.array(told.codes) == found.facts.classes.index(gains.name)
    p = np.array(told.proba)[:, found.facts.classes.index(gains.name)]
    share = own.mean()

    def agree(ratio: float, classes: float) -> float:
        threshold = moved(page, "cut")
        weight = np.where(own, classes / share, (1 - classes) / (1 - share))
        taken = p >= threshold
        hit, alarm = weight[own & taken].sum(), weight[~own & taken].sum()
        missed, passed = weight[own & ~taken].sum(), weight[~own & ~taken].sum()
        cost = (ratio * missed + alarm) / len(p)
        expected = {"hit": hit, "alarm": alarm, "missed": missed, "passed": passed, "cost": cost}
        expected |= {"recall": hit / (hit + missed), "accuracy": (hit + passed) / len(p)}
        if hit + alarm:
            expected["precision"] = hit / (hit + alarm)
        for key, value in expected.items():
            assert moved(page, key) == pytest.approx(value, rel=1e-9), key
        costs = [
            (ratio * weight[own & (p < t)].sum() + weight[~own & (p >= t)].sum()) / len(p)
            for t in [*np.unique(p), 2.0]
        ]
        assert moved(page, "least") == pytest.approx(min(costs))
        return cost - min(costs)

    agree(1, share)
    assert moved(page, "share") == share
    slide(page, "cut", 3)
    agree(1, share)
    for place, ratio in ((8, 5), (11, 50), (3, 0.1)):
        slide(page, "ratio", place)
        assert moved(page, "ratio") == ratio == RATIOS[place]
        assert agree(ratio, share) == pytest.approx(0)  # the threshold has moved with the cost
    slide(page, "ratio", 6)
    slide(page, "share", 1.5)
    classes = 1 / (1 + np.exp(-(np.log(share / (1 - share)) + 1.5)))
    assert moved(page, "share") == pytest.approx(classes)
    assert agree(1, classes) == pytest.approx(0)
    before = moved(page, "cut")
    page.locator("#move-cut").focus()
    page.keyboard.press("ArrowRight")
    assert moved(page, "cut") < before and page.locator("#move-cut").get_attribute("aria-valuetext")
    agree(1, classes)
    page.locator("#move-back").focus()
    page.keyboard.press("Enter")
    assert moved(page, "share") == share and moved(page, "ratio") == 1


def test_any_of_several_classes_can_be_the_class_of_interest(
    opened: Callable[..., Page],
) -> None:
    random = np.random.default_rng(0)
    species = np.repeat(["ash", "beech", "cedar"], 60)
    height = random.normal(np.repeat([0.0, 1.5, 2.5], 60))
    table = pd.DataFrame({"height": height, "girth": random.normal(size=180), "tree": species})
    made = study(table, "tree", source="trees.csv", quick=True)
    told = json.loads(made.facts.to_json())
    page = opened(render(made.facts, charts={}, model=made.model))
    codes, proba = (np.array(told["predictions"][key]) for key in ("codes", "proba"))
    assert {g["name"] for g in told["class_gains"]} == {"ash", "beech", "cedar"}
    for place, gains in enumerate(told["class_gains"]):
        page.locator("#class-of-interest").select_option(label=gains["name"])
        assert page.locator("#moved-share").inner_text() == "33.3 %"
        seen = page.locator("#gains [data-interest]:visible").all()
        assert [part.get_attribute("data-interest") for part in seen] == [str(place)] * 2
        names = page.locator("#sliders [data-interest-name]").all_inner_texts()
        assert set(names) == {gains["name"]}
        k = told["classes"].index(gains["name"])
        own, p = codes == k, proba[:, k]
        for key, value in (("cut", 12), ("cut", 70), ("ratio", 9), ("share", -1.0)):
            slide(page, key, value)
            share = moved(page, "share")
            weight = np.where(own, share / own.mean(), (1 - share) / (1 - own.mean()))
            taken = p >= moved(page, "cut")
            hit, alarm = weight[own & taken].sum(), weight[~own & taken].sum()
            assert moved(page, "hit") == pytest.approx(hit)
            assert moved(page, "alarm") == pytest.approx(alarm)
            assert moved(page, "precision") == pytest.approx(hit / (hit + alarm))
            assert moved(page, "recall") == pytest.approx(taken[own].mean())
            right = hit + weight[~own & ~taken].sum()
            assert moved(page, "accuracy") == pytest.approx(right / len(p))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_scrolls_sideways_and_axe_finds_nothing_serious(
    width: int, scheme: str, text: str, opened: Callable[..., Page]
) -> None:
    page = opened(text, width, scheme)
    page.wait_for_selector("[data-drawn]", state="attached")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    paper = page.evaluate("getComputedStyle(document.querySelector('#what-if')).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
    if not AXE.exists():
        pytest.skip("needs axe-core: npm install --prefix build/axe axe-core")
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run().then((r) => r.violations)")
    serious = [v for v in found if v["impact"] in ("serious", "critical")]
    assert [(v["id"], v["nodes"][0]["html"][:200], len(v["nodes"])) for v in serious] == []


def test_a_page_is_at_most_two_megabytes_and_says_what_it_leaves_out(
    found: Study, table: pd.DataFrame, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(text.encode()) < 2_000_000
    with monkeypatch.context() as small:
        small.setattr(report_page, "MOST_BYTES", 100_000)
        page = render(found.facts, charts={}, model=found.model)
    assert TOO_LARGE in page and "what-if-rows" not in page and 'class="try"' not in page
    nearest = posterior.KNeighborsClassifier(3, p=1).fit(table[["other 0"]], table["fraud"])
    page = render(found.facts, charts={}, model=nearest)
    assert NOT_HELD in page and "what-if-rows" not in page


def test_a_row_too_large_for_the_page_is_not_offered(found: Study) -> None:
    none = replace(found.facts, whole_rows=[])
    page = render(none, charts={}, model=found.model)
    assert "what-if-rows" in page and 'class="try"' not in page
