"""Pools and classifiers that chose by themselves: each member as it is described, or why not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from posterior.discriminative.pooling import LIMIT
from posterior.estimators.pool import Classifier, Pool
from posterior.estimators.pool.candidates import SEARCH_COLUMNS, candidates
from posterior.javascript.descriptions import described
from posterior.javascript.sheet import Column, Described
from posterior.javascript.single_columns import with_numbers


@described.register
def _(model: Pool, columns: Sequence[Column]) -> Described:
    """s_c = b_c + Σ_m w_m max(log p_m(c | x) - max_k log p_m(k | x), -log 10⁶)"""
    fitted = model.fitted_
    if fitted.roles is not None and fitted.columns.names is None:  # of an array, by their places
        columns = [replace(c, name=f"x{j}", term=f"x{j}") for j, c in enumerate(columns)]
    given = columns
    if fitted.read_by is not None and fitted.roles is not None:
        given = with_numbers(fitted.read_by, fitted.roles, columns)
    sheet = columns[0].sheet
    members, refused = [], dict[str, str]()
    for name, member, weight in fitted.weighed:
        try:
            found = described(member, given)
        except (TypeError, ValueError) as error:
            refused[name] = str(error)
            continue
        members.append({"name": sheet.name(name), "weight": weight, "model": found})
    if refused:
        raise TypeError(
            "Expected a pool whose members all fit into one module, but "
            + " ".join(f"{name!r} does not: {reason}" for name, reason in refused.items())
            + f" {_remedy(model, refused)}"
        )
    terms = [*dict.fromkeys(sheet.name(c.term) for c in given)]
    made = {"kind": "pool", "members": members, "intercept": fitted.pool.intercept}
    if isinstance(model, Classifier) and model.reads_documents:
        terms = []  # each word has its own
    return {**made, "limit": float(LIMIT), "terms": terms, "classes": fitted.classes.tolist()}


def _remedy(model: Pool, refused: Mapping[str, str]) -> str:
    """How to come to a pool that can be written."""
    fitted = model.fitted_
    roles = fitted.roles if fitted.read_by is None else fitted.read_by.roles
    if roles is None:
        return f"Fit the pool without {', '.join(map(repr, refused))}."
    every = candidates(roles, SEARCH_COLUMNS, len(model.classes_))
    known = set(model.comparison_.columns["model"].tolist()) - set(refused)
    others = [c.key for c in every if c.name in known and c.kind != "by example"]
    without = [repr(c.key) for c in every if c.name in refused]
    return f"Fit {type(model).__name__}(models={others}), without {', '.join(without)}."
