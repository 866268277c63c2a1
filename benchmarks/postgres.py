"""A PostgreSQL server of our own, in a temporary folder, for as long as a benchmark runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAMS = Path("/usr/lib/postgresql")  # where Debian keeps them, by version
PATIENCE = 30  # seconds until it answers


@contextmanager
def running() -> Iterator[str]:
    """The address of the server."""
    initdb, server = (_program(name) for name in ("initdb", "postgres"))
    # it refuses to run as root
    owner: dict[str, Any] = {"user": "postgres", "group": "postgres"} if os.getuid() == 0 else {}
    with tempfile.TemporaryDirectory(prefix="posterior-") as folder:
        if owner:
            shutil.chown(folder, **owner)
        data, nowhere = f"{folder}/data", subprocess.DEVNULL
        quiet: dict[str, Any] = {"cwd": folder, "stdout": nowhere, "stderr": nowhere, **owner}
        settings = ["--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C"]
        subprocess.run([initdb, "--no-sync", *settings, "--pgdata", data], check=True, **quiet)
        process = subprocess.Popen([server, "-D", data, "-k", folder, "-h", "", "-F"], **quiet)
        try:
            yield _answering(f"host={folder} user=postgres dbname=postgres")
        finally:
            process.terminate()
            process.wait(PATIENCE)


def _program(name: str) -> str:
    newest = sorted(PROGRAMS.glob("*/bin"), reverse=True)
    path = os.pathsep.join([*map(str, newest), os.environ.get("PATH", "")])
    found = shutil.which(name, path=path)
    if found is None:
        raise SystemExit(f"Expected PostgreSQL's {name}, found none. apt-get install postgresql.")
    return found


def _answering(address: str) -> str:
    import psycopg

    last = time.monotonic() + PATIENCE
    while True:
        try:
            psycopg.connect(address).close()
            return address
        except psycopg.OperationalError:
            if time.monotonic() > last:
                raise
            time.sleep(0.1)
