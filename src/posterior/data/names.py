"""Names of columns and classes, as the user wrote them."""

from __future__ import annotations

from typing import Any

import numpy as np

from posterior.data.typing import Array


def plain(label: Any) -> Any:
    """A label without NumPy's wrapping."""
    return label.item() if isinstance(label, np.generic) else label


def feature_names(model: Any) -> Array | None:
    """The names of the columns that a fitted model reads, where it knows them."""
    return getattr(model, "feature_names_in_", None)


def quoted(label: Any) -> str:
    """A label in an error message."""
    return repr(plain(label))
