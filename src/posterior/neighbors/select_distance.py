"""Selection of the distance and of the votes: those by which rows answer for each other best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from posterior.data.typing import Integers
from posterior.neighbors.fitted_neighbors import FittedNeighbors
from posterior.neighbors.index import Engine
from posterior.neighbors.metrics import Metric
from posterior.neighbors.neighbor_search import Search
from posterior.neighbors.select_k import SMOOTHINGS, choose, tried
from posterior.neighbors.training_rows import TrainingRows
from posterior.neighbors.votes import Rule
from posterior.neighbors.whitening import by_content, check_whitening
from posterior.readers.reader import Reader

WHITENINGS = (None, 0.01, 0.1, 0.5, 1.0)  # as they are, or shrunken so much
RULES = ("uniform", "gaussian")
ASKED = 2_000  # rows that are left out to choose a distance; all, to choose k


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """How many neighbors vote, how, and by which distance; "auto" where rows are to choose."""

    n_neighbors: Any
    smoothing: Any
    weights: Any
    whiten: Any

    @property
    def smoothings(self) -> Sequence[float]:
        """Those to choose from, together with k unless that is given."""
        given = isinstance(self.n_neighbors, Integral)
        free = is_auto(self.smoothing) or (self.smoothing is None and not given)
        return SMOOTHINGS if free else (float(self.smoothing or 0),)

    @property
    def rules(self) -> Sequence[Rule]:
        return RULES if is_auto(self.weights) else (self.weights,)


def learn(
    reader: Reader,
    rows: TrainingRows,
    metric: Metric,
    settings: Settings,
    algorithm: str,
    engine: Engine,
) -> FittedNeighbors:
    """What is left open is chosen by leave-one-out log loss: the distance by equal votes, then the
    votes, each with the k that suits it best; of equals the first stays."""
    numbers = tried(settings.n_neighbors, rows)
    smoothings, rules = settings.smoothings, settings.rules
    whiten = float(settings.whiten) if isinstance(settings.whiten, Real) else None
    search = Search(rows, metric, algorithm, int(numbers.max()), engine, whiten=whiten)
    if is_auto(settings.whiten):
        search = _by_distance(search, rules[0], numbers, smoothings)
    search.prepare()
    if isinstance(settings.n_neighbors, Integral) and len(smoothings) == len(rules) == 1:
        return FittedNeighbors(reader, search, int(settings.n_neighbors), smoothings[0])
    choices = choose(search, rows, numbers, smoothings, rules)
    best = min(range(len(rules)), key=lambda i: choices[i].score)
    k, a, table = choices[best].n_neighbors, choices[best].smoothing, choices[best].table
    rule = rules[best] if is_auto(settings.weights) else None
    return FittedNeighbors(reader, search, k, a, selection=table, weights=rule)


def is_auto(setting: object) -> bool:
    """Whether a setting, which may also be a function or a list, is left open."""
    return isinstance(setting, str) and setting == "auto"


def _by_distance(
    search: Search, rule: Rule, numbers: Integers, smoothings: Sequence[float]
) -> Search:
    rows, whitenings = search.rows, list(WHITENINGS)
    check_whitening(search.metric, rows.X)
    if np.isnan(rows.X).any():  # only columns by themselves have units then
        whitenings = [None, 1.0]
    asked = by_content(rows)
    asked = np.sort(asked[:: -(-len(asked) // ASKED)])
    searches = [replace(search, whiten=w, method=None) for w in whitenings]
    scores = [choose(s, rows, numbers, smoothings, [rule], asked)[0].score for s in searches]
    return searches[min(range(len(scores)), key=scores.__getitem__)]
