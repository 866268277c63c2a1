"""Covariances that components share in part: mclust's forms and figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy import linalg, optimize, spatial, stats
from sklearn.base import clone
from sklearn.datasets import load_iris

import posterior
from posterior import DegenerateError, GaussianMixture, MultivariateGaussian, plots
from posterior.families.covariance_forms import FORMS, formed

# R: mclustBIC(faithful), the line of two components; mclust's BIC is ours with the other sign
PUBLISHED = {
    "EII": -3452.998,
    "VII": -3458.305,
    "EEI": -2354.601,
    "VEI": -2350.607,
    "EVI": -2352.618,
    "VVI": -2346.065,
    "EEE": -2325.220,
    "VEE": -2322.972,
    "EVE": -2324.273,
    "VVE": -2320.433,
    "EEV": -2329.115,
    "VEV": -2325.416,
    "EVV": -2327.598,
    "VVV": -2322.192,
}
SHORT = {"VII": 0.006, "VVE": 0.15}  # R stops so much before the maximum, as BFGS confirms of VVE


@pytest.fixture(scope="module")
def faithful(shared_data: Path) -> Any:
    return pd.read_csv(shared_data / "faithful.csv").iloc[:, -2:].to_numpy(float)


def mixture(form: Any, k: Any = 2, **settings: Any) -> GaussianMixture:
    settings = {"reg_covar": 0, "tol": 1e-9, "max_iter": 2000, "random_state": 0, **settings}
    return GaussianMixture(k, covariance_type=form, **settings)


def groups() -> Any:
    """Three groups of 40, 60 and 80 rows in three columns."""
    random = np.random.default_rng(1)
    parts = [
        random.normal(size=(n, 3)) @ random.normal(size=(3, 3)) + 8 * k
        for k, n in enumerate((40, 60, 80))
    ]
    return np.vstack(parts)


@pytest.mark.parametrize(("form", "bic"), PUBLISHED.items())
def test_faithful_as_mclust_has_it(form: str, bic: float, faithful: Any) -> None:
    model = mixture(form).fit(faithful)
    assert bic - 0.001 < -model.bic(faithful) < bic + SHORT.get(form, 0.001)
    assert np.diff(model.lower_bounds_).min() > 0


@pytest.mark.parametrize("form", ["EVE", "VVE"])
def test_no_other_optimizer_climbs_higher(form: str, faithful: Any) -> None:
    model = mixture(form, tol=1e-12).fit(faithful)

    def log_likelihood(at: Any) -> float:
        turn, sizes, shapes, odds, means = np.split(at, [1, 3, 5, 6])
        axes = linalg.expm(np.array([[0.0, -turn[0]], [turn[0], 0.0]]))
        sizes = sizes if form[0] == "V" else sizes[[0, 0]]
        share = 1 / (1 + np.exp(-odds[0]))
        density = [
            p * stats.multivariate_normal(mean, axes @ np.diag(along) @ axes.T).pdf(faithful)
            for p, mean, along in zip(
                (share, 1 - share),
                means.reshape(2, 2),
                np.exp(sizes[:, None] + shapes[:, None] * [1, -1]),
                strict=True,
            )
        ]
        return float(np.log(sum(density)).sum())

    axes = np.linalg.eigh(model.covariances_[0])[1]
    along = np.log(np.einsum("ji,kjl,li->ki", axes, model.covariances_, axes))
    turn = np.arctan2(axes[1, 0], axes[0, 0])
    shares, means = model.weights_, model.means_.ravel()
    best = np.concatenate(
        [
            [turn],
            along.mean(axis=1),
            (along[:, 0] - along[:, 1]) / 2,
            [np.log(shares[0] / shares[1])],
            means,
        ]
    )
    most = model.score(faithful) * len(faithful)
    assert log_likelihood(best) == pytest.approx(most, rel=1e-10)
    begin = best + np.random.default_rng(0).normal(size=len(best)) * 0.03
    found = optimize.minimize(lambda at: -log_likelihood(at), begin, method="BFGS")
    assert log_likelihood(begin) < most - 1
    assert -found.fun == pytest.approx(most, abs=1e-5)  # by finite differences


def test_two_spheres_of_one_size(faithful: Any) -> None:
    model = mixture("EII").fit(faithful)
    assert model.score(faithful) * 272 == pytest.approx(-1709.682, abs=0.001)
    first, second = model.covariances_
    assert first == pytest.approx(first[0, 0] * np.eye(2))
    assert (first == second).all()


@pytest.mark.parametrize(
    ("name", "other"), [("VVV", "full"), ("EEE", "tied"), ("VVI", "diag"), ("VII", "spherical")]
)
def test_names_of_mclust_for_what_scikit_learn_has(name: str, other: str) -> None:
    X = groups()
    one, two = (mixture(form, 3).fit(X) for form in (name, other))
    assert (one.covariances_ == two.covariances_).all()
    assert (one.predict_proba(X) == two.predict_proba(X)).all()


# ---- each step is the most likely of its form ----


def log_likelihood(weight: Any, scatter: Any, covariance: Any) -> float:
    """-½ Σ_k [ n_k log |Σ_k| + tr Σ_k⁻¹ S_k ]"""
    log_det = np.linalg.slogdet(covariance)[1]
    trace = np.einsum("kij,kji->k", np.linalg.inv(covariance), scatter)
    return float(-0.5 * (weight * log_det + trace).sum())


def neighbor(form: str, covariance: Any, random: np.random.Generator, step: float) -> Any:
    """Other covariances of the form: volumes, shapes and axes moved, together if equal."""
    k, d, _ = covariance.shape

    def moved(letter: str, *shape: int) -> Any:
        if letter == "V":
            return random.normal(size=(k, *shape)) * step
        once = random.normal(size=shape) * step if letter == "E" else np.zeros(shape)
        return np.broadcast_to(once, (k, *shape))

    sizes, shapes, turns = moved(form[0]), moved(form[1], d), moved(form[2], d, d)
    shapes = shapes - shapes.mean(axis=1, keepdims=True)
    out = np.empty_like(covariance)
    for g in range(k):
        # along the columns, or along axes that the form lets correspond
        values, axes = np.linalg.eigh(covariance[g]) if form[2] != "I" else (None, np.eye(d))
        values = np.diag(covariance[g]) if values is None else values
        turn = linalg.expm(turns[g] - turns[g].T)
        axes = turn @ axes
        out[g] = np.exp(sizes[g]) * (axes * values * np.exp(shapes[g])) @ axes.T
    return out


@pytest.mark.parametrize("form", FORMS)
def test_no_neighbor_of_the_form_is_more_likely(form: str) -> None:
    random = np.random.default_rng(2)
    weight = np.array([40.0, 60.0, 80.0])
    roots = random.normal(size=(3, 4, 4))
    scatter = weight[:, None, None] * roots @ roots.swapaxes(1, 2)
    best = formed(form, weight, scatter)
    most = log_likelihood(weight, scatter, best)
    for step in (1e-3, 1e-2, 0.1):
        for _ in range(20):
            other = neighbor(form, best, random, step)
            assert log_likelihood(weight, scatter, other) < most


@pytest.mark.parametrize("form", ["EVE", "VVE"])
@pytest.mark.parametrize("seed", range(3))
def test_no_other_axes_are_better_for_all_groups(form: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    weight = np.array([40.0, 60.0, 80.0])
    common = stats.ortho_group.rvs(3, random_state=seed)
    scatter = np.empty((3, 3, 3))
    for k, n in enumerate((40, 60, 80)):
        scatter[k] = n * np.cov(common * np.exp(random.normal(size=3)) @ random.normal(size=(3, n)))
    best = log_likelihood(weight, scatter, formed(form, weight, scatter))

    def minus(angles: Any) -> float:
        """The most likely covariances along given axes, which the form says in one line."""
        axes = spatial.transform.Rotation.from_euler("xyz", angles).as_matrix()
        along = np.einsum("ji,kjl,li->ki", axes, scatter, axes)
        size = np.exp(np.log(along).mean(axis=1))
        volume = size / weight if form[0] == "V" else np.full(3, size.sum() / weight.sum())
        values = along / size[:, None] * volume[:, None]
        covariance = np.einsum("ij,kj,lj->kil", axes, values, axes)
        return -log_likelihood(weight, scatter, covariance)

    found = min(optimize.minimize(minus, random.normal(size=3) * 2).fun for _ in range(20))
    assert best == pytest.approx(-found, rel=1e-9)


@pytest.mark.parametrize("form", ["EVE", "VVE"])
def test_axes_of_the_step_before_keep_em_from_falling(form: str) -> None:
    random = np.random.default_rng(5)
    X = np.concatenate([random.normal(size=(60, 4)) @ random.normal(size=(4, 4)) for _ in range(3)])
    for seed in range(3):  # groups that overlap, so that shares and axes turn for long
        settings = {"init_params": "random", "random_state": seed, "tol": 1e-7, "reg_covar": 1e-6}
        model = mixture(form, 3, **settings).fit(X)
        assert np.diff(model.lower_bounds_).min() > -1e-9
        assert model.n_iter_ > 10


@pytest.mark.parametrize("form", FORMS)
def test_letters_say_what_is_equal(form: str) -> None:
    covariance = mixture(form, 3).fit(groups()).covariances_
    volume = np.linalg.det(covariance) ** (1 / 3)
    along = np.linalg.eigvalsh(covariance) / volume[:, None]
    assert np.allclose(volume, volume[0]) == (form[0] == "E")
    assert np.allclose(along, along[0]) == (form[1] != "V")
    assert np.allclose(along, 1) == (form[1] == "I")
    assert np.allclose(covariance, covariance * np.eye(3)) == (form[2] == "I")


# ---- as every mixture ----


@pytest.mark.parametrize("form", FORMS)
def test_answers_files_weights_and_gaps(form: str, tmp_path: Path) -> None:
    X = groups()
    model = mixture(form, 3).fit(X)
    density = [
        w * stats.multivariate_normal(m, c).pdf(X)
        for w, m, c in zip(model.weights_, model.means_, model.covariances_, strict=True)
    ]
    assert model.score_samples(X) == pytest.approx(np.log(np.sum(density, axis=0)), rel=1e-9)
    evidence = model.evidence(X[:5])
    assert np.isfinite(np.asarray(evidence.terms)).all()
    assert model.explain(X[:1]) is not None
    assert len(model.parameters())
    posterior.save(model, tmp_path / "m")
    assert (posterior.load(tmp_path / "m").predict_proba(X) == model.predict_proba(X)).all()
    start = {"means_init": model.means_, "weights_init": model.weights_}
    start["precisions_init"] = model.precisions_
    twice = mixture(form, 3, **start).fit(X, sample_weight=np.full(len(X), 2.0))
    assert twice.covariances_ == pytest.approx(model.covariances_, rel=1e-3, abs=1e-4)
    gaps = X.copy()
    gaps[::9, 1] = np.nan
    met = mixture(form, 3, tol=1e-6).fit(gaps)
    assert np.diff(met.lower_bounds_).min() > -1e-9


# ---- which form ----


@pytest.fixture(scope="module")
def iris_by_form() -> tuple[Any, GaussianMixture]:
    X = load_iris().data
    return X, mixture(["EEE", "VVE", "VEV", "VVV"], [1, 2, 3], tol=1e-7).fit(X)


def test_iris_is_two_groups_of_one_shape_as_mclust_has_it(iris_by_form: Any) -> None:
    # R: summary(Mclust(iris[, 1:4])): VEV, 2 components, log-likelihood, BIC and ICL
    X, model = iris_by_form
    assert (model.covariance_type_, model.n_components_) == ("VEV", 2)
    assert model.score(X) * 150 == pytest.approx(-215.7259, abs=1e-4)
    assert -model.bic(X) == pytest.approx(-561.7285, abs=1e-3)
    assert -model.icl(X) == pytest.approx(-561.7289, abs=1e-3)
    table = dict(zip(model.selection_["covariance_type"], model.selection_["bic"], strict=False))
    assert list(table) == ["EEE", "VVE", "VEV", "VVV"]
    one = model.selection_["n_components"] == 1  # where all forms are one
    assert model.selection_["bic"][one] == pytest.approx(829.9782, abs=1e-4)


def test_every_line_of_the_choice_is_a_fit_of_its_own(iris_by_form: Any) -> None:
    X, model = iris_by_form
    assert len(model.selection_) == 12
    kinds, numbers = model.selection_["covariance_type"], model.selection_["n_components"]
    for form in ("EEE", "VVV"):
        (line,) = np.flatnonzero((kinds == form) & (numbers == 2))
        alone = mixture(form, 2, tol=1e-7).fit(X)
        assert model.selection_["bic"][line] == pytest.approx(alone.bic(X), abs=1e-3)
        assert model.selection_["n_parameters"][line] == alone.n_parameters_


def test_the_choice_as_a_table_of_forms_and_numbers(iris_by_form: Any) -> None:
    _, model = iris_by_form
    table = model.selection_table()
    assert list(table.columns) == ["n_components", "EEE", "VVE", "VEV", "VVV"]
    assert table["VEV"].tolist()[1] == "561.728*"
    assert str(table).count("*") == 1
    assert model.selection_table("icl")["VEV"].tolist()[1] == "561.729*"
    with pytest.raises(ValueError, match=r"criterion of \['bic', 'aic', 'icl'\], got 'held_out'"):
        model.selection_table("held_out")
    with pytest.raises(ValueError, match='covariance_type="all"'):
        mixture("VEV").fit(groups()).selection_table()


def test_a_chosen_form_is_kept(iris_by_form: Any, tmp_path: Path) -> None:
    X, model = iris_by_form
    posterior.save(model, tmp_path / "m")
    again = posterior.load(tmp_path / "m")
    assert again.covariance_type_ == "VEV"
    assert str(again.selection_table()) == str(model.selection_table())
    again.partial_fit(X[::2])
    assert again.covariance_type_ == "VEV"
    along = np.linalg.eigvalsh(again.covariances_)
    ratio = along[0] / along[1]  # of one shape: all axes by the same factor
    assert ratio == pytest.approx(ratio[0], rel=1e-6)
    assert "2, of 1 to 3; covariances are VEV." in json.dumps(plots.selection(model).to_dict())


def test_a_warm_start_goes_on_where_sums_are_the_same() -> None:
    X = groups()
    model = mixture(["VVV", "VVI"], 3, warm_start=True).fit(X)
    again = clone(model)
    again.fitted_ = model.fitted_
    assert again.fit(X).bic(X) <= model.bic(X) + 1e-6
    assert again.set_params(covariance_type="diag").fit(X).covariances_.shape == (3, 3)


def test_all_forms_are_the_fourteen_of_mclust() -> None:
    model = mixture("all", 2, tol=1e-4).fit(groups())
    expected = "EII VII EEI VEI EVI VVI EEE VEE EVE VVE EEV VEV EVV VVV".split()
    assert model.selection_["covariance_type"].tolist() == expected
    held = mixture(["EII", "tied"], [2, 3], criterion="held_out", tol=1e-4).fit(groups())
    best = int(held.selection_["held_out"].argmax())
    assert held.covariance_type_ == held.selection_["covariance_type"][best]
    assert held.n_components_ == held.selection_["n_components"][best]


def test_one_column() -> None:
    x = groups()[:, :1]
    equal, tied = mixture("EII", 3).fit(x), mixture("tied", 3).fit(x)
    assert equal.covariances_[0] == pytest.approx(tied.covariances_, rel=1e-6)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="covariance_type"):
        mixture("XYZ").fit(groups())
    for several in ([], ["EII", "XYZ"], [2]):
        with pytest.raises(ValueError, match=r"Expected types of covariance .* got \["):
            mixture(several).fit(groups())
    several = mixture(["EII", "VVV"], criterion="held_out")
    with pytest.raises(ValueError, match=r"Expected 'bic' or 'icl' .* got 'held_out'"):
        several.fit(duckdb.from_df(pd.DataFrame(groups(), columns=["a", "b", "c"])))
    with pytest.raises(ValueError, match="Expected one covariance_type"):
        mixture(["EII", "VVV"]).steps(groups())
    with pytest.raises(DegenerateError, match="increase reg_covar"):
        mixture("EVV").fit(np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 7.0], [0.0, 8.0]]))
    for settings in ({"ddof": 1}, {"predictive": True}):
        with pytest.raises(ValueError, match="got 'VEV'"):
            MultivariateGaussian("VEV", **settings)
