"""A fitted model to look at: its picture, and what it learned below the diagram of a notebook."""

from __future__ import annotations

from html import escape
from importlib import import_module
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from posterior.data.names import plain
from posterior.data.table import Table

MOST = 12  # lines of parameters, and classes by name
CELLS = 2_000  # features times classes, above which parameters take too long for a glance
LETTERS = 60  # of one name


class Showing(BaseEstimator):
    """Adds what was learned to scikit-learn's representation in notebooks, and `plot`."""

    def plot(self, X: Any = None, y: Any = None, **options: Any) -> Any:
        """The picture of the fitted model, as `posterior.plots.plot` draws it.

        Parameters
        ----------
        X, y : as in `fit`, optional
            The rows to draw, where the picture is of rows.
        **options
            Of the picture.
        """
        # Pictures know models, and models know no pictures: only this call does, when it comes.
        return import_module("posterior.plots").plot(self, X, y, **options)

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + learned(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        found: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in found:
            found["text/html"] += learned(self)
        return found


def learned(model: Any) -> str:
    """Classes, columns and the first parameters as HTML; nothing before the fit."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        return ""
    parts = []
    if hasattr(model, "n_features_in_"):
        parts.append(_counted(int(model.n_features_in_), "column"))
    names = [plain(label) for label in getattr(model, "classes_", ())]
    if names:
        some = ", ".join(_cut(str(name)) for name in names[:MOST])
        more = ", ..." if len(names) > MOST else ""
        parts.append(f"{_counted(len(names), 'class')}: {some}{more}")
    table = _parameters(model, max(len(names), 1))
    if not parts and table is None:
        return ""
    said = f"<p>Learned from {escape('; '.join(parts))}.</p>" if parts else ""
    rows = "" if table is None else table._repr_html_()
    return f'<div class="posterior-learned">{said}{rows}</div>'


def _parameters(model: Any, n_classes: int) -> Table | None:
    """The first of them, where there is a table and it is quickly made."""
    if not hasattr(model, "parameters") or model.n_features_in_ * n_classes > CELLS:
        return None
    columns = model.parameters().columns
    return Table({name: column[:MOST] for name, column in columns.items()})


def _counted(n: int, noun: str) -> str:
    ending = "es" if noun.endswith("s") else "s"
    return f"{n:,} {noun if n == 1 else noun + ending}"


def _cut(text: str) -> str:
    return text if len(text) <= LETTERS else text[: LETTERS - 3] + "..."
