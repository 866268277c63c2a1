"""Boosting: small symmetric trees, each of which is a table of two by two by two cells.

    s ← s + rate · T,   T[leaf] = -G / (H + λ),   G = Σ w (p - y),   H = Σ w p (1 - p)

A level of a tree cuts all its nodes alike, so that a tree of three levels is a function of at most
three columns, and a sum of such trees a sum of tables of one, two and three columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from math import ceil, frexp
from typing import Any, Protocol

import numpy as np
from scipy.special import ndtri

from posterior import kernels
from posterior.data.fingerprints import mixed
from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.discriminative.additive.cell_rows import MANY_ROWS, CellRows
from posterior.discriminative.additive.terms import Term

MOST_ROUNDS = 2_000
PATIENCE = 100  # rounds without a better held-out loss, after which there is none to come
TOGETHER = 16  # rounds of one fit before the next has its turn
DRAWS = (np.arange(1024) + 0.5) / 1024
LUCK = -np.log1p(-DRAWS) / np.mean(-np.log1p(-DRAWS))  # exponential: a Bayesian bootstrap of rows
NORMAL = ndtri(DRAWS)
LARGEST = float(LUCK.max())


class Threads(Protocol):
    """What is needed of an engine."""

    def map(self, function: Callable[[int], Any], starts: Iterable[int]) -> Iterable[Any]: ...


@dataclass(frozen=True, slots=True)
class Pace:
    """How boosting goes ahead: small steps with much chance, or large ones without."""

    name: str
    rate: float
    shrinkage: float  # λ
    columns: float = 1.0  # the share of columns that a level may cut
    luck: bool = False  # whether rows draw random weights, each round anew
    noise: float = 0.0  # on the square root of gains, in deviations of the residuals; it fades


GENTLE = Pace("gentle", rate=0.03, shrinkage=1.0, columns=0.5, luck=True, noise=0.5)
SHARP = Pace("sharp", rate=0.1, shrinkage=0.3, columns=0.5)
SWIFT = Pace("swift", rate=0.2, shrinkage=0.3, columns=0.5)


def paces(n_rows: int) -> tuple[Pace, ...]:
    """Those worth trying: many rows leave little to chance, and want many small tables soon."""
    return (SWIFT,) if n_rows >= MANY_ROWS else (GENTLE, SHARP)


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """The column of each level, the side of each of its cells, and the values of the leaves."""

    columns: Codes  # (depth,)
    sides: Array  # (depth, 256) of 0 and 1
    leaves: Floats  # (2^depth, outputs), the first level in the highest bit

    def add_to(self, codes: Array, out: Floats) -> None:
        """out ← out + the leaves of rows of cells (d, n)."""
        axis, first, stride, cells = _layout(len(self.columns))
        where = axis, self.columns, first, stride, self.sides.ravel(), cells
        kernels.add_tables(codes, *where, self.leaves, out)

    def term(self, sizes: Codes) -> Term:
        """The tree as a table over its columns, of which one may be cut more than once."""
        columns = sorted(set(self.columns.tolist()))
        groups, places = [], np.zeros((1,) * len(columns), np.int64)
        for axis, j in enumerate(columns):
            levels = np.flatnonzero(self.columns == j)
            cells = np.zeros(sizes[j], np.int64)
            for level in levels:  # the bits of the leaf that this column decides
                bit = len(self.columns) - 1 - level
                cells += self.sides[level, : sizes[j]].astype(np.int64) << bit
            there = np.zeros(len(self.leaves), bool)
            there[cells] = True
            leaf = np.flatnonzero(there)
            group = (np.cumsum(there) - 1)[cells]
            groups.append(np.append(group, len(leaf)).astype(np.uint8))
            shape = [1] * len(columns)
            shape[axis] = len(leaf) + 1
            places = places + np.append(leaf, 0).reshape(shape)
        return Term(tuple(columns), tuple(groups), self.leaves[places])


@cache
def _layout(depth: int) -> tuple[Integers, Integers, Integers, Integers]:
    """How the leaves of a tree are a table: its axes, their cells, their strides, and its end."""
    stride = 1 << np.arange(depth)[::-1]
    return np.array([0, depth]), np.arange(depth + 1) * 256, stride, np.array([0, 1 << depth])


@dataclass(slots=True, eq=False)
class Progress:
    """A fit that goes ahead round by round, and its loss on rows held out."""

    rows: CellRows
    held: CellRows
    sizes: Codes
    ordered: Array
    pace: Pace
    depth: int
    start: Floats  # (outputs,)
    trees: list[Tree] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    _scores: Floats = field(init=False)
    _held_scores: Floats = field(init=False)
    _residual: Integers = field(init=False)
    _scale: float = field(init=False)

    def __post_init__(self) -> None:
        n, m = len(self.rows), len(self.start)
        self._scores = np.tile(self.start, (n, 1))
        self._held_scores = np.tile(self.start, (len(self.held), 1))
        self._residual = np.empty((n, 2, m), np.int64)
        self._scale = _scale(self.rows.weight)

    def advance(self, rounds: int) -> None:
        """Some rounds more."""
        first = len(self.trees)
        for turn, candidates in enumerate(self._candidates(first, rounds), first):
            tree = self._next(turn, candidates)
            tree.add_to(self.rows.codes, self._scores)
            self.trees.append(tree)
            if len(self.held):
                tree.add_to(self.held.codes, self._held_scores)
                told = self._held_scores, self.held.labels, self.held.weight
                self.losses.append(kernels.log_loss(*told))

    def _next(self, turn: int, candidates: Codes) -> Tree:
        """The tree of a round."""
        rows, pace = self.rows, self.pace
        drawn = (rows.key, LUCK, turn) if pace.luck else None
        residual = kernels.residuals(
            self._scores, rows.labels, rows.weight, self._scale, drawn, self._residual
        )
        columns, sides, sums = kernels.symmetric_tree(
            *(rows.codes, residual, self.sizes, self.ordered, candidates),
            *(1.0 / self._scale, pace.shrinkage, (self._noise(residual, turn), NORMAL, turn << 20)),
        )
        g, h = sums[:, 0] / self._scale, sums[:, 1] / self._scale
        leaves = -pace.rate * g / (h + pace.shrinkage)
        return Tree(columns, sides, np.ascontiguousarray(leaves))

    def _candidates(self, first: int, rounds: int) -> Codes:
        """The columns that each level of each round may cut, (rounds, depth, count): by lot."""
        d = len(self.sizes)
        count = ceil(d * self.pace.columns)
        if count == d:
            return np.tile(np.arange(d, dtype=np.int32), (rounds, self.depth, 1))
        turn = np.arange(first + 1, first + rounds + 1, dtype=np.uint64) << np.uint64(24)
        drawn = mixed(mixed(np.add.outer(turn, np.arange(self.depth * d, dtype=np.uint64))))
        drawn = drawn.reshape(rounds, self.depth, d)
        return np.sort(np.argsort(drawn)[:, :, :count]).astype(np.int32)

    def _noise(self, residual: Integers, turn: int) -> float:
        """A share of the deviation of the residuals, which fades as the model learns."""
        if self.pace.noise == 0:
            return 0.0
        weight = float(self.rows.weight.sum())
        g = residual[:, 0].ravel() / self._scale
        # the square of a large weight overflows, and products of BLAS round by the processor
        deviation = np.sqrt(np.sum(g * (g / weight)))
        return float(self.pace.noise * deviation / (1 + np.exp(self.pace.rate * turn) / weight))


@dataclass(frozen=True, slots=True, eq=False)
class Boosted:
    """The trees of all rows, and how well their number did on rows held out."""

    trees: tuple[Tree, ...]
    pace: Pace
    losses: dict[str, Floats]  # of each pace that was tried, by round: the mean held-out loss
    # of each row by the fits that held it out (n, outputs), NaN where none did, if it was asked for
    held_scores: Floats | None = None


def boosted(
    rows: CellRows,
    sizes: Codes,
    ordered: Array,
    depth: int,
    tried: Sequence[Pace],
    rounds: int | None,
    threads: Threads,
    asked: Floats | None = None,
) -> Boosted:
    """Boosting at the pace, and for the rounds, of the least loss on rows held out.

    The fits that hold out a fold each, and the one of all rows, go ahead in lockstep; the last is
    cut back to the best number of rounds. If some weights to hold out (n_folds, n) are asked for,
    folds are these, and their scores are kept.
    """
    best: tuple[float, int, Pace, list[Progress]] | None = None
    losses: dict[str, Floats] = {}
    held = rows.held_out() if asked is None else asked
    weight = float(held.sum())
    choose = rounds is None or len(tried) > 1 or asked is not None
    for pace in tried:
        given = sizes, ordered, pace, depth
        fits = [Progress(rows, rows.weighing(np.zeros(len(rows))), *given, prior(rows))]
        for part in held if choose else ():
            kept, out = rows.weighing(rows.weight - part), rows.weighing(part)
            if part.any():  # of very few rows, some folds hold out none
                fits.append(Progress(kept, out, *given, prior(kept)))
        loss = _in_lockstep(fits, rounds, threads) / weight
        n = int(loss.argmin()) + 1 if rounds is None else rounds
        losses[pace.name] = loss
        found = float(loss[n - 1]) if choose else 0.0
        if best is None or found < best[0]:
            best = found, n, pace, fits
    assert best is not None
    _, n, pace, fits = best
    scores = None if asked is None else _held_scores(rows, fits[1:], asked, n)
    return Boosted(tuple(fits[0].trees[:n]), pace, losses, scores)


def _held_scores(rows: CellRows, fits: list[Progress], held: Floats, n_trees: int) -> Floats:
    """What each row's score is by the fits that held it out, by the weight that each did."""
    total = np.zeros((len(rows), len(fits[0].start)))
    for fit, part in zip(fits, (part for part in held if part.any()), strict=True):
        scores = np.tile(fit.start, (len(fit.held), 1))
        for tree in fit.trees[:n_trees]:
            tree.add_to(fit.held.codes, scores)
        some = rows.held_by(part)
        total[some] += part[some, None] * scores
    with np.errstate(invalid="ignore"):
        return np.asarray(total / held.sum(axis=0)[:, None])


def _in_lockstep(fits: list[Progress], rounds: int | None, threads: Threads) -> Floats:
    """Held-out loss by round, until it has found its least or the rounds are done."""
    most = MOST_ROUNDS if rounds is None else rounds
    total = np.zeros(0)
    while len(fits[0].trees) < most:
        until = min(len(fits[0].trees) + TOGETHER, most)
        for _ in threads.map(partial(_advance, fits, until), range(len(fits))):
            pass
        total = np.sum([fit.losses for fit in fits[1:]], axis=0)
        if rounds is None and len(total) - total.argmin() > PATIENCE:
            break
    return np.asarray(total)


def _advance(fits: list[Progress], until: int, i: int) -> None:
    fits[i].advance(until - len(fits[i].trees))


def prior(rows: CellRows) -> Floats:
    """Log odds of the second class, or the logarithm of each class's share, by half a row more."""
    share = rows.class_weight() + 0.5
    log_share = np.log(share / share.sum())
    return log_share[1:] - log_share[:1] if len(share) == 2 else log_share - log_share.mean()


def _scale(weight: Floats) -> float:
    """A power of two, by which residuals are below 2⁵⁰, and their sums below 2⁶²."""
    most, total = (LARGEST * float(w) for w in (weight.max(initial=1.0), weight.sum()))
    return float(2.0 ** min(40, 50 - frexp(most)[1], 62 - frexp(total)[1]))
