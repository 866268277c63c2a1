"""Scores of the stored probabilities: means over rows, and differences with their errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.quality import folds, kept, models, tables
from benchmarks.quality.folds import FLOOR, Answers
from benchmarks.quality.kept import Losses
from benchmarks.report import cpu_model
from posterior.evaluation.held_out import HeldOut
from posterior.evaluation.reliability import calibration_measure

SCORES = tables.HERE / "docs" / "results" / "quality.json"
NAMES = {
    "tables": list(tables.TABLES),
    "texts": list(tables.TEXTS),
    "keel": [tables.OF_KEEL + name for name in tables.KEEL],
}
Scored = dict[str, Any]
APART = "apart", "apart_error"
SUBJECTS = ("Classifier", "Additive", "TextClassifier")  # who is compared: the first that was run


def scores(answers: Answers) -> dict[str, Any]:
    """Log loss, Brier score, calibration error and accuracy; seconds of the fastest fit."""
    log_proba = np.log(np.maximum(answers.proba, FLOOR))
    rows = HeldOut(log_proba, answers.codes, answers.classes, answers.folds)
    calibration, _ = calibration_measure(rows)
    return {
        "log_loss": digits(answers.losses().mean()),
        "brier": digits(rows.brier),
        "calibration": digits(calibration.value),
        "calibration_error": digits(calibration.standard_error or 0.0),
        "accuracy": digits(rows.accuracy),
        "seconds": digits(answers.seconds.min(), 3),
    }


def measured_by(run: Answers) -> dict[str, str]:
    return {"version": run.version, "cpu": cpu_model()}


def apart(ours: Answers | Losses, theirs: Answers | Losses) -> dict[str, float]:
    """How much larger our log loss is, by row, and the standard error of that mean.

    Rows are answered by both, so that what is hard about them cancels.
    """
    if not np.array_equal(ours.codes, theirs.codes):
        raise ValueError("Expected answers to the same rows, got others. Run both: --again.")
    difference = ours.losses() - theirs.losses()
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    return dict(zip(APART, (digits(difference.mean()), digits(error)), strict=True))


def digits(value: float, n: int = 6) -> float:
    return float(f"{value:.{n}g}")


def of_table(name: str, kind: str, ours: str, scored: Scored) -> Scored | None:
    """Facts of a table and the scores of all models that answered it; None if none did.

    A model that was not run again keeps the scores that it had, and its distance to ours where
    its losses are known or ours were not run again either.
    """
    every = models.TEXT_MODELS if kind == "texts" else models.TABLE_MODELS
    found = {model: stored for model in every if (stored := folds.load(name, model))}
    before = scored.get("models", {})
    earlier = {m: lost for m, lost in kept.load(name).items() if m in before and m not in found}
    losses: dict[str, Answers | Losses] = {**earlier, **found}
    if not losses and not before:
        return None
    own_losses = losses.get(ours)
    known: dict[str, Any] = {}
    for model in every:
        if model in losses:
            run = found.get(model)
            said = before[model] if run is None else scores(run) | measured_by(run)
            compared = {} if own_losses is None else apart(own_losses, losses[model])
            known[model] = said | compared
        elif seconds := folds.stopped_after(name, model):
            known[model] = {"stopped": seconds}
        elif model in before:
            known[model] = {s: v for s, v in before[model].items() if not found or s not in APART}
    kept.save(name, found)
    if not losses:
        return scored | {"models": known}
    codes = next(iter(losses.values())).codes
    return {"rows": len(codes), "classes": len(np.unique(codes)), "models": known}


def subject(kind: str, before: Scored) -> str | None:
    """Who is compared with the peers: the first of ours that answered anything of this kind."""
    for model in SUBJECTS:
        for name in NAMES[kind]:
            if model in before.get(name, {}).get("models", ()) or is_answered(name, model):
                return model
    return None


def is_answered(table: str, model: str) -> bool:
    """Whether what a model lost on each row is known."""
    return folds.path(table, model).exists() or model in kept.load(table)


def summary(before: Scored | None = None) -> Scored:
    """All that the page and the picture show; of what was not run again, as it was before."""
    found: Scored = {}
    for kind, names in NAMES.items():
        sets = (before or {}).get(kind, {}).get("sets", {})
        ours = subject(kind, sets)
        if ours is None:
            continue
        each = {name: of_table(name, kind, ours, sets.get(name, {})) for name in names}
        answered = {name: scored for name, scored in each.items() if scored}
        missing = [name for name in names if name not in answered]
        found[kind] = {"subject": ours, "sets": answered, "not_run": missing}
    return found


def save(found: dict[str, Any], path: Path = SCORES) -> None:
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")


def load(path: Path = SCORES) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8"))
