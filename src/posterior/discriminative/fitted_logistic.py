"""FittedLogistic: all that a logistic regression has learned, as one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError

from posterior import kernels
from posterior.data.errors import STATED
from posterior.data.rows import Features, Rows, SparseRows
from posterior.data.typing import Array, Floats
from posterior.discriminative.reservoir import Stream
from posterior.evaluation.calibration import Calibrator, answers
from posterior.families.linear import affine_scorer, dense
from posterior.readers.encoded import Encoded, answers_missing
from posterior.readers.labels import Labels
from posterior.statistics.moments import floats

if TYPE_CHECKING:
    from posterior.discriminative.minimum import Minimum
    from posterior.discriminative.objective import Summer


class Filler(Protocol):
    """What is needed of an engine to answer rows."""

    def fill(
        self, function: Callable[[Features, slice, Floats], None], X: Features, out: Floats
    ) -> None: ...


@dataclass(frozen=True, slots=True, eq=False)
class FittedLogistic:
    """Scores b + w · x, how rows are read, and what is known of how it was learned.

    One output scores the second class against the first; of more classes each has its own.
    """

    reader: Encoded
    labels: Labels
    coef: Any  # (outputs, d), an array or a sparse matrix
    intercept: Floats  # (outputs,)
    typical: Floats  # (d,): the mean row, where missing cells are taken to be; zero if sparse
    n_iter: Array | None = None  # None: stated, not learned
    solver: str | None = None
    trace: tuple[Any, ...] = ()  # of Step
    minimum: Any = None  # or Minimum, with the rows, so that it is never stored
    stream: Stream | None = None
    calibrator: Calibrator | None = None

    @classmethod
    def of(cls, reader: Encoded, labels: Labels, minimum: Minimum, dtype: Any) -> FittedLogistic:
        """The model at a minimum."""
        objective, solution = minimum.objective, minimum.solution
        slope, intercept = (v.astype(dtype) for v in objective.loss.parts(minimum.coef))
        typical = mean_row(objective.rows.sample, objective.engine)
        n_iter = np.array([solution.n_iter], np.int32)
        told = n_iter, minimum.solver, solution.trace
        return cls(reader, labels, slope, intercept, typical, *told, minimum)

    @property
    def classes(self) -> Array:
        return self.labels.classes

    def parts(self) -> tuple[Floats, Floats]:
        """Slopes (outputs, d) and intercepts (outputs,), dense."""
        coef = self.coef.toarray() if sparse.issparse(self.coef) else self.coef
        intercept = np.broadcast_to(np.asarray(self.intercept, np.float64), len(coef))
        return np.ascontiguousarray(coef, np.float64), np.ascontiguousarray(intercept)

    def by_class(self) -> tuple[Floats, Floats]:
        """The same with a line for every class; the first of two has a score of zero."""
        coef, intercept = self.parts()
        if len(coef) == len(self.labels):
            return coef, intercept
        return np.vstack([np.zeros_like(coef), coef]), np.append(np.zeros(1), intercept)

    def scores(self, X: Any, engine: Filler) -> Floats:
        """b + w · x, (n, outputs)."""
        reader, missing = self.reader, answers_missing(X)
        features, (coef, intercept) = reader.read(X), self.parts()
        sparse_scorer = affine_scorer(None, coef, intercept)
        absent = -coef * (self.typical if missing else np.nan)
        out = np.empty((features.shape[0], len(coef)))

        def score(chunk: Any, rows: slice, part: Floats) -> None:
            if isinstance(chunk, SparseRows):
                sparse_scorer(chunk, part)
            else:
                kernels.linear_log_joint(floats(chunk), coef, absent, intercept, part)
            if not np.isfinite(part.sum()):
                reader.check(chunk, rows.start, missing=missing)

        engine.fill(score, features, out)
        return out

    def posterior(self, X: Any, engine: Filler, wanted: str = "posterior") -> Floats:
        """p(k | x), or its logarithm: "log_posterior"; calibrated if the model is."""
        scores = self.scores(X, engine)
        if scores.shape[1] < len(self.labels):
            scores = np.column_stack([np.zeros(len(scores)), scores])
        return answers(scores, self.calibrator, wanted)

    def terms(self, X: Any) -> tuple[Floats, Floats]:
        """w_kj (xⱼ - tⱼ) of each row, (n, k, d), and the scores (k,) of the typical row t."""
        features, (coef, intercept) = self.reader.filled(X, self.typical), self.by_class()
        terms = (dense(features) - self.typical)[:, None, :] * coef
        return terms, intercept + (coef * self.typical).sum(axis=1)

    def interval(self, X: Any, engine: Filler, level: float) -> tuple[Floats, Floats]:
        """Bounds of p(k | x), from the uncertainty of the fit."""
        filled = self.reader.filled(X, self.typical)
        return self.at_hand.interval(filled, self.scores(X, engine), level)

    @property
    def at_hand(self) -> Minimum:
        """The minimum, with the rows of the fit."""
        if self.n_iter is None:
            raise NotFittedError(STATED)
        if self.minimum is None:
            raise ValueError(
                "Expected the rows that the model was fitted to, but a model that was stored or "
                "copied does not keep them. Fit it again."
            )
        return self.minimum


def mean_row(rows: Rows, engine: Summer) -> Floats:
    """The mean of the rows as they count, where a missing cell is taken to be; zero if sparse."""
    if not isinstance(rows.X, np.ndarray):
        return np.zeros(rows.X.shape[1])
    total = engine.sum(_weight_and_sum, rows)
    return np.asarray(total[1:] / max(total[0], np.finfo(float).tiny))


def _weight_and_sum(rows: Rows) -> Floats:
    cells, weight = floats(np.asarray(rows.X)), rows.hard.weight
    weight = np.ones(len(cells)) if weight is None else weight
    return np.concatenate([[weight.sum()], np.einsum("n,nd->d", weight, cells)])
