"""Documents in, posterior out: a vectorizer and a model of its columns, one after the other."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from posterior.data.names import plain
from posterior.data.typing import Array, Floats
from posterior.generative.explanation import Explanation
from posterior.generative.validation import HeldOut

MOST_TERMS = 20  # of an explanation


def _adds_up(self: Any) -> bool:
    return hasattr(self.model, "cross_validate")


class DocumentClassifier(ClassifierMixin, BaseEstimator):
    """A linear model of the terms that a vectorizer finds: naive Bayes or logistic regression.

    Parameters
    ----------
    vectorizer : CountVectorizer, TfidfVectorizer, ...
    model : MultinomialNB, BernoulliNB, LogisticRegression, ...

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    vectorizer_, model_ : as fitted
    """

    def __init__(self, vectorizer: Any, model: Any) -> None:
        self.vectorizer = vectorizer
        self.model = model

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the terms of some documents, and then their classes."""
        vectorizer = clone(self.vectorizer)
        terms = vectorizer.fit_transform(X)
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.model_ = clone(self.model).fit(terms, y, **weight)
        self.vectorizer_, self.classes_ = vectorizer, self.model_.classes_
        return self

    def predict_log_proba(self, X: Any) -> Floats:
        """log p(k | document)."""
        check_is_fitted(self)
        return np.asarray(self.model_.predict_log_proba(self.vectorizer_.transform(X)))

    def predict_proba(self, X: Any) -> Floats:
        """p(k | document)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> Array:
        """The most probable class of each document."""
        return np.asarray(self.classes_[self.predict_log_proba(X).argmax(axis=1)])

    @available_if(_adds_up)
    def cross_validate(self, X: Any, y: Any, folds: Any = 10) -> HeldOut:
        """Score every document by the model of the other folds; terms are those of all."""
        terms = clone(self.vectorizer).fit_transform(X)
        held_out: HeldOut = self.model.cross_validate(terms, y, folds=folds)
        return held_out

    def term_weights(self) -> tuple[Array, Floats]:
        """The terms, and what one more of each adds to the score of each class, (k, terms)."""
        check_is_fitted(self)
        names = self.vectorizer_.get_feature_names_out()
        if hasattr(self.model_, "feature_log_prob_"):
            return names, np.asarray(self.model_.feature_log_prob_)
        slope = np.asarray(self.model_.coef_)
        return names, np.concatenate([np.zeros_like(slope), slope]) if len(slope) == 1 else slope

    def explain(self, document: Any, of: Any = None, against: Any = None) -> Explanation:
        """Why: the terms of one document that speak most for a class against another."""
        log_proba = self.predict_log_proba([document])[0]
        ranked = np.argsort(-log_proba, kind="stable")
        first = ranked[0] if of is None else np.flatnonzero(self.classes_ == of)[0]
        others = [k for k in ranked if k != first]
        second = others[0] if against is None else np.flatnonzero(self.classes_ == against)[0]
        row = self.vectorizer_.transform([document])
        names, weights = self.term_weights()
        terms = row.data * (weights[first] - weights[second])[row.indices]
        shown = np.argsort(-np.abs(terms), kind="stable")
        rest = shown[MOST_TERMS:]
        shown = shown[:MOST_TERMS]
        told = [*terms[shown], *([terms[rest].sum()] if len(rest) else [])]
        values = [*row.data[shown], *([len(rest)] if len(rest) else [])]
        return Explanation(
            of=plain(self.classes_[first]),
            against=plain(self.classes_[second]),
            prior=float(log_proba[first] - log_proba[second] - terms.sum()),
            feature_names=np.array(
                [*names[row.indices[shown]], *(["(other terms)"] if len(rest) else [])],
                dtype=object,
            ),
            values=tuple(float(v) for v in values),
            weights=np.array(told, np.float64),
            posterior={
                plain(c): float(np.exp(p)) for c, p in zip(self.classes_, log_proba, strict=True)
            },
        )
