"""python -m benchmarks.clusters: what Dask and Spark cost, and from how many rows on they pay.

The same Parquet files are fitted by the engine of this process, by two Dask workers and by two
threads of Spark, all on this machine. A straight line through the times, t = fixed + rows × slope,
says what an engine costs before it reads a row, and what a row costs one of its cores.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from posterior import GaussianNB

COLUMNS, CLASSES, FILES = 20, 5, 16
CORES = 2  # of Dask and of Spark here


@dataclass(frozen=True)
class Line:
    """t = fixed + rows × slope."""

    name: str
    fixed: float  # seconds
    slope: float  # seconds a row

    def pays_from(self, other: Line, cores: int) -> float:
        """Rows from which this engine on so many cores is ahead of the other as it was measured."""
        mine = self.slope * CORES / cores
        return (self.fixed - other.fixed) / (other.slope - mine) if other.slope > mine else np.inf


def write(folder: Path, n_rows: int) -> None:
    """Files of one row group each, so that each is a partition."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for i in range(FILES):
        n = n_rows // FILES
        table = {f"x{j}": rng.normal(size=n) for j in range(COLUMNS)}
        table["y"] = rng.integers(0, CLASSES, n)
        pq.write_table(pa.table(table), folder / f"{i:03}.parquet", row_group_size=n)


@contextmanager
def dask_cluster() -> Iterator[Callable[[Path], Any]]:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=CORES, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        Client(cluster),
    ):
        yield lambda folder: dd.read_parquet(str(folder))


@contextmanager
def spark_session() -> Iterator[Callable[[Path], Any]]:
    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master(f"local[{CORES},4]")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    yield lambda folder: session.read.parquet(str(folder))
    session.stop()


def timed(read: Callable[[Path], Any], folder: Path) -> float:
    """Seconds of a fit, finding the files included."""
    start = time.perf_counter()
    GaussianNB().fit(read(folder), y="y")
    return time.perf_counter() - start


def measure(sizes: Sequence[int], rounds: int) -> list[Line]:
    """The line of each engine: in turns, the best of some rounds."""
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        folders = [Path(place) / str(n) for n in sizes]
        for folder, n in zip(folders, sizes, strict=True):
            write(folder, n)
        readers: dict[str, Callable[[Path], Any]] = {
            "this process": lambda folder: f"{folder}/*.parquet",
            "Dask": stack.enter_context(dask_cluster()),
            "Spark": stack.enter_context(spark_session()),
        }
        best = {name: [np.inf] * len(sizes) for name in readers}
        for _ in range(rounds):
            for name, read in readers.items():
                for i, folder in enumerate(folders):
                    seconds = timed(read, folder)
                    best[name][i] = min(best[name][i], seconds)
        for name, seconds in best.items():
            print(
                f"{name:<14}"
                + "".join(f"{n:>12,}: {s:7.3f} s" for n, s in zip(sizes, seconds, strict=True)),
                file=sys.stderr,
            )
    return [Line(name, *fitted(sizes, seconds)) for name, seconds in best.items()]


def fitted(sizes: Sequence[int], seconds: Sequence[float]) -> tuple[float, float]:
    """Through the smallest and the largest: they are far apart."""
    slope = max(seconds[-1] - seconds[0], 0.0) / (sizes[-1] - sizes[0])
    return seconds[0] - sizes[0] * slope, slope


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.clusters", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[16_000, 4_000_000])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    here, *clusters = measure(options.rows, options.rounds)
    print("| engine | before the first row | a million rows, on two cores ", end="")
    print("| pays from, with 8 cores | with 80 cores |\n|---|---|---|---|---|")
    for line in [here, *clusters]:
        pays = [shown(line.pays_from(here, n)) if line is not here else "" for n in (8, 80)]
        costs = f"{line.fixed:.2f} s | {1e6 * line.slope:.2f} s"
        print(f"| {line.name} | {costs} | {' | '.join(pays)} |")


def shown(rows: float) -> str:
    return f"{rows / 1e6:,.1f} million rows" if np.isfinite(rows) else "never"


if __name__ == "__main__":
    main()
