"""Base class of estimators: settings that are checked, and a fitted model to look at."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from html import escape
from inspect import signature
from typing import Any, Generic, Self, TypeVar

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from posterior.data import pictured
from posterior.data.errors import DegenerateError
from posterior.data.names import plain
from posterior.data.table import Table

T = TypeVar("T")
MOST = 12  # lines of parameters, and classes by name
CELLS = 2_000  # features times classes, above which parameters take too long for a glance
LETTERS = 60  # of one name


class learned(Generic[T]):  # noqa: N801 - reads as what it says: theta_ = learned(...)
    """An attribute read from what was learned, `fitted_`; there is none before the fit.

    With `write`, it may be set by hand: a new `fitted_` takes the place of the old one. Where
    nothing was learned yet, what is set by hand is gathered until it makes a model.
    """

    def __init__(
        self,
        read: Callable[[Any], T | None],
        write: Callable[[Any, Any], Any] | None = None,
        *,
        may_be_none: bool = False,
    ) -> None:
        self._read, self._write, self._may_be_none = read, write, may_be_none

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, estimator: Any, owner: type | None = None) -> T:
        if estimator is None:
            return self  # type: ignore[return-value]
        known = vars(estimator)
        if "fitted_" in known:
            value = self._read(estimator.fitted_)
            if self._may_be_none:
                return value  # type: ignore[return-value]
        else:
            value = known.get("_by_hand", {}).get(self._name)
        if value is None:
            kind = type(estimator).__name__
            raise AttributeError(f"{kind!r} object has no attribute {self._name!r}")
        return value

    def __set__(self, estimator: Any, value: T) -> None:
        if "fitted_" not in vars(estimator):
            estimator.state(self._name, value)
        elif self._write is not None:
            estimator.fitted_ = self._write(estimator.fitted_, value)
        else:
            raise AttributeError(f"{self._name} is learned, and cannot be set.")


class estimated(learned[T]):  # noqa: N801
    """The same of a model that may wait to be estimated until somebody asks."""

    def __get__(self, estimator: Any, owner: type | None = None) -> T:
        if estimator is not None and "fitted_" in vars(estimator):
            try:
                estimator.settled()
            except DegenerateError as error:
                raise AttributeError(str(error)) from error
        return super().__get__(estimator, owner)


class Estimator(BaseEstimator):
    """Checks its settings where they are used, draws itself, and shows itself in a notebook."""

    def _validate_params(self) -> None:
        """Check the parameters that differ from their defaults."""
        given = vars(self)
        if any(given[name] is not value for name, value in _defaults(type(self).__init__).items()):
            super()._validate_params()

    def state(self, name: str, value: Any) -> None:
        """Note an attribute that is set by hand before anything was learned."""
        raise AttributeError(f"{name} of {type(self).__name__} is learned. Call fit() first.")

    def __copy__(self) -> Self:
        """With all that it has, which nobody changes: a file or a pickle may leave out rows."""
        other = type(self).__new__(type(self))
        other.__dict__.update(vars(self))
        return other

    plot = pictured.plot

    def _parameter_table(self) -> Table | None:
        """What was learned, a line a number, where that makes a table."""
        return None

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._summary()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        found: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in found:
            found["text/html"] += self._summary()
        return found

    def _summary(self) -> str:
        """Classes, columns and the first parameters as HTML; nothing before the fit."""
        try:
            check_is_fitted(self)
        except NotFittedError:
            return ""
        parts, n_columns = [], getattr(self, "n_features_in_", None)
        if n_columns is not None:
            parts.append(_counted(int(n_columns), "column"))
        names = [plain(label) for label in getattr(self, "classes_", ())]
        if names:
            some = ", ".join(_cut(str(name)) for name in names[:MOST])
            more = ", ..." if len(names) > MOST else ""
            parts.append(f"{_counted(len(names), 'class')}: {some}{more}")
        said = f"<p>A model of {escape('; '.join(parts))}.</p>" if parts else ""
        quickly = n_columns is not None and n_columns * max(len(names), 1) <= CELLS
        found, table = self._parameter_table() if quickly else None, ""
        if found is not None:
            some_lines = {name: column[:MOST] for name, column in found.columns.items()}
            table = Table(some_lines).to_html()
        return f'<div class="posterior-learned">{said}{table}</div>' if said or table else ""


def check_fitted(model: Any) -> None:
    """scikit-learn's check, whose look at the tags of all bases is spared where a model is."""
    if "fitted_" not in vars(model):
        check_is_fitted(model)


def check_same_kind(model: Any, other: Any) -> None:
    """Refuse to merge estimators of different classes."""
    if type(other) is not type(model):
        raise TypeError(
            f"Expected another {type(model).__name__} to merge, got {type(other).__name__}."
        )


@cache
def _defaults(init: Callable[..., None]) -> dict[str, Any]:
    return {n: p.default for n, p in signature(init).parameters.items() if n != "self"}


def _counted(n: int, noun: str) -> str:
    ending = "es" if noun.endswith("s") else "s"
    return f"{n:,} {noun if n == 1 else noun + ending}"


def _cut(text: str) -> str:
    return text if len(text) <= LETTERS else text[: LETTERS - 3] + "..."
