"""Wide tables: members read the columns that tell something beyond chance, found fold by fold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from posterior.data import frames
from posterior.data.typing import Codes, Floats, Integers
from posterior.estimators.pool.dealt_rows import DealtRows
from posterior.estimators.pool.weighing import Trial
from posterior.estimators.refits import given
from posterior.estimators.table_classifier import Readings, TableClassifier
from posterior.evaluation.held_out import aligned
from posterior.preprocessing.column_gains import (
    Labels,
    by_chance,
    gains_of_levels,
    gains_of_numbers,
    normal_scores,
    telling,
)
from posterior.preprocessing.numbers import MOST_LEVELS
from posterior.preprocessing.roles import Roles

MANY = 200  # columns that are screened, however many rows there are;
SEVERAL = 50  # so many, where they are more than half as many as the rows
FALSE = 0.1  # of the columns that are kept may be there by chance
LEAST, MOST = 5, 60  # columns that are kept; of so many, all pairs are soon counted
CELLS = 4e7  # rows × columns × classes that are looked at: of more rows, every other, or fewer


def is_wide(roles: Roles, n_rows: int) -> bool:
    """Whether most columns of a table would be in the way."""
    d = len(roles.table)
    return d > MANY or (d > SEVERAL and 2 * d > n_rows)


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The columns of a table, made ready to be looked at one by one without any label."""

    numbers: Floats  # (n, ·), by their ranks
    levels: Codes  # (n, ·), the codes of categories; missing ones and rare ones have their own
    names: tuple[str, ...]  # of the numbers, then of the categories

    @classmethod
    def of(cls, roles: Roles, readings: Readings) -> Cells:
        table = frames.as_frame(TableClassifier(None, roles).read(readings))
        assert table is not None
        by_role: dict[bool, list[str]] = {True: [], False: []}
        for column in roles.table:
            by_role[column.role in ("number", "date")].append(column.name)
        n = len(table)
        numbers = [frames.numbers(table.get_column(name)) for name in by_role[True]]
        levels = [_levels(table.get_column(name)) for name in by_role[False]]
        return cls(
            normal_scores(np.column_stack(numbers)) if numbers else np.empty((n, 0)),
            np.column_stack(levels) if levels else np.empty((n, 0), np.int32),
            (*by_role[True], *by_role[False]),
        )

    def telling(self, rows: Integers, labels: Labels) -> tuple[list[str], int]:
        """Names from the surest to the least, and how many tell of the classes of some rows."""
        numbers, of_numbers = gains_of_numbers(self.numbers[rows], labels)
        levels, of_levels = gains_of_levels(self.levels[rows], labels)
        gains, freedom = np.append(numbers, levels), np.append(of_numbers, of_levels)
        order, _ = by_chance(gains, freedom)
        return [self.names[j] for j in order], len(telling(gains, freedom, FALSE))


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """Rows held out, and the columns that the others kept."""

    roles: Roles
    train: Integers
    test: Integers
    known: Readings  # what is read of the others
    asked: Readings


@dataclass(frozen=True, slots=True, eq=False)
class Screening:
    """The columns that all rows keep, and those that are kept without each fold.

    What is said of rows held out owes nothing to their classes: neither what a member learned, nor
    which columns it reads.
    """

    roles: Roles  # of what all rows keep
    many_tell: bool  # whether more columns tell than are kept
    rows: DealtRows
    readings: Readings
    folds: tuple[Fold, ...]

    @classmethod
    def of(cls, roles: Roles, rows: DealtRows) -> Screening:
        """Look at every column without each fold, and with all rows."""
        cells = Cells.of(roles, rows.X)

        def kept(index: Integers) -> tuple[Roles, int]:
            """A few at least, though chance may have made them so."""
            k = len(rows.classes)
            step = -(-len(index) * len(cells.names) * k // int(CELLS))
            some = index[:: max(1, step)]  # rows are sorted by class: all have their share
            weight = np.ones(len(some)) if rows.weight is None else rows.weight[some]
            names, n = cells.telling(some, Labels(rows.codes[some], weight, k))
            return narrowed(roles, names[: min(max(n, LEAST), MOST)]), n

        def part(own: Roles, index: Integers) -> Readings:
            return Readings(frames.take(own.selected(rows.X.frame), index))

        folds = []
        for f in np.unique(rows.folds[rows.folds >= 0]):
            train, test = np.flatnonzero(rows.folds != f), np.flatnonzero(rows.folds == f)
            own, _ = kept(train)
            folds.append(Fold(own, train, test, part(own, train), part(own, test)))
        every = np.arange(len(rows.codes))
        of_all, n = kept(every)
        return cls(of_all, n > MOST, rows, part(of_all, every), tuple(folds))

    def trial(self, name: str, member: TableClassifier) -> Trial:
        """A member that has learned from all rows, and what it said without each fold."""
        rows = self.rows
        model = self._fitted(member, self.roles, self.readings, np.arange(len(rows.codes)))
        said = np.full((len(rows.codes), len(rows.classes)), np.nan)
        for fold in self.folds:
            other = self._fitted(member, fold.roles, fold.known, fold.train)
            answers = other.predict_log_proba(fold.asked)
            said[fold.test] = aligned(answers, np.asarray(other.classes_), rows.classes)
        return Trial.of_answers(name, model, said, rows)

    def _fitted(
        self, member: TableClassifier, roles: Roles, known: Readings, index: Integers
    ) -> TableClassifier:
        own: TableClassifier = clone(member).set_params(roles=roles)
        return own.fit(known, self.rows.labels[index], **given(self.rows.weight, index))


def narrowed(roles: Roles, names: Any) -> Roles:
    """Nothing of the table's columns but some."""
    kept, table = set(names), {column.name for column in roles.table}
    columns = tuple(c for c in roles.columns if c.name in kept or c.name not in table)
    return replace(roles, columns=columns)


def _levels(column: Any) -> Codes:
    """Codes from 0; missing cells and rare levels have one each."""
    codes, _ = frames.coded(column, column.name)
    counts = np.bincount(codes + 1)
    order = np.argsort(-counts[1:], kind="stable")
    place = np.full(len(counts), min(len(order), MOST_LEVELS), np.int32)
    place[1 + order[:MOST_LEVELS]] = np.arange(min(len(order), MOST_LEVELS))
    place[0] = place.max() + 1
    found: Codes = np.unique(place[codes + 1], return_inverse=True)[1].astype(np.int32)
    return found
