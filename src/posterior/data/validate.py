"""Labels, weights and numbers at the boundary: checked once, with errors that say where."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from posterior.data.errors import NotFiniteError
from posterior.data.frames import missing
from posterior.data.names import plain, quoted
from posterior.data.rows import Soft, SparseRows, slabs
from posterior.data.typing import Array, Codes, Floats

SHOWN = 20  # names in an error message


def labels(y: Any, n_rows: int) -> tuple[Array, Codes]:
    """Sorted classes, and the code of each row's class."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    array = y if isinstance(y, np.ndarray) and y.ndim == 1 else column_or_1d(y, warn=True)
    if len(array) != n_rows:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"X has {n_rows} rows, y has {len(array)}."
        )
    if array.dtype.kind in "iu":
        return _whole_numbers(array)
    if array.dtype.kind == "f":
        if not np.isfinite(array).all():
            row = int(np.argmax(~np.isfinite(array)))
            raise ValueError(
                f"Input y contains NaN or infinity, first at row {row}. Drop rows without a label."
            )
        if type_of_target(array, input_name="y") not in ("binary", "multiclass"):
            raise ValueError(
                "Unknown label type: continuous. Expected classes in y, got fractions such as "
                f"{array[array != np.round(array)][0]:g}. Cut the target into classes first."
            )
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: expected classes in y.")
    if array.dtype.kind in "OUS":
        return _named(array)
    classes, codes = np.unique(array, return_inverse=True)
    return classes, codes.astype(np.int32)


def _whole_numbers(y: Array) -> tuple[Array, Codes]:
    codes = np.empty(len(y), np.int32)
    extremes = []
    for rows in slabs(len(y), 1):  # three looks while they are in cache
        part = y[rows]
        extremes += [int(part.min()), int(part.max())]
        codes[rows] = part
    low, high = min(extremes), max(extremes)
    if high - low > 4 * len(y) + 1000:
        classes, inverse = np.unique(y, return_inverse=True)
        return classes, inverse.astype(np.int32)
    # places in all whole numbers from low to high: no sort
    if low != 0:
        above = y - y.dtype.type(low)  # as a number without a sign, it cannot overflow
        codes = above.view(f"u{y.itemsize}").astype(np.int32)
    seen = np.zeros(high - low + 1, bool)
    for start in range(0, len(y), 4096):
        seen[codes[start : start + 4096]] = True
        if seen.all():
            return np.arange(low, high + 1).astype(y.dtype), codes
    code = (np.cumsum(seen) - 1).astype(np.int32)
    return (np.flatnonzero(seen) + low).astype(y.dtype), code[codes]


def _named(y: Array) -> tuple[Array, Codes]:
    """Strings and other objects, by a dictionary: one look a row instead of a sort."""
    items = y.tolist()
    for row, label in enumerate(items):
        if missing(label):
            raise ValueError(
                f"Input y contains NaN or None, first at row {row}. Drop rows without a label."
            )
    try:
        distinct = sorted(set(items))
    except TypeError as error:
        raise TypeError(
            f"Expected labels of one type in y, got several ({error}). Turn them into strings."
        ) from None
    code = {label: i for i, label in enumerate(distinct)}
    codes = np.fromiter(map(code.__getitem__, items), np.int32, len(items))
    return np.array(distinct, dtype=y.dtype), codes


def union(classes: Array, more: Array) -> Array:
    """Classes of both, sorted, if they are of one type."""
    if (classes.dtype.kind in "OUS") != (more.dtype.kind in "OUS"):
        raise TypeError(
            f"Expected labels of one type, got {more.tolist()} beside {classes.tolist()}. Turn "
            "them into strings."
        )
    return np.union1d(classes, more)


def codes_of(y: Any, classes: Array, n_rows: int) -> tuple[Codes, Array]:
    """Codes of labels among known classes, and the labels that are not among them."""
    found, codes = labels(y, n_rows)
    union(classes, found)
    place = np.searchsorted(classes, found)
    place = np.minimum(place, len(classes) - 1)
    known = classes[place] == found
    if known.all() and len(found) == len(classes):
        return codes, found[:0]
    return np.where(known, place, -1).astype(np.int32)[codes], found[~known]


def weights(sample_weight: Any, n_rows: int, required: bool = True) -> Floats | None:
    """Weights as doubles; None if every row counts once. Some row must, if that is required."""
    if sample_weight is None:
        return None
    w = np.array(sample_weight, np.float64, order="C")
    if w.ndim == 0:
        w = np.full(n_rows, float(w))
    if w.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {w.ndim}D array.")
    if len(w) != n_rows:
        raise ValueError(
            f"sample_weight.shape == {w.shape}, expected ({n_rows},): one weight for each row."
        )
    bad = ~np.isfinite(w) | (w < 0)
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"Expected finite, non-negative weights, got {w[row]:g} at row {row}. "
            "Leave out rows that should not count."
        )
    if required and not w.any():
        raise ValueError("Expected at least one row of positive weight, got weights of zero only.")
    return w


def level(given: float) -> float:
    """The probability that an interval shall have."""
    if not 0 < given < 1:
        raise ValueError(f"Expected a level between 0 and 1, got {given}.")
    return given


def costs(given: Any, classes: Any) -> Floats:
    """The price of each answer for each truth, as a table or as {truth: {answer: price}}."""
    price, n_classes = np.asarray(table_in_order(given, classes, "costs"), np.float64), len(classes)
    if price.shape != (n_classes, n_classes):
        raise ValueError(f"Expected costs of shape {(n_classes,) * 2}, got {price.shape}.")
    if not np.isfinite(price).all():
        raise ValueError("Expected finite costs, got NaN or infinity.")
    return price


def priors(given: Any, classes: Any) -> Floats:
    """Class probabilities that someone chose, in the order of the classes or by their names."""
    p, n_classes = np.asarray(in_order(given, classes, "priors"), np.float64), len(classes)
    if p.shape != (n_classes,):
        raise ValueError(
            f"Number of priors must match number of classes: got {p.size} for {n_classes}."
        )
    if (p < 0).any():
        raise ValueError("Priors must be non-negative.")
    if not np.isclose(p.sum(), 1.0):
        raise ValueError(f"The sum of the priors should be 1, got {p.sum():g}.")
    return p


def check_numbers(
    X: Array | SparseRows,
    *,
    first_row: int = 0,
    names: Any = None,
    allow_missing: bool,
    allow_negative: bool,
    allow_zero: bool = True,
    estimator: str,
    remedy: str = "Fill it in, or leave the row out.",
) -> None:
    """Refuse infinite cells, and missing, negative or zero ones where they have no meaning."""
    values = X.entries() if isinstance(X, SparseRows) else X
    if are_ordinary(values, allow_negative, allow_zero):
        return
    if not allow_zero and np.nanmin(values, initial=1.0) <= 0:
        where = _where(X, values <= 0, first_row, names)
        value = float(np.asarray(values)[values <= 0][0])
        raise ValueError(
            f"Expected positive numbers in {estimator}, got {value:g} {where}. Give the column "
            "another family, or mark the cell as missing."
        )
    if not allow_negative and np.nanmin(values, initial=0.0) < 0:
        where = _where(X, values < 0, first_row, names)
        raise ValueError(f"Negative values in data passed to {estimator} (input X), first {where}.")
    if np.isinf(values).any():
        raise NotFiniteError(
            f"Input X contains infinity, first {_where(X, np.isinf(values), first_row, names)}. "
            "Replace it by a number, or by NaN if the cell is not known."
        )
    if not allow_missing and np.isnan(values).any():
        raise ValueError(
            f"Input X contains NaN, first {_where(X, np.isnan(values), first_row, names)}, where "
            f"{estimator} expects a number. {remedy}"
        )


def are_ordinary(values: Array, allow_negative: bool, allow_zero: bool = True) -> bool:
    """Whether all are finite and of the right sign, at one look while they are in cache."""
    if not allow_zero and not values.min(initial=1) > 0:
        return False
    width = values.shape[1] if values.ndim > 1 else 1
    with np.errstate(over="ignore", invalid="ignore"):
        return all(
            (allow_negative or part.min(initial=0) >= 0)
            and (part.dtype.kind != "f" or np.isfinite(part.sum()))
            for part in (values[rows] for rows in slabs(len(values), width))
        )


def _where(X: Array | SparseRows, bad: Array, first_row: int, names: Any) -> str:
    if isinstance(X, SparseRows):
        entry = int(np.argmax(bad)) + int(X.start[0])
        row = int(np.searchsorted(X.start, entry, side="right")) - 1
        column = int(X.column[entry])
    else:
        row, column = (int(i) for i in np.argwhere(bad)[0])
    name = str(column) if names is None else quoted(names[column])
    return f"in row {first_row + row}, column {name}"


def responsibilities(R: Any, n_rows: int, n_groups: int, weight: Floats | None) -> Soft:
    """Which part of each row each group receives: rows that sum to one, times their weight."""
    shares = np.asarray(R, np.float64)
    if shares.shape != (n_rows, n_groups):
        raise ValueError(
            f"Expected responsibilities of shape ({n_rows}, {n_groups}), got {shares.shape}."
        )
    total = shares.sum(axis=1)
    if not (np.isfinite(total) & (total > 0) & (shares >= 0).all(axis=1)).all():
        row = int(np.argmin(np.isfinite(total) & (total > 0) & (shares >= 0).all(axis=1)))
        raise ValueError(
            f"Expected responsibilities that are not negative and not all zero, row {row} is "
            f"{shares[row].tolist()}."
        )
    return Soft(shares * ((1.0 if weight is None else weight) / total)[:, None])


def in_order(given: Any, classes: Any, what: str) -> Any:
    """{class: number} as a list; what does not come by names, as it is."""
    if not isinstance(given, Mapping):
        return given
    names = _names(classes)
    _check(given, names, names, what)
    return [given[name] for name in names]


def table_in_order(given: Any, classes: Any, what: str) -> Any:
    """{truth: {answer: number}} as a list of lists; a right answer that is not named has zero."""
    if not isinstance(given, Mapping):
        return given
    names, rows = _names(classes), []
    _check(given, names, names, what)
    for truth in names:
        row = given[truth]
        if not isinstance(row, Mapping):
            raise ValueError(
                f"Expected {what} of each answer by its class, such as "
                f"{{{truth!r}: {{...: 1}}}}, got {row!r} for {truth!r}."
            )
        _check(row, names, [name for name in names if name != truth], f"{what} for {truth!r}")
        rows.append([row.get(name, 0.0) for name in names])
    return rows


def _names(classes: Any) -> list[Any]:
    """Each once: components of one class share its name."""
    return list(dict.fromkeys(plain(c) for c in classes))


def _check(given: Mapping[Any, Any], known: Collection[Any], needed: list[Any], what: str) -> None:
    unknown = [name for name in given if name not in known]
    if unknown:
        raise ValueError(
            f"Expected {what} by the classes {list(known)[:SHOWN]}, got {unknown[0]!r}, which is "
            "none of them."
        )
    lacking = [name for name in needed if name not in given]
    if lacking:
        raise ValueError(
            f"Expected {what} by each of the classes {list(known)[:SHOWN]}, but {lacking[0]!r} is "
            "missing."
        )
