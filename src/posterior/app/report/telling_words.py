"""The words that speak for each class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from posterior.app.report.report_schema import TextTerms
from posterior.data.table import round_digits
from posterior.estimators import TextClassifier
from posterior.estimators.pool.candidates import Candidate
from posterior.preprocessing.roles import Roles
from posterior.selection.comparison import quiet
from posterior.selection.labeled_rows import LabeledRows

MOST = 15
SMOOTH = 0.5  # of documents with a word, and without it


@dataclass(frozen=True, slots=True, eq=False)
class TellingWords:
    """A multinomial naive Bayes of all documents, and what it says of words."""

    model: TextClassifier
    rows: LabeledRows
    columns: str
    by_letters: bool

    @classmethod
    def learn(cls, rows: LabeledRows, roles: Roles, candidate: Candidate) -> TellingWords:
        documents = rows.reading(candidate.classifier)
        with quiet():
            model = clone(candidate.classifier.model).fit(documents, rows.y)
        columns = ", ".join(c.name for c in roles.text)
        return cls(model, rows, columns, roles.by_letters)

    def terms(self) -> list[TextTerms]:
        """Words that many documents of a class have, and fewer others: p_k log (p_k / p_other)."""
        sums = self.model.statistics_.features
        often = np.flatnonzero(sums.frequency() >= self.model.min_df)
        having = sums.table(sums.documents.rounded(), often)  # (k, words)
        count = sums.rows.rounded()[:, None]
        share = (having + SMOOTH) / (count + 2 * SMOOTH)
        others = having.sum(axis=0) - having, count.sum() - count
        ratio = np.log(share * (others[1] + 2 * SMOOTH) / (others[0] + SMOOTH))
        order = np.argsort(self.rows.codes_of(self.model.classes_))
        share, ratio = share[order], ratio[order]
        best = np.argsort(-share * ratio, axis=1, kind="stable")[:, :MOST]
        return [
            TextTerms(
                self.columns,
                [
                    [self._shown(term) for term in sums.terms[often[line]].strings()]
                    for line in best
                ],
                [round_digits(ratio[k, line], 4) for k, line in enumerate(best)],
            )
        ]

    def _shown(self, term: str) -> str:
        """The edges of words can be seen where letters are read."""
        return term.replace(" ", "·") if self.by_letters else term
