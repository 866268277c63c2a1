"""From rows to posteriors and answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, column_or_1d

from posterior import kernels
from posterior.data import validate
from posterior.data.typing import Array, Floats
from posterior.estimators.hooks import Hooks
from posterior.generative.joint import Joint


class Predicting(Hooks):
    """predict, predict_proba and their kin."""

    def _scored(self, X: Any, wanted: str | None, joint: Joint[Any, Any] | None = None) -> Floats:
        """log p(x, k), or what `normalize` makes of it, chunk by chunk.

        "contrast" is log p(x, k) up to a term that all classes share.
        """
        check_is_fitted(self)
        features = self._features(X, fitting=False, reset=False)
        joint = joint or self._joint()
        evidence = wanted == "log_evidence"
        with self._names():
            scorer = joint.scorer() if wanted is None or evidence else joint.discriminant()
        out = np.empty((features.shape[0], 1 if evidence else len(joint.log_prior)))

        def score(chunk: Any, rows: slice, part: Floats) -> None:
            self._check_chunk(chunk, rows.start, fitting=False)
            if evidence:
                log_joint = np.empty((len(part), len(joint.log_prior)))
                scorer(chunk, log_joint)
                self._check_scores(log_joint, chunk, rows.start)
                _check_numbers(log_joint, rows.start)
                kernels.normalize(log_joint, "log_evidence", part)
                return
            scorer(chunk, part)
            self._check_scores(part, chunk, rows.start)
            _check_numbers(part, rows.start)
            if wanted not in (None, "contrast"):
                kernels.normalize(part, wanted)

        self.engine_.fill(score, features, out)
        return out

    def _with_priors(self, priors: Any) -> Joint[Any, Any]:
        joint = self._joint()
        if priors is None:
            return joint
        with np.errstate(divide="ignore"):
            log_prior = np.log(validate.priors(priors, self.classes_))
        return Joint(joint.family, log_prior, joint.parameters)

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """log p(x, k) of each row and class."""
        return self._scored(X, None)

    def predict_log_proba(self, X: Any, *, priors: Any = None) -> Floats:
        """log p(k | x); `priors` are class probabilities other than the learned ones."""
        check_is_fitted(self)
        calibrator = getattr(self, "calibrator_", None)
        if calibrator is None:
            return self._scored(X, "log_posterior", self._with_priors(priors))
        log_proba = calibrator.apply(self._scored(X, "log_posterior"))
        if priors is not None:
            log_proba += self._with_priors(priors).log_prior - self._joint().log_prior
            kernels.normalize(log_proba, "log_posterior")
        return np.asarray(log_proba)

    def predict_proba(self, X: Any, *, priors: Any = None) -> Floats:
        """p(k | x); `priors` are class probabilities other than the learned ones."""
        check_is_fitted(self)
        if getattr(self, "calibrator_", None) is None:
            return self._scored(X, "posterior", self._with_priors(priors))
        return np.exp(self.predict_log_proba(X, priors=priors))

    def predict(
        self, X: Any, *, priors: Any = None, costs: Any = None, reject: float | None = None
    ) -> Array:
        """The most probable class of each row.

        Parameters
        ----------
        X : array, sparse matrix or frame
        priors : array of shape (n_classes,) or dict by class, optional
            Class probabilities other than the learned ones.
        costs : array of shape (n_classes, n_classes) or dict of dicts by class, optional
            costs[i][j] is the price of answering class j when it is class i; the answer is the
            one of least expected cost.
        reject : float, optional
            Leave rows unanswered (masked) whose answer is less probable than this.
        """
        check_is_fitted(self)
        plain = costs is None and reject is None
        if plain and getattr(self, "calibrator_", None) is None:
            log_joint = self._scored(X, "contrast", self._with_priors(priors))
            return self.classes_[log_joint.argmax(axis=1)]
        proba = self.predict_proba(X, priors=priors)
        codes = proba.argmax(axis=1)
        if costs is not None:
            codes = (proba @ validate.costs(costs, self.classes_)).argmin(axis=1)
        answer = self.classes_[codes]
        if reject is None:
            return answer
        unsure = proba[np.arange(len(proba)), codes] < reject
        return np.ma.masked_array(answer, mask=unsure)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows that are predicted correctly."""
        X, y = self._with_target(X, y)
        answer = self.predict(X)
        truth = column_or_1d(y)
        if len(truth) != len(answer):
            raise ValueError(
                "Found input variables with inconsistent numbers of samples: "
                f"X has {len(answer)} rows, y has {len(truth)}."
            )
        weight = validate.weights(sample_weight, len(answer))
        return float(np.average(answer == truth, weights=weight))

    def log_evidence(self, X: Any) -> Floats:
        """log p(x): the lower, the stranger the row."""
        return self._scored(X, "log_evidence")[:, 0]


def _check_numbers(scores: Floats, first_row: int) -> None:
    """Refuse rows whose cells, finite themselves, have squares or products that are not."""
    with np.errstate(invalid="ignore", over="ignore"):
        usual = scores.sum() < np.inf
    if not usual and (strange := ~(scores < np.inf).all(axis=1)).any():
        raise ValueError(
            "Expected cells that can be squared and added up, got larger ones, first in row "
            f"{first_row + int(np.argmax(strange))}. Scale the columns down."
        )
