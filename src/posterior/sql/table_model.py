"""Models of a file's table: columns read by their roles, and numbers made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from posterior.estimators.table_classifier import TableClassifier
from posterior.generative.evidence_terms import TOGETHER
from posterior.preprocessing.dates import WrittenDates
from posterior.preprocessing.numbers import Levels, Numbers, ScaledNumber
from posterior.sql.expressions import SQL, is_missing, less, or_else, over, total
from posterior.sql.sql_calibration import calibrated
from posterior.sql.sql_columns import Column, Reading, indicator
from posterior.sql.sql_logistic import level_indicators, unless
from posterior.sql.sql_scores import Scores, Term, scores

PARTS: dict[str, Reading] = {"month": "month", "weekday": "weekday", "hour": "hour"}
READINGS: dict[str, Reading] = {"date": "date", "boolean": "boolean"}


@scores.register
def _(model: TableClassifier, columns: Sequence[Column]) -> Scores:
    by_name = {c.name: c for c in columns}
    texts = model.roles.text
    if model.reads == "everything" or (model.reads == "documents" and len(texts) != 1):
        raise TypeError(
            "Expected a model of columns, or of one column of text, got one of text among others. "
            "Leave the text out, or use model.predict_proba."
        )
    if model.reads == "documents":
        return calibrated(scores(model.model_, [by_name[texts[0].name]]), model.calibrator)
    _check_types(model)
    read: list[Column] = []
    for each in model.roles.table_columns:
        source = replace(by_name[each.name], reading=READINGS.get(each.role, "plain"))
        own = (replace(source, name=f"{each.name} {p}", reading=PARTS[p]) for p in each.parts)
        read += [source, *own]
    if model.reads == "numbers":
        read = numbers(model.numbers_, read)
    found = scores(model.model_, read)
    if model.reads == "numbers":
        found = found.changed(lambda each: replace(each, terms=_by_column(each.terms, model)))
    if origins := model.roles.origins:
        found = found.changed(lambda each: replace(each, terms=joined(each.terms, origins)))
    return calibrated(found, model.calibrator)


def _check_types(model: TableClassifier) -> None:
    """Refuse columns that a database holds as text, where the model reads numbers or dates."""
    for each in model.roles.table_columns:
        written = each.written
        if written is not None and written != WrittenDates():
            raise TypeError(
                f"Expected columns of numbers and dates, but {each.name!r} is text that the model "
                f"reads as {written.what}, and no query does. Convert it in the table and fit "
                "again, or leave it out."
            )


def numbers(made_by: Numbers, columns: Sequence[Column]) -> list[Column]:
    """The numbers of a prepared table."""
    by_name = {c.name: c for c in columns}
    made: list[Column] = []
    for each in made_by.columns:
        source = by_name[each.name]
        values = _scaled(each, source) if isinstance(each, ScaledNumber) else _levels(each, source)
        made += source.numbers(dict(zip(each.names, values, strict=True)))
    return made


def _scaled(each: ScaledNumber, source: Column) -> list[SQL]:
    value = over(less(source.as_number(), each.mean), each.deviation)
    if each.keep_missing:
        return [value]
    filled = or_else(value, 0.0)
    return [filled, indicator(is_missing(source.as_number()))] if each.gaps else [filled]


def _levels(each: Levels, source: Column) -> list[SQL]:
    levels = [level for level in (each.reference, *each.levels) if level is not None]
    values = level_indicators(source, each.levels, levels)
    if each.rare:
        values.append(unless(source, levels, missing=0.0))
    return [*values, indicator(source.is_missing())] if each.gaps else values


def joined(terms: Sequence[Term], origins: Mapping[str, str]) -> list[Term]:
    """Terms of a date and of its parts together, as `Evidence.joined` has them."""
    found: dict[str, list[Term]] = {}
    for each in terms:
        names = dict.fromkeys(origins.get(n, n) for n in str(each.name).split(TOGETHER))
        found.setdefault(TOGETHER.join(names), []).append(each)
    return [
        Term(name, [total(scores) for scores in zip(*(t.scores for t in own), strict=True)])
        for name, own in found.items()
    ]


def _by_column(terms: Sequence[Term], model: TableClassifier) -> list[Term]:
    """Terms of one column's numbers together, as `model.evidence` has them."""
    sources = model.numbers_.sources()
    if len(terms) != len(sources):
        return list(terms)  # terms of several columns together
    return [
        Term(each.name, [total(scores) for scores in zip(*own, strict=True)])
        for j, each in enumerate(model.roles.table)
        if (own := [t.scores for t, i in zip(terms, sources, strict=True) if i == j])
    ]
