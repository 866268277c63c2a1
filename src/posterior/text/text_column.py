"""A column of text, as rows of its words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posterior.data.rows import SparseRows
from posterior.kernels.terms import Rule
from posterior.text.analysis import Analysis
from posterior.text.counted import Spread
from posterior.text.counting import Counting
from posterior.text.decoding import Decoder
from posterior.text.term_rows import TermRows


def term_rows(texts: Sequence[str | None], spread: Spread, threads: int) -> TermRows:
    """How often each text has each of the words that occur, None where a text is missing."""
    counting = Counting(Analysis(Rule()), Decoder(), spread, threads)
    counted = counting.count([text or "" for text in texts])
    matrix = counting.matrix(counted, np.float64)
    absent = np.array([text is None for text in texts])
    return TermRows(counted.terms, SparseRows.of(matrix), absent if absent.any() else None)
