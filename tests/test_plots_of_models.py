"""The one picture of each model: what it holds agrees with the model."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chi2
from sklearn.datasets import load_iris

from posterior import (
    BernoulliNB,
    CategoricalNB,
    GaussianDiscriminantAnalysis,
    GaussianNB,
    KMeans,
    KNeighborsClassifier,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    LogisticRegressionCV,
    MiniBatchKMeans,
    MultinomialNB,
    QuadraticDiscriminantAnalysis,
)
from posterior.plots import hill, likelihoods, plot, trace
from posterior.plots.look import PALETTE

pytestmark = pytest.mark.once

IRIS = load_iris(as_frame=True)
SPECIES = pd.Series(IRIS.target_names[IRIS.target], name="species")
LENGTH, WIDTH = IRIS.data.columns[:2]
SEPAL = IRIS.data[[LENGTH, WIDTH]]
NORMAL = {
    "GaussianNB": GaussianNB(),
    "LDA": LinearDiscriminantAnalysis(),
    "QDA": QuadraticDiscriminantAnalysis(),
    "GDA, spherical": GaussianDiscriminantAnalysis("spherical"),
}


def layers(chart):
    """The data of a chart's layers by one of their columns: cells, lines, rings, dots, ..."""
    spec = chart.to_dict()
    found = {}
    for layer in spec["layer"]:
        table = pd.DataFrame(spec["datasets"][layer["data"]["name"]])
        kind = next(k for k in ("x2", "between", "level", "cluster", "label", "to") if k in table)
        found[kind] = table
    return found


def said(chart):
    """The title, and the words below it."""
    title = chart.to_dict()["title"]
    return title["text"], " ".join(title["subtitle"])


def axes(chart):
    """Titles of the axes, from the first layer."""
    encoding = chart.to_dict()["layer"][0]["encoding"]
    return [encoding[axis]["axis"]["title"] for axis in "xy"]


def middles(cells):
    """The centers of the cells at the left end of each run, (n, 2)."""
    step = np.diff(np.unique(np.r_[cells.x, cells.x2])).min()
    return np.column_stack([cells.x + step / 2, (cells.y + cells.y2) / 2])


def assert_on_the_boundary(model, lines):
    """The two classes named are equally probable there, and no other is more so."""
    p = model.predict_proba(lines[["x", "y"]].to_numpy())
    classes = [str(label) for label in model.classes_]
    for (of, against), row in zip(lines.between.str.split(" | ", regex=False), p, strict=True):
        assert_allclose(row[classes.index(of)], row[classes.index(against)], rtol=1e-7)
        assert row[classes.index(of)] >= row.max() - 1e-7


# ---- two columns ----


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", [LogisticRegression, LogisticRegressionCV])
def test_logistic_regression_of_two_columns_is_its_separating_line(kind, classes):
    known = slice(50 if classes == 2 else 0, None)
    X, y = SEPAL[known], SPECIES[known]
    chart = kind().fit(X, y).plot(X, y)
    found = layers(chart)
    model = kind().fit(X.to_numpy(), y)
    assert_on_the_boundary(model, found["between"])
    assert (found["x2"]["class"] == model.predict(middles(found["x2"]))).all()
    assert len(found["label"]) == len(X)
    assert len(found["between"]) == (2 if classes == 2 else 6)  # straight: ends suffice
    assert axes(chart) == [LENGTH, WIDTH]
    assert said(chart)[0] == f"{LENGTH} and {WIDTH}, by species"
    assert "level" not in found


@pytest.mark.parametrize("name", NORMAL)
def test_normal_classes_of_two_columns_have_ellipses_and_a_boundary(name):
    X, y = SEPAL.to_numpy(), SPECIES.to_numpy()
    model = NORMAL[name].fit(X, y)
    found = layers(model.plot(X, y))
    assert_on_the_boundary(model, found["between"])
    assert (found["x2"]["class"] == model.predict(middles(found["x2"]))).all()
    if isinstance(model, GaussianNB):
        mean, covariance = model.theta_, np.stack([np.diag(v) for v in model.var_])
    else:
        mean = model.means_
        covariance = np.broadcast_to(model.parameters_.covariance, (3, 2, 2))
    assert len(found["level"]) == 3 * 2 * 73
    for (label, level), ring in found["level"].groupby(["class", "level"]):
        k = model.classes_.tolist().index(label)
        away = ring[["x", "y"]].to_numpy() - mean[k]
        distance = np.einsum("ni,ij,nj->n", away, np.linalg.inv(covariance[k]), away)
        assert_allclose(distance, chi2.ppf(level, 2), rtol=1e-8)


def test_the_boundary_of_shared_covariances_is_straight_and_of_own_ones_curved():
    lines = {
        kind: layers(kind().fit(SEPAL, SPECIES).plot(SEPAL, SPECIES))["between"]
        for kind in (LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis)
    }
    assert len(lines[LinearDiscriminantAnalysis]) == 6
    assert len(lines[QuadraticDiscriminantAnalysis]) > 50


def test_two_columns_of_another_frame_with_the_target_among_them():
    frame = pl.DataFrame({"a": SEPAL[LENGTH], "b": SEPAL[WIDTH], "kind": SPECIES.tolist()})
    chart = QuadraticDiscriminantAnalysis().fit(frame, "kind").plot(frame, "kind")
    assert said(chart)[0] == "a and b, by kind"
    assert axes(chart) == ["a", "b"]
    assert set(layers(chart)["label"]["label"]) == set(IRIS.target_names)


def test_a_picture_without_labels_has_no_dots():
    chart = LogisticRegression().fit(SEPAL, SPECIES).plot(SEPAL)
    assert "label" in layers(chart)["x2"]
    assert len(chart.to_dict()["layer"]) == 2
    assert "dots" not in said(chart)[1]


def test_more_classes_than_colors_have_regions_but_no_ellipses():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(len(PALETTE) + 2), 20)
    X = rng.normal(size=(len(y), 2)) + np.column_stack([y % 4, y // 4]) * 4
    found = layers(GaussianNB().fit(X, y).plot(X, y))
    assert "level" not in found
    assert "others" in set(found["x2"]["class"])


def test_large_numbers_and_many_rows_are_drawn_sparingly():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 20_000)
    X = rng.normal(size=(20_000, 2)) + y[:, None] + 1e8
    model = LinearDiscriminantAnalysis().fit(X, y)
    chart = model.plot(X, y)
    found = layers(chart)
    assert len(found["label"]) <= 500
    assert_allclose(model.decision_function(found["between"][["x", "y"]].to_numpy()), 0, atol=1e-4)
    assert len(json.dumps(chart.to_dict())) < 400_000


def test_student_tails_have_regions_alone():
    model = GaussianDiscriminantAnalysis(predictive=True).fit(SEPAL, SPECIES)
    assert set(layers(model.plot(SEPAL, SPECIES))) == {"x2", "label"}


def test_a_column_that_is_named_is_drawn_alone():
    model = GaussianNB().fit(SEPAL, SPECIES)
    assert said(model.plot(SEPAL, SPECIES, feature=WIDTH))[0] == f"{WIDTH}, by species"


def test_neighbors_of_two_columns_are_regions():
    X, y = SEPAL.to_numpy(), SPECIES.to_numpy()
    model = KNeighborsClassifier(5).fit(X, y)
    found = layers(model.plot(X, y))
    at = middles(found["x2"])
    sure = np.sort(model.predict_proba(at), axis=1)[:, -2:]
    clear = sure[:, 1] > sure[:, 0]
    assert (found["x2"]["class"][clear] == model.predict(at)[clear]).all()
    chose = KNeighborsClassifier("auto").fit(SEPAL, SPECIES)
    assert said(chose.plot())[0] == "How many neighbors"
    assert axes(chose.plot(SEPAL, SPECIES)) == [LENGTH, WIDTH]


# ---- one column ----


def test_logistic_regression_of_one_column_is_its_curve():
    X, y = SEPAL[[LENGTH]][50:], SPECIES[50:]
    model = LogisticRegression().fit(X, y)
    spec = model.plot(X, y).to_dict()
    curve, dots, rule = (
        pd.DataFrame(spec["datasets"][layer["data"]["name"]]) for layer in spec["layer"][:3]
    )
    at = pd.DataFrame({LENGTH: curve.x})
    assert_allclose(curve.probability, model.predict_proba(at)[:, 1], rtol=1e-12)
    assert dots.rows.sum() == 100
    half = pd.DataFrame({LENGTH: rule.boundary})
    assert_allclose(model.predict_proba(half), 0.5)
    assert spec["title"]["text"] == f"P(virginica), by {LENGTH}"


def test_coefficients_are_the_picture_of_anything_else_logistic():
    for model, rows in [
        (LogisticRegression().fit(SEPAL, SPECIES), ()),
        (LogisticRegression().fit(IRIS.data, SPECIES), (IRIS.data, SPECIES)),
        (LogisticRegression().fit(SEPAL[[LENGTH]], SPECIES), (SEPAL[[LENGTH]], SPECIES)),
    ]:
        assert said(model.plot(*rows))[0] == "Coefficients"
    words = pd.DataFrame({"word": np.array(["yes", "no"])[IRIS.target % 2], "x": SEPAL[LENGTH]})
    assert said(LogisticRegression().fit(words, SPECIES).plot(words, SPECIES))[0] == "Coefficients"


def test_the_categories_of_a_column_have_a_coefficient_each():
    words = pd.DataFrame({"word": np.array(["a", "b", "c"])[IRIS.target], "x": SEPAL[LENGTH]})
    model = LogisticRegression().fit(words, SPECIES != "setosa")
    spec = model.plot(words, SPECIES != "setosa").to_dict()
    found = next(pd.DataFrame(t) for t in spec["datasets"].values() if "name" in t[0])
    assert_allclose(found.set_index("name").value["x"], model.coef_[0, -1])
    assert len(found) == model.coef_.size > 2


def test_sparse_coefficients_are_drawn_as_dense_ones():
    for table in (SEPAL, IRIS.data):
        model = LogisticRegression().fit(table, SPECIES)
        dense = model.plot(table, SPECIES).to_dict()
        assert model.sparsify().plot(table, SPECIES).to_dict() == dense


@pytest.mark.parametrize("name", NORMAL)
def test_normal_classes_of_one_column_have_their_boundaries_marked(name):
    X, y = SEPAL[[LENGTH]].to_numpy(), SPECIES.to_numpy()
    model = NORMAL[name].fit(X, y)
    spec = model.plot(X, y).to_dict()
    rules = [t for t in spec["datasets"].values() if "boundary" in t[0]]
    at = np.array([[row["boundary"]] for row in rules[0]])
    assert len(at) >= 2
    sure = np.sort(model.predict_proba(at), axis=1)
    assert_allclose(sure[:, -1], sure[:, -2])


# ---- clusters ----


@pytest.mark.parametrize("kind", [KMeans, MiniBatchKMeans])
@pytest.mark.parametrize("k", [1, 2, 5, 12])
def test_clusters_of_two_columns_are_the_cells_of_their_centers(kind, k):
    X = SEPAL.to_numpy()
    model = kind(k, random_state=0).fit(X)
    chart = model.plot(X)
    found = layers(chart)
    assert_allclose(found["cluster"][["x", "y"]], model.cluster_centers_)
    assert (found["x2"]["label"] == model.predict(middles(found["x2"])).astype(str)).all()
    assert len(found["label"]) == len(X)
    assert (found["label"]["label"] == model.predict(X).astype(str)).all()
    assert ("between" in found) == (k > 1)
    if k > 1:
        lines = found["between"]
        distance = model.transform(lines[["x", "y"]].to_numpy())
        pairs = lines.between.str.split(" | ", regex=False, expand=True).astype(int)
        for i in (0, 1):
            own = np.take_along_axis(distance, pairs[[i]].to_numpy(), axis=1)[:, 0]
            assert_allclose(own, distance.min(axis=1), rtol=1e-8)


def test_clusters_of_one_column_are_intervals():
    X = IRIS.data[["petal length (cm)"]]
    model = KMeans(3, random_state=0).fit(X)
    chart = model.plot(X, bins=30)
    assert layers(chart)["to"].rows.sum() == len(X)
    found = next(t for t in chart.to_dict()["datasets"].values() if "boundary" in t[0])
    centers = np.sort(model.cluster_centers_[:, 0])
    assert_allclose([r["boundary"] for r in found], (centers[1:] + centers[:-1]) / 2)
    assert said(chart)[0] == "petal length (cm), by cluster"
    with pytest.raises(ValueError, match="Expected a number of bins, 1 or more, got 0"):
        model.plot(X, bins=0)


def test_clusters_of_more_columns_are_refused():
    model = KMeans(3, random_state=0).fit(IRIS.data)
    with pytest.raises(ValueError, match="one column or two to draw, got KMeans of 4 columns"):
        model.plot(IRIS.data)


# ---- what each class makes probable ----


@pytest.fixture(scope="module")
def mails():
    """Words that differ between spam and ham, less and less, and one that does not."""
    rng = np.random.default_rng(0)
    p = np.array([[0.05, 0.1, 0.2, 0.4], [0.8, 0.7, 0.5, 0.4]])
    y = np.arange(2_000) % 2
    words = ["prize", "money", "now", "hello"]
    X = pd.DataFrame((rng.random((2_000, 4)) < p[y]).astype(int), columns=words)
    return X, np.array(["ham", "spam"])[y]


def bars(chart):
    spec = chart.to_dict()
    return pd.DataFrame(spec["datasets"][spec["data"]["name"]])


@pytest.mark.parametrize(("kind", "word"), [(BernoulliNB, "yes"), (MultinomialNB, "word")])
def test_the_words_that_tell_most_come_first(mails, kind, word):
    X, y = mails
    model = kind().fit(X, y)
    chart = model.plot()
    found = bars(chart)
    first = found.name.drop_duplicates().tolist()
    assert first == ["prize", "money", "now", "hello"] or kind is MultinomialNB
    assert set(first[:2]) <= {"prize", "money", "hello"}
    table = found.pivot(index="class", columns="name", values="probability")[list(X)]
    assert_allclose(table.loc[model.classes_], np.exp(model.feature_log_prob_))
    assert said(chart)[0] == f"P({word} | class)"
    assert bars(plot(model, X, y, most=2)).name.nunique() == 2


def test_what_a_column_tells_is_its_mutual_information_with_the_class(mails):
    X, y = mails
    model = BernoulliNB().fit(X, y)
    found = bars(model.plot()).drop_duplicates("name").set_index("name").told
    prior, yes = np.exp(model.class_log_prior_), np.exp(model.feature_log_prob_)
    for j, name in enumerate(X):
        joint = np.column_stack([prior * yes[:, j], prior * (1 - yes[:, j])])
        apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
        assert_allclose(found[name], (joint * np.log(joint / apart)).sum(), rtol=1e-9)


def test_categories_are_named_by_column_and_value(mails):
    X, y = mails
    model = CategoricalNB().fit(X, y)
    found = bars(model.plot())
    table = found.pivot(index="class", columns="name", values="probability")
    assert set(table) == {f"{name} = {value}" for name in X for value in (0, 1)}
    p = np.exp(model.feature_log_prob_[0])
    assert_allclose(table[["prize = 0", "prize = 1"]], p)


def test_many_words_and_many_classes_are_cut_short():
    rng = np.random.default_rng(0)
    model = MultinomialNB().fit(rng.integers(0, 3, (300, 500)), np.arange(300) % 20)
    chart = model.plot()
    found = bars(chart)
    assert found["class"].nunique() == len(PALETTE)
    assert len(found) <= 60
    assert "8 most probable of 20 classes" in said(chart)[1]
    assert "7 of 500" in said(chart)[1]


def test_zero_probabilities_are_drawn():
    model = BernoulliNB(alpha=0).fit([[1, 0], [0, 1], [0, 1]], ["a", "b", "b"])
    assert set(bars(model.plot()).probability) == {0.0, 1.0}


def test_likelihoods_refuse_what_has_none():
    with pytest.raises(TypeError, match="of words, of yes and no or of categories, got GaussianNB"):
        likelihoods(GaussianNB().fit(SEPAL, SPECIES))
    model = BernoulliNB().fit([[1, 0], [0, 1]], ["a", "b"])
    with pytest.raises(ValueError, match="Expected a number of names, 1 or more, got 0"):
        model.plot(most=0)


# ---- how it was learned ----


def test_the_trace_of_an_ascent_is_of_the_log_likelihood():
    X, y = SEPAL[[LENGTH]][50:], SPECIES[50:]
    model = LogisticRegression(C=np.inf).fit(X, y)
    chart = trace(model)
    log_likelihood = np.log(model.predict_proba(X)[np.arange(100), np.repeat([0, 1], 50)]).sum()
    text, below = said(chart)
    assert text == "Log-likelihood by iteration"
    assert f"Best: −{-log_likelihood:.6g}".rstrip("0") in below
    assert said(trace(model.trace_))[0] == "Objective by iteration"


@pytest.fixture(scope="module")
def ascent():
    """A column, zeros and ones, and the steps of a textbook's gradient ascent."""
    x = (SEPAL[LENGTH][50:] - SEPAL[LENGTH][50:].mean()).to_numpy()
    y = np.repeat([0.0, 1.0], 50)
    steps = [np.zeros(2)]
    for _ in range(400):
        left = y - 1 / (1 + np.exp(-(steps[-1][0] + steps[-1][1] * x)))
        steps.append(steps[-1] + 0.02 * np.array([left.sum(), left @ x]))
    return x, y, np.array(steps)


def test_the_way_up_the_hill_ends_at_the_maximum(ascent):
    x, y, steps = ascent
    chart = hill(x, y, steps, "length")
    spec = chart.to_dict()
    ground, way, end = (
        pd.DataFrame(spec["datasets"][layer["data"]["name"]]) for layer in spec["layer"]
    )
    best = LogisticRegression(C=np.inf, tol=1e-10).fit(x[:, None], y)
    maximum = [best.intercept_[0], best.coef_[0, 0]]
    assert_allclose(end[["x", "y"]].iloc[0], maximum, atol=1e-4)
    assert (np.diff(way.height) > -1e-9).all()
    p = best.predict_proba(x[:, None])[np.arange(100), y.astype(int)]
    assert_allclose(end.height, np.log(p).sum(), rtol=1e-9)
    top = ground[ground.level == ground.level.max()]
    assert (top.x.min() <= maximum[0] <= top.x2.max()) and (
        top.y.min() <= maximum[1] <= top.y2.max()
    )
    assert axes(chart) == ["intercept", "slope of length"]
    assert len(way) <= 300 and way.step.iloc[-1] == 400
    assert said(chart)[1].endswith("after 400 steps.")


def test_a_hill_needs_steps_of_two_coefficients(ascent):
    x, y, steps = ascent
    assert "after 0 steps" in said(hill(x, y, steps[:1]))[1]
    with pytest.raises(ValueError, match="Expected steps of an ascent, its start at least"):
        hill(x, y, np.empty((0, 2)))
    with pytest.raises(ValueError, match=r"Expected path of shape \(any, 2\), got shape \(401,\)"):
        hill(x, y, steps[:, 0])
    with pytest.raises(ValueError, match="Expected finite path, got nan"):
        hill(x, y, [[0, np.nan]])
    with pytest.raises(ValueError, match="Expected zeros and ones in y, got 2"):
        hill(x, y + 1, steps)
