"""Labels: the classes of a model, and whether others may come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from posterior.data import validate
from posterior.data.typing import Array, Codes, Floats


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The classes that were seen, or named beforehand."""

    classes: Array  # sorted
    closed: bool = False  # whether all that may come were named
    weightless: Mapping[Any, int] = field(default_factory=dict)
    """How many rows of weight zero a class has: no sum tells of them, yet the class is known."""

    def __len__(self) -> int:
        return len(self.classes)

    @classmethod
    def learn(cls, y: Any, weight: Floats | None, n_rows: int) -> tuple[Labels, Codes]:
        """The classes of some rows, and their codes."""
        classes, codes = validate.labels(y, n_rows)
        return cls(classes, weightless=dict(_weightless(classes[codes], weight))), codes

    @classmethod
    def among(cls, before: Labels | None, y: Any, named: Any, n_rows: int, needed: bool) -> Labels:
        """The classes of a stream: those before, or those that the first call names or brings."""
        if before is None:
            if named is not None:
                return cls(np.unique(named), closed=True)
            if needed:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            return cls(validate.labels(y, n_rows)[0])
        given = before.classes if named is None else np.asarray(named)
        if len(given) != len(before) or not np.array_equal(np.sort(given), before.classes):
            raise ValueError(
                f"`classes={named!r}` is not the same as on last call to partial_fit, was: "
                f"{before.classes!r}"
            )
        return before

    def more(self, y: Any, weight: Floats | None, n_rows: int) -> tuple[Labels, Codes]:
        """After more rows, whose classes may be new; and the codes of these rows."""
        classes = self.classes
        codes, new = validate.codes_of(y, classes, n_rows)
        if len(new):
            if self.closed:
                raise ValueError(
                    f"The target label(s) {new.tolist()} in y do not exist in the initial classes "
                    f"{classes.tolist()}. Name all classes in the first call."
                )
            classes = validate.union(classes, new)
            codes, _ = validate.codes_of(y, classes, n_rows)
        came = Counter(self.weightless) + _weightless(classes[codes], weight)
        return replace(self, classes=classes, weightless=dict(came)), codes

    def known(self, y: Any, n_rows: int) -> Codes:
        """The codes of rows that were learned, or an error."""
        codes, new = validate.codes_of(y, self.classes, n_rows)
        if len(new):
            raise ValueError(
                f"Expected rows that were learned, got class(es) {new.tolist()} never seen."
            )
        return codes

    def less(self, codes: Codes, weight: Floats | None, left: Floats) -> tuple[Labels, Array]:
        """After rows were taken back, and which classes stay; `left` is the weight of each."""
        if self.closed:
            return self, np.arange(len(self))
        stays = left > 0
        if not stays.any():
            raise ValueError("Expected some rows to remain; to start anew, call fit().")
        gone = Counter(self.weightless) - _weightless(self.classes[codes], weight)
        stays |= np.isin(self.classes, list(gone))
        stays |= np.bincount(codes, minlength=len(stays)) == 0  # not of these rows
        labels = replace(self, classes=self.classes[stays], weightless=dict(gone))
        return labels, np.flatnonzero(stays)

    def __add__(self, other: Labels) -> Labels:
        weightless = Counter(self.weightless) + Counter(other.weightless)
        classes = validate.union(self.classes, other.classes)
        return replace(self, classes=classes, weightless=dict(weightless))

    def places(self, other: Labels) -> Array:
        """Where the classes of another are among these."""
        return np.searchsorted(self.classes, other.classes)


def _weightless(labels: Array, weight: Floats | None) -> Counter[Any]:
    return Counter() if weight is None else Counter(labels[weight == 0].tolist())
