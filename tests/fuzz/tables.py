"""Files of tables that programs and people spoil: each is read, or refused in one sentence.

A table is written as CSV of any delimiter, encoding and line ends, as JSON, Parquet, Arrow, a
workbook or a database, plain or packed. Some stay as they are, and must come back cell by cell;
others are cut, joined, given quotes that never end, zero bytes, ragged lines, giant cells, or claim
to unpack to far more than they hold. What is read is learned from and asked about.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import sqlite3
import tempfile
import traceback
import warnings
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
from files import pick
from pyarrow import parquet

from posterior.app import models
from posterior.estimators.pool.candidates import candidates
from posterior.preprocessing.infer_roles import infer
from posterior.sources import files as reader

NAMES = ["size", "Größe", "a b", "it's", 'say "hi"', "a;b", "a,b", "x\ty", "1", "=1+1", "x" * 300]
NAMES += ["select", "", " ", "a", "A", "a ", "\u202eabc", "\U0001f41f", "nul\0l", "-- x", "NaN"]
CELLS = ["", " ", "NA", "null", "-", "1", "-1.5", "1e308", "1e309", "1e-320", "inf", "nan", "0x1F"]
CELLS += ["1,5", "1.234,56", "$1,000.00", "12 %", "2024-02-30", "31.12.2023", "12/31/23", "true"]
CELLS += ["Rhine", "Köln", "it's", 'say "hi"', "two\nlines", "a,b;c|d\te", "=SUM(A1)", "\ufeff"]
CELLS += ["\u2028", "\x85", "\x1a", "\x0b", "\U0001f41f", "9" * 400, "\u0661\u0662", "x" * 5000]
CELLS += ["1e5", "00:00:60", "9999999999-01-01", "-0", "+5", "007", "1_000", "NaT", "0" * 20]
TAME_NAMES = ["size", "river", "caught", "Größe", "it's", "a,b", "note"]
TAME_CELLS = ["Rhine", "Elbe", "Köln", "two\nlines", 'say "hi"', "a,b;c|d", "it's", "so\tso"]
ENCODINGS = ["utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1", "utf-16-le"]
ENDS = ["\n", "\r\n", "\r\n", "\r", "\n\r", "\n\n"]
BYTES = [b"\0", b'"', b'""', b"'", b",", b";", b"\n", b"\r", b"\xff\xfe", b"\xef\xbb\xbf", b"\x1a"]
BYTES += [b"\x80", b"\xed\xa0\x80", b"\\", b"\x1f\x8b", b"PK\3\4", b"PAR1", b"\xf0\x9f", b"#", b"|"]
KINDS = ["csv"] * 8 + ["tsv", "txt", "json", "jsonl", "parquet", "arrow", "xlsx", "sqlite"]
GIANT = 3_000_000  # letters

Table = tuple[list[str], list[list[str]]]  # names, and rows of cells


def tame(random: np.random.Generator) -> Table:
    """A table that comes back as it is: names of letters, words, and numbers of two digits."""
    d, n = int(random.integers(2, 6)), int(random.integers(3, 40))
    names = [str(name) for name in random.permutation(TAME_NAMES)[:d]]
    numeric = [random.random() < 0.4 for _ in range(d)]
    rows = [
        [str(random.integers(10, 99)) if numeric[j] else pick(random, TAME_CELLS) for j in range(d)]
        for _ in range(n)
    ]
    return names, rows


def wild(random: np.random.Generator) -> Table:
    """Names and cells of any kind; some columns are mostly of one."""
    d, n = int(random.integers(1, 8)), int(random.integers(0, 60))
    names = [pick(random, NAMES) for _ in range(d)]
    usual = [pick(random, CELLS) for _ in range(d)]
    rows = [
        [
            f"{random.normal():.3f}"
            if way < 0.3
            else usual[j]
            if way < 0.6
            else pick(random, CELLS)
            for j, way in enumerate(random.random(d))
        ]
        for _ in range(n)
    ]
    if rows and random.random() < 0.05:
        rows[0][0] = pick(random, ["x", '"', "\n", "9", "\u00e9"]) * GIANT
    for row in rows if random.random() < 0.15 else []:  # ragged
        if random.random() < 0.1:
            row[:] = row[:-1] if random.random() < 0.5 else [*row, "more"]
    return names, rows


def as_csv(table: Table, random: np.random.Generator, delimiter: str, calm: bool) -> bytes:
    names, rows = table
    how = pick(random, [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    end = pick(random, ENDS[:2] if calm else ENDS)
    out = io.StringIO(newline="")
    lines = csv.writer(out, delimiter=delimiter, quoting=how, lineterminator=end)
    lines.writerows([names, *rows])
    return out.getvalue().encode(pick(random, ENCODINGS[: 5 if calm else None]), "replace")


def as_json(table: Table, random: np.random.Generator) -> bytes:
    lines = [json.dumps(dict(zip(table[0], row, strict=False))) for row in table[1]]
    whole = random.random() < 0.5
    return f"[{','.join(lines)}]".encode() if whole else "\n".join(lines).encode()


def as_arrow(table: Table) -> pa.Table:
    names, rows = table
    padded = [[*row, *([None] * len(names))][: len(names)] for row in rows]
    columns = [[row[j] for row in padded] for j in range(len(names))]
    return pa.table([pa.array(c, pa.string()) for c in columns], names)


def as_parquet(table: Table, random: np.random.Generator) -> bytes:
    out = io.BytesIO()
    parquet.write_table(as_arrow(table), out)
    return out.getvalue()


def as_ipc(table: Table, random: np.random.Generator) -> bytes:
    out, made = io.BytesIO(), as_arrow(table)
    with pa.ipc.new_file(out, made.schema) as file:
        file.write_table(made)
    return out.getvalue()


def in_a_sheet(cell: str) -> str:
    """What a workbook holds of a text."""
    return "".join(letter for letter in cell if letter >= " ")[:32_000]


def as_workbook(table: Table, random: np.random.Generator) -> bytes:
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in [table[0], *table[1]]:
        sheet.append([in_a_sheet(cell) for cell in row])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def as_database(table: Table, random: np.random.Generator) -> bytes:
    names, rows = table
    with sqlite3.connect(":memory:") as made:
        kept = list(dict.fromkeys(n.replace("\0", "").lower() or "c" for n in names))
        columns = ", ".join('"' + name.replace('"', '""') + '"' for name in kept)
        name = pick(random, ["t", "a b", "it's"])
        made.execute(f'CREATE TABLE "{name}" ({columns})')
        marks = ", ".join("?" * len(kept))
        padded = [[*row, *([None] * len(kept))][: len(kept)] for row in rows]
        made.executemany(f'INSERT INTO "{name}" VALUES ({marks})', padded)
        made.commit()
        return made.serialize()


WRITERS: dict[str, Callable[[Table, np.random.Generator], bytes]] = {
    "json": as_json,
    "jsonl": as_json,
    "parquet": as_parquet,
    "arrow": as_ipc,
    "xlsx": as_workbook,
    "sqlite": as_database,
}


def spoiled(content: bytes, random: np.random.Generator) -> bytes:
    """Bytes changed, put in, taken out, doubled or cut off, in one to four places."""
    found = bytearray(content)
    for _ in range(int(random.integers(1, 5))):
        at, way = int(random.integers(len(found) + 1)), random.integers(6)
        if way == 0:
            found[at:at] = pick(random, BYTES)
        elif way == 1:
            found[at : at + 1] = bytes([int(random.integers(256))])
        elif way == 2:
            del found[at : at + int(random.integers(1, 40))]
        elif way == 3:
            found[at:at] = found[at : at + int(random.integers(1, 400))]
        elif way == 4 and random.random() < 0.3:
            found = found[:at]
        else:
            found[at:at] = pick(random, BYTES) * int(random.integers(1, 30))
    return bytes(found)


@cache
def bomb(kind: str) -> bytes:
    """Far more zeros or commas than a table has, in few bytes."""
    content = (b"," if kind == "csv" else b"\0") * (400 << 20)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("a.csv",) if kind == "csv" else ("xl/workbook.xml", "xl/a.xml", "xl/b.xml"):
            archive.writestr(name, content)
    return out.getvalue()


def packed(content: bytes, name: str, random: np.random.Generator) -> tuple[str, bytes]:
    """Plain mostly, or in an archive."""
    way = random.random()
    if way < 0.8:
        return name, content
    if way < 0.87:
        return f"{name}.gz", gzip.compress(content, 1)
    if way < 0.9:
        return f"{name}.bz2", bz2.compress(content)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        inside = pick(
            random, [name, name, name, f"../{name}", f"/{name}", f"a/{name}", f"{name}\0"]
        )
        archive.writestr(inside, content)
        if random.random() < 0.2:
            archive.writestr(pick(random, ["read me.md", "b.csv", "__MACOSX/x"]), b"a,b\n1,2\n")
    found = bytearray(out.getvalue())
    if random.random() < 0.2:  # a size that is not true
        central = found.find(b"PK\1\2")
        found[central + 24 : central + 28] = bytes(random.integers(0, 256, 4, np.uint8))
    return f"{name.partition('.')[0]}.zip", bytes(found)


def learned_from(table: Any, random: np.random.Generator) -> str:
    """What comes of a fit to a column of a table, as `posterior fit` does it."""
    target = pick(random, table.column_names)
    roles = infer(table, target)
    kinds = candidates(roles.without_suspects(), table.num_rows, 2)
    if not kinds:
        return "nothing to learn from"
    known = kinds[0].classifier
    rows = models.labeled(known, table, target)
    if len(set(rows.y)) < 2:
        return "of one class"
    shares = known.fit(*rows).predict_proba(rows.X)
    assert np.isfinite(shares).all(), f"NaN for an answer of {known}"
    assert abs(shares.sum(axis=1) - 1).max() < 1e-6, f"no probabilities of {known}"
    return "fitted"


def in_one_sentence(error: Exception) -> bool:
    """Whether an error is one that a person can act on."""
    if type(error).__module__.startswith("posterior"):
        return True
    ours = isinstance(error, ValueError | TypeError) and not isinstance(error, UnicodeError)
    return ours and "Expected" in str(error)


def case(seed: int) -> str:
    """One file: what came of it."""
    random = np.random.default_rng([5, seed])
    calm = random.random() < 0.25
    table = tame(random) if calm else wild(random)
    kind = pick(random, KINDS)
    if kind in WRITERS:
        content = WRITERS[kind](table, random)
    else:
        content = as_csv(table, random, "\t" if kind == "tsv" else pick(random, [*",;\t|"]), calm)
    if not calm and random.random() < 0.5:
        content = spoiled(content, random)
    name, content = packed(content, f"table.{kind}", random)
    if not calm and random.random() < 0.002:
        kind = pick(random, ["csv", "xlsx"])
        name, content = ("bomb.zip" if kind == "csv" else "bomb.xlsx"), bomb(kind)
    if not calm and random.random() < 0.1:
        content = spoiled(content, random)
    if not calm and random.random() < 0.03:  # an ending that misleads
        name = f"table.{pick(random, KINDS)}"
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        place = Path(folder) / name
        place.write_bytes(content)
        try:
            return asked(place, table if calm and not name.endswith(".zip") else None, random)
        except AssertionError as error:
            raise AssertionError(f"{name} {content!r:.500}: {error}") from None
        except MemoryError:
            raise
        except Exception as error:
            if in_one_sentence(error):
                assert not calm or name.endswith(".zip"), f"{name} {content!r:.900}: {error}"
                return "refused"
            found = traceback.format_exc()[-1800:]
            raise AssertionError(f"{name} {content!r:.500}\n{found}") from None


def asked(place: Path, table: Table | None, random: np.random.Generator) -> str:
    """Read a file whole and in pieces, and learn from it."""
    whole = reader.read(place).frame
    n_rows = sum(piece.num_rows for piece in reader.batches(place, 7))
    assert whole.num_rows == n_rows, f"{whole.num_rows} rows at once, {n_rows} in pieces"
    if table is not None:
        names, rows = table
        if place.suffix == ".sqlite":
            names = [name.lower() for name in names]
        assert whole.column_names == names, f"{whole.column_names} instead of {names}"
        assert whole.num_rows == len(rows), f"{whole.num_rows} rows instead of {len(rows)}"
        for j, column in enumerate(whole.columns):
            held = in_a_sheet if ".xlsx" in place.name else str
            cells = [str(cell) for cell in column.to_pylist()]
            assert cells == [held(row[j]) for row in rows], f"column {names[j]!r}: {cells}"
    try:
        return learned_from(whole, random)
    except Exception as error:
        if table is not None and in_one_sentence(error):
            return "not learned from"
        raise
