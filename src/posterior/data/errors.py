"""Errors and warnings that the package raises on purpose."""

from __future__ import annotations

from typing import Any, Self

from sklearn.exceptions import ConvergenceWarning

from posterior.data.names import quoted

STATED = (
    "Expected a model that was learned from rows, got one whose parameters were stated. "
    "Call fit() with rows first."
)


class DegenerateError(ValueError):
    """The data cannot determine a parameter that was asked for.

    The core knows positions; `named` writes the names of the feature and the class in their place.
    """

    def __init__(self, message: str, feature: int | None = None, group: int | None = None) -> None:
        self.template, self.feature, self.group = message, feature, group
        super().__init__(message.format(feature=feature, group=group))

    def named(self, features: Any, groups: Any) -> Self:
        """The same error in the words of the user's table."""
        feature = None if self.feature is None else quoted(features[self.feature])
        group = None if self.group is None else quoted(groups[self.group])
        text = self.template.format(feature=feature, group=group)
        return type(self)(text.replace("{", "{{").replace("}", "}}"))


class NotFiniteError(ValueError):
    """An infinite value reached a sum; the boundary says where it stood."""


class DegenerateWarning(UserWarning):
    """The data leave a parameter open, and the model goes on without it."""


class LeakWarning(UserWarning):
    """Columns that may be known only once the target is, and give it away."""


class SeparationWarning(DegenerateWarning, ConvergenceWarning):
    """Columns separate the classes, so that no coefficients are the most likely."""


class named_errors:  # noqa: N801 - reads as what it does: with named_errors(...)
    """Errors of the core, which know positions, raised with the names of features and classes."""

    def __init__(self, features: Any, groups: Any) -> None:
        self._features, self._groups = features, groups

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, DegenerateError):
            raise error.named(self._features, self._groups) from None
