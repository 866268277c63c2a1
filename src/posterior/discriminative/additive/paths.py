"""Evidence by path: what each column of a term adds, one column after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from posterior.data.typing import Floats
from posterior.discriminative.additive.terms import Term, average_of_unseen


def by_path(term: Term, weights: Sequence[Floats]) -> Iterator[tuple[int, Term]]:
    """E[T | x₁ .. x_a] - E[T | x₁ .. x_(a-1)] for each column a, in order: they add up to T - E[T].

    Columns are weighed one by one. The last group of an axis holds the mean over it.
    """
    known = average_of_unseen(term, weights)
    for a in range(len(term.columns)):
        after = (-1,) * (len(term.columns) - a - 1)
        table = known.table[(slice(None),) * (a + 1) + after]
        before = np.expand_dims(table[(slice(None),) * a + (-1,)], a)
        yield term.columns[a], Term(term.columns[: a + 1], term.groups[: a + 1], table - before)
