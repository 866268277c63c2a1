"""A model file of every public estimator, and of the ways in which it may have been fitted."""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "laws"))

from everyone import EVERYONE

import posterior
from posterior.storage import container

ROWS = 24
RANDOM = np.random.default_rng(0)
X, Y = RANDOM.normal(size=(ROWS, 3)), np.arange(ROWS) % 2
GAPS = np.where(np.arange(X.size).reshape(X.shape) % 29 == 7, np.nan, X)
COUNTS = sparse.csr_array(RANDOM.integers(0, 3, (ROWS, 4)).astype(float))
FRAME = pd.DataFrame({"size": GAPS[:, 0], "city": list("abc" * 8), "wet": Y == 1})
WORDS = ["good fun here", "bad news today", "so good", "so very bad"] * 6
HALF = np.where(np.arange(ROWS) % 3 == 0, -1, Y)


@dataclass(frozen=True)
class Saved:
    """A model file as its parts, and a table that the model reads."""

    tensors: dict[str, np.ndarray]
    head: dict[str, Any]
    table: Any
    labels: Any

    @property
    def tree(self) -> Any:
        return json.loads(self.tensors["model"].tobytes())


def table_classifier() -> Any:
    """What the command line fits."""
    import pyarrow as pa

    from posterior.estimators.pool.candidates import candidates
    from posterior.preprocessing.infer_roles import infer

    table = pa.table({"size": X[:, 0], "city": list("abc" * 8), "kind": list("no" * 12)})
    kinds = candidates(infer(table, "kind"), ROWS, 2)
    return next(c.classifier for c in kinds if c.key == "naive-bayes"), table, list("no" * 12)


Made = Callable[[], tuple[Any, Any, Any]]
MORE: dict[str, Made] = {
    "gaps": lambda: (posterior.GaussianDiscriminantAnalysis(), GAPS, Y),
    "own gaps": lambda: (posterior.GaussianDiscriminantAnalysis("own", pseudo_rows=1.0), GAPS, Y),
    "mixture of gaps": lambda: (posterior.GaussianMixture(2, random_state=0), GAPS, None),
    "frame": lambda: (posterior.NaiveBayes(), FRAME, Y),
    "calibrated": lambda: (posterior.NaiveBayes(calibrated="temperature"), FRAME, Y),
    "binned": lambda: (posterior.NaiveBayes(posterior.Binned()), X, Y),
    "student": lambda: (posterior.NaiveBayes(posterior.StudentT()), X, Y),
    "logistic frame": lambda: (posterior.LogisticRegression(), FRAME, Y),
    "three classes": lambda: (posterior.LogisticRegression(), X, np.arange(ROWS) % 3),
    "sparse counts": lambda: (posterior.MultinomialNB(), COUNTS, Y),
    "sparse clusters": lambda: (posterior.KMeans(2, random_state=0), COUNTS, None),
    "sparse neighbors": lambda: (posterior.KNeighborsClassifier(2), COUNTS, Y),
    "tree": lambda: (posterior.KNeighborsClassifier(2, algorithm="kd_tree"), X, Y),
    "mixed neighbors": lambda: (posterior.KNeighborsClassifier(2, metric="mixed"), FRAME, Y),
    "strings": lambda: (posterior.KNeighborsClassifier(2, metric="edit"), np.array(WORDS), Y),
    "half labeled": lambda: (posterior.MixtureClassifier(random_state=0), X, HALF),
    "words": lambda: (posterior.TextClassifier("multinomial"), WORDS, Y),
    "word pairs": lambda: (posterior.CountVectorizer(ngram_range=(1, 2)), WORDS, None),
    "dependent numbers": lambda: (posterior.TAN(), X, Y),
    "from a file": table_classifier,
}


@cache
def saved() -> dict[str, Saved]:
    """All of them by name, always the same."""
    made: dict[str, Made] = {}
    for subject in EVERYONE:
        table, labels = subject.table(np.random.default_rng(0), ROWS)
        made[subject.name] = lambda s=subject, t=table, y=labels: (
            s.make(),
            t,
            y if s.learns_labels else None,
        )
    found = {}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, make in (made | MORE).items():
            model, table, labels = make()
            posterior.save(model.fit(table, labels), Path(folder) / "a")
            found[name] = Saved(*container.read(Path(folder) / "a"), table, labels)
    return found
