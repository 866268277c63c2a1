"""Evidence of the members of a pool: as each says it, by column, and by word."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from posterior.data.typing import Floats
from posterior.discriminative.pooling import LIMIT, bounded
from posterior.estimators.base_classifier import rivals
from posterior.estimators.table_classifier import TableClassifier
from posterior.estimators.text.text_classifier import TextClassifier
from posterior.estimators.text.text_explanation import ABSENT, TextExplanation, explanation
from posterior.generative.evidence_terms import Evidence
from posterior.readers.documents import Documents


def as_said(member: Any, X: Any) -> Evidence | None:
    """The terms of a member, or None where its scores are no sum of them."""
    return member.evidence(X) if hasattr(member, "evidence") else None


def by_column(member: TableClassifier, X: Any) -> Evidence | None:
    """The same with the words of a text as one term, beside those of other columns."""
    if member.reads != "documents":
        return as_said(member, X)
    log_prior = member.class_log_prior_
    words = bounded(member.predict_log_proba(X)) - log_prior
    name = " and ".join(column.name for column in member.columns_read)
    return Evidence(words[:, :, None], log_prior, np.array([name], object), member.classes_)


def shortened(found: Evidence, said: Floats) -> Evidence:
    """Evidence against a class, in proportion, where a pool hears no more than one in a million."""
    rows, top = np.arange(len(said)), said.argmax(axis=1)
    best = found.terms[rows, top][:, None]
    against = found.terms - best
    total = against.sum(axis=2)
    due = said - (found.log_prior - found.log_prior[top][:, None])
    cut = (said <= -LIMIT) & (total < due) & (due < 0)
    if not cut.any():
        return found
    share = np.where(cut, due / np.where(cut, total, 1.0), 1.0)
    return replace(found, terms=best + share[:, :, None] * against)


def of_document(
    model: TextClassifier, document: str, evidence: Evidence, of: Any, against: Any
) -> TextExplanation:
    """One document, cut into words as this model does, by the evidence of all."""
    reader = model.settled().reader
    assert isinstance(reader, Documents)
    rest = evidence.feature_names == ABSENT
    order = np.argsort(rest, kind="stable")  # what is not there comes last
    terms, names = evidence.terms[:, :, order], evidence.feature_names[order]
    evidence = replace(evidence, terms=terms, feature_names=names)
    pair = rivals(evidence, of, against, "document")
    return explanation(document, reader.terms, evidence, bool(rest.any()), pair)
