"""The page of the scores: who is better where, and by how much."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from benchmarks.quality.models import ELSEWHERE, MEMBERS, SCIKIT_LEARN, TEXT_PEERS
from benchmarks.quality.tables import HERE, OF_KEEL
from benchmarks.quality.verdicts import Sets, verdicts
from benchmarks.report import duration

PAGE = HERE / "docs" / "results" / "quality.md"
PEERS = (*SCIKIT_LEARN, *ELSEWHERE)
Scores = dict[str, Any]
TABLE_RIVALS = {
    "the best of scikit-learn's four": SCIKIT_LEARN,
    "the best of these, LightGBM, CatBoost and EBM": PEERS,
}
TEXT_RIVALS = {"the best of scikit-learn's three": TEXT_PEERS}
KINDS = {  # heading, peers and how they are grouped
    "tables": ("Tables", PEERS, TABLE_RIVALS),
    "texts": ("Documents", TEXT_PEERS, TEXT_RIVALS),
    "keel": ("Tables of KEEL", PEERS, TABLE_RIVALS),
}
KEEL_NOTE = (
    "Settings of ours were chosen on tables of this repository, so that these figures say less "
    "than those above."
)


def page(summary: dict[str, Any]) -> str:
    lines: list[str] = []
    for kind, (heading, peers, rivals) in KINDS.items():
        if kind in summary:
            lines += [f"## {heading}", ""] + ([KEEL_NOTE, ""] if kind == "keel" else [])
            lines += part(summary[kind], peers, rivals)
    return "\n".join([*lines, facts(summary)]) + "\n"


def part(
    found: dict[str, Any], peers: Sequence[str], rivals: dict[str, Sequence[str]]
) -> Iterator[str]:
    """The verdicts and who did not take part, then a table for each score."""
    sets, subject = found["sets"], found["subject"]
    columns = [subject, *peers]
    yield from counts(sets, subject, rivals)
    yield from absent(sets, columns, found["not_run"])
    members = [m for m in MEMBERS if m != subject and any(m in s["models"] for s in sets.values())]
    yield from ["### Log loss", "", *grid(sets, columns, number("log_loss"))]
    if members:
        yield from ["### Log loss of our single models", ""]
        yield from grid(sets, [subject, *members], number("log_loss"))
    yield from ["### Brier score", "", *grid(sets, columns, number("brier"))]
    yield from ["### Calibration error", "", *grid(sets, columns, calibration)]
    yield from ["### Accuracy", "", *grid(sets, columns, accuracy)]
    yield from ["### Seconds of a fit", "", *grid(sets, [*columns, *members], seconds)]


def counts(sets: Sets, subject: str, rivals: dict[str, Sequence[str]]) -> Iterator[str]:
    """How often ours won, and all sets on which it lost."""
    yield row(f"{subject} against", "sets", "won", "tied", "lost", "lower mean", "lost on")
    yield row(*["---"] * 7)
    for heading, names in rivals.items():
        found = list(verdicts(sets, names))
        words = [verdict.word for verdict in found]
        lost = [
            f"{shown(v.name)} to {v.rival} by {v.apart:.4f} ± {v.error:.4f}"
            for v in found
            if v.word == "lost"
        ]
        lower = sum(v.apart < 0 for v in found)
        tally = [len(found), *map(words.count, ("won", "tied", "lost")), lower]
        yield row(heading, *tally, "; ".join(lost))
    yield ""


def absent(sets: Sets, models: Sequence[str], not_run: Sequence[str]) -> Iterator[str]:
    """Who did not answer what, since a rival that is not there cannot win."""
    gaps: dict[str, list[str]] = {model: [] for model in models}
    for name, found in sets.items():
        for model in models:
            if "log_loss" not in found["models"].get(model, {}):
                gaps[model].append(name)
    said = [f"{m} on {', '.join(map(shown, names))}" for m, names in gaps.items() if names]
    said += [f"any model on {', '.join(map(shown, not_run))}"] if not_run else []
    if said:
        yield from [f"Not run, or stopped: {'; '.join(said)}.", ""]


def grid(sets: Sets, models: Sequence[str], cell: Callable[[Scores], str]) -> Iterator[str]:
    """A score of all models on all sets, the best of a line in bold if the score has one."""
    some = [m for m in models if any(m in found["models"] for found in sets.values())]
    yield row("set", "rows", *some)
    yield row("---", *["--:"] * (len(some) + 1))
    for name, found in sets.items():
        cells = [_cell(found["models"].get(model), cell) for model in some]
        yield row(shown(name), f"{found['rows']:,}", *bold(cells))
    yield ""


def _cell(scores: Scores | None, cell: Callable[[Scores], str]) -> str:
    """Empty where a model was not run."""
    if scores is None:
        return ""
    return f"> {scores['stopped'] / 60:.0f} min" if "stopped" in scores else cell(scores)


def bold(cells: Sequence[str]) -> list[str]:
    """The lowest of plain numbers, as they are written; what has a unit or an error stays."""
    numbers = [text for text in cells if text.replace(".", "", 1).isdigit()]
    least = min(numbers, key=float, default=None)
    return [f"**{text}**" if text == least else text for text in cells]


def number(name: str) -> Callable[[Scores], str]:
    return lambda scores: f"{scores[name]:.4f}"


def calibration(scores: Scores) -> str:
    return f"{scores['calibration']:.3f} ± {scores['calibration_error']:.3f}"


def accuracy(scores: Scores) -> str:
    return f"{100 * scores['accuracy']:.1f} %"


def seconds(scores: Scores) -> str:
    return duration(scores["seconds"])


def shown(name: str) -> str:
    return name.removeprefix(OF_KEEL)


def row(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def facts(summary: dict[str, Any]) -> str:
    """By which versions it was measured, and on what; seconds of two machines do not compare."""
    measured = {
        (scores["cpu"], scores["version"])
        for kind in KINDS
        for found in summary.get(kind, {"sets": {}})["sets"].values()
        for scores in found["models"].values()
        if "version" in scores
    }
    on = {cpu: sorted(v for c, v in measured if c == cpu) for cpu, _ in sorted(measured)}
    return "Measured with " + "; ".join(f"{', '.join(v)} on {cpu}" for cpu, v in on.items()) + "."
