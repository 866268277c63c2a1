"""Old Faithful: short eruptions and long ones, and nobody said which is which.

Run it with `python examples/faithful.py`, or with the name of a folder for four pictures:
`python examples/faithful.py pictures`.

POSTERIOR_DATA    folder of the data sets; otherwise ../shared/data beside this repository, and
                  where that has no geyser, eruptions are drawn by a law like its own
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from posterior import GaussianMixture, plots

# What R's mclust says of the same 272 eruptions (Scrucca et al. 2016): log likelihood and BIC.
PUBLISHED = {"two, each its own": (-1130.264, 2322.192), "three that share one": (None, 2314)}
BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


def heading(text: str) -> None:
    print(f"\n{text}\n{'─' * len(text)}")


def main(folder: str | None = None) -> None:
    table, source = read()
    eruptions, waiting = table.columns
    # Waits are whole minutes: without prior rows a component could shrink onto one of them.
    settings = {"n_init": 5, "tol": 1e-5, "max_iter": 1000, "random_state": 0}
    several = GaussianMixture(range(1, 6), prior_rows=1.0, **settings).fit(table)
    model = GaussianMixture(several.n_components_, **settings).fit(table)  # maximum likelihood

    heading("The geyser")
    print(f"{len(table)} eruptions, {source}: how long they lasted, and the wait for the next one.")

    heading("How many kinds of eruption?")
    print(several.selection_)
    print(f"\nBIC says {several.n_components_}.")

    heading("What they are like")
    print(f"{'':12}{'share':>8}{'minutes':>10}{'wait':>8}{'deviations':>15}")
    for k in np.argsort(model.means_[:, 0]):
        mean, deviation = model.means_[k], np.sqrt(model.covariances_[k].diagonal())
        spread = f"{deviation[0]:.2f} and {deviation[1]:.1f}"
        print(f"component {k}{model.weights_[k]:>9.1%}{mean[0]:>10.2f}{mean[1]:>8.1f}{spread:>15}")
    print(f"\nlog likelihood {model.score(table) * len(table):.3f}")
    print(f"EM took {model.n_iter_} steps; {len(model.starts_)} starts ended at")
    print("  ".join(f"{value:.6f}" for value in model.starts_["objective"]))

    if source == "read from a file":
        beside_mclust(model, table)

    heading("Given an eruption of 3 minutes, how long is the wait?")
    after = model.conditional({eruptions: 3.0})
    for k in np.argsort(-after.weights_):
        mean, deviation = after.means_[k, 0], np.sqrt(after.covariances_[k, 0, 0])
        print(f"component {k}: {after.weights_[k]:6.1%}   {mean:.1f} ± {deviation:.1f} minutes")
    holes = table.head(3).astype(float)
    holes.loc[holes.index[1], waiting] = np.nan
    filled = model.impute(holes)[1, 1]
    print(
        f"A lost wait after {holes.iloc[1, 0]:.2f} minutes is filled in with {filled:.1f}", end=""
    )
    print(f"; it was {table.iloc[1, 1]:g}.")

    if folder is not None:
        save(several, model, table, Path(folder))


def beside_mclust(model: GaussianMixture, table: pd.DataFrame) -> None:
    """Maximum likelihood, with a covariance for each group and with one for all."""
    shared = GaussianMixture(3, covariance_type="tied", n_init=5, tol=1e-6, max_iter=2_000)
    shared.set_params(random_state=0).fit(table)
    heading("Beside mclust")
    print(f"{'covariances':24}{'log likelihood':>28}{'BIC':>24}")
    print(f"{'':24}{'ours':>14}{'published':>14}{'ours':>12}{'published':>12}")
    for (name, (likelihood, bic)), fitted in zip(PUBLISHED.items(), (model, shared), strict=True):
        ours = fitted.score(table) * len(table)
        print(f"{name:24}{ours:>14.3f}{likelihood or '':>14}{fitted.bic(table):>12.3f}{bic:>12}")


def save(
    several: GaussianMixture, model: GaussianMixture, table: pd.DataFrame, folder: Path
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    plots.save(plots.components(model, table), folder / "components.png")
    plots.save(plots.components(model, table, table.columns[1]), folder / "waiting.png")
    plots.save(plots.selection(several), folder / "selection.png")
    plots.save(plots.trace(model), folder / "trace.png")
    print(f"\nThe pictures are in {folder}")


def read() -> tuple[pd.DataFrame, str]:
    """Eruptions of a file, if there is one, and where they came from."""
    file = Path(os.environ.get("POSTERIOR_DATA", BESIDE)) / "faithful.csv"
    if file.is_file():
        return pd.read_csv(file), "read from a file"
    return simulated(), "drawn just now"


def simulated(n: int = 272, seed: int = 0) -> pd.DataFrame:
    """One of two kinds each: short ones, after which the next comes soon, and long ones."""
    random = np.random.default_rng(seed)
    long = random.random(n) < 0.65
    eruptions = random.normal(np.where(long, 4.3, 2.0), np.where(long, 0.4, 0.25))
    waiting = np.where(long, 80.0, 54.0) + 6 * (eruptions - np.where(long, 4.3, 2.0))
    return pd.DataFrame(
        {
            "eruptions": eruptions.round(3),
            "waiting": (waiting + random.normal(0, 5.5, n)).round().astype(int),
        }
    )


if __name__ == "__main__":
    main(*sys.argv[1:2])
