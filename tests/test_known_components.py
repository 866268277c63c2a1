"""Mixtures of which something is known: it stays, and EM climbs with the rest."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris

from posterior import Gaussian, GaussianMixture, Mixture, MultivariateGaussian, load, save
from posterior.data.errors import DegenerateWarning

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

PETAL = load_iris().data[:, 2:]
HEIGHTS = np.random.default_rng(3).normal([[170.0, 183.0]] * 60, 6.0).reshape(-1, 1)
NAN = [np.nan, np.nan]
KINDS = ["full", "tied", "diag", "spherical", "EII"]
FREE = {"reg_covar": 0.0, "tol": 0.0}


def mixture(k, kind, known, rounds=20, **settings):
    return GaussianMixture(
        k, covariance_type=kind, known=known, max_iter=rounds, random_state=0, **FREE, **settings
    )


def full(covariances, kind, k, d):
    """(k, d, d)."""
    if kind == "diag":
        return np.stack([np.diag(v) for v in covariances])
    if kind == "spherical":
        return np.stack([v * np.eye(d) for v in covariances])
    return np.broadcast_to(covariances, (k, d, d))


def textbook(X, kind, weights, means, covariances, known, rounds):
    """EM with squares around the means that are used, known or found."""
    k, d = means.shape
    for _ in range(rounds):
        density = [
            multivariate_normal(*part).pdf(X) for part in zip(means, covariances, strict=True)
        ]
        R = weights * np.array(density).T
        R /= R.sum(axis=1, keepdims=True)
        n = R.sum(axis=0)
        weights = known["weights"] if "weights" in known else n / n.sum()
        best = R.T @ X / n[:, None]
        means = np.where(np.isnan(known["means"]), best, known["means"])
        scatter = [(R[:, [j]] * (X - means[j])).T @ (X - means[j]) for j in range(k)]
        own = np.array(scatter) / n[:, None, None]
        if kind in ("tied", "EII"):
            own = np.repeat(np.sum(scatter, axis=0)[None] / len(X), k, axis=0)
        if kind == "diag":
            own = own * np.eye(d)
        if kind in ("spherical", "EII"):
            own = np.trace(own, axis1=1, axis2=2)[:, None, None] / d * np.eye(d)
        covariances = own
    return weights, means, covariances


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shares", [None, [0.2, 0.3, 0.5]])
def test_em_around_a_known_mean_is_the_loop_of_the_textbook(kind, shares):
    known = {"means": np.array([NAN, [4.2, 1.2], NAN])}
    known |= {} if shares is None else {"weights": np.array(shares)}
    first = np.array([[1.5, 0.2], [4.2, 1.2], [5.5, 2.0]])
    inverse = {"tied": np.eye(2), "diag": np.ones((3, 2)), "spherical": np.ones(3)}
    start = {"means_init": first, "weights_init": [1 / 3] * 3}
    start["precisions_init"] = inverse.get(kind, np.array([np.eye(2)] * 3))
    model = mixture(3, kind, known, **start).fit(PETAL)
    begin = np.full(3, 1 / 3) if shares is None else np.array(shares)
    eye = np.array([np.eye(2)] * 3)
    weights, means, covariances = textbook(PETAL, kind, begin, first, eye, known, 20)
    # twenty rounds of sums in another order
    assert_allclose(model.weights_, weights, rtol=1e-8)
    assert_allclose(model.means_, means, rtol=1e-8)
    assert_allclose(full(model.covariances_, kind, 3, 2), covariances, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("prior_rows", [None, 2.0])
def test_what_is_known_never_moves_and_em_never_falls(kind, gaps, prior_rows):
    X = np.where(np.random.default_rng(0).random(PETAL.shape) < 0.1 * gaps, np.nan, PETAL)
    spread = {"tied": [[0.5, 0.1], [0.1, 0.2]], "spherical": [0.3, np.nan, np.nan]}
    spread |= {"diag": [[0.5, 0.2], NAN, NAN], "EII": 0.25 * np.eye(2)}
    spread |= {"full": [[[0.5, 0.1], [0.1, 0.2]], [NAN, NAN], [NAN, NAN]]}
    for known in (
        {"means": [NAN, [4.2, 1.2], [5.5, 2.0]]},
        {"covariances": spread[kind]},
        {"weights": [np.nan, 0.5, np.nan], "means": [[1.4, 0.3], NAN, NAN]},
        {"weights": [0.2, 0.3, 0.5], "means": [NAN, NAN, [5.5, 2]], "covariances": spread[kind]},
    ):
        model = mixture(3, kind, known, rounds=12, prior_rows=prior_rows)
        steps = model.steps(X)
        for step in (steps[0], steps[1], steps[-1]):
            found = step.model
            for name, value in known.items():
                here = np.asarray(getattr(found, f"{name}_"))
                there = np.broadcast_to(np.asarray(value, float), here.shape)
                seen = ~np.isnan(there)
                assert_allclose(here[seen], there[seen], rtol=1e-12)
        value = np.array([step.log_likelihood + step.log_prior for step in steps])
        assert (np.diff(value) > -1e-7).all(), known  # sums of 150 rows
        assert_array_equal(model.fit(X).means_, steps[-1].model.means_)


def test_equal_shares_and_a_known_variance_are_the_second_note():
    known = {"weights": [0.5, 0.5], "covariances": 36.0}
    start = {"means_init": [[160.0], [175.0]]}
    note = Mixture(
        Gaussian(None, variance=36.0), 2, prior_rows=0, shares="equal", tol=0, max_iter=20, **start
    )
    means = note.fit(HEIGHTS).joint_.parameters.mean
    for kind in KINDS:
        model = mixture(2, kind, known, **start).fit(HEIGHTS)
        assert_allclose(model.means_, means, rtol=1e-12)
        assert model.n_parameters_ == note.n_parameters_ == 2
        assert_array_equal(model.weights_, 0.5)


def test_equal_spheres_of_equal_shares_are_reached_both_ways():
    """One sphere for all components, learned: mclust's EII, with shares that are known."""
    equal = mixture(3, "EII", {"weights": [1 / 3] * 3}, rounds=200).fit(PETAL)
    first = equal.means_
    other = Mixture(
        MultivariateGaussian("EII"), 3, prior_rows=0, shares="equal", tol=0, max_iter=50,
        means_init=first,
    ).fit(PETAL)  # fmt: skip
    assert_allclose(other.joint_.parameters.mean, first, rtol=1e-6)
    variance = equal.covariances_[:, 0, 0]
    assert_allclose(equal.covariances_, variance[0] * np.array([np.eye(2)] * 3), atol=1e-15)
    assert_array_equal(equal.weights_, 1 / 3)
    assert equal.n_parameters_ == other.n_parameters_ == 3 * 2 + 1


def test_components_near_known_means_come_to_them():
    for order in ([[170.0], [np.nan]], [[np.nan], [170.0]], [[np.nan], [183.0]]):
        model = mixture(2, "tied", {"means": order}, rounds=300).fit(HEIGHTS)
        (free,) = model.means_[np.isnan(order)]
        (known,) = np.asarray(order)[~np.isnan(order)]
        assert abs(free - (353 - known)) < 3


def test_a_known_component_costs_no_parameters():
    free = mixture(3, "full", None).fit(PETAL)
    assert free.n_parameters_ == 2 + 3 * 2 + 3 * 3
    means = mixture(3, "full", {"means": [[1.4, 0.3], NAN, NAN]}).fit(PETAL)
    assert means.n_parameters_ == free.n_parameters_ - 2
    shape = {"covariances": [np.eye(2), [NAN, NAN], [NAN, NAN]], "weights": [0.3, np.nan, np.nan]}
    assert mixture(3, "full", shape).fit(PETAL).n_parameters_ == free.n_parameters_ - 3 - 1
    assert mixture(3, "diag", {"covariances": 0.2}).fit(PETAL).n_parameters_ == 2 + 6
    assert mixture(3, "VEI", {"covariances": np.eye(2)}).fit(PETAL).n_parameters_ == 2 + 6


def test_a_component_of_known_share_zero_is_never_answered():
    known = {"weights": [0.0, np.nan, np.nan]}
    with pytest.warns(DegenerateWarning, match=r"Component\(s\) 0 vanished"):
        model = mixture(3, "diag", known, prior_rows=1.0).fit(PETAL)
    assert_array_equal(model.weights_[0], 0.0)
    assert np.isfinite(model.lower_bounds_).all() and (np.diff(model.lower_bounds_) > -1e-9).all()
    assert 0 not in model.predict(PETAL)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_known_has_an_interval_of_no_width(kind):
    model = mixture(3, kind, {"means": [[1.4, 0.3], NAN, NAN]}).fit(PETAL)
    table = model.parameters()
    mean = table["parameter"] == "mean"
    first = mean & (table["class"] == 0)
    assert_array_equal(table["low"][first], [1.4, 0.3])
    assert_array_equal(table["high"][first], [1.4, 0.3])
    others = mean & ~first
    assert (table["low"][others] < table["value"][others]).all()


def test_what_is_known_survives_a_file_more_rows_and_a_merge(tmp_path):
    known = {"means": [[1.4, 0.3], NAN, NAN], "weights": [np.nan, 0.3, np.nan]}
    model = mixture(3, "full", known).fit(PETAL)
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert_array_equal(loaded.predict_proba(PETAL), model.predict_proba(PETAL))
    for more in (loaded.partial_fit(PETAL[::2]), model.merge(model)):
        assert_array_equal(more.means_[0], [1.4, 0.3])
        assert_allclose(more.weights_[1], 0.3, rtol=1e-12)


@pytest.mark.parametrize(
    ("known", "settings", "message"),
    [
        (
            {"mean": [1, 2]},
            {},
            r"parts among \['covariances', 'means', 'weights'\], got \['mean'\]",
        ),
        ({"means": [1, 2, 3]}, {}, r"known means of shape \(2, 2\)"),
        ({"means": [[1, np.nan], NAN]}, {}, "for a whole component, .* of component 0"),
        ({"means": [[1, np.inf], NAN]}, {}, "finite, or NaN, got infinity"),
        ({"means": "here"}, {}, "known means of shape"),
        ({"weights": [0.5, 0.6]}, {}, r"sum to 1, got \[0.5, 0.6\]"),
        ({"weights": [-0.5, np.nan]}, {}, "weights of zero or more"),
        ({"weights": [1.0, np.nan]}, {}, "leave something to the others"),
        ({"covariances": [[1, 2], [2, 1]]}, {}, "symmetric and positive definite"),
        ({"covariances": -1.0}, {"covariance_type": "diag"}, "variances above zero, got -1"),
        ({"covariances": [np.eye(2), [NAN, NAN]]}, {"covariance_type": "EII"}, "1 of 2 for 'EII'"),
        ({"means": [NAN, NAN]}, {"covariance_type": "VEI"}, "spherical or EII .* got 'VEI'"),
        ({"weights": [0.5, 0.5]}, {"n_components": "bic"}, "Expected one number of components"),
    ],
)
def test_what_cannot_be_known_is_one_sentence(known, settings, message):
    model = GaussianMixture(**{"n_components": 2, "known": known, **settings})
    for call in (model.fit, model.steps):
        with pytest.raises(ValueError, match=message) as error:
            call(PETAL)
        assert len(str(error.value)) < 250
    assert "fitted_" not in vars(model)
