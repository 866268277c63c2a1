"""Naive Bayes on any table: numbers, strings, categories, counts and missing cells together."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

from sklearn.utils._param_validation import Interval

from posterior.data import frames
from posterior.data.errors import DegenerateWarning
from posterior.data.rows import Rows
from posterior.data.table import Table
from posterior.data.typing import Floats
from posterior.estimators.base_classifier import with_target
from posterior.estimators.estimator import learned
from posterior.estimators.naive_bayes.select_families import chosen_families
from posterior.estimators.summed_classifier import CALIBRATED, SummedClassifier
from posterior.generative.joint import Joint, JointStatistics
from posterior.generative.rule import ClassPrior, Rule
from posterior.readers.labels import Labels
from posterior.readers.mixed import FamilyRules, MixedColumns
from posterior.readers.reader import Reader


class NaiveBayes(SummedClassifier):
    """Bayes' rule with features independent given the class, on any array or frame.

    p(y = k | x) ∝ π_k ∏ⱼ p(xⱼ | θ_kj)

    Numbers are Gaussian; strings, categories and booleans are categorical, and strings that are
    sentences are read as the words in them. Missing cells are left out, which is exact. Values
    never seen have the probability that their prior gives them.

    Parameters
    ----------
    families : family, mapping of columns to families, or "auto", optional
        For all columns, or for some by name (by position in an array): a family such as
        `Gaussian()` or `Binned(edges=[50, 60])`, its name such as "categorical" or "words", or None
        to leave the column out. "auto" chooses for each column of numbers between `Gaussian`,
        `StudentT` and `Binned`, by log loss on rows held out; a stream then goes on with the
        families that `fit` chose.
    prior_rows : float, default=1.0
        Weight of the prior of columns whose family was not given: pseudo-rows with the mean and
        variance of all classes for numbers, of every value for categories.
    class_prior : array of shape (n_classes,) or dict by class, optional
        Class probabilities; learned if not given.
    predictive : bool, default=False
        Integrate over what is not known about the parameters (Student's t, negative binomial,
        Dirichlet-multinomial) instead of taking their estimates for the truth.
    calibrated : str, optional
        Correct the probabilities by rows held out: "temperature", "beta", "quadratic", "vector",
        "matrix", "isotonic", or "auto", whichever lowers their log loss, if one does.

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

    class_count_ = learned[Floats](lambda fitted: fitted.class_weight())
    class_log_prior_ = learned[Floats](lambda fitted: fitted.model.log_prior)
    joint_ = learned[Joint[Any, Any]](lambda fitted: fitted.model)
    chosen_ = learned[Mapping[int, str]](lambda fitted: fitted.reader.rules.chosen)
    plan_ = learned[MixedColumns](lambda fitted: fitted.reader)

    @property
    def columns_(self) -> Table:
        """What each column was read as."""
        fitted = self.settled()
        return self.plan_.found(self.statistics_.features, fitted.model.parameters)

    @property
    def one_pass(self) -> bool:
        """Whether no families are chosen by all rows before they are summed."""
        return not self._chooses()

    def _chooses(self) -> bool:
        return isinstance(self.families, str) and self.families == "auto"

    def _rules(self, chosen: Mapping[int, str] | None = None) -> FamilyRules:
        """Which families the parameters ask for, or all rows have chosen."""
        asked = dict(self.families) if isinstance(self.families, Mapping) else self.families
        asked = None if self._chooses() else asked
        chosen = chosen if self._chooses() and chosen else {}
        return FamilyRules(asked, self.prior_rows, bool(self.predictive), chosen)

    def reader(self) -> MixedColumns:
        return MixedColumns(self.columns(), self._rules(), texts=True)

    def _current(self, reader: MixedColumns) -> MixedColumns:
        return reader.under(self._rules(reader.rules.chosen))

    def rule(self, reader: Reader, labels: Labels | None) -> Rule:
        assert isinstance(reader, MixedColumns)
        prior = ClassPrior() if labels is None else ClassPrior(self.class_prior, labels.classes)
        return MixedRule(self._current(reader).family(), prior, reader)

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Reader, Labels, Rows]:
        """Families are chosen once, by all rows; what they learn is not."""
        reader, labels, rows = super()._read(X, y, sample_weight)
        if not self._chooses():
            return reader, labels, rows
        assert isinstance(reader, MixedColumns)
        chosen = chosen_families(reader, labels, rows, self.rule(reader, labels), self.engine_)
        reader = reader.under(self._rules(chosen))
        return reader, labels, Rows(reader.read(with_target(X, y)[0]), rows.groups)

    def _check_elsewhere(self) -> None:
        if self._chooses():
            raise ValueError(
                'Expected rows in memory to choose families="auto" by. Fit on some of the '
                "rows, and name the families of its columns_ for all of them."
            )

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows, to families named or chosen by `fit`; see `GaussianNB.partial_fit`."""
        if self._chooses() and not vars(self).get("fitted_"):
            raise ValueError(
                'Expected fit() before partial_fit() with families="auto", which are chosen on '
                "all rows at once. Or name the families."
            )
        super().partial_fit(X, y, classes, sample_weight)
        for name in self._sentences():
            warnings.warn(
                f"Column {name!r} was read as categories by the first rows of this stream, but "
                "holds sentences, whose words fit() on all rows would read. Name its family, "
                f"families={{{name!r}: 'words'}}, or call fit() on some hundred rows first.",
                UserWarning,
                stacklevel=2,
            )
        return self

    def _sentences(self) -> list[str]:
        """Columns of categories, as the first rows had it, that all rows so far would call text."""
        reader, found = self.plan_, list[str]()
        for family, js, part in reader.by_block(self.statistics_.features):
            if family.support != "category":
                continue
            for j, values, n in zip(js, part.values, part.totals().sum().rounded(), strict=True):
                some = values[: frames.SOME].tolist()
                texts = values.dtype.kind in "OU" and frames.are_sentences(some, len(values), n)
                if texts and reader.labels()[j] not in reader.rules.by_name:
                    found.append(reader.labels()[j])
        return found


@dataclass(frozen=True, slots=True, eq=False)
class MixedRule(Rule):
    """Says which columns never vary."""

    reader: MixedColumns

    def derive(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> None:
        for family, js, part in self.reader.by_block(statistics.features):
            constant = family.silent(part)
            if constant and statistics.weight.sum().rounded() > 1:
                names = [str(self.reader.labels()[js[i]]) for i in constant]
                warnings.warn(
                    f"Column(s) {', '.join(names)} never vary and say nothing about the class; "
                    "they are left out until they do.",
                    DegenerateWarning,
                    stacklevel=2,
                )
