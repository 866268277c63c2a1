"""Names of columns and classes, as the user wrote them."""

from __future__ import annotations

from typing import Any

import numpy as np


def plain(label: Any) -> Any:
    """A label without NumPy's wrapping."""
    return label.item() if isinstance(label, np.generic) else label


def quoted(label: Any) -> str:
    """A label in an error message."""
    return repr(plain(label))
