"""Exclusive or: four points that no line parts, and the column that does.

Run it with `python examples/exclusive_or.py`.
"""

from __future__ import annotations

import numpy as np

from posterior import LogisticRegression

X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
y = np.array([0, 1, 1, 0])  # one or the other, not both


def main() -> None:
    plain = LogisticRegression(C=np.inf).fit(X, y)
    show("x1 and x2", plain, X)
    print(
        "  The best line gives every point one half: each corner is worth as much as its opposite."
    )

    crossed = np.column_stack([X, X[:, 0] * X[:, 1]])
    model = LogisticRegression(C=1000.0).fit(crossed, y)
    show("x1, x2 and x1 × x2", model, crossed)
    print("  The product tells both from one, and a plane through three columns parts the corners.")


def show(columns: str, model: LogisticRegression, table: np.ndarray) -> None:
    slopes = ", ".join(f"{w:+.2f}" for w in model.coef_[0])
    print(f"\n{columns}: {model.score(table, y):.0%} of four points right")
    print(f"  coefficients {slopes}, intercept {model.intercept_[0]:+.2f}")
    for row, p in zip(X, model.predict_proba(table)[:, 1], strict=True):
        print(f"  {row[0]} xor {row[1]}: P(yes) = {p:.1%}")


if __name__ == "__main__":
    main()
