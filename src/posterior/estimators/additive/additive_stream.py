"""Additive models of rows that come and go: partial_fit, forget, relearn and merge."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from posterior.data import validate
from posterior.data.rows import Blocks, Hard, Rows
from posterior.discriminative.additive.cell_parts import GatherCells
from posterior.discriminative.additive.fitted_additive import FittedAdditive
from posterior.estimators import calibrated, remote
from posterior.estimators.base_classifier import with_target
from posterior.estimators.estimator import check_same_kind
from posterior.readers.cells import CellColumns
from posterior.readers.labels import Labels


def partial_fit(self: Any, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
    """Learn from more rows: trees of all rows so far, which are kept as cells, a byte each.

    The trees are learned anew when the weight of the rows has grown by a twentieth, at the pace
    and for the rounds of the model before, a sixth of the boosting of `fit`; until then new rows
    wait. Pace and rounds are chosen anew when the weight has doubled since they were, and when a
    class is new. So the boosting of a stream takes as long as that of some five fits to all its
    rows, however small its parts.

    Cells are those of `fit`. Without one, rows are kept as they came, and cells are chosen anew
    together with the pace, until there are 1,000. Later a number is put into the bin it falls in,
    and categories that are new share a cell.

    A model that was stored or sent holds no rows, and refuses.

    Parameters
    ----------
    X, y, sample_weight : as in `fit`, in memory
    classes : array, optional
        All classes that may come. It closes the set: another label is then an error.
    """
    self._validate_params()
    calibrated.check(self, streaming=True)
    remote.refuse_elsewhere(X, "partial_fit")
    before: FittedAdditive | None = vars(self).get("fitted_")
    if before is None:
        reader, labels, rows = self.first_rows(X, y, sample_weight, classes)
        self.fitted_ = self.rule().begun(reader, labels, (rows,))
        return self
    X, y = with_target(X, y)
    features = _checked(before.reader, X)
    n = features.shape[0]
    weight = validate.weights(sample_weight, n, required=False)
    labels = Labels.among(before.labels, y, classes, n, needed=False)
    labels, codes = labels.more(y, weight, n)
    more = Rows(features, Hard(codes, len(labels), weight))
    self.fitted_ = self.rule().with_rows(before, labels, more)
    return self


def forget(self: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """Take rows back: pace, rounds and trees are those of the rows that are left.

    The work of a fit. The cells stay from then on, so that cut points may still tell of rows by
    which they were chosen; rows that came later leave no trace. Rows that were not learned, with
    this class and in these cells, are refused.
    """
    check_is_fitted(self)
    self._validate_params()
    calibrated.check(self, streaming=True)
    X, y = with_target(X, y)
    before: FittedAdditive = self.fitted_
    features = _checked(before.reader, X)
    n = features.shape[0]
    weight = validate.weights(sample_weight, n, required=False)
    codes = before.labels.known(y, n)
    cells = before.reader.codes(features)
    self.fitted_ = self.rule().without_rows(before, cells, codes, weight)
    return self


def relearn(self: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """Learn from other rows alone, with the cells, pace and rounds, or penalties, that `fit` chose.

    Nothing is held out, which is a sixth of the work of a fit.

    Parameters
    ----------
    X, y, sample_weight : as in `fit`, in memory
    """
    check_is_fitted(self)
    X, y = with_target(X, y)
    before: FittedAdditive = self.fitted_
    features = _checked(before.reader, X)
    n = features.shape[0]
    weight = validate.weights(sample_weight, n)
    labels, codes = Labels.learn(y, weight, n)
    rows = GatherCells(before.reader)(Rows(features, Hard(codes, len(labels), weight)))
    self.fitted_ = self.rule().kept(before, labels, rows.together())
    return self


def merge(self: Any, other: Any) -> Any:
    """Add the rows of another model with the same cells, and choose and learn anew.

    Cells are chosen by rows: two fits have the same only if no column has numbers in many
    cells. Models that hold no rows, since they were stored or sent, are refused.
    """
    check_is_fitted(self)
    check_is_fitted(other)
    check_same_kind(self, other)
    self._validate_params()
    calibrated.check(self, streaming=True)
    self.fitted_ = self.rule().merged(self.fitted_, other.fitted_)
    return self


def _checked(reader: CellColumns, X: Any) -> Blocks:
    """Rows that the model can read."""
    features = reader.read(X, fitting=True)
    reader.check(features, fitting=True)
    return features
