"""Monitor around the application: each request is counted, and told in the access log."""

from __future__ import annotations

import logging
import os
import time
from datetime import UTC, datetime
from logging.handlers import WatchedFileHandler

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from posterior.app.server.exchange import exchange_of
from posterior.app.server.metrics import Metrics
from posterior.app.server.questions import encode

STDOUT = "-"


class AccessLog:
    """A line of JSON for each request, in a file that may be rotated, or on standard output."""

    def __init__(self, path: str) -> None:
        self._handler: logging.Handler
        if path == STDOUT:
            import sys

            self._handler = logging.StreamHandler(sys.stdout)
        else:
            try:
                self._handler = WatchedFileHandler(path, encoding="utf-8")
            except OSError as error:
                raise ValueError(
                    f"Expected to write the access log {path}, but: {error.strerror}."
                ) from None

    def write(self, **facts: str | int | float | None) -> None:
        text = encode(facts).decode()
        self._handler.handle(logging.makeLogRecord({"msg": text}))


class Monitor:
    """Sees every request and every answer, refusals as well."""

    def __init__(self, app: ASGIApp, metrics: Metrics, log: AccessLog | None = None) -> None:
        self.app, self.metrics, self.log = app, metrics, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status, size, begun = 499, 0, time.perf_counter()  # 499: whoever asked has gone

        async def heard(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                size += len(message.get("body", b""))
            await send(message)

        exchange = exchange_of(scope)
        try:
            await self.app(scope, receive, heard)
        finally:
            seconds = time.perf_counter() - begun
            if exchange.route is None and (route := scope.get("route")) is not None:
                exchange.route = route.path
            self.metrics.request(exchange, status, seconds)
            if self.log is not None:
                client = scope.get("client")
                self.log.write(
                    time=datetime.now(UTC).isoformat(timespec="milliseconds"),
                    client=None if client is None else client[0],
                    method=scope["method"],
                    route=exchange.route or scope["path"],  # ids of trainings stay out of the log
                    status=status,
                    seconds=round(seconds, 6),
                    bytes=size,
                    model=exchange.model,
                    rows=exchange.rows,
                    refusal=exchange.refusal,
                    worker=os.getpid(),
                )
