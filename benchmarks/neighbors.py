"""Workloads of k nearest neighbors: the index is built, and all queries are answered."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA, Levenshtein
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn import neighbors
from threadpoolctl import threadpool_limits

from benchmarks.arrays import Array
from benchmarks.limits import Work
from benchmarks.timing import Call, Operation, Peer, Quality
from posterior.engines.local import Local
from posterior.neighbors.brute_force import BruteForce
from posterior.neighbors.edit_distance import EditIndex
from posterior.neighbors.tree_search import KDTree

SKLEARN, INTELEX = "scikit-learn", "scikit-learn-intelex"
K = 10


def neighbors_brute_float32(shrink: int) -> Iterator[Operation]:
    """Brute force, 10,000 queries of 100,000 rows of 64 float32, k = 10"""
    yield from brute(100_000 // shrink, 10_000 // shrink, 64, np.float32)


def neighbors_brute_float64(shrink: int) -> Iterator[Operation]:
    """Brute force, 10,000 queries of 100,000 rows of 64 float64, k = 10"""
    yield from brute(100_000 // shrink, 10_000 // shrink, 64, np.float64)


def neighbors_edit(shrink: int) -> Iterator[Operation]:
    """Edit distance, 1,000 queries of 20,000 names, k = 5"""
    yield from edits(20_000 // shrink, 1_000 // shrink, 5)


def neighbors_tree(shrink: int) -> Iterator[Operation]:
    """k-d tree, 100,000 queries of 1,000,000 rows of 3 float64"""
    yield from trees(1_000_000 // shrink, 100_000 // shrink, 3)


CASES = [neighbors_brute_float32, neighbors_brute_float64, neighbors_edit, neighbors_tree]


def brute(n: int, m: int, d: int, dtype: Any) -> Iterator[Operation]:
    """Normal rows, where nothing but looking at all of them helps, and rows in blobs."""
    rng = np.random.default_rng(0)
    centers = 3 * rng.normal(size=(100, d))
    for name in ("noise", "blobs"):
        X, Q = (rng.normal(size=(size, d)) for size in (n, m))
        if name == "blobs":
            X, Q = (x + centers[rng.integers(100, size=len(x))] for x in (X, Q))
        X, Q = X.astype(dtype), Q.astype(dtype)
        peers = [
            Peer(SKLEARN, kneighbors(neighbors.NearestNeighbors, X, Q), 1.5, same_rows(X, Q)),
            intelex(X, Q),
            faiss(X, Q) if dtype is np.float32 else None,
            bare_products(X, Q),
        ]
        work = Work(flops=2.0 * n * m * d, single=dtype is np.float32)
        yield Operation(f"{name}, k = {K}", ours(X, Q), [peer for peer in peers if peer], work=work)


def ours(X: Array, Q: Array) -> Call:
    return lambda: BruteForce(X, Local().fill).nearest(Q, K)


def kneighbors(make: Callable[..., Any], X: Array, Q: Array, **settings: Any) -> Call:
    def call() -> Any:
        return make(n_neighbors=K, **{"algorithm": "brute", **settings}).fit(X).kneighbors(Q)

    return call


def same_rows(X: Array, Q: Array) -> Callable[[Any, Any], Quality]:
    """Sums of distances, by one ruler on some queries: how much farther the peer's rows are."""
    some = slice(0, 50)
    D = cdist(Q[some].astype(np.float64), X.astype(np.float64))

    def compare(mine: Any, other: Any) -> Quality:
        one, two = (np.take_along_axis(D, np.asarray(a[1])[some], 1).sum() for a in (mine, other))
        best = np.partition(D, K - 1, axis=1)[:, :K].sum()
        return {"above the nearest": one / best - 1, "peer above it": two / best - 1}

    return compare


def intelex(X: Array, Q: Array, **settings: Any) -> Peer | None:
    """scikit-learn-intelex (oneDAL), where it is installed."""
    try:
        from sklearnex.neighbors import NearestNeighbors
    except ImportError:
        return absent(INTELEX)
    return Peer(INTELEX, kneighbors(NearestNeighbors, X, Q, **settings), 1, same_rows(X, Q))


def faiss(X: Array, Q: Array) -> Peer | None:
    """faiss, where it is installed."""
    try:
        import faiss as theirs
    except ImportError:
        return absent("faiss")

    def call() -> Any:
        index = theirs.IndexFlatL2(X.shape[1])
        index.add(X)
        return index.search(Q, K)

    return Peer("faiss IndexFlatL2", call, 1, same_rows(X, Q))


def bare_products(X: Array, Q: Array) -> Peer:
    """Two threads that multiply, block by block in cache, and keep nothing: the bound of BLAS."""
    pool, step = ThreadPoolExecutor(2), 512

    def multiply(start: int) -> None:
        q = Q[start : start + step]
        out = np.empty((len(q), step), X.dtype)
        for i in range(0, len(X) - step + 1, step):
            np.matmul(q, X[i : i + step].T, out=out)

    def call() -> None:
        with threadpool_limits(1):
            list(pool.map(multiply, range(0, len(Q), step)))

    return Peer("bare products", call)


def absent(name: str) -> None:
    print(f"{name} is not installed: it takes no part", file=sys.stderr)


def edits(n: int, m: int, k: int) -> Iterator[Operation]:
    """Misspelled surnames, which have near neighbors, and first names, which have none so near."""
    names, first_names = surnames(n, m)
    rng = np.random.default_rng(0)
    for what, queries in (
        ("misspelled surnames", [misspelled(names[i], rng) for i in rng.integers(n, size=m)]),
        ("first names", first_names),
    ):
        for kind, target in (("levenshtein", 3), ("normalized", None), ("alignment", None)):
            index = EditIndex(names, kind, Local().fill)
            yield Operation(
                f"{what}, {kind}",
                partial(index.nearest, queries, k),
                [whole_matrix(names, queries, kind, k, target)],
            )
    yield Operation(
        f"{what}, with the index built",
        lambda: EditIndex(names, "levenshtein", Local().fill).nearest(queries, k),
        [whole_matrix(names, queries, "levenshtein", k, None)],
    )


def whole_matrix(
    names: list[str], queries: list[str], kind: str, k: int, target: float | None
) -> Peer:
    """All distances by RapidFuzz on all threads, and the k least of each row in any order."""
    scorer = {
        "levenshtein": Levenshtein.distance,
        "normalized": Levenshtein.normalized_distance,
        "alignment": OSA.distance,
    }[kind]

    def call() -> Any:
        D = process.cdist(queries, names, scorer=scorer, workers=-1)
        rows = np.argpartition(D, k - 1, axis=1)[:, :k]
        return np.take_along_axis(D, rows, axis=1), rows

    def compare(ours: Any, theirs: Any) -> Quality:
        mine, other = (np.sort(np.asarray(a[0], np.float64), axis=1) for a in (ours, theirs))
        return {"distances apart": float(np.abs(mine - other).max())}

    return Peer("RapidFuzz cdist", call, target, compare)


def surnames(n: int, m: int) -> tuple[list[str], list[str]]:
    """n surnames and m first names of files, where they are at hand, or made up of syllables."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("POSTERIOR_DATA", beside)) / "names"
    rng = np.random.default_rng(0)
    if folder.is_dir():
        files = (folder / f"names-{what}.csv" for what in ("language", "gender"))
        columns = (np.loadtxt(f, str, delimiter=",", skiprows=1, usecols=0) for f in files)
        found = [rng.permutation(column).tolist() for column in columns]
        return found[0][:n], found[1][:m]
    print("no names at hand: made up", file=sys.stderr)
    syllables = [a + b for a in "bdfghklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er")]
    lengths = rng.integers(1, 5, n + m)
    made = ["".join(rng.choice(syllables, length)).capitalize() for length in lengths]
    return made[:n], made[n:]


def misspelled(name: str, rng: np.random.Generator) -> str:
    """One letter more, or another."""
    i, letter = int(rng.integers(len(name))), chr(97 + int(rng.integers(26)))
    return str(rng.choice([name[:i] + letter + name[i:], name[:i] + letter + name[i + 1 :]]))


def trees(n: int, m: int, d: int) -> Iterator[Operation]:
    """Uniform rows and rows in tight clusters: the tree alone, then with all queries answered."""
    rng = np.random.default_rng(0)
    centers = rng.random((100, d))
    for name in ("uniform", "clusters"):
        X, Q = rng.random((n, d)), rng.random((m, d))
        if name == "clusters":
            X, Q = (
                centers[rng.integers(100, size=size)] + 0.02 * rng.normal(size=(size, d))
                for size in (n, m)
            )
        yield Operation(
            f"{name}, build",
            partial(KDTree, X, 2, Local().fill),
            [Peer("SciPy cKDTree", partial(cKDTree, X)), *tree_peers(X, None, 1, None)],
        )
        for k in (10, 1):
            yield Operation(
                f"{name}, build and search, k = {k}",
                partial(search_tree, X, Q, k),
                [scipy_tree(X, Q, k), *tree_peers(X, Q, k, same_distances)],
            )


def search_tree(X: Array, Q: Array, k: int) -> Any:
    return KDTree(X, 2, Local().fill).nearest(Q, k)


def scipy_tree(X: Array, Q: Array, k: int) -> Peer:
    def call() -> Any:
        return cKDTree(X).query(Q, [*range(1, k + 1)], workers=2)

    return Peer("SciPy cKDTree", call, 1, same_distances)


def tree_peers(X: Array, Q: Array | None, k: int, compare: Any) -> Iterator[Peer]:
    """scikit-learn and scikit-learn-intelex; without queries they fit only."""

    def call(make: Callable[..., Any]) -> Any:
        model = make(n_neighbors=k, algorithm="kd_tree", n_jobs=2).fit(X)
        return None if Q is None else model.kneighbors(Q)

    target = (3, 1) if Q is not None else (None, None)
    sklearn = partial(call, neighbors.NearestNeighbors)
    yield Peer(SKLEARN, sklearn, target[0], compare, rounds=2)
    try:
        from sklearnex.neighbors import NearestNeighbors
    except ImportError:
        absent(INTELEX)
    else:
        yield Peer(INTELEX, partial(call, NearestNeighbors), target[1], compare)


def same_distances(ours: Any, theirs: Any) -> Quality:
    return {"distances apart": float(np.abs(ours[0] - np.asarray(theirs[0])).max())}
