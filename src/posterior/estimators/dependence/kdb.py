"""k-dependence Bayes, and its selective form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from posterior.data.rows import Rows
from posterior.data.table import Table
from posterior.engines.local import Local
from posterior.estimators.dependence.base import (
    CONSTRAINTS,
    DependenceClassifier,
    structure_table,
)
from posterior.estimators.dependence.select_structure import Choice, choose
from posterior.estimators.estimator import learned
from posterior.estimators.summed_classifier import Look
from posterior.families.dependence import AveragedOneDependence, KDependence
from posterior.families.dependence.dependence_graph import (
    by_information,
    check_structure,
    k_dependence,
    selected,
)
from posterior.families.family import AnyFamily
from posterior.generative.dealing import by_content
from posterior.generative.joint import JointStatistics, labeling
from posterior.readers.binned import BinnedColumns
from posterior.readers.labels import Labels
from posterior.statistics.information import conditional_mutual_information, mutual_information


class KDB(DependenceClassifier):
    """Every column depends on the class and on at most k others.

    p(y, x) = p(y) ∏ⱼ p(xⱼ | y, parents of j)

    Columns are ranked by I(X; Y); the parents of each are the k before it of greatest
    I(X; parent | Y) (Sahami 1996). Selective KDB (Martínez, Webb, Chen and Zaidi 2016) tries every
    number of parents up to k and every number of columns, by the log loss of each row under the
    model of the others: counts less one, in one more pass. Numbers are cut into bins where classes
    change; missing cells are left out, and the first parent that is missing ends a context.

    The structure is chosen by the first rows, in a pass of its own, and then fixed: `partial_fit`,
    `forget` and `cross_validate` keep it, and only models of one structure merge.

    Parameters
    ----------
    k : int, default=2
        Parents of a column, besides the class; with `selective` the most that are tried.
    selective : bool, default=False
        Choose the number of parents and of columns by leave-one-out log loss.
    structure : tuple of n_features tuples, optional
        The parents of each column by number, the closest first; None leaves a column out. Such as
        another model's `structure_`.
    smoothing : BackOff, Laplace or MEstimate, optional
        How p(xⱼ | y, parents) is estimated where rows are few; by default `BackOff`, which leans on
        the context without its last parent, with an m for each column and number of parents that
        `fit` chooses, as in `AODE`, once the structure is chosen with m = 10.
    categories, bins, class_prior, calibrated : as in `AODE`

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : arrays of shape (n_classes,)
    structure_ : tuple of n_features tuples
        The parents of each column, or None where it is left out.
    smoothing_ : BackOff, Laplace or MEstimate, as in `AODE`
    selection_ : table of numbers of parents and columns and their log loss, if selective
    cut_points_ : dict of columns of numbers to arrays
    joint_ : the fitted model

    Examples
    --------
    >>> from posterior import KDB
    >>> X, y = [["a", "a"], ["a", "b"], ["b", "a"], ["b", "b"]] * 5, ["no", "yes", "yes", "no"] * 5
    >>> KDB(k=1).fit(X, y).predict([["b", "a"]])
    array(['yes'], dtype='<U3')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CONSTRAINTS,
        "k": [Interval(Integral, 0, None, closed="left")],
        "selective": ["boolean"],
        "structure": ["array-like", tuple, None],
    }

    def __init__(
        self,
        k: int = 2,
        *,
        selective: bool = False,
        structure: Any = None,
        smoothing: Any = None,
        categories: Any = None,
        bins: Any = None,
        class_prior: Any = None,
        calibrated: str | None = None,
    ) -> None:
        self.k = k
        self.selective = selective
        self.structure = structure
        self.smoothing = smoothing
        self.categories = categories
        self.bins = bins
        self.class_prior = class_prior
        self.calibrated = calibrated

    structure_ = learned[tuple[Any, ...]](lambda fitted: fitted.reader.structure)
    selection_ = learned[Table](lambda fitted: fitted.reader.selection)

    def _family(self, reader: BinnedColumns) -> KDependence:
        assert reader.structure is not None
        return KDependence(reader.coding(), reader.structure, self._smoothing(reader))

    def _prepared(self, reader: Any, labels: Labels | None, look: Look) -> BinnedColumns:
        """The structure, from the counts of pairs, and from those of tuples if it is selective."""
        known: BinnedColumns = super()._prepared(reader, labels, look)
        if self.structure is not None:
            return replace(known, structure=check_structure(self.structure, len(known.kinds)))
        counts = look(Counted(AveragedOneDependence(known.coding()))).features.seen()
        told = mutual_information(counts.single())
        structure = k_dependence(told, conditional_mutual_information(counts), self.k)
        known = replace(known, structure=structure)
        if not self.selective or labels is None:
            return known
        choice = look(lambda rows: self._choose(rows, known, labels, by_information(told)))
        structure = selected(structure, choice.order, choice.n_columns, choice.k)
        return replace(known, structure=structure, selection=choice.table)

    def _settings(self) -> dict[str, Any]:
        return super()._settings() | {"structure": self.structure_}

    def _chosen_first(self) -> list[str]:
        chosen = super()._chosen_first()
        return chosen if self.structure is not None else [*chosen, "a structure (structure=)"]

    def _choose(
        self, rows: Rows, reader: BinnedColumns, labels: Labels, order: list[int]
    ) -> Choice:
        rows = rows.take(by_content(rows)[0])  # the order in which they came does not matter
        family, rule = self._family(reader), self.rule(reader, labels)
        counted = Counted(family)(rows)
        log_prior = rule.prior(counted.weight.rounded())
        return choose(rows, family, counted.features, log_prior, order, self.k, self.engine_.fill)

    def _check_elsewhere(self) -> None:
        if self.selective and self.structure is None:
            raise ValueError(
                "Expected rows in memory: a selective structure is chosen by all rows at once. "
                "Fit on some of them, and give its structure_ and cut_points_ to "
                "KDB(structure=..., bins=...)."
            )

    def structure_table(self) -> Table:
        """Every column that is kept, and its parents by name."""
        check_is_fitted(self)
        return structure_table(self, self.structure_)


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """The sums of some rows by a family."""

    family: AnyFamily

    def __call__(self, rows: Rows) -> JointStatistics[Any]:
        return Local().sum(labeling(self.family), rows)
