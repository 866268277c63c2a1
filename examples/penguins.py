"""Which penguin is it?  A classifier from a real table: strings, numbers, missing cells.

Run it with `python examples/penguins.py`.
"""

from __future__ import annotations

import numpy as np
from palmerpenguins import load_penguins
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from posterior import NaiveBayes


def heading(text: str) -> None:
    print(f"\n{text}\n{'─' * len(text)}")


def main() -> None:
    penguins = load_penguins()
    X, y = penguins.drop(columns="species"), penguins["species"]
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, random_state=0, stratify=y
    )
    model = NaiveBayes().fit(X_train, y_train)

    heading("The table")
    missing = int(X.isna().to_numpy().sum())
    print(
        f"{len(X)} penguins of {y.nunique()} species, {X.shape[1]} columns, {missing} cells missing"
    )
    print(f"{len(X_train)} to learn from, {len(X_test)} to test on\n")
    print(model.columns_)

    heading("How good is it?")
    held_out = model.cross_validate(X_train, y_train, folds=10)
    folds = held_out.scores.columns
    test_loss = log_loss(y_test, model.predict_proba(X_test), labels=model.classes_)
    print(f"{'':34}accuracy        log loss")
    print(f"{'ten-fold cross-validation':34}", end="")
    print(f"{with_error(folds['accuracy'], percent=True):16}{with_error(folds['log_loss'])}")
    print(f"{f'the {len(X_test)} test penguins':34}", end="")
    print(f"{model.score(X_test, y_test):<16.1%}{test_loss:.3f}")

    heading("Three penguins")
    for row, probability in zip(
        X_test.index[:3], model.predict_proba(X_test.iloc[:3]), strict=True
    ):
        shares = "   ".join(
            f"{name} {p:6.1%}" for name, p in zip(model.classes_, probability, strict=True)
        )
        print(f"penguin {row:<4} {shares}   truly {y[row]}")

    heading(f"Why?  The evidence on penguin {X_test.index[0]}")
    print(model.explain(X_test.iloc[[0]]))


def with_error(values: np.ndarray, percent: bool = False) -> str:
    """Mean ± standard error over the folds."""
    mean, error = np.mean(values), np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{mean:.1%} ± {error:.1%}" if percent else f"{mean:.3f} ± {error:.3f}"


if __name__ == "__main__":
    main()
