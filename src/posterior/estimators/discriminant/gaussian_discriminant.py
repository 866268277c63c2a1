"""Gaussian discriminant analysis, the one front door."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions

from posterior.data.errors import DegenerateWarning
from posterior.data.names import quoted
from posterior.data.typing import Floats
from posterior.engines.locate import locate
from posterior.estimators import joint_answers
from posterior.estimators.discriminant.base import Discriminant, DiscriminantRule
from posterior.estimators.discriminant.select_covariance import select_covariance
from posterior.estimators.estimator import estimated
from posterior.estimators.remote import FilePath
from posterior.estimators.stated_classes import StatedClasses
from posterior.estimators.summed_classifier import CALIBRATED
from posterior.families import MultivariateGaussian
from posterior.families.covariance import KINDS, Kind, whitenings
from posterior.families.normal_density import MultivariateGaussianParameters
from posterior.generative.fitted import Fitted
from posterior.generative.fold_sums import Trial
from posterior.generative.joint import Joint, JointStatistics
from posterior.generative.rule import ClassPrior, Rule
from posterior.readers.labels import Labels
from posterior.readers.reader import Reader


class GaussianDiscriminantAnalysis(Discriminant):
    """Classes that are normal in all columns together.

    p(x | k) = N(μ_k, Σ_k). Missing cells are met by EM when learning, and integrated out when
    answering.

    Parameters
    ----------
    covariance : {"shared", "own", "diagonal", "spherical", "tune", "auto"} or float, \
default="shared"
        One Σ for all classes makes the boundaries linear (LDA), one for each quadratic (QDA).
        Diagonal ones make columns independent (naive Bayes), spherical ones all alike. A number a
        from 0 to 1 is between the first two: Σ_k = a own_k + (1 - a) shared, Friedman's (1989)
        regularized discriminant analysis. "tune" chooses among the kinds and "auto" among numbers,
        by out-of-fold log loss, which costs no refit. In what "auto" compares, no row counts as
        less probable than one in a million.
    priors : array of shape (n_classes,) or dict by class, optional
        Class probabilities; learned if not given.
    shrinkage : float between 0 and 1, or "auto", default=0.0
        How much of a sphere is mixed into each covariance: standardize columns whose units differ.
        "auto" chooses it by out-of-fold log loss, together with the covariance if that is open.
    pseudo_rows : float, default=0.0
        Rows with the mean and covariance of all classes that each class is given beforehand: the
        normal-inverse-Wishart prior.
    predictive : bool, default=False
        Integrate over what the data leave open about mean and covariance: Student's t.
    calibrated : str, optional
        Correct the probabilities by rows held out: "temperature", "beta", "quadratic", "vector",
        "matrix", "isotonic", or "auto", whichever lowers their log loss, if one does.
    ddof : float, default=0
        Delta degrees of freedom, by NumPy's and pandas' name: what the mean of a class costs in
        rows. Covariances of classes are divided by n_k - ddof, one that K classes share by
        n - K ddof: `ddof=1` gives the unbiased ones of R and of textbooks, 0 the most likely ones.
        n sums weights, so a weight of 2 is two rows; pseudo-rows count as rows. Missing cells are
        met by EM, which maximizes a likelihood, and the rows so completed are divided as asked.

    Attributes
    ----------
    classes_, priors_ : arrays of shape (n_classes,)
    means_ : array of shape (n_classes, n_features)
    covariance_ : array of shape (n_features, n_features) if shared, or one for each class
    covariance_kind_ : str
        Which kind was used; "mixed" is between "shared" and "own".
    covariance_mix_ : float
        Which part of each covariance is the class's own: 0 of a shared one, 1 of the other kinds.
    shrinkage_ : float
        How much of a sphere was mixed in.
    tuning_ : table
        Where something was chosen: out-of-fold log loss and accuracy of each candidate.
    log_likelihoods_ : tuple of float
        Of the steps of EM; empty if no cell was missing.

    Examples
    --------
    >>> from posterior import GaussianDiscriminantAnalysis
    >>> X = [[15.0], [16.0], [19.0], [28.0], [31.0], [32.0]]
    >>> model = GaussianDiscriminantAnalysis().fit(X, ["bass"] * 3 + ["carp"] * 3)
    >>> model.predict([[18.0], [30.0]])
    array(['bass', 'carp'], dtype='<U4')
    >>> GaussianDiscriminantAnalysis(ddof=1).fit([[1], [3], [4], [8]], [0, 0, 1, 1]).covariance_
    array([[5.]])
    >>> few = [[0, 0], [1, 1], [2, 2], [5, 4], [6, 6], [9, 5]], [0, 0, 0, 1, 1, 1]
    >>> chosen = GaussianDiscriminantAnalysis("auto", shrinkage="auto").fit(*few)
    >>> chosen.covariance_mix_, chosen.shrinkage_
    (0.5, 1.0)
    """

    tuned: ClassVar[Mapping[str, Sequence[Any]]] = {"covariance": KINDS}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "covariance": [
            StrOptions({*KINDS, "tune", "auto"}),
            Interval(Real, 0, 1, closed="both"),
        ],
        "priors": ["array-like", Mapping, None],
        "shrinkage": [Interval(Real, 0, 1, closed="both"), StrOptions({"auto"})],
        "pseudo_rows": [Interval(Real, 0, None, closed="left")],
        "predictive": ["boolean"],
        "calibrated": CALIBRATED,
        "ddof": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        covariance: str | float = "shared",
        *,
        priors: Any = None,
        shrinkage: float | str = 0.0,
        pseudo_rows: float = 0.0,
        predictive: bool = False,
        calibrated: str | None = None,
        ddof: float = 0,
    ) -> None:
        self.covariance = covariance
        self.priors = priors
        self.shrinkage = shrinkage
        self.pseudo_rows = pseudo_rows
        self.predictive = predictive
        self.calibrated = calibrated
        self.ddof = ddof

    @classmethod
    def of(
        cls, means: Any, covariances: Any, shares: Any, classes: Any = None, names: Any = None
    ) -> Self:
        """The model of stated means and covariances, which saw no rows.

        Parameters
        ----------
        means : array of shape (n_classes, n_features), or (n_classes,) of one column
        covariances : array of shape (n_classes, n_features, n_features)
            Or of shape (n_features, n_features) for all classes; of one column, variances.
        shares : array of shape (n_classes,) or dict by class
            Class probabilities; a class of share zero is never answered.
        classes : sequence, optional
            In the order of the other tables; 0, 1, ... if not given, or the keys of `shares`.
        names : sequence of str, optional
            Of the columns.

        Examples
        --------
        >>> from posterior import GaussianDiscriminantAnalysis
        >>> model = GaussianDiscriminantAnalysis.of([[0, 0], [2, 0]], [[1, 0], [0, 1]], [0.5, 0.5])
        >>> model.predict([[0.9, 5.0], [1.1, 5.0]])
        array([0, 1])
        >>> model.bayes_error()
        0.1587
        """
        stated = StatedClasses.of(shares, classes)
        mean = stated.table(means, "means")
        matrices = stated.covariances(covariances, mean.shape[1])
        kind = "shared" if len(matrices) == 1 else "own"
        whitening = whitenings(matrices, None)
        parameters = MultivariateGaussianParameters(mean, matrices, whitening)
        return cast(Self, stated.fitted(cls(kind), parameters, mean.shape[1], names))

    covariance_ = estimated[Floats](
        lambda fitted: (
            fitted.model.parameters.covariance[0]
            if fitted.model.family.kind == "shared"
            else fitted.model.parameters.covariance
        )
    )
    covariance_kind_ = estimated[str](
        lambda fitted: "mixed" if fitted.model.family.mix < 1 else fitted.model.family.kind
    )
    covariance_mix_ = estimated[float](
        lambda fitted: 0.0 if fitted.model.family.kind == "shared" else fitted.model.family.mix
    )
    shrinkage_ = estimated[float](lambda fitted: fitted.model.family.shrinkage)
    log_likelihoods_ = estimated[tuple[float, ...]](lambda fitted: fitted.model.parameters.trace)

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, checkpoint: FilePath | None = None
    ) -> Self:
        """Learn from rows and their classes, and choose what was left open.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features), missing cells are NaN or None; or a
            table that is elsewhere, as in `GaussianNB.fit`
        y, sample_weight, checkpoint : as in `GaussianNB.fit`
        """
        if not self._is_open() or locate(X) is not None:
            return super().fit(X, y, sample_weight, checkpoint=checkpoint)
        if self.covariance == "tune" and self.shrinkage != "auto":
            chosen = clone(self).set_params(covariance="shared")
            chosen.tune(X, y, sample_weight=sample_weight)
            self.fitted_, self.tuning_ = chosen.fitted_, chosen.tuning_
            return self
        self._validate_params()
        reader, labels, rows = self._read(X, y, sample_weight)
        chosen, table = select_covariance(self, Trial(rows, reader, labels, self.engine_))
        chosen.fit(X, y, sample_weight)
        self.fitted_, self.tuning_ = chosen.fitted_, table
        return self

    estimate_under = joint_answers.estimate_under
    prior_settings: ClassVar[frozenset[str]] = frozenset(
        {"covariance", "priors", "shrinkage", "pseudo_rows", "predictive"}
    )

    def _is_open(self) -> bool:
        """Whether rows have to choose the covariance."""
        return self.covariance in ("tune", "auto") or self.shrinkage == "auto"

    def _covariance(self) -> tuple[Kind, float, float]:
        """The kind, how much of it is own, and the shrinkage: as given, or as `fit` chose."""
        found: Fitted | None = vars(self).get("fitted_")
        if self._is_open() and found is None:
            raise ValueError(
                'Expected fit() to choose the covariance first: "tune" and "auto" need all rows at '
                "once. Name a kind of covariance and a shrinkage to learn from a stream or to "
                "cross-validate."
            )
        chosen = None if found is None else cast(MultivariateGaussian, found.rule.family)
        kind, mix, shrinkage = "own", 1.0, self.shrinkage
        if self.covariance in ("tune", "auto"):
            assert chosen is not None
            kind, mix = chosen.kind, chosen.mix
        elif isinstance(self.covariance, str):
            kind = self.covariance
        elif self.covariance == 0:
            kind = "shared"
        else:
            mix = float(self.covariance)
        if shrinkage == "auto":
            assert chosen is not None
            shrinkage = chosen.shrinkage
        return cast(Kind, kind), mix, float(shrinkage)

    def rule(self, reader: Reader, labels: Labels | None) -> Rule:
        """Covariances of the kind asked for, or chosen."""
        kind, mix, shrinkage = self._covariance()
        family = MultivariateGaussian(
            kind,
            pseudo_rows=self.pseudo_rows,
            shrinkage=shrinkage,
            predictive=self.predictive,
            least=0.0 if kind == "shared" else None,
            ddof=self.ddof,
            mix=mix,
        )
        prior = ClassPrior() if labels is None else ClassPrior(self.priors, labels.classes)
        return RankedRule(family, prior, reader)

    @property
    def deviations_(self) -> Any:
        """The standard deviation of each column in each class, (n_classes, n_features)."""
        deviation = np.sqrt(np.einsum("kii->ki", self.parameters_.covariance))
        return np.broadcast_to(deviation, self.means_.shape)


@dataclass(frozen=True, slots=True, eq=False)
class RankedRule(DiscriminantRule):
    """Says in which directions no class deviates."""

    reader: Reader

    def derive(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> None:
        rank, n = joint.parameters.whitening[0].matrix.shape[1], self.reader.columns.n
        if joint.family.kind != "shared" or rank == n:  # type: ignore[attr-defined]
            return
        constant = np.flatnonzero(joint.parameters.covariance[0].diagonal() == 0)
        names = ", ".join(quoted(name) for name in self.reader.names[constant])
        warnings.warn(
            f"The shared covariance has rank {rank} of {n}: directions in which no class deviates "
            "are left out"
            + (f", such as {names}." if names else ". Some columns are combinations of others."),
            DegenerateWarning,
            stacklevel=2,
        )
