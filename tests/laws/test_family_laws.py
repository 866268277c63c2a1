"""A family says one thing in all its ways: scores, evidence, symbols, held out, and on file."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from listed import CELLS, KINDS
from numpy.testing import assert_allclose
from strategies import bits, n_columns, randoms, share, table

import posterior
from posterior import NaiveBayes
from posterior.data.rows import Hard
from posterior.families import Product, by_name
from posterior.families.family import Family, fill
from posterior.families.symbols import Cell
from posterior.statistics.moments import Totals

K = 3
NUMBERS = {name: kind for name, kind in KINDS.items() if kind.support in CELLS}
OF_ARRAYS = {name: kind for name, kind in NUMBERS.items() if kind.support != "category"}
each_family = pytest.mark.parametrize("kind", OF_ARRAYS.values(), ids=OF_ARRAYS.keys())
pytestmark = pytest.mark.filterwarnings("ignore::posterior.DegenerateWarning")


def fitted(kind, random, d, n=20):
    X = table(random, n, d, CELLS[kind.support], kind.reads_missing)
    groups = Hard(random.integers(0, K, n).astype(np.int32), K, random.choice([None, 1.0]))
    if groups.weight is not None:
        groups = Hard(groups.codes, K, random.integers(1, 4, n).astype(float))
    statistics = kind().statistics(X, groups)
    return X, groups, statistics, kind().estimate(statistics)


@each_family
@share(10)
@given(random=randoms, d=n_columns)
def test_scores_are_the_sum_of_the_evidence(kind, random, d):
    X, _, _, parameters = fitted(kind, random, d)
    family, bias = kind(), random.normal(size=K)
    expected = bias + family.evidence(X, parameters).sum(axis=2)
    for scorer in (family.scorer, Family.scorer.__get__(family)):
        assert_allclose(fill(scorer(parameters, bias), X, K), expected, rtol=1e-9, atol=1e-9)
    contrast = fill(family.discriminant(parameters, bias), X, K) - expected
    assert_allclose(contrast, contrast[:, :1] + np.zeros(K), atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("name", OF_ARRAYS)
@share(10)
@given(random=randoms, d=n_columns)
def test_symbols_say_what_the_evidence_does(name, random, d):
    """Up to what all groups share."""
    kind = OF_ARRAYS[name]
    X, _, _, parameters = fitted(kind, random, d)
    cells = [Cell(f"x{j}", j) for j in range(d)]
    columns = {cell: X[:, j] for j, cell in enumerate(cells)}
    evidence = kind().evidence(X, parameters)
    with np.errstate(all="ignore"):
        for j, term in enumerate(kind().formula(parameters, cells)):
            said = np.stack([np.broadcast_to(s.at(columns), len(X)) for s in term.scores], axis=1)
            ours, theirs = (a - a[:, :1] for a in (evidence[:, :, j], said))
            scale = max(1.0, np.nanmax(np.abs(evidence[:, :, j])))
            assert_allclose(theirs, ours, rtol=1e-9, atol=1e-9 * scale)


CLOSED = [name for name in OF_ARRAYS if name not in ("binned", "student")]  # which say how near


@pytest.mark.parametrize("name", CLOSED)
@share(20)
@given(random=randoms, d=n_columns)
def test_leave_one_out_is_subtraction(name, random, d):
    kind = OF_ARRAYS[name]
    X, groups, statistics, _ = fitted(kind, random, d, n=9)
    with np.errstate(all="ignore"):
        ours = kind().leave_one_out(X, groups, statistics)
        plain = Family.leave_one_out(kind(), X, groups, statistics)
    settled = np.isfinite(plain) & np.isfinite(ours)
    assert_allclose(ours[settled], plain[settled], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", [name for name in KINDS if name != "words"])
def test_samples_are_cells_that_the_family_reads(name):
    kind, random = KINDS[name], np.random.default_rng(0)
    X = table(random, 60, 2, CELLS[kind.support], kind.reads_missing)
    model = NaiveBayes(name).fit(X, np.arange(60) % K)
    drawn, classes = model.sample(40, random_state=1)
    assert np.isfinite(model.predict_joint_log_proba(drawn)).any(axis=1).all()
    assert set(classes) <= set(range(K))


@pytest.mark.once
@pytest.mark.parametrize("name", KINDS)
def test_a_model_of_each_family_comes_back_from_its_file(name, tmp_path):
    from listed import table_of

    random = np.random.default_rng(0)
    X = table_of(name)(random, 40)
    model = NaiveBayes(KINDS[name]()).fit(X, np.arange(40) % K)
    posterior.save(model, tmp_path / "model")
    again = posterior.load(tmp_path / "model")
    assert bits(again.predict_joint_log_proba(X)) == bits(model.predict_joint_log_proba(X))
    assert again.family_ == model.family_


BAD = {"positive": [0.0, -1.5], "not negative": [-1.5], "count": [-1.0]}


@pytest.mark.once
@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.support in BAD])
def test_a_cell_outside_of_the_support_is_named(name):
    random = np.random.default_rng(0)
    X = table(random, 30, 2, CELLS[KINDS[name].support], holes=False)
    y = np.arange(30) % K
    model = NaiveBayes(name).fit(X, y)
    for value in BAD[KINDS[name].support]:
        wrong = X.copy()
        wrong[7, 1] = value
        for call in (model.predict, lambda X: NaiveBayes(name).fit(X, y)):
            with pytest.raises(ValueError, match="row 7, column 1"):
                call(wrong)


class Silent(Family):
    """Says no more than it must."""

    def statistics(self, X, groups):
        return Totals.of(X, groups)

    def estimate(self, statistics, pooled=None):
        return statistics.mean()

    def evidence(self, X, parameters):
        return -np.abs(X[:, None, :] - parameters)

    def n_parameters(self, parameters):
        return parameters.size


def test_what_a_family_leaves_out_works_or_is_named():
    random = np.random.default_rng(0)
    X, y = random.exponential(size=(30, 2)), np.arange(30) % 2
    model = NaiveBayes(Silent()).fit(X, y)
    assert model.leave_one_out(X, y).accuracy >= 0
    model.forget(X[:2], y[:2])
    for call, method in ((model.sample, "sample"), (model.parameters, "intervals")):
        with pytest.raises(TypeError, match=f"{method}.*Silent"):
            call()
    with pytest.raises(TypeError, match="Silent"):
        posterior.to_sql(model, columns=["a", "b"])


def test_a_family_must_say_what_it_sums():
    class Nothing(Family):
        """Forgets to."""

    with pytest.raises(TypeError, match="abstract"):
        Nothing()


@pytest.mark.once
def test_every_listed_family_is_a_public_name_and_has_a_line_of_its_own():
    for name, kind in by_name().items():
        assert getattr(posterior, kind.__name__) is kind
        assert kind.__module__ == f"posterior.families.{name}"
        assert NaiveBayes(name).fit([[1], [2]], [0, 1]).family_ in (
            kind(),
            Product((kind(),), ((0,),), 1),
        )
