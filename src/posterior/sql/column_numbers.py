"""Columns that models of their own read first: a query that puts numbers in their place.

What such a column says depends on its text alone: values are looked up, and words and letters are
cut out of each different text once.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from posterior.estimators.pool.column_models import ColumnModel, ColumnModels
from posterior.estimators.pool.value_shares import ValueShares
from posterior.sql.cell_numbers import ByText, ByValue, CellNumbers
from posterior.sql.expressions import SQL, column, identifier, named, table_named
from posterior.sql.lookups import LOOKUPS
from posterior.sql.sql_columns import TABLE, Column


class ColumnNumbers:
    """Steps of a query before its cells are taken."""

    def __init__(self, columns: Sequence[Column], read_by: ColumnModels) -> None:
        self.columns, self.unused = columns, columns[0].sheet.unused
        models = {each.name: each for each in read_by.columns}
        self.made = {c.name: _made(models[c.name], c) for c in columns if c.name in models}
        every = self.made.values()
        joins = any(each.joins for each in every)
        self.numbered: Sequence[str] = [self.unused("row")] if joins else []
        self.dialects: Sequence[str] = [
            d for d in LOOKUPS if all(d in each.dialects for each in every)
        ]
        self.sums: Sequence[str] = [name for each in every for name in each.names]

    def given(self) -> list[Column]:
        """The columns as other models are given them."""
        found: list[Column] = []
        for source in self.columns:
            made = self.made.get(source.name)
            if made is None:
                found.append(source)
                continue
            pairs = zip(made.model.names, made.names, strict=True)
            found += [Column(name, alias, source.sheet) for name, alias in pairs]
        return found

    def from_(self, source: SQL, kept: Sequence[str], dialect: str) -> tuple[dict[str, SQL], SQL]:
        """The steps, and the rows with their numbers."""
        steps: dict[str, SQL] = {}

        def step(name: str, query: SQL) -> str:
            name = self.unused(name)
            steps[name] = query
            return name

        every, read = self.made.values(), list(dict.fromkeys(kept))
        made = [named(each.reading(), each.cell) for each in every]
        made += [named(exp.Window(this=exp.RowNumber()), row) for row in self.numbered]
        query = exp.select(*(column(name, TABLE) for name in read), *made).from_(source)
        readings = step("readings", query)
        codes = [named(code, name) for each in every for name, code in each.codes().items()]
        if codes:
            readings = step("codes", exp.select("*", *codes).from_(identifier(readings)))
        rows = exp.Select().from_(table_named([readings], TABLE))
        for each in every:
            own, rows = each.joined(rows, readings, dialect)
            steps |= own
        numbers = [
            named(value, name)
            for each in every
            for name, value in zip(each.names, each.numbers(), strict=True)
        ]
        kept_on = [column(name, TABLE) for name in (*read, *self.numbered)]
        last = step("numbers", rows.select(*kept_on, *numbers))
        return steps, exp.Select().from_(table_named([last], TABLE))


def _made(model: ColumnModel, source: Column) -> CellNumbers:
    if all(isinstance(each, ValueShares) for each in model.models):
        return ByValue(model, source)
    try:
        return ByText(model, source)
    except TypeError as error:
        raise TypeError(
            f"Expected columns that one query can read, but it cannot read {model.name!r}: {error} "
            "Or fit without the column: leave_out in Python, --leave-out on the command line."
        ) from None
