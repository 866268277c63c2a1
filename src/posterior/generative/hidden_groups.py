"""EM of rows whose groups are all hidden: how components are estimated, and the steps to them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from posterior.data.errors import DegenerateError, NotFiniteError
from posterior.data.names import quoted
from posterior.data.rows import Groups, Rows
from posterior.data.typing import Array, Floats
from posterior.families.family import Intervals
from posterior.generative.em import Ascent, Hidden, Stop, Watch, climb, leap
from posterior.generative.expectation import expectation
from posterior.generative.joint import Joint, JointStatistics, labeling
from posterior.generative.known_components import KnownComponents
from posterior.generative.rule import Rule, Worker
from posterior.readers.reader import Reader
from posterior.sources.remote_rows import RemoteRows

FRESH = 0.7  # power of a chunk's share: below one, since early chunks were summed by worse models


@dataclass(frozen=True, slots=True)
class PseudoShares:
    """Log shares of components by their weights, of which each is given some rows beforehand.

    Or all are `equal`, which is known, whatever the weights; or some are `known`, and the others
    divide what these leave.
    """

    rows: float = 0.0
    equal: bool = False
    known: tuple[float | None, ...] | None = None

    def __call__(self, weight: Floats) -> Floats:
        rows = np.ones(len(weight)) if self.equal else weight + self.rows
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.known is None:
                return np.log(rows / rows.sum())
            shares = np.array([np.nan if share is None else share for share in self.known])
            free = np.isnan(shares)
            shares[free] = (1 - np.nansum(shares)) * rows[free] / rows[free].sum()
            return np.log(shares)

    def given(self, shares: Floats) -> Floats:
        """Shares of a first guess, with those that are known in the place of its own."""
        return shares if self.known is None else np.exp(self(shares))

    def n_free(self, n_groups: int) -> int:
        """How many of the shares the data determine."""
        if self.equal:
            return 0
        return max((n_groups if self.known is None else self.known.count(None)) - 1, 0)

    def log_density(self, log_shares: Floats) -> float:
        """Log likelihood of the rows given beforehand, by the shares that are not known."""
        if not self.rows or self.equal:
            return 0.0
        if self.known is not None:
            log_shares = log_shares[[share is None for share in self.known]]
        return self.rows * float(log_shares.sum())


@dataclass(frozen=True, slots=True, eq=False)
class MixtureRule(Rule):
    """The family of the components and their shares; and what to raise where one collapses."""

    prior: PseudoShares
    remedy: str = "prior_rows"
    known: KnownComponents | None = None  # that stays as it is

    def estimate(self, statistics: JointStatistics[Any]) -> Joint[Any, Any]:
        return self._imposed(Rule.estimate(self, statistics), statistics)

    def _imposed(self, joint: Joint[Any, Any], sums: JointStatistics[Any]) -> Joint[Any, Any]:
        return joint if self.known is None else self.known.imposed(joint, sums, self.prior.rows)

    def improve(
        self, sums: JointStatistics[Any], pooled: Any, before: Joint[Any, Any] | None
    ) -> Joint[Any, Any]:
        """A better model than the one before, if there is one; `pooled` are sums of all rows."""
        parameters = None if before is None else before.parameters
        better = self.family.improve(sums.features, pooled, parameters)
        return self._imposed(Joint(self.family, self.prior(sums.weight.rounded()), better), sums)

    def n_shares(self, n_groups: int) -> int:
        """Shares that the data determine, less what they need not of the components."""
        return self.prior.n_free(n_groups) - (0 if self.known is None else self.known.n_numbers)

    def intervals(self, joint: Joint[Any, Any], features: Any, level: float) -> Intervals:
        lines = Rule.intervals(self, joint, features, level)
        return lines if self.known is None else self.known.without_doubt(lines)

    def collapse(self, features: Array) -> Collapse:
        """Tells errors of the core in the words of mixtures."""
        return Collapse(features, self.remedy)


class Collapse:
    """Errors of the core inside are told in the words of mixtures."""

    def __init__(self, features: Array, remedy: str) -> None:
        self._features, self._remedy = features, remedy

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if not isinstance(error, DegenerateError):
            return
        where = ""
        if error.feature is not None:
            name = quoted(self._features[error.feature]).replace("{", "{{").replace("}", "}}")
            where = f" It happened in column {name}."
        raise DegenerateError(
            "Fitting the mixture model failed because some components have ill-defined empirical "
            "covariance (for instance caused by singleton or collapsed samples). Try to decrease "
            f"the number of components, increase {self._remedy}, or scale the input data. "
            "Leave out columns that never vary or have no cells." + where,
            error.feature,
        ) from None


@dataclass(frozen=True, slots=True, eq=False)
class HiddenGroups:
    """Rows whose groups are hidden, and the rule of their components."""

    reader: Reader
    rule: MixtureRule
    rows: Rows | RemoteRows
    engine: Worker

    def _collapse(self) -> Collapse:
        return self.rule.collapse(self.reader.names)

    def among(self, k: int) -> Hidden[Any, Any]:
        """What EM asks of so many components."""
        rule, engine = self.rule, self.engine
        rows = self.rows.map(partial(Rows.among, n_groups=k))
        pooled = self._pooled()

        def maximize(sums: JointStatistics[Any], before: Joint[Any, Any] | None) -> Joint[Any, Any]:
            sums = sums if before is not None else with_room(sums, rows, pooled)
            return rule.improve(sums, pooled.features, before)

        def log_prior(joint: Joint[Any, Any]) -> float:
            features = rule.family.log_prior(joint.parameters, pooled.features)
            return rule.prior.log_density(joint.log_prior) + features

        return Hidden(
            expect=lambda joint: engine.sum(expectation(joint), rows),
            maximize=maximize,
            log_prior=log_prior,
            weight=float(pooled.weight.rounded()[0]),
            keeps_rows=pooled.features.keeps_rows(),
        )

    def _pooled(self) -> JointStatistics[Any]:
        rows = self.rows.map(partial(Rows.among, n_groups=1, code=0))
        try:
            return self.engine.sum(labeling(self.rule.family), rows)
        except NotFiniteError:
            raise self._too_large() from None

    def step(
        self, so_far: JointStatistics[Any], before: Joint[Any, Any]
    ) -> tuple[JointStatistics[Any], Joint[Any, Any], float]:
        """Sums and model after these rows, which weigh as a part of all, and their likelihood."""
        alone = len(before.log_prior) == 1  # nothing was hidden from earlier chunks
        try:
            expected = self.engine.sum(expectation(before), self.rows)
        except NotFiniteError:
            raise self._too_large() from None
        more = expected.statistics
        old, new = (float(sums.weight.sum().rounded()) for sums in (so_far, more))
        total = old + new
        share = (new / total) ** (1.0 if alone else FRESH)
        sums = so_far * ((1 - share) * total / old) + more * (share * total / new)
        with self._collapse():
            joint = self.rule.improve(sums, sums.features.pooled(), before)
            joint.scorer()  # refuses parameters that the rows leave open
        return sums, joint, expected.log_likelihood / new

    def _too_large(self) -> ValueError:
        """What sums could not add is looked for in the table."""
        self.reader.check(self.rows.sample.X, fitting=True)
        return ValueError(
            "Expected cells whose squares are finite numbers, got larger ones. Rescale the columns."
        )

    def first(self, hidden: Hidden[Any, Any], groups: Groups) -> Joint[Any, Any]:
        """The model of a first guess, which says the groups of the rows in memory."""
        rows = Rows(self.rows.sample.X, groups)
        sums = self.engine.sum(labeling(self.rule.family), rows)
        with self._collapse():
            joint = hidden.maximize(sums, None)
            joint.scorer()  # refuses parameters that the rows leave open
        return joint

    def ascent(
        self,
        hidden: Hidden[Any, Any],
        joint: Joint[Any, Any],
        stop: Stop,
        watch: Watch,
        before: float,
        accelerate: bool,
    ) -> Ascent[Any, Any]:
        """The steps of EM from a first model."""
        if stop.max_iter == 0:
            return Ascent(joint, hidden.expect(joint).statistics, (), "max_iter")
        # rows that are kept as they are would be kept three times a stride
        solve = leap if accelerate and not hidden.keeps_rows else climb
        with self._collapse():
            ascent = solve(hidden, joint, stop, watch, before)
            ascent.joint.scorer()  # refuses parameters that the last step left open
        return ascent


def with_room(
    sums: JointStatistics[Any], rows: Rows | RemoteRows, pooled: JointStatistics[Any]
) -> JointStatistics[Any]:
    """Sums of a first guess, with room for values that the rows in memory do not have."""
    if not isinstance(rows, RemoteRows) or rows.complete:
        return sums
    n_groups = len(sums.weight.rounded())
    return sums + pooled.placed(np.zeros(1, np.int64), n_groups) * 0
