"""Guard before the application: whose requests are answered, how large, and what they see.

A page of another site must not ask or train here, neither by posting across sites (Origin) nor
under a name of its own that it points to this machine (DNS rebinding, Host).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from posterior.app.server.access import Access
from posterior.app.server.addresses import origin, own_origins
from posterior.app.server.exchange import exchange_of
from posterior.app.server.limits import Limits
from posterior.app.server.refusals import LOG, RequestError, refused

SAFE = ("GET", "HEAD", "OPTIONS")
# What can be read without the token: the page, which asks for it, and whether the server lives.
OPEN = ("/", "/docs", "/health", "/ready")
# A training is known by an id that nobody can guess; frames and downloads carry no header.
UNGUESSABLE = ("/report", "/model")
PAGE = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'"
)
HEADERS = {
    b"content-security-policy": PAGE.encode(),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"permissions-policy": b"camera=(), geolocation=(), microphone=()",
    b"cache-control": b"no-store",
}
PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
    "Access-Control-Max-Age": "600",
}


class Guard:
    """Checks each request, and marks each answer."""

    def __init__(self, app: ASGIApp, access: Access, limits: Limits, root_path: str = "") -> None:
        self.app, self.access, self.limits = app, access, limits
        self.root_path = root_path.rstrip("/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        started = False
        marks = HEADERS

        async def marked(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                given = message.setdefault("headers", [])
                names = {name for name, _ in given}
                given.extend(item for item in marks.items() if item[0] not in names)
            await send(message)

        seconds = self.limits.seconds
        try:
            headers = _headers(scope["headers"])
            host, asker = self._host(headers), origin(headers.get(b"origin", ""))
            if asker in self.access.origins:
                marks = {**HEADERS, b"access-control-allow-origin": str(asker).encode()}
                marks[b"vary"] = b"Origin"
            if not self._moved(scope):
                await RedirectResponse(f"{self.root_path}/", 308)(scope, receive, marked)
                return
            method = scope["method"]
            if method == "OPTIONS" and b"access-control-request-method" in headers:
                self._check_page(asker, host, headers)
                await Response(None, 204, PREFLIGHT)(scope, receive, marked)
                return
            if method not in SAFE:
                self._check_page(asker, host, headers)
            self._check_token(scope, headers)
            if headers.get(b"content-encoding", "identity").lower() != "identity":
                raise RequestError("Expected a body that is not compressed.", 415)
            if method == "HEAD":  # GET without the body, which servers leave out themselves
                scope = {**scope, "method": "GET"}
            if upload := headers.get(b"content-type", "").startswith("multipart/form-data"):
                seconds = self.limits.upload_seconds
            limited = self._limited(headers, receive, upload)
            async with asyncio.timeout(seconds):
                await self.app(scope, limited, marked)
        except RequestError as error:
            await refused(scope, error)(scope, receive, marked)
        except TimeoutError:
            if not started:
                text = f"Expected to answer within {seconds:g} seconds, but it takes longer."
                late = RequestError(f"{text} Send fewer rows, or try again later.", 503, "time")
                await refused(scope, late)(scope, receive, marked)
        except Exception as error:
            LOG.exception("failed")
            if not started:
                await refused(scope, error)(scope, receive, marked)

    def _host(self, headers: dict[bytes, str]) -> str:
        host = headers.get(b"host", "")
        if not self.access.knows(host):
            raise RequestError(
                "Expected a request to this machine by its own name, got one to "
                f"{host!r:.100}; --allow-host adds a name.",
                403,
                "host",
            )
        return host

    def _moved(self, scope: Scope) -> bool:
        """Take the root path off, if the proxy has not; False at the root without its slash."""
        scope["root_path"] = ""
        path = scope["path"]
        if self.root_path and path == self.root_path:
            return False
        if self.root_path and path.startswith(f"{self.root_path}/"):
            scope["path"] = path[len(self.root_path) :]
            scope["raw_path"] = scope["path"].encode()
        return True

    def _check_page(self, asker: str | None, host: str, headers: dict[bytes, str]) -> None:
        """Pages of other sites may link to this one, and nothing else, unless they are named."""
        if asker is not None and asker in self.access.origins:
            return
        own = b"origin" not in headers or (asker is not None and asker in own_origins(host))
        if not own or headers.get(b"sec-fetch-site", "none") not in ("same-origin", "none"):
            raise RequestError(
                "Expected a request of this page, got one of another site; --cors names those that "
                "may ask.",
                403,
                "origin",
            )

    def _check_token(self, scope: Scope, headers: dict[bytes, str]) -> None:
        exchange, path = exchange_of(scope), scope["path"]
        exchange.trusted = self.access.trusts(headers.get(b"authorization"))
        if exchange.trusted or path in OPEN or path.startswith("/static/"):
            return
        if path.startswith("/api/train/") and path.endswith(UNGUESSABLE):
            return
        raise RequestError("Expected the header Authorization: Bearer TOKEN.", 401, "token")

    def _limited(self, headers: dict[bytes, str], receive: Receive, upload: bool) -> Receive:
        """The body, up to what its kind may have."""
        most = self.limits.upload_bytes if upload else self.limits.json_bytes
        length = headers.get(b"content-length", "0")
        if not length.isdecimal() or int(length) > most:
            raise _too_large(most)
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > most:
                raise _too_large(most)
            return message

        return counted


def _too_large(most: int) -> RequestError:
    return RequestError(f"Expected at most {most / 1e6:,.6g} MB, got more.", 413, "size")


def _headers(given: Iterable[tuple[bytes, bytes]]) -> dict[bytes, str]:
    """Headers by name; one that decides about access must not be there twice."""
    found: dict[bytes, str] = {}
    for name, value in given:
        if name in found and name in (b"host", b"origin", b"authorization", b"content-length"):
            raise RequestError(f"Expected one header {name.decode()}, got several.", 400, "invalid")
        found[name] = value.decode("latin-1")
    return found
