"""Rules of documents: how the sums of their terms become weights, and on which threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from posterior.data.names import quoted
from posterior.data.rows import Rows
from posterior.data.table import Table
from posterior.engines.local import Local, n_threads
from posterior.estimators.text.select_weights import weigh
from posterior.generative.joint import Joint, JointStatistics
from posterior.generative.rule import ClassPrior, Rule
from posterior.readers.documents import Documents
from posterior.readers.reader import Reader
from posterior.text.analysis import other_terms
from posterior.text.counted import CountedRows
from posterior.text.term_sums import TermSums
from posterior.text.term_weights import WeighedTerms
from posterior.text.vocabulary import Vocabulary

CHUNK = 4096  # documents of the smallest chunk to sum


@dataclass(frozen=True, slots=True, eq=False)
class TermRule(Rule):
    """Weighs terms, by a model that was named or chosen."""

    family: WeighedTerms
    prior: ClassPrior
    choice: Table | None = None  # what was tried

    def joint(
        self, statistics: JointStatistics[TermSums], rows: Rows, engine: Local
    ) -> Joint[Any, Any]:
        """The model of sums, and of the rows themselves where it needs them."""
        prior = self.prior(statistics.weight.rounded())
        terms = self.family.known(statistics.features)
        return Joint(self.family, prior, weigh(self.family, terms, rows, prior, engine))

    def answering(self, reader: Reader, statistics: JointStatistics[TermSums]) -> Documents:
        assert isinstance(reader, Documents)
        sums = statistics.features
        terms = sums.terms[self.family.known(sums).columns]
        return replace(reader, vocabulary=Vocabulary.of_terms(terms))

    def kept(self, features: TermSums) -> TermSums:
        missing = features.missing_cell()
        if missing is not None:
            k, j = missing
            (term,) = features.terms[np.array([j])].strings()
            assert self.prior.classes is not None
            raise ValueError(
                f"Expected documents that were learned, got more of the term {term!r} in class "
                f"{quoted(self.prior.classes[k])} than the model has seen."
            )
        return features.seen()

    def check_same(self, other: Rule) -> None:
        assert isinstance(other, TermRule)
        if self.family.min_df != other.family.min_df:
            raise other_terms("min_df", self.family.min_df, other.family.min_df)
        if self.family.weighting != other.family.weighting:
            raise other_sums(self.family.weighting, other.family.weighting)


def other_sums(known: str, asked: str) -> ValueError:
    """Of terms that were weighted otherwise."""
    return ValueError(
        f"Expected weighting={known!r}, by which the sums were taken, got {asked!r}: they do not "
        "add up. Call fit() with all documents."
    )


class DocumentEngine(Local):
    """Threads of this process, which sum documents as they were counted."""

    def sum(self, function: Callable[[Rows], Any], rows: Any) -> Any:
        if not isinstance(rows, Rows) or not isinstance(rows.X, CountedRows):
            return super().sum(function, rows)
        if rows.hard.weight is None:
            return function(rows)  # a bag a thread
        size = max(CHUNK, -(-len(rows) // n_threads()))
        return Local(chunk_rows=size).sum(function, Rows(rows.X.table(), rows.groups))
