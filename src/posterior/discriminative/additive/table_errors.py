"""Standard errors of tables: from the block of the penalized Hessian that is a table's own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
        if len(term.columns) == 1 and j in design.lines:
            lined = _with_line(block, of_lines[j], design.at(j), share[0], 1 / found.C[0])
            variance = np.stack(list(lined), axis=-1)
        else:
            variance = 1 / block
            for axis, s in enumerate(share):
                variance = _of_difference(variance, axis, s)
        errors.append(np.pad(np.sqrt(variance), [(0, 1)] * len(share) + [(0, 0)]))
    return errors


def _of_difference(variance: Floats, axis: int, share: Floats) -> Floats:
    """Of T - Σ s T along an axis, of numbers that do not depend on each other."""
    v = np.moveaxis(variance, axis, -1)
    apart = v * (1 - 2 * share) + (v * share**2).sum(axis=-1, keepdims=True)
    return np.moveaxis(np.maximum(apart, 0.0), -1, axis)


def _with_line(
    block: Floats, of_line: Floats, z: Floats, share: Floats, ridge: float
) -> Iterator[Floats]:
    """Of T + β z less its mean, output by output."""
    n = len(z)
    shown = np.column_stack([np.eye(n), z])
    shown = shown - share @ shown
    for cells, line in zip(block.T, of_line, strict=True):
        hessian = np.diag(np.append(cells, line))
        hessian[:n, n] = hessian[n, :n] = z * (cells - ridge)
        covariance = np.linalg.inv(hessian)
        yield np.maximum(np.einsum("ab,bc,ac->a", shown, covariance, shown), 0.0)
