"""Logistic regression from scratch: X has a column of ones, y holds zeros and ones."""

import numpy as np


def sigmoid(z: np.ndarray) -> np.ndarray:
    """σ(z) = 1 / (1 + exp(-z))"""
    return 1 / (1 + np.exp(-z))  # blank: the formula above


def log_likelihood(w: np.ndarray, X: np.ndarray, y: np.ndarray) -> float:
    """ℓ(w) = Σᵢ [ yᵢ zᵢ - ln(1 + exp zᵢ) ],  zᵢ = xᵢ · w"""
    z = X @ w  # blank: a score for each row
    return (y * z - np.logaddexp(0, z)).sum()  # blank: the sum; exp(800) is too large to write out


def gradient(w: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """∂ℓ/∂w = Σᵢ (yᵢ - σ(zᵢ)) xᵢ"""
    return X.T @ (y - sigmoid(X @ w))  # blank: one number for each column


def hessian(w: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """∂²ℓ/∂w∂wᵀ = -Σᵢ σ(zᵢ) (1 - σ(zᵢ)) xᵢ xᵢᵀ"""
    p = sigmoid(X @ w)
    return -(X.T * (p * (1 - p))) @ X  # blank: (columns, columns), and y is not needed


def ascend(X: np.ndarray, y: np.ndarray, step: float, n_steps: int) -> np.ndarray:
    """w ← w + η ∂ℓ/∂w, from zeros"""
    w = np.zeros(X.shape[1])
    for _ in range(n_steps):
        w = w + step * gradient(w, X, y)  # blank: uphill
    return w


def newton(X: np.ndarray, y: np.ndarray, n_steps: int) -> np.ndarray:
    """w ← w - H⁻¹ ∂ℓ/∂w, from zeros"""
    w = np.zeros(X.shape[1])
    for _ in range(n_steps):
        w = w - np.linalg.solve(hessian(w, X, y), gradient(w, X, y))  # blank: Newton's step
    return w


def predict(w: np.ndarray, X: np.ndarray) -> np.ndarray:
    """1 where p(y = 1 | x) > ½, else 0"""
    return (sigmoid(X @ w) > 0.5).astype(int)  # blank: zeros and ones
