"""Requests to the server, most of which pass its validation: never a 500, never NaN for an answer.

Rows have the columns that /api/model tells of, with cells of their kinds and strange ones; bodies
follow the OpenAPI schema, now and then not quite.
"""

from __future__ import annotations

import asyncio
import io
import json
import traceback
import warnings
from functools import cache
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
from files import pick
from pyarrow import parquet

import posterior
from posterior.app import models
from posterior.app.server import create_app
from posterior.estimators.pool.candidates import candidates
from posterior.preprocessing.infer_roles import infer

HOME = "http://127.0.0.1:8000"
NUMBERS: list[Any] = [
    0,
    -1,
    1.5,
    1e308,
    -1e308,
    5e-324,
    1e-300,
    10**18,
    -0.0,
    True,
    "3.5",
    "",
    None,
]
STRANGE: list[Any] = [
    10**400,
    "inf",
    "nan",
    "1e999",
    "ten",
    "0x10",
    "1_000",
    "\uff11\uff12",
    "+",
    [],
    {},
]
WORDS: list[Any] = [
    "Rhine",
    "rhine",
    "Ö",
    "",
    " ",
    "NA",
    None,
    "\x00",
    "a" * 5000,
    "\U0001d518",
    "\ud800",
]
WORDS += [0, 1.0, True, "true", "<script>", "'; --", "\u202e", "🐟" * 50, "nan", "None"]
DATES: list[Any] = ["2024-04-20", "2024-04-20T10:00:00", "20.04.2024", "9999-12-31", "0001-01-01"]
DATES += ["2024-02-30", "now", "", None, 0, "1677-09-20", "2262-04-12", "99999-01-01", "2024"]
TEXTS: list[Any] = [
    "free prize",
    "lunch at noon?",
    "",
    None,
    "x" * 20_000,
    "İstanbul ẞ",
    "\x00\n",
    3,
]
TEXTS += ["free " * 3000, "\ud83d", "a b " * 10, "prize, cash; now!"]
BY_KIND = {"number": NUMBERS, "category": WORDS, "date": DATES, "text": TEXTS}


def fish() -> Any:
    random = np.random.default_rng(0)
    salmon = random.random(80) < 0.4
    days = np.datetime64("2024-03-01") + random.integers(0, 60, 80) + 30 * salmon
    return pa.table(
        {
            "weight": random.normal(np.where(salmon, 30, 16), 4).round(2),
            "river": np.array(["Rhine", "Elbe", "Oder"])[random.integers(0, 3, 80)],
            "caught": pa.array(days.astype("datetime64[us]")),
            "tagged": random.random(80) < 0.3,
            "note": np.array(["free prize now", "lunch at noon", "see you"])[np.arange(80) % 3],
            "species": np.where(salmon, "salmon", "sea bass"),
        }
    )


class Server:
    """An application of a model, asked in this process."""

    def __init__(self, model: Any, runner: asyncio.Runner) -> None:
        app = create_app(model)
        self._runner = runner
        self._client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app, raise_app_exceptions=True), base_url=HOME
        )
        facts = self.ask("GET", "/api/model").json()
        self.columns, self.classes = facts["columns"], facts["classes"]

    def ask(self, method: str, path: str, **body: Any) -> httpx.Response:
        return self._runner.run(self._client.request(method, path, **body))


@cache
def servers() -> list[Server]:
    table, runner = fish(), asyncio.Runner()
    roles = infer(table, "species")
    made = [
        c.classifier.fit(*models.labeled(c.classifier, table, "species"))
        for c in candidates(roles, table.num_rows, 2)
    ]
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 3
    kinds = "GaussianNB LogisticRegression QuadraticDiscriminantAnalysis KNeighborsClassifier TAN"
    made += [getattr(posterior, kind)().fit(X, y) for kind in kinds.split()]
    made.append(posterior.GaussianMixture(2, random_state=0).fit(X))
    notes, species = table["note"].to_pylist(), table["species"].to_pylist()
    made.append(posterior.TextClassifier("multinomial").fit(notes, species))
    return [Server(model, runner) for model in made]


def cell(column: dict[str, Any], random: np.random.Generator) -> Any:
    """Often one that the column has, sometimes one of its kind, now and then any."""
    way = random.random()
    if way < 0.55:
        if column["kind"] == "number":
            low, high = column["low"] or 0.0, column["high"] or 10.0
            return float(random.uniform(low, high))
        return pick(random, column["values"] or BY_KIND[column["kind"]][:2])
    if way < 0.97:
        return pick(random, BY_KIND[column["kind"]])
    return pick(random, STRANGE)


def row(server: Server, random: np.random.Generator) -> dict[str, Any]:
    kept = [c for c in server.columns if random.random() < 0.9]
    made = {c["name"]: cell(c, random) for c in kept}
    return made | ({"stranger": 1} if random.random() < 0.01 else {})


def by_class(server: Server, random: np.random.Generator) -> dict[str, float]:
    numbers = [0.0, 1.0, 0.3, 1e-12, 1e300, 5]
    shares = {label: pick(random, numbers) for label in server.classes}
    if random.random() < 0.1:
        shares[pick(random, [*server.classes, "nobody"])] = pick(random, [-1.0, 1e308, 0.0])
    return shares


def question(server: Server, random: np.random.Generator) -> dict[str, Any]:
    """What /api/predict and /api/explain have in common."""
    asked: dict[str, Any] = {}
    if random.random() < 0.25:
        asked["priors"] = by_class(server, random)
    if random.random() < 0.25:
        asked["costs"] = {label: by_class(server, random) for label in server.classes}
    return asked


def upload(server: Server, random: np.random.Generator) -> dict[str, Any]:
    """A file of rows: CSV, lines of JSON or Parquet, whole or cut."""
    rows = [row(server, random) for _ in range(int(random.integers(0, 6)))]
    names = [c["name"] for c in server.columns]
    kind = pick(random, ["csv", "jsonl", "parquet"])
    if kind == "csv":
        lines = [",".join(json.dumps(str(r.get(n) or "")) for n in names) for r in rows]
        content = "\n".join([",".join(map(json.dumps, names)), *lines]).encode(errors="replace")
    elif kind == "jsonl":
        content = "\n".join(json.dumps(r) for r in rows).encode()
    else:
        memory = io.BytesIO()
        spelled = {
            n: [str(r.get(n)).encode(errors="replace").decode() for r in rows] for n in names
        }
        parquet.write_table(pa.table(spelled), memory)
        content = memory.getvalue()
    if random.random() < 0.15:
        content = content[: int(random.integers(0, len(content) + 1))]
    return {"files": {"file": (f"rows.{kind}", content)}}


def request(server: Server, random: np.random.Generator) -> tuple[str, str, dict[str, Any]]:
    """Method, path and body."""
    way = random.random()
    if way < 0.5:
        rows = [row(server, random) for _ in range(int(random.integers(1, 5)))]
        body: Any = {"rows": rows, **question(server, random)}
        path = "/api/predict"
    elif way < 0.85:
        body = {"row": row(server, random), **question(server, random)}
        for side in ("of", "against"):
            if random.random() < 0.3:
                body[side] = pick(random, [*server.classes, *server.classes, "nobody"])
        path = "/api/explain"
    elif way < 0.95:
        data = {"format": pick(random, ["csv", "jsonl", "parquet"])}
        if random.random() < 0.3:
            data["priors"] = json.dumps(by_class(server, random))
        path = pick(random, ["/api/batch", "/api/batch", "/api/columns"])
        return "POST", path, {**upload(server, random), **({"data": data} if "b" in path else {})}
    else:
        return "GET", pick(random, ["/api/model", "/health", "/api/train/x", "/api/nothing"]), {}
    if random.random() < 0.02:
        body[pick(random, ["rows", "row", "priors", "costs", "x"])] = pick(random, STRANGE)
    text = json.dumps(body)  # with NaN and lone surrogates, as some clients write them
    if random.random() < 0.01:
        text = text[: int(random.integers(0, len(text)))]
    return "POST", path, {"content": text, "headers": {"content-type": "application/json"}}


def check(answer: dict[str, Any]) -> None:
    """Posteriors are probabilities, and all numbers are there."""
    for found in answer.get("predictions", [answer] if "posterior" in answer else []):
        shares = list(found["posterior"].values())
        sums = all(s is not None and -1e-9 <= s <= 1 + 1e-9 for s in shares)
        assert sums and abs(sum(shares) - 1) < 1e-6, f"no posterior: {found}"
        costs = found["expected_costs"]
        assert costs is None or None not in costs.values(), f"no costs: {found}"


def case(seed: int) -> str:
    """One request: the status of its answer."""
    random = np.random.default_rng([2, seed])
    server = pick(random, servers())
    method, path, body = request(server, random)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            response = server.ask(method, path, **body)
        except Exception:
            raise AssertionError(
                f"{path} {body!r:.600}\n{traceback.format_exc()[-1500:]}"
            ) from None
    assert response.status_code < 500, f"{response.status_code} {path} {body!r:.600}"
    if response.status_code == 200 and path in ("/api/predict", "/api/explain"):
        try:
            check(response.json())
        except AssertionError as error:
            raise AssertionError(f"{error}\n{path} {body!r:.900}") from None
    return str(response.status_code)
