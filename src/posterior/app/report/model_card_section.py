"""The model card: what the model is for, what it was made of, how good it is, and its limits."""

from __future__ import annotations

import json
import platform
from datetime import UTC, datetime

from posterior.app.report.describing import ranked
from posterior.app.report.phrases import count, percent, score
from posterior.app.report.report_schema import CandidateFacts, Facts, plain
from posterior.app.report.section_schema import CardColumn, CardMember, ModelCard
from posterior.preprocessing.belonging import how_held_out
from posterior.preprocessing.roles import SCREENED
from posterior.selection.comparison import Comparison

POOR = 0.5  # a recall, or a precision, below which a class is named


def model_card(facts: Facts, comparison: Comparison) -> ModelCard:
    """From the facts of a report."""
    (chosen,) = (c for c in facts.candidates if c.key == facts.choice.key)
    (base,) = (c for c in facts.candidates if c.kind == "baseline")
    data = facts.data
    columns = [c for c in data.columns if c.role != "target"]
    folds = f"{facts.folds} folds by class and content" if facts.folds > 1 else "one fifth"
    asked = " ".join(how_held_out(comparison.roles))
    python = next((s.text for s in facts.snippets if s.language == "python"), "")
    return ModelCard(
        target=facts.target,
        classes={c.name: c.rows for c in data.target},
        source=data.source,
        rows=data.rows,
        used=[CardColumn(c.name, c.role, c.reason) for c in columns if c.used],
        left_out=[
            CardColumn(c.name, c.role, c.reason)
            for c in columns
            if not c.used and c.reason != SCREENED
        ],
        model=facts.choice.name,
        members=[CardMember(name, w) for name, w in ranked(comparison.classifier.weights_)],
        held_out=asked or f"{count(chosen.rows)} rows, in {folds}.",
        scores=_scores(chosen),
        baseline=_scores(base),
        calibration=f"{facts.choice.calibration_sentence} Calibration error on held-out rows: "
        f"{score(chosen.calibration_error.value)}.",
        limits=_limits(facts),
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        version=facts.version,
        python=platform.python_version(),
        use=python,
    )


def card_json(card: ModelCard) -> str:
    """The card as the file beside the page has it."""
    return json.dumps(plain(card), indent=2, ensure_ascii=False, allow_nan=False)


def _scores(found: CandidateFacts) -> dict[str, object]:
    return {name: plain(measure) for name, measure in found.scores().items()}


def _limits(facts: Facts) -> list[str]:
    """What the model should not be trusted with."""
    said = [alert.text for alert in facts.alerts]
    for c in facts.decisions.classes:
        if c.recall < POOR or c.precision < POOR:
            rates = f"precision {percent(c.precision)}, recall {percent(c.recall)}"
            said.append(f"{c.name} is often missed or predicted incorrectly: {rates}.")
    if facts.worst is not None:
        for group in facts.worst.found[:3]:
            named = " and ".join(f"{part.column}: {part.value}" for part in group.parts)
            said.append(
                f"Worse where {named}: log loss {score(group.log_loss)} in {count(group.rows)} "
                f"rows, against {score(facts.worst.log_loss)} overall."
            )
    said.append(
        f"Learned from {facts.data.source} alone: before predicting rows of other or later "
        "data, check for drift with posterior report --against."
    )
    return said
