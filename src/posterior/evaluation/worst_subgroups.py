"""Groups of rows that a model predicts worse than the rest, found by looking at many.

A group is a value of one column, or of two. Whether its held-out losses are larger than those of
the other rows is asked by Welch's t, on one side; who asks often finds something, so p-values are
corrected after Holm (1979), which holds however the groups overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import stdtr

from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.evaluation.held_out import HeldOut
from posterior.evaluation.scores import Measure

LEVEL = 0.05
SMALLEST, SMALLEST_SHARE = 30, 0.01  # rows of a group
MOST_PAIRED = 20  # columns, the first ones, that are looked at in pairs
MOST_TOLD = 10
ALIKE = 0.5  # of the rows of two groups together: of such that share more, one is told
WITHIN = 0.7  # of its rows: a group that lies in another has to be worse than the rest of that one
MOST_TRIED = 100  # groups that survive the correction and are held against those told


@dataclass(frozen=True, slots=True, eq=False)
class GroupedColumn:
    """A column whose cells are in few groups."""

    name: str
    codes: Codes  # (n,) -1 where there is none
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GroupPart:
    column: str
    value: str


@dataclass(frozen=True, slots=True)
class WorstSubgroup:
    """Rows of one value, or of two, whose losses are larger than those of the rest."""

    parts: list[GroupPart]
    rows: int
    log_loss: float
    expected_log_loss: float  # that the probabilities themselves announce: mean -Σ p log p
    accuracy: Measure
    p_value: float
    p_adjusted: float  # after Holm


@dataclass(frozen=True, slots=True)
class WorstSubgroups:
    """What was looked at, and what remained."""

    looked_at: int  # groups
    smallest: int  # rows of a group
    level: float
    log_loss: float  # of all rows
    accuracy: float
    found: list[WorstSubgroup]  # the most certain first, at most 10


def worst_subgroups(held_out: HeldOut, columns: Sequence[GroupedColumn]) -> WorstSubgroups:
    """Groups by one column and by two that are worse than the rest, after correction.

    One pass over the rows for each column, and for each pair of the first 20.

    Examples
    --------
    >>> import numpy as np
    >>> from posterior.evaluation import GroupedColumn, HeldOut, worst_subgroups
    >>> p = np.full(200, 0.1)
    >>> codes = np.array([0] * 9 + [1], np.int32).repeat(20)  # the last 20 rows are wrong
    >>> held_out = HeldOut(np.log(np.stack([1 - p, p], axis=1)), codes, np.array(["no", "yes"]))
    >>> half = GroupedColumn("half", np.repeat([0, 1], 100).astype(np.int32), ("first", "second"))
    >>> [(g.parts[0].value, g.rows) for g in worst_subgroups(held_out, [half]).found]
    [('second', 100)]
    """
    losses, right = (held_out.losses()[name] for name in ("log_loss", "accuracy"))
    smallest = max(SMALLEST, int(np.ceil(SMALLEST_SHARE * len(losses))))
    some = [j for j, column in enumerate(columns) if len(column.groups) > 1]
    tuples = [(j,) for j in some] + [*combinations(some[:MOST_PAIRED], 2)]
    asked: list[tuple[tuple[int, ...], Integers, Floats, Floats]] = []
    for chosen in tuples:
        codes, width = _joined([columns[j] for j in chosen])
        groups, p, order = _worse(losses, codes, width, smallest)
        asked.append((chosen, groups, p, order))
    every = np.concatenate([p for _, _, p, _ in asked]) if asked else np.array([])
    adjusted = holm(every)
    of = [(chosen, int(g)) for chosen, groups, _, _ in asked for g in groups]
    tried = 0
    told: list[WorstSubgroup] = []
    masks: list[Array] = []
    entropy = -(held_out.proba * held_out.log_proba).sum(axis=1)
    for i in np.lexsort((np.concatenate([t for *_, t in asked]) if asked else every, every)):
        tried += 1
        if adjusted[i] > LEVEL or len(told) == MOST_TOLD or tried > MOST_TRIED:
            break
        chosen, group = of[i]
        codes, _ = _joined([columns[j] for j in chosen])
        inside = codes == group
        if len(chosen) > 1:  # two values have to be worse than either of them alone
            own = [columns[j].codes == columns[j].codes[inside.argmax()] for j in chosen]
            if not all(_worse_than(losses, inside, part & ~inside) for part in own):
                continue
        if not all(_adds_to(losses, inside, told_before) for told_before in masks):
            continue
        masks.append(inside)
        n, share = int(inside.sum()), float(right[inside].mean())
        told.append(
            WorstSubgroup(
                parts=_parts([columns[j] for j in chosen], group),
                rows=n,
                log_loss=float(losses[inside].mean()),
                expected_log_loss=float(entropy[inside].mean()),
                accuracy=Measure(share, float(np.sqrt(share * (1 - share) / n))),
                p_value=float(every[i]),
                p_adjusted=float(adjusted[i]),
            )
        )
    means = held_out.log_loss, held_out.accuracy
    return WorstSubgroups(len(every), smallest, LEVEL, *means, told)


def holm(p: Floats) -> Floats:
    """p-values after Holm: max over the smaller ones of (m - rank) p, at most 1."""
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate((len(p) - np.arange(len(p))) * p[order])
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def _worse(
    losses: Floats, codes: Integers, width: int, smallest: int
) -> tuple[Integers, Floats, Floats]:
    """The groups that are large enough, their p-values, and -t to order equal ones by."""
    inside = codes >= 0
    codes, x = codes[inside], losses[inside] - losses.mean()
    n = np.bincount(codes, minlength=width).astype(np.float64)
    total, squares = np.bincount(codes, x, width), np.bincount(codes, x * x, width)
    groups = np.flatnonzero((n >= smallest) & (len(losses) - n >= smallest))
    n, total, squares = n[groups], total[groups], squares[groups]
    all_x = losses - losses.mean()
    m = len(losses) - n
    rest, rest_squares = all_x.sum() - total, (all_x**2).sum() - squares
    error = (squares / n - (total / n) ** 2) / (n - 1)
    rest_error = (rest_squares / m - (rest / m) ** 2) / (m - 1)
    both = np.maximum(error, 0) + np.maximum(rest_error, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        t = np.where(both > 0, (total / n - rest / m) / np.sqrt(both), 0.0)
        freedom = both**2 / (error**2 / (n - 1) + rest_error**2 / (m - 1))
    p = stdtr(np.where(np.isfinite(freedom), np.maximum(freedom, 1.0), 1.0), -t)
    return groups, np.asarray(p), -t


def _adds_to(losses: Floats, inside: Array, told: Array) -> bool:
    """Whether a group says more than one that was told: it is another, or worse than its rest."""
    both = inside & told
    if both.sum() > ALIKE * (inside | told).sum():
        return False
    return bool(both.sum() < WITHIN * inside.sum()) or _worse_than(losses, inside, told & ~inside)


def _worse_than(losses: Floats, inside: Array, rest: Array) -> bool:
    """Welch's t of two parts, on one side; of fewer than two rows nothing is known."""
    if rest.sum() < 2:
        return True
    first, second = losses[inside], losses[rest]
    parts = np.array([first.var(ddof=1) / len(first), second.var(ddof=1) / len(second)])
    if parts.sum() == 0:  # losses of one value each
        return bool(first.mean() > second.mean())
    t = (first.mean() - second.mean()) / np.sqrt(parts.sum())
    freedom = parts.sum() ** 2 / (parts**2 / [len(first) - 1, len(second) - 1]).sum()
    return bool(stdtr(freedom, -t) <= LEVEL)


def _joined(columns: Sequence[GroupedColumn]) -> tuple[Integers, int]:
    """One code for the groups of one column or of two, and how many there are."""
    if len(columns) == 1:
        return columns[0].codes.astype(np.int64), len(columns[0].groups)
    first, second = columns
    k = len(second.groups)
    codes = first.codes.astype(np.int64) * k + second.codes
    codes[(first.codes < 0) | (second.codes < 0)] = -1
    return codes, len(first.groups) * k


def _parts(columns: Sequence[GroupedColumn], group: int) -> list[GroupPart]:
    places = [group] if len(columns) == 1 else [*divmod(group, len(columns[1].groups))]
    return [GroupPart(c.name, c.groups[g]) for c, g in zip(columns, places, strict=True)]
