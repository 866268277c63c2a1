"""Multinomial naive Bayes and its complement."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from posterior.data.rows import SparseRows
from posterior.data.typing import Floats
from posterior.estimators.naive_bayes.discrete_nb import DiscreteNB
from posterior.families import Complement, Laplace, Multinomial
from posterior.families.family import AnyFamily
from posterior.families.multinomial import MultinomialParameters
from posterior.generative.joint import Joint, JointStatistics


class MultinomialNB(DiscreteNB):
    """Counts of words: each is a draw from the urn of the class.

    Parameters
    ----------
    alpha : float or array of shape (n_features,), default=1.0
        Pseudo-counts of every word (Laplace, Lidstone).
    force_alpha : bool, default=True
        Take alpha as it is; if False, at least 1e-10.
    fit_prior : bool, default=True
        Learn class probabilities; if False, all classes are alike.
    class_prior : array of shape (n_classes,) or dict by class, optional
        Class probabilities, instead of learned ones.
    calibrated : {"temperature", "isotonic"}, optional
        Correct the probabilities by out-of-fold scores, which cost no refit.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : arrays of shape (n_classes,)
    feature_count_, feature_log_prob_ : arrays of shape (n_classes, n_features)

    Examples
    --------
    >>> from posterior import MultinomialNB
    >>> model = MultinomialNB().fit([[3, 0, 1], [0, 2, 1]], ["spam", "ham"])
    >>> model.predict([[1, 0, 0]])
    array(['spam'], dtype='<U4')
    """

    accepts_missing = False
    accepts_negative = False

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        calibrated: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.calibrated = calibrated

    def _check_chunk(self, X: Any, first_row: int, fitting: bool) -> None:
        if not isinstance(X, SparseRows):  # those are looked at when they are summed or scored
            self._check_cells(X, first_row, fitting)

    def _check_scores(self, scores: Floats, X: Any, first_row: int) -> None:
        """An entry of a sparse row that is no number makes a score that is none."""
        if not np.isfinite(scores.sum()):
            self._check_cells(X, first_row, fitting=False)

    def _family(self) -> AnyFamily:
        return Multinomial(Laplace(self._check_alpha()))

    def _learned(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> dict[str, Any]:
        return {
            "class_count_": statistics.weight.rounded(),
            "class_log_prior_": joint.log_prior,
            "feature_count_": statistics.features.total.rounded(),
            "feature_log_prob_": joint.parameters.log_prob,
        }

    def _joint(self) -> Joint[Any, Any]:
        parameters = MultinomialParameters(np.asarray(self.feature_log_prob_))
        return Joint(Multinomial(), np.asarray(self.class_log_prior_), parameters)


class ComplementNB(MultinomialNB):
    """Words weigh against a class as they occur outside it (Rennie et al. 2003).

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior, calibrated : as in `MultinomialNB`
        Class probabilities play no part unless there is one class.
    norm : bool, default=False
        Scale the weights of each class to a sum of one.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : arrays of shape (n_classes,)
    feature_count_, feature_log_prob_ : arrays of shape (n_classes, n_features)
        Counts, and weights of words.
    feature_all_ : array of shape (n_features,)

    Examples
    --------
    >>> from posterior import ComplementNB
    >>> ComplementNB().fit([[3, 0, 1], [0, 2, 1]], ["spam", "ham"]).predict([[1, 0, 0]])
    array(['spam'], dtype='<U4')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **DiscreteNB._parameter_constraints,
        "norm": ["boolean"],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
        calibrated: str | None = None,
    ) -> None:
        super().__init__(
            alpha=alpha,
            force_alpha=force_alpha,
            fit_prior=fit_prior,
            class_prior=class_prior,
            calibrated=calibrated,
        )
        self.norm = norm

    def _family(self) -> AnyFamily:
        return Complement(Laplace(self._check_alpha()), self.norm)

    def _learned(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> dict[str, Any]:
        learned = super()._learned(joint, statistics)
        learned["class_log_prior_"] = super()._log_prior(statistics.weight.rounded())
        return learned | {"feature_all_": learned["feature_count_"].sum(axis=0)}

    def _log_prior(self, weight: Floats) -> Floats:
        """Classes that were seen are alike."""
        prior = super()._log_prior(weight)
        return prior if weight.shape[-1] == 1 else np.zeros_like(prior)

    def _joint(self) -> Joint[Any, Any]:
        parameters = MultinomialParameters(np.asarray(self.feature_log_prob_))
        one = len(self.classes_) == 1
        prior = np.asarray(self.class_log_prior_) if one else np.zeros(len(self.classes_))
        return Joint(Complement(norm=self.norm), prior, parameters)
