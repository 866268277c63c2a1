"""Pictures: what their charts hold, and that they can be drawn and saved."""

from __future__ import annotations

import json
import re
import sys
import zlib

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB as PeerGaussianNB

from posterior import GaussianNB, MultinomialNB, NaiveBayes
from posterior.datasets import fish
from posterior.plots import densities, save

pytestmark = pytest.mark.once

BREAKOUT = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def table():
    X, y = fish(20_000)
    return pd.DataFrame({"weight": X[:, 0], "species": np.where(y == 1, "trout", "salmon")})


@pytest.fixture(scope="module")
def model(table):
    return GaussianNB(var_smoothing=0).fit(table[["weight"]], table["species"])


@pytest.fixture(scope="module")
def chart(model, table):
    return densities(model, table, "species", boundaries=[22.95, -26.95])


def layers(chart):
    """The data of the chart's layers: bars, curves, and the rules with their labels."""
    spec = chart.to_dict()
    return [pd.DataFrame(spec["datasets"][layer["data"]["name"]]) for layer in spec["layer"]]


def curve(chart, name):
    points = layers(chart)[1]
    points = points[points["class"] == name]
    return points["x"].to_numpy(), points["density"].to_numpy()


def area(chart, name):
    x, density = curve(chart, name)
    return np.trapezoid(density, x)


# ---- what a chart of densities holds ----


def test_no_row_is_in_the_chart(chart, table):
    text = json.dumps(chart.to_dict())
    assert sum(map(len, layers(chart)[:3])) <= 400
    assert len(text) < 60_000
    extremes = {table["weight"].min(), table["weight"].max()}  # they bound the bins
    assert not [x for x in table["weight"] if x not in extremes and repr(x) in text]


def test_the_chart_does_not_grow_with_the_rows():
    sizes = []
    for n in (2_000, 50_000):
        X, y = fish(n)
        sizes.append(sum(map(len, layers(densities(GaussianNB().fit(X, y), X, y)))))
    assert max(sizes) <= 400


def test_curves_have_the_area_of_their_class(chart, model):
    for name, prior in zip(model.classes_, model.class_prior_, strict=True):
        assert_allclose(area(chart, name), prior, rtol=2e-3)  # what is too flat to see is left out


def test_curves_are_share_times_density(chart, model):
    for k, name in enumerate(model.classes_):
        x, density = curve(chart, name)
        expected = np.exp(model.predict_joint_log_proba(pd.DataFrame({"weight": x})))[:, k]
        assert_allclose(density, expected, rtol=1e-12)


def test_bars_are_the_histogram(chart, table):
    bars = layers(chart)[0]
    edges = np.histogram_bin_edges(table["weight"], 60)
    for name, part in table.groupby("species"):
        counts = np.histogram(part["weight"], edges)[0]
        ours = bars[bars["class"] == name]
        assert ours["rows"].tolist() == counts[counts > 0].tolist()
        assert_allclose(ours["from"], edges[:-1][counts > 0])
        assert_allclose(ours["to"], edges[1:][counts > 0])
        assert_allclose(ours["height"] * np.diff(edges)[0] * len(table), ours["rows"])


def test_the_bars_of_all_classes_have_area_one(chart):
    bars = layers(chart)[0]
    assert_allclose((bars["height"] * (bars["to"] - bars["from"])).sum(), 1)


def test_a_curve_much_narrower_than_the_picture_is_not_missed():
    X = np.concatenate([np.linspace(-1e-3, 1e-3, 500), np.linspace(-500, 500, 500)])[:, None]
    y = np.repeat(["narrow", "wide"], 500)
    chart = densities(GaussianNB(var_smoothing=0).fit(X, y), X, y)
    assert_allclose(area(chart, "narrow"), 0.5, rtol=5e-3)


def test_bins_of_whole_numbers_hold_as_many_numbers_each():
    X = np.tile(np.arange(100), 7)[:, None]
    y = np.arange(700) % 2
    bars = layers(densities(GaussianNB().fit(X, y), X, y, bins=60))[0]
    assert_allclose(bars["to"] - bars["from"], 2)
    assert bars.groupby("from")["rows"].sum().tolist() == [14] * 50


def test_a_boundary_is_ruled_in_the_picture_and_named_outside_it(chart):
    rules = layers(chart)[2]
    assert rules["boundary"].tolist() == [22.95] and rules["label"].tolist() == ["22.95"]
    assert "a boundary at −26.95" in " ".join(chart.to_dict()["title"]["subtitle"])


def test_labels_of_close_boundaries_stand_above_each_other(model, table):
    chart = densities(model, table, "species", boundaries=[23.1, 22.9, 30])
    assert layers(chart)[2]["above"].tolist() == [-6, -20, -6]


def test_without_boundaries_there_are_no_rules(model, table):
    assert len(layers(densities(model, table, "species"))) == 2


def test_words_of_the_table_are_the_words_of_the_picture(chart):
    spec = chart.to_dict()
    encoding = spec["layer"][0]["encoding"]
    assert encoding["x"]["axis"]["title"] == "weight"
    assert encoding["color"]["legend"]["title"] == "species"
    assert encoding["color"]["scale"]["domain"] == ["salmon", "trout"]
    assert spec["title"]["text"] == "weight, by species"


# ---- which input it takes ----


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, lambda X: pl.DataFrame(X)])
def test_arrays_and_frames_give_one_picture(kind, recwarn):
    X, y = fish(500)
    bare, given = X, kind(X)
    one, other = (densities(GaussianNB().fit(T, y), T, y, bins=20) for T in (bare, given))
    for a, b in zip(layers(one), layers(other), strict=True):
        pd.testing.assert_frame_equal(a, b)
    assert not [w for w in recwarn if "feature names" in str(w.message)]


def test_of_several_columns_one_is_drawn_as_if_it_were_alone():
    X, y = fish(2_000)
    other = np.random.default_rng(0).normal(size=(2_000, 2))
    wide = np.hstack([other, X])
    alone = densities(GaussianNB(var_smoothing=0).fit(X, y), X, y)
    among = densities(GaussianNB(var_smoothing=0).fit(wide, y), wide, y, feature=2)
    assert_allclose(layers(among)[1]["density"], layers(alone)[1]["density"], rtol=1e-9)
    assert densities(GaussianNB().fit(wide, y), wide, y, feature=-1).to_dict()["title"]["text"] == (
        "feature 2, by class"
    )


def test_a_column_among_words_is_drawn_by_name():
    X, y = fish(300)
    river = np.where(np.arange(300) % 3 == 0, "Rhine", "Ruhr")
    frame = pd.DataFrame({"river": river, "weight": X[:, 0], "species": y})
    model = NaiveBayes().fit(frame, "species")
    chart = densities(model, frame, "species", feature="weight")
    share = np.exp(model.class_log_prior_)
    assert_allclose([area(chart, "0"), area(chart, "1")], share, rtol=2e-3)


def test_missing_cells_are_not_counted(table, model):
    holes = table.copy()
    holes.loc[::2, "weight"] = np.nan
    bars = layers(densities(model, holes, "species"))[0]
    assert bars["rows"].sum() == len(table) // 2
    assert_allclose((bars["height"] * (bars["to"] - bars["from"])).sum(), 1)


def test_more_classes_than_colors_are_drawn(tmp_path):
    X = np.linspace(0, 1, 300)[:, None]
    y = np.repeat(np.arange(12), 25)
    save(densities(GaussianNB().fit(X, y), X, y), tmp_path / "many.svg")


# ---- what it refuses ----


def refused(error, match, model, X, y, **options):
    with pytest.raises(error, match=match):
        densities(model, X, y, **options)


def test_bad_input_is_refused_with_a_reason(model, table):
    X, y = fish(100)
    fitted, wide = GaussianNB().fit(X, y), np.hstack([X, X])
    refused(NotFittedError, "not fitted", GaussianNB(), X, y)
    refused(TypeError, "generative model", LogisticRegression().fit(X, y), X, y)
    refused(ValueError, "number of bins", fitted, X, y, bins=0)
    refused(ValueError, "rows and columns", fitted, X[:, 0], y)
    refused(ValueError, "model's 1 column", fitted, wide, y)
    refused(ValueError, "one of the columns", fitted, X, y, feature=1)
    refused(ValueError, "one of the columns", model, table, "species", feature="length")
    refused(ValueError, "among the model's classes", fitted, X, y + 1)
    refused(ValueError, "all of it is missing", fitted, X * np.nan, y)
    refused(ValueError, "got infinity", fitted, np.where(X > 30, np.inf, X), y)
    refused(ValueError, "leaves missing cells out", PeerGaussianNB().fit(wide, y), wide, y)
    refused(ValueError, "has no density", MultinomialNB().fit(X, y), X, y)


@pytest.mark.parametrize("package", ["altair", "vl_convert"])
def test_a_missing_package_is_named_with_its_remedy(monkeypatch, tmp_path, model, table, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"{package}: pip install 'posterior\[app\]'\.$"):
        save(densities(model, table, "species"), tmp_path / "fish.html")


# ---- files ----


def test_a_picture_is_large_enough_and_not_blank(chart, tmp_path):
    save(chart, tmp_path / "fish.png")
    image = (tmp_path / "fish.png").read_bytes()
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = (int.from_bytes(image[a : a + 4], "big") for a in (16, 20))
    assert width > 1000 and height > 600
    size = int.from_bytes(image[image.index(b"IDAT") - 4 : image.index(b"IDAT")], "big")
    start = image.index(b"IDAT") + 4
    pixels = zlib.decompressobj().decompress(image[start : start + size])
    assert len(set(pixels)) > 100  # a page of one color has a few


def test_a_drawing_shows_names_and_colors(chart, tmp_path):
    save(chart, tmp_path / "fish.svg")
    drawing = (tmp_path / "fish.svg").read_text("utf-8")
    for text in ("trout", "salmon", "weight", "22.95", "#1c62b7", "#e8820c"):
        assert text in drawing


def test_a_saved_description_is_the_chart(chart, tmp_path):
    save(chart, str(tmp_path / "fish.JSON"))
    assert json.loads((tmp_path / "fish.JSON").read_text("utf-8")) == chart.to_dict()


def test_a_page_needs_no_network(chart, tmp_path):
    save(chart, tmp_path / "fish.html")
    page = (tmp_path / "fish.html").read_text("utf-8")
    assert re.findall(r"<script\b[^>]*>", page, flags=re.IGNORECASE) == ["<script>", "<script>"]
    assert not re.findall(r"<[a-z]+\b[^<>]*\b(?:src|href)=.?https?:", page, flags=re.IGNORECASE)
    assert "vegaEmbed=" in page and "<title>weight, by species</title>" in page


def test_a_name_cannot_break_out_of_the_page(tmp_path):
    X, y = fish(200)
    frame = pd.DataFrame({BREAKOUT: X[:, 0]})
    species = pd.Series(np.where(y == 1, BREAKOUT, "</SCRIPT><!--<script>"), name=BREAKOUT)
    save(densities(GaussianNB().fit(frame, species), frame, species), tmp_path / "fish.html")
    page = (tmp_path / "fish.html").read_text("utf-8")
    assert len(re.findall("</?script", page, flags=re.IGNORECASE)) == 4
    assert "<!--" not in page


@pytest.mark.parametrize("name", ["fish", "fish.pdf", ".png"])
def test_a_format_that_is_not_known_is_refused(chart, tmp_path, name):
    with pytest.raises(ValueError, match=r"ending in \.png, \.svg, \.html or \.json, got"):
        save(chart, tmp_path / name)
