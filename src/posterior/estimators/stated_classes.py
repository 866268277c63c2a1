"""Models that are stated, not learned: what was said of each class, checked and put in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from posterior.data.names import quoted
from posterior.data.table_columns import Columns
from posterior.data.typing import Array, Floats
from posterior.data.validate import in_order
from posterior.families.covariance import Whitening, whitenings
from posterior.families.gaussian import GaussianParameters
from posterior.families.normal_density import MultivariateGaussianParameters
from posterior.generative.fitted import Fitted
from posterior.readers.labels import Labels


@dataclass(frozen=True, slots=True, eq=False)
class StatedClasses:
    """Classes and their shares, sorted by class; tables of numbers are taken in as they came."""

    classes: Array  # (k,), sorted
    shares: Floats  # (k,)
    stated: Array  # (k,): the classes in the order in which they were stated
    order: Array  # (k,): where each sorted class was stated

    @classmethod
    def of(cls, shares: Any, classes: Any = None) -> StatedClasses:
        """Shares that sum to one. One of zero is a class that is possible, and never answered."""
        if classes is None:
            named = isinstance(shares, Mapping)
            classes = list(shares) if named else np.arange(np.size(shares))
        labels = distinct(classes, "classes")
        given = numbers(in_order(shares, labels, "shares"), "shares")
        if given.shape != labels.shape:
            raise ValueError(
                f"Expected a share of each of {len(labels)} classes, got shares of shape "
                f"{given.shape}."
            )
        if not (given >= 0).all():
            raise ValueError(f"Expected shares of zero or more, got {given.tolist()}.")
        if not np.isclose(given.sum(), 1.0):
            raise ValueError(f"Expected shares that sum to 1, got a sum of {given.sum():g}.")
        order = np.argsort(labels, kind="stable")
        return cls(labels[order], given[order], labels, order)

    def table(self, given: Any, what: str, shape: tuple[int, ...] | None = None) -> Floats:
        """Finite numbers (k, d), a row a class; a number a class is one column."""
        table = numbers(in_order(given, self.stated, what), what)
        table = table[:, None] if table.ndim == 1 else table
        expected = (len(self.classes), "d") if shape is None else shape
        if table.ndim != 2 or table.shape[0] != expected[0] or shape not in (None, table.shape):
            told = ", ".join(map(str, expected))
            raise ValueError(
                f"Expected {what} of shape ({told}), a row for each of {len(self.classes)} "
                f"classes, got {table.shape}."
            )
        if table.shape[1] == 0:
            raise ValueError(f"Expected {what} of one column or more, got none.")
        return np.ascontiguousarray(table[self.order])

    def check(self, table: Floats, good: Array, what: str, kind: str) -> None:
        """Refuse numbers (k, d) that are not of their kind, and say whose the first one is."""
        if not good.all():
            k, j = np.argwhere(~good)[0].tolist()
            raise ValueError(
                f"Expected {what} {kind}, got {table[k, j]:g} of class {quoted(self.classes[k])} "
                f"in column {j}."
            )

    def covariances(self, given: Any, d: int) -> Floats:
        """(k, d, d), or (1, d, d) if one is stated for all; of one column, variances."""
        k, given = len(self.classes), in_order(given, self.stated, "covariances")
        matrices = numbers(given, "covariances")
        if d == 1 and matrices.shape in {(), (k,)}:
            matrices = matrices.reshape(-1, 1, 1)
        elif matrices.ndim == 2:
            matrices = matrices[None]
        own = matrices.shape == (k, d, d)
        if not own and matrices.shape != (1, d, d):
            raise ValueError(
                f"Expected covariances of shape ({k}, {d}, {d}), or ({d}, {d}) if all classes "
                f"share one, got {np.shape(given)}."
            )
        check_covariances(matrices, self.stated if own else None)
        return matrices[self.order] if own else matrices

    def fitted(self, model: Any, parameters: Any, n: int, names: Any) -> Any:
        """The estimator with these parameters."""
        columns, labels = named_columns(model.columns(), n, names), Labels(self.classes)
        reader = model.reader().of(columns)
        rule = model.rule(reader, labels)
        model.fitted_ = Fitted.stated(reader, labels, rule, self.shares, parameters)
        return model


def numbers(given: Any, what: str) -> Floats:
    """Numbers, all finite."""
    try:
        found = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"Expected {what} as a table of numbers, got {given!r}.") from None
    if not np.isfinite(found).all():
        raise ValueError(f"Expected finite {what}, got {found[~np.isfinite(found)][0]}.")
    return found


def distinct(given: Any, what: str) -> Array:
    """Names, each once."""
    listed = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else []
    found = np.asarray(listed)
    mixed = found.dtype.kind in "US" and not all(isinstance(name, str) for name in listed)
    if found.ndim != 1 or mixed or len(np.unique(found)) < max(len(found), 1):
        raise ValueError(f"Expected a list of {what} of one kind that differ, got {given!r}.")
    return found


def named_columns(columns: Columns, n: int, names: Any) -> Columns:
    """Columns that were stated, with names if there are."""
    if names is None:
        return replace(columns, n=n)
    found = tuple(str(name) for name in distinct(names, "names of columns"))
    if len(found) != n:
        raise ValueError(f"Expected {n} names of columns, got {list(found)}.")
    return replace(columns, n=n, names=found)


def check_covariances(matrices: Floats, owners: Array | None) -> None:
    """Refuse matrices (k, d, d) that are no covariances; without owners there is one for all."""
    for k, matrix in enumerate(matrices):
        if not np.allclose(matrix, matrix.T) or Whitening.cholesky(matrix) is None:
            whose = "" if owners is None else f" for {quoted(owners[k])}"
            raise ValueError(
                "Expected covariances that are symmetric and positive definite, got "
                f"{matrix.tolist()}{whose}."
            )


def stated_normals(
    kind: str, mean: Floats, given: Floats
) -> MultivariateGaussianParameters | GaussianParameters:
    """Normal components of stated covariances, in the shape of scikit-learn's four kinds."""
    k, d = mean.shape
    shapes = {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}
    if kind not in shapes:
        raise ValueError(f"Expected a covariance_type among {list(shapes)}, got {kind!r}.")
    shape = shapes[kind]
    if d == 1 and given.size == np.prod(shape):
        given = given.reshape(shape)
    if given.shape != shape:
        raise ValueError(f"Expected {kind} covariances of shape {shape}, got {given.shape}.")
    if kind in ("diag", "spherical"):
        if not (given > 0).all():
            raise ValueError(f"Expected variances above zero, got {given.min():g}.")
        return GaussianParameters(mean, np.array(np.broadcast_to(given.reshape(k, -1), (k, d))))
    matrices = given.reshape(-1, d, d)
    check_covariances(matrices, np.arange(k) if kind == "full" else None)
    return MultivariateGaussianParameters(mean, matrices, whitenings(matrices, None))
