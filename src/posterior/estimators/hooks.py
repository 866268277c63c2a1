"""What a generative model says about itself; the rest is derived from it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import signature
from typing import Any, ClassVar

import numpy as np

from posterior.data.errors import DegenerateError
from posterior.data.rows import Features
from posterior.data.typing import Array, Floats
from posterior.engines.local import Local
from posterior.estimators.showing import Showing
from posterior.families.family import AnyFamily
from posterior.generative.joint import Joint, JointStatistics


class Parameters(Showing):
    """Parameters are checked where they are used."""

    def _validate_params(self) -> None:
        """Check the parameters that differ from their defaults."""
        defaults = _defaults(type(self).__init__)
        if any(getattr(self, name) is not value for name, value in defaults.items()):
            super()._validate_params()


class Hooks(Parameters):
    """How input becomes features, which family they have, and what users find on the model."""

    statistics_: JointStatistics[Any]
    classes_: Array
    n_features_in_: int
    calibrated: str | None
    needs_classes: ClassVar[bool] = False  # in the first call of partial_fit
    engine_ = Local()

    def _features(self, X: Any, fitting: bool, reset: bool) -> Features:
        """Validated input in the form that the family reads."""
        raise NotImplementedError

    def _family(self) -> AnyFamily:
        raise NotImplementedError

    def _learned(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> dict[str, Any]:
        """Attributes of the fitted model."""
        raise NotImplementedError

    def _joint(self) -> Joint[Any, Any]:
        """The fitted model, read from its attributes."""
        raise NotImplementedError

    def _log_prior(self, weight: Floats) -> Floats:
        """Log probabilities of the classes from their weights (..., k)."""
        raise NotImplementedError

    def _check_cells(self, X: Any, first_row: int, fitting: bool) -> None:
        """Refuse cells that have no meaning, and say where they stand."""

    def _check_chunk(self, X: Any, first_row: int, fitting: bool) -> None:
        """Look at a chunk while it is in cache."""
        self._check_cells(X, first_row, fitting)

    def _check_scores(self, scores: Floats, X: Any, first_row: int) -> None:
        """Look at the scores of a chunk instead, where they tell of bad cells."""

    def _forgotten(self, features: Any) -> Any:
        """Statistics after rows were taken back, without what only those rows had."""
        return features

    def _feature_names(self) -> Array:
        names = getattr(self, "feature_names_in_", None)
        return np.arange(self.n_features_in_) if names is None else np.asarray(names)

    def _names(self) -> Named:
        return Named(self)

    def _with_target(self, X: Any, y: Any) -> tuple[Any, Any]:
        """A column of the frame by its name, or y as it is."""
        if not isinstance(y, str):
            return X, y
        from posterior.data.frames import split_target

        return split_target(X, y)

    def _finish(self, statistics: JointStatistics[Any]) -> Joint[Any, Any]:
        """From sums to a model: no row is needed any more."""
        family = self._family()
        with self._names():
            parameters = family.estimate(statistics.features)
        return Joint(family, self._log_prior(statistics.weight.rounded()), parameters)


def check_same_features(model: Any, other: Any) -> None:
    """Refuse to merge models of different tables."""
    if model.n_features_in_ != other.n_features_in_:
        raise ValueError(
            f"Expected a model of {model.n_features_in_} features to merge, got one of "
            f"{other.n_features_in_}."
        )
    mine, theirs = (list(getattr(m, "feature_names_in_", ())) for m in (model, other))
    if mine and theirs and mine != theirs:
        raise ValueError(f"Expected features {mine} to merge, got {theirs}.")


@cache
def _defaults(init: Callable[..., None]) -> dict[str, Any]:
    return {n: p.default for n, p in signature(init).parameters.items() if n != "self"}


class Named:
    """Errors of the core in the words of the user's table."""

    def __init__(self, model: Hooks) -> None:
        self._model = model

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, DegenerateError):
            raise error.named(self._model._feature_names(), self._model.classes_) from None
