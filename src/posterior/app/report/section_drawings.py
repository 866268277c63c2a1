"""The pictures of a report that need no script, by section."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from posterior.app.report.column_drawings import column_drawings
from posterior.app.report.drawings import (
    WIDTH,
    Drawing,
    Line,
    label,
    legend_of,
    lines_chart,
    rule,
    svg,
)
from posterior.app.report.figures import Legend
from posterior.app.report.phrases import number, percent, short, shortened
from posterior.app.report.report_schema import ClassScore, Facts, Gains, WorstSubgroups
from posterior.app.report.section_schema import Associations
from posterior.plots.look import PALETTE

SHARES = [(v / 5, f"{20 * v} %") for v in range(6)]
NAMES, CELL = 150, 22  # pixels
MOST_CLASSES, CLASS_ROW, GROUP_ROW = 12, 36, 38
DRAWN_RATIOS = (1.0, 5.0, 20.0)


def drawings(facts: Facts) -> dict[str, list[Drawing]]:
    """The drawings of each section; a section that does not apply has none."""
    classes, target = shortened(facts.classes), short(facts.target, 30)
    sizes = [c.rows for c in facts.data.target] or [0] * len(classes)
    found = {
        "columns": column_drawings(facts.column_shares, classes, target, sizes),
        "associations": [] if facts.associations is None else _heat(facts.associations),
        "classes": _classes(facts.decisions.classes) if facts.confusion else [],
        "worst": [] if facts.worst is None else _worst(facts.worst),
        **{f"gains-{k}": _gains(found) for k, found in enumerate(facts.class_gains)},
    }
    return {section: drawn for section, drawn in found.items() if drawn}


def _heat(found: Associations) -> list[Drawing]:
    """A square for each pair, fuller where they say the same."""
    names, d = shortened(found.columns, 22), len(found.columns)
    if d < 3:
        return []
    parts = []
    for i, line in enumerate(found.matrix):
        y = CELL * i + CELL / 2 + 4
        parts.append(label(NAMES - 8, y, names[i], "end"))
        for j, value in enumerate(line[:i]):
            told = f"{names[i]} and {names[j]}: {number(value, 2)}"
            parts.append(
                f'<rect x="{NAMES + CELL * j}" y="{CELL * i + 1}" width="{CELL - 2}" '
                f'height="{CELL - 2}" fill="{PALETTE[0]}" fill-opacity="{value or 0:.2f}">'
                f"<title>{escape(told)}</title></rect>"
            )
        parts.append(
            f'<text transform="translate({NAMES + CELL * i + 14},{CELL * i + CELL - 6}) '
            f'rotate(-50)">{escape(short(names[i], 14))}</text>'
        )
    strong = "; ".join(f"{a.first} and {a.second} {a.value:.2f}" for a in found.strongest[:3])
    said = "Fuller squares: more associated, from 0 to 1."
    words = f"Chart: associations of {d} columns. {said} Strongest: {strong or 'none above 0.1'}."
    drawn = svg(NAMES + CELL * d + 90, CELL * d + 60, parts, words).replace(
        'viewBox="0 0', 'viewBox="0 -50'
    )
    return [Drawing("associations", "Associations", said, Legend(), drawn, words)]


def _classes(scores: Sequence[ClassScore]) -> list[Drawing]:
    """Precision, recall and F1 of each class with their intervals."""
    shown = sorted(scores, key=lambda c: -c.rows)[:MOST_CLASSES]
    names = shortened([c.name for c in shown], 20)
    across, bottom = WIDTH - NAMES - 20, CLASS_ROW * len(shown)
    parts = []
    for share, text in SHARES:
        x = NAMES + across * share
        parts += [rule(x, 0, x, bottom), label(x, bottom + 16, text, "middle")]
    for i, c in enumerate(shown):
        parts.append(label(NAMES - 10, CLASS_ROW * i + CLASS_ROW / 2 + 4, names[i], "end"))
        rates = (
            (c.precision, c.precision_interval),
            (c.recall, c.recall_interval),
            (c.f1, c.f1_interval),
        )
        for place, ((value, ends), color) in enumerate(zip(rates, PALETTE, strict=False)):
            if ends is None:
                continue
            y = CLASS_ROW * i + CLASS_ROW / 2 + 9 * (place - 1)
            low, high, at = (NAMES + across * v for v in (*ends, value))
            parts.append(
                f'<path d="M{low:.1f},{y:g}H{high:.1f}" stroke="{color}" stroke-width="2"/>'
                f'<circle cx="{at:.1f}" cy="{y:g}" r="4" fill="{color}"/>'
            )
    told = [
        f"{n} {percent(c.precision)}, {percent(c.recall)}"
        for n, c in zip(names, shown, strict=True)
    ]
    said = "Of held-out rows; lines are 95 % intervals."
    words = f"Chart: precision and recall by class. {said} {'; '.join(told)}."
    legend = legend_of("", ["precision", "recall", "F1"])
    drawn = svg(WIDTH, bottom + 24, parts, words)
    return [
        Drawing("classes", "Precision, recall and F1 of each class", said, legend, drawn, words)
    ]


def _worst(found: WorstSubgroups) -> list[Drawing]:
    """Log loss of each group, beside what its probabilities announce, and that of all rows."""
    if not found.found:
        return []
    top = 1.1 * max(max(g.log_loss, g.expected_log_loss) for g in found.found)
    names = [
        " and ".join(f"{part.column}: {part.value}" for part in group.parts)
        for group in found.found
    ]
    bottom = GROUP_ROW * len(names)

    def x(loss: float) -> float:
        return (WIDTH - 12) * loss / top

    at = x(found.log_loss)
    parts = [
        rule(at, 0, at, bottom),
        label(at, bottom + 14, f"all rows {found.log_loss:.3f}", "middle"),
    ]
    for i, (group, name) in enumerate(zip(found.found, names, strict=True)):
        y = GROUP_ROW * i + 26
        told = (group.log_loss, PALETTE[1]), (group.expected_log_loss, PALETTE[0])
        ends = sorted(x(loss) for loss, _ in told)
        parts += [label(0, y - 11, name, most=60), rule(ends[0], y, ends[1], y)]
        parts += [
            f'<circle cx="{x(loss):.1f}" cy="{y:g}" r="4" fill="{color}"/>' for loss, color in told
        ]
    said = "Where log loss is far above what is expected, the model is overconfident."
    listed = "; ".join(
        f"{n} {g.log_loss:.3f}, expected {g.expected_log_loss:.3f}"
        for n, g in zip(names, found.found, strict=True)
    )
    words = f"Chart: log loss of the worst subgroups. {said} {listed}."
    legend = legend_of("", ["expected", "log loss"])
    drawn = svg(WIDTH, bottom + 20, parts, words)
    return [Drawing("worst", "Log loss by group", said, legend, drawn, words)]


def _gains(found: Gains) -> list[Drawing]:
    """Gains and lift by the share of rows taken, and cost by the threshold."""
    taken = np.append(0, found.predicted) / found.rows
    gain = np.append(0, found.hits) / max(found.positives, 1)
    base = found.positives / found.rows
    name = short(found.name, 24)
    rows = f"share of rows, the largest probabilities of {name} first"
    lines = [
        Line("model", taken, gain),
        Line("at random", [0, 1], [0, 1], dashed=True),
        Line("perfect", [0, base, 1], [0, 1, 1], dashed=True),
    ]
    said = f"Which share of all rows of {name} is among the rows taken."
    figures = [
        lines_chart(
            "gains", lines, (rows, f"share of {name} found"), (SHARES, SHARES), "Gains", said
        )
    ]
    lift = gain[1:] / taken[1:]
    few = taken[1:] >= min(0.01, 10 / found.rows)  # of a handful of rows, any lift is chance
    step = max(1, int(np.ceil(lift[few].max() / 4))) if few.any() else 1
    ticks = [(float(v), f"{v}") for v in range(0, 5 * step, step)]
    lines = [Line("model", taken[1:][few], lift[few]), Line("at random", [0, 1], [1, 1], True)]
    said = f"How many times more often {name} is among the rows taken than among all."
    figures.append(lines_chart("lift", lines, (rows, "lift"), (SHARES, ticks), "Lift", said))
    return [*figures, _costs(found, name)]


def _costs(found: Gains, name: str) -> Drawing:
    """Cost against that of never predicting the class, by threshold."""
    t = np.concatenate([[1.0], found.thresholds, [0.0]])
    m = np.concatenate([[0], found.predicted, [found.rows]])
    hits = np.concatenate([[0], found.hits, [found.positives]])
    lines = []
    for ratio in DRAWN_RATIOS:
        cost = (ratio * (found.positives - hits) + m - hits) / found.rows
        least = min(ratio * found.positives, found.rows - found.positives) / found.rows
        order = np.argsort(t, kind="stable")
        stepped = np.repeat(np.c_[t, cost / max(least, 1e-12)][order], 2, axis=0)
        lines.append(
            Line(
                f"a miss costs {ratio:g} false alarm{'s' * (ratio != 1)}",
                stepped[:-1, 0],
                stepped[1:, 1],
            )
        )
    ticks = [(v, f"{100 * v:.0f} %") for v in (0, 0.5, 1, 1.5, 2)]
    said = (
        f"Cost of predicting {name} from a probability on; 100 % is the cheaper of always and "
        "never doing so. The lowest point is the threshold to take."
    )
    axes = (f"{name} is predicted from this probability on", "cost")
    shares = [(v / 5, f"{v / 5:g}") for v in range(6)]
    return lines_chart("costs", lines, axes, (shares, ticks), "Cost by threshold", said)
