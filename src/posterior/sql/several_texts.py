"""Several models of text in one query: each cuts the words of all rows, one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from posterior.sql.expressions import SQL, column, table_named
from posterior.sql.sql_columns import TABLE, Sheet
from posterior.sql.sql_scores import Steps


def one_after_another(sheet: Sheet, steps: Sequence[Steps]) -> Steps | None:
    """Steps of all, if there are some."""
    return SeveralTexts(sheet, steps) if len(steps) > 1 else next(iter(steps), None)


class SeveralTexts:
    """Rows that carry on what the words of the models before add up to."""

    def __init__(self, sheet: Sheet, parts: Sequence[Steps]) -> None:
        self.sheet, self.parts = sheet, parts
        self.numbered = parts[0].numbered  # by which rows are in their order again
        self.dialects: Sequence[str] = [
            d for d in parts[0].dialects if all(d in each.dialects for each in parts)
        ]
        self.sums: Sequence[str] = [name for each in parts for name in each.sums]

    def from_(self, source: SQL, kept: Sequence[str], dialect: str) -> tuple[dict[str, SQL], SQL]:
        """The steps of each, and the rows with all sums."""
        steps: dict[str, SQL] = {}
        for each in self.parts[:-1]:
            own, rows = each.from_(source, kept, dialect)
            read = [column(name, TABLE) for name in dict.fromkeys([*kept, *each.numbered])]
            name = self.sheet.unused("texts")
            sums = [column(found) for found in each.sums]
            steps |= own | {name: rows.select(*read, *sums, copy=False)}
            source, kept = table_named([name], TABLE), [*kept, *each.numbered, *each.sums]
        last, rows = self.parts[-1].from_(source, kept, dialect)
        return steps | last, rows
