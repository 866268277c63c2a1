"""Base class of classifiers whose columns depend on each other: categories, and numbers in bins."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from posterior.data.rows import Blocks, Rows
from posterior.data.table import Table
from posterior.data.typing import Array, Floats
from posterior.estimators import remote
from posterior.estimators.dependence.select_smoothing import choose
from posterior.estimators.estimator import learned
from posterior.estimators.summed_classifier import CALIBRATED, Look, SummedClassifier
from posterior.families.dependence import BackOff, Coding
from posterior.families.dependence.smoothing import Smoothing, check_smoothing
from posterior.families.family import AnyFamily
from posterior.generative.joint import Joint, JointStatistics
from posterior.generative.rule import CheckedSum, ClassPrior, Rule
from posterior.readers.binned import BinnedColumns
from posterior.readers.labels import Labels
from posterior.statistics.class_cuts import cut_points
from posterior.statistics.class_histogram import ClassHistogram, class_histograms

MOST_VALUES = 10_000  # of a column of numbers that are looked at one by one before it is cut
CONSTRAINTS: dict[str, list[Any]] = {
    "smoothing": [None, object],
    "categories": [bool, "array-like", None],
    "bins": [Mapping, None],
    "class_prior": ["array-like", Mapping, None],
    "calibrated": CALIBRATED,
}


class DependenceClassifier(SummedClassifier):
    """Categories as they are, and numbers by bins that are cut where the classes change."""

    smoothing: Any
    categories: Any
    bins: Any
    class_prior: Any
    tuned: ClassVar[Mapping[str, Sequence[Any]]] = {
        "smoothing": tuple(BackOff(m) for m in (0.1, 0.3, 1.0, 3.0, 10.0, 30.0))
    }

    class_count_ = learned[Floats](lambda fitted: fitted.class_weight())
    class_log_prior_ = learned[Floats](lambda fitted: fitted.model.log_prior)
    joint_ = learned[Joint[Any, Any]](lambda fitted: fitted.model)
    kinds_ = learned[tuple[str, ...]](lambda fitted: fitted.reader.kinds)
    smoothing_ = learned[Smoothing](lambda fitted: fitted.rule.family.smoothing)
    cut_points_ = learned[dict[Any, Floats]](lambda fitted: fitted.reader.cut_points())

    @abstractmethod
    def _family(self, reader: BinnedColumns) -> AnyFamily:
        """The dependence of columns, for a reader that knows where numbers are cut."""

    @property
    def one_pass(self) -> bool:
        """False: cuts come first."""
        return False

    def reader(self) -> BinnedColumns:
        """Categories, and numbers that will be cut."""
        return BinnedColumns(self.columns(), self.categories)

    def rule(self, reader: Any, labels: Labels | None) -> Rule:
        """Counts of values together, by where numbers are cut."""
        prior = ClassPrior() if labels is None else ClassPrior(self.class_prior, labels.classes)
        return DependenceRule(self._family(reader), prior, reader.coding(), self._least_rows())

    def _smoothing(self, reader: BinnedColumns) -> Smoothing:
        """As given, or as `fit` chose."""
        if self.smoothing is None:
            return reader.smoothing or BackOff()
        return check_smoothing(self.smoothing, len(reader.kinds))

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Labels, Rows]:
        """Smoothing is chosen last, where all rows are at hand."""
        reader, labels, rows = super()._read(X, y, sample_weight)
        known: Any = reader
        if self.smoothing is None:
            rule = self.rule(known, labels)
            counted = rule.compacted(CheckedSum(rule.summing(known), known, self.engine_)(rows))
            family: Any = rule.family
            known = replace(known, smoothing=choose(rows, family, counted, rule.prior))
        return known, labels, rows

    def _least_rows(self) -> float:
        """Rows that a value must have, to be different from one never seen."""
        return 1e-9

    def _prepared(self, reader: Any, labels: Labels | None, look: Look) -> Any:
        """Cut the columns of numbers, by what all rows add up to."""
        names, given = reader.numbers(), dict(self.bins or {})
        unknown = [name for name in given if name not in names]
        if unknown:
            raise ValueError(f"Expected bins of the columns of numbers {names}, got {unknown}.")
        parts = look(Histograms(reader)).parts if names else ()
        found = zip(names, cut_points(parts, None), strict=True)
        cuts = [_checked(given[name], name) if name in given else cut for name, cut in found]
        ends = tuple((float(part.lowest), part.highest) for part in parts)
        return replace(reader, cuts=tuple(tuple(c.tolist()) for c in cuts), ends=ends)

    def total(self, table: remote.RemoteTable) -> tuple[remote.RemoteTable, remote.ClassSums]:
        """The same passes over rows that are not in memory: each look adds up."""
        table = table.settled()
        reader = self._prepared(table.reader, None, lambda look: table.sum(look).statistics)
        table = replace(table, reader=reader)
        return table, table.sum(self._summing(reader))

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows; see `GaussianNB.partial_fit`.

        What is chosen before rows are counted (see `bins`) is chosen by `fit`; without one, by the
        rows of the first call, of which a warning tells. Smoothing is that of the last `fit`;
        without one, `BackOff(10)`.
        """
        first = "fitted_" not in vars(self)
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

    def relearn(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from other rows alone, with the smoothing, and structure, that `fit` chose.

        Numbers are cut anew: cut points follow the classes of the rows that they are learned from.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`, in memory
        """
        model = clone(self).set_params(**self._settings())
        self.fitted_ = model.fit(X, y, sample_weight).fitted_
        return self

    def _settings(self) -> dict[str, Any]:
        """As given, or as chosen."""
        return {"smoothing": self.smoothing_}

    def _chosen_first(self) -> list[str]:
        """What is chosen by all rows before they are counted, and was not given."""
        given = self.bins or {}
        return ["cut points (bins=)"] if any(name not in given for name in self.cut_points_) else []


@dataclass(frozen=True, slots=True, eq=False)
class DependenceRule(Rule):
    """Values that no row has (any more) are values never seen."""

    coding: Coding
    least_rows: float  # that a value must have, to be different from one never seen

    def compacted(self, statistics: JointStatistics[Any]) -> JointStatistics[Any]:
        return JointStatistics(statistics.weight, statistics.features.seen()).compact()

    def decisive(self, rows: Rows, statistics: JointStatistics[Any]) -> Array:
        """Rows that alone hold a value of some column."""
        counts = statistics.features.single().pooled()
        X, groups = self.coding(rows.X), rows.hard  # type: ignore[arg-type]
        weight = np.ones(len(rows)) if groups.weight is None else groups.weight
        alone = np.zeros(len(rows), bool)
        for j, held in enumerate(counts.columns(counts.table.rounded())):
            known = X.codes[:, j] >= 0
            if held.shape[1] == 0:  # left out
                continue
            left = held[0][X.codes[known, j]] - weight[known]
            alone[known] |= left < self.least_rows
        return alone


@dataclass(frozen=True, slots=True, eq=False)
class ClassHistograms:
    """The classes at each value of some columns."""

    parts: tuple[ClassHistogram, ...]

    def __add__(self, other: ClassHistograms, /) -> ClassHistograms:
        pairs = zip(self.parts, other.parts, strict=True)
        return ClassHistograms(tuple(a + b for a, b in pairs))

    def placed(self, index: Array, n_groups: int) -> ClassHistograms:
        return ClassHistograms(tuple(part.placed(index, n_groups) for part in self.parts))


@dataclass(frozen=True, slots=True, eq=False)
class Histograms:
    """The classes at each value of the columns of numbers of some rows."""

    reader: BinnedColumns

    def __call__(self, rows: Rows) -> ClassHistograms:
        assert isinstance(rows.X, Blocks)
        self.reader.check(rows.X, fitting=True)
        groups, X = rows.hard, np.asarray(rows.X.parts[0])
        looked_at = X, groups.codes, groups.weight, groups.n_groups, MOST_VALUES
        return ClassHistograms(tuple(class_histograms(*looked_at)))


def structure_table(model: DependenceClassifier, structure: Sequence[Any]) -> Table:
    """Every column that is kept, and its parents by name."""
    names = [str(name) for name in model.fitted_.reader.names]
    kept = [(names[j], above) for j, above in enumerate(structure) if above is not None]
    parents = [", ".join(names[a] for a in above) for _, above in kept]
    return Table(
        {
            "column": np.array([name for name, _ in kept], object),
            "depends on": np.array(parents, object),
        }
    )


def _checked(cuts: Any, name: Any) -> Floats:
    found = np.asarray(cuts, np.float64)
    if found.ndim != 1 or not np.isfinite(found).all() or (np.diff(found) <= 0).any():
        raise ValueError(f"Expected ascending cut points of column {name!r}, got {cuts!r}.")
    return found
