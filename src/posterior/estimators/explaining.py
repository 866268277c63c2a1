"""Why: evidence, parameters and samples of a fitted model."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from posterior.data import validate
from posterior.data.names import plain
from posterior.data.rows import Features
from posterior.data.table import Table
from posterior.data.typing import Array, Floats
from posterior.estimators.predicting import Predicting
from posterior.estimators.predicting_files import PredictingFiles
from posterior.families.family import AnyFamily
from posterior.generative.evidence_terms import Evidence, Explanation


class ExplainingRows(PredictingFiles, BaseEstimator):
    """explain, from the evidence."""

    classes_: Array
    n_features_in_: int

    def evidence(self, X: Any) -> Evidence:
        """The additive terms of each class's score, per feature."""
        raise NotImplementedError

    def predict_proba(self, X: Any) -> Floats:
        """p(k | x)."""
        raise NotImplementedError

    def explain(self, X: Any, of: Any = None, against: Any = None) -> Explanation:
        """One row's odds of a class against another, taken apart by feature.

        Parameters
        ----------
        X : one row, as (1, n_features) or as a frame of one row
        of, against : labels, optional
            By default the most probable class and the runner-up.
        """
        evidence = self.evidence(X)
        if len(evidence.terms) != 1:
            raise ValueError(f"Expected one row to explain, got {len(evidence.terms)}.")
        proba = self.predict_proba(X)[0]
        ranked = np.argsort(-evidence.log_joint()[0], kind="stable")
        first = int(ranked[0]) if of is None else self._code(of)
        others = [int(k) for k in ranked if k != first]
        if not others and against is None:
            raise ValueError("Expected two classes or more to compare, the model knows one.")
        second = others[0] if against is None else self._code(against)
        return Explanation(
            of=plain(self.classes_[first]),
            against=plain(self.classes_[second]),
            prior=float(evidence.log_prior[first] - evidence.log_prior[second]),
            feature_names=evidence.feature_names,
            values=padded(self._values(X), len(evidence.feature_names)),
            weights=evidence.weights(first, second)[0],
            posterior={plain(c): float(p) for c, p in zip(self.classes_, proba, strict=True)},
        )

    def _code(self, label: Any) -> int:
        place = np.flatnonzero(self.classes_ == label)
        if len(place) == 0:
            raise ValueError(
                f"Expected one of the classes {self.classes_.tolist()}, got {label!r}."
            )
        return int(place[0])

    def _values(self, X: Any) -> tuple[Any, ...]:
        """The cells of one row, as the user wrote them."""
        from posterior.data.frames import first_row

        return first_row(X)


class Explaining(Predicting, ExplainingRows):
    """evidence, explain, parameters, sample."""

    def evidence(self, X: Any) -> Evidence:
        """The additive terms of each class's log joint probability, per feature."""
        check_is_fitted(self)
        joint = self._joint()
        features = self._features(X, fitting=False, reset=False)
        self._check_cells(features, 0, fitting=False)
        with self._names():
            joint.scorer()  # refuses parameters that the data left open
        terms = joint.evidence(features)
        names = joint.family.term_names(self._feature_names())
        return Evidence(terms, joint.log_prior, names, self.classes_)

    @property
    def family_(self) -> AnyFamily:
        """The distribution of the features given the class, with its settings."""
        check_is_fitted(self)
        return self._joint().family

    def sample(self, n: int = 1, random_state: Any = None) -> tuple[Any, Array]:
        """Rows and classes drawn from the model."""
        check_is_fitted(self)
        if not isinstance(n, int | np.integer) or n < 0:
            raise ValueError(f"Expected a number of rows to sample, got {n!r}.")
        seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
        features, codes = self._joint().sample(n, np.random.default_rng(seed))
        return self._as_input(features), self.classes_[codes]

    def _as_input(self, features: Features) -> Any:
        """Sampled features in the form that `fit` takes."""
        return features

    @property
    def n_parameters_(self) -> int:
        """Numbers that the data determine, class probabilities included."""
        check_is_fitted(self)
        joint = self._joint()
        return joint.family.n_parameters(joint.parameters) + len(self.classes_) - 1

    def parameters(self, level: float = 0.95) -> Table:
        """Every parameter, as the model uses it, with its credible interval."""
        check_is_fitted(self)
        joint, features = self._joint(), self.statistics_.features
        lines = joint.family.intervals(features, joint.parameters, validate.level(level))
        return Table(
            {
                "feature": self._feature_names()[lines.feature],
                "parameter": lines.parameter,
                "class": self.classes_[lines.group],
                "value": lines.value,
                "low": lines.low,
                "high": lines.high,
            }
        )

    @property
    def n_joint_parameters_(self) -> int | None:
        """Numbers that a table of the full joint distribution would need; None if no table can.

        For d columns of yes and no and two classes 2 (2^d - 1), class probabilities left out.
        """
        check_is_fitted(self)
        cells = self._n_cells()
        return None if cells is None else len(self.classes_) * (cells - 1)

    def _n_cells(self) -> int | None:
        """How many different rows there can be, or None if there is no end to them."""
        return None


def padded(cells: tuple[Any, ...], n: int) -> tuple[Any, ...]:
    """Terms beyond the columns have no cell of their own."""
    return cells + ("",) * (n - len(cells))
