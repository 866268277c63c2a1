"""Limits of requests, and errors as one sentence of JSON, never more."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

LOG = logging.getLogger("posterior.server")
WORDS = {404: "There is nothing at this address.", 405: "This address answers other methods."}


class RequestError(HTTPException):
    """What is wrong with a request, in words for whoever sent it."""

    def __init__(self, text: str, status: int = 422) -> None:
        super().__init__(status, text)


def sentence(error: object) -> str:
    """An error of the library on one line."""
    return " ".join(str(error).split())


def add_handlers(app: FastAPI) -> None:
    """Teach an application to fail in one sentence."""
    app.add_exception_handler(HTTPException, _known)
    app.add_exception_handler(RequestValidationError, _misshapen)
    # What the models raise: it names the column, the value and the remedy.
    app.add_exception_handler(ValueError, _unfit)
    app.add_exception_handler(TypeError, _unfit)
    app.add_exception_handler(Exception, _unknown)


def answer(text: str, status: int) -> JSONResponse:
    return JSONResponse({"error": text}, status)


async def _known(_: Request, error: Any) -> JSONResponse:
    said = isinstance(error, RequestError)
    text = error.detail if said else WORDS.get(error.status_code, error.detail)
    return answer(sentence(text), error.status_code)


async def _misshapen(_: Request, error: Any) -> JSONResponse:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if part != "body")
    text = first["msg"].removeprefix("Value error, ")
    return answer(f"{place}: {text}." if place else f"{text}.", 422)


async def _unfit(_: Request, error: Exception) -> JSONResponse:
    LOG.info("refused", exc_info=error)
    return answer(sentence(error), 422)


async def _unknown(_: Request, error: Exception) -> JSONResponse:
    if isinstance(error, MemoryError):
        return answer("The memory of this machine is too small for that.", 413)
    return answer("Something went wrong on the server; its log says what.", 500)


@dataclass(frozen=True, slots=True)
class Limits:
    """What is refused beyond."""

    json_bytes: int = 4_000_000  # of a question
    upload_bytes: int = 200_000_000  # of a file
    rows: int = 10_000  # of a question
    batch_rows: int = 2_000_000  # of a file to answer
    training_rows: int = 500_000  # of a file to learn from
    training_seconds: float = 900.0
    trainings: int = 3  # under way and waiting
    kept: int = 8  # trained models that are kept, the oldest go first
    answering: int = 2  # threads that answer questions: Python runs one, more get in its way
    batching: int = 2  # threads that answer files
