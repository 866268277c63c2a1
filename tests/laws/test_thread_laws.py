"""The number of threads does not matter: what is learned and answered is the same to the bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from everyone import every
from sklearn.base import clone
from strategies import bits

import posterior
from posterior import (
    GaussianDiscriminantAnalysis,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from posterior.engines import local
from posterior.estimators.text import term_rule
from posterior.text import blocks

THREADS = 1, 2, 3, 4, 7
QUICK: dict[str, dict[str, Any]] = {
    "HashingVectorizer": {"n_features": 64},  # answers are compared as dense arrays
    "KMedoids": {"n_clusters": 2},
    "LogisticRegressionCV": {"Cs": 2, "cv": 2},
    "Mixture": {"max_iter": 9},
}
UNCUT = {  # fits that are no sums of chunks; what they answer is
    "HashingVectorizer": "learns nothing",
    "KBinsDiscretizer": "looks at whole columns",
    "KNeighborsClassifier": "keeps the rows",
    "MiniBatchKMeans": "draws batches that are smaller than a chunk",
    "SupervisedDiscretizer": "looks at whole columns",
    "TfidfTransformer": "counts a sparse matrix at one go",
}


@pytest.fixture
def cuts(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Small chunks, and into how many each pass was cut."""
    seen: list[int] = []
    spread = local.Local.map

    def noted(self: Any, function: Callable[[int], Any], starts: Any) -> Any:
        starts = list(starts)
        seen.append(len(starts))
        return spread(self, function, starts)

    monkeypatch.setattr(local, "SUM_CELLS", (1, 4_000))
    monkeypatch.setattr(local, "FILL_CELLS", 1)
    monkeypatch.setattr(blocks, "SMALLEST", 1 << 10)
    monkeypatch.setattr(term_rule, "CHUNK", 256)
    monkeypatch.setattr(local.Local, "map", noted)
    return seen


def learned(model: Any) -> dict[str, Any]:
    """All that a fitted model shows."""
    shown = {name: value for name, value in vars(model).items() if name[-1] == "_" != name[0]}
    return {name: value for name, value in shown.items() if name != "engine_"}


def assert_all_alike(told: list[dict[str, Any]]) -> None:
    alone, *others = ({name: bits(value) for name, value in one.items()} for one in told)
    for n, other in zip(THREADS[1:], others, strict=True):
        changed = [name for name in alone | other if alone.get(name) != other.get(name)]
        assert not changed, f"{changed} changed on {n} threads"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@every()
def test_the_number_of_threads_does_not_matter(subject, cuts):
    X, y = subject.table(np.random.default_rng(5), 3_200, n_classes=3)
    models = []
    for n in THREADS:
        with posterior.threads(n):
            models.append(subject.fit(X, y, **QUICK.get(subject.name, {})))
    assert max(cuts, default=1) > 2 or subject.name in UNCUT
    told = []
    for n, model in zip(THREADS, models, strict=True):
        with posterior.threads(n):
            told.append(learned(model) | subject.answers(model, X))
    assert_all_alike(told)


@pytest.mark.parametrize(
    "model",
    [
        LinearDiscriminantAnalysis(),
        LinearDiscriminantAnalysis("lsqr"),
        QuadraticDiscriminantAnalysis(store_covariance=True),
        GaussianDiscriminantAnalysis("own"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("n_rows", [40_000, 70_000])
def test_discriminants_of_many_rows_do_not_depend_on_threads(n_rows, model):
    """Nothing is patched: two chunks on two threads once; by their rows, one and two."""
    random = np.random.default_rng(6)
    codes = random.integers(0, 3, n_rows)
    X = random.normal(0, 1, (n_rows, 9)) + 0.3 * codes[:, None]

    told = []
    for n in THREADS:
        with posterior.threads(n):
            fitted = clone(model).fit(X, codes)
            told.append(learned(fitted) | {"answers": fitted.predict_proba(X)})
    assert_all_alike(told)
