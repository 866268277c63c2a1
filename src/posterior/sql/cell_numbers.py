"""Numbers that a model of one column makes of its cells: by their values, or by their text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from sqlglot import exp

from posterior.data.typing import Array
from posterior.estimators.pool.column_models import MISSING, ColumnModel
from posterior.estimators.pool.value_shares import ValueShares
from posterior.sql.cell_codes import NO_NUMBER, value_code
from posterior.sql.expressions import (
    SQL,
    among,
    cases,
    column,
    equals,
    first_known,
    identifier,
    is_missing,
    named,
    table_named,
    whole,
    word,
)
from posterior.sql.lookups import LOOKUPS, looked_up
from posterior.sql.pooled import Member, pooled
from posterior.sql.sql_columns import TABLE, WHOLE, Column, Sheet
from posterior.sql.sql_scores import Scores, Term, scores


class CellNumbers(ABC):
    """The numbers of a column's cells."""

    dialects: Sequence[str] = tuple(LOOKUPS)
    joins = False  # which mixes the rows

    def __init__(self, model: ColumnModel, source: Column) -> None:
        self.model, self.source, self.unused = model, source, source.sheet.unused
        self.cell = self.unused(f"text_{model.name}")  # the column of its text
        self.names = [self.unused(f"number_{name}") for name in model.names]

    @property
    def values(self) -> list[str]:
        """That were seen, where the model has counted them."""
        counted = [each for each in self.model.models if isinstance(each, ValueShares)]
        return [value for each in counted for value in each.values.tolist()]

    def reading(self) -> SQL:
        """The cell as text; a missing one is a value like others.

        Where all values are whole numbers, 1.0 is 1, and NaN is missing.
        """
        words, known = self.source.as_words(), [v for v in self.values if v != MISSING]
        if not known or not all(map(WHOLE.fullmatch, known)):
            return first_known([words, word(MISSING)])
        size = exp.Anonymous(this="LENGTH", expressions=[words.copy()])
        shorter = exp.Sub(this=size, expression=whole(2))
        cut = exp.Anonymous(this="SUBSTR", expressions=[words.copy(), whole(1), shorter])
        missing = [is_missing(words.copy()), among(words.copy(), NO_NUMBER)]
        point = exp.Like(this=words.copy(), expression=word("%.0")), cut
        return cases([*((gap, word(MISSING)) for gap in missing), point], words)

    def codes(self) -> dict[str, SQL]:
        """Columns, made of the text, that numbers are looked up by."""
        return {}

    def joined(self, rows: SQL, readings: str, dialect: str) -> tuple[dict[str, SQL], SQL]:
        """Steps, and the rows of the readings with all that the numbers are made of."""
        return {}, rows

    @abstractmethod
    def numbers(self) -> list[SQL]:
        """Made of such rows."""


class ByValue(CellNumbers):
    """Numbers that are looked up by the place of a value among those that say the same."""

    def __init__(self, model: ColumnModel, source: Column) -> None:
        super().__init__(model, source)
        self.code, values = self.unused(f"code_{model.name}"), self.values
        self.place, self.table = value_code(column(self.cell), values, model([*values, None]))

    def codes(self) -> dict[str, SQL]:
        return {self.code: self.place}

    def numbers(self) -> list[SQL]:
        code = column(self.code, TABLE)
        return [looked_up(line, code.copy(), exact=True) for line in self.table.T]


class ByText(CellNumbers):
    """Numbers that a pool of models makes of each different text, by which rows find them."""

    joins = True

    def __init__(self, model: ColumnModel, source: Column) -> None:
        super().__init__(model, source)
        self.sheet, self.found = Sheet(source.sheet.taken), self.unused(f"numbers_{model.name}")
        own = Column(model.name, self.cell, self.sheet)
        members = [
            Member(str(m), weight, _scores(each, model.classes, own))
            for m, (each, weight) in enumerate(
                zip(model.models, model.pool.weights.tolist(), strict=True)
            )
        ]
        intercept = model.pool.intercept - model.log_prior
        self.pool = pooled(self.sheet, members, intercept, model.classes, [])
        assert self.pool.before is not None  # some member reads words or letters
        self.before, self.dialects = self.pool.before, self.pool.before.dialects

    def joined(self, rows: SQL, readings: str, dialect: str) -> tuple[dict[str, SQL], SQL]:
        on = equals(column(self.cell, TABLE), column(self.cell, self.found))
        return self._steps(readings, dialect), rows.join(identifier(self.found), on=on)

    def _steps(self, readings: str, dialect: str) -> dict[str, SQL]:
        """Different texts, their words, what models say of them, and the pool of that."""
        texts, last = self.unused("texts"), self.unused("cells")
        different = exp.select(column(self.cell)).from_(identifier(readings)).distinct()
        own, rows = self.before.from_(table_named([texts], TABLE), [self.cell], dialect)
        cells = [named(value, alias) for alias, value in self.sheet.cells.items()]
        steps = {texts: different, **own, last: rows.select(column(self.cell, TABLE), *cells)}
        totals = self.pool.total([list(term.scores) for term in self.pool.terms])
        scored = {self.unused(f"score_{k}"): value for k, value in enumerate(totals)}
        for name, more in (*self.pool.steps.items(), ("scores", scored)):
            made = [named(value, alias) for alias, value in more.items()]
            query = exp.select("*", *made).from_(identifier(last))
            last = self.unused(name)
            steps[last] = query
        first, *others = map(column, scored)
        numbers = [
            named(exp.Sub(this=score, expression=first.copy()), name)
            for score, name in zip(others, self.names, strict=True)
        ]
        found = exp.select(column(self.cell), *numbers).from_(identifier(last))
        return steps | {self.found: found}

    def numbers(self) -> list[SQL]:
        return [column(name, self.found) for name in self.names]


def _scores(model: object, classes: Array, source: Column) -> Scores:
    """s_k = log p(k | v) of a value that is looked up; those of words and letters are known."""
    if not isinstance(model, ValueShares):
        return scores(model, [source])
    values = model.values.tolist()
    code, table = value_code(source.as_words(), values, model.log_proba([*values, None]))
    place = source.sheet.cell(f"{source.name}_code", code)
    found = [looked_up(line, place.copy(), exact=True) for line in table.T]
    return Scores(classes, np.zeros(len(classes)), [Term(source.name, found)])
