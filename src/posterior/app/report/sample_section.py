"""Some rows of the file, with what a model says that never saw them."""

from __future__ import annotations

import numpy as np

from posterior.app.report.section_schema import SampleRow
from posterior.app.report.surprises_section import distinct_places, row_values
from posterior.selection.comparison import Judged
from posterior.selection.labeled_rows import LabeledRows

FIRST, DRAWN = 5, 5
MOST_CELLS = 8


def sample_rows(judged: Judged, rows: LabeledRows, names: list[str], seed: int) -> list[SampleRow]:
    """The first rows of the file, and some by chance, the same in whatever order rows come."""
    held_out, index = judged.held_out, judged.index
    place = {int(row): i for i, row in enumerate(index)}
    first = distinct_places(range(len(rows)), rows, np.arange(len(rows)))[:FIRST]
    by_content = [int(r) for r in rows.dealt.order if int(r) in place]  # and can be predicted
    order = np.random.default_rng(seed).permutation(len(by_content))
    drawn = distinct_places([by_content[i] for i in order], rows, np.arange(len(rows)))
    drawn = [row for row in drawn if row not in first][:DRAWN]
    found = []
    for row in (*first, *sorted(drawn)):
        i, code = place.get(row), int(rows.codes[row])
        proba = None if i is None else np.exp(held_out.log_proba[i])
        found.append(
            SampleRow(
                row=int(rows.places[row]) + 1,
                drawn=row in drawn,
                label=rows.names[code],
                predicted=None if proba is None else rows.names[int(proba.argmax())],
                proba_label=None if proba is None else float(proba[code]),
                proba_predicted=None if proba is None else float(proba.max()),
                values=row_values(rows.frame, row, names[:MOST_CELLS]),
            )
        )
    return found
