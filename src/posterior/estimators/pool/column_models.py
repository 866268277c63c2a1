"""Columns of many values, and texts beside other columns, reach all models as numbers.

A model of the column alone says log p(k | x_j) - log p(k), its evidence. Rows that are learned from
are given what a model without their fold says, so that no row hears its own class; new rows what
the model of all rows says.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np

from posterior.data import frames
from posterior.data.one_row import OneRow, word
from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.discriminative.pooling import PoolWeights, weighed
from posterior.estimators.pool.dealt_rows import FOLDS, DealtRows
from posterior.estimators.pool.value_shares import ValueShares
from posterior.estimators.refits import learned_by
from posterior.estimators.table_classifier import Readings
from posterior.estimators.text.text_classifier import TextClassifier
from posterior.evaluation.held_out import aligned, floored
from posterior.generative.dealing import in_turn
from posterior.preprocessing.numbers import words
from posterior.preprocessing.roles import ColumnRole, Roles
from posterior.sources.files import column_named
from posterior.text.damping import UNIT_LOG_COUNTS

UNIQUE = 0.95  # of the cells differ: values that hardly repeat say nothing as a whole
SHORT = 60  # letters of a text whose letters are read beside its words
SEVERAL_WORDS = 1.3  # a cell, on average
LOGISTIC_DOCUMENTS = 20_000  # times classes that a logistic model of words is learned from
SURE = 2.0  # standard errors by which a column must tell on rows held out
MISSING = "(missing)"  # a value like others


@dataclass(frozen=True, slots=True, eq=False)
class ColumnModel:
    """What a column alone says of the classes: by its values, its words and its letters."""

    name: str
    classes: Array
    log_prior: Floats  # (k,)
    models: tuple[ValueShares | TextClassifier, ...]
    pool: PoolWeights

    @property
    def names(self) -> list[str]:
        """Of the numbers: one for two classes, otherwise one for each but the first."""
        if len(self.classes) == 2:
            return [self.name]
        return [f"{self.name}: {label}" for label in self.classes[1:].tolist()]

    def __call__(self, cells: Sequence[str | None]) -> Floats:
        """Evidence for each class against the first, (n, k - 1)."""
        said = [_said(model, cells, self.classes) for model in self.models]
        return evidence(self.pool, np.stack(said), self.log_prior)


@dataclass(frozen=True, slots=True, eq=False)
class ColumnModels:
    """All columns of a table that have a model of their own, and the table without them."""

    columns: tuple[ColumnModel, ...] = ()
    roles: Roles = field(kw_only=True)  # of the table that models are given
    silent: tuple[str, ...] = ()  # columns that say nothing of rows held out

    @classmethod
    def learn(cls, roles: Roles, rows: DealtRows) -> tuple[ColumnModels, DealtRows]:
        """Models of the columns, and the rows as other models are given them."""
        asked = roles.modeled
        if not asked:
            return cls(roles=roles), rows
        frame = rows.X.frame
        found = [_learned(role, cells_of(frame, role.name), rows) for role in asked]
        telling = [each for each in found if each.tells]
        if not telling and not roles.table:  # they say little, and that is the answer
            telling = found
        models = tuple(each.model for each in telling)
        silent = tuple(each.model.name for each in found if each not in telling)
        columns = cls(models, roles=_given(roles, models, silent), silent=silent)
        told = [zip(each.model.names, each.evidence.T, strict=True) for each in telling]
        numbers = {name: cells for each in told for name, cells in each}
        return columns, replace(rows, X=Readings(columns.replaced(frame, numbers)))

    def __call__(self, X: Any) -> Any:
        """A table, or one row of it, with numbers in the place of these columns."""
        if not self.columns:
            return X
        numbers: dict[str, Floats] = {}
        for column in self.columns:
            told = column(cells_of(X, column.name))
            numbers |= dict(zip(column.names, told.T, strict=True))
        return self.replaced(X, numbers)

    def replaced(self, X: Any, numbers: dict[str, Floats]) -> Any:
        """A table with these columns of numbers; others of the same names are gone."""
        gone = {column.name for column in self.columns} | set(self.silent)
        if isinstance(X, OneRow):
            rest = {name: cell for name, cell in X.cells.items() if name not in gone}
            return OneRow(rest | {name: float(cells[0]) for name, cells in numbers.items()})
        table = frames.as_frame(X)
        assert table is not None
        kept = table.select([name for name in table.columns if name not in gone])
        made = [nw.new_series(n, v, backend=table.implementation) for n, v in numbers.items()]
        return kept.with_columns(made).to_native() if len(kept.columns) else _frame(made)

    def screened_to(self, names: Collection[str]) -> ColumnModels:
        """The same where models have chosen among many columns: no others are read."""
        kept = tuple(c for c in self.columns if any(name in names for name in c.names))
        return replace(self, columns=kept, roles=self.roles.screened_to(*names))

    def plain(self) -> Roles:
        """The columns as they came, without the numbers that models of single columns say."""
        made = {own for column in self.columns for own in column.names}
        columns = (replace(c, used=c.used and c.name not in made) for c in self.roles.columns)
        return replace(self.roles, columns=tuple(columns))

    @property
    def sources(self) -> dict[str, str]:
        """The column that each number, and each part of a date, comes from."""
        known = {own: column.name for column in self.columns for own in column.names}
        return self.roles.origins | known


def evidence(pool: PoolWeights, said: Floats, log_prior: Floats) -> Floats:
    """log p(k | x) / p(k) of a pool of models (m, n, k), against the first class."""
    told = pool.log_proba(said) - log_prior
    return np.asarray(told[:, 1:] - told[:, :1])


def cells_of(X: Any, name: str) -> list[str | None]:
    """The cells of a column as text; a missing one is a value like others."""
    if isinstance(X, OneRow):
        found = [word(X.cells[column_named([*X.cells], name)], name)]
    else:
        table = frames.as_frame(X)
        assert table is not None
        found = words(table.get_column(column_named(table.columns, name)))
    return [MISSING if cell is None else cell for cell in found]


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """A model of one column, and its evidence (n, k - 1) for rows, each without its fold."""

    model: ColumnModel
    evidence: Floats
    tells: bool  # whether it is better than the shares of the classes, on rows held out


def _learned(role: ColumnRole, cells: list[str | None], rows: DealtRows) -> Learned:
    codes, k, weight = rows.codes, len(rows.classes), rows.weight
    count = np.bincount(codes, weight, k) + 0.5
    log_prior = np.log(count / count.sum())
    folds = _every_row_in_a_fold(rows)
    models, said = zip(*_tried(role, cells, rows, folds), strict=True)
    told = np.stack([floored(each) for each in said])
    pool = weighed(told, codes, weight)
    gain = pool.log_proba(told)[np.arange(len(codes)), codes] - log_prior[codes]
    tells = gain.mean() > SURE * gain.std() / np.sqrt(len(gain))
    kept: Integers = np.flatnonzero(pool.weights > 0)
    pool = PoolWeights(pool.weights[kept], pool.intercept)
    column = ColumnModel(role.name, rows.classes, log_prior, tuple(models[i] for i in kept), pool)
    return Learned(column, evidence(pool, told[kept], log_prior), bool(tells))


def _every_row_in_a_fold(rows: DealtRows) -> Codes:
    """The folds, and some more for rows that are never held out, groups kept together."""
    found = rows.folds.copy()
    rest = found < 0
    if rest.any():
        apart = in_turn(int(rest.sum()), FOLDS) if rows.belonging is None else rows.parts[rest]
        found[rest] = found.max() + 1 + apart
    return found


def _tried(
    role: ColumnRole, cells: list[str | None], rows: DealtRows, folds: Codes
) -> Iterator[tuple[ValueShares | TextClassifier, Floats]]:
    """Models of the column, each with what it says of rows without their fold."""
    codes, k, weight = rows.codes, len(rows.classes), rows.weight
    n = len(cells)
    known = [cell for cell in cells if cell is not None and cell != MISSING]
    if role.distinct < UNIQUE * max(len(known), 1) or len(known) < n:
        shares = ValueShares.learn(cells, codes, k, weight)
        said = np.empty((n, k))
        for fold in np.unique(folds):
            own = np.flatnonzero(folds == fold)
            some = [cells[i] for i in own]
            others = shares.without(some, codes[own], None if weight is None else weight[own])
            said[own] = others.log_proba(some)
        yield shares, said
    for text in _texts(known, n, k):
        model, said = learned_by(text, cells, rows.labels, folds, weight)
        yield model, aligned(said, np.asarray(model.classes_), rows.classes)


def _texts(known: Sequence[str], n: int, k: int) -> Iterator[TextClassifier]:
    """Of words, where cells have several; and of letters, where they are short."""
    model = "logistic" if n * max(k - 1, 1) <= LOGISTIC_DOCUMENTS else "multinomial"
    length = sum(map(len, known)) / max(len(known), 1)
    several = sum(len(cell.split()) for cell in known) / max(len(known), 1) >= SEVERAL_WORDS
    if several:
        yield TextClassifier(model, weighting=UNIT_LOG_COUNTS, min_df=2)
    if length <= SHORT:
        yield TextClassifier(
            model, weighting=UNIT_LOG_COUNTS, min_df=2, analyzer="char_wb", ngram_range=(1, 4)
        )


def _said(model: ValueShares | TextClassifier, cells: Sequence[str | None], classes: Array) -> Any:
    if isinstance(model, ValueShares):
        return model.log_proba(cells)
    return floored(aligned(model.predict_log_proba(cells), np.asarray(model.classes_), classes))


def _given(roles: Roles, found: Sequence[ColumnModel], silent: Sequence[str]) -> Roles:
    """The roles of the table that models are given."""
    made = {column.name: column.names for column in found}
    columns: list[ColumnRole] = []
    for role in roles.columns:
        if role.name in made:
            number = replace(role, role="number", missing=0, examples=(), flags=())
            columns += [replace(number, name=name) for name in made[role.name]]
        elif role.name in silent:
            columns.append(replace(role, used=False))
        else:
            columns.append(role)
    return replace(roles, columns=tuple(columns))


def _frame(series: Sequence[nw.Series[Any]]) -> Any:
    return frames.from_columns(
        {s.name: s.to_numpy() for s in series}, series[0].implementation
    ).to_native()
