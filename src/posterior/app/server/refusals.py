"""Refusals: errors as one sentence of JSON, never more, and the reason in a word."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import Scope

from posterior.app.server.exchange import exchange_of

LOG = logging.getLogger("posterior.server")
WORDS = {
    400: "Expected a body as its Content-Type says, such as JSON.",
    404: "There is nothing at this address.",
    405: "This address answers other methods.",
}
FAULT = "Something went wrong on the server; its log says what."


class RequestError(HTTPException):
    """What is wrong with a request, in words for whoever sent it, and in one for metrics."""

    def __init__(self, text: str, status: int = 422, reason: str = "invalid") -> None:
        headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
        super().__init__(status, text, headers)
        self.reason = reason


def sentence(error: object) -> str:
    """An error of the library on one line."""
    return " ".join(str(error).split())


def add_handlers(app: FastAPI) -> None:
    """Teach an application to fail in one sentence."""
    # What the models raise, a ValueError or TypeError, names the column, the value and the remedy.
    for kind in (HTTPException, RequestValidationError, ValueError, TypeError, MemoryError):
        app.add_exception_handler(kind, _handled)


async def _handled(request: Request, error: Exception) -> JSONResponse:
    return refused(request.scope, error)


def refused(scope: Scope, error: Exception) -> JSONResponse:
    """The answer to a request that failed."""
    text, status, reason = _told(error)
    exchange_of(scope).refusal = reason
    headers = error.headers if isinstance(error, HTTPException) else None
    return JSONResponse({"error": text}, status, headers)


def _told(error: Exception) -> tuple[str, int, str]:
    """The sentence, the status and the reason."""
    if isinstance(error, RequestError):
        return sentence(error.detail), error.status_code, error.reason
    if isinstance(error, HTTPException):
        return WORDS.get(error.status_code, sentence(error.detail)), error.status_code, "address"
    if isinstance(error, RequestValidationError):
        return _misshapen(error.errors()[0]), 422, "invalid"
    if isinstance(error, ValueError | TypeError):
        LOG.info("refused", exc_info=error)
        return sentence(error), 422, "invalid"
    if isinstance(error, MemoryError):
        return "The memory of this machine is too small for that.", 413, "memory"
    return FAULT, 500, "fault"


def _misshapen(first: Any) -> str:
    place = ".".join(str(part) for part in first["loc"] if part != "body")
    text = first["msg"].removeprefix("Value error, ")
    return f"{place}: {text}." if place else f"{text}."
