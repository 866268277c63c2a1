"""Additive: a sum of tables of one, two and three columns."""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from posterior.data import validate
from posterior.data.rows import Hard, Rows
from posterior.data.table import Table
from posterior.data.table_columns import Columns
from posterior.data.typing import Array, Floats
from posterior.discriminative.additive.additive_rule import AdditiveRule, ConvexTables
from posterior.discriminative.additive.boosting import Pace, paces
from posterior.discriminative.additive.cell_parts import GatherCells
from posterior.discriminative.additive.cell_rows import CellRows
from posterior.discriminative.additive.fitted_additive import FittedAdditive
from posterior.engines.local import one_blas_thread
from posterior.estimators import calibrated, remote
from posterior.estimators.additive import additive_stream
from posterior.estimators.base_classifier import ScoredClassifier, with_target
from posterior.estimators.estimator import check_fitted, learned
from posterior.estimators.joint_answers import log_likelihood_of
from posterior.estimators.logistic.base import check_classes
from posterior.estimators.refits import cross_validated, fit_held_out
from posterior.evaluation.calibration import Calibrator
from posterior.generative.evidence_terms import Evidence
from posterior.readers.cells import CellColumns, LookAtCells
from posterior.readers.labels import Labels
from posterior.statistics.algebra import Exactly

DEEPEST = 6


class Additive(ScoredClassifier):
    """A sum of tables of one, two and three columns, learned by boosting small symmetric trees.

        P(k | x) = softmax_k( b_k + Σⱼ T_j[xⱼ] + Σ T_ij[xᵢ, xⱼ] + Σ T_hij[x_h, xᵢ, xⱼ] )

    Numbers are read by the bin they fall in, categories by their value; a missing cell has a place
    of its own in each table, and a value never seen adds nothing. A tree cuts all nodes of a level
    alike, so that three levels make a table of two by two by two cells over three columns at most.
    How many trees, and whether they make small or large steps, is chosen by the loss on rows held
    out in five folds, or of 10,000 different rows and more in one of them. Sums are taken in whole
    numbers over rows sorted by their content: the same rows give the same model, in any order, on
    any number of threads.

    With `solver="convex"` all tables are learned at once, by penalized logistic regression on the
    cells of columns and of pairs of columns, and a line along the cells of each column of numbers:

        minimize  Σ -w log P(y | x) + ½ Σ T² / C + ½ Σ slope² / C

    The penalty is chosen by the loss on rows held out in five folds, for columns first and then
    for pairs, which stay out if they do not help. In a pair a column has 16 cells at most; past 25
    columns the three times as many pairs are taken that explain most of what columns leave. This
    is quick with two classes, and `summary()` has standard errors.

    Parameters
    ----------
    solver : {"boosted", "convex"}, default="boosted"
        Trees one after the other, or tables of columns and pairs all at once.
    depth : int, default=3
        Columns that a term may have; the convex solver has two at most. Past three, terms are no
        longer shown as tables, and `evidence` follows the columns of each term from the first to
        the last.
    rounds : int, optional
        How many trees; by default as many as predict held-out rows best, 2,000 at most.
    rate : float, optional
        How much of each tree is added; by default 0.03 or 0.1, as predicts held-out rows better,
        and 0.2 from 10,000 different rows on.
    shrinkage : float, optional
        λ, the weight of rows without residuals that each leaf is given; by default 1 or 0.3.
    C : float, optional
        Of the convex solver: the inverse strength of the penalty on all tables; by default those
        that predict held-out rows best. `rounds`, `rate` and `shrinkage` are of the boosted one.
    cells : int, default=126
        Into how many cells a column of numbers is cut. A value that many rows have has a cell of
        its own.
    categories : bool or list of columns, optional
        Numbers that are names of kinds.

    calibrated : str, optional
        Corrects probabilities, as in `GaussianNB`, learned from fits to folds of the rows: five of
        them, or one of 10,000 rows and more.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    intercept_ : array of shape (1,) or (n_classes,)
    n_rounds_ : int
        How many trees the tables are made of.
    pace_ : {"gentle", "sharp", "swift"}
        Small steps with random weights of rows, or larger ones without.
    C_ : tuple of float
        Of the convex solver: the C of columns and, if there are pairs, that of pairs.
    held_out_ : Table
        The mean loss on rows held out, by pace and round, or by columns a table and C.
    n_parameters_ : int
        How many numbers the tables have.
    terms_ : list of tuples
        The columns of each table, by name.
    kinds_ : tuple of {"number", "category"}
        What each column is read as.

    Examples
    --------
    >>> import numpy as np
    >>> from posterior import Additive
    >>> random = np.random.default_rng(0)
    >>> X = random.integers(0, 2, (400, 2))
    >>> y = X[:, 0] ^ X[:, 1]  # no column alone tells anything
    >>> model = Additive().fit(X, y)
    >>> model.predict([[0, 0], [0, 1], [1, 0], [1, 1]]).tolist()
    [0, 1, 1, 0]
    """

    fitted_: FittedAdditive
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "solver": [StrOptions({"boosted", "convex"})],
        "depth": [Interval(Integral, 1, DEEPEST, closed="both")],
        "rounds": [Interval(Integral, 1, None, closed="left"), None],
        "rate": [Interval(Real, 0, 1, closed="right"), None],
        "shrinkage": [Interval(Real, 0, None, closed="neither"), None],
        "C": [Interval(Real, 0, None, closed="neither"), None],
        "cells": [Interval(Integral, 2, 126, closed="both")],
        "categories": [bool, "array-like", None],
        "calibrated": calibrated.CALIBRATED,
    }

    def __init__(
        self,
        *,
        solver: str = "boosted",
        depth: int = 3,
        rounds: int | None = None,
        rate: float | None = None,
        shrinkage: float | None = None,
        C: float | None = None,
        cells: int = 126,
        categories: Any = None,
        calibrated: str | None = None,
    ) -> None:
        self.solver = solver
        self.depth = depth
        self.rounds = rounds
        self.rate = rate
        self.shrinkage = shrinkage
        self.C = C
        self.cells = cells
        self.categories = categories
        self.calibrated = calibrated

    classes_ = learned[Array](lambda fitted: fitted.classes)
    intercept_ = learned[Floats](lambda fitted: fitted.intercept)
    n_rounds_ = learned[int](lambda fitted: fitted.n_rounds)
    pace_ = learned[str](lambda fitted: fitted.pace)
    held_out_ = learned[Table](lambda fitted: fitted.held_out)
    C_ = learned[tuple[float, ...]](lambda fitted: fitted.C)
    n_parameters_ = learned[int](lambda fitted: fitted.n_parameters)
    terms_ = learned[list[tuple[Any, ...]]](lambda fitted: fitted.term_names())
    calibrator_ = learned[Calibrator | None](lambda fitted: fitted.calibrator, may_be_none=True)
    kinds_ = learned[tuple[str, ...]](lambda fitted: fitted.reader.kinds)
    n_features_in_ = learned[int](lambda fitted: fitted.reader.columns.n)
    feature_names_in_ = learned[Array](
        lambda fitted: (
            None if fitted.reader.columns.names is None else fitted.reader.columns.array()
        )
    )

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        checkpoint: remote.FilePath | None = None,
    ) -> Self:
        """Learn from rows and their classes.

        A table elsewhere is read twice where it is: to choose the cells, and to bring its rows
        here, a byte a cell, where equal rows are one and trees are learned. While they are, each
        different row takes about 2 (d + 28) + 30 outputs bytes (below 10,000 rows, where five folds
        are held out, 6 (d + 28) + 150 outputs); what has no room is refused. The model is the one
        of the same rows in memory, to the bit.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features); or a table that is elsewhere: a path,
            a pattern such as "clicks/*.parquet", a list of paths, a query, a DuckDB relation, a
            Dask or a Spark frame
        y : array of shape (n_samples,), or the name of a column of X
        sample_weight : array of shape (n_samples,), or of a table elsewhere the name of a column
        checkpoint : path, optional
            Where to write down what was read of a table elsewhere: a fit that was stopped goes on
            from there.
        """
        self._validate_params()
        there = remote.located(X, checkpoint)
        calibrated.check(self, streaming=there is not None)
        if there is not None:
            self.fitted_ = self._fit_elsewhere(there, y, sample_weight, checkpoint)
            return self
        reader, labels, rows, cells = self.rows_of_cells(X, y, sample_weight)
        fitted = self.rule().chosen(reader, labels, cells)
        if self.calibrated is not None:
            correction = calibrated.by_refits(self, X, y, sample_weight, rows)
            fitted = replace(fitted, calibrator=correction)
        self.fitted_ = fitted
        return self

    def rows_of_cells(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[CellColumns, Labels, Rows, CellRows]:
        """A reader that knows the cells, the classes, the rows, and the same as cells."""
        reader, labels, rows = self.first_rows(X, y, sample_weight)
        reader = reader.looked(self.engine_.sum(Exactly(LookAtCells(reader)), rows), self.cells)
        cells = GatherCells(reader)(rows).together()
        check_classes(labels.classes[np.unique(cells.labels)])
        return reader, labels, rows, cells

    def first_rows(
        self, X: Any, y: Any, sample_weight: Any, named: Any = None
    ) -> tuple[CellColumns, Labels, Rows]:
        """A reader that knows the columns of these rows, their classes, and the rows."""
        X, y = with_target(X, y)
        reader, features = self._reader().learn(X)
        n = features.shape[0]
        weight = validate.weights(sample_weight, n)
        labels, codes = Labels.among(None, y, named, n, needed=False).more(y, weight, n)
        reader.check(features, fitting=True)
        return reader, labels, Rows(features, Hard(codes, len(labels), weight))

    def _fit_elsewhere(
        self, there: remote.There, y: Any, weight: Any, checkpoint: remote.FilePath | None
    ) -> FittedAdditive:
        """Cells are chosen, and rows become cells, where they are; trees are learned here."""
        engine, source = there
        y = remote.column_of(source, y, "target column")
        weight = remote.weights_of(source, weight)
        given = {"y": y, "sample_weight": weight}
        with remote.checkpointed(self, engine, source, checkpoint, **given) as engine:
            table = remote.RemoteTable.of((engine, source), self._reader(), y, weight).settled()
            seen = table.sum(LookAtCells(cast(CellColumns, table.reader)))
            reader = cast(CellColumns, table.reader).looked(seen.statistics, self.cells)
            total = replace(table, reader=reader).sum(GatherCells(reader))
            rows = total.statistics.together()
            if len(rows) == 0:
                validate.weights([0.0], 1)  # says what is wrong
            check_classes(total.classes[np.unique(rows.labels)])
            return self.rule().chosen(reader, Labels(total.classes), rows)

    def rule(self) -> AdditiveRule:
        """How rows of cells become a model."""
        given = self.depth, self._paces, self.rounds, self.cells, self.engine_
        if self.solver == "boosted":
            return AdditiveRule(*given)
        C = None if self.C is None else float(self.C)
        return AdditiveRule(*given, ConvexTables(self.depth > 1, C, one_blas_thread))

    partial_fit = additive_stream.partial_fit
    forget = additive_stream.forget
    relearn = additive_stream.relearn
    merge = additive_stream.merge
    cross_validate = cross_validated
    fit_held_out = fit_held_out

    def __add__(self, other: Self) -> Self:
        return copy.copy(self).merge(other)

    def _paces(self, n_rows: int) -> list[Pace]:
        """Those that are tried, with what the settings say."""
        return [
            replace(
                pace,
                rate=pace.rate if self.rate is None else float(self.rate),
                shrinkage=pace.shrinkage if self.shrinkage is None else float(self.shrinkage),
            )
            for pace in paces(n_rows)
        ]

    def _reader(self) -> CellColumns:
        return CellColumns(Columns(type(self).__name__), self.categories)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        self._reader().describe(tags.input_tags)
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """Without the rows: a stored model is small, and holds nobody's data."""
        state: dict[str, Any] = super().__getstate__()
        fitted = state.get("fitted_")
        if not isinstance(fitted, FittedAdditive):
            return state
        return {**state, "fitted_": fitted.forgetful()}

    # ---- answers ----

    def evidence(self, X: Any) -> Evidence:
        """What each column, pair and triple adds to the score of each class.

        Every table is zero on average over any of its columns, so that a pair says only what its
        columns do not say alone, and a value never seen says nothing.
        """
        check_fitted(self)
        terms, constant, names = self.fitted_.evidence(X)
        return Evidence(terms, constant, names, self.classes_)

    def log_proba_without(self, X: Any, columns: Sequence[Collection[int]]) -> Floats:
        """log p(k | x) (sets, n, k) without each set of columns, whose tables then add nothing.

        A missing cell has a learned number of its own; a column that is left out has none.
        """
        check_fitted(self)
        return self.fitted_.log_posterior_without(X, columns)

    def importances(self) -> Table:
        """How much each column, pair and triple matters: the mean of |effect| over all rows.

        Of more than two classes it is the mean over their scores, too. Cells of pairs and triples
        are weighed as if their columns were independent.
        """
        check_fitted(self)
        return self.fitted_.importances()

    def parameters(self, *columns: Any) -> Table:
        """The tables of the model: the effect of each cell on the score of a class, in log odds.

        Neighboring cells that a table does not tell apart are one line. The weight is that of the
        rows in the cell; in pairs and triples, what it would be if columns were independent.

        Parameters
        ----------
        *columns : names or numbers of columns, optional
            Whose table to show; by default all of them, the most important first.
        """
        check_fitted(self)
        shapes = self.fitted_.shapes()
        if not columns:
            return self.fitted_.parameters(shapes.values())
        return self.fitted_.parameters([shapes[self.fitted_.term_of(columns)]])

    def _parameter_table(self) -> Table | None:
        return self.fitted_.importances() if self.fitted_.by_table else None

    def summary(self) -> Table:
        """Every number of the tables and its standard error, of a convex fit.

        Errors are those of the posterior under the penalty as a normal prior, the other tables
        being known: from the block of the Hessian that is the table's own.
        """
        check_fitted(self)
        if self.fitted_.errors is None:
            raise ValueError(
                'Expected a model of solver="convex", whose tables have standard errors, got '
                'solver="boosted". Fit Additive(solver="convex").'
            )
        return self.fitted_.summary()

    def log_likelihood(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """log p(y | X), the sum over rows of log p(y | x): the rows themselves are taken as given.

        Parameters
        ----------
        X, y : as in `fit`
        sample_weight : array of shape (n_samples,), optional
        """
        X, y = with_target(X, y)
        return log_likelihood_of(self.predict_log_proba(X), y, self.classes_, sample_weight)
