"""Smoke test of an installation: python -m posterior.smoke_test

Fits small models to simulated rows, saves and loads them, and prints how often each is right, and a
digest of its probabilities. Two installations of which a line marked "exact" differs are not the
same; other digests may differ between machines in the last digits.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import posterior
from posterior import kernels
from posterior.data.typing import Array
from posterior.datasets import messages

EXACT = {"GaussianNB", "BernoulliNB", "CategoricalNB", "MultinomialNB", "PoissonNB", "Additive"}
ROWS, COLUMNS = 600, 4
LEAST = 0.7  # of the rows are predicted correctly


def cases() -> Iterator[tuple[Any, Any, Array]]:
    """Models with rows that they can read, and the classes of these."""
    random = np.random.default_rng(0)
    y = random.integers(0, 3, ROWS)
    X = random.integers(-800, 800, (ROWS, COLUMNS)) / 512 + y[:, None] * [1.5, -1.0, 0.5, 0.0]
    counts = random.poisson(np.array([[1, 4, 9, 2], [5, 1, 3, 2], [9, 8, 1, 2]])[y])
    for kind in ("GaussianNB", "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"):
        yield getattr(posterior, kind)(), X, y
    for kind in ("LogisticRegression", "KNeighborsClassifier", "Additive", "AODE", "Classifier"):
        yield getattr(posterior, kind)(), X, y
    yield posterior.BernoulliNB(binarize=2.5), counts, y
    for kind in ("CategoricalNB", "MultinomialNB", "PoissonNB"):
        yield getattr(posterior, kind)(), counts, y
    texts, labels = messages(ROWS)
    yield posterior.TextClassifier(), texts, labels


def main() -> int:
    """Print a line for each model; 1 if one of them is not what it should be."""
    failed = 0
    print(f"posterior {posterior.__version__}, {kernels.active} kernels, {kernels.simd} vectors")
    with tempfile.TemporaryDirectory() as folder:
        for model, X, y in cases():
            name, file = type(model).__name__, Path(folder, "model.posterior")
            proba = model.fit(X, y).predict_proba(X)
            posterior.save(model, file)
            correct = float(np.mean(model.classes_[proba.argmax(axis=1)] == y))
            kept = np.array_equal(posterior.load(file).predict_proba(X), proba)
            good = kept and correct >= LEAST
            failed += not good
            digest = sha256(np.ascontiguousarray(proba).tobytes()).hexdigest()[:12]
            exact = "exact" if name in EXACT else "     "
            print(f"{'ok    ' if good else 'FAILED'} {exact} {digest} {correct:6.1%}  {name}")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
