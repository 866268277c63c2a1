"""Steps of EM, one by one: each row's shares are expected, the best model of them is taken."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from posterior import kernels
from posterior.data.pictured import Run, RunStep
from posterior.data.rows import Rows
from posterior.data.typing import Floats
from posterior.families.family import fill
from posterior.families.gaussian import GaussianParameters
from posterior.families.normal_density import MultivariateGaussianParameters
from posterior.generative.em import Ascent, Hidden, Stop, Watch
from posterior.generative.expectation import Expected
from posterior.generative.fitted import Fitted
from posterior.generative.hidden_groups import HiddenGroups, MixtureRule
from posterior.generative.joint import Joint, JointStatistics
from posterior.readers.labels import Labels
from posterior.readers.reader import Reader


@dataclass(frozen=True, slots=True, eq=False)
class EMStep(RunStep):
    """A model on the way, and the shares of the rows in its components.

    Q = Σᵢ wᵢ Σ_k r_ik log p(xᵢ, k), and with the entropy of the shares r it is a bound:
    Q - Σᵢ wᵢ Σ_k r_ik log r_ik ≤ log p(X). Expecting makes it touch, maximizing raises Q.
    """

    number: int  # from 1
    kind: str  # "expect": shares by the model; "maximize": the best model of the shares
    joint: Joint[Any, Any]  # the model after this step
    expecting: Joint[Any, Any]  # the model that the shares are by
    rows: Rows
    hidden: Hidden[Any, Any]
    run: Run

    @property
    def responsibilities(self) -> Floats:
        """r_ik = p(k | xᵢ), (n, k)."""
        return _posterior(self.expecting, self.rows)[0]

    @property
    def shares(self) -> Floats:
        """π, (k,)."""
        return np.exp(self.joint.log_prior)

    @property
    def parameters(self) -> Any:
        """θ of the components: `mean`, `variance` and so on, as the family has them."""
        return self.joint.parameters

    @property
    def log_likelihood(self) -> float:
        """Σᵢ wᵢ log p(xᵢ) by the model after this step."""
        return self._sum(_posterior(self.joint, self.rows)[1])

    @property
    def log_prior(self) -> float:
        """Of the parameters: zero without one."""
        return self.hidden.log_prior(self.joint)

    @property
    def q(self) -> float:
        """Q: the log likelihood of the rows and their components, as it is expected."""
        R, log_joint = self.responsibilities, self.joint.log_joint(self.rows.X)
        return self._sum(np.where(R > 0, R * log_joint, 0.0).sum(axis=1))

    @property
    def bound(self) -> float:
        """Q and the entropy of the shares: at most the log likelihood."""
        R = self.responsibilities
        entropy = -(R * np.log(np.where(R > 0, R, 1.0))).sum(axis=1)
        return self.q + self._sum(entropy)

    def _sum(self, of_rows: Floats) -> float:
        weight = self.rows.hard.weight
        if weight is None:
            return float(of_rows.sum())
        return float(np.where(weight > 0, weight * of_rows, 0.0).sum())

    def __str__(self) -> str:
        head = f"{self.number} {self.kind:<8}  log likelihood {self.log_likelihood:.6g}"
        told = f"{head}  bound {self.bound:.6g}  Q {self.q:.6g}  shares {_numbers(self.shares)}"
        if isinstance(self.parameters, GaussianParameters | MultivariateGaussianParameters):
            told += "  means " + " ".join(f"({_numbers(mean)})" for mean in self.parameters.mean)
        return told

    __repr__ = __str__


def _numbers(line: Floats) -> str:
    return " ".join(f"{x:.4g}" for x in line)


def _posterior(joint: Joint[Any, Any], rows: Rows) -> tuple[Floats, Floats]:
    R, log_evidence = fill(joint.scorer(), rows.X, len(joint.log_prior)), np.empty(len(rows))
    kernels.normalize(R, "posterior", log_evidence)
    return R, log_evidence


@dataclass(frozen=True, slots=True)
class FollowedAscent(Ascent[Any, Any]):
    """Where EM arrived, with every step of the way."""

    steps: tuple[EMStep, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class FollowedGroups(HiddenGroups):
    """Rows whose groups are hidden, and each ascent with its steps."""

    run: Run

    def ascent(
        self,
        hidden: Hidden[Any, Any],
        joint: Joint[Any, Any],
        stop: Stop,
        watch: Watch,
        before: float,
        accelerate: bool,
    ) -> FollowedAscent:
        rows, run = self.rows, self.run.anew()
        assert isinstance(rows, Rows)

        def note(kind: str, joint: Joint[Any, Any], expecting: Joint[Any, Any]) -> None:
            number = len(run.steps) + 1
            run.steps.append(EMStep(number, kind, joint, expecting, rows, hidden, run))

        def expect(joint: Joint[Any, Any]) -> Expected[Any]:
            note("expect", joint, joint)
            return hidden.expect(joint)

        def maximize(sums: JointStatistics[Any], before: Joint[Any, Any] | None) -> Joint[Any, Any]:
            assert before is not None
            better = hidden.maximize(sums, before)
            note("maximize", better, before)
            return better

        followed = replace(hidden, expect=expect, maximize=maximize)
        end = HiddenGroups.ascent(self, followed, joint, stop, watch, before, accelerate)
        return FollowedAscent(end.joint, end.statistics, end.trace, end.reason, tuple(run.steps))


def left_by(model: Any, reader: Reader, rule: MixtureRule, step: EMStep) -> Any:
    """The estimator with the components of a step."""
    found = clone(model)
    labels = Labels(np.arange(len(step.joint.log_prior)))
    found.fitted_ = Fitted(reader, labels, rule, None, step.joint)
    return found
