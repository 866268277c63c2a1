"""Gaussian discriminant analysis from scratch: y holds zeros and ones, one covariance for both."""

import numpy as np


def share(y: np.ndarray) -> float:
    """φ = (1/n) Σᵢ [ yᵢ = 1 ]"""
    return float((y == 1).mean())  # blank: the digit one, not the letter l


def means(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """μ_k = mean of the rows with yᵢ = k"""
    return np.array([X[y == k].mean(axis=0) for k in (0, 1)])  # blank: (2, columns)


def covariance(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Σ = (1/n) Σᵢ (xᵢ - μ_yᵢ)(xᵢ - μ_yᵢ)ᵀ"""
    centered = X - means(X, y)[y]  # blank: each row less the mean of its class
    return centered.T @ centered / len(X)  # blank: (columns, columns)


def weights(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """w = Σ⁻¹ (μ₁ - μ₀)"""
    mu = means(X, y)
    return np.linalg.solve(covariance(X, y), mu[1] - mu[0])  # blank: (columns,)


def intercept(X: np.ndarray, y: np.ndarray) -> float:
    """b = ln φ / (1 - φ) - ½ w · (μ₀ + μ₁)"""
    phi, mu = share(y), means(X, y)
    return np.log(phi / (1 - phi)) - weights(X, y) @ mu.sum(axis=0) / 2  # blank: a number
