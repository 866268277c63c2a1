"""What stands before the application: whose requests are heard, how large, and what they see.

A page of another site must not ask or train here, neither by posting across sites (Origin) nor
under a name of its own that it points to this machine (DNS rebinding, Host).
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Collection
from typing import TypeAlias

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from posterior.app.server.refusals import Limits, RequestError, answer

Names: TypeAlias = Collection[str]

ANY_NUMBER = "*.*.*.*"
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
SAFE = ("GET", "HEAD", "OPTIONS")
PAGE = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'"
)
HEADERS = {
    "Content-Security-Policy": PAGE,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


def names_of(host: str) -> tuple[str, ...]:
    """By which names a server at an address may be called.

    One that others can reach is called by its name or by a number: a number cannot be rebound.
    """
    bare = host.strip("[]")
    try:
        local = ipaddress.ip_address(bare).is_loopback
    except ValueError:
        local = bare == "localhost"
    if local:
        return (*LOOPBACK, bare)
    return (*LOOPBACK, bare, socket.gethostname(), socket.getfqdn(), ANY_NUMBER)


class Guard:
    """Checks each request, and marks each answer."""

    def __init__(self, app: ASGIApp, names: Names, limits: Limits) -> None:
        self.app = app
        self.names = frozenset(name.casefold() for name in names)
        self.limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            headers = Headers(scope=scope)
            self._check_host(headers)
            self._check_origin(headers, scope["method"])
            limited = self._limited(headers, receive)
        except RequestError as error:
            await answer(error.detail, error.status_code)(scope, receive, marked)
            return
        await self.app(scope, limited, marked)

    def _check_host(self, headers: Headers) -> None:
        host = headers.get("host", "")
        name = host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host
        number = ANY_NUMBER in self.names and _is_number(name)
        if not number and name.casefold() not in self.names:
            raise RequestError("Expected a request to this machine by its own name.", 403)

    def _check_origin(self, headers: Headers, method: str) -> None:
        """Pages of other sites may link to this one, and nothing else."""
        if method in SAFE:
            return
        origin, host = headers.get("origin"), headers.get("host", "")
        if origin is not None and origin.casefold() not in _origins(host):
            raise RequestError("Expected a request of this page, got one of another site.", 403)
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise RequestError("Expected a request of this page, got one of another site.", 403)

    def _limited(self, headers: Headers, receive: Receive) -> Receive:
        """The body, up to what its kind may have."""
        upload = headers.get("content-type", "").startswith("multipart/form-data")
        most = self.limits.upload_bytes if upload else self.limits.json_bytes
        told = headers.get("content-length", "0")
        too_large = RequestError(f"Expected at most {most / 1e6:,.0f} MB, got more.", 413)
        if not told.isdecimal() or int(told) > most:
            raise too_large
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > most:
                raise too_large
            return message

        return counted


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _origins(host: str) -> tuple[str, str]:
    return f"http://{host}".casefold(), f"https://{host}".casefold()
