"""Workloads of containers: the same values in arrays, lists and frames."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from benchmarks.arrays import Array
from benchmarks.timing import Operation, Peer
from posterior import AODE, BernoulliNB, GaussianNB, NaiveBayes

NAMES = [f"c{j}" for j in range(5)]
NULLABLE = {"numbers": "Float64", "truths": "boolean", "strings": "string"}
MODELS: dict[str, tuple[type[Any], ...]] = {
    "numbers": (NaiveBayes, GaussianNB),
    "truths": (NaiveBayes, BernoulliNB, AODE),
    "strings": (NaiveBayes, AODE),
}
WITHIN = 1 / 3  # no container may take three times as long


def containers(shrink: int) -> Iterator[Operation]:
    """The same 200,000 rows of 5 columns in every container: fit"""
    n = 200_000 // shrink
    random = np.random.default_rng(0)
    y = random.integers(0, 2, n)
    tables = {
        "numbers": random.normal(y[:, None], 1, (n, 5)),
        "truths": random.random((n, 5)) < 0.3 + 0.3 * y[:, None],
        "strings": np.array(["red", "green", "blue"])[random.integers(0, 3, (n, 5))],
    }
    for kind, X in tables.items():
        arrow = pa.table({name: X[:, j].tolist() for j, name in enumerate(NAMES)})
        rows = X.tolist()
        for model in MODELS[kind]:
            # NumPy's strings are objects of Python on the way
            typed = arrow if kind == "strings" else X
            peer = Peer(f"as {'Arrow' if kind == 'strings' else 'an array'}", fit(model, typed, y))
            for name, held in frames(arrow, kind).items():
                within = Peer(peer.name, peer.call, WITHIN)
                yield Operation(f"{model.__name__}, {kind}: {name}", fit(model, held, y), [within])
            looked = Peer(f"{peer.name}, after np.asarray", looked_at(rows, peer.call), WITHIN)
            name = f"{model.__name__}, {kind}: lists"
            yield Operation(name, fit(model, rows, y), [looked])


def frames(table: pa.Table, kind: str) -> dict[str, Any]:
    """The same values as frames."""
    pandas = table.to_pandas()
    return {
        "pandas": pandas,
        "pandas nullable": pandas.astype(NULLABLE[kind]),
        "pandas Arrow": table.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": pl.from_arrow(table),
        "Arrow": table,
    }


def fit(model: type[Any], X: Any, y: Array) -> Callable[[], Any]:
    return partial(model().fit, X, y)


def looked_at(rows: list[Any], call: Callable[[], Any]) -> Callable[[], Any]:
    """The same after NumPy has made an array of Python's objects, as anyone must."""

    def both() -> Any:
        np.asarray(rows)
        return call()

    return both


CASES = [containers]
