"""Poisson naive Bayes."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.utils._param_validation import Interval

from posterior.data.typing import Floats
from posterior.estimators.estimator import learned
from posterior.estimators.naive_bayes.discrete_nb import DiscreteNB
from posterior.estimators.stated_classes import StatedClasses
from posterior.estimators.summed_classifier import CALIBRATED
from posterior.families import Poisson, PseudoRows
from posterior.families.poisson import PoissonParameters
from posterior.generative.rule import Rule
from posterior.readers.labels import Labels
from posterior.readers.numeric import Numeric
from posterior.readers.reader import Reader


class PoissonNB(DiscreteNB):
    """Counts of events, independent given the class.

    Parameters
    ----------
    alpha : float, default=1.0
        Pseudo-rows with the rate of all classes together.
    fit_prior, class_prior, calibrated : as in `MultinomialNB`

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : arrays of shape (n_classes,)
    rate_ : array of shape (n_classes, n_features)
        Events expected in a row.

    Examples
    --------
    >>> from posterior import PoissonNB
    >>> model = PoissonNB().fit([[0, 1], [1, 0], [7, 9], [9, None]], [0, 0, 1, 1])
    >>> model.predict([[8, 8]])
    array([1])
    """

    needs_classes = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", Mapping, None],
        "calibrated": CALIBRATED,
    }

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        calibrated: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.calibrated = calibrated

    rate_ = learned[Floats](
        lambda fitted: fitted.model.parameters.rate,
        lambda fitted, rate: fitted.with_parameters(rate=np.asarray(rate, np.float64)),
    )

    @classmethod
    def of(cls, rates: Any, shares: Any, classes: Any = None, names: Any = None) -> Self:
        """The model of stated rates, which saw no rows.

        Parameters
        ----------
        rates : array of shape (n_classes, n_features), or dict by class
            Events expected in a row.
        shares : array of shape (n_classes,) or dict by class
            Class probabilities; a class of share zero is never answered.
        classes : sequence, optional
            In the order of the other tables; 0, 1, ... if not given, or the keys of `shares`.
        names : sequence of str, optional
            Of the columns.

        Examples
        --------
        >>> from posterior import PoissonNB
        >>> calls = PoissonNB.of({"night": 1, "day": 6}, {"night": 0.5, "day": 0.5})
        >>> calls.predict([[2], [7]])
        array(['night', 'day'], dtype='<U5')
        """
        stated = StatedClasses.of(shares, classes)
        rate = stated.table(rates, "rates")
        stated.check(rate, rate >= 0, "rates", "of zero or more")
        return cast(Self, stated.fitted(cls(), PoissonParameters(rate), rate.shape[1], names))

    def reader(self) -> Numeric:
        return Numeric(self.columns(), negative="refused")  # a rate gives no negative count

    def rule(self, reader: Reader, labels: Labels | None) -> Rule:
        return Rule(Poisson(PseudoRows(self.alpha)), self._prior(labels))
