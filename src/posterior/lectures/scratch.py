"""Exercises in which functions are written, from a template with blanks."""

from __future__ import annotations

import numpy as np

from posterior import datasets
from posterior.lectures.exercise import Exercise, Trials, from_scratch
from posterior.lectures.from_scratch import (
    em_by_hand,
    gda_by_hand,
    kmeans_by_hand,
    logistic_by_hand,
    neighbors_by_hand,
    words_by_hand,
)


def _logistic() -> Trials:
    weight, y = datasets.fish(200)
    X, w = np.column_stack([np.ones(200), weight / 10]), np.array([0.3, -0.2])
    far = np.array([-800.0, 800.0])  # where exp(800) would be infinite
    return {
        "sigmoid": [(np.linspace(-5, 5, 11),), (far,)],
        "log_likelihood": [(w, X, y), (-10_000 * w, X, y)],  # scores beyond 800
        "gradient": [(w, X, y)],
        "hessian": [(w, X, y)],
        "ascend": [(X, y, 1e-3, 50)],
        "newton": [(X, y, 5)],
        "predict": [(np.array([20.0, -8.7]), X)],
    }


def _words() -> Trials:
    random = np.random.default_rng(0)
    X, y = random.poisson(1.0, (30, 6)), np.arange(30) % 3
    prior, likelihoods = np.log([0.5, 0.3, 0.2]), np.log(random.dirichlet(np.ones(6), 3))
    joint = random.normal(-1000.0, 3.0, (10, 3))  # whose exponentials are all zero
    return {
        "log_prior": [(np.array([0, 0, 1, 2, 2, 2]),)],
        "word_counts": [(X, y)],
        "log_likelihoods": [(X, y, 1.0), (X, y, 0.1)],
        "log_joint": [(X, prior, likelihoods)],
        "posterior": [(joint / 1000,), (joint,)],
        "predict": [(joint,)],
    }


def _kmeans() -> Trials:
    X = np.random.default_rng(0).normal(size=(40, 2))
    centers, labels = X[[0, 1, 2]], np.arange(40) % 3
    return {
        "assign": [(X, centers)],
        "move": [(X, labels, 3)],
        "inertia": [(X, labels, centers)],
        "lloyd": [(X, centers, 1), (X, centers, 5)],
    }


def _em() -> Trials:
    x, means = datasets.heights(100)[0][:, 0], np.array([160.0, 175.0])
    return {
        "expect": [(x, means, 7.0)],
        "maximize": [(x, np.random.default_rng(0).dirichlet([1, 1], 100))],
        "log_likelihood": [(x, means, 7.0)],
        "climb": [(x, means, 7.0, 1), (x, means, 7.0, 10)],
    }


def _gda() -> Trials:
    random = np.random.default_rng(0)
    y = np.array([0, 1, 1] * 20)
    X = random.normal(size=(60, 2)) @ np.array([[1.0, 0.5], [0.0, 1.0]]) + y[:, None]
    parts = ("means", "covariance", "weights", "intercept")
    return {"share": [(y,)]} | {part: [(X, y)] for part in parts}


def _neighbors() -> Trials:
    random = np.random.default_rng(0)
    X, y, u, v = random.normal(size=(20, 2)), np.arange(20) % 3, *random.normal(size=(2, 8))
    return {
        "distance": [(u, v, 1), (u, v, 2), (u, v, 3)],
        "correlation_distance": [(u, 3 * u + 1), (u, v)],
        "edit_distance": [("kitten", "sitting"), ("", "abc"), ("abc", "abc"), ("flaw", "lawn")],
        "vote": [(X, y, np.zeros(2), 1), (X, y, np.ones(2), 5)],
    }


ALL: tuple[Exercise, ...] = (
    from_scratch(
        "words",
        "000",
        "Write naive Bayes for documents whose words are counted, with α rows of every word.\n"
        'Start with template("words").',
        "ln P(x, k) = ln P(k) + Σ_w x_w ln P(w | k): a product of two matrices, and a row.",
        words_by_hand,
        _words,
    ),
    from_scratch(
        "em",
        "001",
        "Write EM for the means of k normal curves of equal shares and one known deviation.\n"
        'Start with template("em").',
        "x[:, None] - means has a row for each x and a column for each mean.",
        em_by_hand,
        _em,
    ),
    from_scratch(
        "kmeans",
        "001",
        'Write k-means: assign, move, and both in turn. Start with template("kmeans").',
        "(X[:, None] - centers) ** 2 has the shape (rows, centers, columns).",
        kmeans_by_hand,
        _kmeans,
    ),
    from_scratch(
        "logistic",
        "003",
        "Write logistic regression: likelihood, gradient, Hessian, and two ways up.\n"
        'Start with template("logistic").',
        "X.T @ something of one number a row sums over the rows; logaddexp(0, z) is ln(1 + exp z).",
        logistic_by_hand,
        _logistic,
    ),
    from_scratch(
        "gda",
        "004",
        "Write Gaussian discriminant analysis with one covariance, and the logistic curve that it\n"
        'is. Start with template("gda").',
        "means(X, y)[y] has the mean of its class for each row.",
        gda_by_hand,
        _gda,
    ),
    from_scratch(
        "neighbors",
        "004",
        'Write three distances and the vote of the nearest rows. Start with template("neighbors").',
        "The correlation is a · b / √(a · a  b · b) of vectors less their means.",
        neighbors_by_hand,
        _neighbors,
    ),
)
