"""CSV files that are written so plainly that all readers agree on their cells.

Arrow reads a file in half the time that DuckDB takes, and forgives what DuckDB reports. So it reads
those with nothing to forgive: each quote begins or ends a cell, and each line is a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from posterior.data.typing import Array
from posterior.sources.csv_files import MISSING

if TYPE_CHECKING:
    import pyarrow as pa

    from posterior.sources.csv_layout import Layout

BLOCK = 1 << 16  # letters that stay near the processor
PIECE = 1 << 22  # letters that a thread takes at a time
MARK = b"\xef\xbb\xbf"  # of UTF-8, before the first letter
QUOTE, FEED, RETURN = b'"\n\r'


def read(place: Path, layout: Layout) -> pa.Table | None:
    """All cells as text, or None if the file is not plain."""
    import pyarrow as pa
    from pyarrow import csv

    if place.suffix.lower() == ".gz" or layout.encoding != "utf-8" or not layout.one_line_end:
        return None
    signs = Signs.of(place, layout.delimiter)
    if not signs.plain:
        return None
    names = list(layout.names)
    try:
        table = csv.read_csv(
            place,
            csv.ReadOptions(
                column_names=names, skip_rows_after_names=layout.skipped, block_size=PIECE
            ),
            csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=signs.quotes > 0),
            csv.ConvertOptions(
                check_utf8=False,  # the layout did
                column_types=dict.fromkeys(names, pa.string()),
                null_values=MISSING,
                strings_can_be_null=True,
            ),
        )
    except pa.ArrowException:  # DuckDB says in which line
        return None
    inside = signs.quotes > 0 and any(map(_has_quotes, table.columns))
    return None if inside or table.num_rows + layout.skipped != signs.lines else table


@dataclass(frozen=True, slots=True)
class Signs:
    """How often quotes and ends of lines stand in some letters."""

    quotes: int = 0
    opening: int = 0  # quotes behind a delimiter or the end of a line
    outer: int = 0  # quotes behind or before one
    lines: int = 0
    strange: int = 0  # zeros, and carriage returns without a line feed

    def __add__(self, other: Signs, /) -> Signs:
        return Signs(
            self.quotes + other.quotes,
            self.opening + other.opening,
            self.outer + other.outer,
            self.lines + other.lines,
            self.strange + other.strange,
        )

    @property
    def plain(self) -> bool:
        """Whether each quote begins or ends a cell, if none is within a cell.

        Half of them begin one. If no others stand behind a delimiter, those that end a cell all
        stand before one.
        """
        return not self.strange and self.outer == self.quotes == 2 * self.opening

    @classmethod
    def of(cls, place: Path, delimiter: str) -> Signs:
        """Those of a file, a piece a thread."""
        size = place.stat().st_size
        pieces = (range(i, min(i + PIECE, size), BLOCK) for i in range(0, size, PIECE))
        with ThreadPoolExecutor() as threads:  # NumPy lets others work
            return sum(threads.map(partial(_signs, place, ord(delimiter)), pieces), cls())


def _signs(place: Path, delimiter: int, starts: range) -> Signs:
    """Those of some blocks."""
    with place.open("rb", buffering=0) as file:
        return sum((_signs_of_block(file, delimiter, start) for start in starts), Signs())


def _signs_of_block(file: FileIO, delimiter: int, start: int) -> Signs:
    """Those of one block, with a look at the letters around it; a file's ends are ends of lines."""
    behind = start > 0
    file.seek(start - behind)
    text = file.read(behind + BLOCK + 1)
    last = len(text) <= behind + BLOCK
    text = text if behind else b"\n" + text.removeprefix(MARK)
    letters = np.frombuffer(text + b"\n" if last else text, np.uint8)
    ends = (delimiter, FEED, RETURN) if b"\r" in text else (delimiter, FEED)
    unended, zeros = last and not text.endswith(b"\n"), b"\0" in text
    return _counted(letters, ends) + Signs(lines=int(unended), strange=int(zeros))


def _counted(letters: Array, ends: Sequence[int]) -> Signs:
    """Those of all letters but the first and the last."""
    quote, (end, feed, *returns) = letters == QUOTE, [letters == sign for sign in ends]
    end |= feed
    strange = 0
    for each in returns:
        end |= each
        strange += int(np.count_nonzero(each[1:-1] & ~feed[2:]))
    quote, behind, before = quote[1:-1], end[:-2], end[2:]
    return Signs(
        int(np.count_nonzero(quote)),
        int(np.count_nonzero(quote & behind)),
        int(np.count_nonzero(quote & (behind | before))),
        int(np.count_nonzero(feed[1:-1])),
        strange,
    )


def _has_quotes(column: Any) -> bool:
    """Whether some cell has a quote in it."""
    texts = (chunk.buffers()[2] for chunk in column.chunks)
    return any((np.frombuffer(text, np.uint8) == QUOTE).any() for text in texts if text)
