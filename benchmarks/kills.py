"""kill -9 at random moments of a checkpointed fit: every model ends in the bits of an unkilled one.

    python -m benchmarks.kills [--kills 50] [--seed 0]

A process that has everything imported forks one that fits, kills it by its id after a random time,
forks the next one, which resumes, and so on; a fit that comes to its end is compared with the
same fit without a checkpoint. Checkpoints are written all the time, and not every few seconds.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import tempfile
import time
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from posterior.engines import journaled
from posterior.estimators import GaussianMixture, GaussianNB, LogisticRegression
from posterior.sources.table_files import Files
from posterior.storage import inspect, save

import_module("posterior.storage.journal")  # so that no child imports it

ROWS, BATCH = 12_000, 1_000

Fit = Callable[[Any, Path | None], Any]

FITS: dict[str, Fit] = {
    "naive Bayes": lambda table, path: GaussianNB().fit(table, "y", checkpoint=path),
    "logistic regression": lambda table, path: LogisticRegression(tol=1e-8).fit(
        table, "y", checkpoint=path
    ),
    "mixture": lambda table, path: GaussianMixture(3, random_state=0, max_iter=6).fit(
        table, checkpoint=path
    ),
}


def table(folder: Path) -> Path:
    """Numbers of three groups, two of them of one class."""
    draw = np.random.default_rng(0)
    group = draw.integers(0, 3, ROWS)
    cells = draw.normal(size=(ROWS, 4)) + np.eye(3, 4)[group]
    columns: dict[str, Any] = {f"x{j}": cells[:, j] for j in range(4)}
    path = folder / "rows.parquet"
    parquet.write_table(pa.table(columns | {"y": (group == 0).astype(int)}), path)
    return path


def forked(fit: Fit, rows: Path, checkpoint: Path | None, out: Path) -> int:
    """The id of a process that fits and saves its model."""
    child = os.fork()
    if child:
        return child
    journaled.SECONDS, journaled.SHARE = 0.0, 0.5  # half the time, to be killed while at it, too
    import warnings

    warnings.simplefilter("ignore")  # few iterations are meant
    try:
        save(fit(Files((rows,), BATCH), checkpoint), out)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def ended(child: int) -> bool:
    """Whether a process came to its end, and not to that of a kill."""
    state = os.waitpid(child, 0)[1]
    if os.WIFEXITED(state) and os.WEXITSTATUS(state) != 0:
        raise RuntimeError("A fit failed; its error is above.")
    return os.WIFEXITED(state)


def bits(model: Path) -> str:
    """A checksum of all that a model has learned."""
    return str(inspect(model)["sha256"])


def killed(
    fit: Fit, rows: Path, folder: Path, kills: int, chance: random.Random
) -> tuple[int, int]:
    """Kills so many fits, and how many came to their end in between, all in the same bits."""
    out, checkpoint = folder / "model.posterior", folder / "fit.checkpoint"
    ended(forked(fit, rows, None, out))
    expected, begin = bits(out), time.perf_counter()
    ended(forked(fit, rows, checkpoint, out))
    seconds = time.perf_counter() - begin
    assert bits(out) == expected and not checkpoint.exists()
    done = ends = 0
    while True:
        child, last = forked(fit, rows, checkpoint, out), done == kills
        if not last:
            time.sleep(chance.uniform(0.0, seconds))
            os.kill(child, signal.SIGKILL)
        if not ended(child):
            done += 1
            continue
        ends += 1
        assert bits(out) == expected, "A resumed fit ended in other bits."
        assert not checkpoint.exists()
        if last:
            return done, ends


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        rows, chance = table(folder), random.Random(asked.seed)
        for i, (name, fit) in enumerate(FITS.items()):
            share = len(range(i, asked.kills, len(FITS)))
            done, ends = killed(fit, rows, folder, share, chance)
            print(f"{name}: {done} kills, {ends} fits ended in the same bits", flush=True)


if __name__ == "__main__":
    main()
