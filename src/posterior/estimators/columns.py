"""Families by column: what each column of a table holds, and how it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from posterior import kernels
from posterior.data import frames, validate
from posterior.data.names import plain
from posterior.data.rows import Blocks, CodedRows, Features, SparseRows
from posterior.data.table import Table
from posterior.data.typing import Array
from posterior.engines.local import n_threads
from posterior.estimators.hooks import Hooks
from posterior.estimators.table import TableInput
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
from posterior.text.reading import term_rows
from posterior.text.term_rows import TermRows
from posterior.text.words import Words

FAMILIES: dict[str, AnyFamily] = {name: family() for name, family in by_name().items()}
FAMILIES["words"] = Words()


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the table."""

    name: Any
    kind: frames.Kind


class MixedColumns(TableInput, Hooks):
    """Each column has a family: as asked, or as its values say."""

    families: Any
    prior_rows: Any
    predictive: bool = False
    chooses: ClassVar[bool] = False  # whether families="auto" has a meaning
    chosen_: Mapping[int, str]  # families of columns of numbers, by their places
    reads_text: ClassVar[bool] = False  # whether sentences are words; otherwise they are kinds

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse()
        return tags

    def _takes_sparse(self) -> bool:
        """Whether one family of counts has all columns."""
        asked = self.families
        family = FAMILIES.get(asked) if isinstance(asked, str) else asked
        return isinstance(family, Family) and family.reads_sparse

    def _features(self, X: Any, fitting: bool, reset: bool) -> Features:
        if sparse.issparse(X) and self._takes_sparse():
            table = validate_data(
                self, X, reset=reset, accept_sparse="csr", ensure_all_finite=False
            )
            self.schema_ = tuple(Column(plain(name), "number") for name in self._feature_names())
            return SparseRows.of(table)
        columns = self._read(X, reset)
        if reset:
            self.schema_ = self._kinds(columns)
        if self._plain():
            family, js = self._blocks()[0]
            return columns if isinstance(columns, np.ndarray) else self._block(columns, family, js)
        return Blocks(tuple(self._block(columns, family, js) for family, js in self._blocks()))

    def _kinds(self, columns: Array | list[nw.Series[Any]]) -> tuple[Column, ...]:
        """What each column holds."""
        names = self._feature_names()
        if isinstance(columns, np.ndarray):
            return tuple(Column(plain(name), "number") for name in names)
        pairs = zip(names, columns, strict=True)
        kind = frames.kind_or_text if self.reads_text else frames.kind
        asked = self.families if isinstance(self.families, Mapping) else {}
        return tuple(
            Column(plain(name), "category" if name in asked else kind(column))
            for name, column in pairs
        )

    def _assigned(self) -> list[AnyFamily | None]:
        """The family of each column: as asked, or as its values say."""
        names = [column.name for column in self.schema_]
        asked = self.families if isinstance(self.families, Mapping) else {}
        unknown = [name for name in asked if name not in names]
        if unknown:
            raise ValueError(f"Expected families for columns of {names}, got {unknown}.")
        open_ = self._chosen_by_loss()
        families = []
        for j, column in enumerate(self.schema_):
            family: AnyFamily | None
            if column.name in asked:
                given = asked[column.name]
                family = None if given is None else _family(given, column.name)
            elif not (open_ or self.families is None or isinstance(self.families, Mapping)):
                family = _family(self.families, column.name)
            elif column.kind == "number":
                chosen = getattr(self, "chosen_", {}) if open_ else {}
                family = number_families(self.prior_rows)[chosen.get(j, "gaussian")]
            elif column.kind == "text":
                family = Words(Laplace(self.prior_rows))
            else:
                family = Categorical(Laplace(self.prior_rows))
            if self.predictive and family is not None:
                family = family.integrated()
            families.append(family)
        if all(family is None for family in families):
            raise ValueError("Expected a family for at least one column, got None for all.")
        return families

    def _chosen_by_loss(self) -> bool:
        return self.chooses and isinstance(self.families, str) and self.families == "auto"

    def _plain(self) -> bool:
        """Whether one family of numbers has all columns."""
        blocks = self._blocks()
        whole = len(blocks) == 1 and len(blocks[0][1]) == len(self.schema_)
        return whole and blocks[0][0].support not in ("category", "text")

    def _blocks(self) -> list[tuple[AnyFamily, tuple[int, ...]]]:
        """Columns that share a family, together; each text has its own words."""
        blocks: dict[Any, tuple[AnyFamily, list[int]]] = {}
        for j, family in enumerate(self._assigned()):
            if family is not None:
                key = (family, j) if family.support == "text" else family
                blocks.setdefault(key, (family, []))[1].append(j)
        return [(family, tuple(js)) for family, js in blocks.values()]

    def _block(
        self, columns: Array | list[nw.Series[Any]], family: AnyFamily, js: tuple[int, ...]
    ) -> Any:
        if family.support == "text":
            texts = frames.items(_cells(columns, js[0]), self.schema_[js[0]].name)
            return term_rows(texts, self.engine_.map, n_threads())
        if family.support == "category":
            coded = [_coded(columns, j, self.schema_[j].name) for j in js]
            codes, values = zip(*coded, strict=True)
            return CodedRows(kernels.stack_columns(codes), values)
        if isinstance(columns, np.ndarray):
            return np.ascontiguousarray(columns[:, js], np.float64)
        return kernels.stack_columns([frames.numbers(columns[j]) for j in js])

    def _check_cells(self, X: Any, first_row: int, fitting: bool) -> None:
        parts = X.parts if isinstance(X, Blocks) else (X,)
        for (family, js), part in zip(self._blocks(), parts, strict=True):
            if isinstance(part, CodedRows | TermRows):
                continue
            validate.check_numbers(
                part,
                first_row=first_row,
                names=self._feature_names()[list(js)],
                allow_missing=family.reads_missing and not isinstance(part, SparseRows),
                allow_negative=family.support == "real",
                allow_zero=family.support != "positive",
                estimator=f"the {type(family).__name__} columns of {type(self).__name__}",
            )

    def _family(self) -> AnyFamily:
        blocks = self._blocks()
        if self._plain():
            return blocks[0][0]
        columns = tuple(js for _, js in blocks)
        return Product(tuple(f for f, _ in blocks), columns, len(self.schema_))

    def _columns(self) -> Table:
        """What each column was taken for."""
        seen: dict[int, str] = {}
        features = self.statistics_.features
        parts = features.parts if isinstance(features, Parts) else (features,)
        learned = self._joint().parameters
        learned = learned if isinstance(features, Parts) else (learned,)
        for (family, js), part, found in zip(self._blocks(), parts, learned, strict=True):
            for i, j in enumerate(js):
                seen[j] = family.summary(part, found, i)
        families = self._assigned()
        return Table(
            {
                "column": np.array([str(c.name) for c in self.schema_]),
                "family": np.array(
                    ["left out" if f is None else type(f).__name__ for f in families]
                ),
                "values": np.array([seen.get(j, "") for j in range(len(families))]),
            }
        )

    def _as_input(self, features: Any) -> Any:
        """A frame of the library that came, or an array."""
        if isinstance(features, np.ndarray):
            return features
        parts = features.parts if isinstance(features, Blocks) else (features,)
        sampled: dict[int, Array] = {}
        for (_, js), part in zip(self._blocks(), parts, strict=True):
            for i, j in enumerate(js):
                sampled[j] = _sampled(part, i, self.schema_[j].kind)
        names = [str(column.name) for column in self.schema_]
        empty = np.full(len(next(iter(sampled.values()))), np.nan)
        table = {name: sampled.get(j, empty) for j, name in enumerate(names)}
        if hasattr(self, "feature_names_in_"):
            return frames.from_columns(table, self.library_).to_native()
        words = any(column.dtype.kind in "OU" for column in table.values())
        columns = [c.astype(object) if words else c for c in table.values()]
        return np.stack(columns, axis=1)


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


def _coded(columns: Array | list[nw.Series[Any]], j: int, name: Any) -> tuple[Array, Array]:
    """Codes of the cells of a column, and its values."""
    if not isinstance(columns, np.ndarray):
        return frames.coded(columns[j], name)
    return frames.coded_cells(columns[:, j].tolist(), name)


def _cells(columns: Array | list[nw.Series[Any]], j: int) -> list[Any]:
    return columns[:, j].tolist() if isinstance(columns, np.ndarray) else columns[j].to_list()


def _sampled(part: Any, i: int, kind: frames.Kind) -> Array:
    """One sampled column, in the type it was learned from."""
    if not isinstance(part, CodedRows):
        return np.asarray(part[:, i])
    values = part.values[i][part.codes[:, i]]
    return values.astype(np.float64) if kind == "number" else values
