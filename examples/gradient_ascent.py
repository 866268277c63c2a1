"""Heart, ancestry, netflix: naive Bayes by counting, logistic regression by small steps uphill.

Run it with `python examples/gradient_ascent.py`. It reads the course's heart, ancestry and netflix
data where they are at hand, and otherwise draws a table of yes and no by its own law.

POSTERIOR_DATA    folder of the data sets; otherwise ../shared/data beside this repository
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from posterior import BernoulliNB, LogisticRegression

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
STEPS, RATE = 10_000, 1e-4  # the course's


def heading(text: str) -> None:
    print(f"\n{text}\n{'─' * len(text)}")


def main() -> None:
    for name, (train, test) in tables().items():
        X, y = parts(train)
        unseen, truth = parts(test)
        heading(f"{name}: {len(X)} rows of {X.shape[1]} columns to learn from")
        print(f"{'naive Bayes':31}{'loss per row':>15}{'test accuracy':>15}")
        for title, alpha in (("counted (maximum likelihood)", 0.0), ("Laplace, α = 1", 1.0)):
            counted = BernoulliNB(alpha=alpha).fit(X, y)
            own = np.searchsorted(counted.classes_, y)
            loss = -counted.predict_log_proba(X)[np.arange(len(y)), own].mean()
            print(f"{title:31}{loss:>15.4f}{counted.score(unseen, truth):>14.1%}")
        print(
            f"\n{'logistic, steps':>15}{'η':>8}{'|w|':>8}{'loss per row':>15}{'test accuracy':>15}"
        )
        for steps, rate in [
            (100, RATE),
            (1_000, RATE),
            (STEPS, RATE),
            (STEPS, 1e-3),
            (STEPS, 1e-2),
        ]:
            model = ascent(steps, rate).fit(X, y)
            line(f"{steps:>15,}{rate:>8g}", model, model.trace_[-1].value / len(X), unseen, truth)
        best = likeliest(X, y)
        line(f"{'maximum':>15}{'':>8}", best, best.trace_[-1].value / len(X), unseen, truth)
    print("\nThe same data, and as many models as rates and numbers of steps: what stops early is")
    print("not the model of maximum likelihood, which may be better or worse on rows not seen.")


def ascent(steps: int, rate: float) -> LogisticRegression:
    return LogisticRegression(
        C=np.inf, solver="gradient-ascent", step=rate, max_iter=steps, tol=0.0
    )


def likeliest(X: np.ndarray, y: np.ndarray) -> LogisticRegression:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes that columns separate have no maximum
        return LogisticRegression(C=np.inf).fit(X, y)


def line(head: str, model: LogisticRegression, loss: float, X: np.ndarray, y: np.ndarray) -> None:
    size = float(np.sqrt((model.coef_**2).sum() + (model.intercept_**2).sum()))
    print(f"{head}{size:>8.2f}{loss:>15.4f}{model.score(X, y):>14.1%}")


def parts(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    kept = table.drop(columns=["Label", "Demographic"], errors="ignore")
    return kept.to_numpy(float), table["Label"].to_numpy()


def tables() -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    folder = Path(os.environ.get("POSTERIOR_DATA", BESIDE)) / "cs109"
    names = ["heart", "ancestry", "netflix"]
    if not all((folder / f"{name}-train.csv").is_file() for name in names):
        return {"simulated": (simulated(0), simulated(1))}
    train, test = (
        {name: pd.read_csv(folder / f"{name}-{part}.csv") for name in names}
        for part in ("train", "test")
    )
    return {name: (train[name], test[name]) for name in names}


def simulated(seed: int, n: int = 300, d: int = 15) -> pd.DataFrame:
    """Yes and no, of which a third says something about the label."""
    random = np.random.default_rng(seed)
    X = (random.random((n, d)) < 0.4).astype(int)
    score = X @ np.where(np.arange(d) % 3 == 0, 1.0, 0.0) - 0.4 * d / 3
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(d)])
    return table.assign(Label=(score + random.logistic(size=n) > 0).astype(int))


if __name__ == "__main__":
    main()
