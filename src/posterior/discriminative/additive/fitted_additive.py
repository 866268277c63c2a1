"""FittedAdditive: all that an additive model has learned, as one value."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit

from posterior import kernels
from posterior.data.names import plain
from posterior.data.rows import Rows
from posterior.data.shapes import fields_of
from posterior.data.table import Table
from posterior.data.typing import Array, Codes, Floats
from posterior.discriminative.additive.boosting import Boosted, prior
from posterior.discriminative.additive.cell_parts import CellParts
from posterior.discriminative.additive.cell_rows import CellRows
from posterior.discriminative.additive.convex import Convex
from posterior.discriminative.additive.effect_tables import Shape
from posterior.discriminative.additive.paths import by_path
from posterior.discriminative.additive.table_errors import table_errors
from posterior.discriminative.additive.terms import (
    Term,
    Terms,
    average_of_unseen,
    gathered,
    purified,
)
from posterior.discriminative.fitted_logistic import Filler
from posterior.evaluation.calibration import Calibrator, answers
from posterior.readers.cell_codes import CellCodes
from posterior.readers.cells import MISSING, CellColumns
from posterior.readers.labels import Labels

MOST_COLUMNS = 3  # of a term that is read as a table


@dataclass(frozen=True, eq=False)
class FittedAdditive:
    """Scores b + Σ T[cells], and how rows are read.

    One output scores the second class against the first; of more classes each has its own.
    """

    reader: CellColumns
    labels: Labels
    intercept: Floats  # (outputs,)
    terms: Terms
    cell_weight: tuple[Floats, ...]  # of the rows in each cell of each column
    pace: str
    n_rounds: int
    held_out: Table | None = None  # the loss on rows held out, by pace and round
    information: tuple[Floats, ...] = ()  # Σ w p (1 - p) of each cell, (cells, outputs)
    shrinkage: float = 0.0  # λ
    rows: CellRows | None = None  # those learned from, as long as they are at hand; never stored
    waiting: CellParts | None = None  # those of a stream that came since; never stored
    early: tuple[Rows, ...] = ()  # all rows of a stream that has just begun; never stored
    chosen_weight: float = 0.0  # of the rows by which pace and rounds were chosen
    C: tuple[float, ...] = ()  # the penalties of a convex fit: of columns, and of pairs
    errors: Floats | None = None  # and the standard error of each number of its tables
    calibrator: Calibrator | None = None

    @classmethod
    def of(
        cls, reader: CellColumns, labels: Labels, rows: CellRows, found: Boosted
    ) -> FittedAdditive:
        """Trees gathered into tables, and the tables purified."""
        sizes, start = reader.sizes, prior(rows)
        weight = rows.cell_weight(sizes)
        terms = gathered(tree.term(sizes) for tree in found.trees)
        if all(len(term.columns) <= MOST_COLUMNS for term in terms):
            constant, terms = purified(terms, weight)
            start = start + constant
        else:
            terms = [average_of_unseen(term, weight) for term in terms]
        together = Terms.of(terms, len(start))
        told = found.pace.name, len(found.trees), _losses(found)
        known = _information(rows, start, together, sizes), found.pace.shrinkage
        fitted = cls(reader, labels, start, together, tuple(weight), *told, *known, rows)
        return replace(fitted, chosen_weight=rows.total)

    @property
    def at_hand(self) -> CellRows:
        """The rows that were learned from."""
        if self.rows is None:
            raise ValueError(
                "Expected a model whose rows are at hand, got one that was stored or sent, which "
                "holds none: trees are learned from all rows together. Fit it to all of them."
            )
        return self.rows

    def all_rows(self) -> CellRows:
        """Those, and the ones that wait."""
        waiting = self.waiting or CellParts()
        return (CellParts((self.at_hand,)) + waiting).together()

    def forgetful(self) -> FittedAdditive:
        """Without the rows."""
        return replace(self, rows=None, waiting=None, early=())

    @classmethod
    def of_convex(
        cls, reader: CellColumns, labels: Labels, rows: CellRows, found: Convex
    ) -> FittedAdditive:
        """Tables and lines of a convex fit, purified."""
        weight = rows.cell_weight(reader.sizes)
        constant, terms = purified(found.design.terms(found.coef), weight)
        together = Terms.of(terms, len(found.intercept))
        spread = [e.reshape(-1, len(found.intercept)) for e in table_errors(found, terms, weight)]
        start = found.intercept + constant
        return cls(
            *(reader, labels, start, together, tuple(weight), "", 0, _penalties(found)),
            *(_information(rows, start, together, reader.sizes), 1 / found.C[0], rows),
            chosen_weight=rows.total,
            C=found.C,
            errors=np.concatenate([*spread, np.empty((0, len(found.intercept)))]),
        )

    @property
    def classes(self) -> Array:
        return self.labels.classes

    @cached_property
    def by_table(self) -> bool:
        """Whether every term is a table of three columns at most, and purified."""
        return all(len(columns) <= MOST_COLUMNS for columns in self.terms.columns)

    @cached_property
    def codes(self) -> CellCodes:
        """Rows to their cells, prepared once."""
        return self.reader.coder()

    def __getstate__(self) -> dict[str, Any]:
        """Without what was prepared."""
        return fields_of(self)

    def scores(self, X: Any, engine: Filler) -> Floats:
        """b + Σ T, (n, outputs)."""
        features = self.reader.read(X)
        out = np.empty((features.shape[0], len(self.intercept)))

        def score(chunk: Any, rows: slice, part: Floats) -> None:
            self.reader.check(chunk, rows.start)
            part[:] = self.intercept
            self.terms.add_to(self.codes(chunk), part)

        engine.fill(score, features, out)
        return out

    def posterior(self, X: Any, engine: Filler, wanted: str = "posterior") -> Floats:
        """p(k | x), or its logarithm: "log_posterior"."""
        return answers(self.by_class(self.scores(X, engine)), self.calibrator, wanted)

    def log_posterior_without(self, X: Any, columns: Sequence[Collection[int]]) -> Floats:
        """log p(k | x) (sets, n, k), each set of columns as values never seen: they add nothing."""
        features = self.reader.read(X)
        self.reader.check(features)
        codes, sizes = self.reader.codes(features), self.reader.sizes
        out = np.empty((len(columns), codes.shape[1], len(self.labels)))
        for blank, part in zip(columns, out, strict=True):
            known = codes.copy()
            for j in blank:
                known[j] = sizes[j]
            scores = np.tile(self.intercept, (codes.shape[1], 1))
            self.terms.add_to(known, scores)
            part[:] = answers(self.by_class(scores), self.calibrator, "log_posterior")
        return out

    def by_class(self, scores: Floats) -> Floats:
        """Scores (..., outputs) with one for every class; the first of two has a score of zero."""
        if scores.shape[-1] == len(self.labels):
            return scores
        return np.concatenate([np.zeros_like(scores), scores], axis=-1)

    def effects(self) -> dict[tuple[int, ...], Terms]:
        """What each set of columns adds: the columns one by one, then pairs and triples.

        Past three columns a term, what a column adds is what knowing it changes on the way from
        the first column of the term to the last: evidence by path.
        """
        found: dict[tuple[int, ...], list[Term]] = {(j,): [] for j in range(len(self.reader.kinds))}
        for t, columns in enumerate(self.terms.columns):
            if len(columns) <= MOST_COLUMNS and self.by_table:
                found.setdefault(columns, []).append(self.terms[t])
                continue
            for j, part in by_path(self.terms[t], self.cell_weight):
                found[(j,)].append(part)
        outputs = len(self.intercept)
        return {columns: Terms.of(parts, outputs) for columns, parts in found.items()}

    def shapes(self) -> dict[tuple[int, ...], Shape]:
        """What each set of columns adds, as one table each, the most important first."""
        if not self.by_table:
            deepest = max(map(len, self.terms.columns))
            raise ValueError(
                f"Expected terms of at most {MOST_COLUMNS} columns to show as tables, got terms of "
                f"{deepest}. Fit the model with depth={MOST_COLUMNS}."
            )
        found = [Shape.of(c, terms, self.cell_weight) for c, terms in self.effects().items()]
        return {s.columns: s for s in sorted(found, key=lambda s: -s.importance)}

    def importances(self) -> Table:
        """The mean absolute effect of each set of columns, the most important first."""
        shapes = self.shapes().values()
        return Table(
            {
                "term": np.array([self.name(shape.columns) for shape in shapes], object),
                "importance": np.array([shape.importance for shape in shapes]),
            }
        )

    def parameters(self, shapes: Iterable[Shape]) -> Table:
        """The effect of each cell of some tables on the score of each class."""
        classes = self.classes[-len(self.intercept) :]
        weight = float(self.cell_weight[0].sum())
        lines: list[tuple[Any, ...]] = []
        for shape in shapes:
            names = self.cell_names(shape)
            for at in zip(*np.nonzero(shape.share), strict=True):
                cell = ", ".join(each[g] for each, g in zip(names, at, strict=True))
                told = self.name(shape.columns), cell
                effects = zip(classes, shape.effect[at], strict=True)
                lines += [(*told, plain(c), e, weight * shape.share[at]) for c, e in effects]
        kinds = {"term": object, "cell": object, "class": object, "effect": float, "weight": float}
        columns = zip(*lines, strict=True)
        found = zip(kinds.items(), columns, strict=True)
        return Table({name: _column(cells, kind) for (name, kind), cells in found})

    def cell_names(self, shape: Shape) -> list[list[str]]:
        """What the groups of each column of a shape are called."""
        axes = zip(shape.columns, shape.groups, strict=True)
        gaps = [weight[MISSING] > 0 for weight in self.cell_weight]
        return [self.reader.group_names(j, group, bool(gaps[j])) for j, group in axes]

    def evidence(self, X: Any) -> tuple[Floats, Floats, Array]:
        """What each set of columns adds to the scores, (n, k, sets), the constant, and names."""
        features = self.reader.read(X)
        self.reader.check(features)
        codes, effects = self.codes(features), self.effects()
        parts = np.zeros((len(effects), codes.shape[1], len(self.intercept)))
        for terms, part in zip(effects.values(), parts, strict=True):
            terms.add_to(codes, part)
        names = np.array([self.name(columns) for columns in effects], object)
        return np.moveaxis(self.by_class(parts), 0, 2), self.by_class(self.constant), names

    @property
    def constant(self) -> Floats:
        """What is left of the scores without the effects, (outputs,)."""
        if self.by_table:
            return self.intercept
        return self.intercept + path_constant(self.terms)

    @property
    def n_parameters(self) -> int:
        """Cells of all tables, of which each has a number for each output, and the constants."""
        seen = (
            np.prod([s - 1 for s in self.terms[t].table.shape[:-1]]) for t in range(len(self.terms))
        )
        return int(sum(seen) + 1) * len(self.intercept)

    def summary(self) -> Table:
        """Every number of the tables and its standard error."""
        assert self.errors is not None
        label = [str(plain(k)) for k in self.classes][-len(self.intercept) :]
        parts: list[tuple[str, str, str, float, float]] = []
        for t, columns in enumerate(self.terms.columns):
            term = self.terms[t]
            pairs = zip(columns, term.groups, strict=True)
            names = [  # the last group is that of values never seen, and cells without rows
                self.reader.group_names(j, group[:-1])[: int(group[-1])] for j, group in pairs
            ]
            spread = self.errors[self.terms.start[t] : self.terms.start[t + 1]]
            errors = spread.reshape(term.table.shape)
            for cell in np.ndindex(*(len(n) for n in names)):
                called = " × ".join(n[c] for n, c in zip(names, cell, strict=True))
                for m, k in enumerate(label):
                    score, error = term.table[(*cell, m)], errors[(*cell, m)]
                    parts.append((self.name(columns), called, k, float(score), float(error)))
        found = list(zip(*parts, strict=True)) or [()] * 5
        heads = "term", "cell", "class", "score", "error"
        kinds = object, object, object, float, float
        each = zip(heads, found, kinds, strict=True)
        return Table({head: np.array(column, kind) for head, column, kind in each})

    def term_names(self) -> list[tuple[Any, ...]]:
        """The columns of each table, by name."""
        names = self.reader.names
        sets = dict.fromkeys(self.terms.columns)
        return [tuple(plain(names[j]) for j in columns) for columns in sets]

    def term_of(self, columns: Sequence[Any]) -> tuple[int, ...]:
        """A column, a pair or a triple by the names of its columns, if there is such a term."""
        names = [plain(name) for name in self.reader.names]
        known = [c for c in columns if plain(c) in names]
        if len(known) < len(columns):
            wrong = next(c for c in columns if c not in known)
            raise ValueError(f"Expected columns of {names}, got {wrong!r}.")
        found = tuple(sorted(names.index(plain(c)) for c in columns))
        if len(found) > 1 and found not in self.terms.of_columns():
            raise ValueError(
                f"Expected columns that have a term together, got {list(columns)}: the model adds "
                "them up one by one. model.terms_ lists those that have."
            )
        return found

    def name(self, columns: tuple[int, ...]) -> str:
        """What a set of columns is called."""
        return " × ".join(str(self.reader.names[j]) for j in columns)


def _column(cells: Sequence[Any], kind: Any) -> Array:
    column = np.empty(len(cells), kind)
    column[:] = cells
    return column


def _information(rows: CellRows, start: Floats, terms: Terms, sizes: Codes) -> tuple[Floats, ...]:
    """Σ w p (1 - p) of the rows in each cell, (cells, outputs) for each column."""
    p = np.tile(start, (len(rows), 1))
    terms.add_to(rows.codes, p)
    if len(start) > 1:
        kernels.normalize(p, "posterior")
    else:
        p = expit(p)
    curvature = (rows.weight[:, None] * p * (1 - p)).T
    pairs = zip(rows.codes, sizes, strict=True)
    return tuple(
        np.stack([np.bincount(c, h, size) for h in curvature], axis=1) for c, size in pairs
    )


def path_constant(terms: Terms) -> Floats:
    """What terms say before any column is known."""
    none = [terms[t].table[(-1,) * len(columns)] for t, columns in enumerate(terms.columns)]
    return np.asarray(np.sum(none, axis=0))


def _losses(found: Boosted) -> Table | None:
    """Held-out loss by pace and round."""
    some = {name: loss for name, loss in found.losses.items() if loss.ndim}  # if rows were held out
    if not some:
        return None
    return Table(
        {
            "pace": np.concatenate([np.full(len(v), n, object) for n, v in some.items()]),
            "round": np.concatenate([np.arange(1, len(v) + 1) for v in some.values()]),
            "log_loss": np.concatenate(list(some.values())),
        }
    )


def _penalties(found: Convex) -> Table | None:
    """Held-out loss by columns a table and C."""
    if not found.losses:
        return None
    depth, C, loss = zip(*found.losses, strict=True)
    return Table({"depth": np.array(depth), "C": np.array(C), "log_loss": np.array(loss)})
