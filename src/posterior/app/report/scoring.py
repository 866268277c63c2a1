"""What out-of-fold probabilities say: reliability, confusion, ranking, subgroups."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from posterior.app.report.schema import (
    Curve,
    MissingFacts,
    Predictions,
    Reliability,
    ReliabilityBin,
    Subgroup,
)
from posterior.data import frames
from posterior.data.table import text
from posterior.data.typing import Array, Floats
from posterior.generative.validation import HeldOut
from posterior.preprocessing.roles import Roles
from posterior.selection.comparison import Judged
from posterior.selection.rows import LabeledRows
from posterior.selection.scores import Measure, bin_of, calibration_error, claims, edges

POINTS = 200  # of a curve
CURVES = 10
MOST_NUMBERS = 4_000_000  # of probabilities that are written down
SMALLEST_GROUP = 10
MOST_GROUPS = 20  # values of a column
DEFAULT_SUBGROUPS = 3
TELLING_NAMES = ("sex", "gender", "race", "ethnic", "age", "religion", "nation", "country", "demo")


def reliability(name: str, held_out: HeldOut, names: list[str]) -> Reliability:
    """Whether probabilities come true as often as they say."""
    p, hit = claims(held_out)
    ends = edges(p)
    places = bin_of(p, ends)
    bins = []
    for b in np.unique(places):
        inside = places == b
        n, share = int(inside.sum()), float(hit[inside].mean())
        low, high = wilson(share, n)
        bins.append(
            ReliabilityBin(
                float(ends[b]), float(ends[b + 1]), n, float(p[inside].mean()), share, low, high
            )
        )
    return Reliability(
        model=name,
        of=names[1] if len(names) == 2 else None,
        error=calibration_error(p, hit),
        bins=bins,
        histogram=np.histogram(p, np.linspace(0, 1, 21))[0].tolist(),
    )


def wilson(share: float, n: int, z: float = 1.959964) -> tuple[float, float]:
    """The interval of a share (Wilson 1927)."""
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return float(max(0.0, min(share, middle - half))), float(min(1.0, max(share, middle + half)))


def confusion(held_out: HeldOut) -> list[list[int]]:
    """Rows of class i that were taken for class j."""
    k = len(held_out.classes)
    counts = np.zeros((k, k), np.int64)
    np.add.at(counts, (held_out.codes, held_out.log_proba.argmax(axis=1)), 1)
    return counts.tolist()


def curves(held_out: HeldOut, names: list[str]) -> tuple[list[Curve], list[Curve]]:
    """ROC and precision-recall, each class against the rest; of two classes the second."""
    counts = np.bincount(held_out.codes, minlength=len(names))
    largest = np.sort(np.argsort(-counts, kind="stable")[:CURVES])
    drawn = [1] if len(names) == 2 else [int(k) for k in largest if counts[k]]
    roc, recall = [], []
    for k in drawn:
        first, second = one_against_rest(held_out.proba[:, k], held_out.codes == k)
        roc.append(Curve(names[k], *first, chance=0.5))
        recall.append(Curve(names[k], *second, chance=float(counts[k] / counts.sum())))
    return roc, recall


def one_against_rest(
    p: Floats, own: Array
) -> tuple[tuple[list[float], list[float], float], tuple[list[float], list[float], float]]:
    """ROC curve and area, precision-recall curve and average precision."""
    order = np.argsort(-p, kind="stable")
    hits = np.cumsum(own[order])
    taken = np.arange(1, len(p) + 1)
    last = np.append(np.diff(p[order]) != 0, True)  # equal scores are taken together
    hits, taken = hits[last], taken[last]
    positives, negatives = int(own.sum()), int((~own).sum())
    x = np.concatenate([[0.0], (taken - hits) / max(negatives, 1)])
    y = np.concatenate([[0.0], hits / max(positives, 1)])
    area = float(np.trapezoid(y, x)) if negatives and positives else np.nan
    precision = hits / taken
    gained = np.diff(y)
    average = float((gained * precision).sum()) if positives else np.nan
    keep, kept = thinned(x, y), thinned(y[1:], precision)
    return (
        (rounded(x[keep]), rounded(y[keep]), area),
        (rounded(y[1:][kept]), rounded(precision[kept]), average),
    )


def thinned(x: Floats, y: Floats) -> Array:
    """At most some points of a curve, at even steps along it."""
    if len(x) <= POINTS:
        return np.arange(len(x))
    length = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
    steps = np.linspace(0, length[-1], POINTS)
    return np.unique(np.clip(np.searchsorted(length, steps), 0, len(x) - 1))


def rounded(values: Any, digits: int = 6) -> list[Any]:
    """Numbers with some digits, which is what a page and a file need."""
    return (
        np.asarray([float(f"{v:.{digits}g}") for v in np.ravel(values)])
        .reshape(np.shape(values))
        .tolist()
    )


def predictions(judged: Judged, rows: LabeledRows) -> Predictions:
    """The probabilities that all scores are computed from."""
    held_out, index = judged.held_out, judged.index
    proba = held_out.proba
    own = proba[np.arange(len(index)), held_out.codes]
    folds = rows.folds[index]
    return Predictions(
        rows=(rows.places[index] + 1).tolist(),
        folds=folds.tolist(),
        codes=held_out.codes.tolist(),
        proba=rounded(proba) if proba.size <= MOST_NUMBERS else None,
        proba_label=rounded(own),
        predicted=proba.argmax(axis=1).tolist(),
    )


def subgroup(column: str, value: str, held_out: HeldOut, inside: Array) -> Subgroup:
    """Scores of rows that share a value."""
    proba, codes = held_out.proba[inside], held_out.codes[inside]
    right = proba.argmax(axis=1) == codes
    n, share = len(codes), float(right.mean())
    k = proba.shape[1]
    own = held_out.log_proba[inside][np.arange(n), codes]
    careful = (n * share + 2) / (n + 4)  # all right so far is not right for sure
    error = float(np.sqrt(careful * (1 - careful) / (n + 4)))
    return Subgroup(
        column=column,
        value=value,
        rows=n,
        accuracy=Measure(share, error),
        log_loss=float(-own.mean()),
        target=(np.bincount(codes, minlength=k) / n).tolist(),
        predicted=proba.mean(axis=0).tolist(),
    )


def by_subgroup(
    judged: Judged, rows: LabeledRows, roles: Roles, asked: tuple[str, ...]
) -> list[Subgroup]:
    """Accuracy by the values of columns: those asked for, or up to three of few values."""
    found = []
    for name in asked or _default_subgroups(roles):
        labels = _values(rows, name, judged.index)
        values = frames.distinct(labels)
        codes = frames.encode(labels, values)
        sizes = np.bincount(codes[codes >= 0], minlength=len(values))
        for k in np.sort(np.argsort(-sizes, kind="stable")[:MOST_GROUPS]):
            if sizes[k] >= SMALLEST_GROUP:
                found.append(subgroup(name, values[k], judged.held_out, codes == k))
    return found


def _default_subgroups(roles: Roles) -> list[str]:
    few = [c.name for c in roles.used if c.role in ("category", "boolean") and c.distinct <= 6]

    def told(name: str) -> int:
        words = [i for i, word in enumerate(TELLING_NAMES) if word in name.casefold()]
        return words[0] if words else len(TELLING_NAMES)

    return sorted(few, key=told)[:DEFAULT_SUBGROUPS]


def _values(rows: LabeledRows, name: str, index: Array) -> list[str | None]:
    """The values of a column as words; numbers of many values by quarters."""
    table = frames.as_frame(rows.take(index))
    assert table is not None
    column = table.get_column(name)
    if frames.kind(column) == "number":
        cells = frames.numbers(column)
        known = cells[~np.isnan(cells)]
        if len(np.unique(known)) > 8:
            cuts = np.unique(np.quantile(known, [0, 0.25, 0.5, 0.75, 1]))
            last = len(cuts) - 2
            names = [f"{text(a)} to {text(b)}" for a, b in pairwise(cuts)]
            places = np.clip(np.searchsorted(cuts, cells, side="right") - 1, 0, last)
            return [None if np.isnan(v) else names[i] for v, i in zip(cells, places, strict=True)]
    return frames.items(column.to_list(), name)


def missing_facts(judged: Judged, roles: Roles, gaps: Array) -> MissingFacts | None:
    """Rows with missing cells against complete ones."""
    gaps = gaps[judged.index]
    some: Array = np.asarray(gaps.any(axis=1))
    if not some.any():
        return None
    held_out = judged.held_out

    def group(column: str, value: str, inside: Array) -> Subgroup | None:
        return subgroup(column, value, held_out, inside) if inside.any() else None

    by_column = [
        subgroup(column.name, "missing", held_out, gaps[:, j])
        for j, column in enumerate(roles.used)
        if gaps[:, j].sum() >= SMALLEST_GROUP
    ]
    return MissingFacts(
        complete=group("all columns", "complete", ~some),
        incomplete=group("all columns", "with missing cells", some),
        by_column=by_column,
    )
