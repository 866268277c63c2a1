"""A table larger than memory: a file of Parquet is fitted by a process that may not hold it.

    python -m benchmarks.out_of_memory                     # 10 GB, and 1 GB of memory
    python -m benchmarks.out_of_memory --gigabytes 1 --limit 0.1

The file is made once, in the folder of --at. A child process imports the package, fits a few rows,
and then is held to so much more address space (RLIMIT_AS) than it has, in which it fits the file.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

COLUMNS = 10
BATCH = 65_536
MODELS = ("GaussianNB", "NaiveBayes", "LinearDiscriminantAnalysis")


def write(path: Path, n_bytes: float) -> int:
    """A file of doubles and a class, and how many rows it has."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet

    random, n_rows = np.random.default_rng(0), 0
    code = random.integers(0, 3, BATCH)
    columns = {f"x{j}": random.normal(size=BATCH) + code * (j % 3) for j in range(COLUMNS)}
    table = pa.table({**columns, "y": np.array(["no", "perhaps", "yes"])[code]})
    with parquet.ParquetWriter(path, table.schema, compression="none", use_dictionary=["y"]) as out:
        while n_rows == 0 or path.stat().st_size < n_bytes:
            out.write_table(table)
            n_rows += BATCH
    return n_rows


def fit(path: str, name: str, more: int) -> dict[str, Any]:
    """What the child does: the model's sums and what they took, within the limit."""
    import resource

    import posterior

    kind = getattr(posterior, name)
    with tempfile.TemporaryDirectory() as folder:
        few = Path(folder) / "few.parquet"
        write(few, 1)
        kind().fit(few, y="y")  # threads are started and libraries loaded
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is none of ours
    before = _status("VmSize"), _status("VmRSS")
    resource.setrlimit(resource.RLIMIT_AS, (before[0] + more, before[0] + more))
    begin = time.perf_counter()
    model = kind().fit(path, y="y")
    seconds = time.perf_counter() - begin
    peak = _status("VmHWM") - before[1]
    weight = float(model.statistics_.weight.rounded().sum())
    return {"model": name, "rows": weight, "seconds": seconds, "peak": peak, "limit": more}


def _status(name: str) -> int:
    """Bytes that Linux counts for this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (found,) = (line for line in lines if line.startswith(f"{name}:"))
    return int(found.split()[1]) * 1024


def run(path: Path, name: str, limit: int) -> dict[str, Any]:
    """The same in a child process."""
    call = f"ulimit -s 1024; exec {sys.executable} -m benchmarks.out_of_memory --child"
    answer = subprocess.run(  # a small stack for each thread: address space counts
        ["sh", "-c", f'{call} "$@"', "child", str(path), name, str(limit)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2"},
    )
    if answer.returncode:
        return {"model": name, "failed": answer.stderr.strip().splitlines()[-1]}
    found: dict[str, Any] = json.loads(answer.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=10.0, help="size of the file")
    parser.add_argument("--limit", type=float, default=1.0, help="gigabytes beyond the imports")
    parser.add_argument("--at", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--child", nargs=3, metavar=("FILE", "MODEL", "BYTES"))
    asked = parser.parse_args()
    if asked.child:
        path, name, more = asked.child
        print(json.dumps(fit(path, name, int(more))))
        return
    path = asked.at / f"posterior-{asked.gigabytes:g}-gb.parquet"
    try:
        n_rows = write(path, asked.gigabytes * 1e9)
        size = path.stat().st_size
        print(f"{n_rows:,} rows in a file of {size / 1e9:.2f} GB of Parquet; {asked.limit:g} GB of")
        print("address space beyond what the imports take.\n")
        print("| model | time | read a second | peak beyond the imports |\n|---|---|---|---|")
        for name in MODELS:
            found = run(path, name, int(asked.limit * 1e9))
            if "failed" in found:
                print(f"| {name} | failed: {found['failed']} | | |")
                continue
            assert found["rows"] == n_rows
            speed = size / found["seconds"] / 1e6
            cells = f"{found['seconds']:.1f} s | {speed:.0f} MB | {found['peak'] / 1e6:.0f} MB"
            print(f"| {name} | {cells} |", flush=True)
    finally:
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
