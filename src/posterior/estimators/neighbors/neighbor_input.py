"""Input of every kind: tables of numbers, strings, frames, distances; and their classes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, validate_data

from posterior.data import frames, validate
from posterior.data.cells import ArrayColumn
from posterior.data.rows import SparseRows
from posterior.data.typing import Array
from posterior.estimators.neighbors.metric_names import Metric
from posterior.estimators.numeric import NumericInput
from posterior.estimators.table_input import TableInput
from posterior.neighbors.examples import Examples
from posterior.neighbors.table_columns import Columns
from posterior.statistics.moments import floats


class Reading(NumericInput, TableInput):
    """Rows in the form that the metric compares."""

    metric: Any
    p: float | None
    metric_params: dict[str, Any] | None
    accepts_sparse: ClassVar[bool] = True
    where_words: ClassVar[str] = 'Convert the column to numbers, or take metric="mixed"'
    _examples: Examples

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        given, words = self.metric == "precomputed", self.metric in ("edit", "mixed")
        tags.input_tags.pairwise = given
        tags.input_tags.positive_only = given
        tags.input_tags.sparse = not words
        tags.input_tags.string = tags.input_tags.categorical = words
        tags.input_tags.allow_nan = words or self._quiet_metric().euclidean
        return tags

    def _quiet_metric(self) -> Metric:
        """The metric as far as tags need it: whatever was asked for, without a word."""
        p = None if "p" in (self.metric_params or {}) else self.p
        return Metric.of(self.metric, p, self.metric_params)

    def _rows(self, X: Any, metric: Metric, reset: bool) -> Any:
        """Validated rows."""
        if metric.name == "precomputed":
            return self._distances(X, reset)
        if metric.name == "edit":
            return self._strings(X, reset)
        if metric.name == "mixed":
            return self._columns(X, reset)
        table = self._features(_rows_of_index(X), fitting=reset, reset=reset)
        if isinstance(table, SparseRows):
            metric.check_sparse()
            matrix = table.scipy()
            matrix.sum_duplicates()
            matrix.eliminate_zeros()
            table = SparseRows.of(matrix)
        else:
            table = np.ascontiguousarray(floats(np.asarray(table)))
        if metric.name == "haversine" and not reset and self.n_features_in_ != 2:
            raise ValueError(
                "Haversine distance only valid in 2 dimensions, latitude and longitude, got "
                f"{self.n_features_in_}."
            )
        validate.check_numbers(
            table,
            names=getattr(self, "feature_names_in_", None),
            allow_missing=metric.euclidean and not isinstance(table, SparseRows),
            allow_negative=True,
            estimator=type(self).__name__,
        )
        return table

    def _distances(self, X: Any, reset: bool) -> Any:
        """Distances from all training rows, or a graph of those that are near."""
        if sparse.issparse(X) and X.format not in ("csr", "csc", "coo", "lil"):
            raise TypeError(
                f"Sparse matrix in {X.format!r} format is not supported due to its handling of "
                "explicit zeros. Use X.tocsr()."
            )
        D = check_array(
            X, accept_sparse="csr", ensure_non_negative=True, input_name="precomputed distances"
        )
        wanted = D.shape[0] if reset else self.n_features_in_
        if D.shape[1] != wanted:
            raise ValueError(
                f"Precomputed matrix must be square. Input is a {D.shape[0]}x{D.shape[1]} matrix."
                if reset
                else f"X has {D.shape[1]} features, but {type(self).__name__} is expecting "
                f"{wanted} features as input: the distances from each training row."
            )
        validate_data(self, X, reset=reset, skip_check_array=True)
        return SparseRows.of(D) if sparse.issparse(D) else floats(D)

    def _columns(self, X: Any, reset: bool) -> Array | Columns:
        """An array of numbers as it is, anything else column by column, as training had it."""
        table: Any = self._read(X, reset)
        like = None if reset else self._examples.X
        if isinstance(table, np.ndarray):
            if not isinstance(like, Columns):
                return table.astype(np.float64)
            table = [ArrayColumn(name, table[:, j]) for j, name in enumerate(like.names)]
        if isinstance(like, np.ndarray):
            return np.stack([frames.numbers(column) for column in table], axis=1)
        return Columns.of(table, like)

    def _strings(self, X: Any, reset: bool) -> Array:
        """One column of strings; None where one is missing."""
        frame = frames.as_frame(X)
        if frame is None:
            table = np.asarray(X, dtype=object)
            table = table.reshape(len(table), -1) if table.ndim else table.reshape(1, -1)
            width, name = table.shape[1], "0"
        else:
            width, name = len(frame.columns), frame.columns[0]
        if width != 1:
            raise ValueError(
                f'Expected one column of strings for metric="edit", got {width}. Choose a column, '
                'or use metric="mixed".'
            )
        cells = table[:, 0].tolist() if frame is None else frame.get_column(name).to_list()
        if not cells:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        validate_data(self, X if frame is not None else table, reset=reset, skip_check_array=True)
        return np.array(frames.items(cells, name), dtype=object)


def _rows_of_index(X: Any) -> Any:
    """The rows in a tree of scikit-learn, or in its fitted neighbors, or X as it is."""
    if type(X).__module__.startswith("sklearn.neighbors"):
        rows = getattr(X, "_fit_X", None)
        return np.asarray(X.data) if rows is None else rows
    return X


def targets(y: Any, n_rows: int) -> tuple[list[Array], Array, bool]:
    """The classes of each output, the codes (n, outputs) of the rows, and whether y was a table."""
    if sparse.issparse(y):
        y = y.toarray()
    table = y if y is None or isinstance(y, np.ndarray) else np.asarray(y)
    several = table is not None and table.ndim == 2 and table.shape[1] > 1
    columns: Any = np.asarray(table).T if several else [y]
    found = [validate.labels(column, n_rows) for column in columns]
    codes = np.stack([codes for _, codes in found], axis=1)
    return [classes for classes, _ in found], codes, several
