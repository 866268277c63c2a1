"""Pieces of a query. sqlglot quotes names and words; numbers read back to the bit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from sqlglot import exp

from posterior.data.names import plain

SQL: TypeAlias = Any  # a node of sqlglot, whose classes have other names from version to version

LEAST = -1e304  # stands for -∞: no database stumbles over a sum of it
LARGEST = "1.7976931348623157e308"  # of the doubles
DOUBLE = exp.DataType.build("double")
DEEPEST = 50  # terms in a row; databases limit how deep an expression nests
FAR = -700.0  # logs so far behind have a share of zero


def number(value: float) -> SQL:
    """A double. Without the exponent, DuckDB and Spark would read a decimal."""
    value = float(value)
    if value != value:
        raise ValueError("Expected numbers in a model to write as SQL, got NaN. Fit it again.")
    value = min(max(value, LEAST), -LEAST)
    digits = repr(abs(value)).removesuffix(".0")
    literal = exp.Literal(this=digits if "e" in digits else f"{digits}e0", is_string=False)
    return exp.Neg(this=literal) if value < 0 else literal


def whole(value: int) -> SQL:
    """A whole number."""
    return exp.Literal(this=str(int(value)), is_string=False)


def has_infinity(value: SQL) -> bool:
    """Whether some number stands for -∞, in a table of numbers too."""
    return any(repr(-LEAST) in each.this for each in value.find_all(exp.Literal))


def is_number(value: SQL) -> SQL:
    """Not NaN, which is more than all numbers to some databases, and compares with none to others:
    so is -NaN."""
    below, above = (
        exp.LTE(this=v, expression=_largest()) for v in (value, exp.Neg(this=value.copy()))
    )
    return exp.Or(this=below, expression=above)


def is_finite(value: SQL) -> SQL:
    """Neither NaN nor infinite."""
    return exp.LTE(this=exp.Abs(this=value), expression=_largest())


def _largest() -> SQL:
    return exp.Literal(this=LARGEST, is_string=False)


def word(text: str) -> SQL:
    return exp.Literal.string(text)


def label(value: Any) -> SQL:
    """A class, in the type it has."""
    value = plain(value)
    if isinstance(value, bool):
        return exp.true() if value else exp.false()
    if isinstance(value, int):
        digits = exp.Literal(this=str(abs(value)), is_string=False)
        return exp.Neg(this=digits) if value < 0 else digits
    return number(value) if isinstance(value, float) else word(str(value))


def column(name: str, table: str | None = None) -> SQL:
    return exp.column(name, table=table, quoted=True)


def identifier(name: str) -> SQL:
    return exp.to_identifier(name, quoted=True)


def named(value: SQL, name: str) -> SQL:
    return exp.Alias(this=value, alias=identifier(name))


def table_named(parts: Sequence[str], alias: str) -> SQL:
    name, schema, catalog = [*map(identifier, reversed(parts)), None, None][:3]
    known = exp.TableAlias(this=identifier(alias))
    return exp.Table(this=name, db=schema, catalog=catalog, alias=known)


def double(value: SQL) -> SQL:
    return exp.Cast(this=value, to=DOUBLE.copy())


def as_double(value: SQL) -> SQL:
    """A sum of numbers alone would be a decimal to PostgreSQL."""
    return value if value.find(exp.Column) else double(value)


def text(value: SQL) -> SQL:
    return exp.cast(value, "text", copy=False)


def plus(left: SQL, right: SQL) -> SQL:
    """left + right, or left - right where the right side begins with a minus"""
    opposite = _opposite(right)
    if opposite is None:
        return exp.Add(this=left, expression=right)
    return exp.Sub(this=left, expression=opposite)


def _opposite(value: SQL) -> SQL | None:
    """What follows the minus of a number or product that begins with one."""
    if isinstance(value, exp.Neg):
        return value.this
    if not isinstance(value, exp.Mul):
        return None
    first = _opposite(value.this)
    return None if first is None else exp.Mul(this=first, expression=value.expression.copy())


def negative(value: SQL) -> SQL:
    return exp.Neg(this=exp.Paren(this=value) if isinstance(value, exp.Add | exp.Sub) else value)


def less(value: SQL, amount: float) -> SQL:
    """value - amount"""
    return value if amount == 0 else plus(value, number(-amount))


def times(*factors: SQL) -> SQL:
    sums = (exp.Add, exp.Sub, exp.Neg)
    held = [exp.Paren(this=f) if i and isinstance(f, sums) else f for i, f in enumerate(factors)]
    if isinstance(held[0], exp.Add | exp.Sub):
        held[0] = exp.Paren(this=held[0])
    product = held[0]
    for factor in held[1:]:
        product = exp.Mul(this=product, expression=factor)
    return product


def over(value: SQL, amount: float) -> SQL:
    """value / amount"""
    held = exp.Paren(this=value) if isinstance(value, exp.Add | exp.Sub) else value
    return exp.Div(this=held, expression=number(amount), typed=True)


def total(terms: Sequence[SQL]) -> SQL:
    """Their sum, in heaps where there are many."""
    if not terms:
        return number(0.0)
    if len(terms) > DEEPEST:
        heaps = np.array_split(np.arange(len(terms)), -(-len(terms) // DEEPEST))
        return total([exp.Paren(this=total([terms[i] for i in heap])) for heap in heaps])
    whole = terms[0]
    for term in terms[1:]:
        whole = plus(whole, term)
    return whole


def greatest(values: Sequence[SQL]) -> SQL:
    """The largest of them."""
    return _called(lambda first, others: exp.Greatest(this=first, expressions=others), values)


def first_known(values: Sequence[SQL]) -> SQL:
    """The first that is not NULL."""
    return _called(lambda first, others: exp.Coalesce(this=first, expressions=others), values)


def _called(function: Callable[[SQL, list[SQL]], SQL], values: Sequence[SQL]) -> SQL:
    """A function of any number of arguments, in heaps where these are many."""
    if len(values) > DEEPEST:
        heaps = (values[i : i + DEEPEST] for i in range(0, len(values), DEEPEST))
        values = [_called(function, heap) for heap in heaps]
        return _called(function, values)
    first, *others = values
    return function(first, others) if others else first


def share(behind: SQL, scale: float = 1.0) -> SQL:
    """exp(scale · behind), which is zero if it is far below: PostgreSQL's exp refuses that."""
    scaled = behind.copy() if scale == 1 else times(number(scale), behind.copy())
    far = exp.LT(this=behind, expression=number(FAR / scale))
    return cases([(far, number(0.0))], exp.Exp(this=scaled))


def or_else(value: SQL, otherwise: float) -> SQL:
    """The value, or a number where it is NULL."""
    return exp.Coalesce(this=value, expressions=[number(otherwise)])


def cases(pairs: Iterable[tuple[SQL, SQL]], otherwise: SQL | None = None) -> SQL:
    chosen = exp.Case()
    for condition, value in pairs:
        chosen = chosen.when(condition, value, copy=False)
    return chosen if otherwise is None else chosen.else_(otherwise, copy=False)


def is_missing(value: SQL) -> SQL:
    return exp.Is(this=value, expression=exp.null())


def is_there(value: SQL) -> SQL:
    return exp.Not(this=is_missing(value))


def between(value: SQL, low: float, high: float) -> SQL:
    """Whether low ≤ value ≤ high."""
    return exp.Between(this=value, low=number(low), high=number(high))


def exceeds(value: SQL, threshold: float) -> SQL:
    return exp.GT(this=value, expression=number(threshold))


def equals(value: SQL, other: SQL) -> SQL:
    return exp.EQ(this=value, expression=other)


def log(value: SQL) -> SQL:
    return exp.Ln(this=value)


def among(value: SQL, spellings: Sequence[str]) -> SQL:
    """Whether a cell of text is one of some words."""
    if len(spellings) == 1:
        return equals(value, word(spellings[0]))
    return exp.In(this=value, expressions=[word(s) for s in spellings])
