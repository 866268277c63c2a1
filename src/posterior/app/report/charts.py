"""The pictures of a report, from its facts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from posterior import plots
from posterior.app.report.figures import Figure, figure
from posterior.app.report.phrases import number, score, short, shortened
from posterior.app.report.report_schema import (
    Boundary,
    CandidateFacts,
    Facts,
    LearnedMember,
    LearningCurve,
    LearningCurves,
    Measure,
    ParameterFacts,
    RankCurve,
    Reliability,
    Subgroup,
)
from posterior.plots.interactions import pair_map
from posterior.plots.look import PALETTE, optional
from posterior.plots.shape_functions import column_shape
from posterior.plots.structure import dependence_graph

FAR = 2.0  # times the spread of the models: a baseline further away is left out of the picture
COEFFICIENTS = 20  # that are drawn, the surest
SUBGROUPS = 15  # values of one column that are drawn


def draw(facts: Facts) -> dict[str, list[Figure]]:
    """The figures of each section; a section that does not apply has none."""
    unchecked = optional("altair.utils.schemapi").debug_mode(False)  # the tests check the charts
    with unchecked:
        return _drawn(facts)


def _drawn(facts: Facts) -> dict[str, list[Figure]]:
    classes, target = shortened(facts.classes), short(facts.target, 30)
    found = {
        "comparison": _comparison(facts),
        "reliability": _reliabilities(facts.reliability),
        "confusion": [figure("confusion", plots.confusion(facts.confusion, classes, target))]
        if facts.confusion
        else [],
        "ranking": _ranking(facts, target),
        "learning": [] if facts.learning is None else _learning(facts.learning),
        "evidence": _evidence(facts),
        "boundary": [] if facts.boundary is None else [_boundary(facts.boundary, classes, target)],
        "subgroups": _subgroups(facts.subgroups),
        **{f"learned-{i}": _learned(i, member) for i, member in enumerate(facts.learned)},
    }
    return {section: figures for section, figures in found.items() if figures}


def _comparison(facts: Facts) -> list[Figure]:
    """Log loss and accuracy; the baseline only where it does not squeeze all others together."""
    models = [c for c in facts.candidates if math.isfinite(c.log_loss.value)]
    figures = []
    for name, said in (("log_loss", "log loss"), ("accuracy", "accuracy")):
        drawn = _near(models, name)
        if not drawn:
            continue
        chart = plots.comparison(
            shortened([c.name for c in drawn]),
            [c.scores()[name].value for c in drawn],
            [_error(c.scores()[name]) for c in drawn],
            score=said,
            chosen=next((short(c.name, 28) for c in drawn if c.key == facts.choice.key), None),
            percent=name == "accuracy",
        )
        better = "lower is better" if name == "log_loss" else "higher is better"
        figures.append(figure(f"comparison-{name}", chart, f"{said.capitalize()}: {better}"))
    return figures


def _near(models: Sequence[CandidateFacts], name: str) -> list[CandidateFacts]:
    others = [c.scores()[name].value for c in models if c.kind != "baseline"]
    if not others:
        return list(models)
    room = FAR * max(max(others) - min(others), 1e-9)
    low, high = min(others) - room, max(others) + room
    return [c for c in models if c.kind != "baseline" or low <= c.scores()[name].value <= high]


def _error(found: Measure) -> float:
    return _known(found.standard_error)


def _known(value: float | None) -> float:
    return math.nan if value is None else value


def _reliabilities(found: Sequence[Reliability]) -> list[Figure]:
    """The diagram of the chosen model, the one before calibration, and how sure it is."""
    figures = [_reliability(i, r) for i, r in enumerate(found) if r.bins]
    if figures and sum(found[0].histogram):
        figures.append(figure("confidence", plots.confidence(found[0].histogram)))
    return figures


def _reliability(place: int, found: Reliability) -> Figure:
    bins = found.bins
    chart = plots.reliability(
        [b.predicted for b in bins],
        [b.observed for b in bins],
        [b.rows for b in bins],
        [b.observed_low for b in bins],
        [b.observed_high for b in bins],
    )
    of = "the most probable class" if found.of is None else short(found.of)
    said = (
        f"Predicted probability of {of} on held-out rows, against the observed frequency. Dots on "
        "the dashed line are calibrated; bars are 95 % intervals, larger dots hold more rows. "
        f"Calibration error {score(found.error)}."
    )
    return figure(f"reliability-{place}", chart, found.model, said)


def _ranking(facts: Facts, target: str) -> list[Figure]:
    figures = []
    hardest = _hardest(facts.roc)
    draws = {"roc": plots.roc, "precision_recall": plots.precision_recall}
    for name, curves in (("roc", facts.roc), ("precision_recall", facts.precision_recall)):
        drawn = [curve for curve in curves if curve.name in hardest]
        if not drawn:
            continue
        names = shortened([c.name for c in drawn])
        chart = draws[name](
            {n: (c.x, c.y) for n, c in zip(names, drawn, strict=True)}, target=target
        )
        if len(drawn) == 1:
            area = "AUC" if name == "roc" else "Average precision"
            more = f"{area} for {names[0]}: {number(drawn[0].area)}."
        elif len(facts.classes) > len(drawn):
            more = f"The {len(drawn)} hardest of the largest classes."
        else:
            more = "Each class against the rest."
        whole = figure(name, chart)
        figures.append(replace(whole, said=f"{whole.said} {more}"))
    return figures


def _hardest(curves: Sequence[RankCurve]) -> set[str]:
    """Classes of least area, as many as there are colors."""
    return {c.name for c in sorted(curves, key=lambda c: c.area)[: len(PALETTE)]}


def _learning(learning: LearningCurves) -> list[Figure]:
    """The chosen model by itself, whose log loss others would flatten, then beside the others."""
    own = [curve for curve in learning.curves if curve.kind == "chosen"]
    figures = _curves("learning-chosen", own, "log_loss", "Log loss of the chosen model")
    figures += _curves("learning-log_loss", learning.curves, "log_loss", "Log loss")
    return figures + _curves("learning-accuracy", learning.curves, "accuracy", "Accuracy")


def _curves(key: str, drawn: Sequence[LearningCurve], name: str, title: str) -> list[Figure]:
    curves = {
        _curve_name(curve): (
            [p.rows for p in curve.points],
            [p.scores()[name].value for p in curve.points],
            [_error(p.scores()[name]) for p in curve.points],
        )
        for curve in drawn
        if any(math.isfinite(p.scores()[name].value) for p in curve.points)
    }
    if not curves:
        return []
    score = "log loss" if name == "log_loss" else name
    return [figure(key, plots.learning_curve(curves, score, name == "accuracy"), title, said="")]


def _curve_name(curve: LearningCurve) -> str:
    """The chosen model by name; the two beside it as what they are."""
    return f"{curve.name} ({curve.kind})"


def _evidence(facts: Facts) -> list[Figure]:
    """What the chosen model loses without each column, and how far each moves its odds."""
    if len(facts.evidence) < 2:
        return []
    names = shortened([f.name for f in facts.evidence], 40)
    rises = plots.evidence(
        names,
        [f.log_loss_rise for f in facts.evidence],
        "rise of log loss without the column",
        [_known(f.log_loss_rise_error) for f in facts.evidence],
    )
    lost = figure("importance", rises, "Log loss without each column")
    said = (
        f"{lost.said} By how much log loss rises on held-out rows when the chosen model has to "
        "predict without a column. Below zero, it predicts better without it."
    )
    weights = plots.evidence(
        names, [f.weight for f in facts.evidence], "mean weight of evidence, in nats"
    )
    moved = (
        "How far a column moves the log odds of a row's own class against the strongest other "
        "one, on average, toward it or away from it; one nat multiplies odds by 2.7."
    )
    return [
        replace(lost, said=said),
        figure("evidence", weights, "Weight of evidence", moved),
    ]


def _learned(place: int, member: LearnedMember) -> list[Figure]:
    """Shapes and pairs of an additive model, coefficients, or the structure of a network."""
    charts = [column_shape(effect) for effect in member.effects]
    charts += [pair_map(pair) for pair in member.pairs]
    if member.dependence is not None:
        found = member.dependence
        charts.append(dependence_graph(found.columns, found.parents, member.name))
    figures = [figure(f"learned-{place}-{i}", chart) for i, chart in enumerate(charts)]
    rows = [] if member.parameters is None else member.parameters.rows
    if rows and all(row.parameter.startswith("log odds") for row in rows):
        figures.append(_coefficients(f"learned-{place}-coefficients", rows))
    return figures


def _coefficients(key: str, rows: Sequence[ParameterFacts]) -> Figure:
    """Those of logistic regression, of one class against the first."""
    several = len({row.group for row in rows}) > 1
    names = [f"{row.feature} ({row.group})" if several else row.feature for row in rows]
    ends = zip(*((_known(row.low), _known(row.high)) for row in rows), strict=True)
    chart = plots.coefficients(
        shortened(names[:COEFFICIENTS], 44),
        [row.value for row in rows[:COEFFICIENTS]],
        *(end[:COEFFICIENTS] for end in ends),
    )
    group = "" if several else f" of {short(rows[0].group)}"
    said = f"Log odds{group}, for a standard deviation of a number or for a level."
    return figure(key, chart, "Coefficients", said)


def _boundary(found: Boundary, classes: list[str], target: str) -> Figure:
    chart = plots.regions(
        found.x,
        found.y,
        found.codes,
        found.proba,
        classes,
        (short(found.x_name, 36), short(found.y_name, 36)),
        ([p.x for p in found.points], [p.y for p in found.points], [p.code for p in found.points])
        if found.points
        else None,
        target,
    )
    chart.height = 420
    return figure("boundary", chart)


def _subgroups(subgroups: Sequence[Subgroup]) -> list[Figure]:
    """Accuracy by value, a picture for each column."""
    figures = []
    for place, column in enumerate(dict.fromkeys(s.column for s in subgroups)):
        parts = [s for s in subgroups if s.column == column][:SUBGROUPS]
        if len(parts) < 2:
            continue
        chart = plots.comparison(
            shortened([s.value for s in parts]),
            [s.accuracy.value for s in parts],
            [_error(s.accuracy) for s in parts],
            score="accuracy",
            percent=True,
        )
        figures.append(figure(f"subgroup-{place}", chart, f"Accuracy by {short(column)}"))
    return figures
