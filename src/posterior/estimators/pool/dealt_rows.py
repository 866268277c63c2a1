"""Labeled rows in the order of their content, dealt out to folds: the same for the same rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array

from posterior.data import containers, frames, validate
from posterior.data.cells import Column
from posterior.data.rows import Features, Hard, Rows, SparseRows
from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.generative.belonging import Belonging, group_codes, grouped_folds, times
from posterior.generative.dealing import by_content, in_turn
from posterior.preprocessing.roles import Roles, frame_of

FOLDS = 5
MOST_REPEATED = 250_000  # rows that are written out as often as they weigh
MANY_ROWS = 10_000  # of which one fold says enough,
MANY_GROUPS = 500  # if they are of so many groups
PARTS = 5  # of the rows held out, by which pools are judged


@dataclass(frozen=True, slots=True, eq=False)
class DealtRows:
    """Rows sorted by class and content, and the fold of each; below zero it is never held out."""

    X: Any
    codes: Codes
    classes: Array
    weight: Floats | None
    parts: Codes  # the fold of each, if all are held out
    folds: Codes  # those that are
    order: Integers  # where each stood
    belonging: Belonging | None

    @classmethod
    def of(
        cls,
        X: Any,
        codes: Codes,
        classes: Array,
        weight: Floats | None,
        n_folds: int = FOLDS,
        belonging: Belonging | None = None,
    ) -> DealtRows:
        """Equal rows are interchangeable, so that nothing depends on the order they came in.

        A weight that is a count is so many rows, which folds can share; of weight zero there are
        none, nor a class that only they have. Rows that belong together are in one fold.
        """
        groups = Hard(codes, len(classes), weight)
        cells = content(X)
        if isinstance(cells, np.ndarray):
            refuse_infinity(cells, X)  # here its row is still known
        order, number = by_content(Rows(cells, groups))
        if weight is not None and are_counts(weight):
            times = weight[order].astype(np.int64)
            order, number, weight = np.repeat(order, times), np.repeat(number, times), None
        check_several(len(order))
        if belonging is None:
            parts, folds = _in_turn(codes[order], n_folds)
        else:
            belonging = belonging.take(order).by_content(number)
            parts = belonging.folds(codes[order], n_folds)
            keys: list[Array] = [parts, number]  # equal rows may be of several groups
            if weight is not None:
                keys.insert(1, weight[order])
            again = np.lexsort(keys)
            order, parts, belonging = order[again], parts[again], belonging.take(again)
            folds = _kept_whole(parts, codes[order], belonging)
        found, place = np.unique(codes[order], return_inverse=True)
        weight = None if weight is None else weight[order]
        own: Codes = place.astype(np.int32)
        return cls(taken(X, order), own, classes[found], weight, parts, folds, order, belonging)

    @property
    def labels(self) -> Array:
        return self.classes[self.codes]

    @property
    def held_out(self) -> Integers:
        """The rows that a fold holds out, and whose class other rows have, too."""
        n_folds = int(self.folds.max()) + 1
        counts = np.zeros((n_folds + 1, len(self.classes)))
        np.add.at(counts, (self.folds, self.codes), 1)  # those never held out come last
        elsewhere = counts.sum(axis=0) - counts
        known = elsewhere[self.folds, self.codes] > 0
        return np.flatnonzero((self.folds >= 0) & known)

    def fifths(self) -> Codes:
        """Parts of the rows held out, each to be answered by weights that the others chose."""
        index, known = self.held_out, self.belonging
        group = None if known is None else known.take(index).group
        if group is None:
            return (np.arange(len(index)) // PARTS % PARTS).astype(np.int32)  # dealt out in turn
        if group.max(initial=0) == 0:
            return np.zeros(len(index), np.int32)
        return grouped_folds(group, self.codes[index], PARTS)


def _in_turn(codes: Codes, n_folds: int) -> tuple[Codes, Codes]:
    """Folds of sorted rows, and those that are held out."""
    folds = np.full(len(codes), -1, np.int32)
    several = np.bincount(codes)[codes] > 1  # without the only row of a class there may be one left
    n = int(several.sum())
    folds[several] = in_turn(n, min(n_folds, n))
    parts = np.maximum(folds, 0)
    if len(codes) >= MANY_ROWS:
        folds[folds > 0] = -1
    return parts, folds


def _kept_whole(parts: Codes, codes: Codes, belonging: Belonging) -> Codes:
    """The folds of rows that belong together, of which some are not held out.

    One is enough where rows and groups are many, and there is one latest; nor can those be that
    would leave one class.
    """
    many = len(codes) >= MANY_ROWS and belonging.n_groups >= MANY_GROUPS
    asked = 1 if many or belonging.time is not None else int(parts.max()) + 1
    folds = np.full(len(parts), -1, np.int32)
    for fold in range(asked):
        if len(np.unique(codes[parts != fold])) > 1:
            folds[parts == fold] = fold
    if folds.max() < 0 and len(np.unique(codes)) > 1:
        raise ValueError(
            "Expected two classes or more among the rows that are not held out, got one: rows that "
            "belong together are held out together, and those after some time."
        )
    return folds


def belonging_of(roles: Roles, frame: Any) -> Belonging | None:
    """What roles say about rows that belong together or follow each other, if they do."""
    if roles.group is None and roles.time is None:
        return None
    table = frame_of(frame)
    group = time = None
    if roles.group is not None:
        group = group_codes(table.get_column(roles.group), roles.group)
    if roles.time is not None:
        column, role = table.get_column(roles.time), roles[roles.time]
        if role.role not in ("number", "date"):  # whatever models are given of it
            kind = "number" if frames.kind(column) == "number" else "date"
            role = replace(role, role=kind)
        read = Roles(roles.target, (replace(role, used=True),)).prepare(frame)
        time = times(frame_of(read).get_column(roles.time), roles.time)
    return Belonging(group, time)


def check_several(n: int) -> None:
    """Refuse a row alone."""
    if n < 2:
        raise ValueError(
            f"Expected two rows or more, of which folds hold some out, got {n} sample."
        )


def counted(weight: Floats | None, n: int) -> Integers:
    """The rows that weigh something, as often as they do."""
    if weight is None:
        return np.arange(n)
    if are_counts(weight):
        return np.repeat(np.arange(n), weight.astype(np.int64))
    return np.flatnonzero(weight > 0)


def are_counts(weight: Floats) -> bool:
    """Whether weights are whole numbers, of not too many rows."""
    return bool((weight == np.round(weight)).all() and weight.sum() <= MOST_REPEATED)


def table_of(X: Any, sparse_too: bool = False) -> tuple[Any, int]:
    """Frames, documents and sparse rows as they are, others as an array; and how many rows."""
    if isinstance(X, list) and X and isinstance(X[0], str):
        return X, len(X)
    frame = None if sparse.issparse(X) else frames.as_frame(X)
    if frame is not None:
        return X, frame.shape[0]
    if sparse.issparse(X):
        table = X
    else:
        containers.refuse_flat(X)
        table = containers.array(X)
    found = check_array(table, accept_sparse=sparse_too, dtype=None, ensure_all_finite=False)
    return found, found.shape[0]


def refuse_infinity(cells: Array, X: Any) -> None:
    """Say in which row and column it is."""
    frame = None if isinstance(X, list) else frames.as_frame(X)
    names = None if frame is None else frame.columns
    validate.check_numbers(
        cells, names=names, allow_missing=True, allow_negative=True, estimator="Pool"
    )


def content(X: Any) -> Features:
    """Numbers by which rows of any kind of table are equal or not."""
    if sparse.issparse(X):
        return SparseRows.of(X.tocsr())
    if isinstance(X, list) and X and isinstance(X[0], str):
        return np.unique(np.array(X, dtype=object), return_inverse=True)[1][:, None]
    table = containers.read(X)
    if isinstance(table, np.ndarray):
        return table.reshape(len(table), -1).astype(np.float64)  # 1 and 1.0 are one cell
    return np.stack([_cells(column, j) for j, column in enumerate(table)], axis=1)


def _cells(column: Column, j: int) -> Floats:
    if frames.kind(column) == "number":
        return frames.numbers(column)
    return frames.coded(column, j)[0].astype(np.float64)


def taken(X: Any, index: Array) -> Any:
    """Some rows of whatever a classifier reads."""
    return X[index] if sparse.issparse(X) else frames.take(X, index)
