"""A component that collapsed, told in the words of mixtures."""

from __future__ import annotations

from typing import Any

from posterior.data.errors import DegenerateError
from posterior.data.names import quoted
from posterior.data.typing import Array


class Collapse:
    """Errors of the core in the words of mixtures."""

    def __init__(self, features: Array, remedy: str) -> None:
        self._features, self._remedy = features, remedy

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if not isinstance(error, DegenerateError):
            return
        where = ""
        if error.feature is not None:
            name = quoted(self._features[error.feature]).replace("{", "{{").replace("}", "}}")
            where = f" It happened in column {name}."
        raise DegenerateError(
            "Fitting the mixture model failed because some components have ill-defined empirical "
            "covariance (for instance caused by singleton or collapsed samples). Try to decrease "
            f"the number of components, increase {self._remedy}, or scale the input data. "
            "Leave out columns that never vary or have no cells." + where,
            error.feature,
        ) from None
