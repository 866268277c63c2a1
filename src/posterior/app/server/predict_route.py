"""POST /predict without a framework in between: JSON or Arrow in, the same out."""

from __future__ import annotations

import asyncio
from concurrent.futures import Executor
from functools import partial
from typing import Protocol, TypeAlias

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from posterior.app.server import arrow_stream
from posterior.app.server.cells import Question
from posterior.app.server.exchange import exchange_of
from posterior.app.server.limits import Limits
from posterior.app.server.metrics import Metrics
from posterior.app.server.predicting import Predicted, check_size, decided, encoded, predicted
from posterior.app.server.questions import PredictQuestion, decode
from posterior.app.server.refusals import WORDS, RequestError, refused
from posterior.app.server.served import Served

PATH = "/api/predict"
JSON = "application/json"
SMALL = 400_000  # bytes of JSON that are read in some milliseconds
Answered: TypeAlias = tuple[bytes, Predicted]
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
        if path != PATH:
            await self.app(scope, receive, send)
            return
        exchange_of(scope).route = PATH
        try:
            if scope["method"] != "POST":
                raise RequestError(WORDS[405], 405, "address")
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
        answer, found = await self._answered(served, media, body)
        asked.metrics.predicted(served, found)
        exchange.rows = len(found.codes)
        return answer, media

    async def _answered(self, served: Served, media: str, body: bytes) -> Answered:
        """What takes little time is done at once, and the rest in a thread."""
        aside = partial(asyncio.get_running_loop().run_in_executor, self.asked.answering)
        if media == arrow_stream.MEDIA:
            return await aside(self._arrow, served, body)
        if len(body) > SMALL:
            return await aside(self._json, served, body)
        question, n_rows = self._question(served, body)
        if served.is_quick(n_rows):
            return self._predicted(served, question)
        return await aside(self._predicted, served, question)

    def _question(self, served: Served, body: bytes) -> tuple[PredictQuestion, int]:
        question = decode(body, served.reading.decoder)
        return question, check_size(question, served, self.asked.limits)

    def _predicted(self, served: Served, question: PredictQuestion) -> Answered:
        found = predicted(served, question)
        return encoded(served, question, found), found

    def _json(self, served: Served, body: bytes) -> Answered:
        return self._predicted(served, self._question(served, body)[0])

    def _arrow(self, served: Served, body: bytes) -> Answered:
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
