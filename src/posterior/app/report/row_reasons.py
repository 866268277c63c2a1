"""Reasons for rows: evidence by the copy of the chosen model that never saw the row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from posterior.data import frames
from posterior.data.table import text
from posterior.data.typing import Floats, Integers
from posterior.estimators import KNeighborsClassifier
from posterior.estimators.pool.fold_models import FoldModels
from posterior.estimators.text.text_explanation import ABSENT
from posterior.generative.evidence_terms import TOGETHER, Evidence
from posterior.selection.comparison import quiet
from posterior.selection.labeled_rows import LabeledRows

WORTH = 0.1  # log odds below say nothing
LETTERS = 60  # of a cell


@dataclass(frozen=True, slots=True, eq=False)
class Reasons:
    """Evidence of some rows, by fold."""

    models: FoldModels
    rows: LabeledRows
    told: dict[int, tuple[Evidence, int]]  # by row, and its place

    @classmethod
    def of(cls, models: FoldModels, rows: LabeledRows, asked: Iterable[int]) -> Reasons:
        """Of rows as the file has them."""
        place = np.argsort(models.rows.order)
        wanted: Integers = np.unique(np.fromiter(asked, np.int64))
        told: dict[int, tuple[Evidence, int]] = {}
        folds = models.rows.folds[place[wanted]]
        for fold in models.copies:
            some = wanted[folds == fold]
            if len(some):
                with quiet():
                    evidence = models.evidence(place[some])
                told |= {int(row): (evidence, i) for i, row in enumerate(some)}
        return cls(models, rows, told)

    def __call__(self, row: int, of: int, against: int, most: int = 3) -> list[str]:
        """What speaks most for one class against another, in one row."""
        if row not in self.told or of == against:
            return []
        evidence, i = self.told[row]
        place = {int(k): j for j, k in enumerate(self.rows.codes_of(evidence.classes))}
        if of not in place or against not in place:
            return []
        terms: Floats = evidence.terms[i]
        with np.errstate(invalid="ignore"):
            weights = np.nan_to_num(terms[place[of]] - terms[place[against]])
        ranked = [int(j) for j in np.argsort(-weights, kind="stable") if weights[j] > WORTH]
        name = self.rows.names[of]
        said = [(self._said(str(evidence.feature_names[j]), row), weights[j]) for j in ranked]
        return [f"{what} {name} ({weight:+.1f})" for what, weight in said[:most]]

    def _said(self, term: str, row: int) -> str:
        """A column and its cell, columns together, a word, or a model whose votes are no sum."""
        given = frames.as_frame(self.rows.frame)
        assert given is not None
        names = term.split(TOGETHER)
        if all(name in given.columns for name in names):
            cells = [f"{n} = {_cell(given.get_column(n)[row])}" for n in names]
            return f"{' and '.join(cells)} {'favors' if len(cells) == 1 else 'together favor'}"
        if term == ABSENT:
            return "the absence of other words favors"
        known = dict(zip(self.models.fitted.names, self.models.fitted.members, strict=True))
        if term in known:
            near = isinstance(known[term].model_, KNeighborsClassifier)
            return "the nearest rows favor" if near else f"{term} as a whole favors"
        return f"“{term.replace(' ', '·') if self._letters else term}” favors"

    @property
    def _letters(self) -> bool:
        """Whether texts are read by their letters."""
        members = self.models.fitted.members
        return any(m.roles.by_letters for m in members if m.reads == "documents")


def _cell(value: object) -> str:
    shown = "(missing)" if frames.missing(value) else text(value)
    return shown if len(shown) <= LETTERS else f"{shown[: LETTERS - 1]}…"
