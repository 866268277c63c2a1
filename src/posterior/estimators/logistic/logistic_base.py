"""A fitted logistic model: scores, probabilities and reasons."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted, validate_data

from posterior import kernels
from posterior.data import containers, frames, validate
from posterior.data.cells import ArrayColumn
from posterior.data.names import plain
from posterior.data.rows import Features, Hard, Rows, SparseRows
from posterior.data.typing import Array, Floats
from posterior.discriminative.loss import LogisticLoss
from posterior.discriminative.objective import Objective
from posterior.discriminative.penalty import Penalty
from posterior.discriminative.solvers import Solution, Solver, Watch
from posterior.discriminative.solvers.solution import ignore
from posterior.engines.local import Local
from posterior.engines.locate import locate
from posterior.estimators.explaining import ExplainingRows
from posterior.estimators.logistic import settings
from posterior.estimators.numeric import NumericInput
from posterior.families.linear import affine_scorer, dense
from posterior.generative.evidence_terms import Evidence
from posterior.preprocessing.encoding import Encoding
from posterior.sources.remote_rows import RemoteRows
from posterior.statistics.moments import floats


class LogisticModel(ClassifierMixin, NumericInput, ExplainingRows):
    """What all logistic regressions share: input, objective, and all that follows a fit."""

    accepts_missing: ClassVar[bool] = False  # in arrays, as scikit-learn's contract has it
    where_words: ClassVar[str] = "Correct the cell, or mark it as missing"
    classes_: Array
    coef_: Any
    intercept_: Floats
    n_iter_: Array
    trace_: tuple[Any, ...]
    typical_: Floats | float = 0.0
    encoding_: Encoding | None = None
    fit_intercept: bool
    class_weight: Any
    solver: str
    intercept_scaling: float
    engine_ = Local()

    def _features(self, X: Any, fitting: bool, reset: bool) -> Features:
        """Numbers as they are; words, and gaps of frames, by their encoding."""
        X = containers.array(X) if isinstance(X, list | tuple) else X
        if reset:
            self.encoding_ = _encoding(X)
        if self.encoding_ is None:
            rows = super()._features(X, fitting, reset)
            # row by row, once: solvers look at them again and again
            return np.ascontiguousarray(rows) if isinstance(rows, np.ndarray) else rows
        validate_data(self, X, reset=reset, skip_check_array=True)
        return self.encoding_(containers.split(X))

    def _check_cells(
        self, X: Any, first_row: int, fitting: bool, allow_missing: bool = False
    ) -> None:
        validate.check_numbers(
            X,
            first_row=first_row,
            names=self.__dict__.get("feature_names_in_"),
            allow_missing=allow_missing,
            allow_negative=True,
            estimator=type(self).__name__,
            remedy="Fill it in, leave the row out, or give the rows as a frame, whose missing "
            "cells are learned and answered.",
        )

    def _learn_columns(self, frame: Any, encoding: Encoding | None) -> None:
        """Names and coding of the columns, from rows whose coding is known."""
        self.encoding_ = encoding
        if encoding is None:
            super()._features(frame, fitting=True, reset=True)
        else:
            validate_data(self, frame, reset=True, skip_check_array=True)

    def _design_names(self) -> Array:
        """What each coefficient belongs to."""
        if self.encoding_ is not None:
            return self.encoding_.names()
        return np.asarray(getattr(self, "feature_names_in_", np.arange(self.n_features_in_)))

    def _values(self, X: Any) -> tuple[Any, ...]:
        cells = super()._values(X)
        return (
            cells if self.encoding_ is None else tuple(cells[i] for i in self.encoding_.sources())
        )

    def _rows(self, X: Any, y: Any, sample_weight: Any, offset: Any = None) -> Rows:
        """Checked input, as the loss reads it; sets the classes."""
        if locate(X) is not None:
            raise TypeError(
                f"Expected rows in memory, which {type(self).__name__} splits into folds, got a "
                "table that is elsewhere. Use LogisticRegression, or read some of the rows."
            )
        if isinstance(y, str):
            X, y = frames.split_target(X, y)
        features = self._features(X, fitting=True, reset=True)
        self.classes_, codes = validate.labels(y, features.shape[0])
        weight = validate.weights(sample_weight, features.shape[0])
        settings.check_input(self.solver, features, len(self.classes_))
        self._check_classes()
        return Rows(
            features,
            Hard(codes, len(self.classes_), self._class_weights(codes, weight)),
            settings.offsets(offset, features.shape[0], self._n_outputs),
        )

    def _check_classes(self) -> None:
        if len(self.classes_) < 2:
            raise ValueError(
                "This solver needs samples of at least 2 classes in the data, but the data "
                f"contains only one class: {plain(self.classes_[0])!r}."
            )

    @property
    def _n_outputs(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _class_weights(self, codes: Array, weight: Floats | None) -> Floats | None:
        if self.class_weight is None:
            return weight
        each = compute_class_weight(
            self.class_weight, classes=self.classes_, y=self.classes_[codes], sample_weight=weight
        )
        factor = each[codes].astype(np.float64)
        return np.asarray(factor if weight is None else factor * weight)

    def _objective(self, rows: Rows | RemoteRows, C: float, ratio: float) -> Objective:
        shape = (self._n_outputs, rows.sample.X.shape[1] + int(self.fit_intercept))
        scale = self.intercept_scaling if self.solver == "liblinear" else np.inf
        penalty = settings.penalty_of(shape, C, ratio, scale if self.fit_intercept else None)
        names = [*map(plain, self._design_names()), *(["intercept"] if self.fit_intercept else [])]
        penalty = settings.with_prior(penalty, getattr(self, "prior", None), names)
        loss = LogisticLoss(shape[0], self.fit_intercept, self._origin(rows.sample, penalty))
        return Objective(rows, loss, penalty, self.engine_)

    def _origin(self, rows: Rows, penalty: Penalty) -> Floats | None:
        """A free intercept may be that of a typical row: the same model, in better coordinates."""
        free = self.fit_intercept and not penalty.ridge[:, -1].any() and penalty.smooth
        if not free or self.solver == "gradient-ascent" or not isinstance(rows.X, np.ndarray):
            return None
        return typical_row(rows.X)

    def _minimized(
        self, solver: Solver, objective: Objective, start: Floats, watch: Watch = ignore
    ) -> Solution:
        """The solution; cells that are no numbers spoil it, and are looked for only then.

        Those of a table that is elsewhere are looked at batch by batch.
        """
        near = objective.rows.sample.X
        try:
            solution = solver.minimize(objective, start, watch)
        except (ValueError, np.linalg.LinAlgError):
            self._check_cells(near, 0, fitting=True)
            raise
        if not np.isfinite(solution.trace[-1].value):
            self._check_cells(near, 0, fitting=True)
            raise ValueError(
                "Expected columns whose sums are finite, got cells that are too large. Scale them "
                "down, or take their logarithms."
            )
        return solution

    def _accept(self, solution: Solution, objective: Objective, dtype: Any) -> None:
        coef = centered(solution.coef, objective)
        dtype = np.float32 if dtype == np.float32 and self.solver != "liblinear" else np.float64
        slope, intercept = objective.loss.parts(coef)
        self.coef_ = slope.astype(dtype)
        self.intercept_ = intercept.astype(dtype)
        self.trace_ = solution.trace
        self.typical_ = mean_row(objective.rows.sample, self.engine_)

    def _parts(self) -> tuple[Floats, Floats]:
        coef = self.coef_.toarray() if sparse.issparse(self.coef_) else self.coef_
        intercept = np.broadcast_to(np.asarray(self.intercept_, np.float64), len(coef))
        return np.ascontiguousarray(coef, np.float64), np.ascontiguousarray(intercept)

    def _filled(self, X: Any) -> Array | SparseRows:
        """Rows to answer as numbers, missing cells at their mean."""
        features = self._features(X, fitting=False, reset=False)
        self._check_cells(features, 0, fitting=False, allow_missing=_is_frame(X))
        if isinstance(features, SparseRows):
            return features
        assert isinstance(features, np.ndarray)
        return np.where(np.isnan(features), self.typical_, features)

    def decision_function(self, X: Any) -> Floats:
        """b + w · x: log odds of the second class (n,), or scores of all (n, n_classes).

        A missing cell of a frame counts as the mean of its column: scores being linear, this is
        their mean over what the cell may be, if columns are independent.
        """
        check_is_fitted(self)
        features = self._features(X, fitting=False, reset=False)
        coef, intercept = self._parts()
        sparse_scorer, gaps = affine_scorer(None, coef, intercept), _is_frame(X)
        absent = -coef * (self.typical_ if gaps else np.nan)
        out = np.empty((features.shape[0], len(coef)))

        def score(chunk: Any, rows: slice, part: Floats) -> None:
            if isinstance(chunk, SparseRows):
                sparse_scorer(chunk, part)
            else:
                kernels.linear_log_joint(floats(chunk), coef, absent, intercept, part)
            if not np.isfinite(part.sum()):
                self._check_cells(chunk, rows.start, fitting=False, allow_missing=gaps)

        self.engine_.fill(score, features, out)
        return out[:, 0] if out.shape[1] == 1 else out

    def predict(self, X: Any) -> Array:
        """The most probable class."""
        scores = self.decision_function(X)
        codes = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any) -> Floats:
        """p(k | x)."""
        return self._normalized(X, "posterior")

    def predict_log_proba(self, X: Any) -> Floats:
        """log p(k | x)."""
        return self._normalized(X, "log_posterior")

    def _normalized(self, X: Any, wanted: str) -> Floats:
        scores = self.decision_function(X)
        if len(self.classes_) == 1:  # so far, in a stream
            scores = scores[:, None]
        elif scores.ndim == 1:
            scores = np.column_stack([np.zeros(len(scores)), scores])
        kernels.normalize(scores, wanted)
        return scores

    def evidence(self, X: Any) -> Evidence:
        """The additive terms w_kj (xⱼ - tⱼ) of each class's score, per feature.

        t is the mean of the rows, or zero for sparse input; what the scores are there stands in
        the place of the prior, and a missing cell says nothing.
        """
        check_is_fitted(self)
        features = self._filled(X)
        coef, intercept = self._parts()
        if len(coef) < len(self.classes_):  # the first class has a score of zero
            coef, intercept = (np.concatenate([np.zeros_like(v), v]) for v in (coef, intercept))
        terms = (dense(features) - self.typical_)[:, None, :] * coef
        prior = intercept + (coef * self.typical_).sum(axis=1)
        return Evidence(terms, prior, self._design_names(), self.classes_)

    def sparsify(self) -> Self:
        """Keep the coefficients as a sparse matrix: for many zeros."""
        check_is_fitted(self)
        self.coef_ = sparse.csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Keep the coefficients as an array again."""
        check_is_fitted(self)
        if sparse.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self


def _is_frame(X: Any) -> bool:
    return frames.as_frame(X) is not None


def _encoding(X: Any) -> Encoding | None:
    """How columns become numbers, where not all are; truths of an array are 0 and 1."""
    if sparse.issparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "fiub"):
        return None
    table = containers.read(X)
    if isinstance(table, list):
        truths = all(isinstance(c, ArrayColumn) and frames.are_truths(c) for c in table)
        return None if truths else Encoding.learn(table)
    gaps = table.dtype.kind == "f" and bool(np.isnan(table).any())
    return Encoding.learn(containers.split(X)) if gaps and frames.as_frame(X) is not None else None


def centered(coef: Floats, objective: Objective) -> Floats:
    """Scores relative to their mean: no probability changes, and the penalty is least."""
    if len(coef) == 1 or not objective.penalty.smooth:
        return coef
    return np.asarray(coef - coef.mean(axis=0))


def mean_row(rows: Rows, engine: Local) -> Floats:
    """The mean of the rows as they count, where a missing cell is taken to be; zero if sparse."""
    if not isinstance(rows.X, np.ndarray):
        return np.zeros(rows.X.shape[1])
    total = engine.sum(_weight_and_sum, rows)
    return np.asarray(total[1:] / max(total[0], np.finfo(float).tiny))


def _weight_and_sum(rows: Rows) -> Floats:
    cells, weight = floats(np.asarray(rows.X)), rows.hard.weight
    weight = np.ones(len(cells)) if weight is None else weight
    return np.concatenate([[weight.sum()], np.einsum("n,nd->d", weight, cells)])


def typical_row(X: Features) -> Floats:
    """The mean of up to a thousand rows; zero where most cells are."""
    if not isinstance(X, np.ndarray):
        return np.zeros(X.shape[1])
    some = X[:: max(1, len(X) // 1000)]
    return np.asarray(some.mean(axis=0, dtype=np.float64))
