"""What is asked of a mixture once it is fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from posterior.data import validate
from posterior.data.typing import Array, Floats
from posterior.estimators.explaining import Explaining
from posterior.estimators.mixture.select_components import total


class Answering(DensityMixin, Explaining):
    """Densities, samples and criteria of a fitted mixture."""

    weights_: Floats
    random_state: Any

    @property
    def classes_(self) -> Array:  # type: ignore[override]
        """The components, by number."""
        if "weights_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'classes_'")
        return np.arange(len(self.weights_))

    def score_samples(self, X: Any) -> Floats:
        """log p(x) of each row: the lower, the stranger."""
        return self.log_evidence(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """log p(x) of an average row."""
        log_evidence = self.log_evidence(X)
        weight = validate.weights(sample_weight, len(log_evidence))
        n = len(log_evidence) if weight is None else float(weight.sum())
        return total(weight, log_evidence) / n

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Any, Array]:
        """Rows and their components, drawn from the model, component by component."""
        check_is_fitted(self)
        if not isinstance(n_samples, int | np.integer) or n_samples < 1:
            raise ValueError(
                f"Invalid value for 'n_samples': {n_samples!r}. Expected one row or more."
            )
        random = check_random_state(self.random_state if random_state is None else random_state)
        generator = np.random.default_rng(random.randint(np.iinfo(np.int32).max))
        joint = self._joint()
        share = np.exp(joint.log_prior - np.logaddexp.reduce(joint.log_prior))
        codes = np.sort(generator.choice(len(share), size=n_samples, p=share / share.sum()))
        features = joint.family.sample(codes, joint.parameters, generator)
        return self._as_input(features), codes

    def bic(self, X: Any, sample_weight: Any = None) -> float:
        """-2 log p(X) + p log n: the less, the better (Schwarz 1978)."""
        log_likelihood, n = self._total(X, sample_weight)
        return -2 * log_likelihood + self.n_parameters_ * float(np.log(n))

    def aic(self, X: Any, sample_weight: Any = None) -> float:
        """-2 log p(X) + 2 p: the less, the better (Akaike 1974)."""
        return -2 * self._total(X, sample_weight)[0] + 2 * self.n_parameters_

    def icl(self, X: Any, sample_weight: Any = None) -> float:
        """-2 log p(X, ẑ) + p log n, where ẑ is each row's most probable component: BIC, and a
        price for rows that are undecided (Biernacki, Celeux and Govaert 2000)."""
        log_posterior = self.predict_log_proba(X).max(axis=1)
        weight = validate.weights(sample_weight, len(log_posterior))
        return self.bic(X, sample_weight) - 2 * total(weight, log_posterior)

    def _total(self, X: Any, sample_weight: Any) -> tuple[float, float]:
        """Log likelihood and number of rows."""
        log_evidence = self.log_evidence(X)
        weight = validate.weights(sample_weight, len(log_evidence))
        n = len(log_evidence) if weight is None else float(weight.sum())
        return total(weight, log_evidence), n
