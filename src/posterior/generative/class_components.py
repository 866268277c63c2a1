"""Classes made of components: a label says which components a row may be of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from posterior import kernels
from posterior.data.rows import HIDDEN, Features, Hard, take
from posterior.data.typing import Array, Floats
from posterior.evaluation.calibration import Calibrator
from posterior.generative.fitted import Fitted
from posterior.generative.kmeans.space import Fill, Sum
from posterior.generative.rule import Rule, Worker
from posterior.generative.start import embedded, first_groups, points_of
from posterior.readers.labels import Labels


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

    def rule(self, of_classes: Rule) -> Rule:
        """How sums of components become a model, from the rule of whole classes."""
        return replace(of_classes, prior=ComponentPrior(of_classes.prior, self))

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


@dataclass(frozen=True, slots=True, eq=False)
class ComponentPrior:
    """Log probabilities of components: those of their classes, and their shares in them."""

    of_classes: Callable[[Floats], Floats]
    components: Components

    def __call__(self, weight: Floats) -> Floats:
        log_prior = self.of_classes(self.components.class_weight(weight))
        return log_prior[self.components.of_class] + self.components.log_shares(weight)


@dataclass(frozen=True, slots=True, eq=False)
class FittedComponents:
    """Classes that are mixtures: a fitted model of the components, and the class of each."""

    labels: Labels
    components: Components
    fitted: Fitted  # of the components, by number; how EM went is in its `derived`
    calibrator: Calibrator | None = None

    @property
    def component_class(self) -> Array:
        """The class of each component, (k,)."""
        return np.asarray(self.labels.classes[self.components.of_class])

    def scored(self, X: Any, engine: Worker) -> tuple[Floats, Floats]:
        """log p(k | x) of all components (n, k), and log p(x)."""
        scores = self.fitted.scored(X, None, engine)
        log_evidence = np.empty(len(scores))
        kernels.normalize(scores, "log_posterior", log_evidence)
        return scores, log_evidence

    def log_posterior(self, X: Any, engine: Worker) -> Floats:
        """log p(y | x) of the classes, calibrated if the model is."""
        log_proba = self.components.of_classes(self.scored(X, engine)[0])
        return log_proba if self.calibrator is None else self.calibrator.apply(log_proba)
