"""Marginal effects, residuals, influence and likelihood-ratio tests of logistic regression."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose
from scipy import sparse, stats
from scipy.special import expit, softmax

from posterior import LogisticRegression, SeparationWarning

pytestmark = pytest.mark.slow  # on the compiled kernels only


def exact(**settings):
    return LogisticRegression(C=np.inf, tol=1e-10, **settings)


def generated(n=300, k=2, seed=0):
    """Columns of different units, one far from zero, and one of zeros and ones."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 3] = X[:, 3] > 0
    y = (X @ rng.normal(size=(k, 4)).T + 2 * rng.gumbel(size=(n, k))).argmax(axis=1)
    return X * [1.0, 10.0, 100.0, 1.0] + [0.0, 0.0, 1000.0, 0.0], y


def logit(X, y, model=sm.Logit):
    return model(y, sm.add_constant(X, prepend=False)).fit(
        disp=0, method="newton", tol=1e-12, maxiter=100
    )


def glm(X, y, **given):
    x = sm.add_constant(X, prepend=False)
    return sm.GLM(y, x, family=sm.families.Binomial(), **given).fit(tol=1e-14)


def titanic(folder):
    table = pd.read_csv(folder / "titanic.csv").dropna(subset=["age"])
    return table[["sex", "age", "fare"]], table["survived"].to_numpy()


# Marginal effects


def assert_same_effects(table, theirs, k=1):
    by_class = theirs.margeff.reshape(-1, k).T.ravel()
    assert_allclose(table["effect"], by_class, rtol=1e-6, atol=1e-12)
    error = np.reshape(theirs.margeff_se, (-1, k)).T.ravel()
    assert_allclose(table["error"], error, rtol=1e-6)
    assert_allclose(table["z"], by_class / error, rtol=1e-6, atol=1e-10)
    bounds = np.reshape(theirs.conf_int(0.1), (-1, 2)) if k == 1 else None
    if bounds is not None:
        assert_allclose(np.column_stack([table["low"], table["high"]]), bounds, rtol=1e-6)
        assert_allclose(table["p"], theirs.pvalues, rtol=1e-5)


@pytest.mark.parametrize(("at", "name"), [("average", "overall"), ("mean", "mean")])
def test_effects_are_those_of_statsmodels(at, name):
    X, y = generated()
    table = exact().fit(X, y).marginal_effects(at, level=0.9)
    assert "class" not in table.columns
    assert_same_effects(table, logit(X, y).get_margeff(at=name))


@pytest.mark.parametrize(("at", "name"), [("average", "overall"), ("mean", "mean")])
def test_effects_on_several_classes_are_those_of_statsmodels(at, name):
    X, y = generated(k=3)
    table = exact().fit(X, y).marginal_effects(at)
    assert table["class"].tolist() == ["0"] * 4 + ["1"] * 4 + ["2"] * 4
    assert_same_effects(table, logit(X, y, sm.MNLogit).get_margeff(at=name), 3)
    assert_allclose(table["effect"].reshape(3, 4).sum(axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize(("at", "name"), [("average", "overall"), ("mean", "mean")])
def test_a_category_of_two_levels_changes_from_one_to_the_other(at, name, shared_data):
    X, y = titanic(shared_data)
    table = exact().fit(X, y).marginal_effects(at, level=0.9)
    assert table["feature"].tolist() == ["sex=male", "age", "fare"]
    numbers = X.assign(sex=(X["sex"] == "male") * 1.0).to_numpy(float)
    assert_same_effects(table, logit(numbers, y).get_margeff(at=name, dummy=True))


def by_hand(X, y, levels):
    """Mean differences of p to the first level, with errors from numeric derivatives."""
    fit = logit(X, y)
    x = sm.add_constant(X, prepend=False)

    def effects(beta):
        none = x.copy()
        none[:, levels] = 0.0
        out = []
        for j in levels:
            one = none.copy()
            one[:, j] = 1.0
            out.append((expit(one @ beta) - expit(none @ beta)).mean())
        return np.array(out)

    steps = 1e-5 * np.eye(len(fit.params))
    J = np.stack([effects(fit.params + s) - effects(fit.params - s) for s in steps], 1) / 2e-5
    return effects(fit.params), np.sqrt((J @ fit.cov_params() @ J.T).diagonal())


def test_a_category_of_several_levels_changes_from_the_first():
    rng = np.random.default_rng(3)
    color, size = rng.choice(["blue", "green", "red"], 400), rng.normal(50, 3, 400)
    y = rng.random(400) < expit((color == "red") + 0.2 * (size - 50))
    table = exact().fit(pd.DataFrame({"size": size, "color": color}), y).marginal_effects()
    assert table["feature"].tolist() == ["size", "color=green", "color=red"]
    X = np.column_stack([size, color == "green", color == "red"]).astype(float)
    effect, error = by_hand(X, y, [1, 2])
    assert_allclose(table["effect"][1:], effect, rtol=1e-6)
    assert_allclose(table["error"][1:], error, rtol=1e-5)
    assert_allclose(table["effect"][0], logit(X, y).get_margeff().margeff[0], rtol=1e-6)


def test_a_missing_number_has_the_effect_of_its_indicator():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(200, 2)), rng.random(200) < 0.4
    gaps = rng.random(200) < 0.3
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(gaps, np.nan, X[:, 1])})
    table = exact().fit(frame, y).marginal_effects(level=0.9)
    assert table["feature"].tolist() == ["a", "b", "b is missing"]
    numbers = np.column_stack([X[:, 0], frame["b"].fillna(frame["b"].mean()), gaps * 1.0])
    assert_same_effects(table, logit(numbers, y).get_margeff(dummy=True))


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("at", ["average", "mean"])
def test_effects_are_the_slopes_of_probabilities(k, at):
    """Under a penalty and with offsets and weights too: by numeric derivatives."""
    X, y = generated(k=k)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    rng = np.random.default_rng(1)
    weight, offset = rng.uniform(0, 2, 300), rng.normal(size=(300, 1 if k == 2 else k))
    model = LogisticRegression(C=0.3, tol=1e-10).fit(X, y, weight, offset=offset)
    found = model.marginal_effects(at)["effect"]
    B, b = (np.vstack([0 * v[:1], v]) if k == 2 else v for v in (model.coef_, model.intercept_))
    b, offset = np.ravel(b), np.column_stack([0 * offset, offset]) if k == 2 else offset
    if at == "mean":
        X, offset = weight @ X / weight.sum(), weight @ offset / weight.sum()
        X, offset, weight = X[None], offset[None], np.ones(1)

    def mean(X):
        return weight @ softmax(X @ B.T + b + offset, axis=1) / weight.sum()

    h = 1e-5 * np.eye(4)
    slopes = np.stack([(mean(X + e) - mean(X - e)) / 2e-5 for e in h], 1)
    assert_allclose(found, (slopes[1:] if k == 2 else slopes).ravel(), atol=1e-8)


@pytest.mark.parametrize("firth", [False, True])
def test_a_row_of_weight_two_is_two_rows_to_effects(firth):
    X, y = generated(100, 3)
    weight = np.arange(100) % 3
    kept = np.repeat(np.arange(100), weight)
    settings = {"C": np.inf, "tol": 1e-10, "firth": firth}
    a = LogisticRegression(**settings).fit(X, y, weight * 1.0).marginal_effects()
    b = LogisticRegression(**settings).fit(X[kept], y[kept]).marginal_effects()
    for name in ("effect", "error"):
        assert_allclose(a[name], b[name], rtol=1e-6, atol=1e-12)


def test_effects_of_sparse_rows_and_rows_far_from_zero_are_the_same():
    X, y = generated()
    dense = exact().fit(X, y).marginal_effects()
    far = exact().fit(X + 1e8 * (np.arange(4) == 0), y).marginal_effects()
    few = exact().fit(sparse.csr_array(X), y).marginal_effects()
    for other, close in ((far, 1e-5), (few, 1e-6)):
        assert_allclose(other["effect"], dense["effect"], rtol=close, atol=1e-12)
        assert_allclose(other["error"], dense["error"], rtol=close)


def test_a_table_elsewhere_has_effects_too(tmp_path):
    X, y = generated()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    there = exact().fit(str(tmp_path / "rows.csv"), "y").marginal_effects()
    here = exact().fit(X, y).marginal_effects()
    assert_allclose(there["effect"], here["effect"], rtol=1e-6, atol=1e-12)
    assert_allclose(there["error"], here["error"], rtol=1e-6)


# Residuals and influence


@pytest.mark.parametrize("kind", ["deviance", "pearson", "response", "working"])
@pytest.mark.parametrize("weighted", [False, True])
def test_residuals_are_those_of_statsmodels(kind, weighted):
    X, y = generated()
    weight = np.random.default_rng(0).uniform(0.1, 3, 300) if weighted else None
    theirs = glm(X, y, var_weights=weight)
    ours = exact().fit(X, y, weight).residuals(kind)
    assert_allclose(ours, getattr(theirs, f"resid_{kind}"), rtol=1e-6)


def test_squares_of_residuals_sum_to_deviance_and_chi2():
    X, y = generated()
    model = exact().fit(X, y)
    theirs = glm(X, y)
    assert_allclose((model.residuals() ** 2).sum(), theirs.deviance)
    assert_allclose((model.residuals("pearson") ** 2).sum(), theirs.pearson_chi2)


def test_residuals_of_several_classes_are_of_each_against_the_rest():
    X, y = generated(k=3)
    model = exact().fit(X, y)
    p, own = model.predict_proba(X), y[:, None] == np.arange(3)
    assert_allclose(model.residuals("response"), own - p, atol=1e-12)
    assert_allclose(model.residuals("pearson"), (own - p) / np.sqrt(p * (1 - p)), rtol=1e-8)
    assert_allclose(model.residuals("working"), (own - p) / (p * (1 - p)), rtol=1e-8)
    deviance = model.residuals()[own]
    assert_allclose((deviance**2).sum(), -2 * logit(X, y, sm.MNLogit).llf)


def test_residuals_of_certain_rows_have_all_their_digits():
    """1 - p would be zero at a score of 60."""
    X, y = np.array([[-60.0], [-1.0], [1.0], [60.0]]), [0, 1, 0, 1]
    model = LogisticRegression(fit_intercept=False, prior={"a": (1.0, 1e-9)}).fit(
        pd.DataFrame(X, columns=["a"]), y
    )
    assert_allclose(model.residuals("pearson")[[0, 3]], [-np.exp(-30), np.exp(-30)], rtol=1e-6)
    assert_allclose(model.residuals("response")[3], np.exp(-60), rtol=1e-6)


def test_influence_is_that_of_statsmodels():
    X, y = generated()
    model = exact().fit(pd.DataFrame(X, columns=list("abcd")), y)
    ours, theirs = model.influence(), glm(X, y).get_influence()
    assert len(ours) == len(y)
    assert_allclose(ours["leverage"], theirs.hat_matrix_diag, rtol=1e-6)
    assert_allclose(ours["leverage"].sum(), 5)
    assert_allclose(ours["standardized residual"], theirs.resid_studentized, rtol=1e-6)
    assert_allclose(ours["Cook's distance"], theirs.cooks_distance[0], rtol=1e-6)
    for j, name in enumerate([*"abcd", "intercept"]):
        assert_allclose(ours[f"dfbetas {name}"], theirs.dfbetas[:, j], rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("C", [np.inf, 1.0])
def test_influence_is_close_to_leaving_the_row_out(C):
    """One step, not all: to a few hundredths of a standard error."""
    X, y = generated()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = LogisticRegression(C=C, tol=1e-10).fit(X, y)
    table, error = model.influence(), model.summary().coefficients["error"]
    for i in np.argsort(table["Cook's distance"])[-5:]:
        rest = np.arange(300) != i
        without = LogisticRegression(C=C, tol=1e-10).fit(X[rest], y[rest])
        change = np.append(model.coef_ - without.coef_, model.intercept_ - without.intercept_)
        step = [table[name][i] for name in table.columns if name.startswith("dfbetas")]
        assert_allclose(step, change / error, atol=0.05)


def test_influence_is_of_two_classes():
    with pytest.raises(ValueError, match="Expected two classes, got 3"):
        exact().fit(*generated(k=3)).influence()


# Likelihood-ratio tests


@pytest.mark.parametrize("k", [2, 3])
def test_the_likelihood_ratio_is_that_of_statsmodels(k):
    X, y = generated(k=k)
    model = sm.Logit if k == 2 else sm.MNLogit
    chi2 = 2 * (logit(X, y, model).llf - logit(X[:, [2, 0]], y, model).llf)
    large, small = exact().fit(X, y), exact().fit(X[:, [2, 0]], y)
    for found in (large.likelihood_ratio_test(small), small.likelihood_ratio_test(large)):
        assert_allclose(found.chi2, chi2, rtol=1e-6)
        assert found.df == 2 * (k - 1)
        assert_allclose(found.p, stats.chi2.sf(chi2, 2 * (k - 1)), rtol=1e-5)
        assert str(found).startswith("likelihood ratio χ² ")


def test_an_intercept_can_be_tested(shared_data):
    X, y = titanic(shared_data)
    found = exact().fit(X, y).likelihood_ratio_test(exact(fit_intercept=False).fit(X, y))
    assert found.df == 1 and found.chi2 > 0


def test_levels_put_together_are_nested(shared_data):
    """A category of two groups of levels is a combination of the levels."""
    table = pd.read_csv(shared_data / "titanic.csv").dropna(subset=["age"])
    y = table["survived"].to_numpy()
    ticket = table["pclass"].map({1: "first", 2: "second", 3: "third"})
    levels = pd.DataFrame({"age": table["age"], "ticket": ticket})
    groups = levels.assign(ticket=ticket.replace("third", "second"))
    assert exact().fit(levels, y).likelihood_ratio_test(exact().fit(groups, y)).df == 1


def test_separated_classes_leave_the_degrees_of_freedom_as_they_are():
    """The information is nearly singular there, the columns are not."""
    X, y = np.column_stack([np.arange(8.0), [7, 6, 8, 6, 7, 8, 6, 7]]), [0, 0, 0, 1, 0, 1, 1, 1]
    with pytest.warns(SeparationWarning):
        large = exact().fit(X, y)
    small = exact().fit(X[:, :1], y)
    found = large.likelihood_ratio_test(small)
    assert found.df == 1
    assert_allclose(found.chi2, (small.residuals() ** 2).sum() - (large.residuals() ** 2).sum())


def test_models_that_cannot_be_compared_are_refused():
    X, y = generated()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = exact().fit(frame, y)
    refused = {
        "got a penalized one": LogisticRegression().fit(frame[["a"]], y),
        "penalized": LogisticRegression(firth=True).fit(frame[["a"]], y),
        "got 300 and 299 rows": exact().fit(frame[["a"]][1:], y[1:]),
        "other classes or weights": exact().fit(frame[["a"]], 1 - y),
        "classes or weights": exact().fit(frame[["a"]], y, np.arange(300) % 2 + 1.0),
        "same y": exact().fit(frame[["a"]], np.array(["no", "yes"])[y]),
        "other offsets": exact().fit(frame[["a"]], y, offset=frame["b"]),
        "do not make up 'e'": exact().fit(frame[["a"]].assign(e=X[:, 0] ** 2), y),
        "two of 5 that say the same": exact().fit(2 * frame, y),
    }
    for said, other in refused.items():
        with pytest.raises(ValueError, match=f"^Expected .*{re.escape(said)}"):
            model.likelihood_ratio_test(other)
    with pytest.raises(TypeError, match="Expected a fitted LogisticRegression, got int"):
        model.likelihood_ratio_test(3)


# Refusals of all


CALLS = {
    "effects": lambda model: model.marginal_effects(),
    "residuals": lambda model: model.residuals(),
    "influence": lambda model: model.influence(),
    "test": lambda model: model.likelihood_ratio_test(model),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_stored_model_has_no_rows_to_look_at(call):
    model = pickle.loads(pickle.dumps(exact().fit(*generated())))
    with pytest.raises(ValueError, match="Expected the rows that the model was fitted to"):
        call(model)


@pytest.mark.parametrize("name", ["effects", "influence"])
def test_selected_coefficients_have_no_errors(name):
    X, y = generated()
    with pytest.raises(ValueError, match="got an L1 penalty"):
        CALLS[name](LogisticRegression(l1_ratio=1.0).fit(X, y))


def test_unknown_places_kinds_and_levels_are_refused():
    model = exact().fit(*generated())
    with pytest.raises(ValueError, match='Expected at="average" or at="mean", got \'median\''):
        model.marginal_effects("median")
    with pytest.raises(ValueError, match="Expected a level between 0 and 1"):
        model.marginal_effects(level=95)
    with pytest.raises(ValueError, match=r"Expected a kind of 'deviance', .*, got 'raw'"):
        model.residuals("raw")
