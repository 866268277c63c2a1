"""Pictures of logistic regression: what their charts hold, and that they can be drawn and saved."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from posterior.plots import save
from posterior.plots.coefficients import coefficients
from posterior.plots.look import digits, power_axis
from posterior.plots.path import regularization_path
from posterior.plots.sigmoid import sigmoid
from posterior.plots.trace import trace

pytestmark = pytest.mark.slow  # on the compiled kernels only

BREAKOUT = "</script><script>alert(1)</script>"


@dataclass
class Step:
    value: float
    gradient_norm: float


def steps(n):
    return [Step(100 + 0.5**i, 0.1 * 0.7**i) for i in range(n)]


def parts(chart):
    """The data of a chart's layers or panels."""
    spec = chart.to_dict()
    layers = spec.get("layer") or spec["vconcat"]
    return [pd.DataFrame(spec["datasets"][layer["data"]["name"]]) for layer in layers]


def title(chart):
    return chart.to_dict()["title"]


@pytest.fixture(scope="module")
def ages():
    random = np.random.default_rng(0)
    x = random.normal(60, 15, 4_000)
    return x, random.random(len(x)) < expit(0.15 * x - 9)


@pytest.fixture(scope="module")
def path():
    C = np.logspace(-3, 3, 25)
    coef = np.outer(C / (1 + C), np.linspace(-2, 3, 12))
    return C, coef, [f"column {j}" for j in range(12)]


# ---- the trace ----


def test_a_trace_holds_what_is_left_to_gain_and_the_gradient():
    left, slope = parts(trace(steps(20)))
    assert left["iteration"].tolist() == list(range(19))  # the best is zero away from itself
    assert_allclose(left["height"], 0.5 ** np.arange(19) - 0.5**19, rtol=1e-9)
    assert slope["iteration"].tolist() == list(range(20))
    assert_allclose(slope["height"], 0.1 * 0.7 ** np.arange(20))
    assert_allclose(slope["objective"], 100 + 0.5 ** np.arange(20))


def test_a_trace_is_drawn_on_scales_of_logarithms():
    for panel in trace(steps(20)).to_dict()["vconcat"]:
        scale = panel["encoding"]["y"]["scale"]
        assert scale["type"] == "log" and 0 < scale["domain"][0] < scale["domain"][1]


def test_a_long_trace_is_thinned_and_keeps_its_ends():
    many = [Step(1 / (1 + i), 1 / (1 + i)) for i in range(10_001)]
    left, slope = parts(trace(many))
    assert max(len(left), len(slope)) <= 300
    assert slope["iteration"].iloc[0] == 0 and slope["iteration"].iloc[-1] == 10_000
    assert set(range(10)) <= set(slope["iteration"])
    assert_allclose(slope["height"], 1 / (1 + slope["iteration"]))


def test_a_trace_says_where_its_best_is():
    rising = [Step(3.0, 1.0), Step(1.5, 0.5), Step(2.0, 0.7)]
    assert title(trace(rising))["subtitle"] == ["Best: 1.5, at iteration 1 of 2."]


@pytest.mark.parametrize("few", [[Step(3.0, 0.5)], [Step(3.0, 0.0)], [Step(2.0, 0.0)] * 5])
def test_a_trace_without_anything_to_gain_is_drawn(few, tmp_path):
    save(trace(few), tmp_path / "trace.svg")


def test_a_trace_that_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="its start at least, got none"):
        trace([])
    with pytest.raises(ValueError, match="got nan and 1 at iteration 1"):
        trace([Step(1.0, 1.0), Step(np.nan, 1.0)])


# ---- coefficients ----


def test_coefficients_are_sorted_by_size_with_their_intervals():
    chart = coefficients(["a", "b", "c"], [0.5, -2, 1], [-0.1, -3, 0.5], [1.1, -1, 1.5])
    zero, bars, dots = parts(chart)
    assert zero["zero"].tolist() == [0]
    assert dots["name"].tolist() == ["b", "c", "a"]
    assert dots["value"].tolist() == [-2, 1, 0.5]
    assert bars["low"].tolist() == [-3, 0.5, -0.1] and bars["high"].tolist() == [-1, 1.5, 1.1]
    assert dots["interval"].tolist() == ["does not hold zero"] * 2 + ["holds zero"]
    assert chart.to_dict()["layer"][2]["encoding"]["y"]["sort"] == ["b", "c", "a"]


def test_of_many_coefficients_the_forty_largest_are_drawn():
    values = np.random.default_rng(0).normal(size=1_000)
    chart = coefficients(np.arange(1_000), values)
    dots = parts(chart)[2]
    assert dots["name"].tolist() == [str(j) for j in np.argsort(-np.abs(values))[:40]]
    assert title(chart)["subtitle"][1] == "The 40 largest; 960 smaller ones are left out."


def test_an_interval_without_an_end_has_no_bar():
    chart = coefficients(["a", "b"], [2, 1], [1, -np.inf], [3, np.nan])
    bars = parts(chart)[1]
    assert bars["low"].isna().tolist() == [False, True]
    assert "NaN" not in json.dumps(chart.to_dict()) and "Infinity" not in json.dumps(
        chart.to_dict()
    )


def test_without_intervals_there_is_no_legend(tmp_path):
    chart = coefficients(["a", "b"], [2, 1])
    assert chart.to_dict()["layer"][2]["encoding"]["color"]["legend"] is None
    save(chart, tmp_path / "coefficients.svg")


@pytest.mark.parametrize(
    ("match", "arguments"),
    [
        ("different names, got 'a' twice", (["a", "a"], [1, 2])),
        (r"values of shape \(2,\), one number a name, got shape \(3,\)", (["a", "b"], [1, 2, 3])),
        ("finite values, got nan for 'b'", (["a", "b"], [1, np.nan])),
        ("both ends of the intervals", (["a"], [1], [0])),
        (r"high of shape \(1,\)", (["a"], [1], [0], [2, 3])),
        ("low <= high, got 2 and 0 for 'a'", (["a"], [1], [2], [0])),
    ],
)
def test_coefficients_that_cannot_be_drawn_are_refused(match, arguments):
    with pytest.raises(ValueError, match=match):
        coefficients(*arguments)


# ---- the sigmoid ----


def test_a_sigmoid_holds_the_curve_and_the_shares_of_bins(ages):
    x, y = ages
    curve, dots, *_ = parts(sigmoid(x, y, -9, 0.15))
    assert_allclose(curve["probability"], expit(0.15 * curve["x"] - 9))
    assert curve["x"].min() < x.min() and curve["x"].max() > x.max()
    edges = np.histogram_bin_edges(x, 25)
    counts, ones = np.histogram(x, edges)[0], np.histogram(x[y], edges)[0]
    assert dots["rows"].tolist() == counts[counts > 0].tolist()
    assert_allclose(dots["share"], (ones / np.maximum(counts, 1))[counts > 0])
    assert_allclose(dots["mean"] @ dots["rows"], x.sum())
    assert ((dots["from"] <= dots["mean"]) & (dots["mean"] <= dots["to"])).all()


def test_no_row_is_in_a_sigmoid(ages):
    x, y = ages
    text = json.dumps(sigmoid(x, y, -9, 0.15).to_dict())
    extremes = {x.min(), x.max()}  # they bound the bins, or are alone in one
    assert len(text) < 30_000
    assert sum(repr(float(v)) in text for v in x if v not in extremes) <= 2


def test_the_boundary_is_ruled_in_the_picture_and_named_outside_it(ages):
    inside = sigmoid(*ages, -9, 0.15)
    assert_allclose(parts(inside)[2]["boundary"], [60])
    assert parts(inside)[2]["label"].tolist() == ["60"]
    outside = sigmoid(*ages, 9, 0.15)
    assert len(parts(outside)) == 2
    assert title(outside)["subtitle"][1] == "Outside the picture: probability ½ at −60."
    flat = sigmoid(*ages, 1, 0)
    assert len(parts(flat)) == 2 and len(title(flat)["subtitle"]) == 1


def test_words_of_a_sigmoid_are_those_given(ages):
    chart = sigmoid(*ages, -9, 0.15, name="age", answer="disease")
    assert title(chart)["text"] == "P(disease), by age"
    encoding = chart.to_dict()["layer"][0]["encoding"]
    assert encoding["x"]["axis"]["title"] == "age"
    assert encoding["y"]["axis"]["title"] == "P(disease)"


def test_missing_cells_and_one_value_are_drawn(ages, tmp_path):
    x, y = ages
    holes = np.concatenate([x, np.full(10, np.nan)])
    answers = np.concatenate([y, np.ones(10)])
    assert parts(sigmoid(holes, answers, -9, 0.15))[1].equals(parts(sigmoid(x, y, -9, 0.15))[1])
    save(sigmoid([3.0, 3.0], [0, 1], 0, 1), tmp_path / "one.svg")


@pytest.mark.parametrize(
    ("match", "arguments", "options"),
    [
        ("Give one column", ([[1.0], [2.0]], [0, 1], 0, 1), {}),
        ("Give one column", ([1.0, 2.0], [0, 1, 1], 0, 1), {}),
        ("zeros and ones in y, got 2", ([1.0, 2.0], [0, 2], 0, 1), {}),
        ("got infinity", ([1.0, np.inf], [0, 1], 0, 1), {}),
        ("got none", ([np.nan], [1], 0, 1), {}),
        ("finite intercept and slope", ([1.0], [1], np.nan, 1), {}),
        ("number of bins", ([1.0], [1], 0, 1), {"bins": 0}),
    ],
)
def test_a_sigmoid_that_cannot_be_drawn_is_refused(match, arguments, options):
    with pytest.raises(ValueError, match=match):
        sigmoid(*arguments, **options)


# ---- the path ----


def test_a_path_holds_a_line_for_each_coefficient(path):
    _, coef, names = path
    zero, rest, named, best, label = parts(regularization_path(*path, best=1.0))
    assert zero["zero"].tolist() == [0]
    lines = pd.concat([rest, named]).set_index(["class", "C"])["coefficient"]
    assert len(lines) == coef.size
    for j, name in enumerate(names):
        assert_allclose(lines[name].sort_index(), coef[:, j])
    assert named["class"].unique().tolist() == [names[j] for j in (11, 10, 9, 0, 8, 1, 7)]
    assert best["best"].tolist() == [1.0] and label["label"].tolist() == ["best C = 1"]


def test_a_path_may_come_in_any_order_and_without_names(path):
    C, coef, _ = path
    order = np.random.default_rng(0).permutation(len(C))
    one, other = regularization_path(C, coef), regularization_path(C[order], coef[order])
    assert one.to_dict() == other.to_dict()
    assert parts(one)[2]["class"].iloc[0] == "feature 11"


def test_a_path_is_drawn_over_the_logarithm_of_c(path):
    x = regularization_path(*path).to_dict()["layer"][1]["encoding"]["x"]
    assert x["scale"]["type"] == "log"
    assert_allclose(x["scale"]["domain"], [1e-3, 1e3])
    assert_allclose(x["axis"]["values"], 10.0 ** np.arange(-3, 4))


def test_of_a_wide_path_a_hundred_lines_are_drawn():
    coef = np.random.default_rng(0).normal(size=(4, 500))
    chart = regularization_path([1, 10, 100, 1000], coef)
    assert sum(len(part) for part in parts(chart)[1:]) == 400
    assert title(chart)["subtitle"][1] == "The 100 largest; 400 are left out."


def test_coefficients_that_stay_at_zero_have_no_name(path, tmp_path):
    C = path[0]
    chart = regularization_path(C, np.outer(C, [0.0, 1.0, 0.0]), ["a", "b", "c"])
    assert parts(chart)[2]["class"].unique().tolist() == ["b"]
    save(regularization_path(C, np.zeros((len(C), 2))), tmp_path / "zero.svg")


@pytest.mark.parametrize(
    ("match", "arguments", "options"),
    [
        ("two or more values of C", ([1.0], [[1.0]]), {}),
        ("positive, finite values of C, got 0", ([0.0, 1.0], [[1.0], [2.0]]), {}),
        ("different values of C", ([1.0, 1.0], [[1.0], [2.0]]), {}),
        (r"shape \(2, d\), a row for each C", ([1.0, 2.0], [[1.0, 2.0]]), {}),
        ("finite coefficients", ([1.0, 2.0], [[1.0], [np.nan]]), {}),
        ("Expected 1 different names, got 2", ([1.0, 2.0], [[1.0], [2.0]], ["a", "b"]), {}),
        ("best C between 1 and 2, got 3", ([1.0, 2.0], [[1.0], [2.0]]), {"best": 3}),
    ],
)
def test_a_path_that_cannot_be_drawn_is_refused(match, arguments, options):
    with pytest.raises(ValueError, match=match):
        regularization_path(*arguments, **options)


# ---- numbers ----


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (60e6, "60,000,000"),
        (-26.9512, "−26.95"),
        (0, "0"),
        (1.5e-7, "1.5e−7"),
        (-3e12, "−3e12"),
        (0.01, "0.01"),
    ],
)
def test_numbers_are_written_as_people_write_them(value, text):
    assert digits(value) == text


def test_powers_of_ten_are_few_and_inside():
    assert power_axis("", 2e-13, 5e2)["values"] == [1e-12, 1e-9, 1e-6, 1e-3, 1]
    assert power_axis("", 1e-2, 1e2)["values"] == [0.01, 0.1, 1, 10, 100]


# ---- files ----


@pytest.fixture(scope="module")
def charts(ages, path):
    return {
        "trace": (trace(steps(30)), ["objective − its best", "gradient, per row", "1e−4", "0.01"]),
        "coefficients": (
            coefficients(["age", "sex"], [2, -0.1], [1, -1], [3, 1]),
            ["age", "sex", "holds zero"],
        ),
        "sigmoid": (sigmoid(*ages, -9, 0.15, name="age"), ["age", "60", "80%", "#1c62b7"]),
        "path": (regularization_path(*path, best=0.5), ["column 11", "best C = 0.5", "1,000"]),
    }


@pytest.mark.parametrize("name", ["trace", "coefficients", "sigmoid", "path"])
def test_pictures_are_saved_in_every_format(charts, name, tmp_path):
    chart, words = charts[name]
    for ending in ("png", "svg", "html", "json"):
        save(chart, tmp_path / f"{name}.{ending}")
    image = (tmp_path / f"{name}.png").read_bytes()
    assert image.startswith(b"\x89PNG\r\n\x1a\n") and len(image) > 10_000
    width, height = (int.from_bytes(image[a : a + 4], "big") for a in (16, 20))
    assert width > 1000 and height > (200 if name == "coefficients" else 600)
    drawing = (tmp_path / f"{name}.svg").read_text("utf-8")
    assert [word for word in words if word not in drawing] == []
    assert "NaN" not in drawing and "undefined" not in drawing
    page = (tmp_path / f"{name}.html").read_text("utf-8")
    assert f"<title>{title(chart)['text']}</title>" in page
    assert json.loads((tmp_path / f"{name}.json").read_text("utf-8")) == chart.to_dict()


def test_a_name_cannot_break_out_of_the_page(ages, path, tmp_path):
    C, coef, _ = path
    for chart in (
        coefficients([BREAKOUT], [1]),
        sigmoid(*ages, -9, 0.15, name=BREAKOUT, answer=BREAKOUT),
        regularization_path(C, coef[:, :1], [BREAKOUT]),
    ):
        save(chart, tmp_path / "page.html")
        assert (tmp_path / "page.html").read_text("utf-8").lower().count("<script") == 2


def test_a_missing_package_is_named_with_its_remedy(monkeypatch, ages, path):
    monkeypatch.setitem(sys.modules, "altair", None)
    for draw in (
        lambda: trace(steps(3)),
        lambda: coefficients(["a"], [1]),
        lambda: sigmoid(*ages, -9, 0.15),
        lambda: regularization_path(*path),
    ):
        with pytest.raises(ImportError, match=r"altair: pip install 'posterior\[app\]'\.$"):
            draw()
