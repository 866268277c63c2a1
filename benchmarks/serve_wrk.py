"""Load by wrk, whose clients cost next to nothing: what is measured is the server."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

WRK = shutil.which("wrk")
# wrk takes a body from a script alone, and tells the times of single requests only there.
SCRIPT = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "{kind}"
local file = io.open("{body}", "rb")
wrk.body = file:read("*a")
file:close()
done = function(summary, latency)
  local e = summary.errors
  print(string.format("FOUND %d %d %d %d %d", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99),
    e.connect + e.read + e.write + e.status + e.timeout))
end
"""


def loaded(port: int, sent: bytes, clients: int, seconds: float) -> tuple[int, float, float, float]:
    """Requests answered, the seconds they took together, and p50 and p99 in seconds."""
    assert WRK is not None
    head, _, body = sent.partition(b"\r\n\r\n")
    path = head.split(b" ")[1].decode()
    kind = re.search(rb"Content-Type: (\S+)", head)
    assert kind is not None
    with tempfile.TemporaryDirectory() as folder:
        content, script = Path(folder) / "body", Path(folder) / "ask.lua"
        content.write_bytes(body)
        script.write_text(SCRIPT.format(kind=kind.group(1).decode(), body=content))
        asking = [f"-c{clients}", "-t1", f"-d{max(1, round(seconds))}s", "--timeout", "30s"]
        url = f"http://127.0.0.1:{port}{path}"
        said = subprocess.run(
            [WRK, *asking, "-s", str(script), url], capture_output=True, text=True, check=True
        ).stdout
    found = re.search(r"FOUND (\d+) (\d+) (\d+) (\d+) (\d+)", said)
    assert found is not None, said
    n, wall, p50, p99, errors = map(int, found.groups())
    if errors:  # a refusal is quick, and no answer
        raise RuntimeError(f"{errors:,} of {n:,} requests failed.\n{said}")
    return n, wall / 1e6, p50 / 1e6, p99 / 1e6
