"""How many rows a shorter context should count for, on tables that we report nothing else of.

    python examples/dependence_smoothing.py > docs/results/dependence_smoothing.txt

Log loss of ten folds, the mean over AODE, TAN and KDB(2), by m of `BackOff(m)`, and with an m for
each column and number of parents, chosen by leave-one-out inside each fold, as by default. The m of
`BackOff()` is that of the least mean. The tables of `dependence_accuracy.py` are none of these:
what it reports is about tables that have chosen nothing.
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
    """The mean over the models, for each m, and for those chosen by leave-one-out."""
    X, y = read(name)
    found = []
    for rule in (*(BackOff(m) for m in ROWS), None):
        models = AODE(smoothing=rule), TAN(smoothing=rule), KDB(2, smoothing=rule)
        found.append(np.mean([held_out(model, X, y)[0] for model in models]))
    return np.array(found)


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"{'m':26}" + "".join(f"{m:8g}" for m in ROWS) + "  leave-one-out")
    total = np.zeros(len(ROWS) + 1)
    for name in TABLES:
        found = losses(name)
        total += found
        print(shown(name, found), flush=True)
    *mean, chosen = total / len(TABLES)
    least = int(np.argmin(mean))
    print(shown("mean", np.array([*mean, chosen])))
    less = 1 - chosen / mean[least]
    print(f"Leave-one-out is {less:.1%} below m = {ROWS[least]:g}, the least of single numbers.")
    print(f"Least at m = {ROWS[least]:g}.")


def shown(name: str, found: np.ndarray) -> str:
    return f"{name:26}" + "".join(f"{loss:8.4f}" for loss in found[:-1]) + f"{found[-1]:15.4f}"


if __name__ == "__main__":
    main()
