"""How every mixture learns: EM over hidden groups, from several starts."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, Self, cast

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from posterior.data import validate
from posterior.data.errors import DegenerateError, DegenerateWarning, NotFiniteError
from posterior.data.rows import Features, Groups, Hard, Rows
from posterior.data.table import Table
from posterior.data.typing import Array, Floats
from posterior.engines.locate import locate
from posterior.estimators.checkpoint import (
    FilePath,
    checkpointed,
    random_of,
    refuse_in_memory,
)
from posterior.estimators.elsewhere import refuse_elsewhere, weights_of
from posterior.estimators.mixture.collapse import Collapse
from posterior.estimators.mixture.density import Answering
from posterior.estimators.mixture.em_progress import Progress
from posterior.estimators.mixture.labels import in_one
from posterior.estimators.mixture.remote_mixture import hidden_rows
from posterior.estimators.mixture.select_components import compared, numbers_of, refuse_held_out
from posterior.estimators.mixture.starts import best_of
from posterior.estimators.summed import all_or_nothing
from posterior.generative.em import Ascent, Hidden, Stop, climb, leap
from posterior.generative.expectation import HIDDEN, expectation
from posterior.generative.joint import Joint, JointStatistics, labeling
from posterior.generative.start import Start, embedded, first_groups, points_of
from posterior.sources.remote_rows import RemoteRows

VANISHED = 1e-3  # average rows: a component of fewer is gone


class MixtureModel(Answering):
    """p(x) = Σ_k π_k p(x | θ_k), the groups k hidden."""

    n_components: Any
    criterion: str
    prior_rows: float | None
    tol: float
    max_iter: int
    n_init: int
    init_params: Any
    random_state: Any
    accelerate: bool
    verbose: int
    verbose_interval: int
    warm_start: bool
    weights_: Floats

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        checkpoint: FilePath | None = None,
    ) -> Self:
        """Learn the components by EM, from `n_init` starts, of which the best is kept.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features), or a table elsewhere
            Missing cells are NaN or None. Files (a path, a pattern, a list of paths), a query, or
            a frame of Dask or Spark are read in batches, once for each step of EM; starts are
            found in a sample of 100,000 rows.
        y : ignored
        sample_weight : array of shape (n_samples,), or of a table elsewhere the name of a column
        checkpoint : path, optional
            Where the fit of a table elsewhere writes down what it has summed. Killed and started
            again, it goes on from there to the same model.
        """
        self._learn(X, sample_weight, checkpoint)
        return self

    @all_or_nothing
    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Learn the components, and the most probable one of each row."""
        refuse_elsewhere(X, "fit_predict")
        self._learn(X, sample_weight)
        return self.predict(X)

    def _learn(self, X: Any, sample_weight: Any, checkpoint: FilePath | None = None) -> None:
        self._validate_params()
        where = locate(X)
        if where is None:
            refuse_in_memory(checkpoint)
            rows = self._rows(X, sample_weight, reset=True)
            self._climb(rows, check_random_state(self.random_state))
            return
        refuse_held_out(self)
        engine, source = where
        weight = weights_of(source, sample_weight)
        with checkpointed(self, engine, source, checkpoint, sample_weight=weight) as engine:
            away = hidden_rows(self, engine, source, weight)
            self._climb(away, random_of(self.random_state, engine))

    def _climb(self, rows: Rows | RemoteRows, random: np.random.RandomState) -> None:
        """The best of all starts and numbers of components."""
        numbers = self._numbers(len(rows))
        trials: list[tuple[Ascent[Any, Any], Table]] = []
        for k in numbers:
            try:
                trials.append(self._best(rows, k, random))
            except DegenerateError:
                if k == numbers[-1] and not trials:
                    raise
                _warn_of_collapse(k)
        best = 0
        if len(numbers) > 1:
            ascents = [ascent for ascent, _ in trials]
            self.selection_, best = compared(self, rows, ascents, random)
        ascent, self.starts_ = trials[best]
        self._accept(ascent, len(rows))

    def _rows(self, X: Any, sample_weight: Any, reset: bool) -> Rows:
        """Validated rows, all of hidden groups."""
        features = self._features(X, fitting=True, reset=reset)
        n = features.shape[0]
        if n < 2 and reset:
            raise ValueError(
                f"Found array with {n} sample(s) (shape={features.shape}) while a minimum of 2 is "
                f"required by {type(self).__name__}."
            )
        self._check_cells(features, 0, fitting=True)
        weight = validate.weights(sample_weight, n)
        return Rows(features, Hard(np.full(n, HIDDEN, np.int32), 1, weight))

    def _numbers(self, n_rows: int) -> list[int]:
        """How many components to try."""
        numbers = numbers_of(self.n_components, n_rows)
        if max(numbers) > n_rows:
            raise ValueError(
                f"Expected n_samples >= n_components but got n_components = {max(numbers)}, "
                f"n_samples = {n_rows}"
            )
        return numbers

    def _best(
        self, rows: Rows | RemoteRows, k: int, random: np.random.RandomState
    ) -> tuple[Ascent[Any, Any], Table]:
        """The best of n_init ascents, or one that goes on where the last fit ended; and all."""
        again = self.warm_start and hasattr(self, "converged_") and len(self.weights_) == k
        hidden = self._hidden(rows, k)
        progress = Progress(self.verbose, self.verbose_interval, self.max_iter)

        def climbed(start: int) -> Ascent[Any, Any]:
            progress.begin(start)
            before = self.lower_bound_ if again else -np.inf
            joint = self._joint() if again else self._first(rows.sample, k, hidden, random)
            return self._ascend(hidden, joint, progress, before)

        n_starts = 1 if again else self.n_init
        best, starts = best_of(n_starts, climbed, lambda: progress.step, self._feature_names())
        progress.end(best.reason, best.value)
        return best, starts

    def _hidden(self, rows: Rows | RemoteRows, k: int) -> Hidden[Any, Any]:
        family = self._family()
        rows, pool = rows.map(partial(_among, n_groups=k)), rows.map(in_one)
        pooled = self._checked(lambda: self.engine_.sum(labeling(family), pool), rows.sample.X)

        def maximize(sums: JointStatistics[Any], before: Joint[Any, Any] | None) -> Joint[Any, Any]:
            if before is None and isinstance(rows, RemoteRows) and not rows.complete:
                # with room for values that the rows of the first guess do not have
                sums = sums + pooled.placed(np.zeros(1, np.int64), k) * 0
            log_prior = self._log_prior(sums.weight.rounded())
            parameters = None if before is None else before.parameters
            better = family.improve(sums.features, pooled.features, parameters)
            return Joint(family, log_prior, better)

        def log_prior(joint: Joint[Any, Any]) -> float:
            m = self.prior_rows or 0.0
            shares = m * float(joint.log_prior.sum()) if m else 0.0
            return shares + family.log_prior(joint.parameters, pooled.features)

        return Hidden(
            expect=lambda joint: self.engine_.sum(expectation(joint), rows),
            maximize=maximize,
            log_prior=log_prior,
            weight=float(pooled.weight.rounded()[0]),
            keeps_rows=pooled.features.keeps_rows(),
        )

    def _checked(self, call: Any, X: Any) -> Any:
        """Sums of rows; what they could not add is looked for in the table."""
        try:
            return call()
        except NotFiniteError:
            self._check_cells(X, 0, fitting=True)
            raise ValueError(
                "Expected cells whose squares are finite numbers, got larger ones. Rescale the "
                "columns."
            ) from None

    def _ascend(
        self, hidden: Hidden[Any, Any], joint: Joint[Any, Any], progress: Progress, before: float
    ) -> Ascent[Any, Any]:
        if self.max_iter == 0:
            return Ascent(joint, hidden.expect(joint).statistics, (), "max_iter")
        # rows that are kept as they are would be kept three times a stride
        way = leap if self.accelerate and not hidden.keeps_rows else climb
        with self._collapse():
            ascent = way(hidden, joint, Stop(self.max_iter, self.tol), progress, before)
            ascent.joint.scorer()  # refuses parameters that the last step left open
        return ascent

    def _first(
        self, rows: Rows, k: int, hidden: Hidden[Any, Any], random: np.random.RandomState
    ) -> Joint[Any, Any]:
        """The model of a first guess."""
        groups = self._first_groups(rows, k, random)
        first = Rows(rows.X, groups)
        sums = self.engine_.sum(labeling(self._family()), first)
        with self._collapse():
            joint = hidden.maximize(sums, None)
            joint.scorer()  # refuses parameters that the rows leave open
        return joint

    def _first_groups(self, rows: Rows, k: int, random: np.random.RandomState) -> Groups:
        weight = rows.hard.weight
        if not isinstance(self.init_params, str):
            return validate.responsibilities(self.init_params, len(rows), k, weight)
        points = points_of(self._points(rows.X), weight, self.engine_.fill, self.engine_.sum)
        return first_groups(cast(Start, self.init_params), points, k, random)

    def _points(self, X: Features) -> Any:
        """Rows as k-means sees them."""
        return embedded(X)

    def _log_prior(self, weight: Floats) -> Floats:
        """Shares of the components; pseudo-rows are rows of theirs."""
        rows = weight + (self.prior_rows or 0.0)
        with np.errstate(divide="ignore"):
            return np.log(rows / rows.sum())

    def _collapse(self) -> Collapse:
        return Collapse(self._feature_names(), self._remedy())

    def _remedy(self) -> str:
        return "prior_rows"

    def _accept(self, ascent: Ascent[Any, Any], n_rows: int) -> None:
        self.statistics_ = ascent.statistics.compact()
        self.weights_ = np.exp(ascent.joint.log_prior)
        self.weights_ /= self.weights_.sum()
        self.n_components_ = len(self.weights_)
        self.converged_ = ascent.reason == "converged"
        self.n_iter_, self.lower_bounds_ = len(ascent.trace), list(ascent.trace)
        self.lower_bound_ = ascent.value
        self.__dict__.update(self._learned(ascent.joint, self.statistics_))
        if not self.converged_ and self.max_iter > 0:
            change = np.diff(ascent.trace)[-1] if len(ascent.trace) > 1 else np.inf
            warnings.warn(
                "Best performing initialization did not converge. Try different init parameters, "
                "or increase max_iter, tol, or check for degenerate data. The last step changed "
                f"the objective by {change:.2g} a row, tol is {self.tol:g}.",
                ConvergenceWarning,
                stacklevel=5,
            )
        weight = self.statistics_.weight.rounded()
        gone = np.flatnonzero(weight < VANISHED * weight.sum() / n_rows)
        if len(gone):
            warnings.warn(
                f"Component(s) {', '.join(map(str, gone))} vanished: no row belongs to them. Ask "
                f"for {self.n_components_ - len(gone)} components, or for more starts (n_init).",
                DegenerateWarning,
                stacklevel=5,
            )


def _warn_of_collapse(k: int) -> None:
    warnings.warn(
        f"Every start of {k} components collapsed: they are not among those compared in "
        "selection_.",
        DegenerateWarning,
        stacklevel=6,
    )


def _among(rows: Rows, n_groups: int) -> Rows:
    """The same rows, hidden among so many groups."""
    return Rows(rows.X, Hard(rows.hard.codes, n_groups, rows.hard.weight))
