"""Who is let in: hosts, origins and tokens, as browsers, proxies and attackers write them."""

from __future__ import annotations

import asyncio
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")

import httpx

import posterior
from posterior.app.server import Access, Limits, create_app, token_in
from posterior.app.server.access import access_at

pytestmark = pytest.mark.once

TOKEN = "a-token-of-many-letters"
MODEL = posterior.GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], ["low", "low", "high", "high"])
ROWS = {"rows": [{"column 1": 1.0}]}
HOME = "http://127.0.0.1:8000"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@cache
def app_of(access: Access, root_path: str) -> Any:
    return create_app(MODEL, access=access, root_path=root_path)


def asked(
    access: Access,
    path: str = "/api/predict",
    *,
    method: str = "POST",
    headers: Any = (),
    host: str | None = "127.0.0.1:8000",
    root_path: str = "",
) -> httpx.Response:
    """One request, with exactly these headers."""
    transport = httpx.ASGITransport(app_of(access, root_path))

    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(transport=transport, base_url=HOME) as client:
            body = {"json": ROWS} if method == "POST" else {}
            request = client.build_request(method, path, **body)
            del request.headers["host"]
            given = [] if host is None else [("Host", host)]
            given += [*headers.items()] if isinstance(headers, dict) else [*headers]
            request.headers = httpx.Headers([*given, *request.headers.multi_items()])
            return await client.send(request)

    return asyncio.run(ask())


HOSTS = {  # of a server at 127.0.0.1 that is also called spam.example.com
    "127.0.0.1:8000": True,
    "127.0.0.1": True,
    "localhost:8000": True,
    "LOCALHOST": True,
    "[::1]:8000": True,
    "[0:0:0:0:0:0:0:1]": True,
    "spam.example.com": True,
    "SPAM.Example.COM:443": True,
    "spam.example.com:8443": True,
    "": False,
    None: False,
    "evil.example": False,
    "evil.example:8000": False,
    "127.0.0.1:1@evil.com": False,
    "127.0.0.1@evil.com": False,
    "spam.example.com@evil.com": False,
    "127.0.0.1.evil.example": False,
    "localhost.evil.example:8000": False,
    "evil-spam.example.com": False,
    "sub.spam.example.com": False,
    "spam.example.com.evil": False,
    "spam.example.com:": False,
    "spam.example.com:80:80": False,
    "spam.example.com:http": False,
    "spam.example.com/": False,
    "spam.example.com, evil.example": False,
    "spam.example.com ": True,  # servers take blanks around a header off
    "spam example.com": False,
    "192.168.0.7:8000": False,
    "127.0.0.2": False,
    "127.1": False,
    "2130706433": False,
    "0x7f.0.0.1": False,
    "[::1": False,
    "::1": False,
    "[::ffff:127.0.0.1]": False,
    "[fe80::1%25eth0]": False,
    "\u0455pam.example.com": False,  # its first letter is Cyrillic
}


@pytest.mark.parametrize(("host", "heard"), HOSTS.items(), ids=map(repr, HOSTS))
def test_a_request_must_call_the_server_by_its_own_name(host: str | None, heard: bool) -> None:
    access = access_at("127.0.0.1", names=["Spam.example.com"])
    text = host if host is None else host.strip().encode().decode("latin-1")
    assert access.knows(text or "") is heard
    if host is None or host.isascii():
        for path in ("/health", "/static/main.js", "/api/model"):
            answer = asked(access, path, method="GET", host=host and host.strip())
            assert answer.status_code == (200 if heard else 403)
        assert heard or "--allow-host" in answer.json()["error"]


def test_two_hosts_are_one_too_many() -> None:
    answer = asked(Access(), headers=[("Host", "evil.example")])
    assert answer.status_code == 400


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.7"])
def test_a_server_that_others_reach_is_called_by_number_or_name(host: str) -> None:
    access = access_at(host, token=TOKEN, names=["spam.example.com"])
    for name in ("192.168.0.7:8000", "10.1.2.3", "[2001:db8::1]:80", "spam.example.com", host):
        assert access.knows(f"[{name}]" if name == "::" else name), name
    for name in ("evil.example", "192.168.0.7.evil.example", "10.1.2", "10.1.2.3:1@evil.com"):
        assert not access.knows(name), name


@pytest.mark.parametrize("name", ["X-Forwarded-Host", "X-Host", "Forwarded", "X-Original-Host"])
def test_what_a_proxy_adds_neither_lets_in_nor_keeps_out(name: str) -> None:
    access = access_at("127.0.0.1", names=["spam.example.com"])
    own, other = "spam.example.com", "evil.example"
    for host, forwarded, heard in ((own, other, 200), (other, own, 403)):
        written = f"host={forwarded}" if name == "Forwarded" else forwarded
        headers = {name: written, "X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "https"}
        assert (
            asked(access, "/health", method="GET", host=host, headers=headers).status_code == heard
        )
    headers = {name: other, "Origin": f"https://{other}"}
    assert asked(access, host=own, headers=headers).status_code == 403


APP = "https://app.example.com"
ORIGINS = {  # headers of a post to 127.0.0.1:8000, where pages of APP may ask
    (): True,
    (("Origin", "http://127.0.0.1:8000"),): True,
    (("Origin", "https://127.0.0.1:8000"),): True,  # a proxy speaks TLS
    (("Origin", "HTTP://127.0.0.1:8000"),): True,
    (("Origin", APP),): True,
    (("Origin", "https://APP.example.com"),): True,
    (("Origin", f"{APP}:443"),): True,
    (("Origin", APP), ("Sec-Fetch-Site", "cross-site")): True,
    (("Sec-Fetch-Site", "same-origin"),): True,
    (("Sec-Fetch-Site", "none"),): True,
    (("Origin", "null"),): False,
    (("Origin", ""),): False,
    (("Origin", "http://evil.example"),): False,
    (("Origin", "http://127.0.0.1:9999"),): False,
    (("Origin", "http://127.0.0.1"),): False,
    (("Origin", "http://app.example.com"),): False,
    (("Origin", f"{APP}:8443"),): False,
    (("Origin", f"{APP}.evil.example"),): False,
    (("Origin", f"{APP}@evil.example"),): False,
    (("Origin", f"{APP}/"),): False,
    (("Origin", "http://127.0.0.1:8000@evil.com"),): False,
    (("Origin", "ftp://127.0.0.1:8000"),): False,
    (("Sec-Fetch-Site", "cross-site"),): False,
    (("Sec-Fetch-Site", "same-site"),): False,
    (("Origin", APP), ("Origin", "http://evil.example")): False,
}


@pytest.mark.parametrize(("headers", "heard"), ORIGINS.items(), ids=map(str, ORIGINS))
def test_pages_of_other_sites_cannot_post(headers: Any, heard: bool) -> None:
    answer = asked(access_at("127.0.0.1", origins=[APP]), headers=headers)
    assert (answer.status_code == 200) is heard
    assert heard or answer.status_code in (400, 403)
    allowed = heard and any("app.example.com" in value.lower() for _, value in headers)
    assert answer.headers.get("access-control-allow-origin") == (APP if allowed else None)
    assert "access-control-allow-credentials" not in answer.headers


def test_a_browser_may_ask_first_whether_a_page_may_ask() -> None:
    wanted = {"Access-Control-Request-Method": "POST", "Origin": APP}
    access = access_at("127.0.0.1", origins=[APP], token=TOKEN)
    answer = asked(access, method="OPTIONS", headers=wanted)  # which carries no token
    assert answer.status_code == 204
    assert answer.headers["access-control-allow-origin"] == APP
    assert "Authorization" in answer.headers["access-control-allow-headers"]
    assert answer.headers["vary"] == "Origin"
    other = asked(access, method="OPTIONS", headers={**wanted, "Origin": "https://evil.example"})
    assert other.status_code == 403 and "access-control-allow-origin" not in other.headers


def test_a_page_behind_tls_and_a_port_is_its_own() -> None:
    access = access_at("127.0.0.1", names=["spam.example.com"])
    for host, origin in (
        ("spam.example.com", "https://spam.example.com"),
        ("spam.example.com:443", "https://spam.example.com"),
        ("spam.example.com:8443", "https://spam.example.com:8443"),
    ):
        assert asked(access, host=host, headers={"Origin": origin}).status_code == 200


TOKENS = {
    f"Bearer {TOKEN}": True,
    f"bearer {TOKEN}": True,
    f"BEARER   {TOKEN}": True,
    None: False,
    "": False,
    "Bearer": False,
    "Bearer ": False,
    TOKEN: False,
    f"Basic {TOKEN}": False,
    f"Bearer {TOKEN[:-1]}": False,
    f"Bearer {TOKEN}x": False,
    f"Bearer {TOKEN.upper()}": False,
    f"Bearer {TOKEN} {TOKEN}": False,
    f"Bearer {TOKEN}, Bearer {TOKEN}": False,
    "Bearer null": False,
}


@pytest.mark.parametrize(("given", "heard"), TOKENS.items(), ids=map(repr, TOKENS))
def test_a_server_with_a_token_wants_it(given: str | None, heard: bool) -> None:
    headers = {} if given is None else {"Authorization": given}
    access = access_at("127.0.0.1", token=TOKEN)
    posts = [("/api/predict", "POST"), ("/models/model/predict", "POST")]
    gets = [(path, "GET") for path in ("/api/model", "/metrics", "/models", "/openapi.json")]
    for path, method in [*posts, *gets]:
        answer = asked(access, path, method=method, headers=headers)
        assert answer.status_code == (200 if heard else 401), path
        if not heard:
            assert answer.headers["www-authenticate"] == "Bearer" and TOKEN not in answer.text


def test_a_token_that_is_sent_twice_is_refused() -> None:
    access = access_at("127.0.0.1", token=TOKEN)
    twice = [("Authorization", f"Bearer {TOKEN}"), ("Authorization", "Bearer other")]
    assert asked(access, headers=twice).status_code == 400


def test_without_the_token_the_page_loads_and_tells_nothing_of_the_model() -> None:
    access = access_at("127.0.0.1", token=TOKEN)
    for path in ("/", "/docs", "/static/main.js", "/health", "/ready"):
        answer = asked(access, path, method="GET")
        assert answer.status_code == 200
        if path in ("/health", "/ready"):
            assert set(answer.json().values()) <= {"ok", "ready", None}
    assert asked(access, "/ready", method="GET").json()["models"] is None
    told = asked(access, "/ready", method="GET", headers=BEARER).json()["models"]
    assert told[0]["classes"] == ["high", "low"]
    for path in ("/static/../api/model", "//api/model", "/./api/model", "/API/model", "/docs/x"):
        assert asked(access, path, method="GET").status_code in (401, 404), path


def test_a_token_is_compared_whole_and_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from posterior.app.server import access

    compared: list[tuple[bytes, bytes]] = []
    true = access.hmac.compare_digest
    monkeypatch.setattr(
        access.hmac, "compare_digest", lambda a, b: compared.append((a, b)) or true(a, b)
    )
    guarded = access.Access(token=TOKEN)
    for given in ("x", TOKEN):
        assert guarded.trusts(f"Bearer {given}") is (given == TOKEN)
    assert compared == [(b"x", TOKEN.encode()), (TOKEN.encode(), TOKEN.encode())]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.7", "spam.example.com"])
def test_others_are_not_let_in_without_a_token(host: str) -> None:
    with pytest.raises(ValueError, match="--token-file, or say --insecure"):
        access_at(host)
    assert access_at(host, insecure=True).token is None
    assert access_at(host, token=TOKEN).token == TOKEN
    for near in ("127.0.0.1", "127.0.0.53", "::1", "[::1]", "localhost"):
        assert access_at(near).token is None


@pytest.mark.parametrize("token", ["", "short", "with a blank in it ok", "ümlaut-of-many-letters"])
def test_a_token_that_a_header_cannot_carry_is_refused(token: str) -> None:
    with pytest.raises(ValueError, match="letters or more"):
        access_at("127.0.0.1", token=token)


def test_a_token_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    for mode in (0o600, 0o400):
        path.chmod(mode)
        assert token_in(path) == TOKEN
    for mode in (0o604, 0o640, 0o660, 0o644):
        path.chmod(mode)
        with pytest.raises(ValueError, match=f"mode {mode:o}: chmod 600"):
            token_in(path)
    with pytest.raises(ValueError, match="No such file"):
        token_in(tmp_path / "none")
    with pytest.raises(ValueError, match="directory"):
        token_in(tmp_path)


@pytest.mark.parametrize(
    "given",
    ["*", "null", "app.example.com", "https://", f"{APP}/", f"{APP}/page", "file://x", f"{APP} "],
)
def test_an_origin_is_named_exactly(given: str) -> None:
    with pytest.raises(ValueError, match=r"such as https://app\.example\.com"):
        access_at("127.0.0.1", origins=[given])


@pytest.mark.parametrize(
    "given", ["*", "", "https://spam.example.com", "spam.example.com:80", "a b"]
)
def test_a_host_is_named_exactly(given: str) -> None:
    with pytest.raises(ValueError, match=r"such as spam\.example\.com"):
        access_at("127.0.0.1", names=[given])


@pytest.mark.parametrize(
    "path", ["/api/predict", "/spam/api/predict", "/spam/models/model/predict"]
)
def test_under_a_root_path_both_kinds_of_proxies_are_understood(path: str) -> None:
    assert asked(Access(), path, root_path="/spam").status_code == 200
    if path.startswith("/spam"):
        assert asked(Access(), path).status_code == 404
        assert (
            asked(access_at("127.0.0.1", token=TOKEN), path, root_path="/spam").status_code == 401
        )


def test_the_root_without_its_slash_leads_to_the_page() -> None:
    answer = asked(Access(), "/spam", method="GET", root_path="/spam")
    assert answer.status_code == 308 and answer.headers["location"] == "/spam/"
    assert asked(Access(), "/spammer", method="GET", root_path="/spam").status_code == 404


def test_what_takes_too_long_is_refused_with_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    def slow(self: Any, *_: Any, **__: Any) -> Any:
        time.sleep(0.5)

    monkeypatch.setattr(type(MODEL), "evidence", slow)
    app = create_app(MODEL, limits=Limits(seconds=0.1))

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.post("/api/explain", json={"row": {"column 1": 1.0}})

    answer = asyncio.run(ask())
    assert answer.status_code == 503 and "within 0.1 seconds" in answer.json()["error"]
