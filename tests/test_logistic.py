"""Logistic regression as users of scikit-learn meet it."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, sparse
from sklearn import linear_model
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning

from posterior import LogisticRegression, LogisticRegressionCV, threads

SMOOTH = ["auto", "lbfgs", "newton-cg", "newton-cholesky", "sag", "saga"]


def scaled(load):
    X, y = load(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.fixture(scope="module", params=["iris", "cancer"])
def data(request):
    return scaled({"iris": load_iris, "cancer": load_breast_cancer}[request.param])


def reference(X, y, **settings):
    """scikit-learn's own, to the last digits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return linear_model.LogisticRegression(
            solver="newton-cholesky", tol=1e-12, max_iter=1000, **settings
        ).fit(X, y)


@pytest.mark.parametrize("solver", SMOOTH)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_solvers_agree_with_scikit_learn(data, solver, C):
    X, y = data
    expected = reference(X, y, C=C)
    model = LogisticRegression(C=C, solver=solver, tol=1e-9, max_iter=5000).fit(X, y)
    assert_allclose(model.coef_, expected.coef_, atol=1e-6)
    assert_allclose(model.intercept_, expected.intercept_, atol=1e-6)
    assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-7)
    assert_array_equal(model.predict(X), expected.predict(X))


@pytest.mark.parametrize("ratio", [0.3, 1.0])
@pytest.mark.parametrize("C", [0.05, 1.0])
def test_lasso_and_elastic_net_agree_with_scikit_learn(data, ratio, C):
    X, y = data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = linear_model.LogisticRegression(
            solver="saga", C=C, l1_ratio=ratio, tol=1e-10, max_iter=50_000
        ).fit(X, y)
    model = LogisticRegression(C=C, l1_ratio=ratio, tol=1e-8).fit(X, y)
    assert model.solver_ == "ProximalNewton"

    def objective(m):
        log_proba = m.predict_log_proba(X)[np.arange(len(y)), y]
        penalty = ratio * np.abs(m.coef_).sum() + (1 - ratio) / 2 * (m.coef_**2).sum()
        return penalty / C - log_proba.sum()

    assert objective(model) <= objective(expected) * (1 + 1e-9)
    assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=5e-3)  # saga is slow
    assert ratio < 1 or (model.coef_ == 0).any()


@pytest.mark.parametrize(
    "make", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_matrix]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_forms_of_input(data, make, dtype):
    X, y = data
    X = np.round(10 * X).astype(dtype)
    expected = reference(X.astype(float), y)
    model = LogisticRegression(tol=1e-9).fit(make(X), y)
    assert model.coef_.dtype == (np.float32 if dtype == np.float32 else np.float64)
    rounding = 1e-5 if dtype == np.float32 else 1e-6
    assert_allclose(model.coef_, expected.coef_, atol=rounding)
    assert_allclose(model.predict_proba(make(X)), expected.predict_proba(X), atol=rounding)


def test_weights_are_rows(data):
    X, y = data
    weight = np.arange(len(y)) % 3
    twice = np.repeat(np.arange(len(y)), weight)
    a = LogisticRegression(tol=1e-10).fit(X, y, weight)
    b = LogisticRegression(tol=1e-10).fit(X[twice], y[twice])
    assert_allclose(a.coef_, b.coef_, atol=1e-9)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0}])
def test_class_weights(data, class_weight):
    X, y = data
    expected = reference(X, y, class_weight=class_weight)
    model = LogisticRegression(class_weight=class_weight, tol=1e-9).fit(X, y)
    assert_allclose(model.coef_, expected.coef_, atol=1e-6)


def test_an_offset_is_a_column_of_coefficient_one():
    X, y = scaled(load_breast_cancer)
    known = 0.7 * X[:, 3]
    model = LogisticRegression(C=np.inf, tol=1e-9).fit(X[:, :3], y, offset=known)
    free = LogisticRegression(C=np.inf, tol=1e-9).fit(X[:, :4], y)
    again = LogisticRegression(C=np.inf, tol=1e-9).fit(
        X[:, :3], y, offset=free.coef_[0, 3] * X[:, 3]
    )
    assert_allclose(again.coef_[0], free.coef_[0, :3], atol=1e-6)
    assert not np.allclose(model.coef_, again.coef_, atol=1e-3)
    with pytest.raises(ValueError, match=r"Expected offsets of shape \(569, 1\)"):
        LogisticRegression().fit(X, y, offset=np.zeros((569, 2)))


def test_means_of_any_size_change_nothing_but_the_intercept(data):
    X, y = data
    expected = LogisticRegression(tol=1e-9).fit(X, y)
    for solver in ("auto", "lbfgs", "newton-cg"):
        model = LogisticRegression(tol=1e-9, solver=solver, max_iter=1000).fit(X + 1e6, y)
        assert_allclose(model.coef_, expected.coef_, atol=1e-6)
        assert_allclose(model.predict_proba(X + 1e6), expected.predict_proba(X), atol=1e-6)


def test_the_number_of_threads_changes_no_bit():
    random = np.random.default_rng(0)
    X = random.normal(size=(60_000, 20))
    y = (X[:, 0] + random.normal(size=len(X)) > 0).astype(int) + (X[:, 1] > 1)
    fits = []
    for n in (1, 2, 3):
        with threads(n):
            fits.append(LogisticRegression().fit(X, y))
    for other in fits[1:]:
        assert_array_equal(fits[0].coef_, other.coef_)
        assert_array_equal(fits[0].intercept_, other.intercept_)


def test_reasons_add_up_to_the_log_odds(data):
    X, y = data
    model = LogisticRegression().fit(X, y)
    evidence = model.evidence(X[:5])
    log_joint = evidence.log_joint()
    log_joint -= log_joint.max(axis=1, keepdims=True)
    proba = np.exp(log_joint)
    assert_allclose(proba / proba.sum(axis=1, keepdims=True), model.predict_proba(X[:5]))
    explanation = model.explain(X[:1])
    p = model.predict_proba(X[:1])[0]
    assert explanation.log_odds == pytest.approx(np.log(np.sort(p)[-1] / np.sort(p)[-2]))
    assert "log-odds" in str(explanation)


def test_the_trace_falls_and_the_choice_is_reported(data):
    X, y = data
    model = LogisticRegression(solver="lbfgs").fit(X, y)
    values = [step.value for step in model.trace_]
    assert (np.diff(values) <= 1e-12 * values[0]).all()
    assert len(values) == model.n_iter_[0] + 1
    assert model.solver_ == "QuasiNewton"
    assert LogisticRegression().fit(X, y).solver_ == "Newton"


def test_a_warm_start_begins_where_the_last_fit_ended(data):
    X, y = data
    for solver in SMOOTH:
        model = LogisticRegression(solver=solver, warm_start=True, max_iter=2000).fit(X, y)
        assert model.fit(X, y).n_iter_[0] <= 1


def test_too_few_iterations_are_named(data):
    X, y = data
    with pytest.warns(ConvergenceWarning, match="After 2 iterations the gradient per row is"):
        model = LogisticRegression(max_iter=2, solver="lbfgs").fit(X, y)
    assert model.n_iter_[0] == 2


def test_exclusive_or_needs_an_interaction():
    """Lecture 4: no line parts the classes; their product does."""
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    assert 0.5 <= LogisticRegression(C=np.inf).fit(X, y).score(X, y) <= 0.75
    crossed = np.column_stack([X, X[:, 0] * X[:, 1]])
    assert LogisticRegression(C=1000.0, max_iter=1000).fit(crossed, y).score(crossed, y) == 1


def test_separated_classes_end_in_finite_numbers():
    X = np.arange(20.0)[:, None]
    y = (X[:, 0] > 9).astype(int)
    for solver in SMOOTH:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = LogisticRegression(C=np.inf, solver=solver).fit(X, y)
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(model.predict_log_proba(X)).all()
        assert model.score(X, y) == 1


def test_bad_input_leaves_the_model_as_it_was(data):
    X, y = data
    model = LogisticRegression().fit(X, y)
    before = model.coef_.copy()
    bad = X.copy()
    bad[7, 2] = np.nan
    for call, words in (
        (lambda: model.fit(bad, y), r"NaN, first in row 7, column 2"),
        (lambda: model.fit(X, np.zeros(len(X))), "only one class: 0"),
        (lambda: model.fit(X, y[:-1]), "inconsistent numbers"),
        (lambda: model.predict(bad), r"NaN, first in row 7, column 2"),
        (lambda: model.predict(sparse.csr_array(bad)), r"NaN, first in row 7, column 2"),
        (lambda: model.set_params(solver="magic").fit(X, y), "solver"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
        assert_array_equal(model.coef_, before)


class Recorder:
    """A callback of scikit-learn that remembers how well each iteration did."""

    def __init__(self):
        self.scores, self.open = [], 0

    def setup(self, estimator, context):
        self.open += 1

    def teardown(self, estimator, context):
        self.open -= 1

    def on_fit_task_begin(self, estimator, context, **told):
        self.open += 1

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None, **told):
        self.open -= 1
        if fitted_estimator is not None:
            self.scores.append(fitted_estimator.score(X, y))


@pytest.mark.parametrize("solver", SMOOTH)
def test_callbacks_are_told_of_every_iteration(data, solver):
    X, y = data
    recorder = Recorder()
    model = LogisticRegression(solver=solver, max_iter=2000).set_callbacks(recorder).fit(X, y)
    assert recorder.open == 0
    assert len(recorder.scores) == model.n_iter_[0] + 1  # and one for the whole
    assert recorder.scores[-1] == model.score(X, y)


def test_cross_validated_paths_agree_with_scikit_learn(data):
    X, y = data
    Cs = [0.01, 0.1, 1.0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = linear_model.LogisticRegressionCV(
            Cs=Cs,
            l1_ratios=(0.0,),
            scoring="neg_log_loss",
            solver="newton-cholesky",
            tol=1e-10,
            use_legacy_attributes=False,
        ).fit(X, y)
    model = LogisticRegressionCV(Cs=Cs, tol=1e-9).fit(X, y)
    assert model.C_ == expected.C_
    assert_allclose(model.coef_, expected.coef_, atol=1e-5)
    assert_allclose(model.scores_, expected.scores_, atol=1e-6)
    assert_allclose(model.coefs_paths_, expected.coefs_paths_, atol=1e-4)
    assert model.score(X, y) == pytest.approx(expected.score(X, y), abs=1e-6)


def test_cross_validation_chooses_an_elastic_net():
    X, y = scaled(load_wine)
    model = LogisticRegressionCV(Cs=[0.05, 0.5], l1_ratios=(0.0, 0.5, 1.0)).fit(X, y)
    assert model.scores_.shape == (5, 3, 2)
    i, j = np.unravel_index(model.scores_.mean(axis=0).argmax(), (3, 2))
    assert (model.l1_ratio_, model.C_) == (model.l1_ratios_[i], model.Cs_[j])
    legacy = LogisticRegressionCV(Cs=[0.5], use_legacy_attributes=True).fit(X, y)
    assert set(legacy.scores_) == {0, 1, 2}
    assert legacy.C_.shape == (3,)


def test_a_mixed_table_is_encoded_by_name():
    import pandas as pd
    import polars as pl

    table = {
        "size": [1.0, 2.0, None, 4.0, 5.0, 6.0],
        "color": ["red", "blue", "red", None, "green", "blue"],
        "sold": [True, False, True, True, False, False],
    }
    y = ["a", "a", "b", "b", "a", "b"]
    model = LogisticRegression().fit(pd.DataFrame(table), y)
    evidence = model.evidence(pd.DataFrame(table))
    names = ["size", "size is missing", "color=green", "color=red", "color is missing", "sold=True"]
    assert evidence.feature_names.tolist() == names
    assert model.coef_.shape == (1, 6)
    by_hand = np.array(
        [
            [1.0, 0, 0, 1, 0, 1],
            [2.0, 0, 0, 0, 0, 0],
            [3.6, 1, 0, 1, 0, 1],
            [4.0, 0, 0, 0, 1, 1],
            [5.0, 0, 1, 0, 0, 0],
            [6.0, 0, 0, 0, 0, 0],
        ]
    )
    expected = LogisticRegression().fit(by_hand, y)
    assert_allclose(model.coef_, expected.coef_, atol=1e-6)
    other = LogisticRegression().fit(pl.DataFrame(table), y)
    assert_allclose(other.predict_proba(pl.DataFrame(table)), expected.predict_proba(by_hand))
    unseen = pd.DataFrame({"size": [2.0], "color": ["pink"], "sold": [False]})
    assert_allclose(
        model.predict_proba(unseen), expected.predict_proba([[2.0, 0, 0, 0, 1, 0]]), atol=1e-6
    )
    assert "color=red" in str(model.explain(pd.DataFrame(table)[:1]))
    with pytest.raises(ValueError, match="6 features"):
        model.predict(by_hand)
    rows = pd.DataFrame(table).astype(object)
    assert_array_equal(model.predict_proba(rows.to_numpy()), model.predict_proba(rows))


def test_a_missing_cell_counts_as_the_mean_and_says_nothing():
    import pandas as pd

    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "x": random.normal(3, 1, 90),
            "z": random.normal(size=90),
            "k": random.choice(["u", "v", "w"], 90),
        }
    )
    y, weight = random.integers(0, 3, 90), random.random(90)
    share = [weight[table["k"] == level].sum() / weight.sum() for level in "vw"]
    mean = [np.average(table["x"], weights=weight), np.average(table["z"], weights=weight), *share]
    for asked, filled in (
        ({"x": [None], "z": [1.0], "k": ["v"]}, [mean[0], 1.0, 1.0, 0.0]),
        ({"x": [2.0], "z": [1.0], "k": [None]}, [2.0, 1.0, *share]),
        ({"x": [2.0], "z": [1.0], "k": ["never seen"]}, [2.0, 1.0, *share]),
        ({"x": [None], "z": [None], "k": [None]}, mean),
    ):
        row = pd.DataFrame(asked).astype({"x": float, "z": float})
        for model in (LogisticRegression(), LogisticRegressionCV(Cs=[1.0])):
            model.fit(table, y, weight)
            score = model.intercept_ + model.coef_ @ filled
            assert_allclose(model.decision_function(row)[0], score, atol=1e-12)
            evidence = model.evidence(row)
            assert_allclose(evidence.log_joint()[0], score, atol=1e-12)
            gone = np.isnan(np.repeat([[asked["x"][0], asked["z"][0]]], 1, 0).astype(float))[0]
            assert (evidence.terms[0][:, :2][:, gone] == 0).all()
        low, high = LogisticRegression().fit(table, y).predict_interval(row)
        assert ((0 < low) & (low < high) & (high < 1)).all()


def test_gaps_in_arrays_are_refused_with_the_way_to_answer_them():
    X, y = scaled(load_iris)
    gaps = X.copy()
    gaps[::2, 1] = gaps[1::3, 2] = gaps[7] = np.nan
    filled = np.where(np.isnan(gaps), X.mean(axis=0), gaps)
    model = LogisticRegression().fit(pd.DataFrame(X), y)
    answers = model.predict_proba(pd.DataFrame(gaps))
    assert_allclose(answers, model.predict_proba(filled), atol=1e-12)
    for call in (lambda: LogisticRegression().fit(gaps, y), lambda: model.predict(gaps)):
        with pytest.raises(
            ValueError, match=r"row 0, column 1.* or give the rows as a frame, whos"
        ):
            call()
    with pytest.raises(ValueError, match="all its cells are missing"):
        LogisticRegression().fit(pd.DataFrame({"x": [None, None], "k": ["u", "v"]}), [0, 1])


def test_summary_of_a_stored_model_says_what_is_missing(data):
    import pickle

    X, y = data
    model = LogisticRegression().fit(X, y)
    assert "Log odds of" in str(model.summary())
    stored = pickle.loads(pickle.dumps(model))
    assert_array_equal(stored.predict(X), model.predict(X))
    with pytest.raises(ValueError, match=r"does not keep them\. Fit it again"):
        stored.summary()


@pytest.mark.parametrize(("step", "tol"), [(0.1, 1e-4), (3.0, 0.0)])
def test_steps_that_are_too_long_are_told_to_be_shorter(step, tol):
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = LogisticRegression(solver="gradient-ascent", step=step, tol=tol, max_iter=300)
    words = f"step={step:g} is too long. Lower it, say to {step / 10:g}"
    with pytest.warns(ConvergenceWarning, match=words):
        model.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(step=1e-3, tol=0.0).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        model.set_params(step=1e-5, tol=1e-9).fit(X, y)


def test_separation_is_named_and_firth_is_finite():
    import pandas as pd

    from posterior import DegenerateWarning

    random = np.random.default_rng(0)
    table = pd.DataFrame({"noise": random.normal(size=40), "dose": np.arange(40.0)})
    y = np.where(table["dose"] > 19.5, "cured", "ill")
    with pytest.warns(DegenerateWarning, match=r"separated \(complete\) by column\(s\) dose"):
        LogisticRegression(C=np.inf).fit(table, y)
    model = LogisticRegression(firth=True).fit(table, y)
    lines = model.summary()
    assert np.isfinite(lines.coefficients["coefficient"]).all()
    assert lines.coefficients["feature"].tolist() == ["noise", "dose", "intercept"]
    assert (lines.coefficients["low"] < lines.coefficients["high"]).all()
    iris = LogisticRegression(firth=True).fit(*load_iris(return_X_y=True)).summary()
    assert np.isfinite(iris.coefficients["low"]).all()
    assert iris.coefficients["class"].tolist() == ["1"] * 5 + ["2"] * 5


def test_leaving_a_row_out_is_close_to_a_refit():
    X, y = scaled(load_iris)
    quick = LogisticRegression().leave_one_out(X, y)
    slow = np.empty(len(y))
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        model = LogisticRegression(tol=1e-6).fit(X[others], y[others])
        slow[i] = -model.predict_log_proba(X[i : i + 1])[0, y[i]]
    assert quick.log_loss == pytest.approx(slow.mean(), rel=0.01)


def test_intervals_hold_the_probability(data):
    X, y = data
    model = LogisticRegression().fit(X, y)
    low, high = model.predict_interval(X)
    proba = model.predict_proba(X)
    assert (low <= proba).all() and (proba <= high).all()
    assert (0 <= low).all() and (high <= 1).all()
    narrow = model.predict_interval(X, level=0.5)
    assert (narrow[0] >= low).all() and (narrow[1] <= high).all()


def word_counts(n=400, d=60, seed=0):
    random = np.random.default_rng(seed)
    y = random.integers(2, size=n)
    rate = np.exp(random.normal(-1, 1, d) + 0.7 * np.outer(y, random.normal(size=d)))
    return random.poisson(rate).astype(float), y


def test_log_count_ratios_are_those_of_naive_bayes():
    from posterior import MultinomialNB
    from posterior.preprocessing import LogCountRatio

    X, y = word_counts()
    bayes = MultinomialNB().fit(X, y)
    ratio = LogCountRatio().fit(X, y)
    assert_allclose(ratio.ratio_, bayes.feature_log_prob_[1] - bayes.feature_log_prob_[0])
    assert_allclose(ratio.transform(X), X * ratio.ratio_)
    assert_allclose(ratio.transform(sparse.csr_array(X)).toarray(), X * ratio.ratio_)
    # a coefficient of one each is naive Bayes
    log_odds = ratio.transform(X).sum(axis=1) + np.log(y.mean() / (1 - y.mean()))
    assert_allclose(log_odds, np.diff(bayes.predict_joint_log_proba(X))[:, 0])
    for bad, words in ((-X, "Negative values"), (X, "two classes, got 3")):
        with pytest.raises(ValueError, match=words):
            LogCountRatio().fit(bad, y if words[0] == "N" else np.arange(len(y)) % 3)


@pytest.mark.parametrize("name", ["MultinomialNB", "BernoulliNB"])
def test_a_fit_can_begin_at_naive_bayes(name):
    import posterior

    X, y = word_counts()
    X = X if name == "MultinomialNB" else (X > 0).astype(float)
    bayes = getattr(posterior, name)().fit(X, y)
    model = LogisticRegression().begin_at(bayes)
    assert_allclose(model.predict_proba(X), bayes.predict_proba(X), atol=1e-9)
    assert_allclose(
        model.set_params(tol=1e-8).fit(X, y).coef_,
        LogisticRegression(tol=1e-8).fit(X, y).coef_,
        atol=1e-6,
    )
    with pytest.raises(TypeError, match="not linear"):
        LogisticRegression().begin_at(posterior.GaussianNB().fit(X, y))


def frame_and_classes(n=400, seed=0):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n, 3)), columns=["age", "dose", "weight"])
    y = (X @ [1.0, -0.5, 0.2] + 0.3 + random.logistic(size=n) > 0).astype(int)
    return X, y


def test_normal_priors_of_single_coefficients_are_those_of_the_textbook():
    X, y = frame_and_classes()
    prior = {"age": (0.4, 0.1), "intercept": (-1.0, 0.5)}
    model = LogisticRegression(C=2.0, tol=1e-8, prior=prior).fit(X, y)

    def minus_log_posterior(b):
        z = X.to_numpy() @ b[:3] + b[3]
        known = ((b[0] - 0.4) / 0.1) ** 2 + ((b[3] + 1.0) / 0.5) ** 2
        return (np.logaddexp(0, z) - y * z).sum() + 0.5 * (known + (b[1:3] ** 2).sum() / 2.0)

    best = optimize.minimize(minus_log_posterior, np.zeros(4), tol=1e-12).x
    assert_allclose(np.append(model.coef_, model.intercept_), best, atol=1e-5)


def test_a_narrow_prior_settles_a_coefficient_and_a_wide_one_says_nothing():
    X, y = frame_and_classes()
    narrow = LogisticRegression(C=np.inf, prior={"dose": (2.0, 1e-6)}).fit(X, y)
    assert_allclose(narrow.coef_[0, 1], 2.0, atol=1e-6)
    settings = {"C": np.inf, "tol": 1e-9}
    wide = LogisticRegression(prior={"dose": (2.0, 1e6)}, **settings).fit(X, y)
    assert_allclose(wide.coef_, LogisticRegression(**settings).fit(X, y).coef_, rtol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prior": {"height": (0, 1)}}, "got 'height'"),
        ({"prior": {"age": (0, -1)}}, r"standard deviation above zero\), got \(0, -1\) for 'age'"),
        ({"prior": {"age": (0, 1)}, "firth": True}, "firth=True or prior="),
    ],
)
def test_priors_that_make_no_sense_are_refused(settings, message):
    X, y = frame_and_classes()
    with pytest.raises(ValueError, match=message):
        LogisticRegression(**settings).fit(X, y)
    with pytest.raises(ValueError, match="two classes for prior="):
        LogisticRegression(prior={"age": (0, 1)}).fit(X, np.arange(len(X)) % 3)


def test_storing_a_model_leaves_the_rows_with_the_one_in_memory(data):
    X, y = data
    model = LogisticRegression().fit(X, y)
    stored = pickle.loads(pickle.dumps(model))
    assert stored.fitted_.minimum is None
    assert str(model.summary()) == str(LogisticRegression().fit(X, y).summary())
    with pytest.raises(ValueError, match="does not keep them"):
        stored.summary()


def test_a_call_that_fails_changes_nothing(data):
    X, y = data
    model = LogisticRegression().fit(X, y)
    before = model.fitted_
    with pytest.raises(ValueError, match="contains NaN"):
        model.fit(np.full_like(X, np.nan), y)
    with pytest.raises(ValueError, match="features, but LogisticRegression is expecting"):
        model.partial_fit(X[:, :1], y)
    assert model.fitted_ is before


def test_a_bad_cell_is_named_by_the_number_it_became():
    rows = pd.DataFrame({"kind": list("abc") * 4, "size": np.arange(12.0)})
    rows.loc[3, "size"] = np.inf
    with pytest.raises(ValueError, match=r"infinity, first in row 3, .*'?size"):
        LogisticRegression().fit(rows, [0, 1] * 6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_model_that_cross_validation_chose_is_that_of_its_settings(n_classes):
    random = np.random.default_rng(0)
    y = np.arange(90) % n_classes
    X = random.normal(size=(90, 4)) + y[:, None]
    chosen = LogisticRegressionCV(Cs=[0.1, 1.0], l1_ratios=(0.0,), cv=3).fit(X, y)
    plain = LogisticRegression(C=chosen.C_).fit(X, y)
    assert_array_equal(chosen.coef_, plain.coef_)
    assert_array_equal(chosen.intercept_, plain.intercept_)
