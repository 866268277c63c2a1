"""Algorithms in steps: every one has its numbers, and the last is `fit` to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_iris

from posterior import KMeans

IRIS, SPECIES = load_iris(return_X_y=True)


# ---- k-means ----


@pytest.mark.parametrize(
    "settings",
    [
        {"init": IRIS[[0, 50, 100]]},
        {"random_state": 0},
        {"init": "random", "n_init": 4, "random_state": 1},
        {"random_state": 2, "max_iter": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("table", ["dense", "single", "sparse", "gaps"])
def test_the_last_step_of_k_means_is_its_fit(settings, table):
    X = IRIS.copy()
    if table == "gaps":
        X[::7, 2] = np.nan
    X = {"single": X.astype(np.float32), "sparse": sparse.csr_matrix(X)}.get(table, X)
    weight = np.arange(150) % 3 + 1.0
    fitted = KMeans(3, **settings).fit(X, sample_weight=weight)
    steps = KMeans(3, **settings).steps(X, sample_weight=weight)
    last = steps[-1]
    assert_array_equal(last.centers, fitted.cluster_centers_)
    assert_array_equal(last.labels, fitted.labels_)
    assert last.inertia == fitted.inertia_
    assert [step.number for step in steps] == [*range(1, len(steps) + 1)]
    assert [step.kind for step in steps] == ["assign", "move"] * (len(steps) // 2) + ["assign"]
    inertia = np.array([step.inertia for step in steps])
    assert (np.diff(inertia) <= 1e-9 * inertia[0]).all()


def test_the_steps_of_k_means_are_those_of_the_textbook():
    """78.85144 in four rounds from rows 1, 51 and 101, as R's kmeans with Lloyd's algorithm."""
    centers, steps = IRIS[[0, 50, 100]], KMeans(3, init=IRIS[[0, 50, 100]], tol=0).steps(IRIS)
    for step in steps:
        if step.kind == "assign":
            square = ((IRIS[:, None] - centers) ** 2).sum(axis=2)
            assert_array_equal(step.labels, square.argmin(axis=1))
            assert_allclose(step.inertia, square.min(axis=1).sum(), rtol=1e-12)
        else:
            centers = np.array([IRIS[step.labels == k].mean(axis=0) for k in range(3)])
        assert_allclose(step.centers, centers, rtol=1e-12)
    assert round(steps[-1].inertia, 5) == 78.85144


def test_steps_of_k_means_stay_as_they_were():
    """Later steps write nothing into earlier ones, and the model learns nothing."""
    model = KMeans(2, init=[[1.0], [2.0]])
    steps = model.steps([[1.0], [2.0], [9.0], [11.0]])
    assert steps[0].labels.tolist() == [0, 1, 1, 1]
    assert steps[-1].labels.tolist() == [0, 0, 1, 1]
    assert "fitted_" not in vars(model)
    assert str(steps[1]) == "2 move    inertia 44.67  centers (1) (7.333)  rows 1 3"


def test_steps_of_k_means_refuse_what_has_none(tmp_path):
    with pytest.raises(ValueError, match="should be >= n_clusters=8"):
        KMeans().steps([[1.0], [2.0]])
    file = tmp_path / "rows.csv"
    file.write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(TypeError, match="Expected rows in memory for steps"):
        KMeans(2).steps(file)
