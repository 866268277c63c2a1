"""Pictures that are drawn when they are asked for, and what those of a step need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A run of an algorithm: its rows, its steps, and the estimator as any of them leaves it."""

    X: Any  # as it was given
    y: Any
    fitted: Callable[[Any], Any]  # of a step
    steps: list[Any] = field(default_factory=list)

    def anew(self) -> Run:
        """Another run on the same rows."""
        return Run(self.X, self.y, self.fitted)


def plot(self: Any, X: Any = None, y: Any = None, **options: Any) -> Any:
    """The picture of what this is, as `posterior.plots.plot` draws it.

    Parameters
    ----------
    X, y : as in `fit`, optional
        The rows to draw, where the picture is of rows. A step holds its own.
    **options
        Of the picture.
    """
    # Pictures know models, and models know no pictures: only this call does, when it comes.
    return import_module("posterior.plots").plot(self, X, y, **options)


class RunStep:
    """A step of a run."""

    __slots__ = ()
    run: Run
    plot = plot

    @property
    def model(self) -> Any:
        """The estimator as this step leaves it."""
        return self.run.fitted(self)
