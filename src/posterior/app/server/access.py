"""Access to a server: under which names, from which pages, and with which token."""

from __future__ import annotations

import hmac
import os
import socket
import stat
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from posterior.app.server.addresses import authority, is_loopback, is_number, origin

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
SHORTEST = 16  # letters of a token
NEW_TOKEN = 'python3 -c "import secrets; print(secrets.token_urlsafe(32))"'


@dataclass(frozen=True, slots=True)
class Access:
    """Who is let in; by default whoever is on this machine.

    Parameters
    ----------
    names : names of hosts
        By which a request may call the server.
    numbers : bool
        Whether any IP address will do as well: a number cannot be rebound to another machine.
    origins : origins
        Of pages elsewhere that may ask: `https://app.example.com`.
    token : str, optional
        What every request but those for the page itself must carry, `Authorization: Bearer TOKEN`.
    """

    names: frozenset[str] = LOOPBACK
    numbers: bool = False
    origins: frozenset[str] = frozenset()
    token: str | None = None

    def knows(self, host: str) -> bool:
        """Whether a Host header names this server."""
        found = authority(host)
        return found is not None and (
            found.host in self.names or (self.numbers and is_number(found.host))
        )

    def trusts(self, authorization: str | None) -> bool:
        """Whether a request has the token, compared in constant time."""
        if self.token is None:
            return True
        scheme, _, given = (authorization or "").partition(" ")
        same = hmac.compare_digest(given.strip().encode("utf-8"), self.token.encode("utf-8"))
        return same and scheme.lower() == "bearer"


def access_at(
    host: str,
    *,
    names: Collection[str] = (),
    origins: Collection[str] = (),
    token: str | None = None,
    insecure: bool = False,
) -> Access:
    """Access to a server that listens at an address."""
    if token is not None:
        _check_token(token)
    elif not is_loopback(host) and not insecure:
        raise ValueError(
            f"Expected a token to listen at {host}, where others can reach the server: name a "
            "--token-file, or say --insecure."
        )
    named = {_host(name) for name in names}
    if is_loopback(host):
        return Access(LOOPBACK | named | {_host(host)}, False, _origins(origins), token)
    own = {name.lower() for name in (socket.gethostname(), socket.getfqdn()) if authority(name)}
    reachable = LOOPBACK | named | own | {_host(host)}
    return Access(reachable, True, _origins(origins), token)


def token_in(path: str | os.PathLike[str]) -> str:
    """The token of a file that nobody else can read."""
    place = Path(path)
    try:
        with place.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            content = file.read(10_000)
    except OSError as error:
        raise ValueError(
            f"Expected to read the token file {place}, but: {error.strerror}."
        ) from None
    if sys.platform != "win32" and mode & 0o077:
        raise ValueError(
            f"Expected a token file that only its owner can read, got {place} of mode {mode:03o}: "
            f"chmod 600 {place}."
        )
    return content.decode("utf-8", "replace").strip()


def _check_token(token: str) -> None:
    if len(token) < SHORTEST or not token.isascii() or not token.isprintable() or " " in token:
        raise ValueError(
            f"Expected a token of {SHORTEST} letters or more, of ASCII and without blanks, as "
            f"{NEW_TOKEN} makes one."
        )


def _host(name: str) -> str:
    found = authority(f"[{name}]" if ":" in name and not name.startswith("[") else name)
    if found is None or found.port is not None:
        raise ValueError(
            f"Expected the name of a host, such as spam.example.com, got {name!r:.100}."
        )
    return found.host


def _origins(given: Collection[str]) -> frozenset[str]:
    read = {text: origin(text) for text in given}
    for text, found in read.items():
        if found is None:
            raise ValueError(
                f"Expected an origin, such as https://app.example.com, got {text!r:.100}."
            )
    return frozenset(found for found in read.values() if found is not None)
