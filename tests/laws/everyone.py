"""Every public estimator, from `posterior.__all__`, with a table that it reads.

A law over all estimators is one test under `@every(...)`; a class added to `__all__` joins by
itself, on a table of numbers unless `READS` says otherwise. Exceptions are named with a reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, is_classifier
from strategies import Random

import posterior

WORDS = {
    "no": "rain cold winter snow ice the a of wind storm".split(),
    "yes": "sun warm summer beach sand the a of light breeze".split(),
}


def numbers(random: Random, codes: np.ndarray) -> np.ndarray:
    """Correlated columns whose classes overlap."""
    mixing = np.eye(3) + 0.3 * np.ones((3, 3))
    return random.normal(0, 1, (len(codes), 3)) @ mixing + 0.9 * codes[:, None] * [1, -1, 0.5]


def categories(random: Random, codes: np.ndarray) -> np.ndarray:
    return (random.random((len(codes), 3)) * (2 + codes[:, None])).astype(np.int64)


def truths(random: Random, codes: np.ndarray) -> np.ndarray:
    return (random.random((len(codes), 4)) < 0.25 + 0.2 * codes[:, None]).astype(np.int64)


def counts(random: Random, codes: np.ndarray) -> np.ndarray:
    rate = np.array([[3.0, 1, 1, 2], [1, 3, 1, 2], [1, 1, 3, 2]])[codes % 3]
    return random.poisson(rate).astype(np.float64)


def documents(random: Random, codes: np.ndarray) -> list[str]:
    either = list(WORDS.values())
    return [" ".join(random.choice(either[code % 2], 8)) for code in codes]


TABLES: dict[str, Callable[[Random, np.ndarray], Any]] = {
    "numbers": numbers,
    "categories": categories,
    "truths": truths,
    "counts": counts,
    "documents": documents,
}
READS = {
    "AODE": "categories",
    "BernoulliNB": "truths",
    "CategoricalNB": "categories",
    "ComplementNB": "counts",
    "CountVectorizer": "documents",
    "HashingVectorizer": "documents",
    "JointBayes": "categories",
    "KDB": "categories",
    "MultinomialNB": "counts",
    "PoissonNB": "counts",
    "TAN": "categories",
    "TextClassifier": "documents",
    "TfidfTransformer": "counts",
    "TfidfVectorizer": "documents",
}
# Less work inside one fit: laws are on what comes of the rows, not on how many trees are chosen.
SETTINGS: dict[str, dict[str, Any]] = {
    "Additive": {"rounds": 20},
    "Classifier": {"models": ["naive-bayes", "aode"]},
    "Pool": {"members": [posterior.NaiveBayes(), posterior.AODE()]},
}
ANSWERS = "predict_proba", "decision_function", "transform", "score_samples", "predict"


@dataclass(frozen=True)
class Subject:
    """A public estimator as it comes, and what it reads."""

    name: str
    kind: type[Any]
    reads: str

    @property
    def is_classifier(self) -> bool:
        return is_classifier(self.kind())

    @property
    def learns_labels(self) -> bool:
        """Whether `fit` asks for classes."""
        return self.is_classifier or signature(self.kind.fit).parameters["y"].default is not None

    def make(self, **settings: Any) -> Any:
        """A new one; where there is chance in it, always the same."""
        model = self.kind(**SETTINGS.get(self.name, {}) | settings)
        return model.set_params(random_state=0) if "random_state" in model.get_params() else model

    def fit(self, X: Any, y: Any, **settings: Any) -> Any:
        """A new one that has learned from these rows."""
        return self.make(**settings).fit(X, y if self.learns_labels else None)

    def table(self, random: Random, n: int, n_classes: int = 2) -> tuple[Any, np.ndarray]:
        """n rows, and the classes they come from."""
        codes = np.concatenate([np.arange(n_classes), random.integers(0, n_classes, n)])[:n]
        return TABLES[self.reads](random, codes), codes

    def has(self, *names: str) -> bool:
        """Whether it has these methods before it is fitted, or says after which setting."""
        return all(hasattr(self.kind, name) for name in names)

    def answers(self, model: Any, X: Any) -> dict[str, Any]:
        """All that a fitted model answers about rows, by the name of the method."""
        asked = [name for name in ANSWERS if hasattr(model, name)]
        return {name: dense(getattr(model, name)(X)) for name in asked}


def dense(answer: Any) -> np.ndarray:
    return answer.toarray() if hasattr(answer, "toarray") else np.asarray(answer)


EVERYONE = [
    Subject(name, kind, READS.get(name, "numbers"))
    for name, kind in ((name, getattr(posterior, name)) for name in posterior.__all__)
    if isinstance(kind, type) and issubclass(kind, BaseEstimator)
]


def every(
    where: Callable[[Subject], bool] = lambda subject: True,
    but: dict[str, str] | None = None,
) -> pytest.MarkDecorator:
    """Run a law over all public estimators of a kind; `but` names exceptions, each with why."""
    kinds = [subject for subject in EVERYONE if where(subject)]
    unknown = set(but or {}) - {subject.name for subject in kinds}
    assert not unknown, f"exceptions of nobody: {unknown}"
    taken = [subject for subject in kinds if subject.name not in (but or {})]
    return pytest.mark.parametrize("subject", taken, ids=lambda subject: subject.name)
