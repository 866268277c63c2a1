"""Naive Bayes on any table: numbers, strings, categories, counts and missing cells together."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from math import prod
from numbers import Real
from typing import Any, ClassVar, Self

from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from posterior.data import frames
from posterior.data.errors import DegenerateWarning
from posterior.data.rows import Rows
from posterior.data.table import Table
from posterior.estimators import elsewhere
from posterior.estimators.checkpoint import FilePath
from posterior.estimators.column_plan import ColumnPlan
from posterior.estimators.joint_classifier import JointClassifier
from posterior.estimators.mixed_columns import MixedColumns
from posterior.estimators.naive_bayes.select_families import chosen_families
from posterior.estimators.numeric import CALIBRATED
from posterior.estimators.summed import all_or_nothing
from posterior.families.product import Parts
from posterior.generative.joint import Joint, JointStatistics


class NaiveBayes(MixedColumns, JointClassifier):
    """Bayes' rule with features independent given the class, on any array or frame.

    p(y = k | x) ∝ π_k ∏ⱼ p(xⱼ | θ_kj)

    Numbers are Gaussian; strings, categories and booleans are categorical, and strings that are
    sentences are read as the words in them. Missing cells are left out, which is exact. Values
    never seen have the probability that their prior gives them.

    Parameters
    ----------
    families : family, mapping of columns to families, or "auto", optional
        For all columns, or for some by name (by position in an array): a family such as
        `Gaussian()` or `Binned()`, its name such as "categorical" or "words", or None to leave the
        column out. "auto" chooses for each column of numbers between `Gaussian`, `StudentT` and
        `Binned`, by log loss on rows held out; a stream then goes on with the families that `fit`
        chose.
    prior_rows : float, default=1.0
        Weight of the prior of columns whose family was not given: pseudo-rows with the mean and
        variance of all classes for numbers, of every value for categories.
    class_prior : array of shape (n_classes,) or dict by class, optional
        Class probabilities; learned if not given.
    predictive : bool, default=False
        Integrate over what is not known about the parameters (Student's t, negative binomial,
        Dirichlet-multinomial) instead of taking their estimates for the truth.
    calibrated : {"temperature", "isotonic"}, optional
        Correct the probabilities by out-of-fold scores, which cost no refit.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : arrays of shape (n_classes,)
    columns_ : table of the columns, their families and values
    plan_ : how rows are read: columns, kinds and families, learned once
    joint_ : the fitted model

    Examples
    --------
    >>> import pandas as pd
    >>> from posterior import NaiveBayes
    >>> table = pd.DataFrame({"age": [31, 45, None, 28], "city": ["Rome", "Oslo", "Oslo", None]})
    >>> model = NaiveBayes().fit(table, ["no", "yes", "yes", "no"])
    >>> model.predict(pd.DataFrame({"age": [50], "city": ["Paris"]}))
    array(['yes'], dtype='<U3')
    """

    chooses = True
    reads_text = True
    tuned: ClassVar[Mapping[str, Sequence[Any]]] = {
        "prior_rows": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "families": [None, str, Mapping, object],
        "prior_rows": [Interval(Real, 0, None, closed="left")],
        "class_prior": ["array-like", Mapping, None],
        "predictive": ["boolean"],
        "calibrated": CALIBRATED,
    }

    def __init__(
        self,
        families: Any = None,
        *,
        prior_rows: float = 1.0,
        class_prior: Any = None,
        predictive: bool = False,
        calibrated: str | None = None,
    ) -> None:
        self.families = families
        self.prior_rows = prior_rows
        self.class_prior = class_prior
        self.predictive = predictive
        self.calibrated = calibrated

    @property
    def one_pass(self) -> bool:
        """Whether no families are chosen by all rows before they are summed."""
        return not self._chosen_by_loss()

    @all_or_nothing
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, checkpoint: FilePath | None = None
    ) -> Self:
        """Choose families if they are "auto", and learn; see `GaussianNB.fit`."""
        self.__dict__.pop("chosen_", None)
        if self._chosen_by_loss():
            if elsewhere.found(X, checkpoint) is not None:
                raise ValueError(
                    'Expected rows in memory to choose families="auto" by. Fit on some of the '
                    "rows, and name the families of its columns_ for all of them."
                )
            other, _ = self._untouched(X, y, sample_weight)
            self.chosen_ = other.chosen_
        return super().fit(X, y, sample_weight, checkpoint=checkpoint)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows, to families named or chosen by `fit`; see `GaussianNB.partial_fit`."""
        if self._chosen_by_loss() and not hasattr(self, "chosen_"):
            raise ValueError(
                'Expected fit() before partial_fit() with families="auto", which are chosen on '
                "all rows at once. Or name the families."
            )
        super().partial_fit(X, y, classes, sample_weight)
        for name in self._sentences():
            warnings.warn(
                f"Column {name!r} was taken for categories by the first rows of this stream, but "
                "holds sentences, whose words fit() on all rows would read. Name its family, "
                f"families={{{name!r}: 'words'}}, or call fit() on some hundred rows first.",
                UserWarning,
                stacklevel=2,
            )
        return self

    def _sentences(self) -> list[str]:
        """Columns of categories, as the first rows had it, that all rows so far would call text."""
        asked = self.families if isinstance(self.families, Mapping) else {}
        found: list[str] = []
        features = self.statistics_.features
        parts = features.parts if isinstance(features, Parts) else (features,)
        for (family, js), part in zip(self.plan_.blocks, parts, strict=True):
            if family.support != "category":
                continue
            for j, values, n in zip(js, part.values, part.totals().sum().rounded(), strict=True):
                some = values[: frames.SOME].tolist()
                texts = values.dtype.kind in "OU" and frames.are_sentences(some, len(values), n)
                if texts and self.plan_.columns[j].name not in asked:
                    found.append(self.plan_.columns[j].name)
        return found

    def _untouched(self, X: Any, y: Any, sample_weight: Any) -> tuple[Self, Rows]:
        """Families are chosen once, by all rows; what they learn is not."""
        other, rows = super()._untouched(X, y, sample_weight)
        if not self._chosen_by_loss():
            return other, rows
        chosen = chosen_families(other, rows, self.prior_rows)
        other.chosen_ = chosen
        X, _ = other._with_target(X, y)
        features = other._features(X, fitting=True, reset=True)
        return other, Rows(features, rows.groups)

    @property
    def columns_(self) -> Table:
        """What each column was taken for."""
        check_is_fitted(self)
        return self._columns()

    def _forgotten(self, features: Any) -> Any:
        return features.seen()

    def _learned(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> dict[str, Any]:
        plan = self._planned()
        self._name_constants(plan, statistics)
        return {**super()._learned(joint, statistics), "plan_": plan}

    def _name_constants(self, plan: ColumnPlan, statistics: JointStatistics[Any]) -> None:
        features = statistics.features
        parts = features.parts if isinstance(features, Parts) else (features,)
        for (family, js), part in zip(plan.blocks, parts, strict=True):
            constant = family.silent(part)
            if constant and statistics.weight.sum().rounded() > 1:
                names = [str(plan.columns[js[i]].name) for i in constant]
                warnings.warn(
                    f"Column(s) {', '.join(names)} never vary and say nothing about the class; "
                    "they are left out until they do.",
                    DegenerateWarning,
                    stacklevel=2,
                )

    def _check_mergeable(self, other: Any) -> None:
        super()._check_mergeable(other)
        if self._planned().blocks != other.plan_.blocks:
            raise ValueError("Expected a model of the same families to merge; see columns_.")

    def _n_cells(self) -> int | None:
        cells = 1
        features = self.statistics_.features
        parts = features.parts if isinstance(features, Parts) else (features,)
        for (family, _), part in zip(self.plan_.blocks, parts, strict=True):
            sizes = family.sizes(part)
            if sizes is None:
                return None
            cells *= prod(sizes)
        return cells
