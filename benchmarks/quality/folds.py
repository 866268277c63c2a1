"""Probabilities of every row by a model that did not see it: computed, stored, and read again."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks.quality.models import ELSEWHERE, MEMBERS, make
from benchmarks.quality.tables import HERE, read

STORED = HERE / "build" / "quality"
FOLDS = 5
FLOOR = 1e-15  # of a probability: forests are certain and wrong


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What a model said of all rows of a table."""

    proba: np.ndarray  # (n, k)
    codes: np.ndarray  # (n,) the true classes
    classes: np.ndarray  # (k,)
    folds: np.ndarray  # (n,)
    seconds: np.ndarray  # (FOLDS,) of the processor for each fit, all threads added up
    version: str  # of the model's package

    def losses(self) -> np.ndarray:
        """-log p of the true class, by row."""
        own = self.proba[np.arange(len(self.codes)), self.codes]
        return -np.log(np.maximum(own, FLOOR))


def held_out(table: str, model: str, keel: Path | None = None) -> Answers:
    """Five stratified folds, each answered by a model of the other four."""
    X, y = read(table, keel)
    classes, codes = np.unique(y, return_inverse=True)
    proba, folds = np.zeros((len(y), len(classes))), np.empty(len(y), np.int32)
    seconds = []
    dealt = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y)
    for fold, (train, test) in enumerate(dealt):
        fitted = make(model, table)
        began = time.process_time()
        fitted.fit(X.iloc[train], y[train])
        seconds.append(time.process_time() - began)
        known = np.searchsorted(classes, np.asarray(fitted.classes_).astype(str))
        proba[np.ix_(test, known)] = fitted.predict_proba(X.iloc[test])
        folds[test] = fold
    ours = "posterior" if model in ("Classifier", *MEMBERS) else "scikit-learn"
    package = ELSEWHERE.get(model, ours)
    return Answers(
        proba, codes, classes.astype(str), folds, np.array(seconds), f"{package} {version(package)}"
    )


def path(table: str, model: str) -> Path:
    return STORED / f"{table}-{model}.npz"


def save(table: str, model: str, answers: Answers) -> None:
    STORED.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path(table, model), **asdict(answers))
    _stopped(table, model).unlink(missing_ok=True)


def load(table: str, model: str) -> Answers | None:
    """What is stored, if anything is."""
    if not path(table, model).exists():
        return None
    with np.load(path(table, model)) as stored:
        fields = {name: stored[name] for name in stored.files}
    return Answers(**fields | {"version": str(fields["version"])})


def _stopped(table: str, model: str) -> Path:
    return path(table, model).with_suffix(".stopped")


def save_stopped(table: str, model: str, seconds: float) -> None:
    """A model that took longer than it may."""
    STORED.mkdir(parents=True, exist_ok=True)
    _stopped(table, model).write_text(f"{seconds:g}\n", "utf-8")


def stopped_after(table: str, model: str) -> float | None:
    """Seconds after which it was stopped, if it was."""
    found = _stopped(table, model)
    return float(found.read_text("utf-8")) if found.exists() else None


def is_known(table: str, model: str) -> bool:
    return path(table, model).exists() or _stopped(table, model).exists()
