"""Drift of a new table against the rows that a model learned: by column, by score, by labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import narwhals as nw
import numpy as np
from scipy.special import ndtr

from posterior.app.report.drift_schema import (
    ClassDrift,
    ColumnDrift,
    DriftFacts,
    Performance,
    ScoreChange,
    ScoreDrift,
    Verdict,
)
from posterior.app.report.phrases import count, percent
from posterior.app.report.report_schema import Predictions
from posterior.app.report.section_schema import Alert
from posterior.data import frames
from posterior.data.table import round_digits
from posterior.data.typing import Array, Floats
from posterior.estimators import Classifier
from posterior.estimators.pool.learned_rows import HeldOutSummary, binned
from posterior.evaluation.drift import LARGE, SOME, drift_test, index_by_chance, stability_index
from posterior.evaluation.held_out import SCORES, HeldOut
from posterior.evaluation.reliability import calibration_error, claims, wilson
from posterior.evaluation.scores import Measure, confusion
from posterior.evaluation.thresholds import class_scores
from posterior.evaluation.worst_subgroups import holm
from posterior.preprocessing.column_summary import ColumnSummary
from posterior.preprocessing.measured_columns import MeasuredColumn, measured
from posterior.preprocessing.roles import frame_of

LEVEL = 0.05
MOST_NAMED = 5
MOST_NUMBERS = 4_000_000  # probabilities that are written down
GAPS = 0.05  # a rise in the share of missing cells that is told
NO_SUMMARY = (
    "The model file does not say how its columns looked: it was written by an earlier version, or "
    "has learned or forgotten rows since. Drift cannot be measured; fit it again."
)
HOW = [
    "The population stability index compares shares in the same bins: Σ (now - then) log(now / "
    "then), with half a row added to each bin; 0.1 is some change and 0.25 a large one, by "
    "convention. Bins are tenths of the numbers that were learned, or values, and missing values.",
    "The test is Pearson's χ² of homogeneity of the same bins; p-values are "
    "corrected after Holm for the number of columns. Drift is called so only where the index is "
    "above what chance gives by 0.1 or more, and the test rejects at 5 %.",
    "Earlier scores are those of rows held out when the model was fitted; the interval of accuracy "
    "is Wilson's, that of other scores two standard errors over rows.",
]


def drift(
    model: Any, table: Any, *, source: str = "table", name: str = "model", target: str | None = None
) -> DriftFacts:
    """Compare a table with what a `Classifier` learned.

    Parameters
    ----------
    model : Classifier, fitted
    table : frame, whose cells are read as the model's file was
    source, name : what the table and the model are called
    target : column of the labels, if it has a new name; they may be missing
    """
    if not isinstance(model, Classifier):
        raise TypeError(
            "Expected a Classifier, as `posterior report` and `posterior fit` without --model "
            f"write it, to compare a table with, got {type(model).__name__}."
        )
    roles, learned = model.roles_, model.fitted_.learned_from
    frame, absent = _with_all(table, [c.name for c in model.columns_read])
    n = len(frame_of(frame))
    if n == 0:
        raise ValueError("Expected rows to compare, got an empty table.")
    cells = measured(roles.read(frame), model.columns_read)
    columns: list[ColumnDrift] = []
    if learned is not None:
        by_name = {c.name: c for c in cells}
        summaries = [s for s in learned.columns if s.name in by_name]
        columns = _columns(summaries, by_name, absent, learned.rows)
    proba = np.asarray(model.predict_proba(frame))
    labels = _labels(model, table, target)
    codes = None if labels is None else _codes(labels, model.classes_)
    held_out = None if learned is None else learned.held_out
    scored = None if held_out is None else _score(held_out, proba, codes, model.classes_)
    performance = None
    if labels is not None and codes is not None:
        performance = _performance(model.classes_, proba, codes, labels, held_out)
    own = np.full(n, -1) if codes is None else codes
    sure = np.where(own >= 0, proba[np.arange(n), own], np.nan)
    facts = DriftFacts(
        schema=1,
        version=version("posterior"),
        title=f"{source} against {name}",
        model=name,
        source=source,
        target=roles.target,
        classes=[str(c) for c in model.classes_.tolist()],
        rows_then=0 if learned is None else int(learned.rows),
        rows_now=n,
        summary="",
        alerts=[],
        columns=sorted(columns, key=lambda c: -c.stability_index),
        score=scored,
        performance=performance,
        predictions=Predictions(
            rows=list(range(1, n + 1)),
            folds=[],
            codes=own.tolist(),
            proba=round_digits(proba) if proba.size <= MOST_NUMBERS else None,
            proba_label=round_digits(sure),
            predicted=proba.argmax(axis=1).tolist(),
        ),
        how=HOW,
    )
    said = [] if learned is not None else [Alert("no summary", NO_SUMMARY)]
    return replace(facts, summary=_summary(facts), alerts=[*said, *_alerts(facts)])


def _with_all(table: Any, names: Sequence[str]) -> tuple[Any, set[str]]:
    """The table with every column that the model reads; those it lacks are all missing."""
    frame = frame_of(table)
    absent = [name for name in names if name not in frame.columns]
    if len(absent) == len(names):
        wanted = ", ".join(map(repr, names[:MOST_NAMED]))
        raise ValueError(
            f"Expected columns that the model reads, such as {wanted}, got "
            f"{', '.join(map(repr, frame.columns[:MOST_NAMED]))}."
        )
    if absent:
        gone = [nw.lit(None, nw.String).alias(name) for name in absent]
        frame = frame.with_columns(*gone)
    return frame.to_native(), set(absent)


def _columns(
    summaries: Sequence[ColumnSummary],
    cells: dict[str, MeasuredColumn],
    absent: set[str],
    rows: float,
) -> list[ColumnDrift]:
    then = summaries
    now = [s.count(_like(cells[s.name], s)) for s in then]
    tests = [
        drift_test([*a.counts, a.missing], [*b.counts, b.missing])
        for a, b in zip(then, now, strict=True)
    ]
    adjusted = holm(np.array([t.p_value for t in tests]))
    found = []
    for a, b, test, p in zip(then, now, tests, adjusted, strict=True):
        column, known = cells[a.name], float(b.counts.sum())
        both = [*a.counts, a.missing], [*b.counts, b.missing]
        index, by_chance = stability_index(*both), index_by_chance(*both)
        strange = set(column.values) - set(a.values) if a.complete else set()
        counted = Counter({v: n for v, n in _value_counts(column) if v in strange})
        outside = None
        if known and column.numbers is not None and a.ends is not None:
            x = column.numbers[~column.missing]
            outside = float(((x < a.ends[0]) | (x > a.ends[1])).mean())
        found.append(
            ColumnDrift(
                name=a.name,
                role=a.role,
                unit=a.unit,
                verdict=_verdict(index - by_chance, p),
                stability_index=index,
                statistic=test.statistic,
                freedom=test.freedom,
                p_value=test.p_value,
                p_adjusted=float(p),
                missing_then=a.missing / rows if rows else 0.0,
                missing_now=float(column.missing.mean()),
                unseen=counted.total() / known if a.complete and a.values and known else None,
                unseen_values=[v for v, _ in counted.most_common(MOST_NAMED)],
                outside=outside,
                edges=[a.ends[0], *a.cuts.tolist(), a.ends[1]] if a.ends else [],
                values=list(a.values),
                then=a.counts.tolist(),
                now=b.counts.tolist(),
                absent=a.name in absent,
            )
        )
    return found


def _like(column: MeasuredColumn, summary: ColumnSummary) -> MeasuredColumn:
    """A column that is all missing may have been read as another kind: it has no cells to count."""
    if (column.numbers is None) == (summary.ends is None):
        return column
    n = len(column.missing)
    if summary.ends is None:
        return replace(column, numbers=None, codes=np.full(n, -1, np.int32), values=())
    return replace(column, numbers=np.full(n, np.nan), codes=None, values=())


def _value_counts(column: MeasuredColumn) -> list[tuple[str, int]]:
    if column.codes is None:
        return []
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.values))
    return [*zip(column.values, counts.tolist(), strict=True)]


def _verdict(index: float, p: float) -> Verdict:
    if index < SOME or p > LEVEL:
        return "stable"
    return "some drift" if index < LARGE else "large drift"


def _labels(model: Classifier, table: Any, target: str | None) -> list[Any] | None:
    """The labels of the rows, None where missing; None if the table has no such column."""
    frame, roles = frame_of(table), model.roles_
    name = target or roles.target
    if name not in frame.columns:
        if target is not None:
            raise ValueError(f"Expected a column of labels {target!r}, got {frame.columns}.")
        return None
    cells = roles.labels(frame.get_column(name))
    if model.classes_.dtype.kind in "OU":
        return frames.items(cells, name)
    return cells


def _codes(labels: Sequence[Any], classes: Array) -> Array:
    """Places among the classes; -1 of labels that are missing or unknown."""
    place = {label: k for k, label in enumerate(classes.tolist())}
    return np.array([-1 if v is None else place.get(v, -1) for v in labels], np.int32)


def _score(then: HeldOutSummary, proba: Floats, codes: Array | None, classes: Array) -> ScoreDrift:
    k = len(classes)
    none = np.zeros(len(proba), np.int32)
    with np.errstate(divide="ignore"):
        score, _ = claims(HeldOut(np.log(proba), none, classes))
    now = binned(score, then.cuts)
    index, test = stability_index(then.counts, now), drift_test(then.counts, now)
    predicted = np.bincount(proba.argmax(axis=1), minlength=k) / len(proba)
    before = then.confusion.sum(axis=0) / max(then.rows, 1)
    truth = then.confusion.sum(axis=1) / max(then.rows, 1)
    shares: list[float | None] = [None] * k
    if codes is not None and (codes >= 0).any():
        known = codes[codes >= 0]
        shares = (np.bincount(known, minlength=k) / len(known)).tolist()
    told = [
        ClassDrift(
            name=str(classes[c]),
            predicted_then=float(before[c]),
            predicted_now=float(predicted[c]),
            mean_then=float(then.mean_proba[c]),
            mean_now=float(proba[:, c].mean()),
            share_then=float(truth[c]),
            share_now=shares[c],
        )
        for c in range(k)
    ]
    return ScoreDrift(
        of=str(classes[1]) if k == 2 else None,
        stability_index=index,
        p_value=test.p_value,
        verdict=_verdict(index - index_by_chance(then.counts, now), test.p_value),
        cuts=then.cuts.tolist(),
        then=then.counts.tolist(),
        now=now.tolist(),
        classes=told,
    )


def _performance(
    classes: Array,
    proba: Floats,
    codes: Array,
    labels: Sequence[Any],
    then: HeldOutSummary | None,
) -> Performance | None:
    known = np.flatnonzero(codes >= 0)
    strange = Counter(
        str(label)
        for label, code in zip(labels, codes, strict=True)
        if label is not None and code < 0
    )
    if not len(known):
        return None
    with np.errstate(divide="ignore"):
        held_out = HeldOut(np.log(np.maximum(proba[known], 1e-12)), codes[known], classes)
    scores = []
    for name, score in SCORES.items():
        of_rows = score.of_rows(held_out)
        value = float(of_rows.mean())
        error = float(of_rows.std() / np.sqrt(len(of_rows)))
        low, high = value - 1.96 * error, value + 1.96 * error
        if name == "accuracy":
            low, high = wilson(value, len(of_rows))
        before, before_error = (np.nan, np.nan) if then is None else then.scores[name]
        both = np.sqrt(error**2 + before_error**2)
        change = (value - before) if score.higher_is_better else (before - value)
        z = float(change / both) if both > 0 else np.nan
        measures = Measure(before, before_error), Measure(value, error)
        p = float(2 * ndtr(-abs(z)))
        scores.append(ScoreChange(name, score.title, *measures, low, high, z, p))
    sure, hit = claims(held_out)
    return Performance(
        rows=len(known),
        unlabeled=sum(label is None for label in labels),
        unknown_classes=dict(strange.most_common(20)),
        scores=scores,
        classes=class_scores(held_out),
        confusion=confusion(held_out).tolist(),
        calibration_error=calibration_error(sure, hit),
    )


def _summary(facts: DriftFacts) -> str:
    """The answer on top."""
    parts = []
    moved = [c for c in facts.columns if c.verdict != "stable"]
    if facts.columns and moved:
        names = ", ".join(c.name for c in moved[:MOST_NAMED])
        more = f" and {len(moved) - MOST_NAMED} more" if len(moved) > MOST_NAMED else ""
        parts.append(f"{len(moved)} of {len(facts.columns)} columns have drifted: {names}{more}.")
    elif facts.columns:
        parts.append(f"None of {len(facts.columns)} columns has drifted.")
    if facts.score is not None:
        how = {
            "stable": "are stable",
            "some drift": "have shifted",
            "large drift": "have shifted strongly",
        }
        parts.append(f"Predicted probabilities {how[facts.score.verdict]}.")
    if facts.performance is not None:
        (now,) = (s for s in facts.performance.scores if s.name == "accuracy")
        text = f"{percent(now.now.value)} of {count(facts.performance.rows)} rows are predicted "
        text += "correctly"
        if np.isfinite(now.then.value):
            text += f", against {percent(now.then.value)} of held-out rows when it was fitted"
        parts.append(f"{text}.")
    else:
        parts.append("Performance is unknown without labels.")
    return " ".join(parts)


def _alerts(facts: DriftFacts) -> list[Alert]:
    found = []
    absent = [c.name for c in facts.columns if c.absent]
    if absent:
        found.append(
            Alert("absent", f"Columns not in the table, read as missing: {', '.join(absent)}.")
        )
    if facts.performance is not None:
        (loss,) = (s for s in facts.performance.scores if s.name == "log_loss")
        if loss.z < 0 and loss.p_value < LEVEL:
            found.append(
                Alert(
                    "worse",
                    f"Log loss is {loss.now.value:.3f}, against {loss.then.value:.3f} on "
                    "held-out rows when the model was fitted, by more than chance explains: fit "
                    "it again.",
                )
            )
        strange = facts.performance.unknown_classes
        if strange:
            named = ", ".join(f"{v} ({n})" for v, n in [*strange.items()][:MOST_NAMED])
            found.append(Alert("unknown class", f"Labels that the model does not know: {named}."))
    for c in facts.columns:
        if c.unseen:
            values = ", ".join(c.unseen_values)
            found.append(
                Alert("unseen", f"{c.name}: {percent(c.unseen)} have unseen values ({values}).")
            )
        if c.missing_now - c.missing_then > GAPS and not c.absent:
            found.append(
                Alert(
                    "missing",
                    f"{c.name} is missing in {percent(c.missing_now)} of rows, before in "
                    f"{percent(c.missing_then)}.",
                )
            )
    if facts.score is not None and facts.score.verdict == "large drift":
        found.append(Alert("score", "Predicted probabilities have shifted strongly."))
    return found
