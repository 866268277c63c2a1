"""Families side by side: each has its own columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Self, TypeVar

import numpy as np

from posterior.data.errors import DegenerateError
from posterior.data.rows import Blocks, Groups, Hard
from posterior.data.typing import Array, Floats
from posterior.families.family import AnyFamily, Family, Intervals, Scorer, Support
from posterior.families.symbols import Cells, Formula

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Statistics of several families; they add part by part."""

    parts: tuple[Any, ...]

    def __add__(self, other: Parts, /) -> Parts:
        return Parts(tuple(a + b for a, b in zip(self.parts, other.parts, strict=True)))

    def __sub__(self, other: Parts, /) -> Parts:
        return Parts(tuple(a - b for a, b in zip(self.parts, other.parts, strict=True)))

    def __mul__(self, factor: float, /) -> Parts:
        return Parts(tuple(a * factor for a in self.parts))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Parts) and self.parts == other.parts

    __hash__ = None  # type: ignore[assignment]

    def take(self, groups: Any) -> Parts:
        return Parts(tuple(a.take(groups) for a in self.parts))

    def placed(self, index: Array, n_groups: int) -> Parts:
        return Parts(tuple(a.placed(index, n_groups) for a in self.parts))

    def pooled(self) -> Parts:
        return Parts(tuple(a.pooled() for a in self.parts))

    def compact(self) -> Parts:
        return Parts(tuple(a.compact() for a in self.parts))

    def seen(self) -> Self:
        """Without the categories that no group holds any more."""
        return replace(self, parts=tuple(part.seen() for part in self.parts))

    def impossible(self) -> Array:
        return np.concatenate([part.impossible() for part in self.parts], axis=1)

    def keeps_rows(self) -> bool:
        return any(part.keeps_rows() for part in self.parts)

    def numbers(self) -> Floats:
        return np.concatenate([part.numbers() for part in self.parts], axis=1)

    def arrays(self) -> dict[str, Array]:
        return {
            f"{i}.{name}": array
            for i, part in enumerate(self.parts)
            for name, array in part.arrays().items()
        }


@dataclass(frozen=True, slots=True)
class Product(Family[Parts, tuple[Any, ...]]):
    """Families side by side, independent given the group: log p(x | k) = Σ_f log p_f(x_f | k).

    `columns` says which columns of the table each family has.
    """

    families: tuple[AnyFamily, ...]
    columns: tuple[tuple[int, ...], ...]
    n_columns: int | None = None  # of the table, if some belong to no family

    @property
    def exact(self) -> bool:
        return all(family.exact for family in self.families)

    def statistics(self, X: Blocks, groups: Groups) -> Parts:
        pairs = zip(self.families, X.parts, strict=True)
        return Parts(tuple(f.statistics(x, groups) for f, x in pairs))

    def estimate(self, statistics: Parts, pooled: Parts | None = None) -> tuple[Any, ...]:
        everyone = (None,) * len(self.families) if pooled is None else pooled.parts
        triples = zip(self.families, statistics.parts, everyone, strict=True)
        return tuple(
            self._placed(i, lambda f=f, s=s, p=p: f.estimate(s, p))  # type: ignore[misc]
            for i, (f, s, p) in enumerate(triples)
        )

    def improve(
        self, statistics: Parts, pooled: Parts, parameters: tuple[Any, ...] | None
    ) -> tuple[Any, ...]:
        known = (None,) * len(self.families) if parameters is None else parameters
        parts = zip(self.families, statistics.parts, pooled.parts, known, strict=True)
        return tuple(
            self._placed(i, lambda f=f, s=s, e=e, p=p: f.improve(s, e, p))  # type: ignore[misc]
            for i, (f, s, e, p) in enumerate(parts)
        )

    def log_prior(self, parameters: tuple[Any, ...], pooled: Parts) -> float:
        triples = zip(self.families, parameters, pooled.parts, strict=True)
        return sum(f.log_prior(p, e) for f, p, e in triples)

    def _placed(self, i: int, call: Callable[[], T]) -> T:
        """Calls a part; its errors name columns as the table counts them."""
        try:
            return call()
        except DegenerateError as error:
            feature = None if error.feature is None else self.columns[i][error.feature]
            raise DegenerateError(error.template, feature, error.group) from None

    def scorer(self, parameters: tuple[Any, ...], bias: Floats) -> Scorer:
        zero = np.where(np.isneginf(bias), bias, 0.0)
        scorers = [
            self._placed(i, lambda f=f, p=p, b=zero if i else bias: f.scorer(p, b))  # type: ignore[misc]
            for i, (f, p) in enumerate(zip(self.families, parameters, strict=True))
        ]

        def score(X: Blocks, out: Floats) -> None:
            scorers[0](X.parts[0], out)
            more = np.empty_like(out)
            for one, x in zip(scorers[1:], X.parts[1:], strict=True):
                one(x, more)
                out += more

        return score

    def _in_order(self, parts: list[Array]) -> Array:
        """Blocks of columns (..., d_f) put where the columns stand in the table, zero elsewhere."""
        width = self.n_columns or sum(len(c) for c in self.columns)
        whole = np.zeros((*parts[0].shape[:-1], width), parts[0].dtype)
        for part, columns in zip(parts, self.columns, strict=True):
            whole[..., columns] = part
        return whole

    def evidence(self, X: Blocks, parameters: tuple[Any, ...]) -> Floats:
        """Terms of the columns, and behind them those that families have beyond."""
        triples = zip(self.families, X.parts, parameters, strict=True)
        parts = [f.evidence(x, p) for f, x, p in triples]
        sized = [(part, len(columns)) for part, columns in zip(parts, self.columns, strict=True)]
        own = self._in_order([part[..., :d] for part, d in sized])
        return np.concatenate([own, *(part[..., d:] for part, d in sized)], axis=-1)

    def term_names(self, features: Array) -> Array:
        beyond = [
            family.term_names(features[list(columns)])[len(columns) :]
            for family, columns in zip(self.families, self.columns, strict=True)
        ]
        return np.concatenate([features, *beyond]) if any(map(len, beyond)) else features

    def leave_one_out(self, X: Blocks, groups: Hard, statistics: Parts) -> Floats:
        triples = zip(self.families, X.parts, statistics.parts, strict=True)
        scores = [f.leave_one_out(x, groups, s) for f, x, s in triples]
        return np.sum(scores, axis=0)

    def sample(
        self, codes: Array, parameters: tuple[Any, ...], random: np.random.Generator
    ) -> Blocks:
        pairs = zip(self.families, parameters, strict=True)
        return Blocks(tuple(f.sample(codes, p, random) for f, p in pairs))

    def sizes(self, statistics: Parts) -> Sequence[int] | None:
        pairs = zip(self.families, statistics.parts, strict=True)
        sizes = [family.sizes(part) for family, part in pairs]
        known = [each for each in sizes if each is not None]
        return list(chain.from_iterable(known)) if len(known) == len(sizes) else None

    def n_parameters(self, parameters: tuple[Any, ...]) -> int:
        pairs = zip(self.families, parameters, strict=True)
        return sum(f.n_parameters(p) for f, p in pairs)

    def impossible(self, statistics: Parts) -> Array:
        pairs = zip(self.families, statistics.parts, strict=True)
        return self._in_order([f.impossible(s) for f, s in pairs])

    def intervals(self, statistics: Parts, parameters: tuple[Any, ...], level: float) -> Intervals:
        lines: list[Intervals] = []
        parts = zip(self.families, statistics.parts, parameters, self.columns, strict=True)
        for f, s, p, columns in parts:
            one = f.intervals(s, p, level)
            lines.append(replace(one, feature=np.asarray(columns)[one.feature]))
        return sum(lines[1:], start=lines[0])

    def support_of(self, column: int) -> Support:
        parts = zip(self.families, self.columns, strict=True)
        return next((f.support for f, columns in parts if column in columns), self.support)

    def needs(self) -> Any:
        return [family.needs() for family in self.families], self.columns

    def formula(self, parameters: tuple[Any, ...], cells: Cells) -> list[Formula]:
        """Columns in the order of the table"""
        placed: list[tuple[int, Formula]] = []
        for one, its, js in zip(self.families, parameters, self.columns, strict=True):
            part = one.formula(its, [cells[j] for j in js])
            placed += [(js[min(i, len(js) - 1)], term) for i, term in enumerate(part)]
        return [term for _, term in sorted(placed, key=lambda pair: pair[0])]
