"""The normal distributions that a mixture holds in one column or two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from sklearn.utils.validation import check_is_fitted

from posterior.data import frames
from posterior.data.names import feature_names, plain, quoted
from posterior.data.typing import Array, Floats
from posterior.estimators import GaussianMixture, Mixture, MixtureClassifier
from posterior.families import GaussianParameters, MultivariateGaussianParameters
from posterior.families.product import Product

MIXTURES = (GaussianMixture, Mixture, MixtureClassifier)
NORMAL = (GaussianParameters, MultivariateGaussianParameters)

POINTS = 72  # of an ellipse


@dataclass(frozen=True, slots=True)
class Normals:
    """p(x) = Σ_k π_k N(x; μ_k, Σ_k) of m columns of a model, m one or two."""

    places: list[int]  # of the columns in the table
    columns: list[str]
    components: list[str]
    weight: Floats  # (k,)
    mean: Floats  # (k, m)
    covariance: Floats  # (k, m, m)

    def ellipse(self, k: int, level: float) -> Floats:
        """Points (p, 2) of the smallest ellipse that holds a share of the rows of component k."""
        angle = np.linspace(0, 2 * np.pi, POINTS + 1)
        size, axes = np.linalg.eigh(self.covariance[k])
        root = axes * np.sqrt(np.maximum(size, 0) * scipy.stats.chi2.ppf(level, 2))
        return np.asarray(self.mean[k] + np.column_stack([np.cos(angle), np.sin(angle)]) @ root.T)


def normals_of(model: Any, columns: int | str | Sequence[Any] | None) -> Normals:
    """The normals of the columns that were asked for, or of the first two that have some."""
    if not isinstance(model, MIXTURES):
        raise TypeError(
            f"Expected a mixture, such as GaussianMixture or Mixture, got {type(model).__name__}."
        )
    check_is_fitted(model)
    learned = feature_names(model)
    names: list[Any] = list(range(model.n_features_in_) if learned is None else map(plain, learned))
    if columns is None:
        gaussian = isinstance(model, GaussianMixture)
        places = list(range(len(names)) if gaussian else sorted(_normal_columns(model)))[:2]
    else:
        asked = [columns] if isinstance(columns, int | str | np.integer) else list(columns)
        places = [_place(names, column) for column in asked]
    if not 1 <= len(places) <= 2 or len(set(places)) < len(places):
        raise ValueError(
            f"Expected one column or two different ones, got {len(places)} of {names}. Name the "
            "normal columns to draw."
        )
    mean, covariance = _moments(model, places, names)
    titles = [f"feature {j}" if learned is None else str(names[j]) for j in places]
    return Normals(places, titles, _components(model), model.weights_, mean, covariance)


def some_rows(X: Any, index: Array) -> Any:
    """Rows of a table by number."""
    frame = frames.as_frame(X)
    return np.asarray(X)[index] if frame is None else frame[index.tolist()].to_native()


def _place(names: list[Any], column: Any) -> int:
    if column in names:
        return names.index(column)
    if isinstance(column, int | np.integer) and -len(names) <= column < len(names):
        return int(column) % len(names)
    raise ValueError(f"Expected one of the columns {names}, got {quoted(column)}.")


def _components(model: Any) -> list[str]:
    """Names with shares; the components of a class have its name."""
    by_class = isinstance(model, MixtureClassifier)
    owners = model.component_class_ if by_class else range(len(model.weights_))
    names = [str(plain(owner)) for owner in owners]
    for name in {n for n in names if names.count(n) > 1}:
        same = [k for k, n in enumerate(names) if n == name]
        for i, k in enumerate(same):
            names[k] = f"{name} ({i})"
    return [f"{n}: {_percent(w)}" for n, w in zip(names, model.weights_, strict=True)]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share >= 5e-4 else "< 0.1 %"


def _parts(model: Any) -> list[tuple[Any, Any, Sequence[int]]]:
    """Families, their parameters and their columns."""
    joint = model.joint_
    if isinstance(joint.family, Product):
        return list(zip(joint.family.families, joint.parameters, joint.family.columns, strict=True))
    return [(joint.family, joint.parameters, range(model.n_features_in_))]


def _normal_columns(model: Any) -> set[int]:
    return {int(j) for _, p, js in _parts(model) if isinstance(p, NORMAL) for j in js}


def _moments(model: Any, places: list[int], names: list[Any]) -> tuple[Floats, Floats]:
    """Means (k, m) and covariances (k, m, m); families are independent given the component."""
    if isinstance(model, GaussianMixture):
        part = model.marginal(places)
        return part.means_, part.covariances_
    k, m = len(model.weights_), len(places)
    mean, covariance = np.empty((k, m)), np.zeros((k, m, m))
    for i, place in enumerate(places):
        family, p, js = next(part for part in _parts(model) if place in part[2])
        if not isinstance(p, NORMAL):
            raise ValueError(
                f"Expected a normal column, got {quoted(names[place])}, of family "
                f"{type(family).__name__}. Name others: columns=..."
            )
        at = list(js).index(place)
        mean[:, i] = p.mean[:, at]
        if isinstance(p, GaussianParameters):
            covariance[:, i, i] = p.variance[:, at]
            continue
        for other, where in enumerate(places):
            if where in js:
                covariance[:, i, other] = p.covariance[:, at, list(js).index(where)]
    return mean, covariance
