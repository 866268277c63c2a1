"""The command: run what is not stored, then score and write the page."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.quality import folds, kept, models, tables

# Seconds are the processor's, so that a busy machine does not count; threads that wait would.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "LOKY_MAX_CPU_COUNT"), "1")
EVERY = [*tables.TABLES, *tables.TEXTS, *(tables.OF_KEEL + name for name in tables.KEEL)]


def jobs(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Tables and models that were asked for and are not known, the smallest tables first."""
    asked = options.tables or [n for n in EVERY if options.keel or not n.startswith(tables.OF_KEEL)]
    for table in tables.by_size(asked, options.keel):
        listed = models.TEXT_MODELS if table in tables.TEXTS else models.TABLE_MODELS
        here = [m for m in listed if options.peers or m not in models.ELSEWHERE]
        for model in options.models or here:
            if model in listed and (options.again or not is_known(table, model)):
                yield table, model


def is_known(table: str, model: str) -> bool:
    """Whether it was run here; of a peer, whether it ever was: our own models change."""
    ours = model in ("Classifier", *models.MEMBERS)
    return folds.is_known(table, model) or (not ours and model in kept.load(table))


def run(table: str, model: str, options: argparse.Namespace) -> str:
    """Answers of one model to one table, by a process that is ended if it takes too long."""
    python = str((options.peers if model in models.ELSEWHERE else None) or sys.executable)
    command = [python, "-W", "ignore", "-m", "benchmarks.quality", "--one", table, model]
    command += ["--keel", str(options.keel)] if options.keel else []
    child = subprocess.Popen(
        command,
        cwd=tables.HERE,
        env=os.environ | ONE_THREAD,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # so that its own children end with it
    )
    try:
        said, _ = child.communicate(timeout=options.longest)
    except subprocess.TimeoutExpired:
        folds.save_stopped(table, model, options.longest)
        return f"stopped after {options.longest:g} s"
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    return said.strip().splitlines()[-1] if said.strip() else f"ended with {child.returncode}"


def one(table: str, model: str, keel: Path | None) -> str:
    """The same in this process, stored."""
    warnings.simplefilter("ignore")
    answers = folds.held_out(table, model, keel)
    folds.save(table, model, answers)
    return f"log loss {answers.losses().mean():.4f}, {answers.seconds.min():.2f} s a fit"


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality")
    parser.add_argument("tables", nargs="*", metavar="TABLE")
    parser.add_argument("--models", type=lambda text: text.split(","), help="with commas")
    parser.add_argument("--peers", type=_absolute, help="a Python that has their packages")
    parser.add_argument("--keel", type=_absolute, help="a folder with raw tables of KEEL, *.dat")
    parser.add_argument("--again", action="store_true", help="run what is stored, too")
    parser.add_argument("--longest", type=float, default=1_500, help="seconds for five fits")
    parser.add_argument("--page", action="store_true", help="run nothing")
    parser.add_argument("--one", nargs=2, metavar=("TABLE", "MODEL"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    known = {*models.TABLE_MODELS, *models.TEXT_MODELS}
    for kind, asked, among in (
        ("tables", options.tables, EVERY),
        ("models", options.models, known),
    ):
        if unknown := [name for name in asked or () if name not in among]:
            parser.error(f"Expected {kind} among {', '.join(among)}, got {', '.join(unknown)}.")
    return options


def _absolute(path: str) -> Path:
    return Path(path).absolute()


def main() -> None:
    options = parsed()
    if options.one:
        print(one(*options.one, options.keel))
        return
    for table, model in () if options.page else jobs(options):
        print(f"{table:<16}{model:<16}{run(table, model, options)}", flush=True)
    from benchmarks.quality import page, scoring  # the peers' Python has nothing of ours

    scoring.save(scoring.summary(scoring.load() if scoring.SCORES.exists() else None))
    page.PAGE.write_text(page.page(scoring.load()), "utf-8")


if __name__ == "__main__":
    main()
