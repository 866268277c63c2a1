"""The JSON API: ask, explain, answer a file, train."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import quote

import numpy as np
from fastapi import APIRouter, File, Form, Query, Request, Response, UploadFile
from fastapi.responses import FileResponse, HTMLResponse, PlainTextResponse
from msgspec.structs import asdict
from pydantic import TypeAdapter, ValidationError
from starlette.background import BackgroundTask
from starlette.types import Scope

from posterior.app.server import training_process, uploads
from posterior.app.server.api_schema import (
    ColumnFacts,
    Explanation,
    FileFacts,
    Health,
    Identity,
    ModelFacts,
    Readiness,
    Ready,
    TermFacts,
    TrainingFacts,
    Why,
)
from posterior.app.server.exchange import exchange_of
from posterior.app.server.limits import Limits
from posterior.app.server.metrics import MEDIA, Metrics
from posterior.app.server.predicting import Predicted, decided, row_predictions
from posterior.app.server.questions import Costs, Shares
from posterior.app.server.refusals import RequestError
from posterior.app.server.served import Served
from posterior.app.server.served_columns import Column
from posterior.app.server.served_explanations import FARTHEST, reasons
from posterior.app.server.served_models import ServedModels
from posterior.app.server.trainings import Trainings
from posterior.data.typing import Floats
from posterior.preprocessing.bands import asked_in
from posterior.preprocessing.overrides import Overrides, asked_as

T = TypeVar("T")
MOST_VALUES = 500  # of a category, that the page lists
MODEL = Annotated[
    str | None,
    Query(alias="model", description="By name, or a training by its id; else the first."),
]
# The report draws with scripts of its own, and has no place here: not even an origin.
REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "script-src 'unsafe-inline' 'unsafe-eval'; frame-ancestors 'self'"
)


class Api:
    """The routes, what they answer from, and the threads that do the work."""

    def __init__(
        self,
        models: ServedModels,
        trainings: Trainings,
        metrics: Metrics,
        limits: Limits,
        version: str,
    ) -> None:
        self.models, self.trainings, self.metrics = models, trainings, metrics
        self.limits, self.version = limits, version
        self.answering = ThreadPoolExecutor(limits.answering, "answering")
        self._batching = ThreadPoolExecutor(limits.batching, "batching")
        self.router = router = APIRouter()
        router.get("/health")(self.health)
        router.get("/ready")(self.ready)
        router.get("/metrics", response_class=PlainTextResponse)(self.measured)
        router.get("/models")(self.listed)
        router.get("/api/model")(self.model)
        router.post("/api/explain")(self.explain)
        router.post("/api/batch", response_class=FileResponse)(self.batch)
        router.post("/api/columns")(self.columns)
        router.post("/api/train", status_code=202)(self.train)
        router.get("/api/train/{key}")(self.training)
        router.get("/api/train/{key}/report", response_class=HTMLResponse)(self.report)
        router.get("/api/train/{key}/model", response_class=FileResponse)(self.trained)

    def close(self) -> None:
        self.trainings.close()
        self.answering.shutdown(cancel_futures=True)
        self._batching.shutdown(cancel_futures=True)

    async def health(self, request: Request) -> Health:
        """Whether the process lives."""
        if not exchange_of(request.scope).trusted:
            return Health()
        first = next(iter(self.models), None)
        name = None if first is None else first.name
        return Health(version=self.version, model=name, worker=os.getpid())

    async def ready(self, request: Request) -> Ready:
        """Whether questions can be answered, and by which models."""
        if not exchange_of(request.scope).trusted:
            return Ready()
        known = ((model.served.identity, model.problem) for model in self.models)
        return Ready(models=[Readiness(**asdict(i), problem=p) for i, p in known])

    async def measured(self) -> Response:
        """Numbers for Prometheus, of all workers together."""
        text = await self._in(self._batching, self.metrics.text)
        return Response(text, media_type=MEDIA)

    async def listed(self) -> list[Identity]:
        """The models by name; `/models/NAME` leads to /api/model of one, and so do the others."""
        return [Identity(**asdict(model.served.identity)) for model in self.models]

    async def model(self, request: Request, key: MODEL = None) -> ModelFacts:
        """What can be asked: columns with their ranges and values, classes with their shares."""
        served = await self.served(request.scope)
        shares = None if served.log_prior is None else np.exp(served.log_prior)
        return ModelFacts(
            name=served.name,
            model=served.kind,
            target=served.target,
            classes=served.listed,
            priors=None if shares is None else named(served, shares),
            columns=[_column_facts(column) for column in served.columns],
            evidence=served.additive,
            documents=served.documents,
            version=self.version,
            hash=served.hash,
        )

    async def explain(self, request: Request, why: Why, key: MODEL = None) -> Explanation:
        """The posterior of a row, and what each column adds to it."""
        served = await self.served(request.scope)
        explanation, found = await self._in(self.answering, explained, served, why)
        self.metrics.predicted(served, found)
        exchange_of(request.scope).rows = 1
        return explanation

    async def batch(
        self,
        request: Request,
        file: Annotated[
            UploadFile, File(description="CSV, a workbook, Parquet, JSON, Arrow, SQLite.")
        ],
        format: Annotated[Literal["csv", "jsonl", "parquet"], Form()] = "csv",
        only: Annotated[bool, Form(description="The predictions alone.")] = False,
        raw: Annotated[
            bool, Form(description="CSV as it is: cells may begin with a sign of a formula.")
        ] = False,
        priors: Annotated[str | None, Form(description="JSON, as in /api/predict.")] = None,
        costs: Annotated[str | None, Form(description="JSON, as in /api/predict.")] = None,
        thresholds: Annotated[str | None, Form(description="JSON, as in /api/predict.")] = None,
        key: MODEL = None,
    ) -> FileResponse:
        """A file with the prediction and the posterior of each row."""
        served = await self.served(request.scope)
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
                    thresholds=_parsed(thresholds, Shares, "thresholds"),
                    only=only,
                    raw=raw,
                    most=self.limits.batch_rows,
                    told=self.metrics.predicted,
                )

        try:
            n_rows = await self._in(self._batching, work)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        exchange_of(request.scope).rows = n_rows
        remove = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
        return FileResponse(
            out,
            media_type=uploads.MEDIA[format],
            filename=out.name,
            headers={"X-Rows": str(n_rows), "X-Model": _told(served)},
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
        page = self.trainings.file(key, training_process.PAGE)
        text = await self._in(self._batching, partial(page.read_text, "utf-8"))
        return HTMLResponse(text, headers={"Content-Security-Policy": REPORT_POLICY})

    async def trained(self, key: str) -> FileResponse:
        """The model file of a training."""
        place = self.trainings.file(key, training_process.MODEL)
        media = "application/octet-stream"
        return FileResponse(place, media_type=media, filename=training_process.MODEL)

    async def served(self, scope: Scope) -> Served:
        """The model that a request names: in its path, as ?model=, or the first of all."""
        exchange = exchange_of(scope)
        name = exchange.asked
        if name is None and scope["query_string"]:
            name = Request(scope).query_params.get("model")
        if name is None:
            served = self.models.first()
        elif name in self.models or exchange.asked is not None:
            served = self.models.named(name)
        else:
            served = await self._in(self._batching, self.trainings.served, name)
        exchange.model = served.name if served.name in self.models else "trained"
        return served

    async def _in(self, pool: Executor, work: Callable[..., T], *given: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(pool, work, *given)


def explained(served: Served, why: Why) -> tuple[Explanation, Predicted]:
    question = served.reading.rows([why.row])
    X = served.read(question.table)
    found = decided(served, served.posterior(X, why.priors), question.noted, why)
    (prediction,) = row_predictions(served, found)
    labels = served.classes
    ranked = sorted(range(len(labels)), key=lambda k: -prediction.posterior[labels[k]])
    of = ranked[0] if why.of is None else _code(labels, why.of)
    others = [k for k in ranked if k != of] or [of]
    against = others[0] if why.against is None else _code(labels, why.against)
    why_so = reasons(served, X, why.row, why.priors, (of, against))
    explanation = Explanation(
        model=Identity(**asdict(served.identity)),
        **asdict(prediction),
        of=labels[of],
        against=labels[against] if against != of else None,
        started=why_so.started,
        start=None if why_so.start is None else named(served, why_so.start),
        terms=[
            TermFacts(
                name=term.name,
                value=term.value,
                scores=named(served, term.scores),
                weight=float(np.clip(term.scores[of] - term.scores[against], -FARTHEST, FARTHEST)),
            )
            for term in why_so.terms
        ],
        pieces=why_so.pieces,
        neighbors=[{k: _simple(v) for k, v in n.items()} for n in why_so.neighbors],
    )
    return explanation, found


def named(served: Served, values: Floats | list[float]) -> dict[str, float]:
    return {label: float(v) for label, v in zip(served.classes, values, strict=True)}


def _column_facts(column: Column) -> ColumnFacts:
    return ColumnFacts(
        name=column.name,
        kind=column.kind,
        low=column.low,
        high=column.high,
        typical=column.typical,
        whole=column.whole,
        values=list(column.values[:MOST_VALUES]),
    )


def _told(served: Served) -> str:
    """The model as a header tells it: ASCII alone."""
    return f"{quote(served.name)}; version={served.version}; sha256={served.hash}"


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
