"""Pictures of mixtures: what their charts hold, and that they can be drawn and saved."""

from __future__ import annotations

import json
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chi2, norm
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

from posterior import (
    GaussianDiscriminantAnalysis,
    GaussianMixture,
    GaussianNB,
    Mixture,
    MixtureClassifier,
    MultivariateGaussian,
    Poisson,
)
from posterior.plots import components, save, selection, trace

pytestmark = pytest.mark.once

BREAKOUT = "</script><script>alert(1)</script>"


def heaps(n=300, seed=0):
    random = np.random.default_rng(seed)
    X = np.concatenate([random.normal((0, 0, 5), (1, 2, 1), (n, 3)), random.normal(9, 1, (n, 3))])
    return X


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    long = np.arange(400) % 3 > 0
    x = random.normal(np.where(long, 4.3, 2.0), 0.3)
    return pd.DataFrame(
        {
            "kind": np.where(random.random(400) < 0.9, np.where(long, "long", "short"), "odd"),
            "eruptions": x,
            "waiting": (40 + 9 * x + random.normal(0, 3, 400)).round(),
            "visits": random.poisson(np.where(long, 7, 2)),
        }
    )


@pytest.fixture(scope="module")
def mixed(table):
    return Mixture({"visits": Poisson()}, 2, random_state=0).fit(table)


@pytest.fixture(scope="module")
def several():
    return GaussianMixture([1, 2, 4], n_init=2, max_iter=500, random_state=0).fit(heaps())


def parts(chart):
    """The data of a chart's layers or panels."""
    spec = chart.to_dict()
    found = []
    for panel in spec.get("vconcat", [spec]):
        for layer in panel.get("layer", [panel]):
            found.append(pd.DataFrame(spec["datasets"][layer["data"]["name"]]))
    return found


def title(chart):
    return chart.to_dict()["title"]


# ---- components in two columns ----


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_ellipses_hold_half_and_95_percent_of_a_component(kind):
    X = heaps()
    model = GaussianMixture(2, covariance_type=kind, random_state=0).fit(X)
    _, rings, centers, _ = parts(components(model, X, [2, 0]))
    part = model.marginal([2, 0])
    for k, (name, rows) in enumerate(rings.groupby("class", sort=False)):
        assert name == f"{k}: {100 * model.weights_[k]:.1f} %"
        for level in (0.5, 0.95):
            apart = rows.loc[rows["level"] == level, ["x", "y"]].to_numpy() - part.means_[k]
            distance = np.einsum("ni,ij,nj->n", apart, np.linalg.inv(part.covariances_[k]), apart)
            assert_allclose(distance, chi2.ppf(level, 2))
    assert_allclose(centers[["x", "y"]], model.means_[:, [2, 0]])
    assert centers["label"].tolist() == ["0", "1"]


def test_points_are_rows_with_their_most_probable_component(several):
    X = heaps()
    X[5, 1] = np.nan
    dots = parts(components(several, X, [0, 1]))[0]
    kept = np.delete(np.arange(len(X)), 5)
    assert_allclose(dots[["x", "y"]], X[kept][:, :2])
    assert (
        dots["class"].str.split(":").str[0].astype(int).tolist()
        == several.predict(X[kept]).tolist()
    )


def test_of_many_rows_some_are_drawn(several):
    X = heaps(20_000)
    chart = components(several, X)
    assert len(parts(chart)[0]) == 2_000
    assert title(chart)["subtitle"][1] == "2,000 of 40,000 rows are drawn."
    assert len(json.dumps(chart.to_dict())) < 300_000
    assert chart.to_dict() == components(several, X).to_dict()


def test_without_rows_the_components_are_drawn(several, tmp_path):
    chart = components(several)
    dots, rings, *_ = parts(chart)
    assert len(dots) == 0
    assert len(rings) == several.n_components_ * 2 * 73
    save(chart, tmp_path / "components.svg")


def test_a_mixed_table_is_drawn_in_its_normal_columns(mixed, table):
    _, rings, centers, _ = parts(chart := components(mixed, table))
    assert title(chart)["text"] == "2 components in eruptions and waiting"
    gaussian = next(p for p in mixed.joint_.parameters if hasattr(p, "variance"))
    assert_allclose(centers[["x", "y"]], gaussian.mean)
    wide = rings[rings["level"] == 0.95].groupby("class", sort=False)["x"].agg(np.ptp)
    assert_allclose(wide, 2 * np.sqrt(gaussian.variance[:, 0] * chi2.ppf(0.95, 2)), rtol=1e-3)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_that_depend_on_each_other_have_tilted_ellipses(table, frame):
    numbers = frame(table[["eruptions", "waiting"]].to_dict("list"))
    one = Mixture(MultivariateGaussian(), 2, random_state=0).fit(numbers)
    across = parts(components(one, numbers))[1]
    swapped = parts(components(one, numbers, ["waiting", 0]))[1]
    for ours, other in (("x", "y"), ("y", "x")):
        assert_allclose(across[ours].agg(["min", "max"]), swapped[other].agg(["min", "max"]), 1e-3)
    tilt = across[across["level"] == 0.5].groupby("class")[["x", "y"]].apply(lambda r: r.corr())
    assert (tilt.loc[(slice(None), "x"), "y"] > 0.1).all()


def test_components_of_a_class_have_its_name():
    X, y = heaps(), np.repeat(["a", "b"], 300)
    model = MixtureClassifier(
        GaussianDiscriminantAnalysis(), n_components={"a": 2, "b": 1}, random_state=0, tol=1e-3
    ).fit(X, y)
    dots, _, centers, _ = parts(components(model, X))
    assert centers["label"].tolist() == ["a (0)", "a (1)", "b"]
    assert (dots["class"].str[0] == y).mean() > 0.99


# ---- components in one column ----


def test_curves_are_share_times_density_and_their_sum(several):
    X = heaps()
    bars, total, curves = parts(components(several, X, 1))
    part = several.marginal([1])
    mean, deviation = part.means_[:, 0], np.sqrt(part.covariances_[:, 0, 0])
    for k, (_, curve) in enumerate(curves.groupby("class", sort=False)):
        expected = several.weights_[k] * norm.pdf(curve["x"], mean[k], deviation[k])
        assert_allclose(curve["density"], expected)
        area = np.trapezoid(curve["density"], curve["x"])
        assert_allclose(area, several.weights_[k], rtol=5e-3)
    assert_allclose(np.trapezoid(total["density"], total["x"]), 1, rtol=5e-3)
    assert_allclose((bars["height"] * (bars["to"] - bars["from"])).sum(), 1)
    assert bars["rows"].sum() == len(X)


def test_bars_count_all_rows_and_hold_none(several):
    X = heaps(20_000)
    chart = components(several, X, [0])
    assert parts(chart)[0]["rows"].sum() == len(X)
    assert len(parts(chart)[0]) <= 60
    assert len(json.dumps(chart.to_dict())) < 60_000


def test_a_model_of_one_column_is_a_histogram(tmp_path):
    x = heaps()[:, :1]
    x[3] = np.nan
    chart = components(GaussianMixture(2, random_state=0).fit(x), x)
    assert title(chart)["text"] == "2 components in feature 0"
    assert parts(chart)[0]["rows"].sum() == len(x) - 1
    save(chart, tmp_path / "one.svg")
    save(components(GaussianMixture(2, random_state=0).fit(x)), tmp_path / "none.svg")


def test_a_component_without_rows_is_not_drawn():
    model = GaussianMixture(2, random_state=0).fit(heaps())
    model.weights_ = np.array([1.0, 0.0])
    assert parts(components(model))[1]["class"].nunique() == 1
    assert parts(components(model, columns=0))[1]["class"].nunique() == 1


# ---- what cannot be drawn ----


def test_what_has_no_normal_components_is_refused(mixed, table):
    with pytest.raises(TypeError, match="Expected a mixture, such as GaussianMixture"):
        components(LinearRegression())
    with pytest.raises(TypeError, match="got GaussianNB"):
        components(GaussianNB())
    with pytest.raises(NotFittedError):
        components(GaussianMixture())
    with pytest.raises(ValueError, match="Expected a normal column, got 'kind', of family Cat"):
        components(mixed, table, "kind")
    with pytest.raises(ValueError, match="got 'visits', of family Poisson"):
        components(mixed, table, ["waiting", "visits"])
    counts = Mixture("poisson", 2, random_state=0).fit(table[["visits"]])
    with pytest.raises(ValueError, match="one column or two different ones, got 0"):
        components(counts)


@pytest.mark.parametrize(
    ("match", "X", "options"),
    [
        ("one of the columns", None, {"columns": "weight"}),
        ("one of the columns", None, {"columns": 7}),
        ("one column or two different ones, got 3", None, {"columns": [0, 1, 2]}),
        ("one column or two different ones, got 2", None, {"columns": [0, -3]}),
        ("a number of bins", None, {"bins": 0}),
        ("infinity or none", np.full((3, 3), np.nan), {}),
        ("infinity or none", np.full((3, 3), np.inf), {"columns": 0}),
        ("the model's 3 column", np.zeros((5, 2)), {}),
    ],
)
def test_components_that_cannot_be_drawn_are_refused(several, match, X, options):
    with pytest.raises(ValueError, match=match):
        components(several, X, **options)


# ---- how many ----


def test_a_selection_holds_bic_and_icl_and_marks_the_best(several):
    lines, rule, label = parts(chart := selection(several))
    for name, key in (("BIC", "bic"), ("ICL", "icl")):
        line = lines[lines["class"] == name]
        assert line["components"].tolist() == [1, 2, 4]
        assert_allclose(line["value"], several.selection_[key])
    assert rule["components"].tolist() == [2]
    assert label["label"].tolist() == ["2"]
    assert title(chart)["subtitle"] == ["Chosen by BIC: 2, of 1 to 4."]


def test_rows_held_out_have_a_panel_of_their_own():
    model = GaussianMixture([1, 2, 3], criterion="held_out", random_state=0).fit(heaps(40))
    chart = selection(model)
    held = parts(chart)[3]
    assert_allclose(held["value"], model.selection_["held_out"])
    assert title(chart)["subtitle"][0].startswith("Chosen by rows held out: ")


def test_a_model_that_chose_nothing_has_no_selection():
    with pytest.raises(ValueError, match=r"GaussianMixture of 2\. Fit it with n_components="):
        selection(GaussianMixture(2, random_state=0).fit(heaps(20)))


# ---- the way of EM ----


def test_the_trace_of_em_holds_what_is_left_and_what_steps_gain():
    model = GaussianMixture(3, tol=1e-4, max_iter=200, random_state=0).fit(heaps())
    bound = np.array(model.lower_bounds_)
    left, gain = parts(chart := trace(model))
    assert_allclose(left["height"], bound[-1] - bound[:-1], rtol=1e-6)
    assert gain["iteration"].tolist() == list(range(1, len(bound)))
    assert_allclose(gain["height"], np.diff(bound))
    assert title(chart)["text"] == "The way up"
    assert f"after {len(bound)} steps" in title(chart)["subtitle"][0]


def test_starts_that_ended_lower_are_crosses():
    model = GaussianMixture(4, init_params="random_from_data", n_init=6, tol=1e-6, max_iter=2000)
    model.set_params(random_state=0).fit(heaps())
    objective = np.sort(model.starts_["objective"])
    lower = objective[objective[-1] - objective > model.tol]
    assert len(lower)
    _, crosses, _ = parts(chart := trace(model))
    assert_allclose(np.sort(crosses["objective"]), lower)
    assert title(chart)["subtitle"][1] == (
        f"Of 5 other starts {len(lower)} ended lower, at the crosses."
    )


def test_starts_that_ended_at_the_same_place_are_said_to():
    model = GaussianMixture(2, n_init=3, tol=1e-6, random_state=0).fit(heaps())
    said = title(trace(model))["subtitle"][1]
    assert said == "Of 2 other starts none ended lower by more than tol."


def test_every_mixture_has_a_trace(mixed, tmp_path):
    y = [None] * 596 + [0, 0, 1, 1]
    half = MixtureClassifier(GaussianNB()).fit(np.roll(heaps(), 298, axis=0), y)
    one = GaussianMixture(1).fit(heaps(20))
    for i, model in enumerate((mixed, half, one)):
        save(trace(model), tmp_path / f"{i}.svg")


def test_a_model_without_steps_has_no_trace():
    model = GaussianMixture(2, max_iter=0, random_state=0).fit(heaps(20))
    with pytest.raises(ValueError, match="Expected steps of EM"):
        trace(model)


# ---- files ----


def charts(several):
    X = heaps()
    return {
        "two": (components(several, X), ["feature 0", "component: share", "50.0 %"]),
        "one": (components(several, X, 1), ["feature 1", "share of all rows per unit"]),
        "selection": (selection(several), ["BIC and ICL", "number of components"]),
        "trace": (trace(several), ["best − objective, per row", "gain of a step, per row"]),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two", "one", "selection", "trace"])
def test_pictures_are_saved_in_every_format(several, name, tmp_path):
    chart, words = charts(several)[name]
    for ending in ("png", "svg", "html", "json"):
        save(chart, tmp_path / f"{name}.{ending}")
    assert len((tmp_path / f"{name}.png").read_bytes()) > 10_000
    drawing = (tmp_path / f"{name}.svg").read_text("utf-8")
    assert [word for word in words if word not in drawing] == []
    assert "NaN" not in drawing
    assert "undefined" not in drawing
    page = (tmp_path / f"{name}.html").read_text("utf-8")
    assert f"<title>{title(chart)['text']}</title>" in page


def test_a_name_cannot_break_out_of_the_page(tmp_path):
    X = pd.DataFrame(heaps(30)[:, :2], columns=[BREAKOUT, "b"])
    save(components(GaussianMixture(2, random_state=0).fit(X), X), tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8").lower().count("<script") == 2


def test_a_missing_package_is_named_with_its_remedy(monkeypatch, several):
    monkeypatch.setitem(sys.modules, "altair", None)
    for draw in (components, selection, trace):
        with pytest.raises(ImportError, match=r"altair: pip install 'posterior\[app\]'\.$"):
            draw(several)
