"""Surnames: which language is this one of? Near are names that few edits make of one another.

Run it with `python examples/names.py`. It takes some seconds.

POSTERIOR_DATA    folder of the data sets; otherwise ../shared/data beside this repository, and
                  where that has no names, names are made up by a rule of our own
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from posterior import KNeighborsClassifier

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
TESTED = 0.1  # of the names
NEIGHBORS = 5


def heading(text: str) -> None:
    print(f"\n{text}\n{'─' * len(text)}")


def main(n: int | None = None) -> None:
    table, source = read()
    table = table.sample(n or len(table), random_state=0)
    names, languages = table["name"].to_numpy(object), table["language"].to_numpy()
    unseen = np.random.default_rng(0).random(len(names)) < TESTED
    train, truth = names[~unseen], languages[unseen]
    most = pd.Series(languages[~unseen]).mode()[0]

    heading("The names")
    print(f"{len(names):,} names of {len(set(languages))} languages, {source};")
    print(f"{unseen.sum():,} of them to test on, {np.mean(truth == most):.1%} of those {most};")
    print(f"{np.isin(names[unseen], train).mean():.1%} are also among those to learn from")

    heading(f"Accuracy by {NEIGHBORS} neighbors")
    print(f"{'':36}{'all names':>10}{'mean of the languages':>24}")

    def report(what: str, answers: np.ndarray) -> None:
        right = pd.Series(answers == truth)
        print(f"{what:36}{right.mean():>10.1%}{right.groupby(truth).mean().mean():>24.1%}")

    for kind in ("levenshtein", "damerau", "alignment", "normalized"):
        model = KNeighborsClassifier(NEIGHBORS, metric="edit", metric_params={"kind": kind})
        report(f"edits, {kind}", model.fit(train, languages[~unseen]).predict(names[unseen]))
    for what, encode in (("places of letters", places), ("counts of letters", counts)):
        X = encode(names)
        model = KNeighborsClassifier(NEIGHBORS).fit(X[~unseen], languages[~unseen])
        report(f"Euclidean, {what}", model.predict(X[unseen]))

    heading("Who is near?")
    model = KNeighborsClassifier(NEIGHBORS, metric="edit").fit(train, languages[~unseen])
    asked = names[unseen][:4]
    for name, distances, rows in zip(asked, *model.kneighbors(asked), strict=True):
        found = zip(train[rows], distances, languages[~unseen][rows], strict=True)
        print(f"{name}: " + ", ".join(f"{near} ({d:.0f}, {of})" for near, d, of in found))


def places(names: Sequence[str]) -> np.ndarray:
    """The number of each letter in the alphabet, letter by letter; 0 beyond the end."""
    length = max(map(len, names))
    return np.array([[ord(c) for c in name.lower().ljust(length, "\0")] for name in names], float)


def counts(names: Sequence[str]) -> np.ndarray:
    """How often a name has each letter."""
    letters = sorted(set("".join(names).lower()))
    return np.array([[name.lower().count(c) for c in letters] for name in names], float)


def read() -> tuple[pd.DataFrame, str]:
    """Names of a file, if there is one, and where they came from."""
    file = Path(os.environ.get("POSTERIOR_DATA", BESIDE)) / "names" / "names-language.csv"
    if file.is_file():
        return pd.read_csv(file, keep_default_na=False), "read from a file"
    return simulated(), "made up just now"


ENDINGS = {
    "Northern": ["sen", "sson", "berg", "strand", "lund"],
    "Southern": ["elli", "ino", "etti", "ardo", "ucci"],
    "Eastern": ["ovich", "enko", "sky", "ov", "chuk"],
}


def simulated(n: int = 1_500, seed: int = 0) -> pd.DataFrame:
    """Syllables that all languages share, and an ending, one in ten of any language."""
    random = np.random.default_rng(seed)

    def name(language: str) -> str:
        syllables = "".join(random.choice(list(part)) for part in ("bdklmnprstv", "aeiou", "lmnr"))
        for _ in range(random.integers(3)):
            syllables += random.choice(list("bdklmnprstv")) + random.choice(list("aeiou"))
        ending = language if random.random() < 0.9 else str(random.choice(list(ENDINGS)))
        return (syllables + str(random.choice(ENDINGS[ending]))).capitalize()

    languages = random.choice(list(ENDINGS), n)
    return pd.DataFrame({"name": [name(language) for language in languages], "language": languages})


if __name__ == "__main__":
    main()
