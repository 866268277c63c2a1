"""Families of columns of numbers, chosen by what they foretell."""

from __future__ import annotations

import numpy as np

from posterior.data.rows import Blocks, Rows
from posterior.estimators.column_plan import number_families
from posterior.estimators.mixed_columns import MixedColumns
from posterior.generative.choice import choose
from posterior.generative.dealing import by_content, in_turn
from posterior.generative.joint import labeling

FOLDS = 5


def chosen_families(model: MixedColumns, rows: Rows, prior_rows: float) -> dict[int, str]:
    """The family of each column of numbers that is not settled, by its place in the table.

    `model` takes all of them for Gaussian so far. The order of the rows does not matter.
    """
    rows = rows.take(by_content(rows)[0])
    groups = rows.hard
    parts = rows.X.parts if isinstance(rows.X, Blocks) else (rows.X,)
    blocks = list(zip(model.plan_.blocks, parts, strict=True))
    open_ = next((b for b in blocks if b[0][0].support == "real"), None)
    present = np.bincount(groups.codes, minlength=groups.n_groups)
    folds = min(FOLDS, int(present.max()))
    if open_ is None or folds < 2 or groups.n_groups < 2:
        return {}
    (normal, columns), numbers = open_
    assert isinstance(numbers, np.ndarray)
    listed = number_families(prior_rows) | {"gaussian": normal}
    with model._names():
        chosen = choose(
            numbers,
            columns,
            tuple(listed.values()),
            [(family, js, X) for (family, js), X in blocks if family is not normal],
            groups,
            in_turn(len(rows), folds),
            lambda part, family: model.engine_.sum(labeling(family), part),
            model._log_prior,
        )
    names = list(listed)
    return {j: names[i] for j, i in zip(columns, chosen.tolist(), strict=True)}
