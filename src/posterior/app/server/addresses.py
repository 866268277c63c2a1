"""Names of hosts and origins as requests write them, read strictly or not at all."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import NamedTuple

AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([0-9]{1,5}))?", re.ASCII)
USUAL_PORTS = {"http": "80", "https": "443"}


class Authority(NamedTuple):
    """A host, and the port if one is named; of `localhost:8000` and `[::1]`."""

    host: str
    port: str | None


@lru_cache(maxsize=1024)
def authority(text: str) -> Authority | None:
    """Host and port in lower case; None of anything else, such as `127.0.0.1:1@evil.com`."""
    found = AUTHORITY.fullmatch(text.lower())
    if found is None:
        return None
    host, port = found.groups()
    if not host.startswith("["):
        return Authority(host, port)
    try:
        return Authority(f"[{ipaddress.IPv6Address(host[1:-1])}]", port)
    except ValueError:
        return None


@lru_cache(maxsize=1024)
def origin(text: str) -> str | None:
    """An origin in its one form: https://app.example.com is https://APP.example.com:443."""
    scheme, sign, rest = text.lower().partition("://")
    found = authority(rest)
    if not sign or scheme not in USUAL_PORTS or found is None:
        return None
    usual = found.port is None or found.port == USUAL_PORTS[scheme]
    return f"{scheme}://{found.host}" + ("" if usual else f":{found.port}")


def own_origins(host: str) -> tuple[str | None, ...]:
    """The origins of a page that is served under a Host."""
    return tuple(origin(f"{scheme}://{host}") for scheme in USUAL_PORTS)


def is_number(host: str) -> bool:
    """Whether a host is an IP address, which no site can point elsewhere."""
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    bare = host.strip("[]").lower()
    return bare == "localhost" or (is_number(bare) and ipaddress.ip_address(bare).is_loopback)
