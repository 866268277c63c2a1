"""Sums that a family needs, in SQL, and the statistics that they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from sqlglot import exp

from posterior.data import frames
from posterior.data.typing import Array, Floats
from posterior.families.family import AnyFamily, Summed
from posterior.families.product import Parts, Product
from posterior.readers.numbered import MOST_CATEGORIES
from posterior.sql.connections import Kind
from posterior.sql.countable import Cells, NotInsideError
from posterior.sql.expressions import is_there, times
from posterior.sql.sql_sums import Answer, Ledger
from posterior.statistics.counts import Counts
from posterior.statistics.cross_products import CrossProducts, CrossSums
from posterior.statistics.exact import Exact
from posterior.statistics.incomplete_rows import IncompleteRows
from posterior.statistics.moments import Moments, Totals, sum_of_products

CLOSE = 1e-11  # relative error of a variance

Reader: TypeAlias = Callable[[Answer], Any]  # statistics from what the database said


def asked(family: AnyFamily, columns: Sequence[Cells], ledger: Ledger) -> Reader:
    """Writes down what to sum, and returns how to read it."""
    if isinstance(family, Product):
        readers = [
            asked(one, [columns[j] for j in js], ledger)
            for one, js in zip(family.families, family.columns, strict=True)
        ]
        return lambda answer: Parts(tuple(read(answer) for read in readers))
    summed = family.summed()
    if summed is None:
        raise NotInsideError(f"{type(family).__name__} is no sum that SQL can take.")
    if not family.reads_missing:
        ledger.conditions += [is_there(c.raw) for c in columns]  # refused with their row
    return ASKED[summed.kind](summed, columns, ledger)


def _moments(summed: Summed, columns: Sequence[Cells], ledger: Ledger) -> Reader:
    """Σ 1, Σ x and Σ x² of the cells that are there"""
    weight = [ledger.count(c) for c in columns]
    total, squares = zip(*(ledger.total_and_squares(c) for c in columns), strict=True)
    return lambda answer: Moments(*map(answer.exact, (weight, total, squares)))


def _totals(summed: Summed, columns: Sequence[Cells], ledger: Ledger) -> Reader:
    """Σ 1 and Σ x, or Σ [x > threshold]"""
    above = summed.above
    weight = [ledger.count(c) for c in columns]
    total = [ledger.total(c) if above is None else ledger.above(c, above) for c in columns]
    return lambda answer: Totals(answer.exact(weight), answer.exact(total))


def _counts(summed: Summed, columns: Sequence[Cells], ledger: Ledger) -> Reader:
    """How often each value stands in each column"""
    first = len(ledger.histograms)
    ledger.histograms += columns

    def read(answer: Answer) -> Counts:
        values, tables = [], []
        for cells, counted in zip(columns, answer.histograms[first:], strict=False):
            texts = frames.items([_value(v, cells.kind) for _, v, _ in counted], cells.name)
            values.append(frames.distinct(texts))
            _refuse_sentences(values[-1], sum(n for _, v, n in counted if v is not None))
            codes = frames.encode(texts, values[-1])
            table = np.zeros((len(answer.classes), len(values[-1])), np.int64)
            for code, (k, _, rows) in zip(codes.tolist(), counted, strict=True):
                if code >= 0:
                    table[k, code] += rows
            tables.append(table)
        return Counts(tuple(values), Exact.of(np.concatenate(tables, axis=1)))

    return read


def _refuse_sentences(values: Array, n_cells: int) -> None:
    """Strings that hardly repeat and have many words are no categories."""
    if len(values) > 0.3 * n_cells and frames.are_texts(values.tolist()):
        raise NotInsideError("There are columns of text.")


def _value(text: str | None, kind: Kind) -> Any:
    """A cell as Python has it."""
    if text is None or kind == "text":
        return text
    if kind == "truth":
        return text.lower() in ("t", "true")
    if kind in ("whole", "long"):
        return int(text)
    if kind == "real":
        return float(text)
    raise NotInsideError(f"Expected plain values, got {text!r}.")


def _cross_sums(summed: Summed, columns: Sequence[Cells], ledger: Ledger) -> Reader:
    """Σ (x - o) and Σ (x - o)(x - o)ᵀ, as the database rounds them; moving them to zero is exact"""
    ledger.conditions += [is_there(c.raw) for c in columns]  # such rows are kept as they are
    i, j = np.triu_indices(len(columns))
    total = [ledger.add("real", exp.Sum(this=c.centered)) for c in columns]
    pairs = [
        times(columns[a].centered, columns[b].centered)
        for a, b in zip(i.tolist(), j.tolist(), strict=True)
    ]
    products = [ledger.add("real", exp.Sum(this=pair)) for pair in pairs]

    def read(answer: Answer) -> CrossSums:
        w, s, q = answer.rows[:, None], answer.rounded(total), answer.rounded(products)
        _refuse_far(w, s, q[:, i == j])
        o = np.broadcast_to([c.origin for c in columns], s.shape)
        o_i, o_j, weight = o[:, i], o[:, j], w.astype(np.float64)
        complete = CrossProducts(
            Exact.of(w),
            sum_of_products((s, 1.0), (o, weight)),
            sum_of_products((q, 1.0), (o_i, s[:, j]), (o_j, s[:, i]), (o_i * o_j, weight)),
        )
        none = IncompleteRows(np.empty((0, len(columns))), np.empty((0, len(w))))
        return CrossSums(complete, none)

    return read


ASKED: dict[type, Callable[[Summed, Sequence[Cells], Ledger], Reader]] = {
    Counts: _counts,
    CrossSums: _cross_sums,
    Moments: _moments,
    Totals: _totals,
}


def _refuse_far(w: Array, s: Floats, q: Floats) -> None:
    """Classes so far from the common origin that rounding would show in their variances."""
    scatter = q - s**2 / w
    error = 2.0**-53 * np.sqrt(w) * q
    if (error > CLOSE * scatter).any():
        raise NotInsideError("Classes are too far apart for sums that round.")


def numbered(counts: Counts, least: Callable[[Array], Array]) -> Counts:
    """Categories that are the numbers 0, 1, 2, ..., up to the largest one."""
    try:
        found = [np.array([int(v) for v in values.tolist()], np.int64) for values in counts.values]
    except ValueError:  # reading the rows will say where
        raise NotInsideError("Categories are no whole numbers.") from None
    if any(((f < 0) | (f >= MOST_CATEGORIES)).any() for f in found):
        raise NotInsideError("Categories are no small whole numbers.")
    sizes = least(np.array([f.max(initial=-1) + 1 for f in found], np.int64))
    tables = []
    for size, numbers, table in zip(
        sizes, found, counts.columns(counts.table.limbs[..., 0]), strict=True
    ):
        wide = np.zeros((len(table), int(size)), np.int64)
        wide[:, numbers] = table
        tables.append(wide)
    return Counts(tuple(np.arange(n) for n in sizes), Exact.of(np.concatenate(tables, axis=1)))
