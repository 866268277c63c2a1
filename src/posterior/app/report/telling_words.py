"""The words that speak for each class, in the whole and in single documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.base import clone

from posterior.app.report.schema import TextTerms
from posterior.app.report.scoring import rounded
from posterior.preprocessing.roles import Roles
from posterior.selection.candidates import Candidate
from posterior.selection.comparison import quiet
from posterior.selection.rows import LabeledRows

MOST = 15
WORTH = 0.5  # log odds below say nothing


@dataclass(frozen=True, slots=True, eq=False)
class TellingWords:
    """A multinomial naive Bayes of all documents, and what it says of words."""

    model: Any  # DocumentClassifier
    documents: list[str | None]
    rows: LabeledRows
    columns: str

    @classmethod
    def learn(cls, rows: LabeledRows, roles: Roles, candidate: Candidate) -> TellingWords:
        documents = rows.reading(candidate.classifier)
        with quiet():
            model = clone(candidate.classifier.model).fit(documents, rows.y)
        return cls(model, documents, rows, ", ".join(c.name for c in roles.text))

    def terms(self) -> list[TextTerms]:
        """Words that are both frequent in a class and rarer elsewhere: p_k log (p_k / p_other)."""
        names, log_share = self.model.term_weights()
        counts = np.log(np.bincount(self.rows.codes, minlength=len(log_share)))
        found: tuple[list[list[str]], list[list[float]]] = ([], [])
        for k in range(len(log_share)):
            others = np.delete(np.arange(len(log_share)), k)
            weight = counts[others] - logsumexp(counts[others])
            elsewhere = logsumexp(log_share[others] + weight[:, None], axis=0)
            ratio = log_share[k] - elsewhere
            best = np.argsort(-np.exp(log_share[k]) * ratio, kind="stable")[:MOST]
            found[0].append([str(name) for name in names[best]])
            found[1].append(rounded(ratio[best], 4))
        return [TextTerms(self.columns, *found)]

    def reasons(self, row: int, of: int, against: int, most: int = 3) -> list[str]:
        """The words of a document that speak most for one class against another."""
        document, classes = self.documents[row], self.rows.classes
        if document is None:
            return []
        why = self.model.explain(document, classes[of], classes[against])
        order = [j for j in np.argsort(-why.weights, kind="stable") if why.weights[j] > WORTH]
        words = [j for j in order if why.feature_names[j] != "(other terms)"][:most]
        name = self.rows.names[of]
        return [
            f"“{why.feature_names[j]}” speaks for {name} ({why.weights[j]:+.1f})" for j in words
        ]
