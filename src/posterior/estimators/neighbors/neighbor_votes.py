"""From neighbors to posteriors, answers and reasons."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, MultiOutputMixin

from posterior.data import validate
from posterior.data.frames import split_target
from posterior.data.names import plain
from posterior.data.typing import Array, Floats
from posterior.estimators.neighbors.searching import Searching
from posterior.estimators.predicting_files import PredictingFiles
from posterior.neighbors import votes
from posterior.neighbors.neighbor_explanation import Neighborhood
from posterior.neighbors.voters import Neighbors


class Answering(MultiOutputMixin, ClassifierMixin, Searching, PredictingFiles):
    """predict, predict_proba, strangeness, explain."""

    weights: votes.Rule
    classes_: Any
    outputs_2d_: bool
    smoothing_: float

    def predict_proba(self, X: Any) -> Any:
        """p(k | x): the classes' parts of the vote, with `smoothing_` rows of the class shares.

        Parameters
        ----------
        X : array, sparse matrix or frame, or None
            None asks about the training rows, each answered by the others.

        Returns
        -------
        array of shape (n_queries, n_classes), or a list of them if y had several columns
        """
        posteriors = self._posteriors(self._neighbors(X))
        return posteriors if self.outputs_2d_ else posteriors[0]

    def predict_log_proba(self, X: Any) -> Any:
        """log p(k | x)."""
        with np.errstate(divide="ignore"):
            logs = [np.log(p) for p in self._posteriors(self._neighbors(X))]
        return logs if self.outputs_2d_ else logs[0]

    def predict(
        self,
        X: Any,
        *,
        costs: Any = None,
        reject: float | None = None,
        beyond: float | None = None,
    ) -> Array:
        """The class with most votes; of equals the first.

        Parameters
        ----------
        X : array, sparse matrix or frame, or None
            None asks about the training rows, each answered by the others.
        costs : array of shape (n_classes, n_classes) or dict of dicts by class, optional
            costs[i][j] is the price of answering class j when it is class i; the answer is the
            one of least expected cost.
        reject : float, optional
            Leave rows unanswered (masked) whose answer is less probable than this.
        beyond : float, optional
            Leave rows unanswered (masked) that are as strange or stranger: see `strangeness`.
        """
        found = self._neighbors(X)
        answers, masks = [], []
        for classes, p in zip(self._classes(), self._posteriors(found), strict=True):
            codes = p.argmax(axis=1)
            if costs is not None:
                codes = (p @ validate.costs(costs, classes)).argmin(axis=1)
            answers.append(classes[codes])
            if reject is not None:
                masks.append(p[np.arange(len(p)), codes] < reject)
        answer = np.stack(answers, axis=1) if self.outputs_2d_ else answers[0]
        if reject is None and beyond is None:
            return answer
        mask = np.stack(masks, axis=1) if masks else np.zeros((len(answer), 1), bool)
        if beyond is not None:
            mask = mask | (self._strangeness(found) >= beyond)[:, None]
        return np.ma.masked_array(
            answer, np.broadcast_to(mask, (len(answer), len(answers))).reshape(answer.shape)
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows that are predicted correctly; X=None leaves each training row out."""
        if isinstance(y, str):
            X, y = split_target(X, y)
        return float(super().score(X, y, sample_weight))

    def strangeness(self, X: Any) -> Floats:
        """How far each row is from its neighbors, next to the training rows: 0 to 1.

        The share of training rows that have the last of their `n_neighbors_` neighbors, left out
        themselves, nearer than this row has: 0.99 is farther out than 99 % of them, 1 than all.
        Of many training rows some thousands are asked.
        """
        return self._strangeness(self._neighbors(X))

    def explain(self, X: Any, output: int = 0) -> Neighborhood:
        """The neighbors of one row, their labels, distances and parts of the vote.

        Parameters
        ----------
        X : one row, as (1, n_features) or as a frame of one row
        output : int, default=0
            Which column of y, if there are several.
        """
        found = self._neighbors(X)
        if len(found.rows) != 1:
            raise ValueError(f"Expected one row to explain, got {len(found.rows)}.")
        part, voices = self._votes(found)
        counted, classes = part.sum(), self._classes()[output]
        rows = found.rows[0, : voices.shape[1]]
        own = counted / (counted + self.smoothing_)
        p = self._posteriors(found)[output][0]
        return Neighborhood(
            answer=plain(classes[p.argmax()]),
            rows=rows,
            labels=classes[self._examples.codes[rows, output]],
            distances=found.distances[0, : voices.shape[1]],
            say=own * voices[0] / voices.sum(),
            prior_say=float(1 - own),
            posterior={plain(c): float(q) for c, q in zip(classes, p, strict=True)},
        )

    def _strangeness(self, found: Neighbors) -> Floats:
        k = self.n_neighbors_
        if k >= self._examples.total:
            raise ValueError(
                f"Expected n_neighbors < n_samples_fit to compare with the training rows, got {k} "
                f"of {self._examples.total:g}. Ask for fewer."
            )
        return self._search.reach(k).strangeness(found.reach(k))

    def _classes(self) -> list[Array]:
        return list(self.classes_) if self.outputs_2d_ else [self.classes_]

    def _votes(self, found: Neighbors) -> tuple[Floats, Floats]:
        """How much of each neighbor counts, and what that is worth."""
        part = found.parts(self.n_neighbors_)
        return part, part * votes.say(found.distances[:, : part.shape[1]], self.weights)

    def _posteriors(self, found: Neighbors) -> list[Floats]:
        part, voices = self._votes(found)
        counted = part.sum(axis=1, keepdims=True)
        codes = self._examples.codes[found.rows[:, : part.shape[1]]]
        posteriors, none = [], np.empty(0)
        for output, classes in enumerate(self._classes()):
            ballot = votes.tally(codes[:, :, output], voices, len(classes))
            prior = self._examples.prior(output, found.skipped) if self.smoothing_ else none
            posteriors.append(votes.posterior(ballot, counted, prior, self.smoothing_))
        return posteriors
