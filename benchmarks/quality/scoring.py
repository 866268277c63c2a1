"""Scores of the stored probabilities: means over rows, and differences with their errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.quality import folds, models, tables
from benchmarks.quality.folds import FLOOR, Answers
from benchmarks.report import cpu_model
from posterior.evaluation.held_out import HeldOut
from posterior.evaluation.reliability import calibration_measure

SCORES = tables.HERE / "docs" / "results" / "quality.json"
NAMES = {
    "tables": list(tables.TABLES),
    "texts": list(tables.TEXTS),
    "keel": [tables.OF_KEEL + name for name in tables.KEEL],
}
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


def apart(ours: Answers, theirs: Answers) -> dict[str, float]:
    """How much larger our log loss is, by row, and the standard error of that mean.

    Rows are answered by both, so that what is hard about them cancels.
    """
    if not np.array_equal(ours.codes, theirs.codes):
        raise ValueError("Expected answers to the same rows, got others. Run both: --again.")
    difference = ours.losses() - theirs.losses()
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    return {"apart": digits(difference.mean()), "apart_error": digits(error)}


def digits(value: float, n: int = 6) -> float:
    return float(f"{value:.{n}g}")


def of_table(name: str, kind: str) -> dict[str, Any] | None:
    """Facts of a table and the scores of all models that answered it; None if none did."""
    every = models.TEXT_MODELS if kind == "texts" else models.TABLE_MODELS
    found = {model: stored for model in every if (stored := folds.load(name, model))}
    if not found:
        return None
    ours = found.get(subject(kind))
    known: dict[str, Any] = {}
    for model in every:
        if model in found:
            compared = {} if ours is None else apart(ours, found[model])
            known[model] = scores(found[model]) | compared | {"version": found[model].version}
        elif seconds := folds.stopped_after(name, model):
            known[model] = {"stopped": seconds}
    n, k = next(iter(found.values())).proba.shape
    return {"rows": n, "classes": k, "models": known}


def subject(kind: str) -> str:
    """Who is compared with the peers: the first of ours that answered anything of this kind."""
    names = NAMES[kind]
    return next(m for m in SUBJECTS if any(folds.path(name, m).exists() for name in names))


def summary() -> dict[str, Any]:
    """All that the page and the picture show."""
    found: dict[str, Any] = {"machine": {"cpu": cpu_model()}}
    for kind, names in NAMES.items():
        answered = {name: scored for name in names if (scored := of_table(name, kind))}
        if answered:
            missing = [name for name in names if name not in answered]
            found[kind] = {"subject": subject(kind), "sets": answered, "not_run": missing}
    return found


def save(found: dict[str, Any], path: Path = SCORES) -> None:
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")


def load(path: Path = SCORES) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8"))
