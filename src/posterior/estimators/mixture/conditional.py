"""Parts of a normal mixture: some columns, some given others, and cells filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from posterior.data.typing import Array, Floats
from posterior.estimators.mixture.mixture_stream import StreamingMixture
from posterior.families.covariance import whitenings
from posterior.generative.conditional_normal import Regression, impute
from posterior.statistics.incomplete_rows import patterns

if TYPE_CHECKING:
    from posterior.estimators.mixture.gaussian_mixture import GaussianMixture


class Conditioning(StreamingMixture):
    """marginal, conditional, impute."""

    means_: Floats

    def _full_covariances(self) -> Floats:
        """(k, d, d), whatever the kind."""
        raise NotImplementedError

    def marginal(self, columns: Sequence[Any]) -> GaussianMixture:
        """The mixture of some columns, by name or position, the others integrated out."""
        check_is_fitted(self)
        places = np.array([self._place(c) for c in columns], np.intp)
        if len(places) == 0:
            raise ValueError("Expected one column or more, got none.")
        covariance = self._full_covariances()[:, places][:, :, places]
        return self._part(self.weights_, self.means_[:, places], covariance, places)

    def conditional(self, given: Mapping[Any, float]) -> GaussianMixture:
        """The mixture of the other columns, given values of some, by name or position."""
        check_is_fitted(self)
        row = np.full(self.n_features_in_, np.nan)
        for column, value in given.items():
            row[self._place(column)] = value
        observed = ~np.isnan(row)
        if observed.all() or not observed.any():
            raise ValueError(
                f"Expected values of some columns, not of none or all {len(row)}, got "
                f"{dict(given)}."
            )
        parts = [
            Regression.of(mu, sigma, observed)
            for mu, sigma in zip(self.means_, self._full_covariances(), strict=True)
        ]
        means = np.stack([part.expected(row[observed][None])[0] for part in parts])
        covariance = np.stack([part.covariance for part in parts])
        return self._part(self._shares(row[None])[0], means, covariance, np.flatnonzero(~observed))

    def impute(self, X: Any, draw: bool = False, random_state: Any = None) -> Floats:
        """Rows with their missing cells filled in: by expectation, or drawn from the mixture."""
        check_is_fitted(self)
        filled = np.array(self._features(X, fitting=False, reset=False), np.float64)
        self._check_cells(filled, 0, fitting=False)
        random = None
        if draw:
            chosen = self.random_state if random_state is None else random_state
            random = np.random.default_rng(check_random_state(chosen).randint(2**31 - 1))
        covariance = self._full_covariances()
        for observed, rows in list(patterns(filled)):
            if not observed.all():
                cells = filled[np.ix_(rows, np.flatnonzero(observed))]
                R = self._shares(filled[rows])
                new = impute(cells, R, self.means_, covariance, observed, random)
                filled[np.ix_(rows, np.flatnonzero(~observed))] = new
        return filled

    def _shares(self, rows: Floats) -> Floats:
        """p(k | the observed cells)."""
        log_joint = self._joint().log_joint(rows)
        return np.exp(log_joint - np.logaddexp.reduce(log_joint, axis=1, keepdims=True))

    def _place(self, column: Any) -> int:
        names = self._feature_names().tolist()
        if column in names:
            return names.index(column)
        if isinstance(column, int | np.integer) and -len(names) <= column < len(names):
            return int(column) % len(names)
        raise ValueError(f"Expected one of the columns {names}, got {column!r}.")

    def _part(
        self, weights: Floats, means: Floats, covariance: Floats, places: Array
    ) -> GaussianMixture:
        from posterior.estimators.mixture.gaussian_mixture import GaussianMixture

        part = GaussianMixture(len(weights), random_state=self.random_state)
        roots = np.stack([w.matrix for w in whitenings(covariance, None)])
        part.n_features_in_ = len(places)
        if hasattr(self, "feature_names_in_"):
            part.feature_names_in_ = np.asarray(self.feature_names_in_)[places]
        part.weights_, part.means_, part.covariances_ = weights, means, covariance
        part.precisions_, part.precisions_cholesky_ = roots @ roots.swapaxes(1, 2), roots
        for name in ("converged_", "n_iter_", "lower_bound_", "lower_bounds_"):
            setattr(part, name, getattr(self, name))
        return part
