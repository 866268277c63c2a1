"""Reads mixed tables: what each column holds, and which family it has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import InputTags, check_array

from posterior import kernels
from posterior.data import containers, frames, one_row, validate
from posterior.data.cells import Column as Cells
from posterior.data.frames import Kind
from posterior.data.names import plain
from posterior.data.one_row import OneRow, number
from posterior.data.rows import Blocks, CodedRows, Features, SparseRows
from posterior.data.table import Table
from posterior.data.table_columns import Columns
from posterior.data.typing import Array
from posterior.engines.local import Local, n_threads
from posterior.families import (
    Binned,
    Categorical,
    Gaussian,
    Laplace,
    MEstimate,
    Product,
    PseudoRows,
    StudentT,
    by_name,
)
from posterior.families.family import AnyFamily, Family
from posterior.families.product import Parts
from posterior.readers.reader import Reader
from posterior.readers.table import TableReader, learned_columns
from posterior.text.term_rows import TermRows
from posterior.text.words import Words

CODED = "category", "text"  # supports that are not read as numbers


@cache
def all_families() -> dict[str, AnyFamily]:
    """What a column may be asked to have, by its name."""
    return {name: family() for name, family in by_name().items()} | {"words": Words()}


@dataclass(frozen=True, slots=True)
class FamilyRules:
    """Which family a column has: as asked by its name or for all, or as its kind says."""

    asked: Any = None  # a family or its name for all columns, or a dictionary by column
    prior_rows: float = 1.0
    predictive: bool = False
    chosen: Mapping[int, str] = field(default_factory=dict)  # names of families, by place

    @property
    def by_name(self) -> Mapping[Any, Any]:
        """The families that were asked for by column."""
        return self.asked if isinstance(self.asked, Mapping) else {}

    def takes_sparse(self) -> bool:
        """Whether one family of counts has all columns."""
        family = all_families().get(self.asked) if isinstance(self.asked, str) else self.asked
        return isinstance(family, Family) and family.reads_sparse

    def families(self, names: Sequence[Any], kinds: Sequence[Kind]) -> tuple[AnyFamily | None, ...]:
        """The family of each column; None leaves it out."""
        asked = self.by_name
        for_all = self.asked is not None and not isinstance(self.asked, Mapping)
        known = set(names)
        unknown = [name for name in asked if name not in known]
        if unknown:
            raise ValueError(f"Expected families for columns of {list(names)}, got {unknown}.")
        usual = number_families(self.prior_rows)
        by_kind: dict[str, AnyFamily] = {
            "number": usual["gaussian"],
            "text": Words(Laplace(self.prior_rows)),
            "category": Categorical(Laplace(self.prior_rows)),
        }
        families: list[AnyFamily | None] = []
        for j, (name, kind) in enumerate(zip(names, kinds, strict=True)):
            if name in asked:
                families.append(None if asked[name] is None else _family(asked[name], name))
            elif for_all:
                families.append(_family(self.asked, name))
            elif kind == "number" and j in self.chosen:
                families.append(usual[self.chosen[j]])
            else:
                families.append(by_kind[kind])
        if all(family is None for family in families):
            raise ValueError("Expected a family for at least one column, got None for all.")
        if not self.predictive:
            return tuple(families)
        integrated = {id(f): None if f is None else f.integrated() for f in families}
        return tuple(integrated[id(f)] for f in families)


@dataclass(frozen=True, slots=True)
class MixedColumns(TableReader):
    """Columns and their families, learned once; turns tables into the rows that families read.

    Columns that share a family stand together in a block; each text has its own words.
    """

    columns: Columns
    rules: FamilyRules
    kinds: tuple[Kind, ...] = ()  # what each column holds
    texts: bool = False  # whether sentences are words; otherwise they are kinds
    families: tuple[AnyFamily | None, ...] = field(init=False, compare=False, repr=False)
    blocks: tuple[tuple[AnyFamily, tuple[int, ...]], ...] = field(
        init=False, compare=False, repr=False
    )

    def __post_init__(self) -> None:
        if self.kinds and len(self.kinds) != self.columns.n:  # as a damaged file may have it
            raise ValueError(f"Expected {self.columns.n} kinds of columns, got {len(self.kinds)}.")
        families = self.rules.families(self.labels(), self.kinds) if self.kinds else ()
        places: dict[int, list[int]] = {}
        for j, family in enumerate(families):  # most share one object
            places.setdefault(id(family), []).append(j)
        blocks: dict[Any, tuple[AnyFamily, list[int]]] = {}
        for js in places.values():
            family = families[js[0]]
            if family is None:
                continue
            if family.support == "text":
                blocks |= {(family, j): (family, [j]) for j in js}
            else:
                blocks.setdefault(family, (family, []))[1].extend(js)
        found = [(family, tuple(sorted(js))) for family, js in blocks.values()]
        object.__setattr__(self, "families", families)
        object.__setattr__(self, "blocks", tuple(sorted(found, key=lambda block: block[1])))

    def labels(self) -> list[Any]:
        """The names of the columns as users write them, or their places."""
        return [plain(name) for name in self.columns.array()]

    def describe(self, tags: InputTags) -> None:
        TableReader.describe(self, tags)
        tags.sparse = self.rules.takes_sparse()

    def learn(self, X: Any) -> tuple[Self, Features]:
        if sparse.issparse(X) and self.rules.takes_sparse():
            rows = self._sparse(X)
            columns = self.columns.of(X)
            return replace(self, columns=columns, kinds=_numbers(columns.n)), rows
        table = self.table(X, known=False)
        columns = learned_columns(self.columns, X, table)
        learned = replace(self, columns=columns, kinds=())
        learned = replace(learned, kinds=learned._kinds(table))
        return learned, learned.rows(table)

    def read(self, X: Any, fitting: bool = False) -> Features:
        if sparse.issparse(X) and self.rules.takes_sparse():
            self.columns.check(X)
            return self._sparse(X)
        return self._row(X) if isinstance(X, OneRow) else self.rows(self.table(X))

    def _row(self, row: OneRow) -> Features:
        """The same of one row, cell by cell."""
        names, cells = self.known(row), [*row.cells.values()]
        parts: list[Any] = []
        for family, js in self.blocks:
            if family.support == "text":
                parts.append(_texts([cells[js[0]]], names[js[0]]))
            elif family.support == "category":
                parts.append(one_row.coded([cells[j] for j in js], [names[j] for j in js]))
            else:
                advice = self._advice
                parts.append(np.array([[number(cells[j], names[j], advice) for j in js]]))
        return parts[0] if self.plain else Blocks(tuple(parts))

    def _sparse(self, X: Any) -> SparseRows:
        owner = self.columns.owner
        checked = check_array(X, accept_sparse="csr", ensure_all_finite=False, estimator=owner)
        return SparseRows.of(checked)

    def _kinds(self, table: Array | list[Cells]) -> tuple[Kind, ...]:
        """What columns hold; sentences are texts if asked, and otherwise categories."""
        if isinstance(table, np.ndarray):
            return _numbers(self.columns.n)
        kind = frames.kind_or_text if self.texts else frames.kind
        pairs = zip(self.labels(), table, strict=True)
        return tuple("category" if n in self.rules.by_name else kind(cells) for n, cells in pairs)

    def under(self, rules: FamilyRules) -> MixedColumns:
        """The same columns by other rules."""
        return self if rules == self.rules else replace(self, rules=rules)

    def unsure(self, strings: Sequence[str]) -> list[str]:
        return [name for name in strings if name not in self.rules.by_name] if self.texts else []

    def corrected(self, kinds: Mapping[Any, Kind]) -> Self:
        pairs = zip(self.labels(), self.kinds, strict=True)
        found = tuple(kinds.get(name, kind) for name, kind in pairs)
        return self if found == self.kinds else replace(self, kinds=found)

    def check_same(self, other: Reader) -> None:
        self.columns.check_same(other.columns)
        if not isinstance(other, MixedColumns) or self.blocks != other.blocks:
            raise ValueError("Expected a model of the same families to merge; see columns_.")

    @property
    def plain(self) -> bool:
        """Whether one family of numbers has all columns."""
        whole = len(self.blocks) == 1 and len(self.blocks[0][1]) == self.columns.n
        return whole and self.blocks[0][0].support not in CODED

    def widths(self) -> tuple[int, ...]:
        return tuple(len(js) for _, js in self.blocks)

    def family(self) -> AnyFamily:
        """The family of whole rows."""
        if self.plain:
            return self.blocks[0][0]
        families, places = zip(*self.blocks, strict=True)
        return Product(families, places, self.columns.n)

    def by_block(self, values: Any) -> Iterator[tuple[AnyFamily, tuple[int, ...], Any]]:
        """Statistics, parameters or rows of whole rows, taken apart by family and its columns."""
        parts = values.parts if isinstance(values, Parts | Blocks) else values
        parts = parts if isinstance(parts, tuple) else (parts,)
        for (family, js), part in zip(self.blocks, parts, strict=True):
            yield family, js, part

    def rows(self, table: Array | list[Cells]) -> Features:
        """The rows that the families read."""
        if self.plain and isinstance(table, np.ndarray):
            return table
        parts = [self._block(table, family, js) for family, js in self.blocks]
        return parts[0] if self.plain else Blocks(tuple(parts))

    def _block(self, table: Array | list[Cells], family: AnyFamily, js: tuple[int, ...]) -> Any:
        if isinstance(table, np.ndarray) and family.support not in CODED:
            return np.ascontiguousarray(table[:, js], np.float64)
        columns = containers.columns(table) if isinstance(table, np.ndarray) else table
        names = self.labels()
        if family.support == "text":
            return _texts(columns[js[0]].to_list(), names[js[0]])
        if family.support == "category":
            coded = [frames.coded(columns[j], names[j]) for j in js]
            codes, values = zip(*coded, strict=True)
            return CodedRows(kernels.stack_columns(codes), values)
        return kernels.stack_columns([frames.numbers(columns[j], self._advice) for j in js])

    @property
    def _advice(self) -> str:
        return f'Make the column "categorical" by {self.columns.owner}(families={{...}})'

    def check(self, X: Any, first_row: int = 0, fitting: bool = False) -> None:
        for family, js, part in self.by_block(X):
            if isinstance(part, CodedRows | TermRows):
                continue
            real, zero = family.support == "real", family.support != "positive"
            if isinstance(part, np.ndarray) and validate.are_ordinary(part, real, zero):
                continue  # names are for those that are not
            validate.check_numbers(
                part,
                first_row=first_row,
                names=self.names[list(js)],
                allow_missing=family.reads_missing and not isinstance(part, SparseRows),
                allow_negative=real,
                allow_zero=zero,
                estimator=f"the {type(family).__name__} columns of {self.columns.owner}",
            )

    def found(self, features: Any, parameters: Any) -> Table:
        """What each column was read as, and what was found in it."""
        seen: dict[int, str] = {}
        pairs = zip(self.by_block(features), self.by_block(parameters), strict=True)
        for (family, js, part), (_, _, learned) in pairs:
            for i, j in enumerate(js):
                seen[j] = family.summary(part, learned, i)
        names = ["left out" if f is None else type(f).__name__ for f in self.families]
        return Table(
            {
                "column": np.array([str(name) for name in self.labels()]),
                "family": np.array(names),
                "values": np.array([seen.get(j, "") for j in range(len(names))]),
            }
        )

    def to_input(self, features: Any) -> Any:
        """A frame of the library that came, or an array."""
        if isinstance(features, np.ndarray):
            return features
        sampled: dict[int, Array] = {}
        for _, js, part in self.by_block(features):
            for i, j in enumerate(js):
                sampled[j] = _sampled(part, i, self.kinds[j])
        empty = np.full(len(next(iter(sampled.values()))), np.nan)
        table = {str(n): sampled.get(j, empty) for j, n in enumerate(self.labels())}
        if self.columns.names is not None:
            return frames.from_columns(table, self.columns.library).to_native()
        words = any(column.dtype.kind in "OU" for column in table.values())
        columns = [c.astype(object) if words else c for c in table.values()]
        return np.stack(columns, axis=1)


def _texts(cells: Sequence[Any], name: Any) -> TermRows:
    from posterior.text.text_column import term_rows  # which few tables need

    return term_rows(frames.items(cells, name), Local().map, n_threads())


def _numbers(n: int) -> tuple[Kind, ...]:
    kind: Kind = "number"
    return (kind,) * n


def _sampled(part: Any, i: int, kind: Kind) -> Array:
    """One sampled column, in the type it was learned from."""
    if not isinstance(part, CodedRows):
        return np.asarray(part[:, i])
    values = part.values[i][part.codes[:, i]]
    return values.astype(np.float64) if kind == "number" else values


def number_families(prior_rows: float) -> dict[str, AnyFamily]:
    """What a column of numbers may be, the simplest first."""
    return {
        "gaussian": Gaussian(PseudoRows(prior_rows)),
        "student": StudentT(PseudoRows(prior_rows)),
        "binned": Binned(MEstimate(prior_rows, None)),
    }


def _family(asked: Any, name: Any) -> AnyFamily:
    if isinstance(asked, str):
        known = all_families()
        if asked not in known:
            raise ValueError(f"Expected one of {sorted(known)} for column {name!r}, got {asked!r}.")
        return known[asked]
    if not isinstance(asked, Family):
        raise TypeError(
            f"Expected a family or its name for column {name!r}, got {type(asked).__name__}."
        )
    return asked
