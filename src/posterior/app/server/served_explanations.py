"""Reasons of an answer: what each column or word adds to each class, or the nearest rows.

log p(k | x) = start_k + Σⱼ score_kj + constant
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from scipy.special import logsumexp

from posterior.app import explanations
from posterior.app.server.cells import Row
from posterior.app.server.served import Served
from posterior.data.typing import Array, Floats
from posterior.estimators import TableClassifier
from posterior.estimators.text.text_explanation import ABSENT, Mark
from posterior.generative.evidence_terms import Evidence

MOST = 200  # columns or words that are listed one by one
REST = "all others"
PRIOR = "prior"
LINEAR = ("LogisticRegression", "LogisticRegressionCV")  # models of no prior
FARTHEST = 1000.0  # what rules a class out, in a world without infinity
Pair: TypeAlias = tuple[int, int]  # codes of two classes
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Term:
    """A column or a word: its cell, and what it adds to the score of each class."""

    name: str
    value: str | None
    scores: list[float]


@dataclass(frozen=True, slots=True)
class Reasons:
    """As much as the model can explain."""

    start: list[float] | None = None  # the score of each class before the row is seen
    started: str = PRIOR  # what the start is called
    terms: list[Term] = field(default_factory=list)
    pieces: list[tuple[str, float | None]] = field(default_factory=list)  # of a text, with weights
    neighbors: list[dict[str, Any]] = field(default_factory=list)


def reasons(
    served: Served, X: Any, row: Row, priors: Mapping[str, float] | None, pair: Pair
) -> Reasons:
    """What speaks for which class: of X, the row as the model takes it.

    `pair` are the classes whose odds a text is marked by.
    """
    if served.documents:
        return _of_text(served, X, priors, pair)
    if served.additive:
        evidence = served.model.evidence(X)
        start = evidence.log_prior + served.shift(priors)
        return Reasons(
            _finite(start).tolist(),
            PRIOR if _is_prior(evidence.log_prior, served) else "typical row",
            _terms(evidence, row, served),
        )
    if hasattr(served.model, "explain"):
        found = explanations.of_row(served.model, X).to_dict()
        return Reasons(neighbors=found.get("neighbors", []))
    return Reasons()


def _of_text(served: Served, X: Any, priors: Mapping[str, float] | None, pair: Pair) -> Reasons:
    """The words of a document, and the document with its words marked."""
    model = served.model
    evidence = model.evidence(X)
    start = evidence.log_prior + served.shift(priors)
    terms = _terms(evidence, {}, served)
    of, against = (model.classes_[code] for code in pair)
    why = model.explain(X, of, against)
    absent = ABSENT in evidence.feature_names  # has a term of its own
    started = PRIOR if _is_prior(evidence.log_prior, served) else "start" if absent else "no words"
    pieces = list(_pieces(why.document, why.marks))
    return Reasons(_finite(start).tolist(), started, terms, pieces)


def _terms(evidence: Evidence, row: Row, served: Served) -> list[Term]:
    """In the order of the columns; where there are many, the weightiest and the rest as one."""
    scores = _finite(evidence.terms[0])
    names = _names(evidence, served)
    spread = scores.max(axis=0) - scores.min(axis=0) if len(names) else np.zeros(0)
    kept = np.sort(np.argsort(-spread, kind="stable")[:MOST])
    found = [Term(names[j], _shown(row.get(names[j])), scores[:, j].tolist()) for j in kept]
    rest = np.setdiff1d(np.arange(len(names)), kept)
    if len(rest):
        found.append(Term(REST, None, scores[:, rest].sum(axis=1).tolist()))
    return found


def _names(evidence: Evidence, served: Served) -> list[str]:
    """Names of the terms; columns that the model knows by their places get theirs back."""
    names = [str(name) for name in evidence.feature_names]
    if served.documents or names[:1] != ["0"]:
        return names
    if isinstance(served.model, TableClassifier) and served.model.reads == "numbers":
        known = served.model.numbers_.names().tolist()
    else:
        known = [column.name for column in served.columns]
    parts = ([known[int(p)] if p.isdecimal() else p for p in name.split(" × ")] for name in names)
    return [" × ".join(part) for part in parts]


def _shown(cell: Any) -> str | None:
    return None if cell is None or cell == "" else str(cell)


def _is_prior(start: Floats, served: Served) -> bool:
    """Whether scores are shares of classes; those of a linear model at a typical row are not."""
    shares = start - logsumexp(start)
    known = shares if served.log_prior is None else served.log_prior
    return bool(np.allclose(shares, known, atol=1e-6)) and served.kind not in LINEAR


def _finite(scores: Array) -> Floats:
    return np.nan_to_num(scores, nan=0.0, posinf=FARTHEST, neginf=-FARTHEST)


def _pieces(text: str, marks: Iterable[Mark]) -> Iterator[tuple[str, float | None]]:
    """A text cut at its words that have weights: places in it differ from language to language."""
    end = 0
    for mark in marks:
        if np.isfinite(mark.weight):
            if mark.start > end:
                yield text[end : mark.start], None
            yield text[mark.start : mark.end], mark.weight
            end = mark.end
    if end < len(text):
        yield text[end:], None
