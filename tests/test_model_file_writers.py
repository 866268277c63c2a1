"""Many writers of one model file: no rows are lost, and nobody is let in who was kept out."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import posterior
from posterior.storage import container, locked

pytestmark = pytest.mark.once

UPDATE = """
import sys, posterior
from posterior.storage import locked
path, n = sys.argv[1], int(sys.argv[2])
for _ in range(n):
    with locked(path):
        posterior.save(posterior.load(path).partial_fit([[1.0], [5.0]], [0, 1]), path)
"""
HOLD = """
import sys
from posterior.storage import locked
with locked(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path):
    place = tmp_path / "fish.posterior"
    posterior.save(posterior.GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1]), place)
    return place


def started(program, *arguments, **options):
    return subprocess.Popen([sys.executable, "-c", program, *map(str, arguments)], **options)


def holder(path):
    """A process that keeps the file until its input ends."""
    other = started(HOLD, path, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdout.readline() == b"held\n"
    return other


def table(path, rows):
    lines = [f"{x:.3f},{'carp' if i % 2 else 'eel'}" for i, x in enumerate(rows)]
    path.write_text("\n".join(["length,fish", *lines]))
    return path


def test_updates_at_the_same_time_lose_no_rows(tmp_path):
    """The command line: two processes, three hundred rows each."""
    random = np.random.default_rng(0)
    first = table(tmp_path / "first.csv", random.normal(0, 1, 100))
    more = [table(tmp_path / f"{i}.csv", random.normal(0, 1, 300)) for i in range(2)]
    model = tmp_path / "m.posterior"
    command = [sys.executable, "-m", "posterior"]
    fit = [*command, "fit", str(first), "--target", "fish", "--model", "naive-bayes"]
    subprocess.run([*fit, "--out", str(model)], check=True, capture_output=True)
    running = [
        subprocess.Popen([*command, "update", str(model), str(data)], stdout=subprocess.DEVNULL)
        for data in more
    ]
    assert [process.wait(120) for process in running] == [0, 0]
    assert posterior.load(model).model_.statistics_.weight.rounded().sum() == 100 + 2 * 300


def test_models_changed_under_their_lock_lose_no_rows(path):
    running = [started(UPDATE, path, 10) for _ in range(2)]
    assert [process.wait(120) for process in running] == [0, 0]
    assert posterior.load(path).class_count_.sum() == 4 + 2 * 10 * 2
    assert [left.name for left in path.parent.iterdir()] == [path.name]


def test_a_file_in_use_is_refused_after_a_while_and_not_changed(path):
    before, other = path.read_bytes(), holder(path)
    try:
        start = time.monotonic()
        with pytest.raises(TimeoutError, match="another process has been changing it"):
            with locked(path, wait=0.3):
                path.write_bytes(b"")
        assert 0.3 <= time.monotonic() - start < 10
        assert path.read_bytes() == before
        assert posterior.load(path).predict([[4.5]]) == [1]  # readers do not wait
    finally:
        other.communicate(b"")
    with locked(path, wait=5):
        pass


def test_the_lock_of_a_killed_process_is_free(path):
    other = holder(path)
    other.kill()
    other.communicate()
    with locked(path, wait=5):
        posterior.save(posterior.load(path), path)


def test_names_of_one_file_have_one_lock(path):
    link = path.with_name("link")
    link.symlink_to(path)
    other = holder(link)
    try:
        with pytest.raises(TimeoutError):
            with locked(path, wait=0.2):
                pass
    finally:
        other.communicate(b"")


def test_a_lock_within_itself_does_not_wait(path):
    with locked(path), locked(path, wait=0):
        posterior.save(posterior.load(path), path)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o400, 0o664])
def test_a_replaced_file_keeps_its_mode_and_owner(mode, path):
    path.chmod(mode)
    before = path.stat()
    if os.getuid() == 0:  # who else may give files away
        os.chown(path, 12345, 23456)
        before = path.stat()
    posterior.save(posterior.load(path), path)
    after = path.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode,
        before.st_uid,
        before.st_gid,
    )


def test_a_new_file_is_as_the_umask_says(path):
    before = os.umask(0o027)
    try:
        posterior.save(posterior.load(path), path.with_name("other"))
    finally:
        os.umask(before)
    assert path.with_name("other").stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link_and_what_it_names_is_replaced(path):
    path.chmod(0o600)
    (path.parent / "names").mkdir()
    link = path.parent / "names" / "link"
    link.symlink_to(path)
    posterior.save(posterior.load(link).partial_fit([[9.0]], [1]), link)
    assert link.is_symlink() and path.stat().st_mode & 0o777 == 0o600
    assert posterior.load(path).class_count_.sum() == 5
    assert [left.name for left in (path.parent / "names").iterdir()] == ["link"]


def test_nobody_can_read_a_private_model_while_it_is_written(path, monkeypatch):
    """Modes of all files of the folder, at each call that might change them."""
    path.chmod(0o600)
    seen = []

    def looking(name):
        call = getattr(os, name)

        def look(*arguments, **options):
            seen.extend(
                f.stat().st_mode & 0o077 for f in path.parent.iterdir() if "lock" not in f.name
            )
            return call(*arguments, **options)

        return look

    for name in ("fsync", "fchmod", "fchown", "replace"):
        monkeypatch.setattr(container.os, name, looking(name))
    posterior.save(posterior.load(path), path)
    assert len(seen) >= 8 and set(seen) == {0}


def test_a_group_that_cannot_be_kept_gets_nothing(path, monkeypatch):
    path.chmod(0o664)

    def refuse(handle, owner, group):
        raise PermissionError

    monkeypatch.setattr(container.os, "fchown", refuse)
    posterior.save(posterior.load(path), path)
    assert path.stat().st_mode & 0o777 == 0o604


def test_a_lock_is_not_followed_to_another_file(path):
    other = path.with_name("precious")
    other.write_text("x")
    Path(path.parent / f".{path.name}.lock").symlink_to(other)
    with pytest.raises(OSError, match="lock"):
        with locked(path, wait=0.1):
            pass
    assert other.read_text() == "x"
