"""python -m benchmarks.child CONTESTANT FOLDER: a peer in its own Python, see `elsewhere`.

pomegranate computes in float32, whatever it is given.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.memory import watch

Arrays = dict[str, Any]
Contestant = Callable[[Arrays], tuple[Callable[[], Any], Callable[[Any], Arrays]]]


def glum(a: Arrays) -> tuple[Callable[[], Any], Callable[[Any], Arrays]]:
    from glum import GeneralizedLinearRegressor

    model = GeneralizedLinearRegressor(
        family="binomial", alpha=1 / len(a["y"]), l1_ratio=0, gradient_tol=1e-7
    )
    return lambda: model.fit(a["X"], a["y"]), lambda fitted: {"coef": fitted.coef_}


def bayes(a: Arrays) -> tuple[Callable[[], Any], Callable[[Any], Arrays]]:
    import torch
    from pomegranate.bayes_classifier import BayesClassifier
    from pomegranate.distributions import Normal

    X, y = torch.from_numpy(a["X"]).float(), torch.from_numpy(a["y"])
    classes = int(y.max()) + 1

    def fit() -> Any:
        return BayesClassifier([Normal(covariance_type="diag") for _ in range(classes)]).fit(X, y)

    return fit, lambda model: {"means": np.stack([d.means.numpy() for d in model.distributions])}


def mixture(a: Arrays) -> tuple[Callable[[], Any], Callable[[Any], Arrays]]:
    import torch
    from pomegranate.distributions import Normal
    from pomegranate.gmm import GeneralMixtureModel

    X = torch.from_numpy(a["X"]).float()
    kind = "full" if a["covariances"].ndim == 3 else "diag"

    def fit() -> Any:
        parts = [
            Normal(torch.tensor(mean).float(), torch.tensor(cov).float(), covariance_type=kind)
            for mean, cov in zip(a["means"], a["covariances"], strict=True)
        ]
        model = GeneralMixtureModel(parts, max_iter=int(a["steps"]), tol=0)
        return model.fit(X)

    def answer(model: Any) -> Arrays:
        parts = model.distributions
        return {
            "weights": model.priors.numpy(),
            "means": np.stack([part.means.numpy() for part in parts]),
            "covariances": np.stack([part.covs.numpy() for part in parts]),
        }

    return fit, answer


def kmeans(a: Arrays) -> tuple[Callable[[], Any], Callable[[Any], Arrays]]:
    import torch
    from pomegranate.kmeans import KMeans

    X, iterations = torch.from_numpy(a["X"]), int(a["steps"])

    def fit() -> Any:
        start = torch.tensor(a["start"])
        return KMeans(centroids=start, max_iter=iterations, tol=0).fit(X)

    return fit, lambda model: {"cluster_centers_": model.centroids.numpy()}


CONTESTANTS: dict[str, Contestant] = {
    "bayes": bayes,
    "glum": glum,
    "kmeans": kmeans,
    "mixture": mixture,
}


def main(contestant: str, folder: Path) -> None:
    say, sys.stdout = sys.stdout, sys.stderr  # what a package prints is no answer
    with np.load(folder / "arrays.npz") as arrays:
        call, answer = CONTESTANTS[contestant](dict(arrays))
    print("ready", file=say, flush=True)
    for word in map(str.strip, sys.stdin):
        if word == "run":
            call()
            print("done", file=say, flush=True)
        else:
            found, cost = watch(call)
            np.savez(folder / "answer.npz", **answer(found))
            print(json.dumps(asdict(cost)), file=say, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
