"""EM for the means of k normal curves from scratch: equal shares, one known deviation sigma."""

import numpy as np


def expect(x: np.ndarray, means: np.ndarray, sigma: float) -> np.ndarray:
    """r_ij = exp(-(xᵢ - μⱼ)² / 2σ²) / Σ_l exp(-(xᵢ - μ_l)² / 2σ²)"""
    bells = np.exp(-((x[:, None] - means) ** 2) / (2 * sigma**2))  # blank: (n, k)
    return bells / bells.sum(axis=1, keepdims=True)  # blank: rows that sum to one


def maximize(x: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """μⱼ = Σᵢ r_ij xᵢ / Σᵢ r_ij"""
    return shares.T @ x / shares.sum(axis=0)  # blank: (k,)


def log_likelihood(x: np.ndarray, means: np.ndarray, sigma: float) -> float:
    """Σᵢ ln Σⱼ (1/k) N(xᵢ; μⱼ, σ²)"""
    bells = np.exp(-((x[:, None] - means) ** 2) / (2 * sigma**2))
    density = bells.mean(axis=1) / np.sqrt(2 * np.pi * sigma**2)  # blank: p(xᵢ), (n,)
    return np.log(density).sum()  # blank: a number that never falls


def climb(x: np.ndarray, means: np.ndarray, sigma: float, n_rounds: int) -> np.ndarray:
    """expect and maximize in turn"""
    for _ in range(n_rounds):
        means = maximize(x, expect(x, means, sigma))  # blank: one round
    return means
