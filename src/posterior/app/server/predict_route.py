"""POST /predict without a framework in between: JSON or Arrow in, the same out."""

from __future__ import annotations

import asyncio
from concurrent.futures import Executor
from typing import Protocol

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from posterior.app.server import arrow_stream
from posterior.app.server.cells import Question
from posterior.app.server.exchange import exchange_of
from posterior.app.server.limits import Limits
from posterior.app.server.metrics import Metrics
from posterior.app.server.predicting import Predicted, check_size, decided, encoded, predicted
from posterior.app.server.questions import PredictQuestion, decode
from posterior.app.server.refusals import RequestError, refused
from posterior.app.server.served import Served

PATH = "/api/predict"
JSON = "application/json"
# /models/NAME/predict is /api/predict of that model.
VERBS = {"": "/api/model", "predict": PATH, "explain": "/api/explain", "batch": "/api/batch"}


class Asked(Protocol):
    """Where models are found, and where slow work is done."""

    @property
    def limits(self) -> Limits: ...

    @property
    def metrics(self) -> Metrics: ...

    @property
    def answering(self) -> Executor: ...

    async def served(self, scope: Scope) -> Served: ...


class PredictRoute:
    """Answers /predict itself, and leads /models/NAME/... to the routes of the application."""

    def __init__(self, app: ASGIApp, asked: Asked) -> None:
        self.app, self.asked = app, asked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = scope["path"]
        if path.startswith("/models/"):
            name, _, verb = path[len("/models/") :].partition("/")
            if verb in VERBS:
                exchange_of(scope).asked = name
                path = scope["path"] = VERBS[verb]
                scope["raw_path"] = path.encode()
        if path != PATH or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        exchange_of(scope).route = PATH
        try:
            body, media = await self._answer(scope, receive)
        except (RequestError, ValueError, TypeError, MemoryError) as error:
            await refused(scope, error)(scope, receive, send)
            return
        except ClientDisconnect:
            return
        headers = [(b"content-type", media.encode()), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, scope: Scope, receive: Receive) -> tuple[bytes, str]:
        body = await _body(receive)
        asked, exchange, media = self.asked, exchange_of(scope), _media(scope)
        served = await asked.served(scope)
        loop = asyncio.get_running_loop()
        if media == arrow_stream.MEDIA:
            work = loop.run_in_executor(asked.answering, self._arrow, served, body)
        else:
            question = decode(body)
            n_rows = check_size(question, served, asked.limits)
            if n_rows == 1 and served.is_quick:
                answer, found = self._json(served, question)
                asked.metrics.predicted(served, found)
                exchange.rows = 1
                return answer, media
            work = loop.run_in_executor(asked.answering, self._json, served, question)
        answer, found = await work
        asked.metrics.predicted(served, found)
        exchange.rows = len(found.codes)
        return answer, media

    def _json(self, served: Served, question: PredictQuestion) -> tuple[bytes, Predicted]:
        found = predicted(served, question)
        return encoded(served, question, found), found

    def _arrow(self, served: Served, body: bytes) -> tuple[bytes, Predicted]:
        read: Question = arrow_stream.read_stream(body, served, self.asked.limits)
        p = served.posterior(served.read(read.table))
        found = decided(served, p, read.noted, PredictQuestion())
        return arrow_stream.written_stream(served, found), found


def _media(scope: Scope) -> str:
    """The kind of the body: JSON, if nothing is said."""
    for name, value in scope["headers"]:
        if name == b"content-type":
            media = value.decode("latin-1").partition(";")[0].strip().lower()
            if media == arrow_stream.MEDIA:
                return media
            if media != JSON:
                raise RequestError(
                    f"Expected the Content-Type {JSON} or {arrow_stream.MEDIA}, got {media!r:.60}.",
                    415,
                )
    return JSON


async def _body(receive: Receive) -> bytes:
    message = await receive()
    if not message.get("more_body", False):
        return message.get("body", b"") if message["type"] == "http.request" else _gone()
    pieces = [message["body"]]
    while message.get("more_body", False):
        message = await receive()
        pieces.append(message.get("body", b"") if message["type"] == "http.request" else _gone())
    return b"".join(pieces)


def _gone() -> bytes:
    raise ClientDisconnect
