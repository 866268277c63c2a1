"""Leaks: columns that may be known only once the target is, and that give it away.

Five things are suspicious: a column that alone is right nearly always, by its values or by one cut;
one value of it that all rows of a class have and no other rows; cells that are known, or missing,
in rows of one class alone; a value other than the usual one in one class alone; a name such
as exit_date where the column says much. A strong column is not a leak, so each needs enough rows,
and a chance that is small for all columns together.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.special import bdtrc

from posterior.data.typing import Array, Floats, Integers

LEAST_ROWS = 50  # of a table
LEAST_CASES = 20  # rows that a suspicion is based on
COPY = 0.98  # of the errors that the largest class makes are avoided
SAME = 0.98  # correlation of having one value with being of one class
RARE = 0.01  # of the rows: one value that only so small a class has is no wonder
MANY_VALUES = 10  # of a column; fewer may describe: animals that give milk are mammals
ONE_SIDED = 0.95  # of the rows with a cell, or without, are of one class
NEARLY_ALL = 0.98  # of those whose value is not the usual one: it may be unusual by nature
AVOIDED = 0.9  # of the errors that always predicting that class makes in other rows
COMMON = 0.8  # a class of more rows says little
MOST_OF_IT = 0.8  # of the class are so: there are other reasons for a cell to be missing, or zero
CHANCE = 1e-6  # of such a column among all columns
STRONG = 0.5  # of the errors are avoided by a column whose name says that it comes later
MOST_WORDS = 3  # of such a name; longer ones are phrases
WHEN = "(date|time|day|at|on)"
AFTERWARDS = re.compile(
    rf"\b(exit(ed)?|(end(ed)?|clos(ed|ing|ure)) {WHEN}|{WHEN} (of )?(end(ed)?|clos(ed|ing|ure))|"
    r"outcome|results?|settle(d|ment)|recover(ed|y|ies)|terminat(ed|ion)|resol(ved|ution)|"
    r"discharged?|cancell?(ed|ation)|complet(ed|ion)|refund(ed)?)\b"
)
BEFOREHAND = re.compile(r"\b(tests?|lab|prev(ious)?|prior|last|past)\b")
WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|[\W_]+")  # between the words of a name


Told: TypeAlias = Callable[[float], str]  # how a value is written


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """The classes of rows whose class is known."""

    name: str
    codes: Integers  # (n,)
    classes: Array  # as people read them
    n_columns: int  # that are suspected at once

    @property
    def counts(self) -> Integers:
        return np.bincount(self.codes, minlength=len(self.classes))

    @property
    def ask(self) -> str:
        return f"is it known before {self.name} is?"


def leak(name: str, values: Floats, told: Told | None, target: Target) -> str | None:
    """Why a column is suspected, in a sentence; None if it is not.

    Parameters
    ----------
    name : of the column
    values : numbers, or codes of categories; NaN where missing
    told : how a value is written; None of texts, which are known or missing and no more
    target : the classes of the same rows
    """
    if len(values) < LEAST_ROWS or target.counts.max() == len(values):
        return None
    found = None
    if told is not None:
        errors = min(one_column_errors(values, target.codes), one_cut_errors(values, target.codes))
        avoided = 1 - errors / (1 - target.counts.max() / len(values))
        found = _copy(name, errors, avoided, target) or _point(name, values, told, target)
    found = found or _known(name, values, target)
    if found is None and told is not None:
        found = _unusual(name, values, told, target)
    if found is None and told is not None:
        found = _afterwards(name, avoided, target)
    return found


def _copy(name: str, errors: float, avoided: float, target: Target) -> str | None:
    """A column that is right nearly always, as a renaming of the classes is."""
    if avoided < COPY:
        return None
    return f"{name} alone predicts {target.name} in {1 - errors:.1%} of rows: {target.ask}"


def _point(name: str, values: Floats, told: Told, target: Target) -> str | None:
    """A value that all rows of a class have, and no others."""
    distinct, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    if _n_values(distinct) < MANY_VALUES or counts.max() < LEAST_CASES:
        return None
    n_classes = len(target.classes)
    pairs, both = np.unique(place * n_classes + target.codes, return_counts=True)
    v, k = np.divmod(pairs, n_classes)
    alike = _correlation(both, target.counts[k], counts[v], len(values))
    few = (both < LEAST_CASES) | (target.counts[k] < RARE * len(values))
    alike[few | np.isnan(distinct[v])] = -1.0
    best = int(alike.argmax())
    if alike[best] < SAME:
        return None
    hits, rows = int(both[best]), int(target.counts[k[best]])
    has = f"all {rows:,}" if hits == rows else f"{hits:,} of {rows:,}"
    others = int(counts[v[best]]) - hits
    rest = f"in {others:,} other{'s'[: others > 1]}" if others else "in no other"
    return (
        f"{name} is {told(distinct[v[best]])} in {has} rows of {target.classes[k[best]]} and "
        f"{rest}: {target.ask}"
    )


def _correlation(both: Integers, a: Integers, b: Integers, n: int) -> Floats:
    """Of two properties, from how many of n rows have both, the one, the other."""
    spread = np.sqrt(a * (n - a) * 1.0) * np.sqrt(b * (n - b) * 1.0)
    return np.asarray((both * n - a * b) / np.maximum(spread, 1.0))


def _known(name: str, values: Floats, target: Target) -> str | None:
    """Cells that are known, or missing, in rows of one class alone."""
    missing = np.isnan(values)
    return _one_sided(f"{name} is known", ~missing, target) or _one_sided(
        f"{name} is missing", missing, target, of_class=MOST_OF_IT
    )


def _unusual(name: str, values: Floats, told: Told, target: Target) -> str | None:
    """A value other than the most frequent one, which one class alone can have."""
    distinct, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    if len(distinct) < MANY_VALUES or counts.max() < LEAST_CASES:
        return None
    usual = distinct[counts.argmax()]
    unusual = ~np.isnan(values) & (values != usual)
    return _one_sided(f"{name} differs from {told(usual)}", unusual, target, NEARLY_ALL, MOST_OF_IT)


def _one_sided(
    said: str, side: Array, target: Target, of_side: float = ONE_SIDED, of_class: float = 0.0
) -> str | None:
    """Rows that are nearly all of one class, with at least so much of it, and not by chance."""
    rows, n = int(side.sum()), len(side)
    if not LEAST_CASES <= rows < n:
        return None
    own = np.bincount(target.codes[side], minlength=len(target.classes))
    k = int(own.argmax())
    share, among = target.counts[k] / n, own[k] / rows
    if share > COMMON or among < of_side or own[k] < of_class * target.counts[k]:
        return None
    chance = 2 * target.n_columns * len(own) * bdtrc(own[k] - 1, rows, share)
    if 1 - (1 - among) / (1 - share) < AVOIDED or chance > CHANCE:
        return None
    which = "all" if own[k] == rows else f"{among:.1%}"
    return (
        f"{said} in {rows:,} rows, and {which} of them are {target.classes[k]}, against "
        f"{share:.1%} of all rows: {target.ask}"
    )


def _afterwards(name: str, avoided: float, target: Target) -> str | None:
    """A name that says the column comes later, and a column that says much."""
    spaced = WORDS.sub(" ", name).strip().lower()
    if spaced.count(" ") >= MOST_WORDS:
        return None
    if avoided < STRONG or not AFTERWARDS.search(spaced) or BEFOREHAND.search(spaced):
        return None
    return (
        f"{name} alone avoids {avoided:.0%} of the errors of always predicting the largest class, "
        f"and its name suggests that it is known only afterwards: {target.ask}"
    )


def _n_values(distinct: Floats) -> int:
    """How many values there are, NaN not being one, which comes last."""
    return len(distinct) - int(np.isnan(distinct[-1:]).any())


def one_cut_errors(values: Floats, codes: Integers) -> float:
    """How often the largest class on a row's side of the best cut of many values is wrong."""
    distinct, place = np.unique(values, return_inverse=True)
    n_values, n = _n_values(distinct), len(values)
    if n_values < MANY_VALUES:
        return 1.0
    counts = np.zeros((len(distinct), int(codes.max()) + 1))
    np.add.at(counts, (place, codes), 1)
    below = counts[:n_values].cumsum(axis=0)
    right = below[:-1].max(axis=1) + (below[-1] - below[:-1]).max(axis=1)
    sides = below[:-1].sum(axis=1)
    both = np.minimum(sides, below[-1].sum() - sides) >= LEAST_CASES
    return float(1 - right[both].max(initial=0.0) / n)


def one_column_errors(values: Floats, codes: Integers) -> float:
    """How often the largest class among the other rows of about the same value is wrong."""
    distinct, bins = np.unique(values, return_inverse=True)  # all NaN are one value
    most = min(500, len(values) // 5)
    if len(distinct) > most:
        order = np.argsort(values, kind="stable")
        bins = np.empty(len(values), np.int64)
        bins[order] = np.arange(len(values)) * most // len(values)
    n_bins, n_classes = int(bins.max()) + 1, int(codes.max()) + 1
    counts = np.bincount(bins * n_classes + codes, minlength=n_bins * n_classes)
    counts = counts.reshape(n_bins, n_classes)
    own = counts[bins, codes] - 1
    largest, most = counts.argmax(axis=1), counts.max(axis=1)
    counts[np.arange(len(counts)), largest] = -1
    second = counts.max(axis=1)
    rival = np.where(codes == largest[bins], second[bins], most[bins])
    return float(np.mean(own <= rival))
