"""Classes that are mixtures: the scores of components, and the log of their sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from sqlglot import exp

from posterior.estimators import MixtureClassifier
from posterior.readers.whole_rows import WholeRows
from posterior.sql.expressions import LEAST, SQL, cases, column, greatest, number
from posterior.sql.generative import density_scores
from posterior.sql.log_sums import log_sums
from posterior.sql.sql_calibration import calibrated
from posterior.sql.sql_columns import Column, Sheet
from posterior.sql.sql_scores import Scores, Term, scores
from posterior.sql.whole_rows import row_scores

REFUSED = (
    "Expected a model whose scores are sums over columns to explain, got MixtureClassifier with "
    "several components a class. Leave explain out, or fit it with n_components=1."
)


@scores.register
def _(model: MixtureClassifier, columns: Sequence[Column]) -> Scores:
    """s_c = log Σ_{k of c} exp s_k"""
    found, sheet = model.settled(), columns[0].sheet
    classes, components = found.labels.classes, found.components
    rows = isinstance(found.fitted.reader, WholeRows)
    parts = (row_scores if rows else density_scores)(found.fitted, columns)
    if len(components) == len(classes):
        alone = Scores(classes, parts.prior, parts.terms, steps=parts.steps, known=parts.known)
        return calibrated(alone, found.calibrator)
    names = [sheet.unused(f"component_{k}") for k in range(len(components))]
    values = parts.total([list(term.scores) for term in parts.terms])
    steps = {**parts.steps, "components": dict(zip(names, values, strict=True))}
    if parts.rules_out:
        names = _left_open(sheet, names, steps)
    own = [[names[k] for k in allowed.nonzero()[0]] for allowed in components.allowed]
    summing, summed = log_sums(sheet, own)
    terms = [Term("components", [column(name) for name in summed])]
    steps |= summing
    made = Scores(classes, np.zeros(len(classes)), terms, steps=steps, refused=REFUSED)
    return calibrated(made, found.calibrator)


def _left_open(
    sheet: Sheet, names: Sequence[str], steps: dict[str, Mapping[str, SQL]]
) -> list[str]:
    """Where no component can have a row, all are alike."""
    best, levels = sheet.unused("best_component"), [sheet.unused(f"open_{name}") for name in names]
    steps["best_component"] = {best: greatest([column(name) for name in names])}
    none = exp.LT(this=column(best), expression=number(LEAST / 2))
    steps["open_components"] = {
        level: cases([(none.copy(), number(0.0))], column(name))
        for level, name in zip(levels, names, strict=True)
    }
    return levels
