"""Any table: arrays and frames, numbers and words, missing cells."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from posterior.data import frames
from posterior.data.rows import readable
from posterior.data.typing import Array
from posterior.estimators.hooks import Parameters


class TableInput(Parameters):
    """Reads an array of numbers as it is, and anything else column by column."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _read(self, X: Any, reset: bool) -> Array | list[nw.Series[Any]]:
        """An array of numbers, or the columns of a table."""
        if sparse.issparse(X):
            raise TypeError(
                f"Sparse data was passed, but {type(self).__name__} reads dense data. Name a "
                "family of counts for all columns, such as Multinomial(), or pass X.toarray()."
            )
        frame = frames.as_frame(X)
        if frame is None:
            words = np.asarray(X).dtype.kind in "OU" and _has_words(X)
            if not words:
                checked = validate_data(self, X, reset=reset, ensure_all_finite=False)
                return readable(np.asarray(checked))
            table = np.asarray(X, dtype=object)
            frame = frames.from_columns(
                {str(j): table[:, j].tolist() for j in range(table.shape[1])}
            )
            validate_data(self, table, reset=reset, skip_check_array=True)
        else:
            validate_data(self, X, reset=reset, skip_check_array=True)
        if len(frame) == 0 or not frame.columns:
            raise ValueError(
                f"Found array with {len(frame)} sample(s) and {len(frame.columns)} feature(s) "
                "while a minimum of 1 is required."
            )
        if reset:
            self.library_ = frame.implementation
        return [frame.get_column(name) for name in frame.columns]


def _has_words(X: Any) -> bool:
    """Whether an array of objects holds strings that are not numbers."""
    for value in np.asarray(X, dtype=object).reshape(-1):
        if isinstance(value, str):
            try:
                float(value)
            except ValueError:
                return True
    return False
