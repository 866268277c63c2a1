"""Gaussian discriminant analysis, the one front door."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions

from posterior.data.errors import DegenerateWarning
from posterior.data.names import quoted
from posterior.data.rows import Rows
from posterior.estimators.checkpoint import FilePath
from posterior.estimators.discriminant.discriminant_base import Discriminant
from posterior.estimators.elsewhere import found
from posterior.estimators.numeric import CALIBRATED
from posterior.estimators.summed import all_or_nothing
from posterior.families import MultivariateGaussian
from posterior.families.covariance import KINDS, Kind
from posterior.generative.joint import Joint, JointStatistics


class GaussianDiscriminantAnalysis(Discriminant):
    """Classes that are normal in all columns together.

    p(x | k) = N(μ_k, Σ_k). Missing cells are met by EM when learning, and integrated out when
    answering.

    Parameters
    ----------
    covariance : {"shared", "own", "diagonal", "spherical", "tune"}, default="shared"
        One Σ for all classes makes the boundaries linear (LDA), one for each quadratic (QDA).
        Diagonal ones make columns independent (naive Bayes), spherical ones all alike. "tune"
        chooses by out-of-fold log loss, which costs no refit.
    priors : array of shape (n_classes,) or dict by class, optional
        Class probabilities; learned if not given.
    shrinkage : float between 0 and 1, default=0.0
        How much of a sphere is mixed into each covariance.
    pseudo_rows : float, default=0.0
        Rows with the mean and covariance of all classes that each class is given beforehand: the
        normal-inverse-Wishart prior.
    predictive : bool, default=False
        Integrate over what the data leave open about mean and covariance: Student's t.
    calibrated : {"temperature", "isotonic"}, optional
        Correct the probabilities by out-of-fold scores, which cost no refit.

    Attributes
    ----------
    classes_, priors_ : arrays of shape (n_classes,)
    means_ : array of shape (n_classes, n_features)
    covariance_ : array of shape (n_features, n_features) if shared, or one for each class
    covariance_kind_ : str
        Which kind was used.
    log_likelihoods_ : tuple of float
        Of the steps of EM; empty if no cell was missing.

    Examples
    --------
    >>> from posterior import GaussianDiscriminantAnalysis
    >>> X = [[15.0], [16.0], [19.0], [28.0], [31.0], [32.0]]
    >>> model = GaussianDiscriminantAnalysis().fit(X, ["bass"] * 3 + ["carp"] * 3)
    >>> model.predict([[18.0], [30.0]])
    array(['bass', 'carp'], dtype='<U4')
    """

    tuned: ClassVar[Mapping[str, Sequence[Any]]] = {"covariance": KINDS}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "covariance": [StrOptions({*KINDS, "tune"})],
        "priors": ["array-like", Mapping, None],
        "shrinkage": [Interval(Real, 0, 1, closed="both")],
        "pseudo_rows": [Interval(Real, 0, None, closed="left")],
        "predictive": ["boolean"],
        "calibrated": CALIBRATED,
    }
    covariance_kind_: Kind

    def __init__(
        self,
        covariance: str = "shared",
        *,
        priors: Any = None,
        shrinkage: float = 0.0,
        pseudo_rows: float = 0.0,
        predictive: bool = False,
        calibrated: str | None = None,
    ) -> None:
        self.covariance = covariance
        self.priors = priors
        self.shrinkage = shrinkage
        self.pseudo_rows = pseudo_rows
        self.predictive = predictive
        self.calibrated = calibrated

    @all_or_nothing
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, checkpoint: FilePath | None = None
    ) -> Self:
        """Learn from rows and their classes; what was learned before is dropped.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features), missing cells are NaN or None; or a
            table that is elsewhere, as in `GaussianNB.fit`
        y : array of shape (n_samples,), or the name of a column of X
        sample_weight : array of shape (n_samples,), or the name of a column, optional
        checkpoint : path, optional
            As in `GaussianNB.fit`.
        """
        if self.covariance != "tune" or found(X, checkpoint) is not None:
            return super().fit(X, y, sample_weight, checkpoint=checkpoint)
        trial = clone(self).set_params(covariance="shared")
        trial.tune(X, y, sample_weight=sample_weight)
        self.covariance_kind_ = trial.covariance
        super().fit(X, y, sample_weight)
        self.tuning_ = trial.tuning_
        return self

    def _kind(self) -> Kind:
        if self.covariance == "tune":
            if not hasattr(self, "covariance_kind_"):
                raise ValueError(
                    'Expected fit() to choose the covariance first: "tune" needs all rows at once. '
                    "Name a kind of covariance to learn from a stream or to cross-validate."
                )
            return self.covariance_kind_
        return cast(Kind, self.covariance)

    def _untouched(self, X: Any, y: Any, sample_weight: Any) -> tuple[Self, Rows]:
        other, rows = super()._untouched(X, y, sample_weight)
        if hasattr(self, "covariance_kind_"):
            other.covariance_kind_ = self.covariance_kind_  # chosen before
        return other, rows

    def _family(self) -> MultivariateGaussian:
        return MultivariateGaussian(
            self._kind(),
            pseudo_rows=self.pseudo_rows,
            shrinkage=self.shrinkage,
            predictive=self.predictive,
            least=0.0 if self._kind() == "shared" else None,
        )

    def _accept(self, statistics: JointStatistics[Any]) -> None:
        super()._accept(statistics)
        rank = self.parameters_.whitening[0].matrix.shape[1]
        if self._kind() == "shared" and rank < self.n_features_in_:
            constant = np.flatnonzero(self.parameters_.covariance[0].diagonal() == 0)
            names = ", ".join(quoted(n) for n in self._feature_names()[constant])
            warnings.warn(
                f"The shared covariance has rank {rank} of {self.n_features_in_}: directions in "
                "which no class deviates are left out"
                + (
                    f", such as {names}." if names else ". Some columns are combinations of others."
                ),
                DegenerateWarning,
                stacklevel=2,
            )

    def _learned(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> dict[str, Any]:
        covariance = joint.parameters.covariance
        return super()._learned(joint, statistics) | {
            "covariance_": covariance[0] if self._kind() == "shared" else covariance,
            "covariance_kind_": self._kind(),
            "log_likelihoods_": joint.parameters.trace,
        }

    @property
    def deviations_(self) -> Any:
        """The standard deviation of each column in each class, (n_classes, n_features)."""
        covariance = self.parameters_.covariance
        deviation = np.sqrt(np.einsum("kii->ki", covariance))
        return np.broadcast_to(deviation, self.means_.shape)
