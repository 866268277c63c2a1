"""Naive Bayes of words from scratch: counts X, (documents, words), and classes y, 0 to k - 1."""

import numpy as np


def log_prior(y: np.ndarray) -> np.ndarray:
    """ln P(k) = ln (documents of class k / all documents)"""
    return np.log(np.bincount(y) / len(y))  # blank: (k,)


def word_counts(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """n_kw = how often word w occurs in the documents of class k"""
    return np.array([X[y == k].sum(axis=0) for k in range(y.max() + 1)])  # blank: (k, words)


def log_likelihoods(X: np.ndarray, y: np.ndarray, alpha: float) -> np.ndarray:
    """ln P(w | k) = ln (n_kw + α) / Σ_v (n_kv + α)"""
    n = word_counts(X, y) + alpha
    return np.log(n / n.sum(axis=1, keepdims=True))  # blank: every row of P(w | k) sums to one


def log_joint(X: np.ndarray, prior: np.ndarray, likelihoods: np.ndarray) -> np.ndarray:
    """ln P(x, k) = ln P(k) + Σ_w x_w ln P(w | k)"""
    return prior + X @ likelihoods.T  # blank: (documents, k)


def posterior(joint: np.ndarray) -> np.ndarray:
    """P(k | x) = exp(l_k) / Σ_j exp(l_j),  l = ln P(x, k)"""
    p = np.exp(joint - joint.max(axis=1, keepdims=True))  # blank: less the largest, so none is lost
    return p / p.sum(axis=1, keepdims=True)  # blank: rows that sum to one


def predict(joint: np.ndarray) -> np.ndarray:
    """the class of the largest ln P(x, k)"""
    return joint.argmax(axis=1)  # blank: (documents,)
