"""What documents add up to: for each class and term, how many have it, and how much of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior import kernels
from posterior.data.rows import Hard, SparseRows
from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.kernels.terms import Bag, Cells, Terms
from posterior.statistics.exact import Exact
from posterior.statistics.moments import group_weight
from posterior.text.damping import Damping
from posterior.text.term_rows import TermRows

DENSE = 1 << 23  # cells of the table in which sums are taken


@dataclass(frozen=True, slots=True, eq=False)
class TermSums:
    """Sums over the documents of k classes, of the terms that each class has.

    n_k = Σᵢ wᵢ      n_kj = Σᵢ wᵢ [x_ij > 0]      s_kj = Σᵢ wᵢ x_ij, in the rows' unit

    Most terms occur in few classes: a cell without a document is not kept.
    """

    terms: Terms  # sorted, d of them
    rows: Exact  # (k,) documents that are not missing
    start: Integers  # (k + 1,) the cells of class k are start[k] .. start[k + 1]
    column: Integers  # (cells,) ascending in each class
    documents: Exact  # (cells,)
    total: Exact  # (cells,)

    @classmethod
    def of(cls, X: TermRows, groups: Hard, cells: SparseRows) -> TermSums:
        """Sums of cells x of rows, such as their counts."""
        k, weight = groups.n_groups, groups.weight
        codes = groups.codes if X.absent is None else np.where(X.absent, -1, groups.codes)
        rows = group_weight(Hard(codes.astype(np.int32), k, weight))
        column, parts, sizes = [], [], np.zeros(k, np.int64)
        step = max(1, DENSE // max(len(X.terms), 1))
        for first in range(0, k, step):
            some = min(step, k - first)
            place = codes - first
            place = np.where((place >= 0) & (place < some), place, -1).astype(np.int32)
            documents = Exact(*kernels.sparse_sums(cells, place, weight, some, 0.0))
            total = Exact(*kernels.sparse_sums(cells, place, weight, some, signed=False))
            group, where = np.nonzero(documents.limbs.any(axis=-1))
            sizes[first : first + some] = np.bincount(group, minlength=some)
            column.append(where)
            parts.append((documents[group, where], total[group, where]))
        documents, total = (_joined([part[i] for part in parts]) for i in range(2))
        return cls(X.terms, rows, _starts(sizes), np.concatenate(column), documents, total)

    @classmethod
    def of_bag(
        cls, bag: Bag, terms: Terms, place: Codes, groups: Hard, damping: Damping
    ) -> TermSums:
        """The same of documents of weight one, as they were counted: no row is written down."""
        k, codes = groups.n_groups, groups.codes
        cells = bag.group_sums(codes, k, place, *damping.rule())
        return cls._of_cells(terms, group_weight(groups), cells)

    @classmethod
    def _of_cells(cls, terms: Terms, rows: Exact, cells: Cells) -> TermSums:
        start, column, documents, total = cells
        return cls(terms, rows, start, column, *(Exact(s[:, None], 0) for s in (documents, total)))

    @property
    def n_groups(self) -> int:
        return len(self.start) - 1

    def table(self, cells: Floats, columns: Array) -> Floats:
        """Values of cells as a table (k, columns): `columns` are those wanted, ascending."""
        d = len(columns)
        out = np.zeros(self.n_groups * d)
        if d == len(self.terms):
            out[self._keys(None, d)] = cells
        else:
            place = np.full(len(self.terms), -1)
            place[columns] = np.arange(d)
            known = place[self.column] >= 0
            out[self._keys(place, d)[known]] = cells[known]
        return out.reshape(self.n_groups, d)

    def frequency(self) -> Floats:
        """In how many documents each term occurs, (d,)."""
        counts = np.bincount(self.column, self.documents.rounded(), minlength=len(self.terms))
        return counts.astype(np.float64, copy=False)

    def __add__(self, other: TermSums, /) -> TermSums:
        terms, here, there = self.terms, None, None
        if not same_terms(self.terms, other.terms):
            terms, here, there = kernels.union(self.terms, other.terms)
        rows, d = self.rows + other.rows, max(len(terms), 1)
        if self._whole() and other._whole():
            cells = kernels.add_cells(self._cells(here), other._cells(there))
            return self._of_cells(terms, rows, cells)
        mine, theirs = self._keys(here, d), other._keys(there, d)
        keys = np.union1d(mine, theirs)
        a, b = np.searchsorted(keys, mine), np.searchsorted(keys, theirs)
        documents, total = (
            x.placed(a, len(keys)) + y.placed(b, len(keys))
            for x, y in ((self.documents, other.documents), (self.total, other.total))
        )
        start = np.searchsorted(keys, np.arange(self.n_groups + 1) * d)
        return TermSums(terms, rows, start, keys % d, documents, total)

    def __neg__(self) -> TermSums:
        cells = -self.documents, -self.total
        return TermSums(self.terms, -self.rows, self.start, self.column, *cells)

    def __sub__(self, other: TermSums, /) -> TermSums:
        return self + -other

    def __mul__(self, factor: float, /) -> TermSums:
        cells = self.documents * factor, self.total * factor
        return TermSums(self.terms, self.rows * factor, self.start, self.column, *cells)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TermSums):
            return NotImplemented
        a, b = self.seen(), other.seen()
        same = same_terms(a.terms, b.terms) and a.rows == b.rows
        same = same and np.array_equal(a.start, b.start) and np.array_equal(a.column, b.column)
        return same and a.documents == b.documents and a.total == b.total

    __hash__ = None  # type: ignore[assignment]

    def seen(self) -> TermSums:
        """Without cells and terms that no document holds any more."""
        kept = self.documents.limbs.any(axis=-1)
        column, group = self.column[kept], self._group()[kept]
        held = np.zeros(len(self.terms), bool)
        held[column] = True
        terms = self.terms if held.all() else self.terms[held]
        start = _starts(np.bincount(group, minlength=self.n_groups))
        cells = self.documents[kept], self.total[kept]
        return TermSums(terms, self.rows, start, (np.cumsum(held) - 1)[column], *cells)

    def missing_cell(self) -> tuple[int, int] | None:
        """A class and a term of which more was taken than there was."""
        short = (self.documents.sign() < 0) | (self.total.sign() < 0)
        short |= (self.documents.sign() == 0) & (self.total.sign() != 0)
        if not short.any():
            return None
        cell = int(np.argmax(short))
        return int(self._group()[cell]), int(self.column[cell])

    def take(self, groups: Any) -> TermSums:
        wanted = np.arange(self.n_groups)[groups]
        sizes = np.diff(self.start)[wanted]
        start = _starts(sizes)
        index = np.arange(start[-1]) + np.repeat(self.start[wanted] - start[:-1], sizes)
        cells = self.documents[index], self.total[index]
        return TermSums(self.terms, self.rows[wanted], start, self.column[index], *cells)

    def placed(self, index: Array, n_groups: int) -> TermSums:
        order = np.argsort(index)
        ordered = self.take(order)
        sizes = np.zeros(n_groups, np.int64)
        sizes[index[order]] = np.diff(ordered.start)
        rows = self.rows.placed(index, n_groups)
        cells = ordered.column, ordered.documents, ordered.total
        return TermSums(self.terms, rows, _starts(sizes), *cells)

    def pooled(self) -> TermSums:
        parts = (self.take([k]) for k in range(1, self.n_groups))
        return sum(parts, self.take([0]))

    def compact(self) -> TermSums:
        cells = self.documents.compact(), self.total.compact()
        return TermSums(self.terms, self.rows.compact(), self.start, self.column, *cells)

    def impossible(self) -> Array:
        """Classes that no documents can have, (k, 1)."""
        rows, total = self.rows.sign(), self.total.sign()
        group = self._group()
        short = np.bincount(group, (total < 0) | ((rows[group] == 0) & (total != 0)), len(rows))
        return np.asarray((rows < 0) | (short > 0))[:, None]

    def keeps_rows(self) -> bool:
        return False

    def numbers(self) -> Floats:
        everything = np.arange(len(self.terms))
        tables = (self.table(c.rounded(), everything) for c in (self.documents, self.total))
        return np.column_stack([self.rows.rounded(), *tables])

    def arrays(self) -> dict[str, Array]:
        parts: dict[str, Array] = {"terms.data": self.terms.data, "terms.starts": self.terms.starts}
        parts |= {"start": self.start, "column": self.column}
        for name, sums in (
            ("rows", self.rows),
            ("documents", self.documents),
            ("total", self.total),
        ):
            parts |= sums.arrays(name)
        return parts

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> TermSums:
        rows, documents, total = (
            Exact.from_arrays(arrays, name) for name in ("rows", "documents", "total")
        )
        terms = Terms(arrays["terms.data"], arrays["terms.starts"])
        return cls(terms, rows, arrays["start"], arrays["column"], documents, total)

    def _whole(self) -> bool:
        """Whether all sums are whole numbers of one limb."""
        sums = self.documents, self.total
        return all(s.exponent == 0 and s.limbs.shape[-1] == 1 for s in sums)

    def _cells(self, place: Array | None) -> Cells:
        """Whole sums, as kernels know them; the terms may have other places."""
        column = self.column if place is None else place[self.column].astype(np.int64)
        return self.start, column, self.documents.limbs[:, 0], self.total.limbs[:, 0]

    def _group(self) -> Integers:
        """The class of each cell."""
        return np.repeat(np.arange(self.n_groups), np.diff(self.start))

    def _keys(self, place: Array | None, d: int) -> Integers:
        """A number for each cell that rises from class to class and from term to term."""
        column = self.column if place is None else place[self.column]
        return np.asarray(self._group() * d + column, np.int64)


def same_terms(a: Terms, b: Terms) -> bool:
    return a is b or (np.array_equal(a.starts, b.starts) and np.array_equal(a.data, b.data))


def _joined(parts: list[Exact]) -> Exact:
    """Sums of the same rows, end to end."""
    return Exact(np.concatenate([part.limbs for part in parts]), parts[0].exponent)


def _starts(sizes: Array) -> Integers:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
