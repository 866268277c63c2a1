"""Protocol of statistics, which add, subtract and scale, and a mixin that derives it by fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from operator import add
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from posterior.data.rows import Rows
from posterior.data.shapes import fields_of
from posterior.data.typing import Array, Floats
from posterior.statistics.exact import Exact

S = TypeVar("S")


class Addable(Protocol):
    """All that an engine asks: parts add up to a whole."""

    def __add__(self, other: Self, /) -> Self: ...


@dataclass(frozen=True, slots=True)
class Exactly(Generic[S]):
    """A function of rows whose sums lose nothing: to the bit the same, however rows are cut.

    It is for whoever makes the statistics to say so. The sums of any other function may round.
    """

    function: Callable[[Rows], S]

    def __call__(self, rows: Rows) -> S:
        return self.function(rows)


class Statistics(Addable, Protocol):
    """Sums over rows of k groups: they add, subtract, and scale (a module over the numbers)."""

    def __sub__(self, other: Self, /) -> Self: ...
    def __mul__(self, factor: float, /) -> Self: ...

    def take(self, groups: Any) -> Self:
        """Some of the groups, in the order given."""
        ...

    def placed(self, index: Array, n_groups: int) -> Self:
        """The groups at new positions among n_groups, the others empty."""
        ...

    def pooled(self) -> Self:
        """All groups as one."""
        ...

    def compact(self) -> Self:
        """The same sums in as little memory as they need."""
        ...

    def numbers(self) -> Floats:
        """All sums, rounded, one line a group."""
        ...

    def seen(self) -> Self:
        """Without the values that no group holds any more, where they are kept by value."""
        ...

    def keeps_rows(self) -> bool:
        """Whether some rows are kept as they are, since no sum can stand for them."""
        return False

    def impossible(self) -> Array:
        """Which columns of groups (k, d) no rows can have, as when others are taken back."""
        ...

    def arrays(self) -> dict[str, Array]:
        """As plain arrays, for a file; `from_arrays` reads them back."""
        ...


class SumOfFields:
    """Statistics whose fields are all `Exact` with the groups on the first axis."""

    __slots__ = ()

    def sums(self) -> dict[str, Exact]:
        """The fields by name, in order."""
        return fields_of(self)

    def _each(self, function: Callable[[Exact], Exact]) -> Self:
        return type(self)(*map(function, self.sums().values()))

    def __add__(self, other: Self, /) -> Self:
        return type(self)(*map(add, self.sums().values(), other.sums().values()))

    def __neg__(self) -> Self:
        return self._each(lambda x: -x)

    def __sub__(self, other: Self, /) -> Self:
        return self + -other

    def __mul__(self, factor: float, /) -> Self:
        return self._each(lambda x: x * factor)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self.sums() == other.sums()

    __hash__ = None  # type: ignore[assignment]

    def take(self, groups: Any) -> Self:
        return self._each(lambda x: x[groups])

    def placed(self, index: Array, n_groups: int) -> Self:
        return self._each(lambda x: x.placed(index, n_groups))

    def pooled(self) -> Self:
        return self._each(lambda x: x.sum(axis=0).reshape(1, *x.shape[1:]))

    def compact(self) -> Self:
        return self._each(lambda x: x.compact())

    def seen(self) -> Self:
        return self

    def numbers(self) -> Floats:
        parts = [part.rounded() for part in self.sums().values()]
        return np.concatenate([p.reshape(len(p), -1) for p in parts], axis=1)

    def keeps_rows(self) -> bool:
        return False

    def impossible(self) -> Array:
        """A negative weight, or sums of no weight; the weight is the first field."""
        first, *others = (part.sign() for part in self.sums().values())
        left = np.any([other != 0 for other in others], axis=0)
        return np.asarray((first < 0) | ((first == 0) & left))

    def arrays(self) -> dict[str, Array]:
        parts: dict[str, Array] = {}
        for name, part in self.sums().items():
            parts |= part.arrays(name)
        return parts

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Self:
        return cls(*(Exact.from_arrays(arrays, f.name) for f in fields(cls)))  # type: ignore[arg-type]
