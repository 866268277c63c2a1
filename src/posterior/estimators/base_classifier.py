"""Base class of classifiers: from log p(k | x) to answers, scores, reasons and files."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import column_or_1d

from posterior.data import frames, validate
from posterior.data.names import plain
from posterior.data.typing import Array, Floats
from posterior.engines.local import Local
from posterior.estimators import answer_files
from posterior.estimators.estimator import Estimator, check_fitted
from posterior.generative.evidence_terms import Evidence, Explanation


class BaseClassifier(ClassifierMixin, Estimator):
    """Whatever says log p(k | x) of rows."""

    classes_: Any
    evidence: Callable[[Any], Evidence]  # of those whose scores are sums over columns
    predict_file = answer_files.predict_file

    @abstractmethod
    def predict_log_proba(self, X: Any) -> Any:
        """log p(k | x)."""

    def predict_proba(self, X: Any) -> Any:
        """p(k | x)."""
        return np.exp(self.predict_log_proba(X))

    def predict_proba_one(self, record: Mapping[str, Any]) -> Floats:
        """p(k | x) (n_classes,) of one row given as a record, such as {"age": 31, "city": "Oslo"}.

        The same numbers and the same errors as `predict_proba` of a frame of this row, without what
        a frame costs; columns may come in any order. Models that read nothing but frames are given
        one.
        """
        if not isinstance(record, Mapping):
            raise TypeError(
                "Expected a record, a dict of cells by the names of their columns, got "
                f"{type(record).__name__}. Ask predict_proba for the rows of a table."
            )
        answer: Floats = self.predict_proba(self.one_row(record))[0]
        return answer

    def one_row(self, record: Mapping[str, Any]) -> Any:
        """A row, {column: cell}, as `predict_proba` takes it: its cells, or a frame of them."""
        return frames.of_record(record, getattr(self, "feature_names_in_", ()))

    def predict(self, X: Any) -> Array:
        """The most probable class of each row."""
        codes = self.predict_log_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows that are predicted correctly."""
        X, y = self._with_target(X, y)
        answer = self.predict(X)
        truth = column_or_1d(y)
        if len(truth) != len(answer):
            raise ValueError(
                "Found input variables with inconsistent numbers of samples: "
                f"X has {len(answer)} rows, y has {len(truth)}."
            )
        weight = validate.weights(sample_weight, len(answer))
        return float(np.average(answer == truth, weights=weight))

    def _with_target(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Rows and their classes, which may be a column of them."""
        return with_target(X, y)

    def _cells(self, X: Any) -> tuple[Any, ...]:
        """The cells of one row, as the user wrote them."""
        return frames.first_row(X)

    @available_if(lambda self: hasattr(self, "evidence"))
    def explain(self, X: Any, of: Any = None, against: Any = None) -> Any:
        """One row's odds of a class against another, taken apart by feature.

        Parameters
        ----------
        X : one row, as (1, n_features) or as a frame of one row
        of, against : labels, optional
            By default the most probable class and the runner-up.
        """
        return explained(self.evidence(X), self.predict_proba(X), self._cells(X), of, against)


class ScoredClassifier(BaseClassifier):
    """Whatever adds up a score of each class from terms of the columns."""

    fitted_: Any  # with `scores`, `posterior` and a reader
    engine_: ClassVar[Local] = Local()

    def decision_function(self, X: Any) -> Floats:
        """Log odds of the second class (n,), or scores of all (n, n_classes).

        Never calibrated, and neither is `evidence`.
        """
        check_fitted(self)
        scores: Floats = self.fitted_.scores(X, self.engine_)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X: Any) -> Floats:
        """p(k | x)."""
        check_fitted(self)
        return np.asarray(self.fitted_.posterior(X, self.engine_))

    def predict_log_proba(self, X: Any) -> Floats:
        """log p(k | x)."""
        check_fitted(self)
        return np.asarray(self.fitted_.posterior(X, self.engine_, "log_posterior"))

    def one_row(self, record: Mapping[str, Any]) -> Any:
        check_fitted(self)
        return self.fitted_.reader.one_row(record)


def one_row_of(model: Any, record: Mapping[str, Any]) -> Any:
    """A row as any classifier takes it."""
    ours = isinstance(model, BaseClassifier)
    return model.one_row(record) if ours else frames.of_record(record)


def explained(
    evidence: Evidence, proba: Floats, cells: tuple[Any, ...], of: Any, against: Any
) -> Explanation:
    """The odds of a class against another, of one row and its probabilities (1, k)."""
    first, second = rivals(evidence, of, against, "row")
    names = evidence.feature_names
    return Explanation(
        of=plain(evidence.classes[first]),
        against=plain(evidence.classes[second]),
        prior=float(evidence.log_prior[first] - evidence.log_prior[second]),
        feature_names=names,
        values=cells + ("",) * (len(names) - len(cells)),  # terms of several have no cell
        weights=evidence.weights(first, second)[0],
        posterior={plain(c): float(p) for c, p in zip(evidence.classes, proba[0], strict=True)},
    )


def with_target(X: Any, y: Any) -> tuple[Any, Any]:
    """A column of the frame by its name, or y as it is."""
    return frames.split_target(X, y) if isinstance(y, str) else (X, y)


def with_belonging(X: Any, groups: Any, time: Any) -> tuple[Any, Any, Any]:
    """Columns of the frame by their names: that of groups is taken out, that of time stays."""
    if isinstance(time, str):
        time = frames.split_target(X, time, "time")[1]
    if isinstance(groups, str):
        X, groups = frames.split_target(X, groups, "group")
    return X, groups, time


def decided(proba: Floats, classes: Array, costs: Any = None, reject: float | None = None) -> Array:
    """The most probable class of each row, or the one of least expected cost; masked where it is
    less probable than `reject`."""
    codes = proba.argmax(axis=1)
    if costs is not None:
        codes = (proba @ validate.costs(costs, classes)).argmin(axis=1)
    answer = classes[codes]
    if reject is None:
        return answer
    return np.ma.masked_array(answer, mask=proba[np.arange(len(proba)), codes] < reject)


def rivals(evidence: Evidence, of: Any, against: Any, thing: str) -> tuple[int, int]:
    """The classes to compare: as asked, or the most probable one and the runner-up."""
    if len(evidence.terms) != 1:
        raise ValueError(f"Expected one {thing} to explain, got {len(evidence.terms)}.")
    ranked = np.argsort(-evidence.log_joint()[0], kind="stable")
    first = int(ranked[0]) if of is None else _code(evidence.classes, of)
    others = [int(k) for k in ranked if k != first]
    if not others and against is None:
        raise ValueError("Expected two classes or more to compare, the model knows one.")
    return first, others[0] if against is None else _code(evidence.classes, against)


def _code(classes: Array, label: Any) -> int:
    place = np.flatnonzero(classes == label)
    if len(place) == 0:
        raise ValueError(f"Expected one of the classes {classes.tolist()}, got {label!r}.")
    return int(place[0])
