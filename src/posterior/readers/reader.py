"""Base class of readers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

from sklearn.utils import InputTags

from posterior.data import frames
from posterior.data.rows import Features
from posterior.data.table_columns import Columns
from posterior.data.typing import Array, Floats


class Reader(ABC):
    """Turns whatever comes into the rows that a family reads. Frozen; fields are what it knows.

    An estimator makes one of its settings, which `learn` then shows the first table. From there
    on it is a value: stored with the model, compared when models merge, and sent to a worker alone.
    """

    __slots__ = ()

    columns: Columns
    by_column: ClassVar[bool] = True  # features are the columns, so that a database may sum them

    # ---- what a reader must say ----

    @abstractmethod
    def learn(self, X: Any) -> tuple[Self, Features]:
        """A reader that knows the columns of this table, and the rows."""

    @abstractmethod
    def read(self, X: Any, fitting: bool = False) -> Features:
        """The rows of a table of the same columns, to learn from or to answer."""

    # ---- what follows from it ----

    def of(self, columns: Columns) -> Self:
        """A reader of these columns, of which nothing else must be known."""
        return replace(self, columns=columns)  # type: ignore[type-var]

    def check(self, X: Any, first_row: int = 0, fitting: bool = False) -> None:
        """Refuse cells that have no meaning, and say where they stand."""
        return

    def check_chunk(self, X: Any, first_row: int = 0, fitting: bool = False) -> None:
        """Look at a chunk while it is in cache, unless what is made of it tells of bad cells."""
        self.check(X, first_row, fitting)

    def check_scores(self, scores: Floats, X: Any, first_row: int) -> None:
        """Look at the scores of a chunk instead, where they tell of bad cells."""
        return

    def describe(self, tags: InputTags) -> None:
        """Say in scikit-learn's tags what is read."""
        return

    def check_same(self, other: Reader) -> None:
        """Refuse to merge what was read in another way."""
        self.columns.check_same(other.columns)

    @property
    def names(self) -> Array:
        """What the features are called."""
        return self.columns.array()

    def widths(self) -> tuple[int, ...]:
        """How many columns each family reads."""
        return (self.columns.n,)

    def summed_widths(self) -> tuple[int, ...]:
        """The same of statistics, where rows to learn from have others than those to answer."""
        return self.widths()

    def cells(self, X: Any) -> tuple[Any, ...]:
        """The cells of the first row, as the user wrote them."""
        return frames.first_row(X)

    def one_row(self, record: Mapping[str, Any]) -> Any:
        """A row, {column: cell}, as `read` takes it: cell by cell where it can, or as a frame."""
        return frames.of_record(record, self.columns.names or ())

    def to_input(self, features: Any) -> Any:
        """Features in the form that `fit` takes."""
        return features

    # ---- what the first rows of a table that is elsewhere may tell wrongly ----

    def unsure(self, strings: Sequence[str]) -> list[str]:
        """Columns of strings of which all rows must say whether they are texts or categories."""
        return []

    def corrected(self, kinds: Mapping[Any, frames.Kind]) -> Self:
        """The same where some columns turned out to be of other kinds."""
        return self
