"""The JSON API: ask, explain, answer a file, train."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from fastapi import APIRouter, File, Form, Query, UploadFile
from fastapi.responses import FileResponse, HTMLResponse
from pydantic import TypeAdapter, ValidationError
from starlette.background import BackgroundTask

from posterior.app.server import uploads, worker
from posterior.app.server.api_schema import (
    ColumnFacts,
    Costs,
    Explanation,
    FileFacts,
    Health,
    ModelFacts,
    Prediction,
    Predictions,
    Question,
    Shares,
    TermFacts,
    TrainingFacts,
    Why,
)
from posterior.app.server.refusals import Limits, RequestError
from posterior.app.server.served import Served, decide
from posterior.app.server.served_explanations import FARTHEST, reasons
from posterior.app.server.trainings import Trainings
from posterior.data.typing import Floats
from posterior.preprocessing.bands import asked_in
from posterior.preprocessing.overrides import Overrides, asked_as

T = TypeVar("T")
MODEL = Annotated[
    str | None, Query(alias="model", description="Of a training, by its id; else the one served.")
]
# The report draws with scripts of its own, and has no place here: not even an origin.
REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "script-src 'unsafe-inline' 'unsafe-eval'; frame-ancestors 'self'"
)


class Api:
    """The routes, what they answer from, and the threads that do the work."""

    def __init__(self, served: Served | None, limits: Limits, version: str) -> None:
        self.served, self.limits, self.version = served, limits, version
        self.trainings = Trainings(limits)
        self._answering = ThreadPoolExecutor(limits.answering, "answering")
        self._batching = ThreadPoolExecutor(limits.batching, "batching")
        self.router = router = APIRouter()
        router.get("/health")(self.health)
        router.get("/api/model")(self.model)
        router.post("/api/predict")(self.predict)
        router.post("/api/explain")(self.explain)
        router.post("/api/batch", response_class=FileResponse)(self.batch)
        router.post("/api/columns")(self.columns)
        router.post("/api/train", status_code=202)(self.train)
        router.get("/api/train/{key}")(self.training)
        router.get("/api/train/{key}/report", response_class=HTMLResponse)(self.report)
        router.get("/api/train/{key}/model", response_class=FileResponse)(self.trained)

    def close(self) -> None:
        self.trainings.close()
        self._answering.shutdown(cancel_futures=True)
        self._batching.shutdown(cancel_futures=True)

    async def health(self) -> Health:
        """Whether the server lives."""
        return Health(version=self.version, model=None if self.served is None else self.served.name)

    async def model(self, key: MODEL = None) -> ModelFacts:
        """What can be asked: columns with their ranges and values, classes with their shares."""
        served = self._served(key)
        shares = None if served.log_prior is None else np.exp(served.log_prior)
        return ModelFacts(
            name=served.name,
            model=served.kind,
            target=served.target,
            classes=served.listed,
            priors=None if shares is None else named(served, shares),
            columns=[ColumnFacts(**asdict(column)) for column in served.columns],
            evidence=served.additive,
            documents=served.documents,
            version=self.version,
        )

    async def predict(self, question: Question, key: MODEL = None) -> Predictions:
        """The posterior of some rows, and the answer."""
        served = self._served(key)
        if len(question.rows) > self.limits.rows:
            raise RequestError(
                f"Expected at most {self.limits.rows:,} rows, got {len(question.rows):,}. Send a "
                "file to /api/batch.",
                413,
            )
        return await self._in(self._answering, predicted, served, question)

    async def explain(self, why: Why, key: MODEL = None) -> Explanation:
        """The posterior of a row, and what each column adds to it."""
        return await self._in(self._answering, explained, self._served(key), why)

    async def batch(
        self,
        file: Annotated[
            UploadFile, File(description="CSV, a workbook, Parquet, JSON, Arrow, SQLite.")
        ],
        format: Annotated[Literal["csv", "jsonl", "parquet"], Form()] = "csv",
        only: Annotated[bool, Form(description="The answers alone.")] = False,
        priors: Annotated[str | None, Form(description="JSON, as in /api/predict.")] = None,
        costs: Annotated[str | None, Form(description="JSON, as in /api/predict.")] = None,
        key: MODEL = None,
    ) -> FileResponse:
        """A file with the answer and the posterior of each row."""
        served = self._served(key)
        folder = Path(tempfile.mkdtemp(prefix="posterior-"))
        out = folder / f"predictions.{format}"

        def work() -> int:
            with uploads.kept(file.file, file.filename) as place:
                return uploads.answer_file(
                    served,
                    place,
                    out,
                    priors=_parsed(priors, Shares, "priors"),
                    costs=_parsed(costs, Costs, "costs"),
                    only=only,
                    most=self.limits.batch_rows,
                )

        try:
            n_rows = await self._in(self._batching, work)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        remove = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
        return FileResponse(
            out,
            media_type=uploads.MEDIA[format],
            filename=out.name,
            headers={"X-Rows": str(n_rows)},
            background=remove,
        )

    async def columns(self, file: UploadFile) -> FileFacts:
        """The columns of a file, to choose the target of a training from."""

        def work() -> FileFacts:
            with uploads.kept(file.file, file.filename) as place:
                return uploads.columns_in(place)

        return await self._in(self._batching, work)

    async def train(
        self,
        file: UploadFile,
        target: Annotated[str, Form()],
        bands: Annotated[
            str | None, Form(description="Classes of a number: 4, or cut points 10000,20000.")
        ] = None,
        read_as: Annotated[
            list[str] | None, Form(description="What columns are: zip=category, day=date.")
        ] = None,
        keep: Annotated[
            list[str] | None, Form(description="Columns to learn from, whatever they look like.")
        ] = None,
        leave_out: Annotated[
            list[str] | None, Form(description="Columns not to learn from.")
        ] = None,
        group: Annotated[
            str | None, Form(description="The column whose rows of one value belong together.")
        ] = None,
        time: Annotated[
            str | None, Form(description="The column that rows follow each other by.")
        ] = None,
    ) -> TrainingFacts:
        """Compare models of a file, and keep the best; ask for its state until it is done."""
        asked: Overrides = {
            "kinds": asked_as(read_as or ()),
            "keep": keep or [],
            "leave_out": leave_out or [],
            "group": group,
            "time": time,
            "bands": None if bands is None else asked_in(bands),
        }
        start = self.trainings.start
        return await self._in(self._batching, start, file.file, file.filename, target, asked)

    async def training(self, key: str) -> TrainingFacts:
        """Where a training is."""
        return self.trainings.facts(key)

    async def report(self, key: str) -> HTMLResponse:
        """The report of a training."""
        page = self.trainings.file(key, worker.PAGE)
        text = await self._in(self._batching, partial(page.read_text, "utf-8"))
        return HTMLResponse(text, headers={"Content-Security-Policy": REPORT_POLICY})

    async def trained(self, key: str) -> FileResponse:
        """The model file of a training."""
        place = self.trainings.file(key, worker.MODEL)
        media = "application/octet-stream"
        return FileResponse(place, media_type=media, filename=worker.MODEL)

    def _served(self, key: str | None) -> Served:
        if key is not None:
            return self.trainings.served(key)
        if self.served is None:
            raise RequestError("There is no model here yet: train one first.", 409)
        return self.served

    async def _in(self, pool: Executor, work: Callable[..., T], *given: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(pool, work, *given)


def predicted(served: Served, question: Question) -> Predictions:
    return Predictions(predictions=_predictions(served, served.rows(question.rows), question))


def _predictions(served: Served, X: Any, asked: Question | Why) -> list[Prediction]:
    prices = served.prices(asked.costs)
    p = served.posterior(X, asked.priors)
    codes, expected = decide(p, prices)
    return [
        Prediction(
            answer=served.classes[code],
            posterior=named(served, p[i]),
            expected_costs=None if expected is None else named(served, expected[i]),
        )
        for i, code in enumerate(codes)
    ]


def explained(served: Served, why: Why) -> Explanation:
    X = served.rows([why.row])
    (prediction,) = _predictions(served, X, why)
    labels = served.classes
    ranked = sorted(range(len(labels)), key=lambda k: -prediction.posterior[labels[k]])
    of = ranked[0] if why.of is None else _code(labels, why.of)
    others = [k for k in ranked if k != of] or [of]
    against = others[0] if why.against is None else _code(labels, why.against)
    found = reasons(served, X, why.row, why.priors, (of, against))
    return Explanation(
        **prediction.model_dump(),
        of=labels[of],
        against=labels[against] if against != of else None,
        started=found.started,
        start=None if found.start is None else named(served, found.start),
        terms=[
            TermFacts(
                name=term.name,
                value=term.value,
                scores=named(served, term.scores),
                weight=float(np.clip(term.scores[of] - term.scores[against], -FARTHEST, FARTHEST)),
            )
            for term in found.terms
        ],
        pieces=found.pieces,
        neighbors=[{k: _simple(v) for k, v in n.items()} for n in found.neighbors],
    )


def named(served: Served, values: Floats | list[float]) -> dict[str, float]:
    return {label: float(v) for label, v in zip(served.classes, values, strict=True)}


def _code(labels: list[str], label: str) -> int:
    if label not in labels:
        raise ValueError(f"Expected one of the classes {labels[:20]}, got {label!r:.100}.")
    return labels.index(label)


def _simple(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, bool | int | float | str) else str(value)


def _parsed(text: str | None, kind: Any, name: str) -> Any:
    """A field of a form that holds JSON."""
    if text is None or not text.strip():
        return None
    try:
        return TypeAdapter(kind).validate_python(json.loads(text))
    except (ValidationError, ValueError, RecursionError):
        raise RequestError(f"Expected {name} as a JSON object, by class.") from None
