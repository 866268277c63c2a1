"""EM of rows of which some have a label: classes of one component each, or of several."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from posterior import kernels
from posterior.data.errors import named_errors
from posterior.data.rows import HIDDEN, Features, Hard, Rows, take
from posterior.data.table import Table
from posterior.data.typing import Floats
from posterior.evaluation.held_out import HeldOut
from posterior.generative.class_components import Components, FittedComponents
from posterior.generative.dealing import by_content, in_turn
from posterior.generative.em import Ascent, Hidden, Stop, Watch, climb
from posterior.generative.expectation import expectation
from posterior.generative.fitted import Fitted
from posterior.generative.fold_sums import stratified_folds
from posterior.generative.hidden_groups import with_room
from posterior.generative.joint import Joint, JointStatistics
from posterior.generative.rule import Rule, Worker
from posterior.generative.several_starts import Convergence, Progress, best_of
from posterior.readers.labels import Labels
from posterior.readers.reader import Reader
from posterior.sources.remote_rows import RemoteRows


@dataclass(frozen=True, slots=True, eq=False)
class PartlyLabeled:
    """Rows of known or hidden classes, and the rule by which a class is learned from its rows."""

    reader: Reader
    labels: Labels
    rule: Rule
    rows: Rows | RemoteRows
    engine: Worker

    def learn(
        self, components: Components, stop: Stop, n_init: int, random: np.random.RandomState
    ) -> FittedComponents:
        """The best of several starts of EM, which differ where a class has several components."""
        progress = Progress(0, 1, stop.max_iter)
        n_starts = n_init if len(components) > len(self.labels) else 1
        with named_errors(self.reader.names, self.labels.classes[components.of_class]):
            hidden = self._hidden(components)

            def ascent() -> Ascent[Any, Any]:
                return self._ascent(hidden, components, stop, random, progress)

            best, starts = best_of(n_starts, ascent, progress, self.reader.names)
        rule, numbers = components.rule(self.rule), Labels(np.arange(len(components)))
        steps = Convergence.of(best, starts)
        steps = replace(steps, n_iter=max(steps.n_iter, 1))
        statistics = rule.compacted(best.statistics)
        fitted = Fitted(self.reader, numbers, rule, statistics, best.joint, steps)
        return FittedComponents(self.labels, components, fitted)

    def _hidden(self, components: Components) -> Hidden[Any, Any]:
        """What EM asks of the classes' components."""
        rule, rows, engine = components.rule(self.rule), self.rows, self.engine
        pooled = self._summed(rows.map(partial(Rows.among, n_groups=1, code=0)))
        allowed = components.allowed

        def maximize(sums: JointStatistics[Any], before: Joint[Any, Any] | None) -> Joint[Any, Any]:
            if before is None:
                return rule.estimate(with_room(sums, rows, pooled))
            if not sums.features.keeps_rows():
                return rule.estimate(sums)
            family = before.family
            parameters = family.improve(sums.features, pooled.features, before.parameters)
            return Joint(family, rule.prior(sums.weight.rounded()), parameters)

        def log_prior(joint: Joint[Any, Any]) -> float:
            parameters = joint.family.log_prior(joint.parameters, pooled.features)
            return parameters + components.log_prior(joint.log_prior)

        return Hidden(
            expect=lambda joint: engine.sum(expectation(joint, allowed), rows),
            maximize=maximize,
            log_prior=log_prior,
            weight=float(pooled.weight.rounded()[0]),
        )

    def _summed(self, rows: Rows | RemoteRows) -> JointStatistics[Any]:
        """The sums of rows by their groups; hidden ones are left out."""
        try:
            return self.engine.sum(self.rule.summing(self.reader), rows)
        except ValueError:
            self.reader.check(rows.sample.X, fitting=True)  # says where in the whole table
            raise

    def _ascent(
        self,
        hidden: Hidden[Any, Any],
        components: Components,
        stop: Stop,
        random: np.random.RandomState,
        watch: Watch,
    ) -> Ascent[Any, Any]:
        """The steps of EM from a first model of the rows whose labels are known."""
        if len(components) == len(self.labels):
            first = self._summed(self.rows)
            hides = (self.rows.sample.hard.codes == HIDDEN).any()  # or some row beyond it does
            known = not hides and float(first.weight.sum().rounded()) == hidden.weight
        else:
            near, engine = self.rows.sample, self.engine
            groups = components.first(near.X, near.hard, engine.fill, engine.sum, random)
            first, known = self._summed(Rows(near.X, groups)), False
        joint = hidden.maximize(first, None)
        if known:
            return Ascent(joint, first, (), "converged")  # nothing is hidden
        ascent = climb(hidden, joint, stop, watch)
        ascent.joint.scorer()  # refuses parameters that the last step left open
        return ascent


def weighed(rows: Rows, hidden_weight: float) -> Rows:
    """The same, where rows without a label count as much as was asked for."""
    groups = rows.hard
    hidden = groups.codes == HIDDEN
    if hidden_weight == 1 or not hidden.any():
        return rows
    weight = np.ones(len(hidden)) if groups.weight is None else groups.weight
    weight = np.where(hidden, hidden_weight, 1.0) * weight
    return Rows(rows.X, Hard(groups.codes, groups.n_groups, weight))


def held_out_labels(
    table: PartlyLabeled, learn: Callable[[PartlyLabeled], FittedComponents], folds: int
) -> HeldOut:
    """Labeled rows, by content, answered by the model of the other folds and of all hidden rows."""
    rows = table.rows
    assert isinstance(rows, Rows)
    order, _ = by_content(rows)
    known = order[rows.hard.codes[order] != HIDDEN]
    groups = rows.hard[known]
    fold = in_turn(len(known), max(2, min(folds, int(np.bincount(groups.codes).min()))))
    log_proba = np.empty((len(known), len(table.labels)))
    for f in np.unique(fold):
        kept = np.ones(len(rows), bool)
        kept[known[fold == f]] = False
        found = learn(replace(table, rows=rows.take(np.flatnonzero(kept))))
        log_proba[fold == f] = _answers(found, take(rows.X, known[fold == f]))
    return HeldOut(log_proba, groups.codes, table.labels.classes, fold, groups.weight)


def _answers(found: FittedComponents, X: Features) -> Floats:
    """log p(y | x) of rows that are read."""
    log_joint = found.fitted.model.log_joint(X)
    kernels.normalize(log_joint, "log_posterior")
    return found.components.of_classes(log_joint)


def gain_by_hidden_rows(
    table: PartlyLabeled, learn: Callable[[PartlyLabeled], FittedComponents], folds: int
) -> Table:
    """Accuracy and log loss on held-out labeled rows, learned with hidden rows and without."""
    rows = table.rows
    assert isinstance(rows, Rows)
    codes = rows.hard.codes
    hidden, known = np.flatnonzero(codes == HIDDEN), np.flatnonzero(codes != HIDDEN)
    folds = min(folds, int(np.bincount(codes[known]).min()))
    if folds < 2 or len(hidden) == 0:
        raise ValueError(
            "Expected hidden rows, and two labeled rows or more of each class, got "
            f"{len(hidden)} and {folds}."
        )
    fold = stratified_folds(codes[known], folds)
    loss, right = np.empty((2, len(known))), np.empty((2, len(known)))
    for f in range(folds):
        held, seen = known[fold == f], known[fold != f]
        for i, some in enumerate((seen, np.concatenate([seen, hidden]))):
            log_proba = _answers(learn(replace(table, rows=rows.take(some))), take(rows.X, held))
            loss[i, fold == f] = -log_proba[np.arange(len(held)), codes[held]]
            right[i, fold == f] = log_proba.argmax(axis=1) == codes[held]
    gain = loss[0] - loss[1]
    error = float(gain.std() / np.sqrt(len(gain)))
    return Table(
        {
            "learned from": np.array(["labeled rows", "and hidden rows", "gain"]),
            "accuracy": np.array([*right.mean(axis=1), (right[1] - right[0]).mean()]),
            "log_loss": np.array([*loss.mean(axis=1), gain.mean()]),
            "error": np.array([np.nan, np.nan, error]),
        }
    )
