"""Mixtures and k-means as the second lecture has them: nobody says which fish is a trout.

Run it with `python examples/em_and_kmeans.py`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from posterior import Categorical, GaussianMixture, KMeans, Laplace, MEstimate, NaiveBayes, datasets

DEVIATION = 3.5  # the lecture has one deviation for both groups, and takes it as known
DAY = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "windy": "strong"}


def heading(text: str) -> None:
    print(f"\n{text}\n{'─' * len(text)}")


def main() -> None:
    tennis()
    X, y = datasets.fish(5_000)
    heading(f"Two means by EM: one known deviation ({DEVIATION}), equal shares")
    print(f"{'step':>8}{'μ₁':>9}{'μ₂':>9}{'log likelihood':>18}")
    for step, (means, fit) in enumerate(two_means(X[:, 0], np.array([20.0, 21.0]))):
        print(f"{step:>8}{means[0]:>9.3f}{means[1]:>9.3f}{fit:>18.1f}")

    mixture = GaussianMixture(2, n_init=3, random_state=0, tol=1e-7, max_iter=500).fit(X)
    centers = KMeans(2, n_init=1, random_state=0).fit(X)
    truth = [X[y == kind, 0].mean() for kind in (1, 0)]
    heading("What each finds")
    print(f"{'':32}{'light':>8}{'heavy':>8}{'share':>9}{'deviations':>15}")
    print(f"{'the fish, by their labels':32}{truth[0]:>8.2f}{truth[1]:>8.2f}{y.mean():>9.1%}")
    print(f"{'EM, one known deviation':32}{means[0]:>8.2f}{means[1]:>8.2f}{0.5:>9.1%}")
    light, heavy = np.argsort(mixture.means_[:, 0])
    spread = np.sqrt(mixture.covariances_[[light, heavy], 0, 0])
    found = mixture.means_[[light, heavy], 0]
    print(f"{'GaussianMixture':32}{found[0]:>8.2f}{found[1]:>8.2f}", end="")
    print(f"{mixture.weights_[light]:>9.1%}{spread[0]:>8.2f}{spread[1]:>7.2f}")
    near = np.sort(centers.cluster_centers_[:, 0])
    sizes = np.sort(np.bincount(centers.labels_))[::-1] / len(X)
    print(f"{'KMeans':32}{near[0]:>8.2f}{near[1]:>8.2f}{sizes[0]:>9.1%}")

    heading("Soft or hard: is it one of the light ones?")
    print(f"{'weight':>8}{'P(light)':>12}{'nearest center':>18}")
    for weight in (20.0, 22.0, 23.0, 24.0, 26.0):
        soft = mixture.predict_proba([[weight]])[0, light]
        hard = abs(weight - near[0]) < abs(weight - near[1])
        print(f"{weight:>8.0f}{soft:>12.1%}{'light' if hard else 'heavy':>18}")


def tennis() -> None:
    """The small numbers that the notes print, ⟨0.0053, 0.0206⟩, and the m-estimate."""
    days, play = datasets.tennis()
    table = pd.DataFrame(days, columns=list(DAY))
    heading("Tennis on a sunny, cool, humid and windy day?")
    print(f"{'':32}{'p(yes, day)':>12}{'p(no, day)':>12}{'P(no | day)':>13}")
    print(f"{'in the notes':32}{0.0053:>12.4f}{0.0206:>12.4f}")
    for name, prior in (
        ("counted", Laplace(0)),
        ("Laplace, α = 1", Laplace(1)),
        ("m-estimate, m = 3", MEstimate(3)),
    ):
        model = NaiveBayes(Categorical(prior)).fit(table, play)
        no, yes = np.exp(model.predict_joint_log_proba(pd.DataFrame([DAY]))[0])
        print(f"{name:32}{yes:>12.4f}{no:>12.4f}{no / (no + yes):>13.3f}")


def two_means(x: np.ndarray, means: np.ndarray) -> list[tuple[np.ndarray, float]]:
    """E[z_ij] ∝ exp(-(xᵢ - μⱼ)² / 2σ²)  and  μⱼ ← Σᵢ E[z_ij] xᵢ / Σᵢ E[z_ij], until they stay."""
    steps = []
    while not steps or np.abs(means - steps[-1][0]).max() > 5e-4:
        density = np.exp(-0.5 * ((x[:, None] - means) / DEVIATION) ** 2)
        scale = 2 * DEVIATION * np.sqrt(2 * np.pi)
        steps.append((means, float(np.log(density.sum(axis=1) / scale).sum())))
        share = density / density.sum(axis=1, keepdims=True)
        means = share.T @ x / share.sum(axis=0)
    return steps


if __name__ == "__main__":
    main()
