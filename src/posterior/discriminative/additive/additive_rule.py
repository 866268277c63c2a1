"""Rows of cells to an additive model: chosen anew, or at the pace and rounds of one before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np

from posterior.data.fingerprints import fingerprints
from posterior.data.names import plain
from posterior.data.rows import Hard, Rows
from posterior.data.typing import Array, Codes, Floats
from posterior.discriminative.additive.boosting import Boosted, Pace, boosted
from posterior.discriminative.additive.cell_parts import CellParts, GatherCells, check_boosting
from posterior.discriminative.additive.cell_rows import MANY_ROWS, CellRows
from posterior.discriminative.additive.convex import ROUGH, Engine, convex
from posterior.discriminative.additive.fitted_additive import FittedAdditive
from posterior.readers.cells import CellColumns, LookAtCells
from posterior.readers.labels import Labels

DOUBLED = 2.0  # the weight of the rows, since pace and rounds were chosen: they are chosen anew
GROWN = 1.05  # the same since the last fit: its trees are learned anew
EARLY = 1000  # rows of a stream, by which its cells are chosen


@dataclass(frozen=True, slots=True)
class ConvexTables:
    """What the convex solver is told: pairs or not, a penalty or None to choose one."""

    pairs: bool
    C: float | None
    one_thread: Callable[[], AbstractContextManager[object]]  # of matrix products: folds have some

    @property
    def given(self) -> tuple[float, float] | None:
        """The penalty on columns, and on pairs."""
        return None if self.C is None else (self.C, self.C)


@dataclass(frozen=True, slots=True, eq=False)
class AdditiveRule:
    """How rows of cells become tables, and when rows that came later do."""

    depth: int
    paces: Callable[[int], Sequence[Pace]]  # those that are tried on so many rows
    rounds: int | None  # None: as many as predict held-out rows best
    cells: int  # into which a column of numbers is cut
    threads: Engine
    convex: ConvexTables | None = None  # in the place of boosting

    def chosen(self, reader: CellColumns, labels: Labels, rows: CellRows) -> FittedAdditive:
        """At the pace and for the rounds, or penalties, of the least loss on rows held out."""
        if self.convex is not None and len(np.unique(rows.labels)) > 1:
            with self.convex.one_thread():
                tables = convex(rows, reader, self.convex.pairs, self.convex.given, self.threads)
            return FittedAdditive.of_convex(reader, labels, rows, tables)
        found = self._boosted(reader, rows, self.paces(len(rows)), self.rounds)
        return FittedAdditive.of(reader, labels, rows, found)

    def holding_out(
        self, reader: CellColumns, labels: Labels, rows: CellRows, held: Floats
    ) -> tuple[FittedAdditive, Floats]:
        """The same by folds that hold out some weights (n_folds, n), and what these were scored.

        The scores (n, outputs) of rows that no fold held out are NaN.
        """
        if self.convex is not None:
            with self.convex.one_thread():
                pairs, given = self.convex.pairs, self.convex.given
                tables = convex(rows, reader, pairs, given, self.threads, held)
            assert tables.held_scores is not None  # C is chosen
            return FittedAdditive.of_convex(reader, labels, rows, tables), tables.held_scores
        found = self._boosted(reader, rows, self.paces(len(rows)), self.rounds, held)
        assert found.held_scores is not None
        return FittedAdditive.of(reader, labels, rows, found), found.held_scores

    def again(self, before: FittedAdditive, labels: Labels, rows: CellRows) -> FittedAdditive:
        """At those of the model before: nothing is held out, which is a sixth of the work.

        A pace that is not tried on so many rows is no longer the one to keep: one is chosen.
        """
        reader = before.reader.sharing(rows.codes)
        paces = [pace for pace in self.paces(len(rows)) if pace.name == before.pace]
        if not paces:
            return self.chosen(reader, labels, rows)
        rounds = before.n_rounds if self.rounds is None else self.rounds
        found = self._boosted(reader, rows, paces, rounds)
        fitted = FittedAdditive.of(reader, labels, rows, found)
        return replace(fitted, held_out=before.held_out, chosen_weight=before.chosen_weight)

    def kept(self, before: FittedAdditive, labels: Labels, rows: CellRows) -> FittedAdditive:
        """At the pace and rounds, or the penalties, of a model of other rows, however many."""
        if self.convex is not None and before.C:
            with self.convex.one_thread():
                given = (before.reader, len(before.C) > 1, before.C)
                tables = convex(rows, *given, self.threads, stop=ROUGH)
            return FittedAdditive.of_convex(before.reader, labels, rows, tables)
        paces = [pace for n in (0, MANY_ROWS) for pace in self.paces(n) if pace.name == before.pace]
        found = self._boosted(before.reader, rows, paces, before.n_rounds)
        return FittedAdditive.of(before.reader, labels, rows, found)

    def begun(self, reader: CellColumns, labels: Labels, early: tuple[Rows, ...]) -> FittedAdditive:
        """Of a stream that has just begun: its cells are chosen too, until it has enough rows."""
        known = reader.looked(reduce(add, map(LookAtCells(reader), early)), self.cells)
        rows = reduce(add, map(GatherCells(known), early)).together()
        fitted = self.chosen(known, labels, rows)
        return replace(fitted, early=early if _n_rows(early) < EARLY else ())

    def with_rows(self, before: FittedAdditive, labels: Labels, more: Rows) -> FittedAdditive:
        """After more rows; see `Additive.partial_fit`."""
        rows, waiting, early = before.at_hand, before.waiting or CellParts(), before.early
        if len(labels) > len(before.labels):
            place, k = labels.places(before.labels), len(labels)
            rows, waiting = rows.placed(place, k), waiting.placed(place, k)
            early = tuple(replace(part, groups=_placed(part.hard, place, k)) for part in early)
        early = (*early, more) if early else ()
        waiting = waiting + GatherCells(before.reader)(more)
        weight = rows.total + waiting.total
        news = len(labels) > len(before.labels) or before.n_rounds == 0
        news = news or weight >= DOUBLED * before.chosen_weight or _n_rows(early) >= EARLY
        if news and early:
            return self.begun(before.reader, labels, early)
        if not news and weight < GROWN * rows.total:
            return replace(before, labels=labels, waiting=waiting, early=early)
        rows = (CellParts((rows,)) + waiting).together()
        if news:
            return self.chosen(before.reader.sharing(rows.codes), labels, rows)
        return replace(self.again(before, labels, rows), early=early)

    def without_rows(
        self, before: FittedAdditive, cells: Array, codes: Codes, weight: Floats | None
    ) -> FittedAdditive:
        """Without some rows that were learned; chosen anew."""
        rows = before.all_rows() - CellRows.of(cells, codes, weight, len(before.labels))
        _check_learned(rows, cells, codes, before.labels)
        labels, stays = before.labels.less(codes, weight, rows.class_weight())
        place = np.zeros(rows.n_classes, np.int32)
        place[stays] = np.arange(len(stays))
        rows = rows.placed(place, len(stays))
        return self.chosen(before.reader.sharing(rows.codes), labels, rows)

    def merged(self, a: FittedAdditive, b: FittedAdditive) -> FittedAdditive:
        """Of the rows of two models that have the same cells; chosen anew."""
        a.reader.check_same(b.reader)
        labels = a.labels + b.labels
        parts = [m.all_rows().placed(labels.places(m.labels), len(labels)) for m in (a, b)]
        rows = parts[0] + parts[1]
        return self.chosen(a.reader.sharing(rows.codes), labels, rows)

    def _boosted(
        self,
        reader: CellColumns,
        rows: CellRows,
        paces: Sequence[Pace],
        rounds: int | None,
        held: Floats | None = None,
    ) -> Boosted:
        if len(np.unique(rows.labels)) < 2:  # nothing to tell apart
            return Boosted((), paces[0], {})
        check_boosting(rows, 1 if rows.n_classes == 2 else rows.n_classes)
        given = reader.sizes, reader.ordered, self.depth, paces, rounds
        return boosted(rows, *given, self.threads, held)


def _check_learned(left: CellRows, cells: Array, codes: Codes, labels: Labels) -> None:
    """Refuse to take rows back that leave others which weigh less than nothing."""
    owed = left.weight < 0
    if owed.any():
        never = np.isin(fingerprints(cells.T), left.key[owed]) & np.isin(codes, left.labels[owed])
        row = int(never.argmax())
        raise ValueError(
            f"Expected rows that were learned, got {np.count_nonzero(never)} that were not, or not "
            f"as often: the first is row {row}, of class {plain(labels.classes[codes[row]])!r}. "
            "Leave them out."
        )


def _n_rows(parts: tuple[Rows, ...]) -> int:
    return sum(map(len, parts))


def _placed(groups: Hard, place: Array, n_groups: int) -> Hard:
    """The same rows, where classes have new codes."""
    return Hard(place[groups.codes].astype(np.int32), n_groups, groups.weight)
