"""Rows that come later, rows taken back, and rows of another model."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from posterior.data import validate
from posterior.data.frames import split_target
from posterior.data.typing import Array
from posterior.estimators.hooks import check_same_features
from posterior.estimators.neighbors.neighbor_input import targets
from posterior.estimators.neighbors.neighbor_votes import Answering
from posterior.estimators.summed import all_or_nothing
from posterior.neighbors.examples import Examples


class Streaming(Answering):
    """partial_fit, forget, merge."""

    _closed: bool

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        raise NotImplementedError

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows: exactly the model that `fit` on all rows so far would give.

        Where k was chosen, it is not chosen again: `fit` does that.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        classes : array, optional
            All classes that may come. It closes the set: another label is then an error.
        """
        self._validate_params()
        if not hasattr(self, "_examples"):
            self.fit(X, y, sample_weight)
            if classes is not None:
                self._closed = True
                self._check_closed(np.unique(classes), self.classes_)
                self._spread([np.unique(classes)])
            return self
        self._check_rows_are_known()
        if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: "
                f"{self.classes_!r}"
            )
        more, found = self._given(X, y, sample_weight)
        if self._closed:
            self._check_closed(self.classes_, found[0])
        self._join(more, found)
        return self

    @all_or_nothing
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows back: the model that never saw them.

        Each row must be there with the same cells, label and weight; of equals the last goes.
        """
        check_is_fitted(self)
        self._check_rows_are_known()
        less, found = self._given(X, y, sample_weight)
        own, places = self._classes(), []
        for output, (mine, theirs) in enumerate(zip(own, found, strict=True)):
            union = validate.union(mine, theirs)
            if len(union) > len(mine):
                raise ValueError(
                    "Expected rows that were learned, got class(es) "
                    f"{np.setdiff1d(theirs, mine).tolist()} never seen."
                )
            places.append(np.searchsorted(mine, found[output]))
        numbers = self._examples.find(less.recoded(places, self._examples.n_classes))
        if (numbers < 0).any():
            raise ValueError(
                f"Expected rows that were learned, but row {int(np.argmin(numbers))} of X is not "
                "there with this label and weight, or not as often."
            )
        left = np.setdiff1d(np.arange(len(self._examples)), numbers)
        if len(left) == 0:
            raise ValueError("Expected some rows to remain; to start anew, call fit().")
        self._accept(self._examples.take(left), self._metric(), self.n_neighbors_)
        if not self._closed:
            self._drop_empty_classes()
        return self

    @all_or_nothing
    def merge(self, other: Self) -> Self:
        """Add the rows of another model, below those of this one."""
        check_is_fitted(self)
        check_is_fitted(other)
        self._check_rows_are_known()
        if type(other) is not type(self):
            raise TypeError(
                f"Expected another {type(self).__name__} to merge, got {type(other).__name__}."
            )
        check_same_features(self, other)
        if self.effective_metric_ != other.effective_metric_:
            raise ValueError(
                f"Expected a model of metric {self.effective_metric_!r} to merge, got one of "
                f"{other.effective_metric_!r}."
            )
        self._join(other._examples, other._classes())
        return self

    def __add__(self, other: Self) -> Self:
        return copy.deepcopy(self).merge(other)

    def _given(self, X: Any, y: Any, sample_weight: Any) -> tuple[Examples, list[Array]]:
        """Rows of a call, coded by their own classes."""
        if isinstance(y, str):
            X, y = split_target(X, y)
        rows = self._rows(X, self._metric(), reset=False)
        classes, codes, _ = targets(y, rows.shape[0])
        if len(classes) != len(self._classes()):
            raise ValueError(f"Expected y of {len(self._classes())} column(s), got {len(classes)}.")
        weight = validate.weights(sample_weight, rows.shape[0], required=False)
        return Examples(rows, codes, tuple(map(len, classes)), weight), classes

    def _join(self, more: Examples, found: list[Array]) -> None:
        """Add rows whose classes may be new."""
        union = [validate.union(a, b) for a, b in zip(self._classes(), found, strict=True)]
        self._spread(union)
        places = [np.searchsorted(a, b) for a, b in zip(union, found, strict=True)]
        more = more.recoded(places, self._examples.n_classes)
        self._accept(self._examples + more, self._metric(), self.n_neighbors_)

    def _spread(self, classes: list[Array]) -> None:
        """The same rows among more classes."""
        places = [np.searchsorted(a, b) for a, b in zip(classes, self._classes(), strict=True)]
        examples = self._examples.recoded(places, tuple(map(len, classes)))
        self.classes_ = classes if self.outputs_2d_ else classes[0]
        self._accept(examples, self._metric(), self.n_neighbors_)

    def _drop_empty_classes(self) -> None:
        examples = self._examples
        seen = [np.unique(codes) for codes in examples.codes.T]
        places = [
            np.searchsorted(kept, np.arange(n))
            for kept, n in zip(seen, examples.n_classes, strict=True)
        ]
        classes = [c[kept] for c, kept in zip(self._classes(), seen, strict=True)]
        self.classes_ = classes if self.outputs_2d_ else classes[0]
        examples = examples.recoded(places, tuple(map(len, classes)))
        self._accept(examples, self._metric(), self.n_neighbors_)

    def _check_closed(self, known: Array, found: Array) -> None:
        new = np.setdiff1d(found, known)
        if len(new):
            raise ValueError(
                f"The target label(s) {new.tolist()} in y do not exist in the initial classes "
                f"{known.tolist()}. Name all classes in the first call."
            )

    def _check_rows_are_known(self) -> None:
        if self.metric == "precomputed":
            raise ValueError(
                "Expected a metric that can be computed, got 'precomputed': there are no distances "
                "to other rows. Use fit() on the distances of all rows."
            )
