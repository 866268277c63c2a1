"""Nearest neighbors from scratch: rows X, (n, columns), their classes y, and one new row."""

import numpy as np


def distance(u: np.ndarray, v: np.ndarray, p: float) -> float:
    """(Σⱼ |uⱼ - vⱼ|^p)^(1/p)"""
    return float((np.abs(u - v) ** p).sum() ** (1 / p))  # blank: p = 2 is Euclid's


def correlation_distance(u: np.ndarray, v: np.ndarray) -> float:
    """1 - correlation of u and v"""
    a, b = u - u.mean(), v - v.mean()
    return float(1 - a @ b / np.sqrt((a @ a) * (b @ b)))  # blank: 0 if one is the other, scaled


def edit_distance(a: str, b: str) -> int:
    """the fewest letters to insert, delete or change that make b of a"""
    row = list(range(len(b) + 1))  # row[j]: edits from what was read of a to b[:j]
    for i, letter in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            change = before + (letter != other)  # blank: before, and one more if letters differ
            before = row[j]
            row[j] = min(change, row[j] + 1, row[j - 1] + 1)  # blank: change, delete or insert
    return row[-1]


def vote(X: np.ndarray, y: np.ndarray, new: np.ndarray, k: int) -> int:
    """the most frequent class of the k rows nearest to new; of equally frequent ones the first"""
    nearest = np.argsort([distance(row, new, 2) for row in X], kind="stable")[:k]  # blank: k rows
    return int(np.bincount(y[nearest]).argmax())  # blank: one class
