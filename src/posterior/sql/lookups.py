"""Numbers that are looked up by their place, in the way of each dialect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sqlglot import exp

from posterior.sql.expressions import LEAST, SQL, whole

NAME = "POSTERIOR_LOOKUP"  # until the dialect is known
DECIMALS = 13  # of numbers in a table: a thousand of them add up to within 1e-10


def looked_up(values: Any, place: SQL, *, exact: bool = False) -> SQL:
    """values[place], whole numbers or doubles; places count from zero, and NULL has no value."""
    values = np.asarray(values)
    integers = values.dtype.kind in "iu"
    digits = [repr(v) if integers or exact else _decimal(v) for v in values.tolist()]
    kind = exp.DataType.build("int" if integers else "double")
    arguments = [exp.Literal.string(",".join(digits)), place, kind]
    return exp.Anonymous(this=NAME, expressions=arguments)


def _decimal(value: float) -> str:
    if value <= LEAST:
        return repr(LEAST)
    text = f"{value:.{DECIMALS}f}".rstrip("0").removesuffix(".")
    return "0" if text == "-0" else text


def written_out(query: SQL, dialect: str) -> SQL:
    """The query, with lookups in the words of a dialect."""
    found = [node for node in query.find_all(exp.Anonymous) if node.this == NAME]
    for node in reversed(found):  # a place may have lookups of its own, which come behind it
        digits, place, kind = node.expressions
        node.replace(LOOKUPS[dialect](digits.this, place, kind))
    return query


def _list_of(kind: SQL) -> SQL:
    return exp.DataType(this=exp.DataType.Type.ARRAY, expressions=[kind], nested=True)


def _from_one(place: SQL) -> SQL:
    return exp.Add(this=place, expression=whole(1))


def _duckdb(digits: str, place: SQL, kind: SQL) -> SQL:
    values = exp.Cast(this=exp.Literal.string(f"[{digits}]"), to=_list_of(kind))
    return exp.Anonymous(this="LIST_EXTRACT", expressions=[values, _from_one(place)])


def _postgres(digits: str, place: SQL, kind: SQL) -> SQL:
    values = exp.Cast(this=exp.Literal.string(f"{{{digits}}}"), to=_list_of(kind))
    return exp.Bracket(this=exp.Paren(this=values), expressions=[_from_one(place)], offset=1)


def _spark(digits: str, place: SQL, kind: SQL) -> SQL:
    words = exp.Anonymous(
        this="SPLIT", expressions=[exp.Literal.string(digits), exp.Literal.string(",")]
    )
    values = exp.Cast(this=words, to=_list_of(kind))
    return exp.Anonymous(this="ELEMENT_AT", expressions=[values, _from_one(place)])


def _bigquery(digits: str, place: SQL, kind: SQL) -> SQL:
    words = exp.Anonymous(this="SPLIT", expressions=[exp.Literal.string(digits)])
    offset = exp.Anonymous(this="OFFSET", expressions=[place])
    return exp.Cast(this=exp.Bracket(this=words, expressions=[offset], offset=0), to=kind)


def _sqlite(digits: str, place: SQL, kind: SQL) -> SQL:
    """SQLite has no arrays: a piece of a text, whose pieces have one length.

    In a BLOB it is found without counting letters.
    """
    words = digits.split(",")
    size = max(map(len, words))
    text = exp.Literal.string("".join(word.ljust(size) for word in words))
    start = exp.Mul(this=exp.Paren(this=place), expression=whole(size))
    arguments = [exp.cast(text, "blob"), _from_one(start), whole(size)]
    return exp.Cast(this=exp.Anonymous(this="SUBSTR", expressions=arguments), to=kind)


LOOKUPS: dict[str, Callable[[str, SQL, SQL], SQL]] = {
    "bigquery": _bigquery,
    "duckdb": _duckdb,
    "postgres": _postgres,
    "spark": _spark,
    "sqlite": _sqlite,
}
