"""The plan of a mixed table: what each column holds, which family it has, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from posterior import kernels
from posterior.data import containers, frames
from posterior.data.cells import Column as Cells
from posterior.data.rows import Blocks, CodedRows, Features
from posterior.data.typing import Array
from posterior.engines.local import n_threads
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
from posterior.text.text_column import term_rows
from posterior.text.words import Words

FAMILIES: dict[str, AnyFamily] = {name: family() for name, family in by_name().items()}
FAMILIES["words"] = Words()
CODED = "category", "text"  # supports that are not read as numbers
Map = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the table."""

    name: Any
    kind: frames.Kind


@dataclass(frozen=True, slots=True)
class FamilyRules:
    """Which family a column has: as asked by its name or for all, or as its kind says."""

    asked: Any = None  # a family or its name for all columns, or a dictionary by column
    prior_rows: float = 1.0
    predictive: bool = False
    chosen: Mapping[int, str] = field(default_factory=dict)  # names of families, by place

    def families(self, columns: Sequence[Column]) -> tuple[AnyFamily | None, ...]:
        """The family of each column; None leaves it out."""
        for_all = self.asked is not None and not isinstance(self.asked, Mapping)
        asked = self.asked if isinstance(self.asked, Mapping) else {}
        names = {column.name for column in columns}
        unknown = [name for name in asked if name not in names]
        if unknown:
            known = [column.name for column in columns]
            raise ValueError(f"Expected families for columns of {known}, got {unknown}.")
        usual = number_families(self.prior_rows)
        by_kind: dict[str, AnyFamily] = {
            "number": usual["gaussian"],
            "text": Words(Laplace(self.prior_rows)),
            "category": Categorical(Laplace(self.prior_rows)),
        }
        families: list[AnyFamily | None] = []
        for j, column in enumerate(columns):
            if column.name in asked:
                given = asked[column.name]
                families.append(None if given is None else _family(given, column.name))
            elif for_all:
                families.append(_family(self.asked, column.name))
            elif column.kind == "number" and j in self.chosen:
                families.append(usual[self.chosen[j]])
            else:
                families.append(by_kind[column.kind])
        if all(family is None for family in families):
            raise ValueError("Expected a family for at least one column, got None for all.")
        if not self.predictive:
            return tuple(families)
        integrated = {id(f): None if f is None else f.integrated() for f in families}
        return tuple(integrated[id(f)] for f in families)


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """Columns and their families, learned once; turns tables into the rows that families read.

    Columns that share a family stand together in a block; each text has its own words.
    """

    columns: tuple[Column, ...]
    rules: FamilyRules
    families: tuple[AnyFamily | None, ...] = field(init=False, compare=False, repr=False)
    blocks: tuple[tuple[AnyFamily, tuple[int, ...]], ...] = field(
        init=False, compare=False, repr=False
    )

    def __post_init__(self) -> None:
        families = self.rules.families(self.columns)
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

    @classmethod
    def of(
        cls, table: Array | list[Cells], names: Sequence[Any], rules: FamilyRules, texts: bool
    ) -> ColumnPlan:
        """The plan for a table; sentences are texts if asked, and otherwise categories."""
        if isinstance(table, np.ndarray):
            return cls(tuple(Column(name, "number") for name in names), rules)
        kind = frames.kind_or_text if texts else frames.kind
        asked = rules.asked if isinstance(rules.asked, Mapping) else {}
        pairs = zip(names, table, strict=True)
        kinds = (Column(n, "category" if n in asked else kind(cells)) for n, cells in pairs)
        return cls(tuple(kinds), rules)

    def with_kinds(self, kinds: Mapping[Any, frames.Kind]) -> ColumnPlan:
        """The same where some columns turned out to be of other kinds."""
        columns = (replace(c, kind=kinds.get(c.name, c.kind)) for c in self.columns)
        return ColumnPlan(tuple(columns), self.rules)

    @property
    def plain(self) -> bool:
        """Whether one family of numbers has all columns."""
        whole = len(self.blocks) == 1 and len(self.blocks[0][1]) == len(self.columns)
        return whole and self.blocks[0][0].support not in CODED

    def family(self) -> AnyFamily:
        """The family of whole rows."""
        if self.plain:
            return self.blocks[0][0]
        families, places = zip(*self.blocks, strict=True)
        return Product(families, places, len(self.columns))

    def widths(self) -> tuple[int, ...]:
        """How many columns each family reads."""
        return tuple(len(js) for _, js in self.blocks)

    def read(self, table: Array | list[Cells], map_: Map, owner: str) -> Features:
        """The rows that the families read.

        `map_` shares out the work on texts; errors advise a parameter of the class `owner`.
        """
        if self.plain and isinstance(table, np.ndarray):
            return table
        parts = [self._block(table, family, js, map_, owner) for family, js in self.blocks]
        return parts[0] if self.plain else Blocks(tuple(parts))

    def _block(
        self,
        table: Array | list[Cells],
        family: AnyFamily,
        js: tuple[int, ...],
        map_: Map,
        owner: str,
    ) -> Any:
        if isinstance(table, np.ndarray) and family.support not in CODED:
            return np.ascontiguousarray(table[:, js], np.float64)
        columns = containers.columns(table) if isinstance(table, np.ndarray) else table
        if family.support == "text":
            texts = frames.items(columns[js[0]].to_list(), self.columns[js[0]].name)
            return term_rows(texts, map_, n_threads())
        if family.support == "category":
            coded = [frames.coded(columns[j], self.columns[j].name) for j in js]
            codes, values = zip(*coded, strict=True)
            return CodedRows(kernels.stack_columns(codes), values)
        advice = f'Make the column "categorical" by {owner}(families={{...}})'
        return kernels.stack_columns([frames.numbers(columns[j], advice) for j in js])


def number_families(prior_rows: float) -> dict[str, AnyFamily]:
    """What a column of numbers may be, the simplest first."""
    return {
        "gaussian": Gaussian(PseudoRows(prior_rows)),
        "student": StudentT(PseudoRows(prior_rows)),
        "binned": Binned(MEstimate(prior_rows, None)),
    }


def _family(asked: Any, name: Any) -> AnyFamily:
    if isinstance(asked, str):
        if asked not in FAMILIES:
            raise ValueError(
                f"Expected one of {sorted(FAMILIES)} for column {name!r}, got {asked!r}."
            )
        return FAMILIES[asked]
    if not isinstance(asked, Family):
        raise TypeError(
            f"Expected a family or its name for column {name!r}, got {type(asked).__name__}."
        )
    return asked
