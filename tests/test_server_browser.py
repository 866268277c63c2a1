"""The page in a real browser: what a person does, and what a bad name must not do."""

from __future__ import annotations

import csv
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("fastapi")
pytest.importorskip("duckdb")
pytest.importorskip("playwright.sync_api")

import pyarrow as pa
from playwright.sync_api import Browser, Page, expect

import posterior
from posterior.app import models
from posterior.estimators.table_classifier import TableClassifier
from posterior.preprocessing.infer_roles import infer
from posterior.sources import files

pytestmark = pytest.mark.once

HOSTILE = "<script>alert(1)</script>"
HOSTILE_CLASS = "<img src=x onerror=alert(2)>"
PATIENCE = 60_000  # milliseconds, on a busy machine


def write_fish(path: Path, n: int = 80) -> Path:
    random = np.random.default_rng(0)
    salmon = random.random(n) < 0.4
    rivers = np.array(["Rhine", "Elbe", "Oder"])
    rows = zip(
        random.normal(np.where(salmon, 30, 16), 4).round(2),
        rivers[np.where(salmon, 0, random.integers(0, 3, n))],
        np.where(salmon, HOSTILE_CLASS, "sea bass"),
        strict=True,
    )
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["weight", HOSTILE, "species"], *rows])
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="module")
def fish(folder: Path) -> Path:
    return write_fish(folder / "fish.csv")


@pytest.fixture(scope="module")
def model(folder: Path, fish: Path) -> Any:
    table = files.read(fish).frame
    model = TableClassifier(posterior.NaiveBayes(), infer(table, "species"))
    model.fit(*models.labeled(model, table, "species"))
    models.save(model, str(folder / "fish.posterior"), table)
    return model


@pytest.fixture(scope="module")
def address(folder: Path, model: Any) -> Iterator[str]:
    """A server in a process of its own, at a port that is free."""
    command = [sys.executable, "-m", "posterior", "serve", str(folder / "fish.posterior")]
    with subprocess.Popen([*command, "--port", "0"], stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            found = re.search(r"http://127\.0\.0\.1:\d+", server.stderr.readline())
            assert found is not None
            yield found.group()
        finally:
            server.send_signal(signal.SIGINT)
            said = server.stderr.read()
            assert server.wait(30) == 0 and said == ""


TOKEN = "a-token-of-many-letters"


@pytest.fixture(scope="module")
def guarded(folder: Path, model: Any) -> Iterator[str]:
    """A server with a token, under a path that its proxy does not take off."""
    command = [sys.executable, "-m", "posterior", "serve", str(folder / "fish.posterior")]
    options = ["--port", "0", "--token", TOKEN, "--root-path", "/fish"]
    with subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            found = re.search(r"http://127\.0\.0\.1:\d+/fish", server.stderr.readline())
            assert found is not None
            yield found.group()
        finally:
            server.send_signal(signal.SIGINT)
            assert server.wait(30) == 0


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """A page that complains of nothing, and asks nobody else."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    wrong: list[str] = []
    page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
    page.on("pageerror", lambda error: wrong.append(str(error)))

    def hear(said: Any) -> None:
        if said.type == "error" and "status of 422" not in said.text:  # which the page tells itself
            wrong.append(said.text)

    def look(request: Any) -> None:
        if not request.url.startswith((address, f"blob:{address}", "data:")):
            wrong.append(request.url)

    page.on("console", hear)
    page.on("request", look)
    page.goto(address)
    page.wait_for_selector(".verdict")
    yield page
    context.close()
    assert wrong == []


def shown(page: Page) -> dict[str, float]:
    """The posterior as people read it, in percent."""
    names = page.locator(".bars .label").all_inner_texts()
    texts = page.locator(".bars .p").all_inner_texts()
    return {name: float(text.strip("<>% ")) for name, text in zip(names, texts, strict=True)}


def expected(p: Any) -> Any:
    return pytest.approx({HOSTILE_CLASS: 100 * p[0], "sea bass": 100 * p[1]}, abs=0.11)


def answered(page: Page, act: Any) -> None:
    """Do something, and wait until the server has answered it."""
    before = page.locator("html").get_attribute("data-answered") or ""
    act()
    expect(page.locator("html")).not_to_have_attribute("data-answered", before, timeout=PATIENCE)


def test_the_page_asks_for_the_token_once_and_keeps_it_for_the_tab(
    browser: Browser, guarded: str, fish: Path
) -> None:
    context = browser.new_context(accept_downloads=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(guarded)  # without a slash at its end
    page.fill("#token-input", "this-is-another-token")
    page.click("#token button")
    expect(page.locator("#token .error")).to_contain_text("not the token")
    page.fill("#token-input", TOKEN)
    page.click("#token button")
    expect(page.locator(".verdict")).to_be_visible(timeout=PATIENCE)
    page.reload()
    expect(page.locator(".verdict")).to_be_visible(timeout=PATIENCE)
    assert page.locator("#token-input").count() == 0
    page.click("#tab-batch")
    page.set_input_files("#batch-file", fish)
    page.click("#batch-start")
    with page.expect_download():
        page.click("#batch-download")
    page.click("#tab-api")
    expect(page.locator("#api pre").first).to_contain_text(f"{guarded}/api/predict")
    assert TOKEN not in page.content()
    page.click("#docs-link")
    expect(page.locator(".route").first).to_be_visible(timeout=PATIENCE)
    expect(page.locator("#limits")).to_contain_text("seconds until a question is answered")
    assert all(url.startswith((guarded, f"blob:{guarded[:-5]}")) for url in asked)
    other = context.new_page()  # another tab knows nothing
    other.goto(guarded)
    expect(other.locator("#token-input")).to_be_visible(timeout=PATIENCE)
    context.close()


def test_the_documentation_is_drawn_without_a_request_elsewhere(page: Page, address: str) -> None:
    page.goto(f"{address}/docs")
    expect(page.locator(".route").first).to_be_visible(timeout=PATIENCE)
    shown_paths = page.locator(".route h2 code").all_inner_texts()
    assert {"/api/predict", "/models/{name}/predict", "/metrics"} <= set(shown_paths)
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_the_page_tells_what_it_does_not_know(page: Page) -> None:
    answered(page, lambda: page.locator(".unknown-box input").first.check())
    expect(page.locator(".note.missing")).to_contain_text("weight is missing")


def test_names_that_look_like_html_are_text(page: Page) -> None:
    assert HOSTILE in page.locator(".cells label").all_inner_texts()
    assert HOSTILE_CLASS in shown(page)
    assert page.locator("main img, main script").count() == 0
    for tab in ("batch", "train", "api"):
        page.click(f"#tab-{tab}")
        expect(page.locator(f"#{tab}")).to_be_visible()
    assert page.locator("main img, main script").count() == 0


def test_a_slider_moves_the_posterior(page: Page, model: Any) -> None:
    slider, river = page.locator("#ask input[type=range]").first, page.locator("#cell-1")
    answered(page, lambda: river.select_option("unknown"))
    for weight in (18.5, 26.5):
        answered(page, lambda weight=weight: slider.fill(str(weight)))
        one = pa.table({"weight": [float(page.input_value("#cell-0"))], HOSTILE: pa.nulls(1)})
        assert shown(page) == expected(model.predict_proba(one)[0])
        last = page.locator(".waterfall g").last.locator("text").last
        assert float((last.text_content() or "").strip("<>% ")) == max(shown(page).values())


def test_unknown_cells_leave_the_prior(page: Page, model: Any) -> None:
    answered(page, lambda: page.get_by_role("button", name="All unknown").click())
    assert shown(page) == expected(np.exp(model.class_log_prior_))
    answered(page, lambda: page.locator(".unknown-box input").first.uncheck())
    assert page.input_value("#cell-0") != ""


def test_shares_and_costs_are_controls(page: Page) -> None:
    answered(page, lambda: page.get_by_role("button", name="All unknown").click())
    page.click(".settings summary")
    answered(page, lambda: page.locator("#share-0").fill("1000"))
    answered(page, lambda: page.locator("#share-1").fill("0"))
    assert shown(page) == expected([1, 0])
    answered(page, lambda: page.get_by_role("button", name="As learned").click())
    expect(page.locator(".verdict strong")).to_have_text("sea bass")
    answered(page, lambda: page.locator("#cost-0-1").fill("1000"))  # salmon missed is dear
    expect(page.locator(".verdict strong")).to_have_text(HOSTILE_CLASS)


def test_a_row_can_be_pasted(page: Page) -> None:
    page.click(".paste summary")
    page.locator(".paste textarea").fill(f'weight,"{HOSTILE}"\n31.5,Rhine')
    answered(page, lambda: page.get_by_role("button", name="Read it").click())
    assert page.input_value("#cell-0") == "31.5"
    expect(page.locator(".verdict strong")).to_have_text(HOSTILE_CLASS)


def test_a_file_is_answered_and_downloaded(page: Page, fish: Path, model: Any) -> None:
    page.click("#tab-batch")
    page.set_input_files("#batch-file", fish)
    page.click("#batch-start")
    with page.expect_download() as download:
        page.click("#batch-download")
    with open(download.value.path(), newline="") as file:
        found = list(csv.DictReader(file))
    assert [row["predicted"] for row in found] == model.predict(files.read(fish).frame).tolist()


def test_a_bad_file_is_told_in_a_sentence(page: Page, tmp_path: Path) -> None:
    bad = tmp_path / "bad.parquet"
    bad.write_bytes(b"PAR1 but no more")
    page.click("#tab-train")
    page.set_input_files("#train-file", bad)
    expect(page.locator("#train .error")).to_contain_text("Expected a table")


@pytest.mark.slow
def test_a_model_is_trained_read_about_asked_and_downloaded(
    page: Page, fish: Path, tmp_path: Path
) -> None:
    page.click("#tab-train")
    page.set_input_files("#train-file", fish)
    expect(page.locator("#train-target option:checked")).to_have_text("species")
    page.click("#train-start")
    expect(page.locator("#train-summary")).to_contain_text("species", timeout=PATIENCE)
    report = page.frame_locator("iframe")
    expect(report.locator("h1")).to_contain_text("species in fish.csv", timeout=PATIENCE)
    expect(report.locator("html")).to_have_attribute("data-drawn", "yes", timeout=PATIENCE)
    assert page.locator("iframe").get_attribute("sandbox") == "allow-scripts"
    with page.expect_download() as download:
        page.click("#train-model")
    download.value.save_as(tmp_path / "model.posterior")
    assert set(posterior.load(tmp_path / "model.posterior").classes_) == {HOSTILE_CLASS, "sea bass"}
    page.click("#train-use")
    expect(page.locator("#about")).to_contain_text("species in fish.csv")
    expect(page.locator("#ask .verdict")).to_be_visible()


WORDS = {"spam": "free prize call cash winner claim".split(), "ham": "lunch home see soon".split()}
EVERY_WORD = [word for words in WORDS.values() for word in words]


def write_messages(path: Path, words: float, others: float, n: int = 160) -> Path:
    """Texts beside a number and a word, and how much either says of the label."""
    random = np.random.default_rng(0)
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["said", "hour", "line", "label"])
        for i in range(n):
            label = ("ham", "spam")[i % 2]
            own = random.choice(WORDS[label], 6)
            said = np.where(random.random(6) < words, own, random.choice(EVERY_WORD, 6))
            hour = random.normal(3 * others * (label == "spam"))
            line = random.choice(["a", "b"])
            rows.writerow([" ".join(said), round(hour, 2), line, label])
    return path


def write_texts(path: Path) -> Path:
    whole = write_messages(path, 0.5, 0.0)
    with whole.open(newline="") as file:
        rows = [[row["said"], row["label"]] for row in csv.DictReader(file)]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["said", "label"], *rows])
    return path


TRAINED = {  # what is trained on, and the columns that tell: all together may read others, too
    "texts": (write_texts, ["said"]),
    "texts beside noise": (lambda path: write_messages(path, 0.5, 0.0), ["said"]),
    "texts and columns": (lambda path: write_messages(path, 0.3, 0.5), ["said", "hour", "line"]),
    "columns beside noise": (lambda path: write_messages(path, 0.0, 1.0), ["hour", "line"]),
}


def train(page: Page, path: Path) -> None:
    page.click("#tab-train")
    page.set_input_files("#train-file", path)
    page.click("#train-start")
    expect(page.locator("#train-summary")).to_be_visible(timeout=PATIENCE)
    page.click("#train-use")
    expect(page.locator("#about")).to_contain_text(f"in {path.name}")
    expect(page.locator("#ask .verdict")).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize("kind", TRAINED)
def test_every_model_that_the_page_trains_can_be_asked_on_it(
    page: Page, tmp_path: Path, kind: str
) -> None:
    write, columns = TRAINED[kind]
    train(page, write(tmp_path / "rows.csv"))
    asked = page.locator("#ask .field > label:first-child").all_inner_texts()
    assert set(columns) <= set(asked) <= {"said", "hour", "line"}
    if "said" in columns:
        for said in ("free prize claim winner cash", "lunch home soon see"):
            answered(page, lambda said=said: page.locator("#ask textarea.document").fill(said))
            answer = "spam" if "free" in said else "ham"
            expect(page.locator(".verdict strong")).to_have_text(answer)
    assert page.locator("#ask .error").count() == 0
    assert sum(shown(page).values()) == pytest.approx(100, abs=0.2)


@pytest.mark.slow
def test_a_number_is_predicted_in_bands_on_the_page(page: Page, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    carat = np.exp(random.normal(-0.4, 0.5, 300)).round(2)
    price = (4000 * carat * np.exp(random.normal(0, 0.2, 300))).astype(int)
    path = tmp_path / "diamonds.csv"
    with path.open("w", newline="") as file:
        rows = zip(carat, carat.round(1), price, strict=True)
        csv.writer(file).writerows([["carat", "rounded", "price"], *rows])
    page.click("#tab-train")
    page.set_input_files("#train-file", path)
    page.select_option("#train-target", label="price")
    page.locator("#train-bands").fill("2000, 10000")
    page.click("#train-columns summary")
    page.select_option("#train-column-1", "out")
    page.click("#train-start")
    expect(page.locator("#train-summary")).to_be_visible(timeout=PATIENCE)
    page.click("#train-use")
    expect(page.locator("#about")).to_contain_text("price in diamonds.csv")
    expect(page.locator("#ask .verdict")).to_be_visible()
    assert list(shown(page)) == ["under 2,000", "2,000 to 10,000", "10,000 and more"]
    expect(page.locator("#ask")).to_contain_text("carat")
    expect(page.locator("#ask")).not_to_contain_text("rounded")


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_sticks_out_of_the_page(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.click(".settings summary")
    for tab in ("ask", "batch", "train", "api"):
        page.click(f"#tab-{tab}")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
