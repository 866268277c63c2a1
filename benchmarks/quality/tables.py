"""The tables and documents that are predicted."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("POSTERIOR_DATA", HERE.parent / "shared" / "data"))
TABLES = {  # file and column of classes
    "adult": ("adult-train.csv.gz", "income"),
    "banknote": ("banknote-authentication.csv", "class"),
    "car": ("car.csv", "class"),
    "credit-g": ("credit-g.csv", "class"),
    "digits": ("digits-8x8.csv.gz", "digit"),
    "glass": ("glass.csv", "type"),
    "heart": ("cs109/heart-train.csv", "Label"),
    "house-votes": ("house-votes-84.csv", "class"),
    "ionosphere": ("ionosphere.csv", "class"),
    "iris": ("iris.csv", "Species"),
    "letter": ("letter.csv.gz", "letter"),
    "mushroom": ("mushroom.csv", "class"),
    "netflix": ("cs109/netflix-train.csv", "Label"),
    "penguins": ("penguins.csv", "species"),
    "pima": ("pima-diabetes.csv", "diabetes"),
    "sonar": ("sonar.csv", "class"),
    "tic-tac-toe": ("tic-tac-toe.csv", "class"),
    "titanic": ("titanic.csv", "survived"),
    "wdbc": ("wdbc.csv", "diagnosis"),
    "wine": ("wine.csv", "class"),
}
TEXTS = {  # file, columns of text and column of classes
    "20news": ("20news-bydate-train.csv.gz", ["text"], "group"),
    "ag-news": ("ag-news-test.csv.gz", ["title", "description"], "class"),
    "movie-reviews": ("movie-polarity-v2.csv.gz", ["text"], "label"),
    "names": ("names/names-language.csv", ["name"], "language"),
    "rt-sentences": ("rt-polarity.csv.gz", ["text"], "label"),
    "sms-spam": ("sms-spam.csv", ["text"], "label"),
}
BY_LETTERS = {"names"}  # texts of one word

# Those of KEEL that are neither among the tables above nor another form of the same data
# (optdigits has the digits, titanic the passengers, australian is crx in numbers).
KEEL = (
    *("banana", "bands", "breast", "bupa", "chess", "contraceptive", "crx", "hayes-roth", "heart"),
    *("led7digit", "magic", "mammographic", "marketing", "monk-2", "movement_libras", "penbased"),
    *("phoneme", "ring", "saheart", "satimage", "segment", "spambase", "splice", "tae", "texture"),
    *("twonorm", "vehicle", "vowel", "wisconsin"),
)
OF_KEEL = "keel-"  # before their names, some of which are names of other tables above


def read(name: str, keel: Path | None = None) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns and classes of a table, or one column of text."""
    if name in TEXTS:
        return _documents(name)
    if name.startswith(OF_KEEL):
        if keel is None:
            raise ValueError(f"Expected a folder with {name}, got none. Name it: --keel FOLDER.")
        return _of_keel(keel / f"{name.removeprefix(OF_KEEL)}.dat")
    file, target = TABLES[name]
    table = pd.read_csv(FOLDER / file, na_values=["?"])
    table = table.drop(columns=[c for c in ("rownames", "rowid") if c in table])
    return table.drop(columns=target), table[target].to_numpy().astype(str)


def _documents(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    file, columns, target = TEXTS[name]
    table = pd.read_csv(FOLDER / file, keep_default_na=False)
    return table[columns].agg(" ".join, axis=1).to_frame("text"), table[target].to_numpy()


def _of_keel(file: Path) -> tuple[pd.DataFrame, np.ndarray]:
    """A raw file has no header, and the classes in its last column."""
    table = pd.read_csv(file, header=None, na_values=["?", "<null>"], skipinitialspace=True)
    table.columns = [f"x{j + 1}" for j in range(table.shape[1])]
    return table.iloc[:, :-1], table.iloc[:, -1].to_numpy().astype(str)


def by_size(names: list[str], keel: Path | None) -> list[str]:
    """The smallest first, by rows times classes."""

    def size(name: str) -> int:
        y = read(name, keel)[1]
        return len(y) * len(np.unique(y))

    return sorted(names, key=size)
