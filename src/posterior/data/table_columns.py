"""Columns of a table: how many there are, and their names where it has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    _get_feature_names,
    _num_features,
)

from posterior.data.typing import Array


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns that an estimator has learned from; none before it has."""

    owner: str  # the estimator's class, for errors
    n: int = 0
    names: tuple[str, ...] | None = None  # None: they are known by their places
    library: Any = None  # that the frame came from, so that samples can be such frames too

    def of(self, X: Any) -> Columns:
        """Those of a table."""
        names = _get_feature_names(X)
        return replace(self, n=_num_features(X), names=None if names is None else tuple(names))

    def check(self, X: Any) -> None:
        """Refuse a table of other columns, in scikit-learn's words."""
        known = _estimator(self.owner)()
        known.n_features_in_ = self.n
        if self.names is not None:
            known.feature_names_in_ = self.given
        _check_feature_names(known, X, reset=False)
        _check_n_features(known, X, reset=False)

    def named(self, record: Mapping[str, Any]) -> dict[str, Any] | None:
        """The cells of a record in the order of the columns; None where it has others."""
        if self.names is None or len(record) != len(self.names):
            return None
        try:
            return {name: record[name] for name in self.names}
        except KeyError:
            return None

    @property
    def given(self) -> Array | None:
        """The names that the table had."""
        return None if self.names is None else np.array(self.names, dtype=object)

    def array(self) -> Array:
        """The names, or the places of columns without a name."""
        return np.arange(self.n) if self.names is None else np.array(self.names, dtype=object)

    def check_same(self, other: Columns) -> None:
        """Refuse to merge models of different tables."""
        if self.n != other.n:
            raise ValueError(
                f"Expected a model of {self.n} features to merge, got one of {other.n}."
            )
        if self.names and other.names and self.names != other.names:
            mine, theirs = list(self.names), list(other.names)
            raise ValueError(f"Expected features {mine} to merge, got {theirs}.")


@cache
def _estimator(name: str) -> Any:
    """A class of that name: all that scikit-learn's checks ask of an estimator."""
    return type(name, (), {})
