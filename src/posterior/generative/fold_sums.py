"""Scores of rows by models that never saw them, for about the price of one fit.

Statistics subtract: the model without a fold is the total less the fold's own sums, and the model
without a row the total less the row (Izbicki 2013).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Protocol, runtime_checkable

import numpy as np

from posterior import kernels
from posterior.data.errors import DegenerateError, named_errors
from posterior.data.rows import Features, Hard, Rows, take
from posterior.data.typing import Array, Codes, Floats
from posterior.evaluation.calibration import Calibrator, learned
from posterior.evaluation.held_out import HeldOut
from posterior.families.family import fill
from posterior.generative.belonging import Belonging
from posterior.generative.dealing import by_content, in_turn
from posterior.generative.joint import Joint, JointStatistics
from posterior.generative.rule import CheckedSum, Rule, Worker
from posterior.readers.labels import Labels
from posterior.readers.reader import Reader

FOLDS = 10


@runtime_checkable
class Splitter(Protocol):
    """Deals rows out to folds, as those of scikit-learn do."""

    def split(self, X: Any, y: Any, groups: Any, /) -> Iterable[tuple[Array, Array]]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """Labeled rows, who read them, and where they are summed: all that is held out is of these."""

    rows: Rows
    reader: Reader
    labels: Labels
    engine: Worker

    def sum(self, rule: Rule, rows: Rows) -> JointStatistics[Any]:
        total: JointStatistics[Any] = CheckedSum(
            rule.summing(self.reader), self.reader, self.engine
        )(rows)
        return total

    def fold_sums(self, rule: Rule, fold: Codes) -> list[JointStatistics[Any]]:
        """The sums of each fold, in one pass; those never held out come last."""
        n_folds = int(fold.max()) + 1
        if fold.min() < 0:
            fold, n_folds = np.where(fold < 0, n_folds, fold), n_folds + 1
        return fold_statistics(self.rows, fold, n_folds, lambda rows: self.sum(rule, rows))

    def held_out(
        self, rule: Rule, fold: Codes, parts: list[JointStatistics[Any]] | None = None
    ) -> HeldOut:
        """Every row by the model of the other folds, for about the price of one fit.

        Rows of a fold below zero are learned by all models, and not scored.
        """
        parts = self.fold_sums(rule, fold) if parts is None else parts
        asked = int(fold.max()) + 1
        with named_errors(self.reader.names, self.labels.classes):
            joints = models_without(parts, lambda left: rule.estimate(_kept(rule, left)), asked)
        some, rows = np.flatnonzero(fold >= 0), self.rows
        if len(some) < len(fold):
            rows, fold = rows.take(some), fold[some]
        log_proba = score_held_out(rows.X, fold, joints, self.engine)
        return self._scores(rows, log_proba, fold)

    def left_one_out(self, rule: Rule) -> HeldOut:
        """Every row by the model of all the others."""
        rows, statistics = self.rows, self.sum(rule, self.rows)
        log_joint = leave_one_out(rows, statistics, rule)
        # where a parameter hangs on one row, that row takes the long way: subtract, estimate, score
        special = ~np.isfinite(log_joint).all(axis=1) | rule.decisive(rows, statistics)
        for i in np.flatnonzero(special):
            row = rows[i : i + 1]
            with named_errors(self.reader.names, self.labels.classes):
                joint = rule.estimate(_kept(rule, statistics - self.sum(rule, row)))
                log_joint[i] = joint.log_joint(row.X)
        kernels.normalize(log_joint, "log_posterior")
        return self._scores(rows, log_joint, None)

    def calibrator(self, rule: Rule, kind: str) -> Calibrator | None:
        """What corrects the probabilities, learned from rows held out, in whatever order."""
        rows = self.rows.take(by_content(self.rows)[0])
        trial = Trial(rows, self.reader, self.labels, self.engine)
        held_out = trial.held_out(rule, in_turn(len(rows), min(FOLDS, len(rows))))
        return learned(held_out, kind)

    def compared(
        self,
        rules: Sequence[Rule],
        fold: Codes,
        parts: list[JointStatistics[Any]],
        floor: float = -np.inf,
    ) -> tuple[int, dict[str, Array]]:
        """The rule of least out-of-fold log loss, and the scores of all, from one set of sums.

        Log probabilities below a floor count as the floor.
        """
        results: list[HeldOut | None] = []
        reason: DegenerateError | None = None
        for rule in rules:
            try:
                held_out = self.held_out(rule, fold, parts)
                np.maximum(held_out.log_proba, floor, out=held_out.log_proba)
                results.append(held_out)
            except DegenerateError as error:
                results.append(None)
                reason = error
        if reason is not None and all(r is None for r in results):
            raise reason
        losses = np.array([np.inf if r is None else r.log_loss for r in results])
        best = int(np.nanargmin(losses))
        errors = [np.nan if r is None else r.standard_error("log_loss") for r in results]
        return best, {
            "log_loss": losses,
            "standard error": np.array(errors),
            "accuracy": np.array([np.nan if r is None else r.accuracy for r in results]),
            "chosen": np.where(np.arange(len(rules)) == best, "<-", ""),
        }

    def _scores(self, rows: Rows, log_proba: Floats, fold: Codes | None) -> HeldOut:
        groups = rows.hard
        return HeldOut(log_proba, groups.codes, self.labels.classes, fold, groups.weight)


def _kept(rule: Rule, left: JointStatistics[Any]) -> JointStatistics[Any]:
    return JointStatistics(left.weight, rule.kept(left.features))


Finish = Callable[[JointStatistics[Any]], Joint[Any, Any]]


def fold_statistics(
    rows: Rows, folds: Codes, n_folds: int, sum_rows: Callable[[Rows], JointStatistics[Any]]
) -> list[JointStatistics[Any]]:
    """The sums of each fold, from one pass: a fold's classes are groups of their own."""
    groups = rows.groups
    assert isinstance(groups, Hard)
    k = groups.n_groups
    codes = np.where(groups.codes < 0, -1, folds * k + groups.codes).astype(np.int32)
    together = sum_rows(Rows(rows.X, Hard(codes, n_folds * k, groups.weight)))
    return [together.take(slice(f * k, (f + 1) * k)) for f in range(n_folds)]


def models_without(
    parts: list[JointStatistics[Any]], finish: Finish, asked: int | None = None
) -> list[Joint[Any, Any]]:
    """For each fold, or some of the first, the model of all the others."""
    total = reduce(add, parts)
    return [finish(total - part) for part in parts[:asked]]


def score_held_out(
    X: Features, folds: Codes, joints: list[Joint[Any, Any]], engine: Worker
) -> Floats:
    """log p(k | x) (n, k) of every row by the model that its fold took no part in."""
    scorers = [joint.discriminant() for joint in joints]
    out = np.empty((X.shape[0], len(joints[0].log_prior)))

    def score(chunk: Features, rows: slice, part: Floats) -> None:
        fold = folds[rows]
        alone = fold.min() == fold.max()
        for f in fold[:1] if alone else np.flatnonzero(np.bincount(fold)):
            index = np.flatnonzero(fold == f)
            first, last = int(index[0]), int(index[-1]) + 1
            if last - first < 2 * len(index):  # side by side but for strangers, who lose nothing
                strangers = first + np.flatnonzero(fold[first:last] != f)
                kept = part[strangers]
                scorers[f](chunk[first:last], part[first:last])
                part[strangers] = kept
            else:
                part[index] = fill(scorers[f], take(chunk, index), part.shape[1])
        kernels.normalize(part, "log_posterior")

    engine.fill(score, X, out)
    return out


def leave_one_out(rows: Rows, statistics: JointStatistics[Any], rule: Rule) -> Floats:
    """log p(xᵢ, k) (n, k) by the model of all rows but the i-th."""
    groups = rows.groups
    assert isinstance(groups, Hard)
    n, codes = len(rows), groups.codes
    weight = np.tile(statistics.weight.rounded(), (n, 1))
    weight[np.arange(n), codes] -= 1.0 if groups.weight is None else groups.weight
    step = max(1, 2_000_000 // max(rows.X.shape[1] * groups.n_groups, 1))
    score = np.concatenate(
        [
            rule.family.leave_one_out(
                rows.X[i : i + step], groups[i : i + step], statistics.features
            )
            for i in range(0, max(n, 1), step)
        ]
    )
    prior = rule.prior(weight)
    return np.where(np.isneginf(prior), -np.inf, score + prior)


def stratified_folds(codes: Codes, n_folds: int) -> Codes:
    """A fold for each row, classes spread evenly and in order.

    Rows sorted by class are dealt out in turn, which says how many of a class each fold gets;
    a class's rows then fill its folds in the order they stand in. (The assignment of
    scikit-learn's StratifiedKFold without shuffling.)
    """
    counts = np.bincount(codes)
    order = kernels.rows_by_group(codes, len(counts))
    ends = np.cumsum(counts)
    first_row = np.full(len(counts), len(codes))
    first_row[counts > 0] = order[(ends - counts)[counts > 0]]
    dealt = np.empty((len(counts), 1), np.int64)  # to classes that appear before
    appearance = np.argsort(first_row, kind="stable")
    dealt[appearance, 0] = np.cumsum(counts[appearance]) - counts[appearance]
    turns = dealt + n_folds - 1 - np.arange(n_folds)
    shares = (turns + counts[:, None]) // n_folds - turns // n_folds  # (k, n_folds)
    folds = np.empty(len(codes), np.int32)
    folds[order] = np.repeat(
        np.tile(np.arange(n_folds, dtype=np.int32), len(counts)), shares.ravel()
    )
    return folds


def folds_of(folds: Any, codes: Codes, groups: Any = None, time: Any = None) -> Codes:
    """The fold of each row: by a number, a splitter of scikit-learn, or as given.

    A row of a fold below zero is learned, and never held out: so are those that are not of the
    latest part, where rows have a time.
    """
    n = len(codes)
    if isinstance(folds, int | np.integer):
        if not 2 <= folds <= n:
            raise ValueError(f"Expected between 2 and {n} folds, as there are rows, got {folds}.")
        if groups is None and time is None:
            return stratified_folds(codes, int(folds))
        dealt = Belonging.of(groups, time, n).folds(codes, int(folds))
        return dealt if time is None else np.where(dealt > 0, -1, dealt).astype(np.int32)
    if time is not None:
        raise ValueError(
            f"Expected a number of parts in time, of which the latest is held out, got {folds!r}."
        )
    if isinstance(folds, Splitter) and not isinstance(folds, str):
        assigned = np.full(n, -1, np.int32)
        for f, (_, test) in enumerate(folds.split(np.empty((n, 0)), codes, groups)):
            if (assigned[test] >= 0).any():
                raise ValueError("Expected every row in one fold, but the splitter repeats rows.")
            assigned[test] = f
        if (assigned < 0).any():
            raise ValueError("Expected every row in one fold, but the splitter leaves rows out.")
        return assigned
    if groups is not None:
        raise ValueError("Expected folds to be a number or a splitter, as groups are given.")
    given = np.asarray(folds)
    if given.shape != (n,):
        raise ValueError(
            f"Expected a number of folds, or one fold for each of {n} rows, got {folds!r}."
        )
    distinct, fold = np.unique(given, return_inverse=True)
    if len(distinct) < 2:
        raise ValueError("Expected two folds or more, got one.")
    if given.dtype.kind in "if":
        fold = np.maximum(fold - (distinct < 0).sum(), -1)
    if fold.max() < 0:
        raise ValueError("Expected a fold of zero or more, whose rows are held out, got none.")
    return fold.astype(np.int32)


def scored(held_out: HeldOut) -> HeldOut:
    """Without the rows that no fold held out."""
    folds = held_out.folds
    if folds is None or folds.min() >= 0:
        return held_out
    return held_out.take(np.flatnonzero(folds >= 0))


def one_parameter(grid: Mapping[str, Sequence[Any]]) -> tuple[str, Sequence[Any]]:
    """The parameter to tune and the values to try, of which there must be some."""
    if len(grid) != 1 or not all(len(values) for values in grid.values()):
        raise ValueError(
            f"Expected one parameter and values to try, got {dict(grid)}. Pass them as grid=, "
            'such as {"alpha": [0.1, 1, 10]}.'
        )
    ((name, values),) = grid.items()
    return name, values
