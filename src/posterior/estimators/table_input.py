"""Any table: arrays and frames, numbers and words, missing cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from posterior.data import containers, frames
from posterior.data.cells import Column
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

    def _read(self, X: Any, reset: bool) -> Array | list[Column]:
        """An array of numbers, or the columns of a table."""
        if sparse.issparse(X):
            raise TypeError(
                f"Sparse data was passed, but {type(self).__name__} reads dense data. Name a "
                "family of counts for all columns, such as Multinomial(), or pass X.toarray()."
            )
        frame = frames.as_frame(X)
        table = containers.read(X if frame is None else frame)
        if frame is None and isinstance(table, np.ndarray):
            checked = validate_data(self, table, reset=reset, ensure_all_finite=False)
            return readable(np.asarray(checked))
        validate_data(self, X, reset=reset, skip_check_array=True)
        if reset and frame is not None:
            self.library_ = frame.implementation
        return table
