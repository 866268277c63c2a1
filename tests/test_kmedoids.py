"""k-medoids: the best rows to stand for all, by every distance."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import nan_euclidean_distances

import posterior
from posterior import KMedoids, KNeighborsClassifier
from posterior.neighbors import fitted_medoids, medoids

NAMES = ["anna", "anne", "hanna", "johanna", "robert", "rupert", "rubert", None, "bob", "anna"]
STRINGS = np.array(NAMES, dtype=object)[:, None]


def points(n: int = 40, d: int = 3, seed: int = 0) -> Any:
    random = np.random.default_rng(seed)
    return random.normal(size=(n, d)) + 4 * random.integers(0, 3, n)[:, None]


def guests() -> pd.DataFrame:
    random = np.random.default_rng(3)
    regular = random.random(40) < 0.5
    frame = pd.DataFrame(
        {
            "spent": random.normal(np.where(regular, 60, 20), 8),
            "pays": np.where(regular, "card", random.choice(["cash", "card"], 40)),
            "visits": random.poisson(np.where(regular, 9, 2)).astype(float),
        }
    )
    frame.loc[::7, "spent"] = np.nan
    frame.loc[3, "pays"] = None
    return frame


def total(D: Any, weight: Any, chosen: Any) -> float:
    return float(weight @ D[:, list(chosen)].min(axis=1))


# ---- the best medoids ----


@pytest.mark.parametrize("init", ["build", "k-medoids++"])
def test_medoids_of_few_rows_are_the_best_of_all_sets(init: str) -> None:
    reached = []
    for seed in range(12):
        X, weight = points(12, 2, seed), np.random.default_rng(seed).integers(1, 4, 12)
        D, k = cdist(X, X), 2 + seed % 3
        best = min(total(D, weight, chosen) for chosen in combinations(range(12), k))
        model = KMedoids(k, init=init, random_state=0).fit(X, sample_weight=weight)
        assert model.inertia_ == pytest.approx(total(D, weight, model.medoid_indices_), rel=1e-12)
        assert model.inertia_ >= best * (1 - 1e-12)
        reached.append(model.inertia_ <= best * (1 + 1e-12))
    assert np.mean(reached) > 0.8  # swaps of one medoid may end beside the best set


@pytest.mark.parametrize("cells", [1, 200, 1 << 18])
def test_no_swap_is_left_that_helps(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(medoids, "CELLS", cells)  # candidates one by one, some, or all at once
    for seed in range(3):
        X = points(50, 3, seed)
        weight = np.random.default_rng(seed).random(50)
        D = cdist(X, X)
        start = np.arange(5)
        end = medoids.swap(D, weight, start, 300)
        reached = total(D, weight, end.medoids)
        assert end.converged and reached < total(D, weight, start)
        for m in range(5):
            for j in range(50):
                swapped = np.where(np.arange(5) == m, j, end.medoids)
                assert total(D, weight, swapped) >= reached * (1 - 1e-9)


def test_distances_need_not_be_symmetric() -> None:
    random = np.random.default_rng(0)
    D = random.random((9, 9)) * (1 - np.eye(9))  # of rows from candidates
    model = KMedoids(2, metric="precomputed").fit(D)
    best = min(total(D, np.ones(9), chosen) for chosen in combinations(range(9), 2))
    assert model.inertia_ == pytest.approx(best)


def test_build_is_the_greedy_start_of_the_textbook() -> None:
    X = points(30)
    D, weight = cdist(X, X), np.random.default_rng(1).random(30)
    chosen: list[int] = []
    for _ in range(4):
        rest = [j for j in range(30) if j not in chosen]
        chosen.append(min(rest, key=lambda j: total(D, weight, [*chosen, j])))
    assert medoids.build(D, weight, 4).tolist() == chosen


def test_three_flowers_stand_for_iris() -> None:
    # R: cluster::pam(iris[, 1:4], 3): medoids 8, 79 and 113, clusters of 50, 62 and 38,
    # objective 0.6542077 an average row
    model = KMedoids(3).fit(load_iris().data)
    assert sorted(model.medoid_indices_ + 1) == [8, 79, 113]
    assert sorted(np.bincount(model.labels_)) == [38, 50, 62]
    assert model.inertia_ / 150 == pytest.approx(0.6542077, abs=5e-8)


# ---- any distance ----


METRICS: list[tuple[str, dict[str, Any] | None]] = [
    ("euclidean", None),
    ("manhattan", None),
    ("chebyshev", None),
    ("minkowski", {"p": 3}),
    ("minkowski", {"p": 3, "w": [1.0, 2.0, 0.5]}),
    ("sqeuclidean", None),
    ("cosine", None),
    ("correlation", None),
    ("canberra", None),
    ("seuclidean", None),
    ("mahalanobis", None),
]


@pytest.mark.parametrize(("metric", "settings"), METRICS)
def test_distances_are_those_of_scipy(metric: str, settings: Any) -> None:
    X = points() + 1.0
    name = {"manhattan": "cityblock"}.get(metric, metric)
    D = squareform(pdist(X, name, **(settings or {})))
    given = KMedoids(3, metric="precomputed").fit(D)
    model = KMedoids(3, metric=metric, metric_params=settings).fit(X)
    assert model.medoid_indices_.tolist() == given.medoid_indices_.tolist()
    assert model.inertia_ == pytest.approx(given.inertia_, rel=1e-9)
    assert (model.labels_ == given.labels_).all()
    assert (model.cluster_centers_ == X[model.medoid_indices_]).all()
    # what the metric has learned it has learned from all rows: few of them measure alike
    assert model.transform(X[:5]) == pytest.approx(D[:5, model.medoid_indices_], abs=1e-9)


@pytest.mark.parametrize(
    ("metric", "settings", "table"),
    [
        ("euclidean", None, np.where(points() > 5, np.nan, points())),
        ("edit", None, STRINGS),
        ("edit", {"kind": "normalized"}, STRINGS),
        ("edit", {"kind": "damerau"}, STRINGS),
        ("mixed", None, guests()),
        ("mixed", {"weights": {"spent": 2.0}, "text": ["pays"]}, guests()),
        ("mixed", None, np.where(points() > 5, np.nan, points())),
        ("cosine", None, sparse.csr_array(np.maximum(points().round() - 2, 0.0))),
        (lambda a, b: float(abs(a - b).max()), None, points()),
    ],
    ids=["gaps", "edit", "normalized", "damerau", "mixed", "text", "array", "sparse", "function"],
)
def test_distances_are_those_of_the_neighbors(metric: Any, settings: Any, table: Any) -> None:
    n = table.shape[0]
    model = KMedoids(3, metric=metric, metric_params=settings).fit(table)
    neighbors = KNeighborsClassifier(n, metric=metric, metric_params=settings, algorithm="brute")
    distances, rows = neighbors.fit(table, np.arange(n)).kneighbors(table)
    D = np.empty((n, n))
    np.put_along_axis(D, rows, distances, axis=1)
    known = np.isfinite(D)
    D[~known] = D[known].max()
    found = model.transform(table)
    same = D[:, model.medoid_indices_]
    zero = (found == 0) & (same == 1)  # two rows of zeros, which neighbors call strangers
    assert np.where(zero, 1.0, found) == pytest.approx(same, abs=1e-12)
    assert (model.labels_ == found.argmin(axis=1)).all()
    assert model.inertia_ == pytest.approx(found.min(axis=1).sum())


def test_cells_that_are_missing_are_left_out() -> None:
    X = points()
    X[::5, 0] = X[1::5, 1] = np.nan
    D = nan_euclidean_distances(X)
    model, given = KMedoids(3).fit(X), KMedoids(3, metric="precomputed").fit(D)
    assert (model.medoid_indices_ == given.medoid_indices_).all()
    assert model.inertia_ == pytest.approx(given.inertia_)


def test_rows_that_share_no_cell_are_as_far_as_the_farthest() -> None:
    X = np.array([[0.0, np.nan], [1.0, np.nan], [np.nan, 5.0], [np.nan, 5.5], [3.0, np.nan]])
    model = KMedoids(2).fit(X)
    assert model.labels_.tolist() in ([0, 0, 1, 1, 0], [1, 1, 0, 0, 1])
    assert model.transform(X).max() == pytest.approx(3 * np.sqrt(2))
    assert np.isfinite(model.score([[np.nan, np.nan]]))


def test_strings_have_a_string_at_their_middle() -> None:
    model = KMedoids(2, metric="edit").fit([["cat"], ["cats"], ["bat"], ["violin"], ["violins"]])
    assert sorted(model.cluster_centers_) == ["cat", "violin"]
    assert model.predict([["rat"], ["violas"]]).tolist() == model.labels_[[0, 3]].tolist()


def test_a_table_of_several_kinds_has_its_medoids_as_a_table() -> None:
    frame = guests()
    centers = KMedoids(2, metric="mixed").fit(frame).cluster_centers_.to_frame()
    assert list(centers.columns) == ["spent", "pays", "visits"]
    assert len(centers) == 2
    given = KMedoids(2, metric="precomputed").fit(cdist(points(), points()))
    assert not hasattr(given, "cluster_centers_")


# ---- as every model ----


def test_a_weight_of_two_is_two_rows_and_none_is_no_row() -> None:
    X = points(30)
    weight = np.arange(30) % 3
    twice = KMedoids(3).fit(np.repeat(X, weight, axis=0))
    model = KMedoids(3).fit(X, sample_weight=weight)
    assert model.cluster_centers_ == pytest.approx(twice.cluster_centers_)
    assert model.inertia_ == pytest.approx(twice.inertia_)
    assert weight[model.medoid_indices_].all()
    assert model.score(X, sample_weight=weight) == pytest.approx(-model.inertia_)
    assert len(model.labels_) == 30


def test_a_file_holds_the_medoids_and_no_other_row(tmp_path: Path) -> None:
    frame = guests()
    model = KMedoids(2, metric="mixed").fit(frame)
    posterior.save(model, tmp_path / "m")
    again = posterior.load(tmp_path / "m")
    assert (again.transform(frame) == model.transform(frame)).all()
    assert again.fitted_.rows.shape[0] == 2


def test_equal_rows_and_as_many_clusters_as_rows() -> None:
    same = np.ones((6, 2))
    for init in ("build", "k-medoids++"):
        model = KMedoids(3, init=init, random_state=0).fit(same)
        assert len(set(model.medoid_indices_.tolist())) == 3
        assert model.inertia_ == 0
        each = KMedoids(5, init=init, random_state=0).fit(points(5))
        assert sorted(each.labels_) == [0, 1, 2, 3, 4]


def test_bad_input_leaves_the_model_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    model = KMedoids(2).fit(points())
    before = model.fitted_
    with pytest.raises(ValueError, match="n_samples=1 should be >= n_clusters=2"):
        model.fit(points()[:1])
    with pytest.raises(ValueError, match="of those with a weight"):
        model.fit(points(), sample_weight=np.eye(40)[0])
    monkeypatch.setattr(fitted_medoids, "MOST_ROWS", 30)
    with pytest.raises(ValueError, match=r"at most 30 rows.* got 40\. Fit a sample"):
        model.fit(points())
    assert model.fitted_ is before
    with pytest.raises(ValueError, match="sparse graph"):
        KMedoids(2, metric="precomputed").fit(sparse.csr_array(cdist(points(), points())))
    with pytest.raises(ValueError, match="Expected a kind of edit distance"):
        KMedoids(2, metric="edit", metric_params={"kind": "none"}).fit(STRINGS)
    with pytest.raises(ValueError, match=r"Expected metric_params .* got \['ranges'\]"):
        KMedoids(2, metric="mixed", metric_params={"ranges": [1]}).fit(guests())
    with pytest.raises(ValueError, match="40 features"):
        given = KMedoids(2, metric="precomputed").fit(cdist(points(), points()))
        given.predict(cdist(points(), points(7)))


def test_swaps_that_still_help_are_a_warning() -> None:
    X = np.random.default_rng(0).random((300, 2))
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        model = KMedoids(12, init="k-medoids++", max_iter=1, random_state=0).fit(X)
    assert not model.converged_
    assert clone(model).set_params(max_iter=300).fit(X).inertia_ < model.inertia_


def test_clusters_by_euclidean_distances_have_a_picture() -> None:
    X = points(40, 2)
    drawn = KMedoids(3).fit(X).plot(X).to_dict()
    assert drawn["layer"]
    with pytest.raises(ValueError, match="Expected clusters by Euclidean distances"):
        KMedoids(3, metric="manhattan").fit(X).plot(X)
