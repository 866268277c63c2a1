"""Fits that are killed and started again: the same bits, and errors that say what is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.exceptions import ConvergenceWarning

from posterior import GaussianMixture, GaussianNB, KMeans, LogisticRegression, save
from posterior.engines import journaled
from posterior.engines.journaled import Journaled, Known
from posterior.engines.streaming import Streamed
from posterior.sources.source import Batch, Source
from posterior.sources.table_files import Files
from posterior.statistics.quadratic import Quadratic
from posterior.storage.journal import CheckpointError, JournalFile

pytestmark = pytest.mark.once

REPOSITORY = Path(__file__).resolve().parent.parent


class KilledError(Exception):
    """What stands for a kill where a process would be too slow."""


class Numbers(Source):
    """A source of numbers, a batch each, that counts how many were read."""

    names = ("x",)

    def __init__(self, n: int) -> None:
        self.n, self.read = n, 0

    def batches(self) -> Generator[Batch, None, None]:
        for i in range(self.n):
            self.read += 1
            yield Batch(np.full((1, 1), 1.0 / (i + 3)), "numbers", i)


class Memory:
    """A log that keeps what was written last."""

    def __init__(self) -> None:
        self.known, self.n_written = Known([]), 0

    def read(self) -> Known:
        return Known(list(self.known.sums), self.known.running, self.known.batches)

    def write(self, known: Known) -> None:
        self.n_written += 1
        self.known = Known(list(known.sums), known.running, known.batches)

    def remove(self) -> None:
        self.known = Known([])


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write after every batch."""
    monkeypatch.setattr(journaled, "SECONDS", 0.0)
    monkeypatch.setattr(journaled, "SHARE", np.inf)


def value(batch: Batch) -> float:
    return float(batch.frame[0, 0])


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("stops", [[], [0], [3, 4], [1, 2, 7], range(20)], ids=str)
def test_a_sum_that_was_stopped_has_the_bits_of_one_that_was_not(stops: Any) -> None:
    log, numbers = Memory(), Numbers(20)
    for stop in stops:

        def function(batch: Batch, stop: int = stop) -> float:
            if batch.first == stop:
                raise KilledError
            return value(batch)

        with pytest.raises(KilledError):
            Journaled(Streamed(), log).sum(function, numbers)
    assert Journaled(Streamed(), log).sum(value, numbers) == Streamed().sum(value, numbers)


@pytest.mark.usefixtures("always")
def test_sums_that_are_known_are_told_without_a_look_at_the_rows() -> None:
    log, numbers = Memory(), Numbers(5)
    first = [Journaled(Streamed(), log).sum(value, numbers) for _ in range(1)]
    again, read = Journaled(Streamed(), log), numbers.read
    assert [again.sum(value, numbers)] == first
    assert numbers.read == read
    again.sum(value, numbers)  # a sum that was not asked for before is a new one
    assert numbers.read == read + 5


@pytest.mark.usefixtures("always")
def test_a_sum_that_its_user_changes_is_kept_as_it_was() -> None:
    log = Memory()

    def ones(_: Batch) -> Quadratic:
        return Quadratic(1.0, np.ones(2), np.ones((2, 2)))

    for _ in range(3):
        sums = Journaled(Streamed(), log)
        total = sums.sum(ones, Numbers(3))
        assert total.hessian is not None
        np.testing.assert_array_equal(total.hessian, np.full((2, 2), 3.0))
        total.hessian[:] = np.nan
        sums.sum(ones, Numbers(3))


def test_writing_is_rare_and_costs_a_small_part_of_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [0.0]
    monkeypatch.setattr(journaled.time, "monotonic", lambda: clock[0])

    class Slow(Memory):
        def write(self, known: Known) -> None:
            super().write(known)
            clock[0] += 1.0  # a second each

    def work(batch: Batch) -> float:
        clock[0] += 0.5
        return value(batch)

    log = Slow()
    Journaled(Streamed(), log).sum(work, Numbers(1000))
    assert 500 / journaled.SECONDS > 15 >= log.n_written >= 8


def test_an_engine_that_is_no_stream_is_noted_sum_by_sum() -> None:
    class Cluster:
        calls = 0

        def sum(self, function: Any, source: Any) -> Any:
            self.calls += 1
            return sum(map(function, source.batches()))

    log, cluster = Memory(), Cluster()
    fit = Journaled(cluster, log)
    total = fit.sum(value, Numbers(4))
    fit.write()
    assert Journaled(cluster, log).sum(value, Numbers(4)) == total
    assert cluster.calls == 1


@pytest.fixture
def rows(tmp_path: Path) -> Files:
    draw = np.random.default_rng(0)
    group = draw.integers(0, 2, 900)
    cells = draw.normal(size=(900, 3)) + group[:, None]
    columns: dict[str, Any] = {f"x{j}": cells[:, j] for j in range(3)}
    parquet.write_table(pa.table(columns | {"y": group}), tmp_path / "rows.parquet")
    return Files((tmp_path / "rows.parquet",), 100)


FITS = {
    "naive Bayes": lambda rows, path: GaussianNB().fit(rows, "y", checkpoint=path),
    "logistic": lambda rows, path: LogisticRegression().fit(rows, "y", checkpoint=path),
    "lasso": lambda rows, path: LogisticRegression(l1_ratio=1).fit(rows, "y", checkpoint=path),
    "mixture": lambda rows, path: GaussianMixture(2, max_iter=3, random_state=0).fit(
        rows, checkpoint=path
    ),
    "random": lambda rows, path: KMeans(2, max_iter=4).fit(rows, checkpoint=path),
}


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("name", FITS)
def test_a_fit_that_is_stopped_again_and_again_ends_in_the_same_bits(
    name: str, rows: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, write, n_stops = [0], JournalFile.write, 0

    def stopping(self: JournalFile, known: Known) -> None:
        write(self, known)
        written[0] += 1
        if written[0] % 13 == 0:
            raise KilledError

    path = tmp_path / "fit.checkpoint"
    monkeypatch.setattr(JournalFile, "write", stopping)
    warnings.simplefilter("ignore", ConvergenceWarning)
    while True:
        try:
            model = FITS[name](rows, path)
            break
        except KilledError:
            assert path.exists()
            n_stops += 1
    assert n_stops >= (1 if name != "naive Bayes" else 0)
    assert not path.exists()
    if name == "random":  # whose seed was drawn once, and not for every start
        assert model.inertia_ > 0
        return
    save(model, tmp_path / "stopped")
    save(FITS[name](rows, None), tmp_path / "plain")
    assert (tmp_path / "stopped").read_bytes() == (tmp_path / "plain").read_bytes()


def stopped(rows: Files, path: Path, **settings: Any) -> None:
    """A fit that leaves its checkpoint behind."""
    fit, writes = JournalFile.write, [0]

    def once(self: JournalFile, known: Known) -> None:
        fit(self, known)
        writes[0] += 1
        if writes[0] == 12:
            raise KilledError

    with pytest.MonkeyPatch.context() as patch, pytest.raises(KilledError):
        patch.setattr(JournalFile, "write", once)
        LogisticRegression(**settings).fit(rows, "y", checkpoint=path)


@pytest.mark.usefixtures("always")
def test_the_checkpoint_of_another_fit_is_refused_and_says_what_differs(
    rows: Files, tmp_path: Path
) -> None:
    path = tmp_path / "fit.checkpoint"
    stopped(rows, path, C=2.0)
    with pytest.raises(CheckpointError, match=r"C was '2\.0', and is '1\.0'"):
        LogisticRegression().fit(rows, "y", checkpoint=path)
    with pytest.raises(CheckpointError, match="of another one: model was 'LogisticRegression'"):
        GaussianNB().fit(rows, "y", checkpoint=path)
    os.utime(rows.paths[0], ns=(0, 0))
    with pytest.raises(CheckpointError, match=r"rows\.parquet was \["):
        LogisticRegression(C=2.0).fit(rows, "y", checkpoint=path)
    assert path.exists()


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("part", [0.0, 0.01, 0.5, 0.99])
def test_a_truncated_checkpoint_is_refused_and_left_alone(
    part: float, rows: Files, tmp_path: Path
) -> None:
    path = tmp_path / "fit.checkpoint"
    stopped(rows, path)
    content = path.read_bytes()
    path.write_bytes(content[: int(part * len(content))])
    with pytest.raises(CheckpointError, match="something else, or damaged"):
        LogisticRegression().fit(rows, "y", checkpoint=path)
    assert path.stat().st_size == int(part * len(content))


def test_a_file_of_another_kind_is_no_checkpoint(rows: Files, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a checkpoint")
    save(GaussianNB().fit(rows, "y"), tmp_path / "model")
    for other in (path, tmp_path / "model", rows.paths[0]):
        with pytest.raises(CheckpointError, match="Expected the checkpoint of a fit"):
            GaussianNB().fit(rows, "y", checkpoint=other)
    assert path.read_text() == "not a checkpoint"


@pytest.mark.usefixtures("always")
def test_a_changed_byte_is_seen(rows: Files, tmp_path: Path) -> None:
    path = tmp_path / "fit.checkpoint"
    stopped(rows, path)
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(CheckpointError, match="damaged"):
        LogisticRegression().fit(rows, "y", checkpoint=path)


def test_a_checkpoint_needs_a_folder_and_a_table_that_is_elsewhere(
    rows: Files, tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError, match="Expected a folder for the checkpoint"):
        GaussianNB().fit(rows, "y", checkpoint=tmp_path / "nowhere" / "fit")
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 1]
    for model in (LogisticRegression(), GaussianNB()):
        with pytest.raises(ValueError, match="rows in memory"):
            model.fit(X, y, checkpoint=tmp_path / "fit")
    for clusters in (GaussianMixture(), KMeans(2)):
        with pytest.raises(ValueError, match="rows in memory"):
            clusters.fit(X, checkpoint=tmp_path / "fit")


@pytest.mark.usefixtures("always")
def test_a_fit_that_fails_leaves_what_it_knew(rows: Files, tmp_path: Path) -> None:
    path = tmp_path / "fit.checkpoint"
    with pytest.raises(ValueError, match="Expected at most 1 coefficients"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("posterior.estimators.logistic.settings.LASSO", 1)
            LogisticRegression(l1_ratio=1).fit(rows, "y", checkpoint=path)
    assert path.exists()
    LogisticRegression(l1_ratio=1).fit(rows, "y", checkpoint=path)
    assert not path.exists()


def test_what_a_kill_left_half_written_is_removed_in_the_end(rows: Files, tmp_path: Path) -> None:
    left = tmp_path / ".fit.checkpoint.0123456789abcdef"
    left.write_bytes(b"half")
    other = tmp_path / ".fit.checkpoint.mine"
    other.write_bytes(b"mine")
    GaussianNB().fit(rows, "y", checkpoint=tmp_path / "fit.checkpoint")
    assert not left.exists()
    assert other.exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, to start fits fast")
def test_kill_9_at_random_moments_changes_no_bit() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.kills", "--kills", "9"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("3 kills") == 3
