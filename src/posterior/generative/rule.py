"""Rules: how sums of labeled rows become a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from posterior.data import validate
from posterior.data.rows import Features, Rows
from posterior.data.typing import Array, Floats
from posterior.data.validate import in_order
from posterior.families.family import AnyFamily, Intervals
from posterior.generative.joint import Joint, JointStatistics, labeling
from posterior.readers.reader import Reader
from posterior.sources.remote_rows import RemoteRows
from posterior.statistics.algebra import Addable

S = TypeVar("S", bound=Addable)


class Worker(Protocol):
    """What is needed of an engine."""

    def sum(self, function: Callable[[Rows], S], rows: Rows | RemoteRows) -> S: ...

    def fill(
        self, function: Callable[[Features, slice, Floats], None], X: Features, out: Floats
    ) -> None: ...


@dataclass(frozen=True, slots=True, eq=False)
class CheckedSum:
    """The sum of rows in memory; an error says where in the whole table a bad cell stands."""

    function: Callable[[Rows], Any]
    reader: Reader
    engine: Worker

    def __call__(self, rows: Rows) -> Any:
        try:
            return self.engine.sum(self.function, rows)
        except ValueError:
            self.reader.check(rows.X, 0, fitting=True)
            raise


@dataclass(frozen=True, slots=True, eq=False)
class ClassPrior:
    """Class probabilities: as given, all alike, or as the weights of the classes say."""

    given: Any = None  # in the order of the classes, or by their names
    classes: Array | None = None
    alike: bool = False

    def __call__(self, weight: Floats) -> Floats:
        """Log probabilities from weights (..., k)."""
        with np.errstate(divide="ignore"):
            if self.given is not None:
                n_classes = weight.shape[-1]
                p = validate.priors(in_order(self.given, self.classes, "priors"), range(n_classes))
                return np.broadcast_to(np.log(p), weight.shape).astype(np.float64)
            if self.alike:
                return np.broadcast_to(-np.log(weight.shape[-1]), weight.shape).astype(np.float64)
            return np.log(weight) - np.log(weight.sum(axis=-1, keepdims=True))


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """A family of features, and where class probabilities come from: all that a sum leaves open."""

    family: AnyFamily
    prior: Callable[[Floats], Floats]  # log class probabilities from weights (..., k)

    def summing(self, reader: Reader) -> Callable[[Rows], JointStatistics[Any]]:
        """What an engine adds up: the sums of rows, whose cells are looked at on the way."""
        return labeling(self.family, reader)

    def compacted(self, statistics: JointStatistics[Any]) -> JointStatistics[Any]:
        """The sums as they are kept."""
        return statistics.compact()

    def estimate(self, statistics: JointStatistics[Any]) -> Joint[Any, Any]:
        """From sums to a model: no row is needed any more."""
        prior = self.prior(statistics.weight.rounded())
        return Joint(self.family, prior, self.family.estimate(statistics.features))

    def derive(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> Any:
        """What else users find on the fitted model, and is not in its parameters."""
        return None

    def answering(self, reader: Reader, statistics: JointStatistics[Any]) -> Reader:
        """How rows to answer are read, where that depends on the sums."""
        return reader

    def kept(self, features: Any) -> Any:
        """Sums of features after rows were taken back, without what only those rows had."""
        return features.seen()

    def decisive(self, rows: Rows, statistics: JointStatistics[Any]) -> Array:
        """Rows without which the table would have another shape."""
        return np.zeros(len(rows), bool)

    def n_shares(self, n_groups: int) -> int:
        """Probabilities of groups that the data determine."""
        return n_groups - 1

    def intervals(self, joint: Joint[Any, Any], features: Any, level: float) -> Intervals:
        """Each parameter of the groups with its credible interval."""
        return joint.family.intervals(features, joint.parameters, level)

    def check_same(self, other: Rule) -> None:
        """Refuse to merge what was summed by another rule."""
