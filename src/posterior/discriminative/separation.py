"""Separation: a combination of columns divides the classes, so that no finite fit is the best."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from posterior.data.errors import DegenerateError
from posterior.data.rows import Features, slabs, take
from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.discriminative.design import labels, table
from posterior.discriminative.fisher_information import inverse_information, score_covariance
from posterior.discriminative.margins import Bools, Margins, extremes
from posterior.discriminative.objective import Objective
from posterior.discriminative.penalty import Penalty

Kind = Literal["complete", "quasi-complete"]

ZERO = 1e-7  # of the largest coefficient
WIDE = 3000  # coefficients: more are not named one by one
MANY = 12  # columns: of more, it is not tried whether each is needed


@dataclass(frozen=True, slots=True, eq=False)
class Separation:
    """Complete: all rows on their class's side; quasi-complete: some on the border, none beyond."""

    kind: Kind | None  # None: the likelihood has a maximum
    direction: Floats | None = None  # (outputs, p): scores may grow along it without end
    columns: tuple[int, ...] = ()  # that have a part in it
    alone: bool = False  # whether each of them separates by itself

    def __bool__(self) -> bool:
        return self.kind is not None


def separation(objective: Objective, coef: Floats | None = None) -> Separation:
    """Looks for B with (b_y - b_c) · x̃ ≥ 0 for every row's class y and every other class c.

    The likelihood has no maximum exactly if some B has a margin above zero (Albert and Anderson
    1984), which linear programming decides (Konis 2007). Coefficients of a fit, if given, often
    spare it: close to a maximum they prove that there is one, and with very many columns that they
    separate. Penalties, offsets and rows of weight zero play no part.
    """
    if coef is not None and objective.size <= WIDE and overlap_is_certain(objective, coef):
        return Separation(None)
    if coef is not None and objective.size > WIDE and _separates(objective, coef):
        slope = objective.loss.parts(coef)[0]
        return Separation("complete", coef, tuple(map(int, np.flatnonzero(slope.any(axis=0)))))
    codes, weight = labels(objective.at_hand)
    some = np.flatnonzero(weight > 0)
    present, inverse = np.unique(codes[some], return_inverse=True)
    codes, X = inverse.astype(np.int32), take(objective.at_hand.X, some)
    margins = Margins.of(X, codes, len(present), objective.loss.intercept)
    chosen = margins.some()
    for complete in (True, False):
        B = margins.cheapest(complete, chosen)
        if B is not None:
            break
    else:
        return Separation(None)
    single = _single_columns(X, codes, objective.loss.intercept, complete)
    columns = single[:1] if len(single) else _needed(margins, B, complete, chosen)
    part = margins.only(columns)
    found = part.cheapest(complete, chosen)
    if found is None:  # within rounding of none
        columns, part, found = np.arange(X.shape[1]), margins, B
    kind: Kind = "complete" if complete else "quasi-complete"
    direction = _spread(objective, present[1:], columns, *part.in_units(found))
    named = single if len(single) else columns
    return Separation(kind, direction, tuple(map(int, named)), len(single) > 0)


def _spread(
    objective: Objective, classes: Array, columns: Integers, slope: Floats, at_zero: Floats
) -> Floats:
    """Slopes of some classes and columns among zeros, as coefficients; the largest becomes one."""
    m, d = objective.loss.outputs, objective.at_hand.X.shape[1]
    out = np.zeros((max(m, 2), d + 1))
    out[np.ix_(classes, columns)], out[classes, d] = slope, at_zero
    out = out[-m:] / np.abs(out).max()
    return objective.loss.joined(out[:, :d], out[:, d])


def _separates(objective: Objective, coef: Floats) -> bool:
    """Whether these coefficients themselves put every row on its class's side."""
    codes, weight = labels(objective.at_hand)
    score = objective.loss.scores(table(objective.at_hand.X), coef)
    if objective.loss.outputs == 1:
        score = np.column_stack([np.zeros(len(score)), score])
    size, row = np.abs(score).max(initial=0.0), np.arange(len(score))
    own = score[row, codes]
    score[row, codes] = -np.inf
    return bool((own - score.max(axis=1) > ZERO * size)[weight > 0].all())


def overlap_is_certain(objective: Objective, coef: Floats) -> bool:
    """Whether a maximum of the likelihood must be near: ν R ≤ ½.

    ν² = gᵀ H⁻¹ g and R² = max x̃ᵀ H⁻¹ x̃. A way t from β, in the metric H, the curvature is at least
    e^{-R t}, which turns any slope of -ν into a rise if ν R < 1 (self-concordance, Bach 2010).
    """
    plain = replace(objective, penalty=Penalty.none(objective.shape))
    try:
        inverse = inverse_information(plain, coef)
    except DegenerateError:
        return False
    g = plain.gradient(coef).gradient.ravel()
    reach, X, m = 0.0, plain.at_hand.X, plain.loss.outputs
    for rows in slabs(len(plain.at_hand), m * m + len(g) // m):
        V = score_covariance(plain.loss, X[rows], inverse)
        reach = max(reach, float(V.diagonal(axis1=1, axis2=2).max(initial=0.0)))
    # scores of two classes move apart by up to twice what one of them moves
    apart = 1.0 if m == 1 else 2.0
    return bool(apart**2 * float(g @ inverse @ g) * reach <= 0.25)


def _needed(margins: Margins, B: Floats, complete: bool, chosen: Bools) -> Integers:
    """Columns that separate together and not without any one of them.

    First the fewest of the heaviest, by halving; then each is tried without, the lightest first.
    """
    size = np.abs(B[:, : len(margins.scale)]).max(axis=0, initial=0.0)
    order = np.argsort(-size, kind="stable")

    def enough(columns: Integers) -> bool:
        return margins.only(columns).cheapest(complete, chosen) is not None

    few, most = 0, int((size > ZERO * size.max(initial=0.0)).sum())
    while few + 1 < most:
        middle = (few + most) // 2
        few, most = (few, middle) if enough(order[:middle]) else (middle, most)
    kept = order[:most]
    for column in kept[::-1] if most <= MANY else ():
        without = kept[kept != column]
        if enough(without):
            kept = without
    return np.sort(kept)


def _single_columns(X: Features, codes: Codes, intercept: bool, complete: bool) -> Integers:
    """Columns in which a threshold splits the classes; completely, thresholds between all."""
    parts = [extremes(table(take(X, np.flatnonzero(codes == c)))) for c in np.unique(codes)]
    low, high = (np.array(ends) for ends in zip(*parts, strict=True))  # (k, d)
    order = np.lexsort((high, low), axis=0)
    low, high = np.take_along_axis(low, order, 0), np.take_along_axis(high, order, 0)
    left, right = np.maximum.accumulate(high)[:-1], low[1:]
    if complete:
        return np.flatnonzero(((left < right) & (intercept | (left < 0) & (right > 0))).all(axis=0))
    split = (left <= right) & (intercept | (left <= 0) & (right >= 0))
    return np.flatnonzero(split.any(axis=0) & (high.max(axis=0) > low.min(axis=0)))
