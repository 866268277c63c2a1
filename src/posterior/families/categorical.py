"""Columns of categories, independent given the group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from posterior import kernels
from posterior.data.errors import DegenerateError
from posterior.data.rows import CodedRows, Groups, Hard
from posterior.data.typing import Array, Floats
from posterior.families.credible import beta_interval
from posterior.families.family import Family, Intervals, Scorer, Summed, Support
from posterior.families.priors import LAPLACE, DiscretePrior, Laplace, pseudo_log_likelihood
from posterior.families.symbols import Cells, Formula, Lookup
from posterior.kernels import pairs
from posterior.statistics.counts import Counts
from posterior.statistics.extent import as_codes
from posterior.statistics.keyed import Places, Values, places

TOLERANCE = 1e-6  # by which shares may miss one, as people write them


@dataclass(frozen=True, slots=True, eq=False)
class CategoricalParameters:
    """For each column the log probabilities (k, K + 1) of its values and of one never seen."""

    values: Values
    log_prob: tuple[Floats, ...]


@dataclass(frozen=True, slots=True)
class Categorical(Family[Counts, CategoricalParameters]):
    """Columns of categories, independent given the group.

    p(x = v | k) = (n_kv + α_v) / Σ_u (n_ku + α_u)

    A value never seen has the probability it would have had, had it been among the values from
    the start. `n_values` says how many values there are where more are possible than were seen.
    """

    exact: ClassVar[bool] = True
    support: ClassVar[Support] = "category"

    prior: DiscretePrior = LAPLACE
    n_values: tuple[int, ...] | None = None

    def statistics(self, X: CodedRows, groups: Groups) -> Counts:
        return Counts.of(X, groups)

    def estimate(self, statistics: Counts, pooled: Counts | None = None) -> CategoricalParameters:
        everyone = statistics.pooled() if pooled is None else pooled
        counts = statistics.columns(statistics.table.rounded())
        shares = everyone.columns(everyone.table.rounded())
        log_prob = tuple(
            self._column(j, n, share[0])
            for j, (n, share) in enumerate(zip(counts, shares, strict=True))
        )
        return CategoricalParameters(statistics.values, log_prob)

    def _size(self, j: int, seen: int) -> int:
        return seen if self.n_values is None else max(seen, self.n_values[j])

    def _column(self, j: int, count: Floats, pooled: Floats) -> Floats:
        """Log probabilities (k, K + 1) of the j-th column, from its counts (k, K)."""
        frequency, n_values = pooled / max(pooled.sum(), 1e-300), self._size(j, count.shape[1])
        more = self.prior.pseudo_counts(frequency, n_values)
        self._check_shares(j, more)
        is_new = n_values == count.shape[1]  # a value never seen is one more
        unseen = self.prior.unseen(n_values if is_new else n_values - 1)
        known = self._rows(count, n_values)
        beyond = known + unseen if is_new and isinstance(self.prior, Laplace) else known
        with np.errstate(divide="ignore", invalid="ignore"):
            log_prob = np.hstack(
                [
                    np.log(count + more) - np.log(known),
                    np.log(np.broadcast_to(unseen, known.shape)) - np.log(beyond),
                ]
            )
        # nothing seen and nothing believed: all values alike
        return np.where(np.isnan(log_prob), -np.log(float(max(n_values, 1))), log_prob)

    def _check_shares(self, j: int, rows: Floats) -> None:
        prior = self.prior
        if isinstance(prior, Laplace) or prior.p is None or prior.p == "uniform" or not prior.m:
            return
        if abs(total := rows.sum() / prior.m - 1) > TOLERANCE:
            raise DegenerateError(
                f"Expected shares p of the {len(rows)} values of feature {{feature}} that sum to "
                f"1, but they sum to {total + 1:.6g}.",
                feature=j,
            )

    def _rows(self, count: Floats, n_values: int) -> Floats:
        """Rows and pseudo-rows of each group (k, 1), those of values not seen among them."""
        rows = count.sum(axis=1, keepdims=True)
        if not isinstance(self.prior, Laplace):
            return rows + self.prior.m
        more = self.prior.pseudo_counts(count[0], n_values).sum()
        hidden = float(n_values - count.shape[1])  # values that are possible and were not seen
        return np.asarray(rows + more + hidden * float(self.prior.unseen(n_values)))

    def log_prior(self, parameters: CategoricalParameters, pooled: Counts) -> float:
        total = 0.0
        shares = pooled.columns(pooled.table.rounded())
        for j, (share, log_prob) in enumerate(zip(shares, parameters.log_prob, strict=True)):
            frequency, n = share / max(share.sum(), 1e-300), self._size(j, share.shape[1])
            more = self.prior.pseudo_counts(frequency, n)
            unseen = self.prior.unseen(n)
            left = n - share.shape[1]  # values that are possible and were not seen
            hidden = left * unseen if isinstance(self.prior, Laplace) else self.prior.m - more.sum()
            total += pseudo_log_likelihood(more, log_prob[:, :-1])
            total += pseudo_log_likelihood(np.maximum(hidden, 0.0), log_prob[:, -1]) if left else 0
        return total

    def scorer(self, parameters: CategoricalParameters, bias: Floats) -> Scorer:
        table = kernels.side_by_side(np.hstack([np.asarray(p) for p in parameters.log_prob]))
        sizes = [p.shape[1] for p in parameters.log_prob]
        offset = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        bias, recode = np.ascontiguousarray(bias), Recoding(parameters.values)

        def score(X: CodedRows, out: Floats) -> None:
            codes = recode(X)
            kernels.table_log_joint(codes, table, offset, bias, out)

        return score

    def evidence(self, X: CodedRows, parameters: CategoricalParameters) -> Floats:
        codes = recoded(X, parameters.values)
        terms = np.zeros((codes.shape[0], parameters.log_prob[0].shape[0], codes.shape[1]))
        for j, log_prob in enumerate(parameters.log_prob):
            seen = codes[:, j] >= 0
            code = np.minimum(codes[seen, j], log_prob.shape[1] - 1)
            terms[seen, :, j] = log_prob[:, code].T
        return terms

    def leave_one_out(self, X: CodedRows, groups: Hard, statistics: Counts) -> Floats:
        codes = recoded(X, statistics.values)
        n, k = len(codes), groups.n_groups
        w = np.ones(n) if groups.weight is None else groups.weight
        score = np.zeros((n, k))
        exact = statistics.table.pair()
        low = statistics.columns(exact.low)
        for j, count in enumerate(statistics.columns(exact.high)):
            seen = np.flatnonzero(codes[:, j] >= 0)
            code, group, weight = codes[seen, j], groups.codes[seen], w[seen]
            left = count[:, code].T.copy()  # (rows, k): others with this row's value
            rows = np.tile(count.sum(axis=1), (len(seen), 1))
            own = pairs.Pair(count[group, code], low[j][group, code])
            left[np.arange(len(seen)), group] = pairs.less(own, weight)
            rows[np.arange(len(seen)), group] -= weight
            pooled, all_rows = count.sum(axis=0)[code] - weight, count.sum() - weight
            alone = pooled <= 0  # nobody else has this value, so it was never seen
            size = np.full(len(seen), self._size(j, count.shape[1]))
            chosen = self._chosen(code)
            score[seen] += self._held_out(left, rows, pooled, all_rows, size, alone, chosen)
        return score

    def _chosen(self, code: Array) -> Floats | None:
        """The share that someone chose for each row's value."""
        if isinstance(self.prior, Laplace) or self.prior.p is None or self.prior.p == "uniform":
            return None
        return np.broadcast_to(np.asarray(self.prior.p, np.float64), (code.max() + 1,))[code]

    def _held_out(
        self,
        count: Floats,
        rows: Floats,
        pooled: Floats,
        all_rows: Floats,
        n_values: Array,
        alone: Array,
        chosen: Floats | None,
    ) -> Floats:
        """Log probabilities (n, k) of each row's value, from counts without the row."""
        if isinstance(self.prior, Laplace):
            more = np.full(len(count), float(np.min(self.prior.alpha)))
            known = rows + (more * n_values)[:, None]
        else:
            size = np.where(alone, n_values - 1, n_values)
            if chosen is not None:
                more = self.prior.m * chosen
            elif self.prior.p is None:
                more = self.prior.m * pooled / np.maximum(all_rows, 1e-300)
            else:
                more = self.prior.m / np.maximum(size, 1)
            more = np.where(alone, self.prior.unseen(size), more)
            known = rows + self.prior.m
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(np.where(alone[:, None], 0.0, count) + more[:, None]) - np.log(known)

    def sample(
        self, codes: Array, parameters: CategoricalParameters, random: np.random.Generator
    ) -> CodedRows:
        drawn = np.empty((len(codes), len(parameters.values)), np.int64)
        for j, log_prob in enumerate(parameters.log_prob):
            p = np.exp(log_prob[:, :-1])
            cumulative = np.cumsum(p / p.sum(axis=1, keepdims=True), axis=1)[codes]
            drawn[:, j] = (random.random((len(codes), 1)) > cumulative[:, :-1]).sum(axis=1)
        return CodedRows(drawn, parameters.values)

    def n_parameters(self, parameters: CategoricalParameters) -> int:
        return sum(
            p.shape[0] * (self._size(j, p.shape[1] - 1) - 1)
            for j, p in enumerate(parameters.log_prob)
        )

    def sizes(self, statistics: Counts) -> Sequence[int]:
        return [len(values) for values in statistics.values]

    def summary(self, statistics: Counts, parameters: CategoricalParameters, column: int) -> str:
        values = statistics.values[column]
        shown = ", ".join(str(v) for v in values[:4])
        return shown if len(values) <= 4 else f"{shown}, ... ({len(values)})"

    def summed(self) -> Summed:
        return Summed(Counts)

    def formula(self, parameters: CategoricalParameters, cells: Cells) -> list[Formula]:
        """The log probability of the cell's value, or of one never seen"""
        found = []
        parts = zip(cells, parameters.values, parameters.log_prob, strict=True)
        for x, values, log_prob in parts:
            levels = tuple(values.tolist())
            scores = (Lookup(x, levels, tuple(p[: len(levels)]), p[-1]) for p in log_prob.tolist())
            found.append(Formula(x.name, tuple(scores)))
        return found

    def intervals(
        self, statistics: Counts, parameters: CategoricalParameters, level: float
    ) -> Intervals:
        counts = statistics.columns(statistics.table.rounded())
        rows = [self._rows(n, self._size(j, n.shape[1])) for j, n in enumerate(counts)]
        shares = [np.exp(log_prob[:, :-1]) for log_prob in parameters.log_prob]
        return share_intervals(statistics.values, shares, rows, level)


def share_intervals(
    values: Values, shares: Sequence[Floats], rows: Sequence[Floats], level: float
) -> Intervals:
    """Of the shares p (k, K) that each column's values have among n rows (k, 1), real and
    imagined ones: those of Beta(n p, n (1 - p))."""
    lines: list[Intervals] = []
    for j, (names, p, n) in enumerate(zip(values, shares, rows, strict=True)):
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = beta_interval(level, n * p, n * (1 - p))
        low, high = (np.where((p == 0) | (p == 1), p, end) for end in ends)  # nothing is open
        for v, name in enumerate(names):
            one = Intervals.of(f"P({name})", p[:, [v]], low[:, [v]], high[:, [v]])
            lines.append(replace(one, feature=one.feature + j))
    return sum(lines[1:], start=lines[0])


def recoded(X: CodedRows, values: Values) -> Array:
    """Codes of the same cells by other values; beyond the last where a value is not among them."""
    given = as_codes(X.codes)
    if X.values is values or not X.values:
        return given
    codes = np.empty(given.shape, np.int64)
    for j, (old, new) in enumerate(zip(X.values, values, strict=True)):
        mapping = np.append(places(new, old), len(new))
        column = given[:, j]
        codes[:, j] = np.where(column < 0, -1, mapping[np.minimum(column, len(old))])
    return codes


class Recoding:
    """The same by values that are known beforehand: prepared once, and asked chunk by chunk."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._places = [Places(each) for each in values]

    def __call__(self, X: CodedRows) -> Array:
        given = as_codes(X.codes)
        if X.values is self._values or not X.values:
            return given
        mapping: list[int] = []  # of all columns, one behind the other
        starts = []
        for old, known in zip(X.values, self._places, strict=True):
            starts.append(len(mapping))
            mapping += [*known(old), len(known), -1]
        sizes = [len(old) for old in X.values]
        place = np.where(given < 0, np.add(sizes, 1), np.minimum(given, sizes))
        return np.array(mapping, np.int64)[place + starts]
