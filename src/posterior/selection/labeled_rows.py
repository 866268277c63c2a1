"""The rows that models are compared on: labels known, folds fixed, places in the file kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from posterior.data import frames
from posterior.data.typing import Array, Codes, Integers
from posterior.estimators.pool.dealt_rows import FOLDS, DealtRows, belonging_of
from posterior.estimators.table_classifier import Readings, TableClassifier
from posterior.preprocessing.belonging import how_held_out
from posterior.preprocessing.roles import Roles
from posterior.sources.files import column_named

MOST_ROWS = 250_000


@dataclass(frozen=True, slots=True, eq=False)
class LabeledRows:
    """Rows whose class is known, in the order of the file."""

    frame: Any  # as it came, with these rows only
    y: Array  # labels as the file writes them
    codes: Codes
    classes: Array  # sorted; bands from the lowest to the highest
    places: Integers  # in the file, from 0; rows of a table of counts repeat
    folds: Codes  # of all rows, be they held out or not
    n_folds: int
    set_aside: int  # rows without a label
    notes: tuple[str, ...]
    readings: Readings  # what models are given of them
    dealt: DealtRows  # the same in the order of their content, by whose folds models are compared

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def names(self) -> list[str]:
        """The classes, as people read them."""
        return [str(c) for c in self.classes.tolist()]

    @property
    def held_out(self) -> Codes:
        """The folds that models are judged by, below zero of rows that are learned alone."""
        folds = np.empty(len(self), np.int32)
        folds[self.dealt.order] = self.dealt.folds
        return folds

    def codes_of(self, labels: Array) -> Codes:
        """The places of some labels among the classes."""
        code = {label: k for k, label in enumerate(self.classes.tolist())}
        return np.fromiter((code[label] for label in labels.tolist()), np.int32, len(labels))

    def take(self, index: Array) -> Any:
        """Some rows of the frame."""
        return frames.take(self.frame, index)

    def as_given(self, dealt: DealtRows) -> LabeledRows:
        """The same rows, as models were given them after models of single columns read them."""
        if dealt is self.dealt:
            return self
        frame = frames.take(dealt.X.frame, np.argsort(dealt.order))
        return replace(self, readings=Readings(frame), dealt=dealt)

    def reading(self, classifier: TableClassifier) -> Any:
        """What the model is given of all rows; models that read alike share it."""
        return classifier.learn(self.readings)[1]


def labeled_rows(frame: Any, roles: Roles, folds: int = FOLDS, seed: int = 0) -> LabeledRows:
    """Rows with labels, dealt out to folds by class; what had to be left out is noted."""
    table = frames.as_frame(frame)
    assert table is not None
    name = column_named(table.columns, roles.target, "target column")
    cells = roles.labels(table.get_column(name))
    known = np.array([cell is not None for cell in cells])
    if not known.any():
        raise ValueError(f"Expected labels in the target column {name!r}, got none in any row.")
    notes: list[str] = []
    places = np.flatnonzero(known)
    if roles.weight is not None:
        weight = frames.numbers(table.get_column(roles.weight))[places]
        if weight.sum() > MOST_ROWS:
            weight = np.round(weight * MOST_ROWS / weight.sum())
            notes.append(f"Counts were scaled down to {weight.sum():,.0f} rows.")
        places = np.repeat(places, weight.astype(np.int64))
        notes.append(
            f"{known.sum():,} rows stand for {len(places):,}, as the column {roles.weight} says."
        )
    y = np.array([cells[i] for i in places])
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    if (counts < 2).any():
        alone = [str(c) for c in classes[counts < 2].tolist()]
        kept = counts[codes] >= 2
        places, y = places[kept], y[kept]
        notes.append(
            f"{len(alone)} class(es) with one row each were set aside: {', '.join(alone[:5])}."
        )
        classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        shown = ", ".join(repr(c) for c in classes.tolist())
        raise ValueError(
            f"Expected two classes or more in {name!r}, with two rows each, got {shown or 'none'}."
        )
    random = np.random.default_rng(seed)
    if len(places) > MOST_ROWS:
        notes.append(f"{MOST_ROWS:,} of {len(places):,} rows were drawn by chance.")
        drawn = np.sort(random.choice(len(places), MOST_ROWS, replace=False))
        places, y = places[drawn], y[drawn]
        classes, codes = np.unique(y, return_inverse=True)
    if roles.bands is not None:
        place = {name: k for k, name in enumerate(roles.bands.names)}
        order = np.argsort([place[c] for c in classes.tolist()])
        classes, codes = classes[order], np.argsort(order)[codes]
    own = codes.astype(np.int32)
    rows = frames.take(frame, places)
    belonging = belonging_of(roles, rows)
    dealt = DealtRows.of(roles.selected(rows), *_sorted(own, classes), None, folds, belonging)
    fold = np.empty(len(places), np.int32)
    fold[dealt.order] = dealt.parts
    return LabeledRows(
        rows,
        y,
        own,
        classes,
        places,
        fold,
        int(fold.max()) + 1,
        int((~known).sum()),
        (*notes, *how_held_out(roles)),
        Readings(rows),
        replace(dealt, X=Readings(dealt.X)),
    )


def _sorted(codes: Codes, classes: Array) -> tuple[Codes, Array]:
    """The same with the classes as models have them: bands are not in the order of their names."""
    order = np.argsort(classes)
    return np.argsort(order)[codes].astype(np.int32), classes[order]
