"""Pools of models: s_c = b_c + Σ_m w_m log p_m(c | x), of members that are scores themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from sqlglot import exp

from posterior.data.typing import Array, Floats
from posterior.sql.expressions import (
    FAR,
    LEAST,
    SQL,
    cases,
    column,
    greatest,
    log,
    number,
    share,
    times,
    total,
)
from posterior.sql.sql_columns import Sheet
from posterior.sql.sql_scores import ZERO, Scores, Term


def pooled(
    sheet: Sheet,
    weights: Sequence[float],
    intercept: Floats,
    members: Sequence[Scores],
    *,
    names: Sequence[str] | None = None,
    lowest: Sequence[float] | None = None,
    classes: Array | None = None,
) -> Scores:
    """The pool of some members' scores, all of them made with the same sheet.

    `names` are what members are called, where their terms are not of columns; `lowest` are the
    least log probabilities that count; `classes` all that the pool knows, those of the first
    member if not given.
    """
    classes = members[0].classes if classes is None else classes
    names = [f"model {m + 1}" for m in range(len(members))] if names is None else names
    lowest = [FAR] * len(members) if lowest is None else lowest
    heavy = [m for m, weight in enumerate(weights) if weight > 0]
    before = [members[m].before for m in heavy if members[m].before is not None]
    if len(before) > 1:
        raise TypeError(
            f"Expected one model of text at most in a pool to write as SQL, got {len(before)}."
        )
    steps: dict[str, Mapping[str, SQL]] = {}
    terms, shown = [], []
    for m in heavy:
        said = _said(sheet, members[m], m, steps)
        own = [_bounded(said.get(c), lowest[m], weights[m]) for c in classes.tolist()]
        terms.append(Term(names[m], own))
        shown.append(_shown(members[m], weights[m], terms[-1], classes))

    def explained() -> Scores:
        parts = [m if m.explained is None else m.explained() for m in members]
        return pooled(sheet, weights, intercept, parts, names=names, lowest=lowest, classes=classes)

    return Scores(
        classes,
        np.asarray(intercept, np.float64),
        terms,
        before=before[0] if before else None,
        steps=steps,
        explained=explained if any(members[m].explained for m in heavy) else None,
        shown=_by_name([term for own in shown for term in own], len(classes)),
    )


def _said(
    sheet: Sheet, member: Scores, m: int, steps: dict[str, Mapping[str, SQL]]
) -> dict[object, str]:
    """Columns of log p(k | x) by class, and the steps that make them."""
    if member.shares is not None:
        raise TypeError("Expected classifiers in a pool to write as SQL, got a model of clusters.")
    steps |= {f"{name} {m}": step for name, step in member.steps.items()}

    def named(what: str) -> list[str]:
        return [sheet.unused(f"{what}_{m}_{k}") for k in range(len(member.classes))]

    def step(what: str, values: Sequence[SQL]) -> list[str]:
        found = named(what)
        steps[f"{what}_{m}"] = dict(zip(found, values, strict=True))
        return found

    scores = step("member", member.total([list(term.scores) for term in member.terms]))
    if member.rules_out:  # what is impossible for two reasons is no less possible than for one
        scores = step("possible", [_at_least(column(s), LEAST / 2, LEAST) for s in scores])
    best, whole = sheet.unused(f"best_{m}"), sheet.unused(f"whole_{m}")
    steps[f"best_{m}"] = {best: greatest([column(s) for s in scores])}
    behind = [exp.Sub(this=column(s), expression=column(best)) for s in scores]
    steps[f"whole_{m}"] = {whole: log(total([share(b.copy(), member.scale) for b in behind]))}
    scaled = [b if member.scale == 1 else times(number(member.scale), b) for b in behind]
    said = step("log_p", [exp.Sub(this=s, expression=column(whole)) for s in scaled])
    return dict(zip(member.classes.tolist(), said, strict=True))


def _bounded(said: str | None, lowest: float, weight: float) -> SQL:
    """w max(log p, lowest)"""
    if said is None:  # of a class that the member does not know
        return number(weight * lowest)
    return times(number(weight), _at_least(column(said), lowest, lowest))


def _at_least(value: SQL, least: float, otherwise: float) -> SQL:
    """The value, or another number where it is less than the least; NULL stays NULL."""
    low = exp.LT(this=value, expression=number(least))
    return cases([(low, number(otherwise))], value.copy())


def _shown(member: Scores, weight: float, said: Term, classes: Array) -> list[Term]:
    """The member's terms, weighed; or what it said, if they are not of columns."""
    if member.refused is not None or member.classes.tolist() != classes.tolist():
        return [said]
    factor = number(weight * member.scale)
    return [
        Term(term.name, [s if s == ZERO else times(factor.copy(), s.copy()) for s in term.scores])
        for term in (member.terms if member.shown is None else member.shown)
    ]


def _by_name(terms: Sequence[Term], n_classes: int) -> list[Term]:
    """Terms of one name added up."""
    by_name: dict[str, list[Term]] = {}
    for term in terms:
        by_name.setdefault(term.name, []).append(term)
    return [
        Term(
            name,
            [total([t.scores[k] for t in same if t.scores[k] != ZERO]) for k in range(n_classes)],
        )
        for name, same in by_name.items()
    ]
