"""Arrays of all shapes and cells, through the public estimators and straight into the kernels.

Estimators may refuse a table; kernels must refuse what would lead them out of their arrays. Under
the sanitizers, a read or write that went astray ends the process.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
from files import pick
from models import EVERYONE, MORE
from scipy import sparse

import posterior.kernels._compiled as compiled

SIZES = [1, 2, 3, 7, 8, 9, 15, 16, 17, 33, 65, 130]
WIDTHS = [1, 2, 3, 7, 8, 9, 16, 17, 33]
CLASSES = [1, 2, 3, 5, 9, 17]
CELLS = [0.0, -0.0, 1.0, -1.0, 1e308, -1e308, 1e-320, 1e154, 1e15, np.nan, np.inf, -np.inf]
TYPES = ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u1", "u8", "b1", ">f8", "O"]
# Places that Python has looked at once for all kernels, sums whose limbs have room (in files too:
# storage.checks), residuals that are small enough to add, and trees that kernels have grown.
TRUSTED = {
    "add_sparse_sums": (0, 1, 6, 8),
    "add_cells": (2, 3, 6, 7),
    "add_moments": (4, 6, 8),
    "add_category_counts": (5,),
    "add_products_exactly": (2,),
    "take_columns": (1,),
    "sparse_logistic_sums": (1, 3),
    "sparse_log_joint": (1, 3),
    "carry": (0,),
    "to_pairs": (0,),
    "mean_and_scatter": (0, 2, 4),
    "symmetric_tree": (1,),
    "find_leaves": (0, 1, 2, 3, 4),
    "search_tree": (0, 1, 2, 3, 4),
}
UNBOUNDED = {"coordinate_descent", "column_descent", "sparse_column_descent"}  # by their sweeps
WORDS = ["", "a", "so good", "bad " * 40, "\x00", "ÄÖ ß", "\U0001f41f" * 20, "x" * 3000]


def cells(random: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Ordinary numbers, with strange ones here and there, or columns of them."""
    X = random.normal(0, 10.0 ** random.integers(-3, 6), shape)
    way = random.integers(5)
    if way == 0:
        X = np.round(X)
    if way == 1:
        X = np.abs(np.round(X)) % 4
    if way == 2:
        X[:, random.integers(shape[1])] = pick(random, CELLS)
    for _ in range(int(random.integers(0, 4)) if random.random() < 0.5 else 0):
        X[random.integers(shape[0]), random.integers(shape[1])] = pick(random, CELLS)
    return X


def table(random: np.random.Generator, reads: str) -> Any:
    """Rows for an estimator that reads this kind."""
    n, d = pick(random, SIZES), pick(random, WIDTHS)
    if reads == "documents":
        return [pick(random, WORDS) for _ in range(n)]
    X = cells(random, (n, d))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = X.astype(pick(random, TYPES)) if random.random() < 0.4 else X
    way = random.integers(8)
    if way == 0 and X.dtype.kind in "fiu" and X.dtype.isnative and X.dtype.itemsize > 2:
        return sparse.csr_array(X)
    if way == 1:
        return np.asfortranarray(X)
    if way == 2:
        return X[::-1]
    if way == 3:
        return np.broadcast_to(X[0], X.shape)
    return X[:0] if random.random() < 0.02 else X


def through_estimator(random: np.random.Generator) -> str:
    """Fit on one table, and ask about it and about another."""
    subject = pick(random, EVERYONE)
    X = table(random, subject.reads)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    y = random.integers(0, pick(random, CLASSES), n)
    weight = {"sample_weight": random.integers(0, 3, n)} if random.random() < 0.2 else {}
    few = {"n_features": 64} if subject.name == "HashingVectorizer" else {}  # answers are dense
    model = subject.make(**few)
    try:
        model.fit(X, y if subject.learns_labels else None, **weight)
    except MemoryError:
        raise
    except Exception:
        return "refused"
    for rows in (X, table(random, subject.reads)):
        try:
            answers = subject.answers(model, rows)
        except MemoryError:
            raise
        except Exception:
            continue
        shares = answers.get("predict_proba")
        assert shares is None or np.isfinite(shares).all(), f"{subject.name}: NaN for an answer"
    return "fitted"


@cache
def calls() -> list[tuple[str, tuple[Any, ...]]]:
    """What estimators hand to the kernels: names and copies of the arguments."""
    noted: list[tuple[str, tuple[Any, ...]]] = []
    functions = {n: f for n, f in vars(compiled).items() if type(f).__name__ == "nb_func"}

    def noting(name: str, function: Any) -> Any:
        def call(*arguments: Any) -> Any:
            copies = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)
            if sum(name == known for known, _ in noted) < 40:
                noted.append((name, copies))
            return function(*arguments)

        return call

    for name, function in functions.items():
        setattr(compiled, name, noting(name, function))
    try:
        for subject in EVERYONE:
            X, y = subject.table(np.random.default_rng(0), 40, 3)
            subject.answers(subject.fit(X, y), X)
        for make in MORE.values():
            model, X, y = make()
            model.fit(X, y)
            for verb in ("predict", "transform"):
                if hasattr(model, verb):
                    getattr(model, verb)(X)
    finally:
        for name, function in functions.items():
            setattr(compiled, name, function)
    return noted


def broken(argument: Any, random: np.random.Generator) -> Any:
    """An argument of another size, with other numbers, or in another place of memory."""
    if isinstance(argument, bool) or argument is None:
        return argument
    if isinstance(argument, int):
        return int(pick(random, [0, 1, -1, argument + 1, 2 * argument + 1, 1 << 16]))
    if isinstance(argument, float):
        return float(pick(random, [0.0, -1.0, np.nan, np.inf, 1e300]))
    if not isinstance(argument, np.ndarray):
        return argument
    way = random.integers(6)
    if way == 0 and argument.ndim:
        return argument[: int(random.integers(0, len(argument) + 1))].copy()
    if way == 1 and argument.ndim:
        return np.concatenate([argument] * 2)
    if way == 2 and argument.ndim > 1:
        return np.ascontiguousarray(argument[..., : argument.shape[-1] - 1])
    if way == 3:
        memory = np.frombuffer(bytearray(argument.nbytes + 1), np.uint8, argument.nbytes, 1)
        moved = memory.view(argument.dtype).reshape(argument.shape)
        moved[...] = argument
        return moved
    strange = argument.copy()
    if strange.size:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            low = np.array(pick(random, [-1, 2**31 - 1, 10**6, -(2**31), 41, np.nan, 1e300]))
            strange.reshape(-1)[random.integers(strange.size)] = low.astype(strange.dtype)
    return strange


def into_kernel(random: np.random.Generator) -> str:
    """A call that an estimator has made, with one or two arguments broken."""
    name, arguments = pick(random, calls())
    given = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    free = [i for i in range(len(given)) if i not in TRUSTED.get(name, ())]
    if not free:
        return "trusted by a kernel"
    if name in UNBOUNDED:
        free = [i for i in free if not isinstance(given[i], int)]
    for _ in range(int(random.integers(1, 3))):
        i = pick(random, free)
        given[i] = broken(given[i], random)
    try:
        getattr(compiled, name)(*given)
    except (TypeError, ValueError):
        return "refused by a kernel"
    return "taken by a kernel"


def case(seed: int) -> str:
    random = np.random.default_rng([3, seed])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return into_kernel(random) if seed % 4 >= 2 else through_estimator(random)
