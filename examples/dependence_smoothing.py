"""How many rows a shorter context should count for, on tables that we report nothing else of.

    python examples/dependence_smoothing.py > docs/results/dependence_smoothing.txt

Log loss of ten folds, the mean over AODE, TAN and KDB(2), by m of `BackOff(m)`. The default is the
m of the least mean. The tables of `dependence_accuracy.py` are none of these: what it reports is
about tables that have chosen nothing.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from dependence_accuracy import FOLDER, held_out

from posterior import AODE, KDB, TAN, BackOff

TABLES = {
    "banknote-authentication": "class",
    "credit-g": "class",
    "cs109/netflix-full-train": "Label",
    "digits-8x8": "digit",
    "glass": "type",
    "house-votes-84": "class",
    "ionosphere": "class",
    "iris": "Species",
    "penguins": "species",
    "pima-diabetes": "diabetes",
    "sonar": "class",
    "titanic": "survived",
    "wdbc": "diagnosis",
    "wine": "class",
}
LEFT_OUT = ["rownames", "name", "ticket", "cabin", "Demographic"]  # of no use, or of one row each
ROWS = 0.3, 1.0, 3.0, 10.0, 30.0


def read(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    plain = FOLDER / f"{name}.csv"
    file = plain if plain.exists() else FOLDER / f"{name}.csv.gz"
    table = pd.read_csv(file, na_values=["?"]).drop(columns=LEFT_OUT, errors="ignore")
    y = table.pop(TABLES[name])
    return table, y.to_numpy().astype(str)


def losses(name: str) -> np.ndarray:
    """The mean over the models, for each m."""
    X, y = read(name)
    found = []
    for m in ROWS:
        rule = BackOff(m)
        models = AODE(smoothing=rule), TAN(smoothing=rule), KDB(2, smoothing=rule)
        found.append(np.mean([held_out(model, X, y)[0] for model in models]))
    return np.array(found)


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"{'m':26}" + "".join(f"{m:8g}" for m in ROWS))
    total = np.zeros(len(ROWS))
    for name in TABLES:
        found = losses(name)
        total += found
        print(f"{name:26}" + "".join(f"{loss:8.4f}" for loss in found), flush=True)
    mean = total / len(TABLES)
    print(f"{'mean':26}" + "".join(f"{loss:8.4f}" for loss in mean))
    print(f"Least at m = {ROWS[mean.argmin()]:g}.")


if __name__ == "__main__":
    main()
