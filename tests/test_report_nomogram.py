"""The nomogram of a report in a real browser: points of Python's evidence, for every class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")
pytest.importorskip("playwright.sync_api")

from playwright.sync_api import Page
from test_report_browser import fitted, frame_of, opened

import posterior
from posterior.app.report.facts import Study, study
from posterior.app.report.page import render

pytestmark = pytest.mark.once
__all__ = ["opened"]

MODELS: dict[str, Callable[[pd.DataFrame, Study], Any]] = {
    "naive Bayes": lambda t, _: fitted(t, posterior.NaiveBayes(), "table"),
    "kernels": lambda t, _: fitted(t, posterior.NaiveBayes("auto"), "table"),
    "logistic": lambda t, _: fitted(t, posterior.LogisticRegression(), "numbers"),
    "discriminant": lambda t, _: fitted(t, posterior.LinearDiscriminantAnalysis(), "numbers"),
    "additive": lambda t, _: fitted(t, posterior.Additive(), "table"),
    "calibrated": lambda t, _: fitted(t, posterior.NaiveBayes(calibrated="temperature"), "table"),
    "pool": lambda _, found: found.model,
}


def of_classes(n_classes: int) -> pd.DataFrame:
    frame = frame_of(240, 3)
    if n_classes == 3:
        frame.loc[frame["age"] > 65, "fraud"] = "unclear"
    return frame


@pytest.fixture(scope="module", params=[2, 3])
def found(request: pytest.FixtureRequest) -> tuple[pd.DataFrame, Study]:
    table = of_classes(request.param)
    return table, study(table, "fraud", source="frauds.csv", quick=True)


def lines(page: Page) -> dict[str, float]:
    """Points by the name of a line, all columns shown."""
    return page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('#nomogram [data-line]')]"
        ".map((g) => [g.dataset.line, Number(g.dataset.points)]))"
    )


def told(page: Page, key: str) -> float:
    return float(page.locator("#nomogram svg").get_attribute(f"data-{key}") or "nan")


def against(scores: np.ndarray, k: int, other: int | None) -> np.ndarray:
    """Class k against another, or against the mean of all others; classes are the last axis."""
    rest = np.delete(scores, k, -1).mean(-1) if other is None else scores[..., other]
    return np.asarray(scores[..., k] - rest)


@pytest.mark.parametrize("kind", MODELS)
def test_points_are_pythons_evidence_and_add_up_to_its_log_odds(
    kind: str, found: tuple[pd.DataFrame, Study], opened: Callable[..., Page]
) -> None:
    table, made = found
    model = MODELS[kind](table, made)
    page = opened(render(made.facts, charts={}, model=model))
    if page.get_by_role("button", name="Show all").count():
        page.get_by_role("button", name="Show all").click()
    classes = [str(c) for c in model.classes_]
    pairs = [(0, None), (1, None)] + ([(2, 0), (2, None)] if len(classes) == 3 else [])
    names = {str(c) for c in table if c != "fraud"}
    for start in range(4):
        page.locator("#what-if-start").select_option(str(start))
        row = made.facts.whole_rows[start].row
        evidence = model.evidence(table[row - 1 : row])
        by_column: dict[str, Any] = {}
        for j, name in enumerate(evidence.feature_names):
            by_column[str(name)] = by_column.get(str(name), 0.0) + evidence.terms[0, :, j]
        p = model.predict_proba(table[row - 1 : row])[0]
        for k, other in pairs:
            page.locator("#nomogram-class").select_option(str(k))
            if len(classes) == 3:
                page.locator("#nomogram-against").select_option("" if other is None else str(other))
            shown, total = lines(page), told(page, "total")
            expected = {n: float(against(e, k, other)) for n, e in by_column.items()}
            for name in names:
                assert shown.pop(name, 0.0) == pytest.approx(expected.pop(name, 0.0), abs=1e-9)
            prior = float(against(evidence.log_prior, k, other))
            assert shown.pop("start") == pytest.approx(prior, abs=1e-9)
            assert shown.pop("columns together", 0.0) == pytest.approx(
                sum(expected.values()), abs=1e-9
            )
            assert shown == {}
            whole = sum(against(e, k, other) for e in by_column.values()) + prior
            assert total == pytest.approx(whole, abs=1e-9)
            said = p[k] if other is None else p[k] / (p[k] + p[other])
            assert told(page, "probability") == pytest.approx(said, abs=1e-9)
            if kind != "calibrated":
                odds = against(np.log(p), k, other)
                assert total == pytest.approx(odds, abs=1e-9)


@pytest.fixture
def additive(found: tuple[pd.DataFrame, Study], opened: Callable[..., Page]) -> Page:
    table, made = found
    return opened(render(made.facts, charts={}, model=MODELS["naive Bayes"](table, made)))


def test_dots_stand_where_their_points_are(additive: Page) -> None:
    low, high = told(additive, "low"), told(additive, "high")
    left, right = additive.evaluate(
        "(() => { const t = document.querySelector('#nomogram .touch'); const x = Number("
        "t.getAttribute('x')); return [x, x + Number(t.getAttribute('width'))]; })()"
    )
    dots = additive.evaluate(
        "[...document.querySelectorAll('#nomogram [data-line]')].map((g) => "
        "[Number(g.dataset.points), Number(g.querySelector('.now').getAttribute('cx'))])"
    )
    for points, x in dots:
        share = (np.clip(points, low, high) - low) / (high - low)
        assert x == pytest.approx(left + share * (right - left), abs=1e-9)


def test_arrow_keys_and_clicks_move_the_row(additive: Page) -> None:
    line = additive.get_by_role("slider", name="Points of amount", exact=True)
    before, total = lines(additive), told(additive, "total")
    line.focus()
    for _ in range(5):
        additive.keyboard.press("ArrowRight")
    after = lines(additive)
    assert additive.evaluate("document.activeElement.dataset.line") == "amount"
    assert line.get_attribute("aria-valuetext")
    assert after["amount"] != before["amount"] and told(additive, "total") != total
    assert {n: v for n, v in after.items() if n != "amount"} == {
        n: v for n, v in before.items() if n != "amount"
    }
    panel = additive.locator("#what-if-panel")
    typed = float(panel.get_by_label("amount", exact=True).input_value())
    assert typed == pytest.approx(float(line.get_attribute("aria-valuenow") or 0), rel=1e-3)
    city = additive.get_by_role("slider", name="Points of city", exact=True)
    city.focus()
    additive.keyboard.press("Home")
    first = panel.get_by_label("city", exact=True).input_value()
    additive.keyboard.press("End")
    last = panel.get_by_label("city", exact=True).input_value()
    assert first == "0" and last == "2"
    city.locator(".touch").click(position={"x": 2, "y": 10})
    least = panel.get_by_label("city", exact=True).input_value()
    points = {}
    for place in "012":
        panel.get_by_label("city", exact=True).select_option(place)
        points[place] = lines(additive)["city"]
    assert least == min(points, key=lambda place: points[place])


def test_a_model_whose_columns_depend_on_each_other_has_no_nomogram(
    found: tuple[pd.DataFrame, Study], opened: Callable[..., Page]
) -> None:
    table, made = found
    page = opened(render(made.facts, charts={}, model=fitted(table, posterior.TAN(), "table")))
    assert page.locator("#nomogram").is_hidden()


@pytest.mark.parametrize("width", [390, 1280])
def test_a_nomogram_fits_its_page(
    width: int, found: tuple[pd.DataFrame, Study], opened: Callable[..., Page]
) -> None:
    page = opened(render(found[1].facts, charts={}, model=found[1].model), width)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    inside = page.evaluate(
        "(() => { const box = document.querySelector('#nomogram svg').getBoundingClientRect();"
        "return [...document.querySelectorAll('#nomogram svg text')].every((t) => {"
        "const b = t.getBoundingClientRect(); return b.left >= box.left - 4"
        " && b.right <= box.right + 4; }); })()"
    )
    assert inside
