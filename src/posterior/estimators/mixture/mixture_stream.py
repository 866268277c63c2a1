"""Mixtures that learn chunk by chunk, and from parts."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from posterior.estimators.hooks import check_same_features
from posterior.estimators.mixture.mixture_base import MixtureModel
from posterior.estimators.summed import all_or_nothing
from posterior.generative.expectation import expectation
from posterior.generative.joint import Joint

FRESH = 0.7  # power of a chunk's share: below one, since early chunks were summed by worse models


class StreamingMixture(MixtureModel):
    """partial_fit, merge."""

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """A step of EM on more rows, which then weigh as a part of all so far (stepwise EM, Cappé
        and Moulines 2009). The first call is `fit`; it should bring rows of every component.

        It is approximate: rows of earlier calls keep the components that they were given then, and
        later chunks weigh more than their share. So chunks should be mixed: of rows that are sorted
        the last are remembered best. One component alone is that of `fit` on all rows.
        """
        if not hasattr(self, "weights_"):
            return self.fit(X, sample_weight=sample_weight)
        self._validate_params()
        rows = self._rows(X, sample_weight, reset=False)
        family, joint = self._family(), self._joint()
        expected = self._checked(lambda: self.engine_.sum(expectation(joint), rows), rows.X)
        more, so_far = expected.statistics, self.statistics_
        old, new = (float(s.weight.sum().rounded()) for s in (so_far, more))
        total = old + new
        alone = len(self.weights_) == 1  # nothing was hidden from earlier chunks
        share = (new / total) ** (1.0 if alone else FRESH)
        sums = so_far * ((1 - share) * total / old) + more * (share * total / new)
        with self._collapse():
            parameters = family.improve(sums.features, sums.features.pooled(), joint.parameters)
            joint = Joint(family, self._log_prior(sums.weight.rounded()), parameters)
            joint.scorer()
        value = expected.log_likelihood / new
        trace = (*self.lower_bounds_, value)
        self.statistics_ = sums.compact()
        self.weights_ = np.exp(joint.log_prior)
        self.lower_bounds_, self.lower_bound_ = list(trace), value
        self.__dict__.update(self._learned(joint, self.statistics_))
        return self

    @all_or_nothing
    def merge(self, other: Self) -> Self:
        """Add what another model of the same components has learned from other rows.

        Component k of one must be component k of the other: models that began from the same
        start, or from copies of one model.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        if type(other) is not type(self) or len(other.weights_) != len(self.weights_):
            raise ValueError(
                f"Expected another {type(self).__name__} of {len(self.weights_)} components to "
                f"merge, got a {type(other).__name__}"
                + (f" of {len(other.weights_)}." if hasattr(other, "weights_") else ".")
            )
        check_same_features(self, other)
        family, sums = self._family(), self.statistics_ + other.statistics_
        with self._collapse():
            parameters = family.estimate(sums.features)
            joint = Joint(family, self._log_prior(sums.weight.rounded()), parameters)
        self.statistics_, self.weights_ = sums.compact(), np.exp(joint.log_prior)
        self.__dict__.update(self._learned(joint, self.statistics_))
        return self
