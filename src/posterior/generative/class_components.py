"""Classes made of components: a label says which components a row may be of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posterior.data.rows import Features, Hard, take
from posterior.data.typing import Array, Floats
from posterior.generative.expectation import HIDDEN
from posterior.generative.kmeans.space import Fill, Sum
from posterior.generative.start import embedded, first_groups, points_of


@dataclass(frozen=True, slots=True)
class Components:
    """Components of each class, class by class.

    One among several of its class is given a row beforehand, so that it does not vanish.
    """

    sizes: tuple[int, ...]

    def __len__(self) -> int:
        return sum(self.sizes)

    @property
    def of_class(self) -> Array:
        """The class of each component, (k,)."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @property
    def allowed(self) -> Array:
        """Which components a class has, (n_classes, k)."""
        return np.arange(len(self.sizes))[:, None] == self.of_class

    @property
    def _given(self) -> Floats:
        return (np.array(self.sizes) > 1)[self.of_class].astype(np.float64)

    def class_weight(self, weight: Floats) -> Floats:
        """Weights of the classes from those of their components."""
        return np.bincount(self.of_class, weight, len(self.sizes)).astype(np.float64)

    def log_shares(self, weight: Floats) -> Floats:
        """Log shares of the components in their classes, from their weights (k,)."""
        rows = weight + self._given
        whole = self.class_weight(rows)[self.of_class]
        with np.errstate(divide="ignore"):  # a class of no weight
            return np.log(rows / np.where(whole > 0, whole, 1.0))

    def log_prior(self, log_weight: Floats) -> float:
        """Of the shares: log likelihood of the rows given beforehand."""
        with np.errstate(invalid="ignore"):  # a class of no weight
            log_shares = log_weight - self.of_classes(log_weight)[self.of_class]
        return float(self._given @ np.nan_to_num(log_shares))

    def of_classes(self, log_prob: Floats) -> Floats:
        """Log probabilities of classes from those of components (..., k)."""
        first = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        return np.logaddexp.reduceat(log_prob, first, axis=-1)

    def first(
        self, X: Features, labels: Hard, fill: Fill, sum: Sum, random: np.random.RandomState
    ) -> Hard:
        """Rows of known classes only, each class cut into as many heaps as it has components."""
        codes = np.full(len(labels.codes), HIDDEN, np.int32)
        for c, size in enumerate(self.sizes):
            mine, components = np.flatnonzero(labels.codes == c), np.flatnonzero(self.allowed[c])
            codes[mine] = components[0]
            if size > 1:
                weight = None if labels.weight is None else labels.weight[mine]
                weight = None if weight is None or weight.sum() == 0 else weight
                points = points_of(embedded(take(X, mine)), weight, fill, sum)
                heaps = first_groups("k-means++", points, size, random)
                assert isinstance(heaps, Hard)
                codes[mine] = components[heaps.codes]
        return Hard(codes, len(self), labels.weight)
