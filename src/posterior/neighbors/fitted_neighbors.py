"""Fitted neighbors: all that a classifier of neighbors has learned, as one value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from posterior.data import validate
from posterior.data.names import plain
from posterior.data.rows import take
from posterior.data.table import Table
from posterior.data.table_columns import Columns
from posterior.data.typing import Array, Floats, Integers
from posterior.evaluation.calibration import Calibrator, learned
from posterior.evaluation.held_out import HeldOut
from posterior.neighbors import votes
from posterior.neighbors.metrics import Metric
from posterior.neighbors.nearest_rows import Neighbors, neighbors
from posterior.neighbors.neighbor_explanation import Neighborhood
from posterior.neighbors.neighbor_search import Search
from posterior.neighbors.training_rows import TrainingRows
from posterior.readers.reader import Reader

ENOUGH = 5_000  # rows to learn a correction from


@dataclass(frozen=True, slots=True, eq=False)
class FittedNeighbors:
    """Rows with their classes, how they are read and searched, and how many of them vote."""

    reader: Reader
    search: Search
    n_neighbors: int
    smoothing: float = 0.0
    closed: bool = False  # whether all classes that may come were named
    selection: Table | None = None  # scores of each number of neighbors, where it was chosen
    weights: votes.Rule = None  # how neighbors vote, where it was chosen
    calibrator: Calibrator | None = None

    @property
    def rows(self) -> TrainingRows:
        return self.search.rows

    @property
    def columns(self) -> Columns:
        return self.reader.columns

    @property
    def metric(self) -> Metric:
        return self.search.metric

    @property
    def classes(self) -> Any:
        """The classes, or a list of them by output."""
        return self.by_output(self.rows.classes)

    def by_output(self, values: Any) -> Any:
        """The values of all outputs, or of the only one."""
        return list(values) if len(self.rows.classes) > 1 else values[0]

    # ---- rows that come and go ----

    def read(self, X: Any, y: Any, sample_weight: Any) -> TrainingRows:
        """Labeled rows of the same columns as those that were learned."""
        self.check_metric()
        rows = self.reader.read(X, fitting=True)
        weight = validate.weights(sample_weight, rows.shape[0], required=False)
        return TrainingRows.of(rows, y, weight)

    def holding(self, rows: TrainingRows) -> FittedNeighbors:
        """The same of other rows."""
        search = replace(self.search, rows=rows, n_neighbors=self.n_neighbors, method=None)
        return replace(self, search=search)

    def closed_to(self, classes: Any) -> FittedNeighbors:
        """The same where these classes may come, and no others."""
        if len(self.rows.classes) > 1:
            raise ValueError(
                "Expected y of one column where classes are named, got one of "
                f"{len(self.rows.classes)}."
            )
        named = np.unique(classes)
        _check_known(self.classes, named)
        return replace(self.holding(self.rows.among([named])), closed=True)

    def plus(self, rows: TrainingRows) -> FittedNeighbors:
        """With more rows, below those that were learned."""
        if self.closed:
            _check_known(rows.classes[0], self.classes)
        return self.holding(self.rows + rows)

    def minus(self, rows: TrainingRows) -> FittedNeighbors:
        """Without rows that were learned; of equals the last goes."""
        left = self.rows - rows
        return self.holding(left if self.closed else left.among_own())

    def merged(self, other: FittedNeighbors) -> FittedNeighbors:
        """With the rows of another model, below those of this one."""
        self.check_metric()
        self.reader.check_same(other.reader)
        if self.metric.name != other.metric.name:
            raise ValueError(
                f"Expected a model of metric {self.metric.name!r} to merge, got one of "
                f"{other.metric.name!r}."
            )
        return self.holding(self.rows + other.rows)

    def check_classes(self, classes: Any) -> None:
        """Refuse classes that are named again, and are others."""
        if not np.array_equal(np.unique(classes), self.classes):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: "
                f"{self.classes!r}"
            )

    def check_metric(self) -> None:
        """Refuse rows that come later where their distances to the others are not known."""
        if self.metric.name == "precomputed":
            raise ValueError(
                "Expected a metric that can be computed, got 'precomputed': there are no distances "
                "to other rows. Use fit() on the distances of all rows."
            )

    # ---- neighbors ----

    def queries(self, X: Any) -> tuple[Any, Integers | None]:
        """Rows to answer, and the training row that each may not meet; None: all training rows."""
        if X is None:
            return self.rows.X, np.arange(len(self.rows))
        return self.reader.read(X), None

    def nearest(self, X: Any, k: Any) -> tuple[Floats, Integers]:
        """Distances and numbers of the k nearest training rows."""
        if not isinstance(k, Integral):
            raise TypeError(f"n_neighbors does not take {type(k)} value, enter integer value")
        k = int(k)
        if k <= 0:
            raise ValueError(f"Expected n_neighbors > 0. Got {k}")
        Q, skip = self.queries(X)
        counted = len(self.rows.counted)
        if k > counted - (skip is not None):
            sign = "<=" if skip is None else "<"
            raise ValueError(
                f"Expected n_neighbors {sign} n_samples_fit, but n_neighbors = {k}, n_samples_fit "
                f"= {counted}, n_samples = {Q.shape[0]}. Ask for fewer."
            )
        return self.search.nearest(Q, k, skip)

    def neighbors(self, X: Any, some: Integers | None = None) -> Neighbors:
        """The rows that vote on each query; or on some training rows, themselves left out."""
        Q, skip = self.queries(X) if some is None else (take(self.rows.X, some), some)
        k, weight, total = self.n_neighbors, self.rows.weight, self.rows.total
        if k > total - (skip is not None and weight is None):
            counted = "" if weight is None else " by their weights, of which two are two rows,"
            sign = "<=" if skip is None else "<"
            raise ValueError(
                f"Expected n_neighbors {sign} n_samples_fit,{counted} but n_neighbors = "
                f"{k}, n_samples_fit = {total:g}, n_samples = {Q.shape[0]}. Ask for fewer."
            )
        return neighbors(self.search, Q, k, weight, skip)

    # ---- answers ----

    def posteriors(self, found: Neighbors, rule: votes.Rule) -> list[Floats]:
        """p(k | x) of each output: parts of the vote, and `smoothing` rows of the class shares.

        Calibrated if the model is.
        """
        found_proba = self.shares(found, rule)
        if self.calibrator is None:
            return found_proba
        with np.errstate(divide="ignore"):
            return [np.exp(self.calibrator.apply(np.log(p))) for p in found_proba]

    def corrected(self, kind: str, rule: votes.Rule) -> FittedNeighbors:
        """With a correction of its probabilities: some thousand rows are answered by the others."""
        if len(self.rows.classes) > 1:
            raise ValueError(
                "Expected calibrated=None where y has several columns, got "
                f"{len(self.rows.classes)} and {kind!r}. Fit a model of each."
            )
        rows = self.rows.counted
        rows = rows[np.argsort(self.rows.codes[rows, 0], kind="stable")]
        rows = rows[:: -(-len(rows) // ENOUGH)]
        weight = None if self.rows.weight is None else self.rows.weight[rows]
        with np.errstate(divide="ignore"):
            log_proba = np.log(self.shares(self.neighbors(None, rows), rule)[0])
        codes = self.rows.codes[rows, 0].astype(np.int32)
        held_out = HeldOut(log_proba, codes, self.classes, None, weight)
        return replace(self, calibrator=learned(held_out, kind))

    def shares(self, found: Neighbors, rule: votes.Rule) -> list[Floats]:
        """Parts of the vote, and `smoothing` rows of the class shares, of each output."""
        part, weight = found.votes(self.n_neighbors, rule)
        counted = part.sum(axis=1, keepdims=True)
        codes = self.rows.codes[found.rows[:, : part.shape[1]]]
        posteriors, none = [], np.empty(0)
        for output, classes in enumerate(self.rows.classes):
            ballot = votes.tally(codes[:, :, output], weight, len(classes))
            prior = self.rows.prior(output, found.skipped) if self.smoothing else none
            posteriors.append(votes.posterior(ballot, counted, prior, self.smoothing))
        return posteriors

    def strangeness(self, found: Neighbors) -> Floats:
        """The share of training rows whose last neighbor is nearer than that of the query."""
        k, total = self.n_neighbors, self.rows.total
        if k >= total:
            raise ValueError(
                f"Expected n_neighbors < n_samples_fit to compare with the training rows, got {k} "
                f"of {total:g}. Ask for fewer."
            )
        return self.search.reach(k).strangeness(found.reach(k))

    def neighborhood(self, found: Neighbors, rule: votes.Rule, output: int) -> Neighborhood:
        """The neighbors of one query, and their parts of the vote."""
        if len(found.rows) != 1:
            raise ValueError(f"Expected one row to explain, got {len(found.rows)}.")
        part, weight = found.votes(self.n_neighbors, rule)
        counted, classes = part.sum(), self.rows.classes[output]
        rows = found.rows[0, : weight.shape[1]]
        own = counted / (counted + self.smoothing)
        p = self.shares(found, rule)[output][0]
        return Neighborhood(
            answer=plain(classes[p.argmax()]),
            rows=rows,
            labels=classes[self.rows.codes[rows, output]],
            distances=found.distances[0, : weight.shape[1]],
            say=own * weight[0] / weight.sum(),
            prior_say=float(1 - own),
            posterior={plain(c): float(q) for c, q in zip(classes, p, strict=True)},
        )


def _check_known(found: Array, named: Array) -> None:
    new = np.setdiff1d(found, named)
    if len(new):
        raise ValueError(
            f"The target label(s) {new.tolist()} in y do not exist in the initial classes "
            f"{named.tolist()}. Name all classes in the first call."
        )
