"""The server: answers as the model alone gives them, to this page only, within limits."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import re
import socket
import tempfile
import time
import zipfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")
pytest.importorskip("typer")

import duckdb
import httpx
import pyarrow as pa
from pyarrow import parquet

import posterior
from posterior.app import models
from posterior.app.server import Limits, create_app
from posterior.app.server.server_app import STATIC
from posterior.app.server.serving import bound
from posterior.estimators.pool.candidates import candidates
from posterior.preprocessing.infer_roles import infer

pytestmark = pytest.mark.once

HOSTILE = "<script>alert(1)</script>"
HOSTILE_CLASS = "<img src=x onerror=alert(2)>"
CLASSES = [HOSTILE_CLASS, "sea bass"]
HOME = "http://127.0.0.1:8000"


def fish(n: int, seed: int = 0) -> Any:
    """Numbers, words, dates and truth values, with names that mean harm."""
    random = np.random.default_rng(seed)
    salmon = random.random(n) < 0.4
    rivers = np.array(["Rhine", "Elbe", "Oder"])
    days = np.datetime64("2024-03-01") + random.integers(0, 60, n) + 30 * salmon
    return pa.table(
        {
            "weight": random.normal(np.where(salmon, 30, 16), 4).round(2),
            HOSTILE: rivers[np.where(salmon, 0, random.integers(0, 3, n))],
            "caught": pa.array(days.astype("datetime64[us]")),
            "tagged": random.random(n) < 0.3,
            "species": np.where(salmon, *CLASSES),
        }
    )


TABLE = fish(120)
ROW: dict[str, Any] = {"weight": 25.5, HOSTILE: "Elbe", "caught": "2024-04-20", "tagged": True}
ONE = pa.table(
    {
        "weight": [25.5],
        HOSTILE: ["Elbe"],
        "caught": pa.array(np.array(["2024-04-20"], "datetime64[us]")),
        "tagged": [True],
    }
)


def fitted(table: Any = TABLE, target: str = "species", **asked: Any) -> dict[str, Any]:
    """Every kind of model of a table, by its key."""
    roles = infer(table, target, **asked)
    kinds = {c.key: c.classifier for c in candidates(roles, table.num_rows, 2)}
    pair = list(kinds)[:2]
    kinds["one of two"] = posterior.Classifier(roles=roles, models=pair)
    return {key: c.fit(*models.labeled(c, table, target)) for key, c in kinds.items()}


MODELS = fitted()
NUMBERS = fitted(leave_out=[HOSTILE, "caught", "tagged"])
NAIVE = MODELS["naive-bayes"]
TEXTS = ["free prize, call now", "free cash prize", "lunch at noon?", "see you at lunch"] * 8
LABELS = ["spam", "spam", "ham", "ham"] * 8
SPAM = posterior.TextClassifier(model="multinomial").fit(TEXTS, LABELS)


class Page:
    """Requests to an application, one after the other."""

    def __init__(self, app: Any, runner: asyncio.Runner) -> None:
        self._runner = runner
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        self._client = httpx.AsyncClient(transport=transport, base_url=HOME)

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self._runner.run(self._client.get(path, **options))

    def post(self, path: str, **options: Any) -> httpx.Response:
        return self._runner.run(self._client.post(path, **options))


@contextmanager
def client(model: Any = NAIVE, **options: Any) -> Iterator[Page]:
    app = create_app(model, **options)
    life = app.router.lifespan_context(app)
    with asyncio.Runner() as runner:
        runner.run(life.__aenter__())
        yield Page(app, runner)
        runner.run(life.__aexit__(None, None, None))


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with client() as found:
        yield found


def complaint(response: Any, *statuses: int) -> str:
    """The one sentence of an answer that refuses."""
    assert response.status_code in statuses, response.text
    assert set(response.json()) == {"error"}
    text = str(response.json()["error"])
    assert "\n" not in text and "Traceback" not in text and tempfile.gettempdir() not in text
    return text


def told(answer: dict[str, Any]) -> list[float]:
    return list(answer["posterior"].values())


@pytest.mark.parametrize("key", MODELS)
def test_a_row_is_answered_as_the_model_alone_answers_it(key: str) -> None:
    with client(MODELS[key]) as page:
        answer = page.post("/api/predict", json={"rows": [ROW]}).json()["predictions"][0]
    assert answer["answer"] == MODELS[key].predict(ONE)[0]
    np.testing.assert_allclose(told(answer), MODELS[key].predict_proba(ONE)[0], rtol=1e-12)


@pytest.mark.parametrize("model", [*MODELS.values(), *NUMBERS.values()], ids=[*MODELS, *NUMBERS])
def test_what_the_columns_add_sums_to_the_posterior(model: Any) -> None:
    row = {"weight": 25.5} if model in NUMBERS.values() else ROW
    with client(model) as page:
        why = page.post("/api/explain", json={"row": row}).json()
    if why["start"] is None:
        assert why["neighbors"]
        return
    labels = list(why["posterior"])
    log_joint = np.array(
        [why["start"][k] + sum(term["scores"][k] for term in why["terms"]) for k in labels]
    )
    shares = np.exp(log_joint - log_joint.max())
    np.testing.assert_allclose(told(why), shares / shares.sum(), rtol=1e-9)
    for term in why["terms"]:
        gap = term["scores"][why["of"]] - term["scores"][why["against"]]
        assert term["weight"] == pytest.approx(gap)
        assert not re.fullmatch(r"\d+( × \d+)?", term["name"])


@pytest.mark.parametrize(
    "model",
    [
        posterior.GaussianNB(),
        posterior.NaiveBayes(),
        posterior.LinearDiscriminantAnalysis(),
        posterior.QuadraticDiscriminantAnalysis(),
        posterior.LogisticRegression(),
        posterior.KNeighborsClassifier(),
        posterior.MixtureClassifier(),
        posterior.GaussianMixture(2),
        posterior.JointBayes(),
        posterior.Additive(rounds=20),
        posterior.Additive(rounds=20, categories=True),
        posterior.MultinomialNB(),
        posterior.KMeans(2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_models_fitted_to_arrays_are_served_by_places(model: Any) -> None:
    random = np.random.default_rng(0)
    X, y = random.integers(0, 9, (40, 3)), np.arange(40) % 2
    model.fit(X, y)
    with client(model) as page:
        columns = page.get("/api/model").json()["columns"]
        row = {c["name"]: int(v) for c, v in zip(columns, X[0], strict=True)}
        why = page.post("/api/explain", json={"row": row})
    assert why.status_code == 200, why.text
    np.testing.assert_allclose(told(why.json()), model.predict_proba(X[:1])[0], atol=1e-12)


def test_an_additive_model_lists_the_values_that_have_a_cell() -> None:
    with client(MODELS["additive"]) as page:
        listed = {c["name"]: c for c in page.get("/api/model").json()["columns"]}
    assert listed[HOSTILE]["values"] == ["Elbe", "Oder", "Rhine"]
    frame = pd.DataFrame({"size": np.arange(40.0), "city": ["a", "b"] * 20})
    with client(posterior.Additive(rounds=20).fit(frame, np.arange(40) > 20)) as page:
        size, city = page.get("/api/model").json()["columns"]
    assert (size["kind"], city["kind"], city["values"]) == ("number", "category", ["a", "b"])
    assert (size["low"], size["high"]) == (0.5, 38.5)  # where the outer cells begin


def test_a_model_without_probabilities_is_refused() -> None:
    with pytest.raises(ValueError, match="probabilities"):
        create_app(posterior.CountVectorizer().fit(TEXTS))


def test_the_controls_know_ranges_and_values(page: Page) -> None:
    facts = page.get("/api/model").json()
    columns = {column["name"]: column for column in facts["columns"]}
    weight = TABLE.column("weight").to_numpy()
    assert (columns["weight"]["low"], columns["weight"]["high"]) == (weight.min(), weight.max())
    assert columns[HOSTILE]["values"] == ["Elbe", "Oder", "Rhine"]
    assert columns["caught"]["kind"] == "date"
    assert columns["tagged"]["values"] == ["false", "true"]
    assert facts["classes"] == CLASSES and facts["target"] == "species"
    assert sum(facts["priors"].values()) == pytest.approx(1)


def test_cells_left_out_null_and_empty_are_all_unknown(page: Page) -> None:
    others = {name: cell for name, cell in ROW.items() if name != "weight"}
    rows = [others, *({**others, "weight": cell} for cell in (None, "", "?", "NaN"))]
    answers = page.post("/api/predict", json={"rows": rows}).json()["predictions"]
    assert all(answer == answers[0] for answer in answers)
    assert told(answers[0]) != told(
        page.post("/api/predict", json={"rows": [ROW]}).json()["predictions"][0]
    )


def test_a_misspelled_column_is_named_with_the_nearest(page: Page) -> None:
    answer = page.post("/api/predict", json={"rows": [{"wieght": 3}]})
    assert "'weight'" in complaint(answer, 422)
    seen = page.post("/api/predict", json={"rows": [{**ROW, "species": "sea bass"}]})
    assert seen.status_code == 200  # a column of training that the model does not read


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "[]",
        '{"rows": []}',
        '{"rows": [{"weight": [1]}]}',
        '{"rows": [{"weight": {}}]}',
        '{"rows": [{"weight": "heavy"}]}',
        '{"rows": [{"weight": Infinity}]}',
        '{"rows": [{"weight": 1' + "0" * 400 + "}]}",
        '{"rows": [{"weight": 1' + "0" * 9000 + "}]}",
        '{"rows": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"rows": [{}], "priors": {"sea bass": 1}}',
        json.dumps({"rows": [{}], "priors": {"sea bass": 0, HOSTILE_CLASS: 0}}),
        '{"rows": [{}], "costs": {"sea bass": {}}}',
        '{"rows": [{}], "surprise": 1}',
        '{"rows": [{"caught": "soon"}]}',
        b'{"rows": [{"weight": "\xff"}]}',
    ],
    ids=lambda body: str(body)[:40],
)
def test_a_bad_question_is_refused_in_one_sentence(page: Page, body: str | bytes) -> None:
    answer = page.post("/api/predict", content=body, headers={"Content-Type": "application/json"})
    complaint(answer, 400, 422)


def test_other_shares_and_costs_change_the_answer(page: Page) -> None:
    priors = {HOSTILE_CLASS: 99, "sea bass": 1}
    costs = {k: {a: float(k != a) for a in CLASSES} for k in CLASSES}
    costs[HOSTILE_CLASS]["sea bass"] = 1000.0
    rows = [{"weight": 18.0}]
    plain = page.post("/api/predict", json={"rows": rows}).json()["predictions"][0]
    assert plain["answer"] == "sea bass"
    moved = page.post("/api/predict", json={"rows": rows, "priors": priors}).json()["predictions"][
        0
    ]
    one = pa.table({**{name: [None] for name in ROW}, "weight": [18.0]})
    np.testing.assert_allclose(told(moved), NAIVE.predict_proba(one, priors=[0.99, 0.01])[0])
    dear = page.post("/api/predict", json={"rows": rows, "costs": costs}).json()["predictions"][0]
    assert dear["answer"] == HOSTILE_CLASS and told(dear) == told(plain)
    expected = np.array(told(plain)) @ np.array([[0, 1000], [1, 0]])
    np.testing.assert_allclose(list(dear["expected_costs"].values()), expected)


def test_a_text_is_marked_and_stays_whole() -> None:
    text = "Free 😀 PRIZE <b>free</b>\nlunch?"
    with client(SPAM) as page:
        why = page.post("/api/explain", json={"row": {"text": text}}).json()
    assert why["answer"] == "spam"
    assert "".join(piece for piece, _ in why["pieces"]) == text
    weights = {piece.lower(): weight for piece, weight in why["pieces"] if weight is not None}
    assert weights["free"] > 0 > weights["lunch"]
    np.testing.assert_allclose(told(why), SPAM.predict_proba([text])[0])


def test_documents_of_a_file_are_explained_by_their_words() -> None:
    random = np.random.default_rng(0)
    words = {"spam": ["free", "prize", "call", "cash"], "ham": ["lunch", "home", "see", "soon"]}
    y = ["spam", "ham"] * 30
    both = [*words["spam"], *words["ham"]]
    said = [" ".join([*random.choice(words[label], 4), *random.choice(both, 3)]) for label in y]
    table = pa.table({"said": said, "y": y})
    for key, model in fitted(table, "y").items():
        with client(model) as page:
            why = page.post("/api/explain", json={"row": {"said": "free lunch 😀 prize"}}).json()
        assert "".join(piece for piece, _ in why["pieces"]) == "free lunch 😀 prize", key
        names = {term["name"] for term in why["terms"]} - {"without any word"}
        assert names == {"free", "lunch", "prize"}, key


def as_csv(table: Any) -> bytes:
    text = io.StringIO()
    out = csv.writer(text)
    out.writerow(table.column_names)
    out.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return text.getvalue().encode()


def as_parquet(table: Any) -> bytes:
    out = io.BytesIO()
    parquet.write_table(table, out)
    return out.getvalue()


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of temporary files that is empty again when all is well."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def upload(content: bytes, name: str, **fields: str) -> dict[str, Any]:
    return {"files": {"file": (name, content)}, "data": fields}


@pytest.mark.parametrize("name", ["fish.csv", "../../fish.CSV", "C:\\tmp\\fish.parquet", "a.jsonl"])
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_a_file_is_answered_row_by_row(page: Page, empty: Path, name: str, form: str) -> None:
    if name.endswith("jsonl"):
        lines = (json.dumps({**row, "caught": str(row["caught"])}) for row in TABLE.to_pylist())
        content = "\n".join(lines).encode()
    else:
        content = as_parquet(TABLE) if "parquet" in name else as_csv(TABLE)
    answer = page.post("/api/batch", **upload(content, name, format=form))
    assert answer.status_code == 200, answer.text
    assert answer.headers["X-Rows"] == "120"
    assert list(empty.iterdir()) == []
    if form == "parquet":
        found = parquet.read_table(io.BytesIO(answer.content)).to_pylist()
    elif form == "jsonl":
        found = [json.loads(line) for line in answer.text.splitlines()]
    else:
        found = list(csv.DictReader(io.StringIO(answer.text)))
    p = NAIVE.predict_proba(TABLE)
    for k, label in enumerate(CLASSES):
        np.testing.assert_allclose([float(row[f"p_{label}"]) for row in found], p[:, k])
    assert [row["predicted"] for row in found] == NAIVE.predict(TABLE).tolist()


def test_a_file_is_answered_under_other_shares_and_costs(page: Page) -> None:
    priors = json.dumps({HOSTILE_CLASS: 0.9, "sea bass": 0.1})
    fields = {"priors": priors, "only": "true"}
    answer = page.post("/api/batch", **upload(as_csv(TABLE), "a.csv", **fields))
    found = list(csv.DictReader(io.StringIO(answer.text)))
    assert list(found[0]) == ["predicted", *(f"p_{label}" for label in CLASSES)]
    p = NAIVE.predict_proba(TABLE, priors=[0.9, 0.1])
    np.testing.assert_allclose([float(row["p_sea bass"]) for row in found], p[:, 1])
    bad = page.post("/api/batch", **upload(as_csv(TABLE), "a.csv", costs="[" * 9999))
    complaint(bad, 422)


def test_texts_in_a_file_are_answered() -> None:
    with client(SPAM) as page:
        content = b"id,text\n1,free prize\n2,see you\n"
        answer = page.post("/api/batch", **upload(content, "a.csv"))
    assert [r["predicted"] for r in csv.DictReader(io.StringIO(answer.text))] == ["spam", "ham"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b""),
        ("a.csv", b"\n\n"),
        ("a.csv", b"weight\n"),
        ("a.csv", b"\0\1\2\3" * 100),
        ("a.csv", b"weight,tagged\n1,2,3\n"),
        ("a.csv", b"nothing,known\n1,2\n"),
        ("a.csv", as_csv(TABLE).replace(b"\n", b",\n", 1)),
        ("a.parquet", as_parquet(TABLE)[:-40]),
        ("a.parquet", b"PAR1 but no more"),
        ("a.jsonl", b'{"weight": 1}\n{"weight": '),
        ("a.arrow", b"ARROW1 but no more"),
        ("a.exe", b"MZ"),
        ("a.csv.gz", b"\x1f\x8b"),
        ("", b"weight\n1\n"),
    ],
    ids=lambda value: str(value)[:24],
)
@pytest.mark.parametrize("route", ["/api/batch", "/api/columns"])
def test_a_bad_file_is_refused_in_one_sentence(
    page: Page, empty: Path, route: str, name: str, content: bytes
) -> None:
    answer = page.post(route, **upload(content, name))
    if route == "/api/columns" and answer.status_code == 200:
        assert answer.json()["columns"]  # it has columns, if not those of the model
    else:
        complaint(answer, 400, 413, 415, 422)
    assert list(empty.iterdir()) == []


def packed(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def as_workbook(table: Any) -> bytes:
    pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    out = io.BytesIO()
    table.to_pandas().to_excel(out, index=False, engine="openpyxl")
    return out.getvalue()


def test_workbooks_and_archives_are_answered_like_the_table_in_them(
    page: Page, empty: Path
) -> None:
    plain = page.post("/api/batch", **upload(as_csv(TABLE), "a.csv", only="true")).text
    files = {"a.xlsx": as_workbook(TABLE), "a.zip": packed(**{"x/a.csv": as_csv(TABLE)})}
    for name, content in files.items():
        answer = page.post("/api/batch", **upload(content, name, only="true"))
        assert answer.status_code == 200 and answer.text == plain
        columns = page.post("/api/columns", **upload(content, name)).json()["columns"]
        assert columns == TABLE.column_names
    assert list(empty.iterdir()) == []


def test_archives_and_databases_that_may_do_harm_are_refused(
    page: Page, empty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from posterior.app.server import uploads

    with duckdb.connect(str(tmp_path / "a.duckdb")) as database:
        database.execute("CREATE TABLE t AS SELECT 1 AS weight")
    duck = (tmp_path / "a.duckdb").read_bytes()
    (tmp_path / "a.duckdb").unlink()
    monkeypatch.setattr(uploads, "UNPACKED", 50_000)
    for name, content, said in (
        ("a.zip", packed(**{"a.csv": b"weight\n" + b"1\n" * 99_999}), "unpack"),
        ("a.xlsx", packed(**{"a.xml": b"0" * 99_999}), "unpack"),
        ("a.zip", packed(**{"b.zip": packed(**{"a.csv": b"weight\n1\n"})}), "archive"),
        ("a.zip", packed(**{"a.db": duck}), "Unpack"),
        ("a.db", duck, "SQLite"),
        ("a.duckdb", duck, "ends in"),
    ):
        for route in ("/api/batch", "/api/columns"):
            assert said in complaint(page.post(route, **upload(content, name)), 415, 422)
    broken = packed(**{"a.jsonl": b'{"weight": 1}\n{"weight": '})
    assert "/" not in complaint(page.post("/api/batch", **upload(broken, "a.zip")), 422)
    assert list(empty.iterdir()) == []


def test_too_much_is_refused(empty: Path) -> None:
    limits = Limits(json_bytes=2000, upload_bytes=20_000, rows=3, batch_rows=50)
    with client(limits=limits) as page:
        asked = page.post("/api/predict", json={"rows": [{}] * 4})
        assert "3 rows" in complaint(asked, 413)
        complaint(page.post("/api/predict", json={"rows": [{"weight": "1" * 3000}]}), 413)
        many = page.post("/api/batch", **upload(as_csv(TABLE), "a.csv"))
        assert "50 rows" in complaint(many, 413)
        complaint(page.post("/api/batch", **upload(b"x" * 30_000, "a.csv")), 413)

        async def endless() -> AsyncIterator[bytes]:  # which tells no length
            for _ in range(100):
                yield b" " * 1000

        headers = {"Content-Type": "application/json"}
        complaint(page.post("/api/predict", content=endless(), headers=headers), 413)
    assert list(empty.iterdir()) == []


@pytest.mark.parametrize("path", ["/", "/health", "/static/main.js", "/nothing", "/api/train/x"])
def test_every_answer_tells_the_browser_to_be_careful(page: Page, path: str) -> None:
    for headers in ({}, {"Host": "evil.example"}):
        answer = page.get(path, headers=headers)
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_no_path_of_a_request_reaches_the_file_system(page: Page) -> None:
    for name in (
        "..%2fapi.py",
        "%2e%2e/api.py",
        "%2fetc%2fpasswd",
        "main.js%00",
        ".",
        "missing.js",
    ):
        complaint(page.get(f"/static/{name}"), 404)
    for key in ("..%2f..", "model.posterior", ""):
        assert page.get(f"/api/train/{key}/report").status_code == 404
    complaint(page.get("/api/model?model=../../secret"), 404)


def test_documentation_needs_no_other_site(page: Page) -> None:
    assert page.get("/docs").status_code == 200
    assert page.get("/redoc").status_code == 404
    paths = page.get("/openapi.json").json()["paths"]
    wanted = {"/api/predict", "/api/explain", "/api/batch", "/api/train", "/api/model", "/health"}
    assert wanted <= set(paths)


def test_the_page_loads_nothing_from_elsewhere_and_parses_no_html() -> None:
    for asset in STATIC.iterdir():
        text = asset.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://", text), asset.name
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", text)
        assert not re.search(r"<script>|<style>| style=| onclick=\"", text), asset.name


def test_a_fault_of_the_server_is_told_without_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: Any, *_: Any, **__: Any) -> Any:
        raise KeyError("secret")

    monkeypatch.setattr(type(NAIVE), "predict_proba", fails)
    with client() as page:
        assert "secret" not in complaint(page.post("/api/predict", json={"rows": [ROW]}), 500)


def test_mixed_requests_at_once_keep_their_answers_apart() -> None:
    random = np.random.default_rng(1)
    weights = random.normal(22, 6, 60).round(2).tolist()
    tables = [fish(20 + i, seed=i) for i in range(6)]
    shares = [0.1, 0.5, 0.9]

    def expected(weight: float, priors: list[float] | None) -> list[float]:
        one = pa.table({**{name: [None] for name in ROW}, "weight": [weight]})
        return NAIVE.predict_proba(one, priors=priors)[0].tolist()

    async def ask() -> None:
        app = create_app(NAIVE)
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url=HOME, timeout=60) as page,
        ):

            async def one(i: int) -> None:
                row, priors = {"weight": weights[i]}, [None, shares[i % 3]][i % 2]
                named = (
                    None
                    if priors is None
                    else dict(zip(CLASSES, [priors, 1 - priors], strict=True))
                )
                if i % 3:
                    question = {"row": row, "priors": named}
                    found = (await page.post("/api/explain", json=question)).json()
                else:
                    question = {"rows": [row], "priors": named}
                    answer = await page.post("/api/predict", json=question)
                    (found,) = answer.json()["predictions"]
                both = None if priors is None else [priors, 1 - priors]
                np.testing.assert_allclose(told(found), expected(weights[i], both), rtol=1e-9)

            async def whole(table: Any) -> None:
                answer = await page.post("/api/batch", **upload(as_csv(table), "a.csv"))
                found = csv.DictReader(io.StringIO(answer.text))
                assert [row["predicted"] for row in found] == NAIVE.predict(table).tolist()

            async def wrong() -> None:
                complaint(await page.post("/api/predict", json={"rows": [{"x": 1}]}), 422)

            work = [one(i) for i in range(len(weights))]
            work += [whole(table) for table in tables] + [wrong() for _ in range(10)]
            order = random.permutation(len(work))
            await asyncio.gather(*(work[i] for i in order))

    asyncio.run(ask())


def wait(page: Page, training: dict[str, Any]) -> dict[str, Any]:
    deadline = time.monotonic() + 120
    while training["state"] in ("waiting", "running"):
        assert time.monotonic() < deadline, training
        time.sleep(0.1)
        training = page.get(f"/api/train/{training['id']}").json()
    return training


@pytest.mark.slow
def test_a_file_becomes_a_model_to_ask_while_others_ask(empty: Path) -> None:
    with client(limits=Limits(trainings=1)) as page:
        facts = page.post("/api/columns", **upload(as_csv(TABLE), "fish.csv")).json()
        assert facts == {
            "columns": TABLE.column_names,
            "guess": "species",
            "continuous": ["weight", "caught"],
        }
        name = f"../{HOSTILE}.csv"
        wrong = upload(as_csv(TABLE), name, target="species", read_as="weight=money")
        assert "as in income=number" in complaint(page.post("/api/train", **wrong), 422)
        given = upload(as_csv(TABLE), name, target="species", leave_out="tagged")
        begun = page.post("/api/train", **given)
        assert begun.status_code == 202
        key = begun.json()["id"]
        complaint(page.post("/api/train", **given), 429)
        for _ in range(10):  # while it learns
            answer = page.post("/api/predict", json={"rows": [ROW]}).json()["predictions"][0]
            np.testing.assert_allclose(told(answer), NAIVE.predict_proba(ONE)[0])
        assert page.get(f"/api/train/{key}").json()["state"] in ("waiting", "running")
        complaint(page.get(f"/api/train/{key}/model"), 409)
        complaint(page.post(f"/api/predict?model={key}", json={"rows": [ROW]}), 409)
        training = wait(page, begun.json())
        assert training["state"] == "done", training
        assert "species" in training["summary"]
        report = page.get(f"/api/train/{key}/report")
        assert "sandbox allow-scripts" in report.headers["Content-Security-Policy"]
        assert HOSTILE not in report.text and "&lt;script&gt;alert(1)" in report.text
        file = empty / "here.posterior"
        file.write_bytes(page.get(f"/api/train/{key}/model").content)
        model = posterior.load(file)
        file.unlink()
        assert not model.roles_["tagged"].used
        found = page.post(f"/api/predict?model={key}", json={"rows": [ROW]}).json()
        np.testing.assert_allclose(told(found["predictions"][0]), model.predict_proba(ONE)[0])
        failed = page.post("/api/train", **upload(as_csv(TABLE), "fish.csv", target="no column"))
        training = wait(page, failed.json())
        assert training["state"] == "failed" and "'no column'" in training["error"]
        assert str(empty) not in training["error"]
    assert list(empty.iterdir()) == []


def test_without_a_model_the_page_says_what_to_do() -> None:
    with client(None) as page:
        assert "train one" in complaint(page.post("/api/predict", json={"rows": [ROW]}), 409)
        assert page.get("/health").json()["model"] is None
        assert page.get("/").status_code == 200


def test_a_port_that_is_taken_is_told_in_a_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        with pytest.raises(ValueError, match="Choose another port"):
            bound("127.0.0.1", taken.getsockname()[1]).__enter__()


def test_a_server_that_ends_takes_its_trainings_along(empty: Path) -> None:
    begun = time.monotonic()
    with client(None) as page:
        for _ in range(2):
            page.post("/api/train", **upload(as_csv(TABLE), "fish.csv", target="species"))
    assert time.monotonic() - begun < 30
    assert list(empty.iterdir()) == []


def test_no_cell_of_a_csv_for_spreadsheets_is_a_formula(page: Page, tmp_path: Path) -> None:
    harmful = ["=A1", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=A1", "=HYPERLINK(1)"]
    harmless = ["-5.3", "+1,234", "-1,5", "-", "-2e-3", "-12 %", "a=b", "1-2", ""]
    cells = [*harmful, *harmless[:-2], "1-2"]
    columns = {"weight": [20.0] * len(cells), "=note": cells}
    table = pa.table({**columns, **{name: [None] * len(cells) for name in ROW if name != "weight"}})
    content = as_csv(table)
    for raw, mark in (("false", "'"), ("true", "")):
        answer = page.post("/api/batch", **upload(content, "a.csv", raw=raw))
        found = list(csv.DictReader(io.StringIO(answer.text)))
        written = [row[f"{mark}=note"] for row in found]
        assert [w.strip("\t") for w in written[: len(harmful)]] == [
            f"{mark}{cell}".strip("\t") for cell in harmful
        ]
        assert written[len(harmful) :] == cells[len(harmful) :]
        assert all(0 <= float(row["p_sea bass"]) <= 1 for row in found)
