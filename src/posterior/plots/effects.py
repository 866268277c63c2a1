"""Effects of an additive model as plain values: what a column, or a pair of columns, adds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.utils.validation import check_is_fitted

from posterior.data.names import plain
from posterior.data.typing import Floats
from posterior.discriminative.additive.effect_tables import Shape
from posterior.discriminative.additive.fitted_additive import FittedAdditive
from posterior.estimators import Additive
from posterior.plots import look
from posterior.readers.cells import MISSING

MOST, LETTERS = 30, 24  # categories that are drawn, and letters of a name
WIDE = float(ndtri(0.975))  # standard errors on each side of a band
BESIDE = 0.05  # of the width: beyond the first and last cut


@dataclass(frozen=True, slots=True)
class EffectStep:
    """What neighboring bins of a number, a category, or missing cells add to one score."""

    cell: str
    group: str  # the class whose score it is
    effect: float
    low: float
    high: float
    rows: float
    start: float | None = None  # of the bins; None of categories and of missing cells
    end: float | None = None


@dataclass(frozen=True, slots=True)
class ColumnEffect:
    """What a column adds to the scores of some classes."""

    column: str
    title: str  # what an effect is
    numeric: bool
    classes: list[str]
    steps: list[EffectStep]  # from left to right, or from the largest effect to the smallest
    left_out: int = 0  # categories that are not among them


@dataclass(frozen=True, slots=True)
class PairEffect:
    """What two columns add together to the score of a class, beside what both add alone."""

    columns: list[str]  # two
    of: str  # the class
    names: list[list[str]]  # of the cells of each column
    effects: list[list[float | None]]  # by cells of the first, then of the second; None if unseen
    rows: list[list[float]]


def column_effect(model: Any, column: Any) -> ColumnEffect:
    """Of a fitted additive model, and a column by name or number."""
    fitted = fitted_of(model)
    return effect_of_column(fitted, fitted.shapes()[fitted.term_of([column])])


def effect_of_column(fitted: FittedAdditive, shape: Shape) -> ColumnEffect:
    """The table of one column as plain values."""
    (j,) = shape.columns
    numeric = fitted.reader.kinds[j] == "number"
    groups = _groups(fitted, shape)
    steps, left_out = (_of_bins(fitted, j, groups), 0) if numeric else _of_kinds(fitted, j, groups)
    classes = list(dict.fromkeys(step.group for step in steps))
    name = str(plain(fitted.reader.names[j]))
    return ColumnEffect(name, effect_title(fitted), numeric, classes, steps, left_out)


def pair_effect(model: Any, first: Any, second: Any, of: Any = None) -> PairEffect:
    """Of a fitted additive model, two columns, and a class; by default the one moved most."""
    fitted = fitted_of(model)
    return effect_of_pair(fitted, fitted.shapes()[fitted.term_of([first, second])], of)


def effect_of_pair(fitted: FittedAdditive, shape: Shape, of: Any = None) -> PairEffect:
    """The table of a pair as plain values, for the score of one class."""
    k = _output(fitted, shape, of)
    effect, seen = shape.effect[..., k], shape.share > 0
    return PairEffect(
        [str(plain(fitted.reader.names[j])) for j in shape.columns],
        str(plain(fitted.classes[-shape.effect.shape[-1] :][k])),
        fitted.cell_names(shape),
        [
            [float(e) if known else None for e, known in zip(*line, strict=True)]
            for line in zip(effect, seen, strict=True)
        ],
        _rows(fitted, shape).tolist(),
    )


def fitted_of(model: Any) -> FittedAdditive:
    """What an additive model has learned."""
    if not isinstance(model, Additive):
        raise TypeError(f"Expected a fitted Additive, got {type(model).__name__}.")
    check_is_fitted(model)
    return model.fitted_


def effect_title(fitted: FittedAdditive) -> str:
    """What an effect is."""
    if len(fitted.intercept) > 1:
        return "effect on the score of each class"
    return f"effect on the log odds of {cut(fitted.classes[1])}"


def cut(name: Any, most: int = LETTERS) -> str:
    """A name with not too many letters: names that begin alike often differ at the end."""
    text = " ".join(str(plain(name)).split())
    tail = (most - 1) // 2
    return text if len(text) <= most else f"{text[: most - 1 - tail]}…{text[-tail:]}"


def _groups(fitted: FittedAdditive, found: Shape) -> list[tuple[EffectStep, list[int], bool]]:
    """Each group of cells and class: its effect, its cells, and whether it has missing ones."""
    (j,) = found.columns
    (names,), (group,) = fitted.cell_names(found), found.groups
    classes = [str(plain(c)) for c in fitted.classes[-found.effect.shape[-1] :]]
    moved = found.share @ np.abs(found.effect)
    shown = np.sort(np.argsort(-moved, kind="stable")[: len(look.PALETTE)])
    gaps = bool(fitted.cell_weight[j][MISSING] > 0)
    steps = []
    for g, name in enumerate(names):
        own = np.flatnonzero(group == g)
        information = fitted.information[j][own].sum(axis=0)
        spread = WIDE / np.sqrt(information + fitted.shrinkage)
        rows = float(fitted.cell_weight[j][own].sum())
        for k in shown.tolist():
            effect, wide = float(found.effect[g, k]), float(spread[k])
            step = EffectStep(name, classes[k], effect, effect - wide, effect + wide, rows)
            steps.append((step, own[own != MISSING].tolist(), MISSING in own and gaps))
    return steps


def _of_bins(
    fitted: FittedAdditive, j: int, groups: list[tuple[EffectStep, list[int], bool]]
) -> list[EffectStep]:
    """Steps from cut to cut, and missing cells behind them."""
    cuts = fitted.reader.cuts[fitted.reader.places()[0].index(j)]
    first, last = (cuts[0], cuts[-1]) if len(cuts) else (0.0, 0.0)
    typical = float(np.median(np.diff(cuts))) if len(cuts) > 1 else abs(first) or 1.0
    room = max(BESIDE * (last - first), typical)
    edges = np.concatenate([[first - room], cuts, [last + room]])
    steps = [
        replace(step, start=float(edges[cells[0] - 1]), end=float(edges[cells[-1]]))
        for step, cells, _ in groups
        if cells
    ]
    return [*steps, *(step for step, _, missing in groups if missing)]


def _of_kinds(
    fitted: FittedAdditive, j: int, groups: list[tuple[EffectStep, list[int], bool]]
) -> tuple[list[EffectStep], int]:
    """Categories by their effect on the last class, and how many are left out."""
    names, weight = ["missing", *fitted.reader.names_of(j)], fitted.cell_weight[j]
    heaviest = np.argsort(-weight, kind="stable")[:MOST]
    by_cell: dict[int, list[EffectStep]] = {}
    for step, cells, missing in groups:
        for cell in [*cells, *[MISSING] * missing]:
            if cell in heaviest and weight[cell] > 0:
                by_cell.setdefault(cell, []).append(replace(step, rows=float(weight[cell])))
    labels: dict[int, str] = {}
    for cell in sorted(by_cell, key=lambda cell: -by_cell[cell][-1].effect):
        label = cut(names[cell])
        labels[cell] = label if label not in labels.values() else f"{label} ({cell})"
    steps = [replace(step, cell=name) for cell, name in labels.items() for step in by_cell[cell]]
    return steps, int((weight > 0).sum()) - len(labels)


def _output(fitted: FittedAdditive, shape: Shape, of: Any) -> int:
    """Which score."""
    labels = [plain(c) for c in fitted.classes[-shape.effect.shape[-1] :]]
    if of is None:
        moved = np.tensordot(shape.share, np.abs(shape.effect), 2)
        return int(moved.argmax())
    if of not in labels:
        raise ValueError(f"Expected one of the classes {labels} that have a score, got {of!r}.")
    return labels.index(of)


def _rows(fitted: FittedAdditive, shape: Shape) -> Floats:
    """The weight of the rows in each cell; as if columns were independent, if rows are gone."""
    if fitted.rows is None:
        return shape.share * float(fitted.cell_weight[0].sum())
    found = np.zeros(shape.share.shape)
    at = [group[fitted.rows.codes[j]] for j, group in zip(shape.columns, shape.groups, strict=True)]
    np.add.at(found, tuple(at), fitted.rows.weight)
    return found
