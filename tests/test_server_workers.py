"""The server as processes: workers that die, files that change, stops that lose nothing."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("fastapi")

import posterior

pytestmark = pytest.mark.once

TOKEN = "a-token-of-many-letters"
PATIENCE = 180.0  # seconds, on a busy machine


def fitted(shift: float, n: int = 60) -> Any:
    random = np.random.default_rng(0)
    y = np.arange(n) % 2
    return posterior.GaussianNB().fit(random.normal(shift + 3 * y, 1, (2, n)).T, y)


class Running:
    """A server in processes of its own."""

    def __init__(self, process: subprocess.Popen[str], port: int, said: list[str]) -> None:
        self.process, self.port, self.said = process, port, said

    def ask(self, path: str, body: Any = None) -> tuple[int, Any]:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
            content = None if body is None else json.dumps(body)
            line.request("GET" if body is None else "POST", path, content, headers)
            answer = line.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text[:1] in b"{[" else text.decode()
        finally:
            line.close()

    def workers(self) -> set[int]:
        """The workers that answer, asked a few times."""
        return {self.ask("/health")[1]["worker"] for _ in range(12)}


@contextmanager
def serving(*arguments: Any, ending: int = signal.SIGINT) -> Iterator[Running]:
    command = [sys.executable, "-m", "posterior", "serve", *map(str, arguments), "--port", "0"]
    environment = {**os.environ, "POSTERIOR_TOKEN": TOKEN}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        said: list[str] = []
        assert process.stderr is not None
        first = process.stderr.readline()
        found = re.search(r":(\d+)", first)
        assert found is not None, first + process.stderr.read()
        reader = threading.Thread(target=lambda: said.extend(process.stderr or ()))
        reader.start()
        try:
            yield Running(process, int(found.group(1)), said)
        finally:
            process.send_signal(ending)
            process.wait(PATIENCE)
            reader.join()


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def hash_of(server: Running, name: str) -> str:
    return str(server.ask(f"/models/{name}")[1]["hash"])


def predicted(server: Running, name: str, x: float = 1.0) -> float:
    row = {"column 1": x, "column 2": x}
    answer = server.ask(f"/models/{name}/predict", {"rows": [row]})[1]
    return float(answer["predictions"][0]["posterior"]["1"])


def expected(model: Any, x: float = 1.0) -> float:
    return float(model.predict_proba([[x, x]])[0, 1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("serving")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Running]:
    """Two workers and two models."""
    posterior.save(fitted(0.0), folder / "spam.posterior")
    posterior.save(fitted(9.0), folder / "churn.posterior")
    log = folder / "access.jsonl"
    files = (folder / "spam.posterior", folder / "churn.posterior")
    with serving(*files, "--workers", 2, "--access-log", log) as running:
        until(lambda: len(running.workers()) == 2)
        yield running
    assert running.process.returncode == 0


def test_several_models_answer_by_name_from_all_workers(server: Running) -> None:
    for _ in range(6):
        assert predicted(server, "spam") == expected(fitted(0.0))
        assert predicted(server, "churn", 10.0) == expected(fitted(9.0), 10.0)
    names = [model["name"] for model in server.ask("/ready")[1]["models"]]
    assert names == ["spam", "churn"]
    assert server.ask("/models/none/predict", {"rows": [{}]})[0] == 404


def test_a_worker_that_is_killed_is_replaced_while_the_others_answer(server: Running) -> None:
    before = server.workers()
    asked = threading.Event()
    failed: list[Any] = []

    def ask_on() -> None:
        while not asked.is_set():
            try:
                if server.ask("/health")[0] != 200:
                    failed.append("status")
            except (ConnectionError, http.client.HTTPException) as error:  # of the one that died
                failed.append(error)

    thread = threading.Thread(target=ask_on)
    thread.start()
    os.kill(min(before), signal.SIGKILL)
    until(lambda: len(server.workers() - {min(before)}) == 2)
    asked.set()
    thread.join()
    assert len(failed) <= 1  # the connection that the worker died with
    assert any("starts anew" in line for line in server.said)


def test_a_file_that_changes_is_served_by_all_workers(server: Running, folder: Path) -> None:
    before = hash_of(server, "spam")
    posterior.save(fitted(5.0), folder / "spam.posterior")
    until(lambda: all(hash_of(server, "spam") != before for _ in range(8)))
    assert predicted(server, "spam", 6.0) == expected(fitted(5.0), 6.0)


@pytest.mark.parametrize("damage", ["half", "gone", "noise", "newer"])
def test_a_bad_file_leaves_the_model_of_before_and_is_told(
    server: Running, folder: Path, damage: str
) -> None:
    path, good = folder / "churn.posterior", folder / "good"
    shutil.copy(path, good)
    content = good.read_bytes()
    if damage == "gone":
        path.unlink()
    elif damage == "newer":  # the head is checked before the checksum is
        path.write_bytes(content.replace(rb"\"schema\": 1,", rb"\"schema\": 9,"))
    else:
        path.write_bytes(content[: len(content) // 2] if damage == "half" else b"x" * 999)

    def problems() -> list[str | None]:
        answers = [server.ask("/ready") for _ in range(8)]
        assert all(status == 200 for status, _ in answers)
        return [answer["models"][1]["problem"] for _, answer in answers]

    word = {"gone": "is gone", "newer": "newer posterior"}.get(damage, "Expected a model file")
    told: set[str | None] = set()

    def all_tell() -> bool:
        """A look while the file is being written finds a part of it, the next one what it is."""
        told.clear()
        told.update(problems())
        return len(told) == 1 and all(problem and word in problem for problem in told)

    until(all_tell)
    assert all(p and p.endswith("goes on answering.") and "\n" not in p for p in told)
    assert predicted(server, "churn", 10.0) == expected(fitted(9.0), 10.0)
    assert 'posterior_model_file_problem{model="churn"} 1.0' in server.ask("/metrics")[1]
    victim = min(server.workers())  # whoever starts now finds the last good model
    os.kill(victim, signal.SIGKILL)
    until(lambda: len(server.workers() - {victim}) == 2)
    assert all(predicted(server, "churn", 10.0) == expected(fitted(9.0), 10.0) for _ in range(6))
    shutil.copy(good, path)
    until(lambda: all(problem is None for problem in problems()))


def test_counts_are_of_all_workers_and_outlive_them(server: Running) -> None:
    def rows() -> float:
        found = re.search(r'posterior_rows_total{model="spam"} (\S+)', server.ask("/metrics")[1])
        return float(found.group(1)) if found else 0.0

    before = rows()
    for _ in range(20):
        predicted(server, "spam")
    assert {rows() for _ in range(6)} == {before + 20}
    victim = min(server.workers())
    os.kill(victim, signal.SIGKILL)
    until(lambda: len(server.workers() - {victim}) == 2)
    assert {rows() for _ in range(6)} == {before + 20}


def test_the_access_log_is_a_line_of_json_for_each_request(server: Running, folder: Path) -> None:
    log = folder / "access.jsonl"
    predicted(server, "spam")
    server.ask("/api/train/secret-id-of-16chr/report")
    log.rename(folder / "access.1")  # as logrotate does
    predicted(server, "churn")
    until(log.exists)
    lines = [json.loads(line) for line in (folder / "access.1").read_text().splitlines()]
    last = [line for line in lines if line["route"] == "/api/predict"][-1]
    assert (last["status"], last["model"], last["rows"]) == (200, "spam", 1)
    assert last["seconds"] > 0 and last["method"] == "POST" and last["client"] == "127.0.0.1"
    text = (folder / "access.1").read_text() + log.read_text()
    assert TOKEN not in text and "secret-id" not in text


@pytest.mark.slow
def test_a_training_is_known_to_every_worker(server: Running, folder: Path) -> None:
    boundary, csv = (
        "line",
        "x,y,kind\n" + "".join(f"{i % 7},{i},{'ab'[i % 7 > 3]}\n" for i in range(90)),
    )
    fields = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n{value}\r\n'
        for name, more, value in (("target", "", "kind"), ("file", '; filename="a.csv"', csv))
    )
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    kind = f"multipart/form-data; boundary={boundary}"
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": kind}
    line.request("POST", "/api/train", f"{fields}--{boundary}--\r\n", headers)
    key = json.loads(line.getresponse().read())["id"]
    line.close()

    def states() -> set[str]:
        return {server.ask(f"/api/train/{key}")[1]["state"] for _ in range(6)}

    until(lambda: states() == {"done"})
    body = {"rows": [{"x": 6, "y": 1}]}
    answers = [server.ask(f"/api/predict?model={key}", body)[1] for _ in range(6)]
    assert {answer["predictions"][0]["prediction"] for answer in answers} == {"b"}
    assert len({answer["model"]["hash"] for answer in answers}) == 1


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("workers", [1, 2])
def test_requests_under_way_are_answered_before_the_server_ends(
    folder: Path, workers: int, ending: int
) -> None:
    posterior.save(fitted(0.0), folder / "stop.posterior")
    file = folder / "stop.posterior"
    with serving(file, "--workers", workers, ending=ending) as server:
        body = json.dumps({"rows": [{"column 1": 1.0}]}).encode()
        head = (
            f"POST /api/predict HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            "Expect: 100-continue\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as line:
            line.sendall(head.encode() + body[:5])
            assert line.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"  # it is under way
            server.process.send_signal(ending)
            time.sleep(0.5)
            line.sendall(body[5:])
            assert line.recv(100).startswith(b"HTTP/1.1 200")
        server.process.wait(PATIENCE)
        assert server.process.returncode in (0, -signal.SIGTERM)


@pytest.mark.slow
def test_clients_updates_and_kills_leave_no_wrong_answer_and_no_lost_row(tmp_path: Path) -> None:
    from benchmarks.serve_soak import Soak

    first = Soak(tmp_path, clients=8, seconds=6.0, kill=2.0).run()
    found = Soak(tmp_path, clients=8, seconds=10.0, kill=2.0).run()  # goes on where that stopped
    assert found.holds(), found
    assert first.seconds < 10 < found.seconds and found.runs == 2
    assert found.answers > first.answers > 50 and found.updates > first.updates > 1
    assert found.kills > first.kills >= 2 and found.models > 2 and found.watched


def complaint(*arguments: Any, **environment: str) -> str:
    """What is said by a server that does not start."""
    command = [sys.executable, "-m", "posterior", "serve", *map(str, arguments)]
    given = {key: value for key, value in os.environ.items() if key != "POSTERIOR_TOKEN"}
    done = subprocess.run(
        command, capture_output=True, text=True, env={**given, **environment}, timeout=PATIENCE
    )
    assert done.returncode in (1, 2) and "Traceback" not in done.stderr, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("posterior: ")]
    return line


def test_what_keeps_a_server_from_starting_is_told_in_a_sentence(folder: Path) -> None:
    model, damaged, token = folder / "m.posterior", folder / "d.posterior", folder / "token"
    posterior.save(fitted(0.0), model)
    damaged.write_bytes(model.read_bytes()[:500])
    token.write_text(TOKEN)
    token.chmod(0o644)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert "Choose another port" in complaint(model, "--port", taken.getsockname()[1])
    assert "Expected a model file" in complaint(damaged, "--port", 0, "--workers", 2)
    assert "--insecure" in complaint(model, "--host", "0.0.0.0")
    assert "chmod 600" in complaint(model, "--token-file", token)
    assert "Rename one" in complaint(model, model)


def heard(line: socket.socket) -> bytes:
    """All that comes until the line is closed."""
    pieces = []
    while piece := line.recv(1 << 16):
        pieces.append(piece)
    return b"".join(pieces)


def test_clients_that_are_slow_on_purpose_keep_nobody_out(folder: Path) -> None:
    posterior.save(fitted(0.0), folder / "slow.posterior")
    with serving(folder / "slow.posterior") as server:
        place = ("127.0.0.1", server.port)
        lines = [socket.create_connection(place, timeout=PATIENCE) for _ in range(50)]
        for i, line in enumerate(lines):
            line.sendall(b"GET /health HTTP/1.1\r\nHost: 127"[: 3 * (i % 9)])  # some say nothing
        assert server.ask("/health")[0] == 200
        assert {heard(line) for line in lines} == {b""}  # closed, after a while
        with socket.create_connection(place, timeout=PATIENCE) as line:
            with pytest.raises(ConnectionError):  # a head without an end
                for _ in range(1000):
                    line.sendall(b"GET /health HTTP/1.1\r\nX: " + b"x" * 100_000)
                    time.sleep(0.01)
        assert server.ask("/health")[0] == 200


def test_old_and_small_forms_of_http_are_answered(folder: Path) -> None:
    posterior.save(fitted(0.0), folder / "old.posterior")
    with serving(folder / "old.posterior") as server:

        def said(text: str) -> bytes:
            with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as line:
                line.sendall(text.replace("\n", "\r\n").encode())
                return heard(line)

        token = f"Authorization: Bearer {TOKEN}\nContent-Type: application/json\n"
        body = '{"rows":[{}]}'
        whole = f"POST /api/predict HTTP/1.0\nHost: localhost\n{token}Content-Length: 13\n\n{body}"
        assert said(whole).startswith(b"HTTP/1.1 200") and b'"predictions"' in said(whole)
        head = said("HEAD /health HTTP/1.1\nHost: localhost\nConnection: close\n\n")
        assert head.startswith(b"HTTP/1.1 200") and head.endswith(b"\r\n\r\n")
        pieces = "".join(f"1\n{letter}\n" for letter in body) + "0\n\n"
        close = f"Host: localhost\n{token}Connection: close\n"
        chunked = said(f"POST /api/predict HTTP/1.1\n{close}Transfer-Encoding: chunked\n\n{pieces}")
        assert chunked.startswith(b"HTTP/1.1 200") and b'"predictions"' in chunked
