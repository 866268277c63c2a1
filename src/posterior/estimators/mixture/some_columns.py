"""A normal mixture of some columns, given others or without them: methods of GaussianMixture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from posterior.data.table_columns import Columns
from posterior.data.typing import Array, Floats
from posterior.families.covariance import whitenings
from posterior.families.normal_density import MultivariateGaussianParameters
from posterior.generative import conditional_normal
from posterior.generative import normal_mixture as normal
from posterior.generative.fitted import Fitted
from posterior.generative.joint import Joint
from posterior.statistics.incomplete_rows import patterns


def marginal(self: Any, columns: Sequence[Any]) -> Any:
    """The mixture of some columns, by name or position, the others integrated out."""
    fitted = self.settled()
    places = np.array([_place(self, c) for c in columns], np.intp)
    if len(places) == 0:
        raise ValueError("Expected one column or more, got none.")
    covariance = _full_covariances(self)[:, places][:, :, places]
    means = fitted.model.parameters.mean[:, places]
    return _part(self, fitted.model.log_prior, means, covariance, places)


def conditional(self: Any, given: Mapping[Any, float]) -> Any:
    """The mixture of the other columns, given values of some, by name or position."""
    fitted = self.settled()
    row = np.full(fitted.reader.columns.n, np.nan)
    for column, value in given.items():
        row[_place(self, column)] = value
    observed = ~np.isnan(row)
    if observed.all() or not observed.any():
        raise ValueError(
            f"Expected values of some columns, not of none or all {len(row)}, got {dict(given)}."
        )
    components = zip(fitted.model.parameters.mean, _full_covariances(self), strict=True)
    parts = [conditional_normal.Regression.of(mu, sigma, observed) for mu, sigma in components]
    means = np.stack([part.expected(row[observed][None])[0] for part in parts])
    covariance = np.stack([part.covariance for part in parts])
    log_shares = _log_shares(fitted, row[None])[0]
    return _part(self, log_shares, means, covariance, np.flatnonzero(~observed))


def impute(self: Any, X: Any, draw: bool = False, random_state: Any = None) -> Floats:
    """Rows with their missing cells filled in: by expectation, or drawn from the mixture."""
    fitted = self.settled()
    filled = np.array(fitted.reader.read(X), np.float64)
    fitted.reader.check(filled)
    random = None
    if draw:
        chosen = self.random_state if random_state is None else random_state
        random = np.random.default_rng(check_random_state(chosen).randint(2**31 - 1))
    means, covariance = fitted.model.parameters.mean, _full_covariances(self)
    for observed, rows in list(patterns(filled)):
        if not observed.all():
            cells = filled[np.ix_(rows, np.flatnonzero(observed))]
            R = np.exp(_log_shares(fitted, filled[rows]))
            new = conditional_normal.impute(cells, R, means, covariance, observed, random)
            filled[np.ix_(rows, np.flatnonzero(~observed))] = new
    return filled


def _full_covariances(self: Any) -> Floats:
    """(k, d, d), whatever the kind."""
    return normal.full_covariances(self.fitted_.model, self.fitted_.reader.names)


def _place(self: Any, column: Any) -> int:
    names = self.fitted_.reader.names.tolist()
    if column in names:
        return int(names.index(column))
    if isinstance(column, int | np.integer) and -len(names) <= column < len(names):
        return int(column) % len(names)
    raise ValueError(f"Expected one of the columns {names}, got {column!r}.")


def _part(self: Any, log_shares: Floats, means: Floats, covariance: Floats, places: Array) -> Any:
    part = type(self)(len(means), random_state=self.random_state)
    known = self.fitted_.reader.columns
    names = None if known.names is None else tuple(known.names[j] for j in places)
    reader = part.reader().of(Columns(type(part).__name__, len(places), names))
    whitening = whitenings(covariance, None)
    parameters = MultivariateGaussianParameters(means, covariance, whitening)
    rule, steps = part.rule(reader), self.fitted_.derived
    steps = None if steps is None else replace(steps, starts=None, selection=None)
    joint = Joint(rule.family, log_shares, parameters)
    part.fitted_ = Fitted(reader, self.fitted_.labels, rule, None, joint, steps)
    return part


def _log_shares(fitted: Fitted, rows: Floats) -> Floats:
    """log p(k | the observed cells)."""
    log_joint = fitted.model.log_joint(rows)
    return np.asarray(log_joint - np.logaddexp.reduce(log_joint, axis=1, keepdims=True))
