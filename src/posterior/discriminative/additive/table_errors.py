"""Standard errors of tables: from the block of the penalized Hessian that is a table's own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posterior.data.typing import Floats
from posterior.discriminative.additive.convex import Convex
from posterior.discriminative.additive.terms import Term, group_shares


def table_errors(found: Convex, terms: Sequence[Term], weights: Sequence[Floats]) -> list[Floats]:
    """Of each number of purified tables, (groups, ..., outputs), all other tables being known.

    Cells of a table share no row, so that the block of a table is a diagonal; with a line there is
    one row and column more. What is purified is a difference from means, and so are its errors.
    """
    design = found.design
    blocks = dict(zip(design.columns, design.tables(found.information), strict=True))
    of_lines = design.slopes(found.information)
    errors = []
    for term in terms:
        pairs = zip(term.columns, term.groups, strict=True)
        share = [group_shares(weights[j], group)[:-1] for j, group in pairs]
        block, j = blocks[term.columns], term.columns[0]
        variance = 1 / block
        for axis, part in enumerate(share):
            variance = _of_difference(variance, axis, part)
        if len(term.columns) == 1 and j in design.lines:
            variance += _of_line(block, of_lines[j], design.at(j), share[0], 1 / found.C[0])
        errors.append(np.pad(np.sqrt(variance), [(0, 1)] * len(share) + [(0, 0)]))
    return errors


def _of_difference(variance: Floats, axis: int, share: Floats) -> Floats:
    """Of T - Σ s T along an axis, of numbers that do not depend on each other."""
    v = np.moveaxis(variance, axis, -1)
    apart = v * (1 - 2 * share) + (v * share**2).sum(axis=-1, keepdims=True)
    return np.moveaxis(np.maximum(apart, 0.0), -1, axis)


def _of_line(block: Floats, of_line: Floats, z: Floats, share: Floats, ridge: float) -> Floats:
    """What a line adds to the variance of T + β z less its mean.

    The Hessian [D c; cᵀ e] has the inverse D⁻¹ + a aᵀ / (e - cᵀ D⁻¹ c) in T + β z, a = z - D⁻¹ c.
    """
    c = z[:, None] * (block - ridge)
    a = z[:, None] - c / block
    return (a - share @ a) ** 2 / (of_line - (c**2 / block).sum(axis=0))
