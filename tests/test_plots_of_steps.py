"""Pictures of steps, and of models that were stated: what they hold agrees with the numbers."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import chi2, norm, poisson
from sklearn.datasets import load_iris

from posterior import (
    GaussianDiscriminantAnalysis,
    GaussianMixture,
    GaussianNB,
    KMeans,
    LogisticRegression,
    MiniBatchKMeans,
    Mixture,
    NaiveBayes,
    Poisson,
    PoissonNB,
)
from posterior.evaluation import decision_boundary
from posterior.generative.normal_mixture import full_covariances
from posterior.plots import cells, hill, sigmoid
from posterior.plots.look import PALETTE

pytestmark = pytest.mark.once

IRIS = load_iris(as_frame=True)
PETAL = IRIS.data.iloc[:, 2:].set_axis(["length", "width"], axis=1)
SPECIES = pd.Series(IRIS.target_names[IRIS.target], name="species")
TWO, LATER = PETAL[50:].reset_index(drop=True), SPECIES[50:].reset_index(drop=True)
CENTERED = TWO[["length"]] - 4.9
ASCENT = {"C": np.inf, "solver": "gradient-ascent", "tol": 0}


def drawn(chart):
    """A chart as it is written, without the checks of Altair, which take most of the time."""
    return chart if isinstance(chart, dict) else chart.to_dict(validate=False)


def tables(chart):
    """The data of every layer of a chart, or of all charts below it."""
    spec = drawn(chart)

    def walk(part):
        if "data" in part and "name" in part["data"]:
            yield pd.DataFrame(spec["datasets"][part["data"]["name"]])
        for inner in [*part.get("layer", []), *part.get("vconcat", [])]:
            yield from walk(inner)

    return list(walk(spec))


def table(chart, *columns):
    """The first that has such columns."""
    return next(t for t in tables(chart) if set(columns) <= set(t))


def title(chart):
    spec = drawn(chart)
    spec = spec.get("vconcat", [spec])[0]
    return spec["title"]["text"], " ".join(spec["title"]["subtitle"])


# ---- k-means ----


def test_a_step_of_k_means_has_its_rows_cells_and_the_path_of_its_centers():
    steps = KMeans(3, init=PETAL.to_numpy()[[0, 50, 60]], tol=0).steps(PETAL)
    for step in (steps[0], steps[1], steps[-1]):
        chart = drawn(step.plot())
        centers = tables(chart)[-1]
        assert_array_equal(centers[["x", "y"]], step.centers)
        way = table(chart, "cluster", "step")
        for k, line in way.groupby("cluster"):
            passed = step.path[:, k]
            moves = passed[np.append(True, (np.diff(step.path, axis=0) != 0).any(axis=(1, 2)))]
            assert_array_equal(line[["x", "y"]], moves)
        dots = next(t for t in tables(chart) if "label" in t and "x2" not in t)
        assert dots["label"].astype(int).tolist() == step.labels.tolist()
        assert title(chart)[0].startswith(f"Step {step.number}, {step.kind}: ")
        assert f"{step.inertia:.4g}".rstrip("0") in title(chart)[1]
    assert_array_equal(steps[-1].path[0], PETAL.to_numpy()[[0, 50, 60]])


def test_rows_keep_their_center_while_centers_move():
    steps = KMeans(3, init=PETAL.to_numpy()[[0, 50, 60]], tol=0).steps(PETAL)
    move = steps[1]
    assert move.kind == "move"
    assert (move.model.predict(PETAL) != move.labels).any()
    chart = drawn(move.plot())
    ground = table(chart, "x2", "label")
    step = np.diff(np.unique(np.r_[ground.x, ground.x2])).min()
    middle = pd.DataFrame({"length": ground.x + step / 2, "width": (ground.y + ground.y2) / 2})
    assert_array_equal(ground["label"].astype(int), move.model.predict(middle))


def test_a_step_of_k_means_of_one_column_is_drawn_with_its_path():
    last = KMeans(3, init=[[1.0], [2.0], [3.0]]).steps(PETAL[["length"]])[-1]
    chart = drawn(last.plot(bins=20))
    way = table(chart, "center", "down")
    assert_allclose(way[way.step == way.step.max()].center, last.centers[:, 0])
    assert way[way.step == 0].center.tolist() == [1.0, 2.0, 3.0]
    assert (way.groupby("cluster").down.diff().dropna() > 0).all()
    with pytest.raises(ValueError, match="one column or two to draw, got KMeans of 4 columns"):
        KMeans(2, random_state=0).steps(IRIS.data)[0].plot()


def test_sparse_rows_are_drawn_as_dense_ones():
    init = PETAL.to_numpy()[[0, 50, 100]]
    dense, thin = (
        KMeans(3, init=init).steps(X)[-1] for X in (PETAL.to_numpy(), sparse.csr_matrix(PETAL))
    )
    assert drawn(dense.plot()) == drawn(thin.plot())


def test_the_path_of_fitted_centers_ends_at_them():
    model = KMeans(3, random_state=0, init="random", n_init=3).fit(PETAL)
    way = table(model.plot(PETAL, path=True), "cluster", "step")
    for k, line in way.groupby("cluster"):
        assert_array_equal(line[["x", "y"]].iloc[-1], model.cluster_centers_[k])
        assert (line[["x", "y"]].iloc[0].to_numpy() == PETAL.to_numpy()).all(axis=1).any()
    with pytest.raises(ValueError, match="steps that end at the centers of the model, got others"):
        model.plot(PETAL[:100], path=True)
    with pytest.raises(TypeError, match=r"Expected KMeans for the path .*, got MiniBatchKMeans"):
        cells(MiniBatchKMeans(2, random_state=0).fit(PETAL), PETAL, path=True)


def test_a_step_has_the_model_it_leaves():
    steps = KMeans(3, random_state=0).steps(PETAL)
    assert_array_equal(steps[-1].model.predict(PETAL), steps[-1].labels)
    ascent = LogisticRegression().steps(TWO, LATER)[-1]
    fitted = LogisticRegression().fit(TWO, LATER)
    assert_array_equal(ascent.model.predict_proba(TWO), fitted.predict_proba(TWO))
    for model in (GaussianMixture(2, random_state=0), Mixture(n_components=2, random_state=0)):
        step = model.steps(PETAL)[-1]
        assert_array_equal(step.model.predict_proba(PETAL), model.fit(PETAL).predict_proba(PETAL))
        assert step.model is not model


# ---- EM ----


def em(**settings):
    return GaussianMixture(2, init_params="random", random_state=3, tol=1e-6, **settings)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical", "EII"])
def test_a_step_of_em_has_its_ellipses_and_rows_in_mixed_colors(kind):
    for step in em(covariance_type=kind, max_iter=9).steps(PETAL)[-2:]:
        chart = drawn(step.plot())
        dots, rings = table(chart, "tint"), table(chart, "level")
        R = step.responsibilities
        assert_allclose(dots.share, R.max(axis=1))
        palette = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in PALETTE[:2]])
        assert dots.tint.tolist() == [
            "#{:02x}{:02x}{:02x}".format(*np.round(r.round(2) @ palette).astype(int)) for r in R
        ]
        fitted = step.model.fitted_
        covariance = full_covariances(fitted.model, fitted.reader.names)
        for (name, level), ring in rings.groupby(["class", "level"]):
            k = int(name[0])
            away = ring[["x", "y"]].to_numpy() - step.parameters.mean[k]
            distance = np.einsum("ni,ij,nj->n", away, np.linalg.inv(covariance[k]), away)
            assert_allclose(distance, chi2.ppf(level, 2), rtol=1e-8)
        assert title(chart)[0].startswith(f"Step {step.number}, {step.kind}: ")


def test_a_step_of_em_of_one_column_shares_out_the_bars():
    step = em().steps(PETAL[["length"]])[-1]
    chart = drawn(step.plot(bins=20))
    bars = table(chart, "from", "low")
    rows = bars.groupby("class").rows.sum()
    assert_allclose(rows, step.responsibilities.sum(axis=0), rtol=1e-9)
    area = ((bars.height - bars.low) * (bars["to"] - bars["from"])).sum()
    assert_allclose(area, 1.0)
    curves = table(chart, "class", "density")
    for k, (_, curve) in enumerate(curves.groupby("class")):
        mean, deviation = step.parameters.mean[k, 0], np.sqrt(step.parameters.covariance[k, 0, 0])
        density = step.shares[k] * norm.pdf(curve.x, mean, deviation)
        assert_allclose(curve.density, density, rtol=1e-9)


def test_steps_of_em_without_normal_columns_have_no_picture():
    step = Mixture(Poisson(), 2, random_state=0, max_iter=2).steps((IRIS.data * 10).round())[0]
    with pytest.raises(ValueError, match="Expected one column or two different ones, got 0"):
        step.plot()


# ---- logistic regression ----


def test_a_step_of_an_ascent_is_its_curve_and_its_place_on_the_hill():
    steps = LogisticRegression(step=0.01, max_iter=200, **ASCENT).steps(CENTERED, LATER)
    for step in (steps[0], steps[40], steps[-1]):
        chart = drawn(step.plot())
        curve, way = table(chart, "x", "probability"), table(chart, "step", "height")
        score = step.intercept[0] + step.coef[0, 0] * curve.x
        assert_allclose(curve.probability, 1 / (1 + np.exp(-score)), rtol=1e-9)
        assert_allclose(way[["x", "y"]], step.path[way.step, 0, ::-1])
        assert len(way) == step.number + 1
        assert_allclose(way.height.iloc[-1], step.log_likelihood, rtol=1e-9)
        assert title(chart)[0] == f"Step {step.number}"
    grounds = [table(step.plot(), "level") for step in (steps[1], steps[-1])]
    pd.testing.assert_frame_equal(*grounds)  # the same hill under every step


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_a_step_of_two_columns_is_its_line_and_the_climb(as_rows):
    y = (LATER == "virginica").astype(int)
    steps = LogisticRegression(step=0.002, max_iter=60, **ASCENT).steps(as_rows(TWO), y)
    chart = drawn(steps[50].plot())
    line, climb = table(chart, "between"), table(chart, "step", "height")
    assert_allclose(line[["x", "y"]] @ steps[50].coef[0] + steps[50].intercept[0], 0, atol=1e-9)
    assert_allclose(climb.height, [step.objective for step in steps[:51]])


def test_steps_of_many_columns_or_classes_are_their_coefficients():
    for X, y in [(IRIS.data, SPECIES), (PETAL[["length"]], SPECIES)]:
        step = LogisticRegression(solver="newton-cholesky").steps(X, y)[-1]
        drawn = table(step.plot(), "name", "value")
        assert_allclose(np.sort(drawn.value), np.sort(step.coef.ravel()))


@pytest.mark.parametrize("columns", [["length"], ["length", "width"]])
def test_a_step_by_one_example_rings_it(columns):
    mixed = np.random.default_rng(0).permutation(100)
    X, y = TWO[columns].iloc[mixed], LATER.iloc[mixed]
    steps = LogisticRegression(step=0.05, max_iter=1, **ASCENT).steps(X, y, one_example=True)
    chart = drawn(steps[8].plot())
    ring = table(chart, "row").iloc[0]
    row = X.iloc[7].tolist()
    assert [ring.x, ring.y] == (row if len(row) == 2 else [*row, y.iloc[7] == "virginica"])
    assert title(chart)[0] == "Step 8, by row 7 (the ring)"


# ---- the hill ----


@pytest.mark.parametrize("C", [np.inf, 0.5])
@pytest.mark.parametrize("solver", ["newton-cholesky", "gradient-ascent"])
@pytest.mark.parametrize("weight", [None, "balanced"])
def test_the_hill_of_a_model_finds_its_own_way_to_the_top(C, solver, weight):
    settings = {"step": 0.02, "max_iter": 3_000} if solver == "gradient-ascent" else {}
    y = LATER.where(LATER.index < 70, "versicolor")  # more of one class than of the other
    model = LogisticRegression(C=C, solver=solver, tol=1e-8, class_weight=weight, **settings)
    chart = drawn(hill(model, CENTERED, y))
    way, end = table(chart, "step", "height"), tables(chart)[-1]
    best = LogisticRegression(C=C, tol=1e-10, class_weight=weight).fit(CENTERED, y)
    assert_allclose(end[["x", "y"]].iloc[0], [best.intercept_[0], best.coef_[0, 0]], atol=1e-4)
    assert (np.diff(way.height) > -1e-9).all()
    assert_allclose(end.height, -best.trace_[-1].value, rtol=1e-7)
    ground = table(chart, "level")
    top = ground[ground.level == ground.level.max()]
    assert top.x.min() <= end.x[0] <= top.x2.max() and top.y.min() <= end.y[0] <= top.y2.max()
    assert ("less penalty" in title(chart)[1]) == np.isfinite(C)
    assert chart["layer"][0]["encoding"]["y"]["axis"]["title"] == "slope of length"


def test_a_hill_has_two_coefficients():
    for model, X, y in [
        (LogisticRegression(), TWO, LATER),
        (LogisticRegression(), PETAL[["length"]], SPECIES),
        (LogisticRegression(fit_intercept=False), TWO, LATER),
    ]:
        with pytest.raises(ValueError, match="of one column and two classes, with an intercept"):
            hill(model, X, y)


# ---- models that were stated ----


@pytest.mark.parametrize("names", [None, ["length"]])
@pytest.mark.parametrize("kind", ["naive", "analysis"])
def test_several_normal_curves_are_one_picture(kind, names):
    means, deviations, shares = [0, 0, 0, -2], [0.447, 1, 2.236, 0.707], [0.25] * 4
    if kind == "naive":
        model = GaussianNB.of(means, deviations, shares, classes=[*"abcd"], names=names)
    else:
        variances = np.square(deviations)
        model = GaussianDiscriminantAnalysis.of(
            means, variances, shares, classes=[*"abcd"], names=names
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chart = drawn(model.plot())
    curves = table(chart, "class", "density")
    assert set(curves["class"]) == set("abcd")
    for name, mean, deviation in zip("abcd", means, deviations, strict=True):
        curve = curves[curves["class"] == name]
        assert_allclose(curve.density, 0.25 * norm.pdf(curve.x, mean, deviation), rtol=1e-9)
        assert curve.density.max() > 0.98 * 0.25 * norm.pdf(0, 0, deviation)
    assert_allclose(table(chart, "boundary").boundary, decision_boundary(model).at)
    assert title(chart)[0] == ("length, by class" if names else "feature 0, by class")


def test_no_two_points_of_a_curve_are_apart_by_rounding_alone():
    """A smooth line through both would have any slope between them."""
    curves = table(GaussianNB.of([-2, 0, 3], [1, 2, 0.5], [0.3, 0.4, 0.3]).plot(), "density")
    for _, curve in curves.groupby("class"):
        assert np.diff(curve.x).min() > 1e-9


def test_stated_counts_are_dots_at_whole_numbers():
    rates, names = [[0.5], [6.0]], ["calls"]
    model = PoissonNB.of(rates, [0.4, 0.6], classes=[*"ab"], names=names)
    chart = drawn(model.plot())
    curves = table(chart, "class", "density")
    for name, (rate,), share in zip("ab", rates, [0.4, 0.6], strict=True):
        curve = curves[curves["class"] == name]
        assert curve.x.tolist() == list(range(len(curve)))
        assert_allclose(curve.density, share * poisson.pmf(curve.x, rate), rtol=1e-9)
    assert title(chart) == ("calls, by class", "Dots are the model, class share × probability.")


def test_a_class_of_share_zero_has_no_curve():
    model = GaussianNB.of([16, 30, 23], [3, 4, 9], [0.7, 0.3, 0.0], classes=[*"abc"])
    assert set(table(model.plot(), "class", "density")["class"]) == {"a", "b"}


def test_one_of_many_stated_columns_is_drawn():
    model = GaussianNB.of([[0, 1, 2], [3, 4, 9]], np.ones((2, 3)), [0.5, 0.5], names=[*"uvw"])
    assert title(model.plot())[0] == "u, by class"
    curve = table(model.plot(feature="w"), "class", "density")
    assert_allclose(curve.x[curve.density.idxmax()], 2, atol=0.3)
    with pytest.raises(ValueError, match=r"one of the columns \['u', 'v', 'w'\], got 'z'"):
        model.plot(feature="z")


def test_stated_classes_of_two_columns_have_ellipses_and_a_boundary():
    covariances = [[[2.0, 1.0], [1.0, 2.0]], [[1.0, 0.0], [0.0, 3.0]]]
    model = GaussianDiscriminantAnalysis.of(
        [[0, 0], [4, 1]], covariances, [0.7, 0.3], classes=["a", "b"], names=["u", "v"]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chart = drawn(model.plot())
    line = table(chart, "between")[["x", "y"]].set_axis(["u", "v"], axis=1)
    assert_allclose(model.predict_proba(line), 0.5, atol=1e-7)
    for (label, level), ring in table(chart, "level").groupby(["class", "level"]):
        k = "ab".index(label)
        away = ring[["x", "y"]].to_numpy() - [[0, 0], [4, 1]][k]
        inverse = np.linalg.inv(covariances[k])
        distance = np.einsum("ni,ij,nj->n", away, inverse, away)
        assert_allclose(distance, chi2.ppf(level, 2), rtol=1e-8)
    assert title(chart)[0] == "u and v, by class"


def test_stated_coefficients_are_a_curve_or_a_line():
    curve = LogisticRegression.of(-6, {"hours": 0.05}, classes=["fail", "pass"])
    chart = drawn(curve.plot())
    points = table(chart, "x", "probability")
    assert_allclose(points.probability, 1 / (1 + np.exp(6 - 0.05 * points.x)), rtol=1e-12)
    assert points.probability.min() < 0.01 and points.probability.max() > 0.99
    assert_allclose(table(chart, "boundary").boundary, 120)
    assert title(chart)[0] == "P(pass), by hours"
    flat = sigmoid(LogisticRegression.of(0.5, [0.0]))
    assert table(flat, "probability").probability.nunique() == 1
    line = LogisticRegression.of(-6, {"hours": 0.05, "grade": 1.0}).plot()
    points = table(line, "between")
    assert_allclose(points.x * 0.05 + points.y, 6, rtol=1e-9)
    many = LogisticRegression.of(-6, [1.0, 2.0, 3.0]).plot()
    assert title(many)[0] == "Coefficients"


def test_a_stated_mixture_is_its_curves():
    model = GaussianMixture.of([0.7, 0.3], [16, 30], [9, 16])
    total = next(t for t in tables(model.plot()) if set(t) == {"x", "density"})
    density = 0.7 * norm.pdf(total.x, 16, 3) + 0.3 * norm.pdf(total.x, 30, 4)
    assert_allclose(total.density, density, rtol=1e-9)


def test_what_is_neither_normal_nor_poisson_still_needs_its_rows():
    with pytest.raises(ValueError, match="Expected the rows to draw beside what NaiveBayes"):
        NaiveBayes("exponential").fit(PETAL, SPECIES).plot()
    with pytest.raises(ValueError, match=r"Call plot\(model, X, y\)"):
        GaussianNB.of([16, 30], [3, 4], [0.7, 0.3]).plot([[1.0]])
    predictive = GaussianDiscriminantAnalysis(predictive=True).fit(PETAL, SPECIES)
    with pytest.raises(ValueError, match="Expected the rows to draw"):
        predictive.plot()
