"""Families by column: what each column of a table holds, and how it is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from posterior.data import frames, validate
from posterior.data.names import plain
from posterior.data.rows import Blocks, CodedRows, Features, SparseRows
from posterior.data.table import Table
from posterior.data.typing import Array
from posterior.estimators.column_plan import FAMILIES, Column, ColumnPlan, FamilyRules
from posterior.estimators.hooks import Hooks
from posterior.estimators.table_input import TableInput
from posterior.families.family import AnyFamily, Family
from posterior.families.product import Parts
from posterior.text.term_rows import TermRows


class MixedColumns(TableInput, Hooks):
    """Each column has a family: as asked, or as its values say."""

    families: Any
    prior_rows: Any
    predictive: Any = False
    chooses: ClassVar[bool] = False  # whether families="auto" has a meaning
    plan_: ColumnPlan  # learned from the first rows
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
            if reset:
                columns = tuple(Column(plain(n), "number") for n in self._feature_names())
                self.plan_ = ColumnPlan(columns, self._rules())
            return SparseRows.of(table)
        read = self._read(X, reset)
        if reset:
            names = self._feature_names().tolist()
            self.plan_ = ColumnPlan.of(read, names, self._rules(), self.reads_text)
        elif fitting:
            self.plan_ = self._planned()
        return self.plan_.read(read, self.engine_.map, type(self).__name__)

    def _rules(self) -> FamilyRules:
        """Which families the parameters ask for."""
        chosen: Mapping[int, str] = {}
        asked = dict(self.families) if isinstance(self.families, Mapping) else self.families
        if self._chosen_by_loss():
            chosen, asked = self.__dict__.get("chosen_", {}), None
        return FamilyRules(asked, self.prior_rows, bool(self.predictive), chosen)

    def _planned(self) -> ColumnPlan:
        """The plan as learned, or for parameters that were changed since."""
        rules = self._rules()
        return self.plan_ if rules == self.plan_.rules else ColumnPlan(self.plan_.columns, rules)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if (columns := self.__dict__.pop("schema_", None)) is not None:  # all that once was kept
            self.plan_ = ColumnPlan(columns, self._rules())

    def _chosen_by_loss(self) -> bool:
        return self.chooses and isinstance(self.families, str) and self.families == "auto"

    def _check_cells(self, X: Any, first_row: int, fitting: bool) -> None:
        parts = X.parts if isinstance(X, Blocks) else (X,)
        for (family, js), part in zip(self.plan_.blocks, parts, strict=True):
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
        return self._planned().family()

    def _columns(self) -> Table:
        """What each column was taken for."""
        seen: dict[int, str] = {}
        features = self.statistics_.features
        parts = features.parts if isinstance(features, Parts) else (features,)
        learned = self._joint().parameters
        learned = learned if isinstance(features, Parts) else (learned,)
        for (family, js), part, found in zip(self.plan_.blocks, parts, learned, strict=True):
            for i, j in enumerate(js):
                seen[j] = family.summary(part, found, i)
        families = self.plan_.families
        return Table(
            {
                "column": np.array([str(c.name) for c in self.plan_.columns]),
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
        for (_, js), part in zip(self.plan_.blocks, parts, strict=True):
            for i, j in enumerate(js):
                sampled[j] = _sampled(part, i, self.plan_.columns[j].kind)
        names = [str(column.name) for column in self.plan_.columns]
        empty = np.full(len(next(iter(sampled.values()))), np.nan)
        table = {name: sampled.get(j, empty) for j, name in enumerate(names)}
        if hasattr(self, "feature_names_in_"):
            return frames.from_columns(table, self.library_).to_native()
        words = any(column.dtype.kind in "OU" for column in table.values())
        columns = [c.astype(object) if words else c for c in table.values()]
        return np.stack(columns, axis=1)


def _sampled(part: Any, i: int, kind: frames.Kind) -> Array:
    """One sampled column, in the type it was learned from."""
    if not isinstance(part, CodedRows):
        return np.asarray(part[:, i])
    values = part.values[i][part.codes[:, i]]
    return values.astype(np.float64) if kind == "number" else values
