"""Held-out scores, tuning and calibration from one set of sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from posterior import kernels
from posterior.data import validate
from posterior.data.errors import DegenerateError
from posterior.data.rows import Hard, Rows
from posterior.data.table import Table
from posterior.data.typing import Array, Codes, Floats
from posterior.estimators.summed import Learning, all_or_nothing
from posterior.evaluation.calibration import CALIBRATORS
from posterior.evaluation.held_out import HeldOut
from posterior.generative.dealing import by_content, in_turn
from posterior.generative.fold_sums import (
    fold_statistics,
    leave_one_out,
    models_without,
    score_held_out,
    stratified_folds,
)
from posterior.generative.joint import JointStatistics
from posterior.generative.rule import Rule

FOLDS = 10


class Validating(Learning):
    """cross_validate, leave_one_out, tune, calibrated."""

    tuned: ClassVar[Mapping[str, Sequence[Any]]] = {}
    """The parameter that `tune` chooses, and the values it tries."""

    def cross_validate(
        self, X: Any, y: Any, folds: Any = FOLDS, sample_weight: Any = None
    ) -> HeldOut:
        """Score every row by the model of the other folds, for about the price of one fit.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        folds : int, array of shape (n_samples,), or a splitter of scikit-learn
            A number deals the rows out evenly by class, in order.
        """
        other, rows = self._untouched(X, y, sample_weight)
        groups = rows.groups
        assert isinstance(groups, Hard)
        fold = folds_of(folds, X, groups.codes, groups.n_groups)
        parts = fold_statistics(rows, fold, int(fold.max()) + 1, other._sum)
        joints = models_without(parts, other._finish_held_out)
        return other._held_out(score_held_out(rows.X, fold, joints, self.engine_), rows, fold)

    def leave_one_out(self, X: Any, y: Any, sample_weight: Any = None) -> HeldOut:
        """Score every row by the model of all the others."""
        other, rows = self._untouched(X, y, sample_weight)
        statistics = other._sum(rows)
        log_joint = leave_one_out(rows, statistics, Rule(other._family(), other._log_prior))
        # where a parameter hangs on one row, that row takes the long way: subtract, estimate, score
        special = ~np.isfinite(log_joint).all(axis=1) | other._decisive(rows, statistics)
        for i in np.flatnonzero(special):
            row = rows[i : i + 1]
            joint = other._finish_held_out(statistics - other._sum(row))
            with other._names():
                log_joint[i] = joint.log_joint(row.X)
        kernels.normalize(log_joint, "log_posterior")
        return other._held_out(log_joint, rows, None)

    def _decisive(self, rows: Rows, statistics: JointStatistics[Any]) -> Array:
        """Rows without which the table would have another shape."""
        return np.zeros(len(rows), bool)

    @all_or_nothing
    def tune(
        self,
        X: Any,
        y: Any,
        folds: Any = FOLDS,
        grid: Mapping[str, Sequence[Any]] | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """Choose the smoothing by out-of-fold log loss, with no refit, and fit with it.

        Parameters
        ----------
        X, y, folds, sample_weight : as in `cross_validate`
        grid : mapping of one parameter to the values to try, optional
        """
        chosen = dict(self.tuned if grid is None else grid)
        if len(chosen) != 1 or not all(len(values) for values in chosen.values()):
            raise ValueError(
                f"Expected one parameter and values to try, got {chosen}. Pass them as grid=, "
                'such as {"alpha": [0.1, 1, 10]}.'
            )
        ((name, values),) = chosen.items()
        other, rows = self._untouched(X, y, sample_weight)
        groups = rows.groups
        assert isinstance(groups, Hard)
        fold = folds_of(folds, X, groups.codes, groups.n_groups)
        parts = fold_statistics(rows, fold, int(fold.max()) + 1, other._sum)
        results: list[HeldOut | None] = []
        reason: DegenerateError | None = None
        needs = other._family().needs()
        for value in values:
            other.set_params(**{name: value})
            if other._family().needs() != needs:
                raise ValueError(
                    f"Expected values of {name} that keep the kinds of families, which need other "
                    f"sums, got {value}."
                )
            try:
                joints = models_without(parts, other._finish_held_out)
            except DegenerateError as error:
                results.append(None)
                reason = error
                continue
            log_proba = score_held_out(rows.X, fold, joints, self.engine_)
            results.append(other._held_out(log_proba, rows, fold))
        if reason is not None and all(r is None for r in results):
            raise reason
        losses = np.array([np.inf if r is None else r.log_loss for r in results])
        best = int(np.nanargmin(losses))
        self.set_params(**{name: values[best]})
        self.fit(X, y, sample_weight=sample_weight)
        self.tuning_ = Table(
            {
                name: np.array([str(v) if not np.isscalar(v) else v for v in values]),
                "log_loss": losses,
                "standard error": np.array(
                    [np.nan if r is None else r.standard_error("log_loss") for r in results]
                ),
                "accuracy": np.array([np.nan if r is None else r.accuracy for r in results]),
                "chosen": np.where(np.arange(len(values)) == best, "<-", ""),
            }
        )
        return self

    def _untouched(self, X: Any, y: Any, sample_weight: Any) -> tuple[Self, Rows]:
        """A model of the same settings that knows the table's shape and no row, and the rows."""
        other = clone(self)
        other._validate_params()
        X, y = other._with_target(X, y)
        features = other._features(X, fitting=True, reset=True)
        other.classes_, codes = validate.labels(y, features.shape[0])
        weight = validate.weights(sample_weight, features.shape[0])
        return other, Rows(features, Hard(codes, len(other.classes_), weight))

    def _finish_held_out(self, statistics: Any) -> Any:
        return self._finish(
            type(statistics)(statistics.weight, self._forgotten(statistics.features))
        )

    def _held_out(self, log_proba: Floats, rows: Rows, folds: Codes | None) -> HeldOut:
        groups = rows.groups
        assert isinstance(groups, Hard)
        return HeldOut(log_proba, groups.codes, self.classes_, folds, groups.weight)

    def _calibrate(self, rows: Rows) -> None:
        assert self.calibrated is not None
        rows = rows.take(by_content(rows)[0])  # the order in which they came does not matter
        groups, folds = rows.hard, min(FOLDS, len(rows))
        fold = in_turn(len(rows), folds)
        parts = fold_statistics(rows, fold, folds, self._sum)
        joints = models_without(parts, self._finish_held_out)
        log_proba = score_held_out(rows.X, fold, joints, self.engine_)
        calibrator = CALIBRATORS[self.calibrated]
        self.calibrator_ = calibrator.fit(log_proba, groups.codes, groups.weight)


def folds_of(folds: Any, X: Any, codes: Codes, n_groups: int) -> Codes:
    """The fold of each row."""
    n = len(codes)
    if isinstance(folds, int | np.integer):
        if not 2 <= folds <= n:
            raise ValueError(f"Expected between 2 and {n} folds, as there are rows, got {folds}.")
        return stratified_folds(codes, int(folds))
    if hasattr(folds, "split") and not isinstance(folds, str):
        assigned = np.full(n, -1, np.int32)
        for f, (_, test) in enumerate(folds.split(np.empty((n, 0)), codes)):
            if (assigned[test] >= 0).any():
                raise ValueError("Expected every row in one fold, but the splitter repeats rows.")
            assigned[test] = f
        if (assigned < 0).any():
            raise ValueError("Expected every row in one fold, but the splitter leaves rows out.")
        return assigned
    given = np.asarray(folds)
    if given.shape != (n,):
        raise ValueError(
            f"Expected a number of folds, or one fold for each of {n} rows, got {folds!r}."
        )
    distinct, fold = np.unique(given, return_inverse=True)
    if len(distinct) < 2:
        raise ValueError("Expected two folds or more, got one.")
    return fold.astype(np.int32)
