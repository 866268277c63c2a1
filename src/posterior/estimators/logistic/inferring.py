"""What a fit says beyond its estimates: errors, tests, intervals, and rows left out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from posterior import kernels
from posterior.data import validate
from posterior.data.errors import SeparationWarning
from posterior.data.names import plain
from posterior.data.table import Table
from posterior.data.typing import Array, Floats
from posterior.discriminative import inference
from posterior.discriminative.alo import leave_one_out_scores
from posterior.discriminative.firth import FirthFit, profile
from posterior.discriminative.fisher_information import score_covariance
from posterior.discriminative.fit_statistics import FitStatistics, fit_statistics
from posterior.discriminative.objective import Objective
from posterior.discriminative.separation import separation
from posterior.estimators.logistic.logistic_base import LogisticModel
from posterior.evaluation.held_out import HeldOut


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """What was minimized, and where: the rows by reference, for those who ask later."""

    objective: Objective
    coef: Floats
    firth: FirthFit | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """A table of coefficients, figures of the whole fit, and what the errors mean."""

    coefficients: Table
    fit: FitStatistics
    note: str

    def __str__(self) -> str:
        f = self.fit
        lines = [
            f"rows {f.n_rows:g}, parameters {f.n_parameters:.4g}",
            f"log likelihood {f.log_likelihood:.6g}, without columns {f.null_log_likelihood:.6g}",
            f"likelihood ratio χ² {f.chi2:.5g} on {f.df:.4g} degrees of freedom, p {f.p:.3g}",
            f"AIC {f.aic:.6g}, BIC {f.bic:.6g}",
            f"R² {f.mcfadden:.3f} (McFadden), {f.cox_snell:.3f} (Cox and Snell), "
            f"{f.nagelkerke:.3f} (Nagelkerke)",
        ]
        return "\n".join([str(self.coefficients), "", *lines, self.note])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from html import escape

        rest = str(self).split("\n\n", 1)[1]
        return f"{self.coefficients._repr_html_()}<pre>{escape(rest)}</pre>"


class Inferring(LogisticModel):
    """summary, predict_interval, leave_one_out."""

    _fitted: Fitted | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Without the rows: a stored model is small, and holds nobody's data."""
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_fitted"}

    def _rows_of_the_fit(self) -> Fitted:
        check_is_fitted(self)
        if self._fitted is None:
            raise ValueError(
                "Expected the rows that the model was fitted to, but a model that was stored or "
                "copied does not keep them. Fit it again."
            )
        return self._fitted

    def summary(self, level: float = 0.95, robust: bool = False) -> Summary:
        """Coefficients with standard errors, tests, intervals and odds ratios, and the fit.

        Parameters
        ----------
        level : float, default=0.95
            The probability of the intervals.
        robust : bool, default=False
            Errors that hold whatever the variance of the answers (sandwich, HC0).
        """
        fitted, level = self._rows_of_the_fit(), validate.level(level)
        objective, coef = fitted.objective, fitted.coef
        names = [*map(plain, self._design_names()), *(["intercept"] if self.fit_intercept else [])]
        classes = [plain(c) for c in self.classes_]
        if fitted.firth is not None:
            covariance = fitted.firth.covariance
        else:
            covariance = inference.covariance(objective, coef, robust)
        coef, covariance = inference.at_zero(objective.loss, coef, covariance)
        if len(coef) > 1:
            coef, covariance = inference.differences(coef, covariance)
        wald = inference.wald(coef, covariance, level)
        columns: dict[str, Array] = {
            "class": np.repeat([str(c) for c in classes[1:]], len(names)),
            "feature": np.array([str(n) for n in names] * len(coef)),
            "coefficient": wald.estimate.ravel(),
            "error": wald.standard_error.ravel(),
            "z": wald.z.ravel(),
            "p": wald.p.ravel(),
            "low": wald.low.ravel(),
            "high": wald.high.ravel(),
        }
        if fitted.firth is not None:
            by_profile = profile(objective, fitted.firth, level)
            columns |= {"p": by_profile.p, "low": by_profile.low, "high": by_profile.high}
        columns["odds ratio"] = np.exp(columns["coefficient"])
        if len(coef) == 1:
            del columns["class"]
        against = f"Log odds of {classes[1]} against {classes[0]}. "
        if len(coef) > 1:
            against = f"Log odds of each class against {classes[0]}. "
        note = against + self._meaning(fitted, robust, level)
        return Summary(Table(columns), fit_statistics(objective, fitted.coef), note)

    def _meaning(self, fitted: Fitted, robust: bool, level: float) -> str:
        if fitted.firth is not None:
            return f"Firth's estimate; {level:.0%} intervals and p by profile likelihood."
        if fitted.objective.penalty.ridge.any():
            return (
                f"The fit is penalized: errors and {level:.0%} intervals are of the posterior "
                "under the penalty as a normal prior. They do not cover the truth at that rate, "
                "and p tests nothing; C=np.inf gives the usual ones."
            )
        kind = "robust (sandwich) errors" if robust else "errors from the observed information"
        return f"Maximum likelihood, {kind}; {level:.0%} Wald intervals."

    def predict_interval(self, X: Any, level: float = 0.95) -> tuple[Floats, Floats]:
        """Bounds of each probability, (n_samples, n_classes), from the uncertainty of the fit.

        The posterior of the coefficients is taken as normal around the fit (Laplace).
        """
        fitted, level = self._rows_of_the_fit(), validate.level(level)
        features, objective = self._filled(X), fitted.objective
        if fitted.firth is not None:
            covariance = fitted.firth.covariance
        else:
            covariance = inference.covariance(objective, fitted.coef)
        score = self.decision_function(X).reshape(features.shape[0], -1)
        spread = score_covariance(objective.loss, features, covariance)
        return inference.probability_interval(score, spread, level)

    def leave_one_out(self, X: Any, y: Any, sample_weight: Any = None) -> HeldOut:
        """What each row would get from a model that never saw it, approximately, from one fit.

        One Newton step from the fit of all rows to that of the others (Rad and Maleki 2020).
        """
        model = clone(self).fit(X, y, sample_weight)
        fitted = model._rows_of_the_fit()
        scores = leave_one_out_scores(fitted.objective, fitted.coef)
        if scores.shape[1] == 1:
            scores = np.column_stack([np.zeros(len(scores)), scores])
        kernels.normalize(scores, "log_posterior")
        groups = fitted.objective.at_hand.hard
        return HeldOut(scores, groups.codes, model.classes_, None, groups.weight)

    def _name_separation(self, fitted: Fitted) -> None:
        """Without a penalty, classes that columns tell apart have no best coefficients."""
        objective = fitted.objective
        found = separation(replace(objective, rows=objective.rows.sample), fitted.coef)
        if not found:
            return
        names = self._design_names()
        columns = ", ".join(str(plain(names[j])) for j in found.columns if j < len(names))
        by = f"column(s) {columns}" if columns else "the intercept"
        warnings.warn(
            f"The classes are separated ({found.kind}) by {by}: the likelihood has no maximum, and "
            "coefficients grow with the number of iterations. Use a finite C, or firth=True.",
            SeparationWarning,
            stacklevel=5,
        )
