"""Bernoulli naive Bayes."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.utils._param_validation import Interval

from posterior.data.typing import Floats
from posterior.estimators.estimator import learned
from posterior.estimators.naive_bayes.discrete_nb import CONSTRAINTS, DiscreteNB, linear
from posterior.estimators.stated_classes import StatedClasses
from posterior.families import Bernoulli, Laplace
from posterior.families.bernoulli import BernoulliParameters
from posterior.generative.rule import Rule
from posterior.readers.labels import Labels
from posterior.readers.numeric import Numeric
from posterior.readers.reader import Reader


def by_hand(log_prob: Any) -> BernoulliParameters:
    """Log probabilities of yes that were set by hand, and with fewer digits those of no."""
    log_yes = np.asarray(log_prob, np.float64)
    with np.errstate(divide="ignore"):
        return BernoulliParameters(log_yes, np.log1p(-np.exp(log_yes)))


class BernoulliNB(DiscreteNB):
    """Columns of yes and no, independent given the class.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior, calibrated : as in `MultinomialNB`
    binarize : float or None, default=0.0
        Values above it are a yes. None says that they are 0 and 1 already.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : arrays of shape (n_classes,)
    feature_count_, feature_log_prob_ : arrays of shape (n_classes, n_features)
        Counts and log probabilities of yes.

    Examples
    --------
    >>> from posterior import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, None]], ["a", "a", "b"])
    >>> model.predict([[1, 0]])
    array(['a'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CONSTRAINTS,
        "binarize": [None, Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        calibrated: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.calibrated = calibrated

    feature_count_ = learned[Floats](lambda fitted: fitted.sums.features.total.rounded())
    feature_log_prob_ = learned[Floats](
        lambda fitted: fitted.model.parameters.log_yes,
        lambda fitted, log_prob: fitted.having(by_hand(log_prob)),
    )
    parameters_of = staticmethod(by_hand)

    @classmethod
    def of(cls, probabilities: Any, shares: Any, classes: Any = None, names: Any = None) -> Self:
        """The model of stated probabilities of yes, which saw no rows.

        Parameters
        ----------
        probabilities : array of shape (n_classes, n_features), or dict by class
        shares : array of shape (n_classes,) or dict by class
            Class probabilities; a class of share zero is never answered.
        classes : sequence, optional
            In the order of the other tables; 0, 1, ... if not given, or the keys of `shares`.
        names : sequence of str, optional
            Of the columns.

        Examples
        --------
        >>> from posterior import BernoulliNB
        >>> test = BernoulliNB.of([0.98, 0.03], [0.008, 0.992], classes=["cancer", "healthy"])
        >>> test.predict_proba([[1]]).round(4).tolist()
        [[0.2085, 0.7915]]
        """
        stated = StatedClasses.of(shares, classes)
        p = stated.table(probabilities, "probabilities")
        stated.check(p, (p >= 0) & (p <= 1), "probabilities", "between 0 and 1")
        with np.errstate(divide="ignore"):
            parameters = BernoulliParameters(np.log(p), np.log1p(-p))
        return cast(Self, stated.fitted(cls(), parameters, p.shape[1], names))

    def reader(self) -> Numeric:
        return Numeric(self.columns())

    def rule(self, reader: Reader, labels: Labels | None) -> Rule:
        family = Bernoulli(Laplace(self._pseudo_counts(reader)), self.binarize)
        return Rule(family, self._prior(labels))

    def quadratics(self, origin: Floats | None = None) -> tuple[None, Floats, Floats]:
        """log p(x, k) = b_k · u + c_k where u = x - origin, x of 1 (yes) and 0 (no)."""
        joint = self.settled().model
        yes, no = joint.parameters.log_yes, joint.parameters.log_no
        always = np.isneginf(no).any(axis=1)  # possible all the same, but not at zero
        offset = np.where(always, np.nan, joint.log_prior + no.sum(axis=1))
        return linear(yes - no, offset, origin)
