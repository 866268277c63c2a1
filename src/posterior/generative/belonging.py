"""Rows that belong together or follow each other, and the folds that respect it.

Rows of one customer, patient or storm are alike: a model that has learned from some of them answers
the others from memory. Rows of tomorrow are not among those of today.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior.data import containers, frames
from posterior.data.fingerprints import fingerprints, mixed
from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.generative.dealing import in_turn


@dataclass(frozen=True, slots=True, eq=False)
class Belonging:
    """The group of each row, and its time; None where rows have none."""

    group: Codes | None  # numbers from zero; a row that no value puts in a group is alone in one
    time: Floats | None  # NaN where not known

    @classmethod
    def of(cls, groups: Any, time: Any, n_rows: int) -> Belonging:
        """From one value for each row."""
        return cls(
            None if groups is None else group_codes(_column(groups, n_rows, "groups"), "groups"),
            None if time is None else times(_column(time, n_rows, "time"), "time"),
        )

    @property
    def n_groups(self) -> int:
        """How many there are; rows that have no group are each by itself."""
        return 0 if self.group is None else int(self.group.max(initial=-1)) + 1

    def take(self, index: Integers) -> Belonging:
        """Of some rows."""
        return Belonging(
            None if self.group is None else _numbered(self.group[index]),
            None if self.time is None else self.time[index],
        )

    def by_content(self, number: Integers) -> Belonging:
        """Groups in the order of what their rows are, by a number of each, whatever their names."""
        if self.group is None:
            return self
        key = np.zeros(self.n_groups, np.uint64)
        np.add.at(key, self.group, mixed(number.astype(np.uint64)))
        place = np.empty(len(key), np.int32)
        place[np.argsort(key, kind="stable")] = np.arange(len(key))
        return Belonging(place[self.group], self.time)

    def folds(self, codes: Codes, n_folds: int) -> Codes:
        """Groups dealt out whole; or parts in time, 0 the latest, where there is one.

        Groups that have times follow each other by their latest row.
        """
        if self.time is None:
            assert self.group is not None
            return grouped_folds(self.group, codes, n_folds)
        if self.group is None:
            return parts_in_time(self.time, n_folds)
        latest = np.full(self.n_groups, np.nan)
        np.fmax.at(latest, self.group, self.time)
        return parts_in_time(latest[self.group], n_folds)


def group_codes(column: Any, name: str) -> Codes:
    """A number for each value of a column; every missing cell has its own."""
    codes, values = frames.coded(column, name)
    unknown = codes < 0
    codes[unknown] = len(values) + np.arange(unknown.sum())
    return _numbered(codes)


def times(column: Any, name: str) -> Floats:
    """Numbers by which rows follow each other; dates in days since 1970."""
    if frames.kind(column) != "number":
        raise ValueError(
            f"Expected dates or numbers in {name!r}, by which rows follow each other, got "
            f"{next(c for c in column.to_list() if not frames.missing(c))!r}."
        )
    return frames.numbers(column)


def grouped_folds(group: Codes, codes: Codes, n_folds: int) -> Codes:
    """A fold for each row, the same in a group; every class, and all rows, spread evenly.

    Groups are dealt out from the largest to the smallest, each to the fold that has least of what
    the group has: the least Σ_k a_fk a_gk, by shares a of each class and of all rows. Of groups
    that have the same counts, those that go round are dealt out in turn.
    """
    n_groups, n_classes = int(group.max()) + 1, int(codes.max()) + 1
    if n_groups < 2:
        raise ValueError("Expected two groups or more, of which folds hold some out, got one.")
    n_folds = min(n_folds, n_groups)
    counts = np.zeros((n_groups, n_classes + 1))
    np.add.at(counts, (group, codes), 1)
    counts[:, -1] = counts.sum(axis=1)
    share = counts / np.maximum(counts.sum(axis=0), 1)
    alike = fingerprints(counts)
    order = np.lexsort((alike, -(share**2).sum(axis=1)))
    starts = np.flatnonzero(np.append(True, np.diff(alike[order]) != 0))
    held = np.zeros((n_folds, n_classes + 1))
    folds = np.empty(n_groups, np.int32)
    for members in np.split(order, starts[1:]):
        own = share[members[0]]
        rounds, rest = divmod(len(members), n_folds)
        even = len(members) - rest
        folds[members[:even]] = in_turn(even, n_folds)
        held += rounds * own
        for member in members[even:]:
            folds[member] = least = int((held @ own).argmin())
            held[least] += own
    return folds[group]


def parts_in_time(time: Floats, n_parts: int) -> Codes:
    """About equal parts of the rows, 0 the latest; rows of one time are in one part.

    Rows whose time is not known are in the earliest.
    """
    known = ~np.isnan(time)
    _, place, counts = np.unique(-time[known], return_inverse=True, return_counts=True)
    if len(counts) < 2:
        raise ValueError(
            f"Expected two times or more, of which the latest is held out, got {len(counts)}."
        )
    middle = np.cumsum(counts) - counts / 2
    _, part = np.unique(np.floor(n_parts * middle / counts.sum()), return_inverse=True)
    folds = np.full(len(time), part.max(), np.int32)
    folds[known] = part[place]
    return folds


def _numbered(codes: Codes) -> Codes:
    """The same from zero on, without gaps."""
    return np.unique(codes, return_inverse=True)[1].astype(np.int32)


def _column(values: Any, n_rows: int, name: str) -> Any:
    cells: Array = np.asarray(values)
    if cells.shape != (n_rows,):
        raise ValueError(
            f"Expected one value of {name} for each of {n_rows} rows, got shape {cells.shape}."
        )
    return containers.columns(cells[:, None])[0]
