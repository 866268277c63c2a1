"""Pools of models: s_c = b_c + Σ_m w_m z_m, of members that are scores themselves.

z_m = max(log p_m(c | x) - max_k log p_m(k | x), -log 10⁶)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sqlglot import exp

from posterior.data.typing import Array, Floats
from posterior.discriminative.pooling import LIMIT
from posterior.sql.expressions import LEAST, SQL, cases, column, greatest, number, times, total
from posterior.sql.several_texts import one_after_another
from posterior.sql.shortened import shortened
from posterior.sql.sql_columns import Sheet
from posterior.sql.sql_scores import ZERO, Scores, Term


@dataclass(frozen=True)
class Member:
    """A model of a pool, and what it counts for."""

    name: str
    weight: float
    scores: Scores

    def explained(self) -> Member:
        """The same in terms of columns."""
        told = self.scores.explained
        return self if told is None else replace(self, scores=told())


def pooled(
    sheet: Sheet,
    members: Sequence[Member],
    intercept: Floats,
    classes: Array,
    columns: Sequence[str],
    *,
    told: bool = False,
) -> Scores:
    """The pool of some members' scores, all of them made with the same sheet.

    If it is told why, evidence is of the columns first, as in Python, each the weighted sum of what
    it is in the members, and what a member says beyond its columns is a term of its name.
    """
    steps: dict[str, Mapping[str, SQL]] = {}
    terms: list[Term] = []
    shown = [Term(name, [ZERO] * len(classes)) for name in columns]
    for m, member in enumerate(members):
        behind = _behind(sheet, member, m, steps)
        said = _said(sheet, member, m, behind, steps)
        own = [column(said[c]) if c in said else number(-LIMIT) for c in classes.tolist()]
        terms.append(Term(member.name, _weighed(own, member.weight)))
        if told and member.scores.refused is None and len(said) == len(classes):
            parts = shortened(sheet, member.scores, m, [*behind.values()], [*said.values()], steps)
            every = [*parts[:-1], replace(parts[-1], name=member.name)]
            shown += [replace(t, scores=_weighed(t.scores, member.weight)) for t in every]
        else:
            shown.append(terms[-1])

    def explained() -> Scores:
        parts = [each.explained() for each in members]
        return pooled(sheet, parts, intercept, classes, columns, told=True)

    before = [each.scores.before for each in members if each.scores.before is not None]
    return Scores(
        classes,
        np.asarray(intercept, np.float64),
        terms,
        before=one_after_another(sheet, before),
        steps=steps,
        explained=None if told else explained,
        shown=by_name(shown, len(classes)) if told else None,
    )


def _behind(
    sheet: Sheet, member: Member, m: int, steps: dict[str, Mapping[str, SQL]]
) -> dict[object, str]:
    """Columns of s - max s by class, and the steps that make them."""
    found = member.scores
    if found.correction is not None:
        raise TypeError(
            f"Expected members whose log odds are scaled at most, to write as SQL, got "
            f"{member.name!r}, whose probabilities are corrected otherwise. Fit it with "
            "calibrated=None: the weights of the pool calibrate it."
        )
    steps |= {f"{name} {m}": step for name, step in found.steps.items()}
    values = found.total([list(term.scores) for term in found.terms])
    scores = _step(sheet, f"member_{m}", found.classes, values, steps)
    if found.rules_out:  # what is impossible for two reasons is no less possible than for one
        values = [_at_least(s, LEAST / 2, LEAST, column(s)) for s in scores.values()]
        scores = _step(sheet, f"possible_{m}", found.classes, values, steps)
    best = sheet.unused(f"best_{m}")
    steps[best] = {best: greatest([column(s) for s in scores.values()])}
    values = [exp.Sub(this=column(s), expression=column(best)) for s in scores.values()]
    return _step(sheet, f"behind_{m}", found.classes, values, steps)


def _said(
    sheet: Sheet,
    member: Member,
    m: int,
    behind: Mapping[object, str],
    steps: dict[str, Mapping[str, SQL]],
) -> dict[object, str]:
    """Columns of z by class."""
    scale = member.scores.scale
    values = []
    for name in behind.values():
        scaled = column(name) if scale == 1 else times(number(scale), column(name))
        values.append(_at_least(name, -LIMIT / scale, -LIMIT, scaled))
    return _step(sheet, f"said_{m}", member.scores.classes, values, steps)


def _step(
    sheet: Sheet,
    what: str,
    classes: Array,
    values: Sequence[SQL],
    steps: dict[str, Mapping[str, SQL]],
) -> dict[object, str]:
    """One more step with a column for each class."""
    names = [sheet.unused(f"{what}_{k}") for k in range(len(classes))]
    steps[what] = dict(zip(names, values, strict=True))
    return dict(zip(classes.tolist(), names, strict=True))


def _at_least(name: str, least: float, otherwise: float, value: SQL) -> SQL:
    """A value, or another number where a column is less than the least; NULL stays NULL."""
    low = exp.LT(this=column(name), expression=number(least))
    return cases([(low, number(otherwise))], value)


def _weighed(values: Sequence[SQL], weight: float) -> list[SQL]:
    return [v if v == ZERO else times(number(weight), v.copy()) for v in values]


def by_name(terms: Sequence[Term], n_classes: int) -> list[Term]:
    """Terms of one name added up."""
    found: dict[str, list[Term]] = {}
    for term in terms:
        found.setdefault(term.name, []).append(term)
    return [
        Term(
            name,
            [total([t.scores[k] for t in same if t.scores[k] != ZERO]) for k in range(n_classes)],
        )
        for name, same in found.items()
    ]
