"""Evidence of a member of a pool, shortened where the pool hears no more than one in a million."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from posterior.discriminative.pooling import LIMIT
from posterior.sql.expressions import SQL, as_double, cases, column, equals, number, plus, times
from posterior.sql.sql_columns import Sheet
from posterior.sql.sql_scores import Scores, Term


def shortened(
    sheet: Sheet,
    found: Scores,
    m: int,
    behind: Sequence[str],
    said: Sequence[str],
    steps: dict[str, Mapping[str, SQL]],
) -> list[Term]:
    """t + r (t_k - t), where t is the term of the likeliest class, and what is left of the sum.

    r = (z_k - b_k) / (s_k - b_k) where z is cut off, else 1; b is the prior next to that of the
    likeliest class, s the score next to its.
    """

    def step(what: str, values: Sequence[SQL]) -> list[str]:
        names = [sheet.unused(f"{what}_{m}_{i}") for i in range(len(values))]
        steps[f"{what}_{m}"] = dict(zip(names, values, strict=True))
        return names

    def likeliest(values: Sequence[SQL]) -> SQL:
        pairs = zip(behind, values, strict=True)
        return cases([(equals(column(b), number(0.0)), value) for b, value in pairs])

    terms, n = found.terms if found.shown is None else found.shown, len(behind)
    own = step("term", [as_double(score.copy()) for term in terms for score in term.scores])
    by_term = [own[i * n : (i + 1) * n] for i in range(len(terms))]
    first = step("likeliest", [likeliest([column(t) for t in each]) for each in by_term])
    ahead = likeliest([number(-p) for p in found.prior])
    prior = step("prior", [plus(number(p), ahead.copy()) for p in found.prior])
    share = step("share", [_share(*each) for each in zip(behind, said, prior, strict=True)])
    parts = [
        Term(term.name, [_drawn(t, top, r) for t, r in zip(each, share, strict=True)])
        for term, each, top in zip(terms, by_term, first, strict=True)
    ]
    rest = [_rest(*each) for each in zip(behind, said, share, strict=True)]
    return [*parts, Term("rest", rest)]


def _share(behind: str, said: str, prior: str) -> SQL:
    """r of a class."""
    due, total = (exp.Paren(this=_less(each, prior)) for each in (said, behind))
    cut = exp.and_(
        exp.LTE(this=column(said), expression=number(-LIMIT)),
        exp.LT(this=column(behind), expression=column(said)),
        exp.LT(this=column(said), expression=column(prior)),
    )
    missing = exp.Is(this=column(said), expression=exp.null())
    quotient = exp.Div(this=due, expression=total, typed=True)
    return cases([(cut, quotient), (missing, exp.null())], number(1.0))


def _drawn(term: str, first: str, share: str) -> SQL:
    """t + r (t_k - t)"""
    drawn = plus(column(first), times(column(share), exp.Paren(this=_less(term, first))))
    whole = equals(column(share), number(1.0)), column(term)
    return cases([whole], drawn)


def _rest(behind: str, said: str, share: str) -> SQL:
    """What the member says beyond its terms."""
    return cases([(equals(column(share), number(1.0)), _less(said, behind))], number(0.0))


def _less(left: str, right: str) -> SQL:
    return exp.Sub(this=column(left), expression=column(right))
