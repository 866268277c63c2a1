"""What classifiers of dependent columns have in common: categories, numbers in bins, sums."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from posterior.data import containers, frames, validate
from posterior.data.cells import Column
from posterior.data.names import plain
from posterior.data.rows import Blocks, CodedRows, Hard, Rows
from posterior.data.typing import Array, Floats
from posterior.engines.engine import BatchEngine
from posterior.estimators.checkpoint import FilePath
from posterior.estimators.dependence.remote_dependence import ClassHistograms, Total, learned
from posterior.estimators.joint_classifier import JointClassifier
from posterior.estimators.numeric import CALIBRATED
from posterior.estimators.table_input import TableInput
from posterior.families.dependence import BackOff, Coding
from posterior.families.dependence.smoothing import Smoothing, check_smoothing
from posterior.generative.joint import JointStatistics
from posterior.sources.source import Source
from posterior.statistics.class_cuts import cut_points
from posterior.statistics.class_histogram import class_histograms

MOST_VALUES = 10_000  # of a column of numbers that are looked at one by one before it is cut
CONSTRAINTS: dict[str, list[Any]] = {
    "smoothing": [None, object],
    "categories": [bool, "array-like", None],
    "bins": [Mapping, None],
    "class_prior": ["array-like", Mapping, None],
    "calibrated": CALIBRATED,
}


class DependenceClassifier(TableInput, JointClassifier):
    """Categories as they are, and numbers by bins that are cut where the classes change."""

    smoothing: Any
    categories: Any
    bins: Any
    kinds_: tuple[str, ...]
    cut_points_: dict[Any, Floats]
    tuned: ClassVar[Mapping[str, Sequence[Any]]] = {
        "smoothing": tuple(BackOff(m) for m in (0.1, 0.3, 1.0, 3.0, 10.0, 30.0))
    }

    @property
    def one_pass(self) -> bool:
        """False: cuts come first."""
        return False

    def _features(self, X: Any, fitting: bool, reset: bool) -> Blocks:
        columns = self._read(X, reset)
        if reset:
            self.kinds_ = self._kinds(columns)
            for name in ("cut_points_", "_ends"):  # they belong to the rows that are dropped
                self.__dict__.pop(name, None)
        numbers, categories = self._places()
        names = self._feature_names()
        if isinstance(columns, np.ndarray):
            measured: Array = np.ascontiguousarray(columns[:, numbers], np.float64)
        elif numbers:
            cells = [frames.numbers(columns[j], _remedy(names[j])) for j in numbers]
            measured = np.stack(cells, axis=1)
        else:
            measured = np.empty((len(columns[0]), 0))
        if categories and isinstance(columns, np.ndarray):
            columns = containers.columns(columns)
        coded = [frames.coded(columns[j], names[j]) for j in categories]
        codes = np.stack([c for c, _ in coded], axis=1) if coded else _nothing(len(measured))
        return Blocks((measured, CodedRows(codes, tuple(values for _, values in coded))))

    def _kinds(self, columns: Array | list[Column]) -> tuple[str, ...]:
        """Whether each column is of numbers or of categories: as asked, or as its values say."""
        names = [plain(name) for name in self._feature_names()]
        asked = self.categories
        if asked is True:
            return ("category",) * len(names)
        chosen = [] if asked is None or asked is False else [plain(name) for name in asked]
        unknown = [name for name in chosen if name not in names]
        if unknown:
            raise ValueError(f"Expected categories to be columns of {names}, got {unknown}.")
        if isinstance(columns, np.ndarray):
            kinds = ["number"] * len(names)
        else:
            kinds = [frames.kind(column) for column in columns]
        pairs = zip(names, kinds, strict=True)
        return tuple("category" if name in chosen else kind for name, kind in pairs)

    def _places(self) -> tuple[list[int], list[int]]:
        """The columns of numbers, and those of categories."""
        numbers = [j for j, kind in enumerate(self.kinds_) if kind == "number"]
        return numbers, [j for j, kind in enumerate(self.kinds_) if kind != "number"]

    def _coding(self) -> Coding:
        numbers, categories = self._places()
        names = self._feature_names()
        cuts = tuple(tuple(self.cut_points_[plain(names[j])].tolist()) for j in numbers)
        return Coding(tuple(numbers), tuple(categories), cuts, self._ends)

    def _sum(self, rows: Rows) -> JointStatistics[Any]:
        """The first rows also say where numbers are cut; from then on that is fixed."""
        if not hasattr(self, "_ends"):
            groups, k = rows.hard, len(self.classes_)
            codes = np.where(groups.codes < 0, -1, groups.codes % k).astype(np.int32)
            known = Rows(rows.X, Hard(codes, k, groups.weight))
            self._prepare(lambda look: look(known))
        return super()._sum(rows)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows; see `GaussianNB.partial_fit`.

        What is chosen before rows are counted (see `bins`) is chosen by `fit`; without one, by the
        rows of the first call, of which a warning tells.
        """
        first = not hasattr(self, "statistics_")
        super().partial_fit(X, y, classes, sample_weight)
        chosen = self._chosen_first()
        if first and chosen:
            warnings.warn(
                f"{type(self).__name__} has chosen {' and '.join(chosen)} by the "
                f"{self.class_count_.sum():g} row(s) of the first partial_fit and keeps them, so "
                "that the model is not that of fit() on all rows. Call fit() on some thousand "
                "mixed rows first, or give these.",
                UserWarning,
                stacklevel=2,
            )
        return self

    def _chosen_first(self) -> list[str]:
        """What is chosen by all rows before they are counted, and was not given."""
        given = self.bins or {}
        return ["cut points (bins=)"] if any(name not in given for name in self.cut_points_) else []

    def _fit_elsewhere(
        self, there: tuple[BatchEngine, Source], y: Any, weight: Any, checkpoint: FilePath | None
    ) -> Self:
        """The same passes over rows that are not in memory: what each adds up is a sum."""
        self._validate_params()
        self._check_calibrated(streaming=True)
        total = learned(self, there, y, weight, checkpoint)
        self.classes_, self._closed = total.classes, False
        self._accept(total.statistics)
        return self

    def _prepare(self, total: Total) -> None:
        """Cut the columns of numbers, by what all rows add up to."""
        names = [plain(self._feature_names()[j]) for j in self._places()[0]]
        given = dict(self.bins or {})
        unknown = [name for name in given if name not in names]
        if unknown:
            raise ValueError(f"Expected bins of the columns of numbers {names}, got {unknown}.")
        parts = total(self._histograms).parts if names else ()
        found = dict(zip(names, cut_points(parts, None), strict=True))
        self.cut_points_ = found | {name: _checked_cuts(given[name], name) for name in given}
        self._ends = tuple((float(part.lowest), part.highest) for part in parts)

    def _histograms(self, rows: Rows) -> ClassHistograms:
        """The classes at each value of the columns of numbers."""
        assert isinstance(rows.X, Blocks)
        self._check_cells(rows.X, 0, fitting=True)
        groups, X = rows.hard, np.asarray(rows.X.parts[0])
        looked_at = X, groups.codes, groups.weight, groups.n_groups, MOST_VALUES
        return ClassHistograms(tuple(class_histograms(*looked_at)))

    def _check_cells(self, X: Any, first_row: int, fitting: bool) -> None:
        validate.check_numbers(
            X.parts[0],
            first_row=first_row,
            names=self._feature_names()[self._places()[0]],
            allow_missing=True,
            allow_negative=True,
            estimator=type(self).__name__,
        )

    def _smoothing(self) -> Smoothing:
        return BackOff() if self.smoothing is None else check_smoothing(self.smoothing)

    def _accept(self, statistics: JointStatistics[Any]) -> None:
        """Values that no row has (any more) are values never seen."""
        super()._accept(JointStatistics(statistics.weight, statistics.features.seen()))

    def _forgotten(self, features: Any) -> Any:
        return features.seen()

    def _check_mergeable(self, other: Any) -> None:
        super()._check_mergeable(other)
        mine, theirs = self.cut_points_, other.cut_points_
        same = self.kinds_ == other.kinds_ and list(mine) == list(theirs)
        if not same or not all(np.array_equal(mine[name], theirs[name]) for name in mine):
            raise ValueError(
                "Expected a model whose numbers are cut at the same points to merge. Fit the other "
                "with bins=model.cut_points_."
            )

    def _decisive(self, rows: Rows, statistics: JointStatistics[Any]) -> Array:
        """Rows that alone hold a value of some column."""
        counts = statistics.features.single().pooled()
        X, groups = self._coding()(rows.X), rows.hard  # type: ignore[arg-type]
        weight = np.ones(len(rows)) if groups.weight is None else groups.weight
        alone = np.zeros(len(rows), bool)
        for j, held in enumerate(counts.columns(counts.table.rounded())):
            known = X.codes[:, j] >= 0
            if held.shape[1] == 0:  # left out
                continue
            left = held[0][X.codes[known, j]] - weight[known]
            alone[known] |= left < self._least_rows()
        return alone

    def _least_rows(self) -> float:
        """Rows that a value must have to be told from one never seen."""
        return 1e-9

    def _n_cells(self) -> int:
        return int(np.prod([len(v) for v in self.statistics_.features.values], dtype=object))

    def _as_input(self, features: Any) -> Any:
        """A frame of the library that came, or an array."""
        numbers, categories = self._places()
        measured, coded = features.parts
        table: dict[int, Array] = {j: measured[:, i] for i, j in enumerate(numbers)}
        for i, j in enumerate(categories):
            values, codes = coded.values[i].astype(object), coded.codes[:, i]
            table[j] = np.append(values, [None])[codes]
        columns = [table[j] for j in range(len(table))]
        names = [str(name) for name in self._feature_names()]
        if hasattr(self, "feature_names_in_"):
            cells = {n: c.tolist() for n, c in zip(names, columns, strict=True)}
            return frames.from_columns(cells, self.library_).to_native()
        return np.stack([c.astype(object) if categories else c for c in columns], axis=1)


def _nothing(n: int) -> Array:
    return np.empty((n, 0), np.int32)


def _remedy(name: Any) -> str:
    return f"Make the column a category, categories={[plain(name)]}"


def _checked_cuts(cuts: Any, name: Any) -> Floats:
    found = np.asarray(cuts, np.float64)
    if found.ndim != 1 or not np.isfinite(found).all() or (np.diff(found) <= 0).any():
        raise ValueError(f"Expected ascending cut points of column {name!r}, got {cuts!r}.")
    return found
