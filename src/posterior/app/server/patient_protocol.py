"""HTTP with a client that may be slow on purpose: its head has to come, and to end."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 10.0  # for the head of a request, and of a new connection for its first
HEAD_BYTES = 65_536


class PatientProtocol(HttpToolsProtocol):
    """A connection that is closed if the head of a request is late or without an end.

    A silent connection costs little, but there are so many of them: who opens a thousand and says
    nothing must not keep everybody else out.
    """

    _late: asyncio.TimerHandle | None = None
    _seen = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._await_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._await_head()

    def on_headers_complete(self) -> None:
        self._met()
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._late is not None:
            self._seen += len(data)
            if self._seen > HEAD_BYTES:
                self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._met()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._met()
        self._late = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _met(self) -> None:
        if self._late is not None:
            self._late.cancel()
        self._late, self._seen = None, 0
