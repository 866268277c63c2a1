"""Servers to measure and clients to ask them: processes, connections, and what they cost."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

TICKS = os.sysconf("SC_CLK_TCK")


@contextmanager
def started(command: list[str], **options: Any) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A server that tells its port on the first line, and what else it says."""
    with subprocess.Popen(
        [sys.executable, "-m", *command], stderr=subprocess.PIPE, text=True, **options
    ) as server:
        assert server.stderr is not None
        said = server.stderr
        found = re.search(r"127\.0\.0\.1:(\d+)", said.readline())
        assert found is not None, said.read()
        listener = threading.Thread(target=said.read, daemon=True)
        listener.start()
        try:
            yield server, int(found.group(1))
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(60)


def request(path: str, body: bytes, kind: str = "application/json") -> bytes:
    """A request as it goes over the line."""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


class Line:
    """A connection that stays open, with as little in between as there can be."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._socket: socket.socket | None = None

    def ask(self, sent: bytes) -> tuple[int, bytes]:
        """Status and body of an answer."""
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=60)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(sent)
        found = b""
        while (end := found.find(b"\r\n\r\n")) < 0:
            found += self._piece()
        head = found[:end].lower()
        length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
        pieces, missing = [found[end + 4 :]], length - (len(found) - end - 4)
        while missing > 0:
            pieces.append(self._piece())
            missing -= len(pieces[-1])
        if b"connection: close" in head:
            self.close()
        return int(head[9:12]), b"".join(pieces)

    def _piece(self) -> bytes:
        assert self._socket is not None
        piece = self._socket.recv(1 << 18)
        if not piece:
            raise ConnectionResetError("the server closed the line")
        return piece

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def get(port: int, path: str) -> Any:
    """What a server says at an address."""
    line = Line(port)
    sent = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    status, body = line.ask(sent)
    line.close()
    assert status == 200, body
    return json.loads(body) if body[:1] in b"[{" else body.decode()


def workers_of(port: int, n: int, seconds: float = 120.0) -> set[int]:
    """The processes that answer, once all of them do."""
    until, found = time.monotonic() + seconds, set[int]()
    while len(found) < n and time.monotonic() < until:
        with suppress(OSError):  # of one that is killed while it is asked
            found.add(get(port, "/health")["worker"])
        time.sleep(0.01)
    return found


def processor_seconds(process: int) -> float:
    """What a process has used of the processor so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory(process: int) -> float:
    """What a process holds in memory, MB."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    assert found is not None
    return int(found.group(1)) / 1024
