"""/predict: rows, columns and Arrow are answered alike, by a model that says who it is."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
pytest.importorskip("pyarrow")

import httpx
import msgspec
import pandas as pd
import pyarrow as pa
from prometheus_client.parser import text_string_to_metric_families
from pyarrow import ipc

import posterior
from posterior.app import models
from posterior.app.server import Limits, create_app
from posterior.app.server.questions import RowAnswer
from posterior.app.server.served import Served
from posterior.estimators.table_classifier import TableClassifier
from posterior.preprocessing.infer_roles import infer

pytestmark = pytest.mark.once

JSON = "application/json"
ARROW = "application/vnd.apache.arrow.stream"


def cities(n: int, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    return pd.DataFrame(
        {
            "age": random.normal(30 + 20 * y, 8).round(1),
            "children": random.integers(0, 4, n),
            "city": np.array(["Oslo", "Bergen", "Tromsø"])[(y + random.integers(0, 2, n)) % 3],
            "buys": np.array(["no", "yes"])[y],
        }
    )


TABLE = cities(300)
X, Y = TABLE.drop(columns="buys"), TABLE["buys"].to_numpy()
NAIVE = posterior.NaiveBayes().fit(X, Y)
FRAME = pa.Table.from_pandas(TABLE)


def of_table(model: Any, reads: Any = "table") -> Any:
    model = TableClassifier(model, infer(FRAME, "buys"), reads=reads)
    return model.fit(*models.labeled(model, FRAME, "buys"))


MODELS = {
    "naive Bayes": NAIVE,
    "table": of_table(posterior.NaiveBayes()),
    "logistic": of_table(posterior.LogisticRegression(), "numbers"),
    "additive": of_table(posterior.Additive(rounds=20)),
    "neighbors": of_table(posterior.KNeighborsClassifier(metric="mixed")),
}
ROWS = json.loads(cities(50, seed=1).drop(columns="buys").to_json(orient="records"))
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}


class Server:
    def __init__(self, model: Any = NAIVE, **options: Any) -> None:
        transport = httpx.ASGITransport(create_app(model, name="shop", **options))
        self._runner = asyncio.Runner()
        self._client = httpx.AsyncClient(transport=transport, base_url="http://localhost")

    def post(self, path: str = "/api/predict", **options: Any) -> httpx.Response:
        return self._runner.run(self._client.post(path, **options))

    def get(self, path: str) -> httpx.Response:
        return self._runner.run(self._client.get(path))

    def arrow(self, table: pa.Table, **options: Any) -> httpx.Response:
        return self.post(content=stream(table, **options), headers={"Content-Type": ARROW})


def stream(table: pa.Table, compression: str | None = None) -> bytes:
    out = io.BytesIO()
    with ipc.new_stream(
        out, table.schema, options=ipc.IpcWriteOptions(compression=compression)
    ) as file:
        file.write_table(table, max_chunksize=20)
    return out.getvalue()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    yield Server()


@pytest.mark.parametrize("key", MODELS)
def test_rows_columns_and_arrow_get_the_answer_of_the_model(key: str) -> None:
    server, model = Server(MODELS[key]), MODELS[key]
    frame = pd.DataFrame(ROWS)
    expected = model.predict_proba(pa.Table.from_pandas(frame))
    rows = server.post(json={"rows": ROWS}).json()
    columns = server.post(json={"columns": COLUMNS}).json()
    arrow = ipc.open_stream(server.arrow(pa.table(COLUMNS)).content).read_all()
    one = [server.post(json={"rows": [row]}).json()["predictions"][0] for row in ROWS[:5]]
    classes = rows["model"]["classes"]
    assert classes == model.classes_.tolist()
    found = {
        "rows": [[row["posterior"][c] for c in classes] for row in rows["predictions"]],
        "columns": np.transpose([columns["posterior"][c] for c in classes]),
        "arrow": np.transpose([arrow[f"p_{c}"].to_numpy() for c in classes]),
    }
    for how, p in found.items():
        np.testing.assert_allclose(p, expected, rtol=1e-12, err_msg=how)
    for row, p in zip(one, expected, strict=False):
        np.testing.assert_allclose([row["posterior"][c] for c in classes], p, rtol=1e-9)
    best = model.classes_[expected.argmax(axis=1)].tolist()
    assert best == columns["prediction"] == arrow["prediction"].to_pylist()
    assert best == [row["prediction"] for row in rows["predictions"]]
    assert best == [row["answer"] for row in rows["predictions"]]  # the old name
    assert json.loads(arrow.schema.metadata[b"model"])["classes"] == classes


def test_every_answer_says_which_model_gave_it(server: Server) -> None:
    identity = {"name": "shop", "version": None, "hash": None, "classes": ["no", "yes"]}
    assert server.post(json={"rows": ROWS[:1]}).json()["model"] == identity
    assert server.post(json={"columns": COLUMNS}).json()["model"] == identity
    assert server.post("/api/explain", json={"row": ROWS[0]}).json()["model"] == identity
    assert server.post("/models/shop/predict", json={"rows": ROWS[:1]}).json()["model"] == identity
    file = {"file": ("a.csv", cities(5).to_csv(index=False))}
    batch = server.post("/models/shop/batch", files=file)
    assert batch.headers["X-Model"].startswith("shop; ")
    assert server.get("/models").json() == [identity]
    assert server.get("/models/shop").json()["classes"] == ["no", "yes"]
    assert "shop" in server.post("/models/other/predict", json={"rows": ROWS[:1]}).json()["error"]


ODD = [
    {"age": None, "children": 1, "city": "Oslo"},
    {"children": 2, "city": "Paris"},
    {"age": 30, "city": "oslo"},
    {"age": "?", "children": "3", "city": ""},
    {"age": 41.5, "children": 0, "city": "Bergen"},
]
GAPS = [["age"], ["age"], ["children"], ["age", "city"], []]
NEW = [[], ["city"], [], [], []]


@pytest.mark.parametrize("key", ["naive Bayes", "table", "logistic", "additive", "neighbors"])
def test_a_row_says_what_is_missing_and_what_is_unseen(key: str) -> None:
    server = Server(MODELS[key])
    rows = server.post(json={"rows": ODD}).json()["predictions"]
    assert [(row["missing"], row["unseen"]) for row in rows] == [*zip(GAPS, NEW, strict=True)]
    for row, gaps, new in zip(ODD, GAPS, NEW, strict=True):
        (alone,) = server.post(json={"rows": [row]}).json()["predictions"]
        why = server.post("/api/explain", json={"row": row}).json()
        assert (alone["missing"], alone["unseen"]) == (gaps, new) == (why["missing"], why["unseen"])
    columns = {name: [row.get(name) for row in ODD] for name in X.columns}
    found = server.post(json={"columns": columns}).json()
    assert found["missing"] == {"age": [0, 1, 3], "children": [2], "city": [3]}
    assert found["unseen"] == {"city": [1]}
    plain = pa.table({"city": [row.get("city") for row in ODD], "age": [1.0, None, 2, 3, 4]})
    arrow = ipc.open_stream(server.arrow(plain).content).read_all()
    gaps = [["children"], ["age", "children"], ["children"], ["children", "city"], ["children"]]
    assert [sorted(row) for row in arrow["missing"].to_pylist()] == gaps
    assert arrow["unseen"].to_pylist() == NEW


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([1, 2], pa.int8()),
        pa.array([1.0, 2.0], pa.float32()),
        pa.array(["1", "2"]),
        pa.array(["1", "2"], pa.large_string()),
        pa.array(["1", "2"]).dictionary_encode(),
        pa.array([1, 2], pa.uint64()),
        pa.array([True, True]),
    ],
    ids=lambda cells: str(cells.type),
)
def test_arrow_of_any_type_is_read_by_its_values(server: Server, cells: pa.Array) -> None:
    found = ipc.open_stream(server.arrow(pa.table({"age": cells})).content).read_all()
    plain = server.post(json={"columns": {"age": [1, 1 if cells[1].as_py() is True else 2]}}).json()
    assert found["p_yes"].to_pylist() == plain["posterior"]["yes"]


BAD = {
    "no rows": ({"rows": []}, 422),
    "no columns": ({"columns": {}}, 422),
    "neither": ({}, 422),
    "both": ({"rows": [{}], "columns": {"age": [1]}}, 422),
    "ragged": ({"columns": {"age": [1, 2], "city": ["Oslo"]}}, 422),
    "an unknown column": ({"columns": {"agee": [1]}}, 422),
    "a list in a cell": ({"columns": {"age": [[1]]}}, 422),
    "too many rows": ({"rows": [{}] * 21}, 413),
    "too many cells": ({"columns": {"age": [1] * 20}}, 413),
    "not a number": ({"columns": {"age": ["old"]}}, 422),
    "other shares of one class": ({"rows": [{}], "priors": {"yes": 1}}, 422),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_question_is_refused_in_one_sentence(name: str) -> None:
    body, status = BAD[name]
    answer = Server(limits=Limits(rows=20, cells=50)).post(json=body)
    assert answer.status_code == status and set(answer.json()) == {"error"}
    if status == 413:
        assert "at most 20 rows" in answer.text or "at most 50 cells" in answer.text


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"ARROW1",
        b"\xff" * 100,
        stream(pa.table({"age": [1.0] * 30}))[:-60],
        stream(pa.table({"age": [1.0] * 30}))[:200],
        stream(pa.table({"age": pa.array([], pa.float64())})),
        stream(pa.table({"age": [1.0]}), "zstd"),
        stream(pa.table({"city": pa.array(["Oslo"]).dictionary_encode()}), "lz4"),
        stream(pa.table({"age": [[1.0]]})),
        stream(pa.table({"city": [{"a": 1}]})),
        stream(pa.table([[1.0], [2.0]], ["age", "age"])),
        stream(pa.table({"years": [1.0]})),
        stream(pa.table({"age": [1.0] * 200_000})),
    ],
    ids=range(13),
)
def test_a_bad_stream_is_refused_in_one_sentence(server: Server, content: bytes) -> None:
    answer = server.post(content=content, headers={"Content-Type": ARROW})
    assert answer.status_code in (400, 413, 415, 422), answer.content[:200]
    assert set(answer.json()) == {"error"} and "\n" not in answer.json()["error"]


def test_streams_that_were_tampered_with_break_nothing(server: Server) -> None:
    random, whole = np.random.default_rng(0), stream(pa.table(COLUMNS))
    for _ in range(300):
        content = bytearray(whole)
        for place in random.integers(0, len(whole), random.integers(1, 4)):
            content[place] = random.integers(0, 256)
        answer = server.post(content=bytes(content), headers={"Content-Type": ARROW})
        assert answer.status_code in (200, 400, 413, 415, 422), answer.content[:200]


def test_other_kinds_of_bodies_are_named(server: Server) -> None:
    answer = server.post(content=b"age=1", headers={"Content-Type": "text/csv"})
    assert answer.status_code == 415 and "application/json" in answer.json()["error"]


def numbers(server: Server) -> dict[tuple[str, ...], float]:
    """The metrics, by name and labels."""
    families = text_string_to_metric_families(server.get("/metrics").text)
    return {
        (sample.name, *(v for _, v in sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def test_metrics_tell_of_requests_refusals_rows_and_drift() -> None:
    server = Server()
    answers = [server.post(json={"rows": ROWS}).json(), server.post(json={"rows": ODD}).json()]
    server.post("/models/shop/predict", json={"rows": ODD[1:2]})
    server.post(json={"rows": [{"agee": 1}]})
    server.post(json={"rows": ROWS}, headers={"Host": "evil.example"})
    server.post("/models/made-up/predict", json={"rows": ROWS})
    found = numbers(server)
    assert found["posterior_rows_total", "shop"] == len(ROWS) + len(ODD) + 1
    assert found["posterior_requests_total", "shop", "/api/predict", "200"] == 3
    assert found["posterior_requests_total", "shop", "/api/predict", "422"] == 1
    assert found["posterior_request_seconds_count", "shop", "/api/predict"] == 4
    assert found["posterior_refusals_total", "host"] == 1
    assert found["posterior_refusals_total", "invalid"] == 1
    assert found["posterior_unseen_values_total", "city", "shop"] == 2
    assert found["posterior_missing_values_total", "age", "shop"] == 4
    yes = [row["posterior"]["yes"] for answer in answers for row in answer["predictions"]]
    seen = (
        sum(yes) + server.post(json={"rows": ODD[1:2]}).json()["predictions"][0]["posterior"]["yes"]
    )
    assert found["posterior_probability_total", "yes", "shop"] == pytest.approx(seen)
    assert not any("made-up" in labels for labels in found)  # names of strangers make no series


def test_a_file_that_is_predicted_counts_in_the_metrics() -> None:
    server = Server()
    rows = cities(40).assign(city=["Paris"] * 10 + ["Oslo"] * 30)
    rows.loc[:4, "age"] = np.nan
    file = {"file": ("a.csv", rows.to_csv(index=False))}
    assert server.post("/api/batch", files=file).headers["X-Rows"] == "40"
    found = numbers(server)
    assert found["posterior_rows_total", "shop"] == 40
    assert found["posterior_unseen_values_total", "city", "shop"] == 10
    assert found["posterior_missing_values_total", "age", "shop"] == 5


def test_the_description_has_every_route_and_every_limit(server: Server) -> None:
    api = server.get("/openapi.json").json()
    assert {"/api/predict", "/models/{name}/predict", "/metrics", "/ready"} <= set(api["paths"])
    told = {limit["name"]: limit["limit"] for limit in api["x-limits"]}
    assert told["rows"] == Limits().rows and told["seconds"] == Limits().seconds
    text = json.dumps(api)
    for name in {part.split('"')[0] for part in text.split('"#/components/schemas/')[1:]}:
        assert name in api["components"]["schemas"], name


def test_values_that_share_a_place_in_the_model_are_not_called_unseen() -> None:
    random = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(200)])[random.zipf(1.5, 2000) % 200]
    frame = pd.DataFrame({"word": words, "x": random.normal(size=2000)})
    model = posterior.Additive(rounds=10).fit(frame, random.integers(0, 2, 2000))
    cells = Served(model).reading.columns["word"]
    assert all(not cells.is_unseen(cells.one(word)) for word in set(words))


@pytest.mark.parametrize("asked", [{}, {"costs": {"no": {"yes": 2.0}, "yes": {"no": 1.0}}}])
def test_rows_of_any_gaps_are_written_as_a_general_encoder_would(asked: dict[str, Any]) -> None:
    rows = [{k: None if (i >> j) & 1 else v for j, (k, v) in enumerate(row.items())}
            for i, row in enumerate(ROWS)]  # fmt: skip
    rows = [row | ({"city": 'a "new" <b>\n'} if i % 3 else {}) for i, row in enumerate(rows)]
    text = Server(NAIVE).post(json={"rows": rows, **asked}).content
    answer = msgspec.json.decode(text, type=RowAnswer)
    assert msgspec.json.encode(answer) == text
    for row, told in zip(rows, answer.predictions, strict=True):
        assert told.missing == [name for name, cell in row.items() if cell is None]
        assert told.unseen == ["city"] * (row["city"] is not None and "new" in row["city"])
        assert (told.expected_costs is None) == (not asked)


@pytest.mark.parametrize("name", ["plain", "größe <b>", 'a "quoted"\n\tname', ""])
def test_rows_are_read_alike_whatever_their_columns_are_called(name: str) -> None:
    model = posterior.NaiveBayes().fit(TABLE[["age", "city"]].rename(columns={"age": name}), Y)
    server = Server(model)
    cells = [row["age"] for row in ROWS]
    by_rows = server.post(json={"rows": [{name: cell} for cell in cells]}).json()
    by_columns = server.post(json={"columns": {name: cells}}).json()
    found = [row["posterior"]["yes"] for row in by_rows["predictions"]]
    assert found == by_columns["posterior"]["yes"]
    refused = server.post(json={"rows": [{f"{name}?": 1}, {name: 2}]})
    assert refused.status_code == 422 and f"{name}?"[:5] in refused.json()["error"]


def test_many_columns_are_answered_in_little_time() -> None:
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3000))).add_prefix("x")
    server = Server(posterior.NaiveBayes().fit(wide, np.arange(30) % 2))
    begun = time.process_time()
    answer = server.post(json={"rows": [{}] * 300}).json()
    assert answer["predictions"][299]["missing"] == [*wide.columns]
    assert time.process_time() - begun < 3  # seconds; 5 when names were listed anew for each


@pytest.mark.parametrize(
    ("cell", "status"),
    [
        ("NaN", 400),
        ("Infinity", 400),
        ("1e999", 422),
        ("9" * 400, 422),
        ("9" * 5000, 422),
        ("[" * 50_000, 422),
        ('{"a":' * 50_000, 422),
        ('"\\ud800"', 400),
        ('"inf"', 422),
        ("[1]", 422),
    ],
)
def test_what_is_no_cell_is_refused_in_a_sentence(server: Server, cell: str, status: int) -> None:
    for rows in (f'[{{"age":{cell}}}]', f'[{{"age":{cell}}},{{"age":1}}]'):
        answer = server.post(content=f'{{"rows":{rows}}}', headers={"Content-Type": JSON})
        assert answer.status_code == status
        assert set(answer.json()) == {"error"} and answer.json()["error"].endswith(".")


def test_of_two_cells_of_one_name_the_last_counts(server: Server) -> None:
    twice = server.post(content='{"rows":[{"age":1,"age":40}]}', headers={"Content-Type": JSON})
    assert twice.json() == server.post(json={"rows": [{"age": 40}]}).json()


@pytest.mark.parametrize(
    "cells",
    [
        pa.array(["Oslo", "new", None]).dictionary_encode(),
        pa.array(["Oslo", "new", None], pa.large_string()),
    ],
)
def test_words_of_arrow_are_read_whatever_their_type(server: Server, cells: Any) -> None:
    answer = ipc.open_stream(server.arrow(pa.table({"city": cells})).content).read_all()
    plain = server.post(json={"columns": {"city": cells.to_pylist()}}).json()
    assert answer["p_yes"].to_pylist() == plain["posterior"]["yes"]
    assert answer["unseen"].to_pylist() == [[], ["city"], []]


def test_classes_of_any_letters_come_back_as_they_are() -> None:
    names = ['a "q" <b>&\n', "Ωmega\u2028", "p\\lain"]
    y = np.array(names)[np.arange(len(X)) % 3]
    answer = Server(posterior.NaiveBayes().fit(X, y)).post(json={"rows": ROWS}).json()
    assert sorted(answer["model"]["classes"]) == sorted(names)
    for row in answer["predictions"]:
        assert row["prediction"] in names and sorted(row["posterior"]) == sorted(names)


def test_a_compressed_body_and_another_method_are_refused_in_a_sentence(server: Server) -> None:
    body = gzip.compress(json.dumps({"rows": ROWS}).encode())
    headers = {"Content-Encoding": "gzip", "Content-Type": JSON}
    answer = server.post(content=body, headers=headers)
    assert (answer.status_code, answer.json()) == (
        415,
        {"error": "Expected a body that is not compressed."},
    )
    assert server.get("/api/predict").status_code == 405
