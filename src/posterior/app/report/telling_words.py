"""The words that speak for each class, in the whole and in single documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from posterior.app.report.schema import TextTerms
from posterior.app.report.scoring import rounded
from posterior.estimators import TextClassifier
from posterior.preprocessing.roles import Roles
from posterior.selection.candidates import Candidate
from posterior.selection.comparison import quiet
from posterior.selection.rows import LabeledRows

MOST = 15
WORTH = 0.1  # log odds below say nothing
SMOOTH = 0.5  # of documents with a word, and without it


@dataclass(frozen=True, slots=True, eq=False)
class TellingWords:
    """A multinomial naive Bayes of all documents, and what it says of words."""

    model: TextClassifier
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
        """Words that many documents of a class have, and fewer others: p_k log (p_k / p_other)."""
        sums = self.model.statistics_.features
        often = np.flatnonzero(sums.frequency() >= self.model.min_df)
        having = sums.table(sums.documents.rounded(), often)  # (k, words)
        count = sums.rows.rounded()[:, None]
        share = (having + SMOOTH) / (count + 2 * SMOOTH)
        others = having.sum(axis=0) - having, count.sum() - count
        ratio = np.log(share * (others[1] + 2 * SMOOTH) / (others[0] + SMOOTH))
        best = np.argsort(-share * ratio, axis=1, kind="stable")[:, :MOST]
        return [
            TextTerms(
                self.columns,
                [sums.terms[often[line]].strings() for line in best],
                [rounded(ratio[k, line], 4) for k, line in enumerate(best)],
            )
        ]

    def reasons(self, row: int, of: int, against: int, most: int = 3) -> list[str]:
        """The words of a document that speak most for one class against another."""
        document, classes = self.documents[row], self.rows.classes
        if document is None:
            return []
        why = self.model.explain(document, classes[of], classes[against])
        ranked = [j for j in np.argsort(-why.weights, kind="stable") if why.weights[j] > WORTH]
        name = self.rows.names[of]
        return [
            f"“{why.terms[j]}” speaks for {name} ({why.weights[j]:+.1f})" for j in ranked[:most]
        ]
