"""Which column depends on which, as a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from posterior.data.table import Table


def structure_table(model: Any) -> Table:
    """Every column that is kept, and its parents by name."""
    check_is_fitted(model)
    names = [str(name) for name in model._feature_names()]
    kept = [(names[j], above) for j, above in enumerate(model.structure_) if above is not None]
    return Table(
        {
            "column": np.array([name for name, _ in kept], object),
            "depends on": np.array(
                [", ".join(names[a] for a in above) for _, above in kept], object
            ),
        }
    )
