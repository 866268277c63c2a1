"""k-means from scratch: rows X, (n, columns), and centers, (k, columns)."""

import numpy as np


def assign(X: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """zᵢ = argmin_k |xᵢ - μ_k|²"""
    squares = ((X[:, None] - centers) ** 2).sum(axis=2)  # blank: (n, k)
    return squares.argmin(axis=1)  # blank: (n,)


def move(X: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    """μ_k = mean of the rows with zᵢ = k"""
    return np.array([X[labels == j].mean(axis=0) for j in range(k)])  # blank: (k, columns)


def inertia(X: np.ndarray, labels: np.ndarray, centers: np.ndarray) -> float:
    """Σᵢ |xᵢ - μ_zᵢ|²"""
    return ((X - centers[labels]) ** 2).sum()  # blank: a number that never rises


def lloyd(X: np.ndarray, centers: np.ndarray, n_rounds: int) -> np.ndarray:
    """assign and move in turn"""
    for _ in range(n_rounds):
        centers = move(X, assign(X, centers), len(centers))  # blank: one round
    return centers
