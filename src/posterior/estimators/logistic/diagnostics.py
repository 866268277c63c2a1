"""Methods of LogisticRegression that look at a fit beside its rows."""

from __future__ import annotations

from typing import Literal

from sklearn.utils.validation import check_is_fitted

from posterior.data import validate
from posterior.data.table import Table
from posterior.data.typing import Floats
from posterior.discriminative import effects
from posterior.discriminative import residuals as residual
from posterior.discriminative.likelihood_ratio import LikelihoodRatio, likelihood_ratio
from posterior.estimators.logistic.base import LogisticBase


def marginal_effects(
    self: LogisticBase, at: Literal["average", "mean"] = "average", level: float = 0.95
) -> Table:
    """How much the probability of a class changes with each column: ∂p(k | x)/∂xⱼ.

    Of the second of two classes, or of each of several. A level of a category, and a missing
    cell, has the difference to the first level, or to a cell that is not missing. Errors are by
    the delta method; of a penalized fit they are of the posterior under the penalty, as in
    `summary`. Without the rows of the fit, which files and copies do not keep, this is refused.

    Parameters
    ----------
    at : "average" or "mean", default="average"
        The mean of the effects on all rows, or the effects on the mean row.
    level : float, default=0.95
        The probability of the intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from posterior import LogisticRegression
    >>> hours, passed = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]], [0, 0, 1, 0, 1, 1]
    >>> model = LogisticRegression(C=np.inf).fit(hours, passed)
    >>> print(model.marginal_effects())  # an hour more: about 16 points more
    feature  effect    error      z          p     low    high
    0        0.1586  0.02221  7.142  9.194e-13  0.1151  0.2022
    """
    check_is_fitted(self)
    fitted, level = self.fitted_, validate.level(level)
    given = fitted.reader.names, fitted.classes, at, level, fitted.reader.indicators
    return effects.effects_table(fitted.at_hand, *given)


def residuals(
    self: LogisticBase,
    kind: Literal["deviance", "pearson", "response", "working"] = "deviance",
) -> Floats:
    """How far each row of the fit is from its probability.

    Of the second of two classes, (n_samples,); of several (n_samples, n_classes), each against
    the rest. Deviance and Pearson residuals of a row of weight w are √w times those of one row:
    the squares of the first sum to the deviance, of the second to Pearson's χ². A penalized fit
    has those of its own probabilities, which are shrunken.

    Parameters
    ----------
    kind : str, default="deviance"
        "deviance" ±√(-2 log p(y | x)), "pearson" (y - p) / √(p (1 - p)), "response" y - p, or
        "working" (y - p) / (p (1 - p)).

    Examples
    --------
    >>> import numpy as np
    >>> from posterior import LogisticRegression
    >>> hours, passed = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]], [0, 0, 1, 0, 1, 1]
    >>> model = LogisticRegression(C=np.inf).fit(hours, passed)
    >>> model.residuals("response").round(2).tolist()
    [-0.05, -0.14, 0.65, -0.65, 0.14, 0.05]
    """
    check_is_fitted(self)
    return residual.residuals(self.fitted_.at_hand, kind)


def influence(self: LogisticBase) -> Table:
    """What each row of the fit has decided, of two classes (Pregibon 1981).

    Leverages (their sum is the number of coefficients), Pearson residuals divided by √(1 - h),
    Cook's distances, and for each coefficient its change by the row in standard errors
    (dfbetas), by one Newton step. Of a penalized fit, the step is that of loss and penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from posterior import LogisticRegression
    >>> hours, passed = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]], [0, 0, 1, 0, 1, 1]
    >>> rows = LogisticRegression(C=np.inf).fit(hours, passed).influence()
    >>> list(rows.columns)
    ['leverage', 'standardized residual', "Cook's distance", 'dfbetas 0', 'dfbetas intercept']
    >>> rows["Cook's distance"].round(2).tolist()
    [0.01, 0.08, 0.71, 0.71, 0.08, 0.01]
    """
    check_is_fitted(self)
    return residual.influence(self.fitted_.at_hand, self.fitted_.reader.names)


def likelihood_ratio_test(self: LogisticBase, other: LogisticBase) -> LikelihoodRatio:
    """Whether columns that one of two models has, and the other has not, say more than chance.

    Both are fitted to the same rows by maximum likelihood (`C=np.inf`), and the columns of the
    smaller one, of whichever order, are among those of the larger one.

    Parameters
    ----------
    other : a fitted LogisticRegression

    Returns
    -------
    A value with chi2, df and p.

    Examples
    --------
    >>> import numpy as np
    >>> from posterior import LogisticRegression
    >>> X = np.array([[1.0, 7], [2, 5], [3, 8], [4, 8], [5, 7], [6, 7]])
    >>> passed = [0, 0, 1, 0, 1, 1]
    >>> with_sleep = LogisticRegression(C=np.inf).fit(X, passed)
    >>> print(with_sleep.likelihood_ratio_test(LogisticRegression(C=np.inf).fit(X[:, :1], passed)))
    likelihood ratio χ² 0.11075 on 1 degree of freedom, p 0.739
    """
    check_is_fitted(self)
    if not isinstance(other, LogisticBase):
        raise TypeError(f"Expected a fitted LogisticRegression, got {type(other).__name__}.")
    check_is_fitted(other)
    return likelihood_ratio(self.fitted_, other.fitted_)
