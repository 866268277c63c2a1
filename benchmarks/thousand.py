"""Every estimator on a thousand rows, where what a call costs before it begins rules its time."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn import cluster, discriminant_analysis, linear_model, mixture, naive_bayes, neighbors
from sklearn import preprocessing as prepare
from sklearn.feature_extraction import text
from sklearn.pipeline import make_pipeline

import posterior
from benchmarks.arrays import Array, categories, normal_rows
from benchmarks.growth import counted, written
from benchmarks.timing import Operation, Peer

ROWS, COLUMNS, CENTERS = 1_000, 20, 8
SHARE = 0.5  # seconds of turns: these calls take a thousandth of that
NO_PEER = "scikit-learn's GaussianNB, for scale"


def thousand_rows(_: int) -> Iterator[Operation]:
    """Every classifier, 1,000 rows of 20 columns, 5 classes: fit and predict_proba"""
    X, y = normal_rows(ROWS, COLUMNS)
    counts, codes = np.floor(2 * np.abs(X)), categories(ROWS, COLUMNS)[0]
    for name, module, table, settings in (
        ("GaussianNB", naive_bayes, X, {}),
        ("MultinomialNB", naive_bayes, counts, {}),
        ("ComplementNB", naive_bayes, counts, {}),
        ("BernoulliNB", naive_bayes, X, {"binarize": 0.0}),
        ("CategoricalNB", naive_bayes, codes, {}),
        ("LinearDiscriminantAnalysis", discriminant_analysis, X, {}),
        ("QuadraticDiscriminantAnalysis", discriminant_analysis, X, {}),
        ("LogisticRegression", linear_model, X, {}),
        ("LogisticRegressionCV", linear_model, X, {"cv": 3, "Cs": 5, "scoring": "neg_log_loss"}),
        ("KNeighborsClassifier", neighbors, X, {}),
    ):
        makers = (partial(getattr(m, name), **settings) for m in (posterior, module))
        yield from both(name, *makers, table, y, "predict_proba")
    scale = partial(both, peer=NO_PEER)
    for name, table, settings in (
        ("NaiveBayes", X, {}),
        ("PoissonNB", counts, {}),
        ("GaussianDiscriminantAnalysis", X, {}),
        ("AODE", codes, {"categories": True}),
        ("TAN", codes, {"categories": True}),
        ("KDB", codes, {"categories": True}),
        ("JointBayes", codes[:, :2], {}),
        ("MixtureClassifier", X, {"random_state": 0}),
    ):
        make = partial(getattr(posterior, name), **settings)
        yield from scale(name, make, naive_bayes.GaussianNB, table, y, "predict_proba")


def thousand_others(_: int) -> Iterator[Operation]:
    """Clusters, mixtures, bins and words, 1,000 rows or documents: fit, and the use of the model"""
    X, y = normal_rows(ROWS, COLUMNS)
    start = X[:CENTERS]
    lloyd = {"n_clusters": CENTERS, "init": start, "n_init": 1, "max_iter": 20, "tol": 0}
    yield from both("KMeans", *same("KMeans", cluster, lloyd), X, None, "predict")
    batches = lloyd | {"random_state": 0, "max_no_improvement": None, "batch_size": 256}
    yield from both(
        "MiniBatchKMeans", *same("MiniBatchKMeans", cluster, batches), X, None, "predict"
    )
    em = {
        "n_components": CENTERS,
        "max_iter": 10,
        "tol": 0,
        "weights_init": np.full(CENTERS, 1 / CENTERS),
        "means_init": start,
        "precisions_init": np.repeat(np.eye(COLUMNS)[None], CENTERS, axis=0),
    }
    yield from both("GaussianMixture", *same("GaussianMixture", mixture, em), X, None, "predict")
    bins = {"encode": "ordinal", "n_bins": 10, "random_state": 0, "strategy": "quantile"}
    makers = same("KBinsDiscretizer", prepare, bins)
    yield from both("KBinsDiscretizer", *makers, X, None, "transform")
    yield from both(
        "SupervisedDiscretizer",
        posterior.SupervisedDiscretizer,
        naive_bayes.GaussianNB,
        X,
        y,
        "transform",
        NO_PEER,
    )
    documents = written(ROWS, 10_000)
    for name in ("CountVectorizer", "TfidfVectorizer", "HashingVectorizer"):
        yield from both(name, *same(name, text, {}), documents, None, "transform")
    pipeline = partial(make_pipeline, text.CountVectorizer(), naive_bayes.MultinomialNB())
    ours = partial(posterior.TextClassifier, "multinomial", alpha=1.0, calibrated=False)
    yield from both("TextClassifier", ours, pipeline, documents, y, "predict_proba")
    words = counted(ROWS, 10_000)[0]
    yield from both(
        "TfidfTransformer", *same("TfidfTransformer", text, {}), words, None, "transform"
    )


CASES = [thousand_rows, thousand_others]


def same(name: str, module: Any, settings: dict[str, Any]) -> tuple[Callable[[], Any], ...]:
    return tuple(partial(getattr(m, name), **settings) for m in (posterior, module))


def both(
    name: str,
    ours: Callable[[], Any],
    theirs: Callable[[], Any],
    X: Array,
    y: Array | None,
    use: str,
    peer: str = "scikit-learn",
) -> Iterator[Operation]:
    """`fit`, then the use of the fitted models."""
    given = (X,) if y is None else (X, y)
    fits = [partial(quiet, lambda make=make: make().fit(*given)) for make in (ours, theirs)]
    models = [fit() for fit in fits]
    uses = [partial(quiet, partial(getattr(m, use, None) or m.predict_proba, X)) for m in models]
    for verb, (mine, other) in (("fit", fits), (use, uses)):
        target = None if peer == NO_PEER else 1
        yield Operation(f"{name} {verb}", mine, [Peer(peer, other, target)], share=SHARE)


def quiet(call: Callable[[], Any]) -> Any:
    """The iterations of all end before they converge, and are meant to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()
