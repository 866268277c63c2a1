"""Missing cells: EM when learning, integrals when answering, and what that is worth."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import StratifiedKFold

from posterior import DegenerateError, DegenerateWarning, GaussianDiscriminantAnalysis
from posterior.families.incomplete import completed

pytestmark = pytest.mark.slow

KINDS = ["own", "shared", "diagonal", "spherical"]
each_kind = pytest.mark.parametrize("kind", KINDS)


def table(n=90, d=4, k=3, seed=0, holes=0.2):
    random = np.random.default_rng(seed)
    y = np.arange(n) % k
    A = np.eye(d) + 0.5 * random.normal(size=(d, d))
    X = random.normal(size=(n, d)) @ A + 2 * random.normal(size=(k, d))[y]
    X[random.random(X.shape) < holes] = np.nan
    return X, y


def covariances(model, k):
    p = model.parameters_.covariance
    return np.broadcast_to(p, (k, *p.shape[1:]))


def observed_log_likelihood(X, y, means, covariance):
    """Of the cells that are there, row by row, by SciPy."""
    total = 0.0
    for x, k in zip(X, y, strict=True):
        o = ~np.isnan(x)
        if o.any():
            part = covariance[k][np.ix_(o, o)]
            total += stats.multivariate_normal(means[k][o], part).logpdf(x[o])
    return total


def textbook_em(X, y, kind, steps):
    """Ghahramani and Jordan 1994, row by row: no sums, no patterns, no factors."""
    k, d = y.max() + 1, X.shape[1]
    means = np.array([np.nanmean(X[y == g], axis=0) for g in range(k)])
    covariance = np.array([np.diag(np.nanvar(X[y == g], axis=0)) for g in range(k)])
    for _ in range(steps):
        filled, extra = X.copy(), np.zeros((k, d, d))
        for i, g in enumerate(y):
            m, o = np.isnan(X[i]), ~np.isnan(X[i])
            S = covariance[g]
            regression = S[np.ix_(m, o)] @ np.linalg.inv(S[np.ix_(o, o)])
            filled[i, m] = means[g][m] + regression @ (X[i, o] - means[g][o])
            extra[g][np.ix_(m, m)] += S[np.ix_(m, m)] - regression @ S[np.ix_(o, m)]
        means = np.array([filled[y == g].mean(axis=0) for g in range(k)])
        scatter = extra.copy()
        for g in range(k):
            apart = filled[y == g] - means[g]
            scatter[g] += apart.T @ apart
        n = np.bincount(y)[:, None, None]
        if kind == "shared":
            covariance = np.repeat(scatter.sum(axis=0, keepdims=True) / len(y), k, axis=0)
        elif kind == "own":
            covariance = scatter / n
        elif kind == "diagonal":
            covariance = scatter / n * np.eye(d)
        else:
            variance = np.trace(scatter / n, axis1=1, axis2=2) / d
            covariance = variance[:, None, None] * np.eye(d)
    return means, covariance


@each_kind
@pytest.mark.parametrize("seed", range(2))
def test_the_likelihood_never_falls(kind, seed):
    X, y = table(seed=seed, holes=0.3)
    trace = np.array(GaussianDiscriminantAnalysis(kind).fit(X, y).log_likelihoods_)
    assert len(trace) >= 1
    assert (np.diff(trace) >= -1e-11 * np.abs(trace[:-1])).all()  # rounding of a sum of 270 terms
    if kind != "diagonal":  # which the columns one by one determine at once
        assert len(trace) > 2
        assert trace[-1] > trace[0] + 1e-3


@each_kind
def test_the_likelihood_is_that_of_the_observed_cells(kind):
    X, y = table()
    model = GaussianDiscriminantAnalysis(kind).fit(X, y)
    expected = observed_log_likelihood(X, y, model.means_, covariances(model, 3))
    assert model.log_likelihoods_[-1] == pytest.approx(expected, rel=1e-9)


@each_kind
def test_no_parameters_near_by_are_more_likely(kind):
    X, y = table()
    model = GaussianDiscriminantAnalysis(kind).fit(X, y)
    best = observed_log_likelihood(X, y, model.means_, covariances(model, 3))
    random = np.random.default_rng(1)
    for _ in range(10):
        means = model.means_ + 0.01 * random.normal(size=model.means_.shape)
        assert observed_log_likelihood(X, y, means, covariances(model, 3)) < best
        stretch = np.exp(0.02 * random.choice([-1, 1]))
        assert observed_log_likelihood(X, y, model.means_, covariances(model, 3) * stretch) < best


@each_kind
@pytest.mark.parametrize("holes", [0.05, 0.3])
def test_em_agrees_with_the_textbook(kind, holes):
    X, y = table(holes=holes)
    means, covariance = textbook_em(X, y, kind, 400)
    model = GaussianDiscriminantAnalysis(kind).fit(X, y)
    assert_allclose(model.means_, means, rtol=0, atol=1e-6)
    assert_allclose(covariances(model, 3), covariance, rtol=0, atol=1e-6)


@each_kind
def test_where_nothing_is_missing_there_is_no_em(kind):
    X, y = table(holes=0)
    model = GaussianDiscriminantAnalysis(kind).fit(X, y)
    assert model.log_likelihoods_ == ()
    own = np.array([np.cov(X[y == k].T, bias=True) for k in range(3)])
    closed = {
        "own": own,
        "shared": np.repeat(own.mean(axis=0, keepdims=True), 3, axis=0),
        "diagonal": own * np.eye(4),
        "spherical": np.trace(own, axis1=1, axis2=2)[:, None, None] / 4 * np.eye(4),
    }
    assert_allclose(covariances(model, 3), closed[kind], rtol=1e-12, atol=1e-14)
    assert_allclose(model.means_, [X[y == k].mean(axis=0) for k in range(3)], rtol=1e-13)


@each_kind
def test_few_missing_cells_change_little(kind):
    """One cell of 360, and EM starts anew: the closed form is where it must almost end."""
    X, y = table(holes=0)
    whole = GaussianDiscriminantAnalysis(kind).fit(X, y)
    X[7, 2] = np.nan
    part = GaussianDiscriminantAnalysis(kind).fit(X, y)
    assert_allclose(part.means_, whole.means_, atol=0.2)
    assert 0 < np.abs(part.means_ - whole.means_).max()


@each_kind
def test_columns_without_holes_keep_their_closed_form(kind):
    """Under own or diagonal covariances, what is always seen does not hang on what is not."""
    X, y = table(holes=0)
    closed = GaussianDiscriminantAnalysis(kind).fit(X, y)
    X[::4, 3] = np.nan
    model = GaussianDiscriminantAnalysis(kind).fit(X, y)
    assert_allclose(model.means_[:, :3], closed.means_[:, :3], atol=1e-10)
    if kind != "spherical":
        a, b = (covariances(m, 3)[:, :3, :3] for m in (model, closed))
        assert_allclose(a, b, atol=1e-8)


def test_every_row_with_a_pattern_of_its_own():
    random = np.random.default_rng(3)
    n, d = 126, 7
    y = random.permutation(np.arange(n) % 2)
    X = random.normal(size=(n, d)) + y[:, None]
    gone = np.unpackbits(np.arange(1, n + 1, dtype=np.uint8)[:, None], axis=1)[:, 1:]
    X[gone.astype(bool)] = np.nan
    assert len(np.unique(np.isnan(X), axis=0)) == n  # every subset of columns but none and all
    assert np.isnan(X).any(axis=1).all()
    model = GaussianDiscriminantAnalysis("own", pseudo_rows=10.0).fit(X, y)  # 31 cells a column
    assert np.isfinite(model.predict_log_proba(X)).all()
    for kind in ("shared", "diagonal", "spherical"):
        model = GaussianDiscriminantAnalysis(kind).fit(X, y)
        trace = np.array(model.log_likelihoods_)
        assert (np.diff(trace) >= -1e-11 * np.abs(trace[:-1])).all()
        assert_allclose(model.means_, [[0.0] * d, [1.0] * d], atol=0.8)  # 31 cells: four errors
        expected = observed_log_likelihood(X, y, model.means_, covariances(model, 2))
        assert trace[-1] == pytest.approx(expected, rel=1e-9)
        assert np.isfinite(model.predict_log_proba(X)).all()


@each_kind
def test_a_row_of_nothing_says_nothing_but_its_class(kind):
    X, y = table()
    nothing = np.full((6, 4), np.nan)
    expected = GaussianDiscriminantAnalysis(kind).fit(X, y)
    model = GaussianDiscriminantAnalysis(kind).fit(np.vstack([X, nothing]), np.append(y, [2] * 6))
    assert_allclose(model.priors_, np.array([30, 30, 36]) / 96)
    if kind != "shared":  # which weighs its classes by their rows
        assert_allclose(model.means_, expected.means_, atol=1e-6)
        assert_allclose(model.covariance_, expected.covariance_, atol=1e-6)
    assert_allclose(model.predict_proba(nothing), np.tile(model.priors_, (6, 1)), rtol=1e-12)


def test_rows_of_nothing_do_not_move_a_shared_covariance():
    """They add as much weight as scatter: the maximum stays where it was."""
    X, y = table()
    nothing = np.full((6, 4), np.nan)
    expected = GaussianDiscriminantAnalysis().fit(X, y)
    model = GaussianDiscriminantAnalysis().fit(np.vstack([X, nothing]), np.append(y, [2] * 6))
    assert_allclose(model.covariance_, expected.covariance_, atol=1e-6)
    assert_allclose(model.means_, expected.means_, atol=1e-6)


def without_a_column():
    X, y = table(holes=0.1)
    X[y == 1, 2] = np.nan
    return X, y


@pytest.mark.parametrize("kind", ["own", "diagonal", "spherical"])
def test_a_column_missing_in_a_whole_class_is_named(kind):
    X, y = without_a_column()
    with pytest.raises(DegenerateError, match=r"2 in class 1.*missing"):
        GaussianDiscriminantAnalysis(kind).fit(X, y)


def test_a_column_missing_in_a_whole_class_can_be_borrowed():
    X, y = without_a_column()
    for model in (
        GaussianDiscriminantAnalysis("shared"),
        GaussianDiscriminantAnalysis("own", pseudo_rows=5.0),
    ):
        model.fit(X, y)
        assert np.isfinite(model.predict_log_proba(X)).all()
        variance = covariances(model, 3)[1][2, 2]
        assert 0.1 < variance / np.nanvar(X[:, 2]) < 10
        assert (model.predict(X) == y).mean() > 0.6  # a third by chance


def test_a_column_missing_everywhere_is_named():
    X, y = table()
    X[:, 1] = np.nan
    for kind in ("own", "diagonal", "spherical"):
        with pytest.raises(DegenerateError, match="cells of 1 in class 0"):
            GaussianDiscriminantAnalysis(kind).fit(X, y)
    with pytest.warns(DegenerateWarning, match=r"rank 3 of 4.*1"):
        model = GaussianDiscriminantAnalysis("shared").fit(X, y)
    expected = GaussianDiscriminantAnalysis("shared").fit(np.delete(X, 1, axis=1), y)
    assert_allclose(
        model.predict_log_proba(X),
        expected.predict_log_proba(np.delete(X, 1, axis=1)),
        rtol=1e-6,
        atol=1e-8,
    )


@pytest.mark.parametrize("settings", [{"pseudo_rows": 5.0}, {"shrinkage": 0.5}], ids=str)
def test_em_with_a_prior_ends_at_its_fixed_point(settings):
    """Learning once more, with the model's own expectation of what is missing, changes nothing."""
    X, y = table(holes=0.3)
    model = GaussianDiscriminantAnalysis("own", **settings).fit(X, y)
    filled, extra = X.copy(), np.zeros((3, 4, 4))
    for i, g in enumerate(y):
        m, o = np.isnan(X[i]), ~np.isnan(X[i])
        S = model.covariance_[g]
        regression = S[np.ix_(m, o)] @ np.linalg.inv(S[np.ix_(o, o)])
        filled[i, m] = model.means_[g][m] + regression @ (X[i, o] - model.means_[g][o])
        extra[g][np.ix_(m, m)] += S[np.ix_(m, m)] - regression @ S[np.ix_(o, m)]
    scatter = np.array([np.cov(filled[y == g].T, bias=True) * 30 for g in range(3)]) + extra
    means = np.array([filled[y == g].mean(axis=0) for g in range(3)])
    if "pseudo_rows" in settings:
        everyone = means.mean(axis=0)
        apart = means - everyone
        pooled = (scatter.sum(axis=0) + 30 * apart.T @ apart) / 90
        between = 30 * 5 / 35 * apart[:, :, None] * apart[:, None, :]
        covariance = (scatter + 5 * pooled + between) / 35
        means = (30 * means + 5 * everyone) / 35
    else:
        own = scatter / 30
        sphere = np.trace(own, axis1=1, axis2=2)[:, None, None] / 4 * np.eye(4)
        covariance = 0.5 * own + 0.5 * sphere
    assert_allclose(model.means_, means, atol=1e-6)
    assert_allclose(model.covariance_, covariance, atol=1e-6)


@each_kind
def test_forms_of_missing_cells(kind):
    import pandas as pd
    import polars as pl

    X, y = table()
    expected = GaussianDiscriminantAnalysis(kind).fit(X, y).predict_proba(X)
    names = list("abcd")
    cells = {n: [None if np.isnan(v) else v for v in X[:, j]] for j, n in enumerate(names)}
    objects = np.array([[None if np.isnan(v) else v for v in row] for row in X], dtype=object)
    forms = [pd.DataFrame(X, columns=names), pd.DataFrame(cells), pl.DataFrame(cells), objects]
    for form in forms:
        model = GaussianDiscriminantAnalysis(kind).fit(form, y)
        assert_allclose(model.predict_proba(form), expected, rtol=1e-12)


# ---- what it is worth ----


def wdbc():
    return load_breast_cancer(return_X_y=True)


def wdbc_means():
    X, y = wdbc()
    return X[:, :10], y  # without their standard errors and extremes


def penguins():
    from palmerpenguins import load_penguins

    rows = load_penguins().dropna()
    columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    return rows[columns].to_numpy(float), rows["species"].to_numpy()


def least_replaceable(X, y, kind):
    """The column without which ten-fold cross-validation loses most log loss.

    Where the others can stand in for a column, it does not matter what is done about its cells.
    """
    model = GaussianDiscriminantAnalysis(kind)
    losses = [
        model.cross_validate(np.delete(X, j, axis=1), y, folds=10).log_loss
        for j in range(X.shape[1])
    ]
    return int(np.argmax(losses))


def compare(X, y, kind, masks=6, folds=5):
    """Log loss and accuracy with half of one column gone, by what is done about it.

    Masks hide cells of training and test rows alike; every method answers all test rows.
    """
    column = least_replaceable(X, y, kind)
    results = {"em": [], "drop rows": [], "mean": []}
    for seed in range(masks):
        random = np.random.default_rng(seed)
        Z = X.copy()
        Z[random.permutation(len(X))[: len(X) // 2], column] = np.nan
        for train, test in StratifiedKFold(folds, shuffle=True, random_state=seed).split(X, y):
            mean = np.nanmean(Z[train, column])
            whole = ~np.isnan(Z[train, column])
            full = np.where(np.isnan(Z), mean, Z)
            for name, fitted, asked in (
                ("em", (Z[train], y[train]), Z[test]),
                ("drop rows", (Z[train][whole], y[train][whole]), full[test]),
                ("mean", (full[train], y[train]), full[test]),
            ):
                model = GaussianDiscriminantAnalysis(kind).fit(*fitted)
                log_proba = model.predict_log_proba(asked)
                truth = np.searchsorted(model.classes_, y[test])
                loss = -log_proba[np.arange(len(test)), truth].mean()
                results[name].append((loss, (log_proba.argmax(axis=1) == truth).mean()))
    return {name: np.array(values) for name, values in results.items()}


TABLES = {"wdbc": wdbc, "means of wdbc": wdbc_means, "penguins": penguins}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("wdbc", "shared"),
        ("means of wdbc", "shared"),
        ("means of wdbc", "own"),
        ("penguins", "shared"),
        ("penguins", "own"),
    ],
)
def test_em_beats_dropping_rows_and_imputing_means(name, kind):
    """Accuracy and log loss, means of 30 splits:

                           EM            rows dropped  means imputed
    wdbc, shared           .956  0.134   .948  0.195   .954  0.136
    means of wdbc, shared  .921  0.192   .921  0.213   .923  0.193
    means of wdbc, own     .925  0.333   .917  0.645   .925  0.339
    penguins, shared       .907  0.184   .836  0.534   .880  0.233
    penguins, own          .907  0.184   .841  0.559   .878  0.240

    The bill length of penguins has no substitute, and EM gains much. The columns of wdbc say nearly
    the same, and what is left of the gain over means is less than its standard error.
    """
    results = compare(*TABLES[name](), kind)
    loss = {method: values[:, 0].mean() for method, values in results.items()}
    accuracy = {method: values[:, 1].mean() for method, values in results.items()}
    assert loss["em"] < loss["mean"] < loss["drop rows"]
    if name != "means of wdbc":  # whose accuracies are alike
        assert accuracy["em"] > max(accuracy["mean"], accuracy["drop rows"])
    for other in ("drop rows", "mean") if name == "penguins" else ("drop rows",):
        gain = results[other][:, 0] - results["em"][:, 0]
        # splits overlap, which makes this error too small: more than the usual two of them
        assert gain.mean() > 2.5 * gain.std(ddof=1) / np.sqrt(len(gain))


def test_a_hidden_column_is_guessed_from_the_others():
    """Iris with half of the petal lengths gone: the answer is nearly that of the whole table."""
    X, y = load_iris(return_X_y=True)
    whole = GaussianDiscriminantAnalysis("own").fit(X, y)
    Z = X.copy()
    Z[np.random.default_rng(0).permutation(150)[:75], 2] = np.nan
    part = GaussianDiscriminantAnalysis("own").fit(Z, y)
    assert_allclose(part.means_[:, 2], whole.means_[:, 2], atol=0.1)  # 0.55 / √50 is 0.08
    assert (part.predict(X) == whole.predict(X)).mean() > 0.98
    assert_array_equal(part.classes_, whole.classes_)


def test_filling_in_missing_cells_ends_where_numbers_do():
    """EM on NaN would go on to its last step, for nothing."""
    X, y = load_iris(return_X_y=True)
    X[[3, 80], [0, 1]] = np.nan
    sums = GaussianDiscriminantAnalysis().fit(X, y).statistics_.features
    steps = []

    def maximize(scatter):
        steps.append(scatter)
        spread = np.eye(4) if len(steps) < 2 else np.full((4, 4), np.nan)
        return scatter.mean, np.broadcast_to(spread, (1, 4, 4))

    with pytest.raises(DegenerateError):
        completed(sums, maximize)
    assert len(steps) == 2
