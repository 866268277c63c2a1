"""Minimum of an objective, and what it says beyond the estimates: errors, tests, intervals."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np

from posterior import kernels
from posterior.data.names import plain
from posterior.data.rows import Features
from posterior.data.table import Table
from posterior.data.typing import Array, Floats
from posterior.discriminative import inference
from posterior.discriminative.alo import leave_one_out_scores
from posterior.discriminative.firth import FirthFit, profile
from posterior.discriminative.fisher_information import score_covariance
from posterior.discriminative.fit_statistics import FitStatistics, fit_statistics
from posterior.discriminative.objective import Objective
from posterior.discriminative.solvers.solution import Solution
from posterior.evaluation.held_out import HeldOut


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
        rest = str(self).split("\n\n", 1)[1]
        return f"{self.coefficients.to_html()}<pre>{escape(rest)}</pre>"


@dataclass(frozen=True, slots=True, eq=False)
class Minimum:
    """What was minimized, and where a solver ended: the rows by reference, for those who ask."""

    objective: Objective
    solution: Solution
    solver: str
    firth: FirthFit | None = None

    @property
    def coef(self) -> Floats:
        """(outputs, p), in the coordinates of the loss."""
        return centered(self.solution.coef, self.objective)

    def covariance(self, robust: bool = False) -> Floats:
        """Of the coefficients, (size, size)."""
        if self.firth is not None:
            return self.firth.covariance
        return inference.covariance(self.objective, self.coef, robust)

    def interval(self, X: Features, score: Floats, level: float) -> tuple[Floats, Floats]:
        """Bounds of p(k | x), (n, classes), of rows and their scores (n, outputs)."""
        spread = score_covariance(self.objective.loss, X, self.covariance())
        return inference.probability_interval(score, spread, level)

    def left_one_out(self, classes: Array) -> HeldOut:
        """What each row would get from a model that never saw it, approximately."""
        scores = leave_one_out_scores(self.objective, self.coef)
        if scores.shape[1] == 1:
            scores = np.column_stack([np.zeros(len(scores)), scores])
        kernels.normalize(scores, "log_posterior")
        groups = self.objective.at_hand.hard
        return HeldOut(scores, groups.codes, classes, None, groups.weight)

    def summary(self, features: Array, classes: Array, level: float, robust: bool) -> Summary:
        """Coefficients of features with errors, tests, intervals and odds ratios, and the fit."""
        objective = self.objective
        intercept = ["intercept"] if objective.loss.intercept else []
        names = [*(str(plain(name)) for name in features), *intercept]
        labels = [str(plain(label)) for label in classes]
        coef, covariance = self.coef, self.covariance(robust)
        coef, covariance = inference.at_zero(objective.loss, coef, covariance)
        if len(coef) > 1:
            coef, covariance = inference.differences(coef, covariance)
        wald = inference.wald(coef, covariance, level)
        columns: dict[str, Array] = {
            "class": np.repeat(labels[1:], len(names)),
            "feature": np.array(names * len(coef)),
            "coefficient": wald.estimate.ravel(),
            "error": wald.standard_error.ravel(),
            "z": wald.z.ravel(),
            "p": wald.p.ravel(),
            "low": wald.low.ravel(),
            "high": wald.high.ravel(),
        }
        if self.firth is not None:
            by_profile = profile(objective, self.firth, level)
            columns |= {"p": by_profile.p, "low": by_profile.low, "high": by_profile.high}
        columns["odds ratio"] = np.exp(columns["coefficient"])
        of = "each class" if len(coef) > 1 else labels[1]
        if len(coef) == 1:
            del columns["class"]
        note = f"Log odds of {of} against {labels[0]}. {self._meaning(robust, level)}"
        return Summary(Table(columns), fit_statistics(objective, self.coef), note)

    def _meaning(self, robust: bool, level: float) -> str:
        if self.firth is not None:
            return f"Firth's estimate; {level:.0%} intervals and p by profile likelihood."
        if self.objective.penalty.ridge.any():
            return (
                f"The fit is penalized: errors and {level:.0%} intervals are of the posterior "
                "under the penalty as a normal prior. They do not cover the truth at that rate, "
                "and p tests nothing; C=np.inf gives the usual ones."
            )
        kind = "robust (sandwich) errors" if robust else "errors from the observed information"
        return f"Maximum likelihood, {kind}; {level:.0%} Wald intervals."


def centered(coef: Floats, objective: Objective) -> Floats:
    """Scores relative to their mean: no probability changes, and the penalty is least."""
    if len(coef) == 1 or not objective.penalty.smooth:
        return coef
    return np.asarray(coef - coef.mean(axis=0))
