"""A training in a process of its own, so that questions never wait for it, and it can be ended.

It reads what to do as a line of JSON from standard input, and writes one for each step; it ends
when its input does, which is when the server is killed.
"""

from __future__ import annotations

import csv
import json
import os
import signal
import sys
import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from posterior.preprocessing.overrides import Overrides

PAGE, NUMBERS, MODEL = "report.html", "report.json", "model.posterior"


def train(upload: str, source: str, target: str, asked: Overrides, folder: str, most: int) -> str:
    """Compare models of a file, write page, numbers and model of the best, and say which it is."""
    from posterior.app import models
    from posterior.app.report.facts import study
    from posterior.app.report.page import render
    from posterior.sources import files

    n_rows = 0
    for piece in files.batches(upload):  # a small file may unpack to a large table
        n_rows += piece.num_rows
        if n_rows > most:
            raise ValueError(f"Expected at most {most:,} rows to learn from, got more.")
    file = files.read(upload)
    found = study(
        file.frame,
        target,
        source=source,
        notes=file.notes,
        progress=lambda name, done, total: _tell(step=name),
        **asked,
    )
    _tell(step="drawing")
    place = Path(folder)
    (place / PAGE).write_text(render(found.facts, model=found.model), "utf-8")
    (place / NUMBERS).write_text(found.facts.to_json(), "utf-8")
    models.save(found.model, str(place / MODEL), file.frame)
    choice = found.facts.choice
    return (
        choice.summary
        if choice.suspects is None
        else f"{choice.summary} {choice.suspects.sentence}"
    )


def _tell(**facts: Any) -> None:
    print(json.dumps(facts), flush=True)


def _end_with_input() -> None:
    os.read(sys.stdin.fileno(), 1)
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Train as asked; an error is one sentence."""
    warnings.simplefilter("ignore")
    _tell(step="reading")
    task = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_input, daemon=True).start()
    try:
        summary = train(**task)
    except MemoryError:
        _tell(error="The memory of this machine is too small for that.")
    except (ValueError, TypeError, csv.Error) as error:
        _tell(error=" ".join(str(error).split()))
    else:
        _tell(summary=summary)
