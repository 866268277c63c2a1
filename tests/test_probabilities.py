"""What the probabilities mean: predictive laws, priors, intervals, held-out scores, calibration."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, special, stats
from sklearn import naive_bayes as peer
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, LeaveOneOut, StratifiedKFold, cross_val_predict

from posterior import (
    Bernoulli,
    BernoulliNB,
    Categorical,
    CategoricalNB,
    ComplementNB,
    Gaussian,
    GaussianNB,
    JointBayes,
    Laplace,
    MEstimate,
    Multinomial,
    MultinomialNB,
    NaiveBayes,
    Poisson,
    PoissonNB,
    PseudoRows,
)
from posterior.engines import Local

EXACT = 1e-12  # sums of some ten terms, each rounded to 1e-16

MODELS = [
    GaussianNB(),
    MultinomialNB(),
    ComplementNB(),
    ComplementNB(norm=True),
    BernoulliNB(),
    CategoricalNB(),
    PoissonNB(),
    NaiveBayes(),
    NaiveBayes(predictive=True),
    NaiveBayes("categorical"),
    NaiveBayes(Poisson(predictive=True)),
    NaiveBayes(Multinomial(predictive=True)),
    NaiveBayes(Categorical(MEstimate(2.0, p=None))),
    NaiveBayes(Categorical(MEstimate(2.0, p=(0.3, 0.3, 0.2, 0.1, 0.1)))),
    NaiveBayes(Categorical(n_values=(9, 9, 9))),
    NaiveBayes(Bernoulli(MEstimate(2.0, p=0.2), threshold=1.5)),
    NaiveBayes(Multinomial(MEstimate(2.0, p=None))),
    NaiveBayes({0: "categorical", 1: "poisson"}),
    JointBayes(),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=lambda m: " ".join(repr(m).split()))


def counts(n=120, d=3, seed=0):
    X = np.random.default_rng(seed).poisson(1.5, (n, d)).clip(0, 4).astype(float)
    X[:5] = np.arange(5)[:, None]
    return X


def classes(n=120, k=3, seed=1):
    y = np.random.default_rng(seed).integers(0, k, n)
    y[:k] = np.arange(k)
    return y


# ---- posterior predictive ----


def one_column(family, x, y):
    """The terms log p(x | k) of a single column, (n, k)."""
    return NaiveBayes(family).fit(x[:, None], y).evidence(x[:, None]).terms[:, :, 0]


def test_the_predictive_gaussian_is_students_t():
    x, y, m = np.random.default_rng(0).normal(5, 2, 40), np.arange(40) % 2, 3.0
    terms = one_column(Gaussian(PseudoRows(m), predictive=True), x, y)
    for k in (0, 1):
        own, n = x[y == k], (y == k).sum()
        mean = (own.sum() + m * x.mean()) / (n + m)
        scatter = (own**2).sum() + m * (x.mean() ** 2 + x.var()) - (n + m) * mean**2
        scale = np.sqrt(scatter / (n + m) * (n + m + 1) / (n + m))
        assert_allclose(terms[:, k], stats.t(n + m, mean, scale).logpdf(x), rtol=EXACT)


def test_the_predictive_count_is_negative_binomial():
    x, y, m = np.random.default_rng(0).poisson(4, 40).astype(float), np.arange(40) % 2, 2.0
    terms = one_column(Poisson(PseudoRows(m), predictive=True), x, y)
    for k in (0, 1):
        events, rows = x[y == k].sum() + m * x.mean(), (y == k).sum() + m
        expected = stats.nbinom(events, rows / (rows + 1)).logpmf(x)
        assert_allclose(terms[:, k], expected, rtol=EXACT)


def test_the_predictive_document_is_dirichlet_multinomial():
    X, y = counts(40, 4), np.arange(40) % 2
    model = NaiveBayes(Multinomial(Laplace(0.7), predictive=True)).fit(X, y)
    joint = model.predict_joint_log_proba(X)
    orders = special.gammaln(X.sum(axis=1) + 1) - special.gammaln(X + 1).sum(axis=1)
    for k in (0, 1):
        urn = X[y == k].sum(axis=0) + 0.7
        law = [stats.dirichlet_multinomial.logpmf(x, urn, int(x.sum())) for x in X.astype(int)]
        expected = law - orders + model.class_log_prior_[k]
        assert_allclose(joint[:, k], expected, rtol=1e-10)  # differences of log gammas of 300


def test_the_predictive_category_is_its_posterior_mean():
    """Dirichlet-multinomial of a single draw: nothing changes."""
    X, y = counts(40, 2), np.arange(40) % 2
    plain, full = (NaiveBayes("categorical", predictive=p).fit(X, y) for p in (False, True))
    assert_allclose(full.predict_log_proba(X), plain.predict_log_proba(X), rtol=EXACT)


def test_predictive_models_ask_every_column():
    X, y = counts(), classes()
    families = {0: "poisson", 1: Gaussian()}
    whole = NaiveBayes(families, predictive=True).fit(X, y)
    by_hand = NaiveBayes(
        {0: Poisson(predictive=True), 1: Gaussian(predictive=True), 2: Gaussian(predictive=True)}
    )
    assert_array_equal(whole.predict_proba(X), by_hand.fit(X, y).predict_proba(X))


def test_few_rows_make_predictive_models_less_sure():
    X, y = np.array([[0.0], [1.0], [9.0], [10.0]]), [0, 0, 1, 1]
    sure = NaiveBayes(Gaussian()).fit(X, y).predict_proba([[30.0]])[0, 1]
    careful = NaiveBayes(Gaussian(predictive=True)).fit(X, y).predict_proba([[30.0]])[0, 1]
    assert 0.5 < careful < sure


# ---- priors ----


def test_laplace_counts_every_value_alpha_times_more():
    x, y = np.array([0, 0, 1, 2, 2, 2.0]), np.array([0, 0, 0, 1, 1, 1])
    terms = np.exp(one_column(Categorical(Laplace(0.5)), x, y))
    assert_allclose(terms[0], [(2 + 0.5) / (3 + 1.5), 0.5 / (3 + 1.5)], rtol=EXACT)
    bits = np.exp(one_column(Bernoulli(Laplace(0.5)), (x > 0) * 1.0, y))
    assert_allclose(bits[0], [(2 + 0.5) / (3 + 1), 0.5 / (3 + 1)], rtol=EXACT)


@pytest.mark.parametrize(
    ("p", "share"),
    [("uniform", [1 / 3, 1 / 3, 1 / 3]), (None, [2 / 6, 1 / 6, 3 / 6]), ((0.5, 0.3, 0.2),) * 2],
    ids=["uniform", "pooled", "chosen"],
)
def test_the_m_estimate_adds_m_rows_spread_as_p(p, share):
    x, y, m = np.array([0, 0, 1, 2, 2, 2.0]), np.array([0, 0, 0, 1, 1, 1]), 4.0
    terms = np.exp(one_column(Categorical(MEstimate(m, p)), x, y))
    for i, v in enumerate(x.astype(int)):
        n = np.array([(x[y == k] == v).sum() for k in (0, 1)])
        assert_allclose(terms[i], (n + m * share[v]) / (3 + m), rtol=EXACT)


@pytest.mark.parametrize(("p", "share"), [("uniform", 0.5), (None, 4 / 6), (0.1, 0.1)], ids=str)
def test_the_m_estimate_of_yes_and_no(p, share):
    x, y, m = np.array([0, 0, 1, 1, 1, 1.0]), np.array([0, 0, 0, 1, 1, 1]), 4.0
    terms = np.exp(one_column(Bernoulli(MEstimate(m, p)), x, y))
    yes = (np.array([1, 3]) + m * share) / (3 + m)
    assert_allclose(terms[5], yes, rtol=EXACT)
    assert_allclose(terms[0], 1 - yes, rtol=EXACT)


@pytest.mark.parametrize(("p", "share"), [("uniform", [0.5, 0.5]), (None, [0.6, 0.4])], ids=str)
def test_the_m_estimate_of_words(p, share):
    X, y, m = np.array([[4.0, 1.0], [2.0, 3.0]]), np.array([0, 1]), 4.0
    model = NaiveBayes(Multinomial(MEstimate(m, p))).fit(X, y)
    expected = (X + m * np.array(share)) / (5 + m)
    assert_allclose(np.exp(model.evidence(np.eye(2)).terms[0, :, 0]), expected[:, 0], rtol=EXACT)


def test_pseudo_rows_have_the_mean_and_variance_of_everyone():
    x, y, m = np.array([1, 2, 3, 7, 9, 14.0]), np.array([0, 0, 0, 1, 1, 1]), 2.0
    table = NaiveBayes(Gaussian(PseudoRows(m))).fit(x[:, None], y).parameters()
    for k in (0, 1):
        own = x[y == k]
        mean = (own.sum() + m * 6) / (3 + m)
        squares = ((own**2).sum() + m * (36 + x.var())) / (3 + m)
        value = table["value"][table["class"] == k]
        assert_allclose(value, [mean, squares - mean**2], rtol=EXACT)


def test_pseudo_rows_have_the_rate_of_everyone():
    X, y, m = np.array([[0.0], [2.0], [4.0], [10.0]]), [0, 0, 1, 1], 3.0
    expected = [(2 + m * 4) / (2 + m), (14 + m * 4) / (2 + m)]
    assert_allclose(PoissonNB(alpha=m).fit(X, y).rate_[:, 0], expected, rtol=EXACT)


# ---- intervals ----


def share_inside(table, name, truth):
    """How many intervals of a parameter hold the truth; columns are repetitions."""
    lines = table["parameter"] == name
    low, high = table["low"][lines], table["high"][lines]
    return np.mean((low <= truth) & (truth <= high))


N = 3000  # repetitions: a share of 90 % is then known to 3 · 0.0055
CLOSE = 0.017


def test_intervals_of_means_and_variances_hold_the_truth_as_often_as_they_say():
    X = np.random.default_rng(0).normal(5, 2, (12, N))
    table = GaussianNB(var_smoothing=0).fit(X, np.zeros(12)).parameters(level=0.9)
    assert abs(share_inside(table, "mean", 5) - 0.9) < CLOSE
    assert abs(share_inside(table, "variance", 4) - 0.9) < CLOSE


def test_intervals_of_probabilities_hold_the_truth_as_often_as_they_say():
    """On average over the prior, which Laplace's rule takes to be uniform."""
    random = np.random.default_rng(0)
    p = random.random(N)
    X = (random.random((20, N)) < p).astype(float)
    table = BernoulliNB().fit(X, np.zeros(20)).parameters(level=0.9)
    assert abs(share_inside(table, "probability", p) - 0.9) < CLOSE


def test_intervals_of_rates_hold_the_truth_as_often_as_they_say():
    X = np.random.default_rng(0).poisson(3, (60, N))
    table = PoissonNB().fit(X, np.zeros(60)).parameters(level=0.9)
    # the prior looks at the same rows: 61 rows' width where 60 were seen, 0.4 % less
    assert abs(share_inside(table, "rate", 3) - 0.9) < CLOSE + 0.004


def test_intervals_are_the_quantiles_of_the_posterior():
    x, y, tails = counts()[:, 0], classes(k=2), [0.05, 0.95]
    own = x[y == 0]
    n = len(own)

    def interval(model, parameter, X=x[:, None]):
        table = model.fit(X, y).parameters(level=0.9)
        line = np.flatnonzero((table["parameter"] == parameter) & (table["class"] == 0))[0]
        return table["low"][line], table["high"][line]

    expected = stats.beta(1 + (own > 0).sum(), 1 + (own == 0).sum()).ppf(tails)
    assert_allclose(interval(BernoulliNB(), "probability"), expected, rtol=1e-9)
    expected = stats.beta(1 + (own == 2).sum(), 4 + (own != 2).sum()).ppf(tails)
    assert_allclose(interval(CategoricalNB(), "P(2)"), expected, rtol=1e-9)
    expected = stats.gamma(own.sum() + x.mean(), scale=1 / (n + 1)).ppf(tails)
    assert_allclose(interval(PoissonNB(), "rate"), expected, rtol=1e-9)
    expected = stats.t(n - 1, own.mean(), own.std(ddof=1) / np.sqrt(n)).ppf(tails)
    assert_allclose(interval(GaussianNB(var_smoothing=0), "mean"), expected, rtol=1e-9)
    expected = n * own.var() / stats.chi2(n - 1).ppf(tails[::-1])
    assert_allclose(interval(GaussianNB(var_smoothing=0), "variance"), expected, rtol=1e-9)
    X = counts(d=2)
    words = X[y == 0].sum(axis=0) + 1
    expected = stats.beta(*words).ppf(tails)
    assert_allclose(interval(MultinomialNB(), "probability", X), expected, rtol=1e-9)


def test_intervals_with_pseudo_rows_are_those_of_the_normal_inverse_gamma():
    x, y, m = np.random.default_rng(0).normal(size=30), np.zeros(30), 4.0
    table = NaiveBayes(Gaussian(PseudoRows(m))).fit(x[:, None], y).parameters(level=0.9)
    rows, spread = 34, np.sqrt(x.var())
    mean = stats.t(rows, x.mean(), spread / np.sqrt(rows)).ppf([0.05, 0.95])
    variance = stats.invgamma(rows / 2, scale=rows * x.var() / 2).ppf([0.05, 0.95])
    assert_allclose([table["low"][0], table["high"][0]], mean, rtol=1e-9)
    assert_allclose([table["low"][1], table["high"][1]], variance, rtol=1e-9)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_a_wider_level_is_a_wider_interval_around_the_value(level):
    table = NaiveBayes("poisson").fit(counts(), classes()).parameters(level)
    narrow = NaiveBayes("poisson").fit(counts(), classes()).parameters(level - 0.3)
    assert (table["low"] < narrow["low"]).all() and (narrow["high"] < table["high"]).all()
    assert (table["low"] < table["value"]).all() and (table["value"] < table["high"]).all()


def test_parameters_print_and_become_a_frame():
    table = GaussianNB().fit(pd.DataFrame(counts(), columns=list("abc")), classes()).parameters()
    assert str(table).splitlines()[0].split() == [
        "feature",
        "parameter",
        "class",
        "value",
        "low",
        "high",
    ]
    assert list(table.to_frame("pandas")["feature"].unique()) == ["a", "b", "c"]
    assert len(table.to_frame("polars")) == len(table) == 2 * 3 * 3


# ---- evidence ----


@each_model
def test_evidence_is_the_sum_over_classes(model):
    X = counts()
    model.fit(X, classes())
    joint = model.predict_joint_log_proba(X)
    expected = special.logsumexp(joint, axis=1)
    assert_allclose(model.log_evidence(X), expected, rtol=EXACT, atol=EXACT)
    assert_allclose(
        model.predict_log_proba(X), joint - model.log_evidence(X)[:, None], rtol=1e-9, atol=EXACT
    )
    assert_allclose(model.predict_proba(X), np.exp(model.predict_log_proba(X)), rtol=1e-9)


@each_model
def test_terms_add_up_to_the_joint(model):
    X = counts()
    evidence = model.fit(X, classes()).evidence(X)
    assert_allclose(evidence.log_joint(), model.predict_joint_log_proba(X), rtol=1e-11, atol=EXACT)
    assert evidence.terms.shape[:2] == (len(X), 3)
    assert_array_equal(evidence.classes, model.classes_)


@each_model
def test_an_explanation_adds_up(model):
    X = counts()
    model.fit(X, np.array(["a", "b", "c"])[classes()])
    why = model.explain(X[[7]])
    proba = dict(zip("abc", model.predict_proba(X[[7]])[0], strict=True))
    assert why.of == model.predict(X[[7]])[0]
    assert why.posterior == pytest.approx(proba, rel=1e-12)
    assert_allclose(why.prior + why.weights.sum(), why.log_odds, rtol=EXACT)
    odds = np.log(proba[why.of] / proba[why.against])
    assert_allclose(why.log_odds, odds, rtol=1e-9, atol=EXACT)
    text = str(why)
    assert "prior" in text and "posterior" in text and f"Why {why.of}" in text


def test_an_explanation_compares_the_classes_asked_for():
    X, y = counts(), classes()
    model = GaussianNB().fit(X, y)
    forth, back = model.explain(X[[0]], of=2, against=0), model.explain(X[[0]], of=0, against=2)
    assert (forth.of, forth.against) == (2, 0)
    assert_allclose(forth.weights, -back.weights, rtol=EXACT)
    assert_array_equal(forth.values, X[0])


# ---- priors, costs, reject ----


def test_other_class_probabilities_are_those_of_a_model_that_had_them():
    X, y, p = counts(), classes(), [0.7, 0.2, 0.1]
    model, other = GaussianNB().fit(X, y), GaussianNB(priors=p).fit(X, y)
    assert_allclose(model.predict_proba(X, priors=p), other.predict_proba(X), rtol=EXACT)
    assert_allclose(model.predict_log_proba(X, priors=p), other.predict_log_proba(X), rtol=EXACT)
    assert_array_equal(model.predict(X, priors=p), other.predict(X))
    assert_array_equal(model.predict(X, priors=[0, 1, 0]), np.ones(len(X)))


@each_model
def test_the_answer_is_the_one_of_least_expected_cost(model):
    X, y = counts(), classes()
    model.fit(X, y)
    for costs in (1 - np.eye(3), np.array([[0, 1, 5], [2, 0, 1], [9, 3, 0.0]])):
        expected = model.predict_proba(X) @ costs
        paid = expected[np.arange(len(X)), model.predict(X, costs=costs)]
        # a tie may go either way
        assert_allclose(paid, expected.min(axis=1), rtol=EXACT)
    # answering 2 when it is 0 costs a fortune: 2 is never the answer
    assert (model.predict(X, costs=[[0, 1, 1e30], [1, 0, 1], [1, 1, 0]]) != 2).all()


def test_unsure_answers_are_left_out():
    X, y = counts(), classes()
    model = GaussianNB().fit(X, y)
    answer = model.predict(X, reject=0.5)
    unsure = model.predict_proba(X).max(axis=1) < 0.5
    assert 0 < unsure.sum() < len(X)
    assert_array_equal(np.ma.getmaskarray(answer), unsure)
    assert_array_equal(answer.compressed(), model.predict(X)[~unsure])
    assert np.ma.getmaskarray(model.predict(X, reject=0.0)).sum() == 0
    assert np.ma.getmaskarray(model.predict(X, reject=1.1)).all()


# ---- missing cells, and the counts that scikit-learn has no class for ----


def with_gaps(seed=5):
    X = counts()
    X[np.random.default_rng(seed).random(X.shape) < 0.2] = np.nan
    return X


def test_poisson_counts_have_scipys_probabilities():
    X, y = counts(), classes()
    model = PoissonNB(alpha=0).fit(X, y)
    rate = np.array([X[y == k].mean(axis=0) for k in range(3)])
    assert_allclose(model.rate_, rate, rtol=EXACT)
    prior = np.bincount(y) / len(y)
    expected = np.log(prior) + stats.poisson(rate).logpmf(X[:, None, :]).sum(axis=2)
    assert_allclose(model.predict_joint_log_proba(X), expected, rtol=EXACT)
    thin = model.fit(sparse.csr_matrix(X), y)
    assert_allclose(thin.predict_joint_log_proba(sparse.csr_matrix(X)), expected, rtol=EXACT)


@pytest.mark.parametrize(
    "model", [GaussianNB(var_smoothing=0), BernoulliNB(), CategoricalNB(), PoissonNB()], ids=repr
)
def test_a_missing_cell_leaves_its_column_out(model):
    """log p(x, k) is the prior and one term for each observed cell, of a model of that column."""
    X, y = with_gaps(), classes()
    expected = np.tile(np.log(np.bincount(y) / len(y)), (len(y), 1))
    for j in range(X.shape[1]):
        seen = ~np.isnan(X[:, j])
        alone = clone(model).fit(X[seen][:, [j]], y[seen])
        expected[seen] += alone.evidence(X[seen][:, [j]]).terms[:, :, 0]
    assert_allclose(model.fit(X, y).predict_joint_log_proba(X), expected, rtol=EXACT)


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(),
        BernoulliNB(),
        CategoricalNB(),
        PoissonNB(),
        NaiveBayes(),
        NaiveBayes(predictive=True),
        NaiveBayes("categorical"),
        JointBayes(),
    ],
    ids=repr,
)
def test_missing_cells_are_left_out_of_held_out_scores(model):
    X, y = with_gaps()[:40], classes()[:40]
    left_out = model.leave_one_out(X, y).log_proba
    held_out = model.cross_validate(X, y, folds=np.arange(40)).log_proba
    for i in range(0, 40, 3):
        others = np.arange(40) != i
        expected = model.fit(X[others], y[others]).predict_log_proba(X[[i]])[0]
        assert_allclose(held_out[i], expected, rtol=1e-12, atol=1e-13)
        assert_allclose(left_out[i], expected, rtol=1e-9)


# ---- held-out scores ----


@pytest.mark.parametrize(
    "y",
    [classes(101, 3), np.array(list("zyxzzzyx") * 13), classes(60, 2)[::-1], np.arange(50) // 12],
    ids=["random", "not in order of the alphabet", "backwards", "sorted"],
)
@pytest.mark.parametrize("folds", [2, 10])
@pytest.mark.filterwarnings("ignore:The least populated class")
def test_folds_are_those_of_scikit_learn(y, folds):
    X = np.random.default_rng(0).normal(size=(len(y), 2))
    ours = GaussianNB().cross_validate(X, y, folds=folds).folds
    theirs = np.empty(len(y), int)
    for f, (_, test) in enumerate(StratifiedKFold(folds).split(X, y)):
        theirs[test] = f
    assert_array_equal(ours, theirs)


@each_model
@pytest.mark.parametrize("weighted", [False, True])
def test_cross_validation_equals_honest_refits(model, weighted):
    X, y = counts(), classes()
    w = np.random.default_rng(3).exponential(size=len(y)) if weighted else None
    held_out = model.cross_validate(X, y, folds=4, sample_weight=w)
    for fold in range(4):
        inside = held_out.folds == fold
        refit = model.fit(X[~inside], y[~inside], sample_weight=None if w is None else w[~inside])
        expected = refit.predict_log_proba(X[inside])
        assert_allclose(held_out.log_proba[inside], expected, rtol=1e-12, atol=1e-13)


@each_model
@pytest.mark.parametrize("weighted", [False, True])
def test_leaving_one_out_equals_honest_refits(model, weighted):
    X, y = counts(40), classes(40)
    w = np.random.default_rng(3).exponential(size=len(y)) if weighted else None
    left_out = model.leave_one_out(X, y, sample_weight=w)
    for i in range(0, 40, 3):
        others = np.arange(40) != i
        refit = model.fit(X[others], y[others], sample_weight=None if w is None else w[others])
        # a row is taken off sums that were rounded once: some 1e-14 of each
        assert_allclose(left_out.log_proba[i], refit.predict_log_proba(X[[i]])[0], rtol=1e-9)


def test_a_model_is_not_changed_by_looking_at_folds():
    X, y = counts(), classes()
    model = GaussianNB().fit(X[:60], y[:60])
    before = model.predict_log_proba(X)
    model.cross_validate(X, y)
    model.leave_one_out(X, y)
    assert_array_equal(model.predict_log_proba(X), before)


@pytest.mark.parametrize(
    "folds",
    [
        5,
        np.arange(120) % 4,
        np.array(["b", "a", "c"])[np.arange(120) % 3],
        KFold(6, shuffle=True, random_state=0),
        StratifiedKFold(3, shuffle=True, random_state=0),
        LeaveOneOut(),
    ],
    ids=["number", "array", "names", "KFold", "StratifiedKFold", "LeaveOneOut"],
)
def test_folds_come_as_a_number_an_array_or_a_splitter(folds):
    X, y = counts(), classes()
    held_out = GaussianNB().cross_validate(X, y, folds=folds)
    if isinstance(folds, np.ndarray):
        splits = [(folds != f, folds == f) for f in np.unique(folds)]
    else:
        splitter = StratifiedKFold(folds) if isinstance(folds, int) else folds
        splits = list(splitter.split(X, y))
    assert len(held_out.scores) == len(splits)
    for train, test in splits:
        # scikit-learn's epsilon is that of the training rows, too
        expected = peer.GaussianNB().fit(X[train], y[train]).predict_log_proba(X[test])
        assert_allclose(held_out.log_proba[test], expected, rtol=1e-9)


def test_scores_are_those_of_scikit_learn():
    X, y = counts(), classes()
    held_out = GaussianNB().cross_validate(X, y)
    proba = held_out.proba
    assert held_out.log_loss == pytest.approx(log_loss(y, proba), rel=1e-12)
    assert held_out.accuracy == np.mean(proba.argmax(axis=1) == y)
    truth = np.eye(3)[y]
    assert held_out.brier == pytest.approx(((proba - truth) ** 2).sum(axis=1).mean(), rel=1e-12)
    rows = held_out.scores["rows"]
    for name in ("log_loss", "accuracy", "brier"):
        mean = np.average(held_out.scores[name], weights=rows)
        assert mean == pytest.approx(getattr(held_out, name), rel=1e-12)
    assert "10-fold" in str(held_out) and "log_loss" in str(held_out)
    assert "leave-one-out" in str(GaussianNB().leave_one_out(X, y))


# ---- tuning ----


@pytest.mark.parametrize(
    ("model", "honest", "name"),
    [
        (GaussianNB(), peer.GaussianNB(), "var_smoothing"),
        (BernoulliNB(), peer.BernoulliNB(), "alpha"),
        (MultinomialNB(), peer.MultinomialNB(), "alpha"),
        (ComplementNB(), peer.ComplementNB(), "alpha"),
        (CategoricalNB(min_categories=5), peer.CategoricalNB(min_categories=5), "alpha"),
    ],
    ids=lambda v: type(v).__name__ if hasattr(v, "fit") else str(v),
)
def test_tuning_is_an_honest_grid_search(model, honest, name):
    X, y = counts(), classes()
    model.tune(X, y)
    tried = model.tuning_[name]
    losses = []
    for value in tried:
        honest.set_params(**{name: value})
        folds = StratifiedKFold(10)
        log_proba = cross_val_predict(honest, X, y, cv=folds, method="predict_log_proba")
        losses.append(-log_proba[np.arange(len(y)), y].mean())
    assert_allclose(model.tuning_["log_loss"], losses, rtol=1e-9)
    best = tried[np.argmin(losses)]
    assert getattr(model, name) == pytest.approx(best)
    assert list(model.tuning_["chosen"]).index("<-") == np.argmin(losses)
    honest.set_params(**{name: best}).fit(X, y)
    assert_allclose(model.predict_log_proba(X), honest.predict_log_proba(X), rtol=1e-9, atol=1e-12)


def test_tuning_tries_what_it_is_given():
    X, y = counts(), classes()
    model = BernoulliNB().tune(X, y, folds=3, grid={"alpha": [0.5, 7.0]})
    assert_array_equal(model.tuning_["alpha"], [0.5, 7.0])
    assert model.alpha in (0.5, 7.0)
    assert "<-" in str(model.tuning_)


def test_families_can_be_tuned():
    X, y = counts(), classes()
    grid = [Gaussian(PseudoRows(m)) for m in (0.1, 1000.0)]
    model = NaiveBayes().tune(X, y, grid={"families": grid})
    honest = [NaiveBayes(family).cross_validate(X, y).log_loss for family in grid]
    assert_allclose(model.tuning_["log_loss"], honest, rtol=1e-12)
    assert model.families == grid[int(np.argmin(honest))]


@each_model
def test_every_model_can_be_tuned(model):
    X, y = counts(), classes()
    tuned = type(model)(**model.get_params()).tune(X, y)
    losses = tuned.tuning_["log_loss"]
    assert len(losses) > 1
    assert tuned.cross_validate(X, y).log_loss == pytest.approx(losses.min(), rel=1e-9)


# ---- calibration ----


def overconfident(n, seed):
    """Two weak columns, each copied ten times: naive Bayes counts the same evidence ten times."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    return np.repeat(random.normal(y[:, None] * 0.7, 1, (n, 2)), 10, axis=1), y


@pytest.mark.parametrize("calibrated", ["temperature", "isotonic"])
def test_calibration_takes_undue_confidence_away(calibrated, monkeypatch):
    X, y = overconfident(2000, seed=0)
    X_new, y_new = overconfident(4000, seed=1)
    plain = GaussianNB().fit(X, y)
    passes = []
    honest_sum = Local.sum
    monkeypatch.setattr(Local, "sum", lambda *a: passes.append(1) or honest_sum(*a))
    model = GaussianNB(calibrated=calibrated).fit(X, y)
    assert len(passes) == 2  # one sum for the model and one for all folds: no refit
    before, after = (log_loss(y_new, m.predict_proba(X_new)) for m in (plain, model))
    honest = log_loss(y_new, GaussianNB().fit(X[:, ::10], y).predict_proba(X_new[:, ::10]))
    assert before > 2 * honest  # 1.98 against 0.58
    assert after < 1.03 * honest  # the steps of isotonic lines cost 2 %
    proba = model.predict_proba(X_new)
    assert_allclose(proba.sum(axis=1), 1, rtol=EXACT)
    assert_allclose(np.exp(model.predict_log_proba(X_new)), proba, rtol=EXACT)
    # the order of rows stays: calibration only bends the scale
    order = np.argsort(plain.predict_joint_log_proba(X_new) @ [-1, 1], kind="stable")
    assert (np.diff(proba[order, 1]) >= -1e-12).all()


def test_the_temperature_divides_the_log_odds():
    X, y = overconfident(500, seed=0)
    plain, model = GaussianNB().fit(X, y), GaussianNB(calibrated="temperature").fit(X, y)
    temperature = model.calibrator_.temperature
    assert temperature > 2
    odds = [m.predict_log_proba(X) @ [-1, 1] for m in (plain, model)]
    assert_allclose(odds[1], odds[0] / temperature, rtol=1e-9)


@each_model
@pytest.mark.parametrize("calibrated", ["temperature", "isotonic"])
def test_every_model_can_be_calibrated(model, calibrated):
    X, y = counts(), classes()
    model = type(model)(**model.get_params() | {"calibrated": calibrated}).fit(X, y)
    proba = model.predict_proba(X)
    assert np.isfinite(proba).all()
    assert_allclose(proba.sum(axis=1), 1, rtol=EXACT)
    assert_array_equal(model.predict(X), proba.argmax(axis=1))


def test_other_class_probabilities_change_the_calibrated_odds():
    X, y = overconfident(500, seed=0)
    model = GaussianNB(calibrated="temperature").fit(X, y)
    plain, changed = model.predict_log_proba(X), model.predict_log_proba(X, priors=[0.9, 0.1])
    shift = np.log(0.1 / 0.9) - np.log(model.class_prior_[1] / model.class_prior_[0])
    assert_allclose(changed @ [-1, 1], plain @ [-1, 1] + shift, rtol=1e-9)


# ---- decay ----


@each_model
def test_decayed_rows_count_as_parts_of_rows(model):
    X, y = counts(), classes()
    decayed = model.fit(X[:80], y[:80]).decay(0.25).partial_fit(X[80:], y[80:])
    ours = decayed.predict_log_proba(X)
    weight = np.where(np.arange(120) < 80, 0.25, 1.0)
    expected = model.fit(X, y, sample_weight=weight).predict_log_proba(X)
    assert_allclose(ours, expected, rtol=EXACT, atol=EXACT)


def test_decay_by_one_changes_nothing():
    model = GaussianNB().fit(counts(), classes())
    before = model.predict_log_proba(counts())
    assert_array_equal(model.decay(1).predict_log_proba(counts()), before)


# ---- samples ----


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(),
        MultinomialNB(),
        BernoulliNB(),
        CategoricalNB(),
        PoissonNB(),
        NaiveBayes(),
        NaiveBayes("categorical"),
        JointBayes(),
    ],
    ids=repr,
)
def test_models_learned_from_samples_are_the_model(model):
    X = counts()
    model.fit(X, np.array(["a", "b", "c"])[classes()])
    rows, y = model.sample(200_000, random_state=0)
    again = clone(model).fit(rows, y)
    assert_array_equal(again.classes_, model.classes_)
    # some 67,000 rows a class: a share is known to 0.002; a cell of JointBayes, to 5 % of itself
    assert_allclose(again.predict_proba(X), model.predict_proba(X), atol=0.06)
    assert_allclose(again.class_count_ / 200_000, model.class_count_ / 120, atol=0.012)


def test_samples_repeat_with_the_seed_and_differ_without():
    model = GaussianNB().fit(counts(), classes())
    same = [model.sample(5, random_state=1)[0] for _ in range(2)]
    assert_array_equal(*same)
    assert (model.sample(5, random_state=2)[0] != same[0]).any()
    rows, y = model.sample(random_state=0)
    assert rows.shape == (1, 3) and y.shape == (1,)
