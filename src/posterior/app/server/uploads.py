"""Files of a request: kept under names of ours, read within limits, removed afterwards."""

from __future__ import annotations

import csv
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, BinaryIO

import narwhals as nw
import numpy as np

from posterior.app import tables
from posterior.app.decisions import Decision
from posterior.app.server.api_schema import FileFacts
from posterior.app.server.predicting import Predicted
from posterior.app.server.refusals import RequestError
from posterior.app.server.served import Served
from posterior.preprocessing.column_roles import role_of
from posterior.preprocessing.targets import is_continuous
from posterior.sources import files, outputs, unpacking
from posterior.sources.formats import ARCHIVE, ENDINGS, beginning_of, format_of

if TYPE_CHECKING:
    import pyarrow as pa

ACCEPTED = (*(e for e in ENDINGS if e != ".duckdb"), ARCHIVE)
UNPACKED = 400_000_000  # bytes that may come out of an archive, which most workbooks are
MEDIA = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}


@contextmanager
def kept(content: BinaryIO, name: str | None) -> Iterator[Path]:
    """An upload in a file of its own, while it is needed; of its name the ending counts alone."""
    with tempfile.TemporaryDirectory(prefix="posterior-") as folder:
        place = Path(folder) / f"upload{ending_of(name)}"
        with place.open("wb") as file:
            shutil.copyfileobj(content, file)
        try:
            check_safe(place)
            yield place
        except (ValueError, csv.Error) as error:
            raise ValueError(without(folder, error)) from None


def without(folder: str | Path, error: object) -> str:
    """What an error says, but where our files are."""
    return " ".join(str(error).replace(f"{folder}{os.sep}", "").split())


def ending_of(name: str | None) -> str:
    """The ending of a file that can be read."""
    ending = PurePath((name or "").replace("\\", "/")).suffix.lower()
    if ending not in ACCEPTED:
        raise RequestError(
            f"Expected a file that ends in {', '.join(ACCEPTED)}, got {ending or 'none'!r}.",
            415,
        )
    return ending


def check_safe(place: Path) -> None:
    """Refuse what unpacks to too much, an archive in another, and databases that may run code."""
    unpacking.check_size(place, UNPACKED)
    if place.suffix == ARCHIVE:
        member, _ = unpacking.only_member(place)
        if format_of(PurePath(member.filename)) in ("workbook", "database"):
            raise ValueError("Expected a zip of a file of text, Parquet or Arrow. Unpack it first.")
    elif format_of(place) == "database" and beginning_of(place)[8:12] == b"DUCK":
        raise ValueError("Expected a database of SQLite, got one of DuckDB. Send a table of it.")


def shown_name(name: str | None) -> str:
    """What an upload was called, for people to read."""
    last = PurePath((name or "").replace("\\", "/")).name
    return "".join(letter for letter in last if letter.isprintable())[:100] or "upload"


def columns_in(place: Path) -> FileFacts:
    """The columns of a file, and the one that is probably the target: the last of few values."""
    first: pa.Table | None = next(files.batches(place, 10_000), None)
    if first is None or first.num_rows == 0:
        raise ValueError("Expected rows in the file, got an empty table.")
    table = nw.from_native(files.typed(first), eager_only=True)
    columns = [(column, role_of(column)) for column in table.iter_columns()]
    few = [c for c in first.column_names if 2 <= _distinct(first.column(c)) <= 20]
    named = [c for c in few if c.casefold() in ("class", "target", "label", "species", "y")]
    return FileFacts(
        columns=first.column_names,
        guess=next(iter([*named, *reversed(few)]), None),
        continuous=[r.name for c, r in columns if is_continuous(c, r, len(c) - r.missing)],
    )


def _distinct(cells: Any) -> int:
    import pyarrow as pa

    try:
        return len(cells.drop_null().unique())
    except pa.ArrowNotImplementedError:  # lists and tables
        return 0


def answer_file(
    served: Served,
    place: Path,
    out: Path,
    *,
    priors: Mapping[str, float] | None,
    costs: Mapping[str, Mapping[str, float]] | None,
    thresholds: Mapping[str, float] | None = None,
    only: bool,
    raw: bool,
    most: int,
    told: Callable[[Served, Predicted], None],
) -> int:
    """Write the predictions of a file, some rows at a time, and say how many there are."""
    decision, seen = served.decision(costs, thresholds), 0

    def answered() -> Iterator[pa.Table]:
        nonlocal seen
        for written, read in tables.pieces(str(place), served.types()):
            seen += read.num_rows
            if seen > most:
                raise RequestError(f"Expected at most {most:,} rows in a file, got more.", 413)
            found = _predicted(served, read, priors, decision)
            told(served, found)
            answers = _answers(served, found)
            before = written if out.suffix == ".csv" else read
            yield outputs.as_table(answers) if only else outputs.beside(before, answers)

    try:
        return outputs.write(str(out), answered(), raw=raw)
    except OSError:  # its words name a path
        raise RequestError("Expected a file that can be read to its end.") from None


def _predicted(
    served: Served, table: pa.Table, priors: Mapping[str, float] | None, decision: Decision
) -> Predicted:
    p = served.posterior(served.read(table), priors)
    return Predicted(p, decision.codes(p), None, served.reading.noted(table))


def _answers(served: Served, found: Predicted) -> dict[str, Any]:
    answers: dict[str, Any] = {"predicted": np.array(served.classes)[found.codes]}
    return answers | {f"p_{label}": found.posterior[:, k] for k, label in enumerate(served.classes)}
