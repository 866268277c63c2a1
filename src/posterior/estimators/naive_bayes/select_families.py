"""Families of columns of numbers, chosen by how well they predict."""

from __future__ import annotations

import numpy as np

from posterior.data.errors import named_errors
from posterior.data.rows import Rows
from posterior.engines.local import Local
from posterior.generative.choice import choose
from posterior.generative.dealing import by_content, in_turn
from posterior.generative.joint import labeling
from posterior.generative.rule import Rule
from posterior.readers.labels import Labels
from posterior.readers.mixed import MixedColumns, number_families

FOLDS = 5


def chosen_families(
    reader: MixedColumns, labels: Labels, rows: Rows, rule: Rule, engine: Local
) -> dict[int, str]:
    """The family of each column of numbers that is not settled, by its place in the table.

    `reader` takes all of them for Gaussian so far. The order of the rows does not matter.
    """
    rows = rows.take(by_content(rows)[0])
    groups = rows.hard
    blocks = list(reader.by_block(rows.X))
    open_ = next((b for b in blocks if b[0].support == "real"), None)
    present = np.bincount(groups.codes, minlength=groups.n_groups)
    folds = min(FOLDS, int(present.max()))
    if open_ is None or folds < 2 or groups.n_groups < 2:
        return {}
    normal, columns, numbers = open_
    assert isinstance(numbers, np.ndarray)
    listed = number_families(reader.rules.prior_rows) | {"gaussian": normal}
    with named_errors(reader.names, labels.classes):
        chosen = choose(
            numbers,
            columns,
            tuple(listed.values()),
            [block for block in blocks if block[0] is not normal],
            groups,
            in_turn(len(rows), folds),
            lambda part, family: engine.sum(labeling(family), part),
            rule.prior,
        )
    names = list(listed)
    return {j: names[i] for j, i in zip(columns, chosen.tolist(), strict=True)}
