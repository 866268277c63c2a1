"""A row alone is answered as among others, to the bit, however it is given; and refused alike."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import copy, deepcopy
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier

import posterior
from posterior.estimators.table_classifier import TableClassifier
from posterior.preprocessing.infer_roles import infer

NUMBERS = ["a", "b", "c", "d"]
WORDS = ["city", "kind"]
MODELS: dict[str, Callable[[], Any]] = {
    "naive Bayes": lambda: posterior.NaiveBayes(),
    "by column": lambda: posterior.NaiveBayes(families="auto"),
    "predictive": lambda: posterior.NaiveBayes(predictive=True),
    "binned": lambda: posterior.NaiveBayes({"a": "binned", "b": "student", "c": "kernel"}),
    "numbers as categories": lambda: posterior.NaiveBayes({"d": "categorical"}),
    "calibrated": lambda: posterior.NaiveBayes(calibrated="temperature"),
    "logistic": lambda: posterior.LogisticRegression(),
    "additive": lambda: posterior.Additive(),
    "AODE": lambda: posterior.AODE(),
    "TAN": lambda: posterior.TAN(),
    "KDB": lambda: posterior.KDB(k=2),
    "joint": lambda: posterior.JointBayes(),
    "pool": lambda: posterior.Pool([posterior.NaiveBayes(), posterior.Additive()]),
    "pool of frames": lambda: posterior.Pool(
        [posterior.NaiveBayes(), posterior.KNeighborsClassifier(metric="mixed")]
    ),
    "classifier": lambda: posterior.Classifier(models=["naive-bayes", "additive", "kdb"]),
    "numbers of words": lambda: posterior.Classifier(models=["logistic", "discriminant"]),
}
OF_NUMBERS: dict[str, Callable[[], Any]] = {
    "GaussianNB": lambda: posterior.GaussianNB(),
    "BernoulliNB": lambda: posterior.BernoulliNB(),
    "LDA": lambda: posterior.LinearDiscriminantAnalysis(),
    "QDA": lambda: posterior.QuadraticDiscriminantAnalysis(),
    "discriminant": lambda: posterior.GaussianDiscriminantAnalysis(),
    "logistic of numbers": lambda: posterior.LogisticRegression(),
    "neighbors": lambda: posterior.KNeighborsClassifier(),
}


def table(gaps: bool = True, n: int = 240) -> tuple[pd.DataFrame, Any]:
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(n, 3)), columns=NUMBERS[:3])
    X["d"] = random.integers(0, 6, n)
    X["city"] = random.choice(["Oslo", "Rome", "Bern", "Å"], n)
    X["kind"] = random.choice(["x", "y"], n)
    score = X["a"] + X["b"] * X["c"] + (X["city"] == "Oslo") + random.normal(size=n)
    if gaps:
        X.loc[random.random(n) < 0.1, "b"] = np.nan
        X.loc[random.random(n) < 0.1, "city"] = None
    return X, np.where(score > 1, "yes", np.where(score > -1, "maybe", "no"))


@cache
def fitted(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name in OF_NUMBERS:
            X, y = table(gaps=False)
            return OF_NUMBERS[name]().fit(X[NUMBERS], y)
        X, y = table()
        return MODELS[name]().fit(X, y)


def columns_of(name: str) -> list[str]:
    return NUMBERS if name in OF_NUMBERS else NUMBERS + WORDS


def answer(ask: Callable[[], Any]) -> Any:
    """Probabilities, or the error, as something to compare."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(ask()).tolist()
    except Exception as error:
        return type(error).__name__, str(error)


def record_of(frame: pd.DataFrame, i: int) -> dict[str, Any]:
    return dict(zip(frame.columns, frame.iloc[[i]].to_numpy(object)[0].tolist(), strict=True))


# the matrix products of NumPy round by the number of rows; those of the compiled kernels do not
EVERY = [pytest.param(n, marks=pytest.mark.once) if n == "QDA" else n for n in OF_NUMBERS]


@pytest.mark.parametrize("name", [*MODELS, *EVERY])
def test_a_row_alone_has_the_bits_that_it_has_among_others(name):
    model, X = fitted(name), table(gaps=name in MODELS)[0][columns_of(name)]
    together = model.predict_proba(X).tolist()
    for i in range(0, len(X), 19):
        assert model.predict_proba(X.iloc[[i]])[0].tolist() == together[i]
        record = record_of(X, i)
        assert model.predict_proba_one(record).tolist() == together[i]
        assert model.predict_proba_one(dict(reversed(record.items()))).tolist() == together[i]


plain_numbers = st.one_of(
    st.floats(-5, 5),
    st.floats(),
    st.integers(-9, 9),
    st.integers(-(2**70), 2**70),
    st.sampled_from([None, np.nan, float("inf"), -0.0, 1e308, True, "3", "three", "", pd.NA]),
    st.sampled_from([np.float64(1.5), np.float32(0.1), np.int64(3), Decimal("1.5"), [1], {}]),
)
plain_words = st.one_of(
    st.sampled_from(["Oslo", "Rome", "x", "y", "Paris", "", " x", "x\0", "NA", "?", None]),
    st.text(max_size=3),
    st.sampled_from([np.nan, pd.NA, 1, 1.0, 2.5, True, float("inf"), 2**60, Decimal("2"), ["x"]]),
)


@pytest.mark.parametrize("name", [*MODELS, *OF_NUMBERS])
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_any_cells_are_answered_or_refused_as_a_frame_of_them(name, data):
    model, columns = fitted(name), columns_of(name)
    record = record_of(table(gaps=False)[0][columns], 3)
    for column in data.draw(st.sets(st.sampled_from(columns), min_size=1, max_size=2)):
        record[column] = data.draw(plain_words if column in WORDS else plain_numbers)
    frame = pd.DataFrame({column: pd.Series([cell]) for column, cell in record.items()})
    expected = answer(lambda: model.predict_proba(frame)[0])
    assert answer(lambda: model.predict_proba_one(record)) == expected


@pytest.mark.parametrize("name", [*MODELS, *OF_NUMBERS])
def test_other_columns_are_refused_or_ignored_as_those_of_a_frame(name):
    model = fitted(name)
    record = record_of(table(gaps=False)[0][columns_of(name)], 0)
    for changed in (record | {"more": 1.0}, {k: v for k, v in record.items() if k != "a"}, {}):
        frame = pd.DataFrame({column: [cell] for column, cell in changed.items()})
        if len(changed) == 0:
            with pytest.raises((ValueError, TypeError)):
                model.predict_proba_one(changed)
            continue
        expected = answer(lambda frame=frame: model.predict_proba(frame)[0])
        assert answer(lambda changed=changed: model.predict_proba_one(changed)) == expected
    with pytest.raises(TypeError, match="Expected a record, a dict of cells"):
        model.predict_proba_one([1.0, 2.0])


def shop(n: int = 300) -> tuple[pd.DataFrame, Any]:
    """Dates, truths, texts, many values, written numbers and marks of missing cells."""
    random = np.random.default_rng(1)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(0, 900, n), unit="D")
    names = np.array([f"shop {i}" for i in range(60)])
    shops = random.choice(names, n)
    y = (random.random(n) < np.where(days.month > 6, 0.8, 0.2)).astype(int)
    words = np.array(["good fine nice", "bad poor broken", "late slow parcel", "quick kind help"])
    said = [f"{words[(2 * k + random.integers(2)) % 4]} item {random.integers(99)}" for k in y]
    frame = pd.DataFrame(
        {
            "day": days,
            "written": [f"{d:%Y-%m-%d}" for d in days],
            "price": [f"${v:,.2f}" for v in random.gamma(2, 900, n)],
            "size": np.where(random.random(n) < 0.1, "?", random.choice(["S", "M", "L"], n)),
            "new": random.random(n) < 0.5,
            "shop": shops,
            "said": said,
            "count": random.poisson(3 + y),
        }
    )
    return frame, np.where(y, "yes", "no")


@cache
def shopper() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return posterior.Classifier(models=["naive-bayes", "additive", "logistic"]).fit(*shop())


def test_dates_texts_and_many_values_are_read_alone_as_among_others():
    model, (frame, _) = shopper(), shop()
    together = model.predict_proba(frame).tolist()
    for i in range(0, len(frame), 11):
        assert model.predict_proba(frame.iloc[[i]])[0].tolist() == together[i]
        assert model.predict_proba_one(record_of(frame, i)).tolist() == together[i]


HOSTILE = {
    "day": [None, "2021-05-01", "soon", pd.NaT, pd.Timestamp("2021-05-01", tz="Europe/Oslo"), 3],
    "written": [None, "2021-05-01", "2021-13-01", "?", 20210501, pd.Timestamp("2021-05-01")],
    "price": [None, "$3.50", "3.5", 3.5, "call us", "n/a", float("inf"), True],
    "size": [None, "M", "XXL", "?", " ? ", 3, 3.0, True, ["M"]],
    "new": [None, True, False, "True", "false", "TRUE", 1, "maybe"],
    "shop": [None, "shop 1", "nowhere", "", 7, np.nan],
    "said": [None, "bad poor", "", "?", 12, np.nan],
    "count": [None, 3, 3.5, "3", "three", np.nan, -1, 2**80, pd.NA],
}


@pytest.mark.parametrize("column", HOSTILE)
def test_hostile_cells_alone_are_read_as_in_a_column(column):
    """Beside another row the frame is read column by column."""
    model, (frame, _) = shopper(), shop()
    for cell in HOSTILE[column]:
        record = record_of(frame, 5) | {column: cell}
        two = {name: pd.Series([value, value]) for name, value in record.items()}
        expected = answer(lambda two=two: model.predict_proba(pd.DataFrame(two))[0])
        one = {name: pd.Series([value]) for name, value in record.items()}
        alone = answer(lambda one=one: model.predict_proba(pd.DataFrame(one))[0])
        assert alone == expected, cell
        assert answer(lambda record=record: model.predict_proba_one(record)) == expected, cell


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_every_library_and_type_of_columns_gives_the_same_row(library):
    model, (X, _) = fitted("classifier"), table()
    frame = X.head(30).astype({"a": "float32", "d": "Int64", "kind": "category"})
    frame["city"] = frame["city"].astype("string")
    given: Any = frame
    if library != "pandas":
        pa = pytest.importorskip("pyarrow")
        given = pa.Table.from_pandas(frame, preserve_index=False)
        if library == "polars":
            given = pytest.importorskip("polars").from_arrow(given)
    together = model.predict_proba(given).tolist()
    for i in range(len(frame)):
        one = given.iloc[[i]] if library == "pandas" else given[i : i + 1]
        assert model.predict_proba(one)[0].tolist() == together[i]


@pytest.mark.once  # as for QDA above
def test_a_row_of_an_array_has_the_bits_that_it_has_among_others():
    X, y = table(gaps=False)
    X = X[NUMBERS].to_numpy()
    X[::9, 1] = np.nan
    model = posterior.Classifier(models=["naive-bayes", "additive", "discriminant"]).fit(X, y)
    together = model.predict_proba(X).tolist()
    assert [model.predict_proba(row[None])[0].tolist() for row in X] == together
    record = dict(zip(NUMBERS, X[0].tolist(), strict=True))
    expected = answer(lambda: model.predict_proba(pd.DataFrame([record]))[0])
    assert answer(lambda: model.predict_proba_one(record)) == expected


@pytest.mark.parametrize("reads", ["table", "numbers", "everything"])
def test_a_model_of_a_file_answers_records_whatever_it_is(reads):
    X, y = table()
    roles = infer(X.assign(y=y), "y")
    numbers = RandomForestClassifier(5, random_state=0), posterior.KNeighborsClassifier()
    tables = posterior.LogisticRegression(), posterior.NaiveBayes(), posterior.TAN()
    for inner in numbers if reads == "numbers" else tables:
        model = TableClassifier(inner, roles, reads=reads).fit(X, y)
        together = model.predict_proba(X.head(20)).tolist()
        for i in range(20):
            assert model.predict_proba_one(record_of(X, i)).tolist() == together[i]
            assert model.predict_proba(X.iloc[[i]])[0].tolist() == together[i]


@pytest.mark.parametrize("name", [*MODELS, *OF_NUMBERS])
def test_what_is_prepared_is_in_no_pickle(name):
    again = pickle.loads(pickle.dumps(fitted(name)))
    fresh = pickle.dumps(again)
    record = record_of(table(gaps=False)[0][columns_of(name)], 1)
    found = again.predict_proba_one(record).tolist()
    assert found == fitted(name).predict_proba_one(record).tolist()
    assert len(pickle.dumps(again)) == len(fresh)


@pytest.mark.parametrize("name", ["naive Bayes", "AODE", "TAN", "KDB", "GaussianNB", "LDA"])
def test_what_is_prepared_does_not_outlive_a_change(name):
    model, (X, y) = copy(fitted(name)), table(gaps=False)
    X = X[columns_of(name)]
    record = record_of(X, 1)
    before = model.predict_proba_one(record).tolist()
    model.partial_fit(X, y[::-1])
    after = model.predict_proba_one(record).tolist()
    assert after != before
    assert after == model.predict_proba(X)[1].tolist()


def test_many_threads_may_ask_a_model_for_the_first_time():
    X, y = table()
    model = posterior.Classifier(models=["naive-bayes", "kdb", "additive"]).fit(X, y)
    expected = model.predict_proba(X).tolist()
    model = pickle.loads(pickle.dumps(model))  # nothing is prepared
    records = [record_of(X, i) for i in range(len(X))]
    with ThreadPoolExecutor(8) as threads:
        found = [p.tolist() for p in threads.map(model.predict_proba_one, records)]
    assert found == expected


STAGES: dict[str, Callable[[Any, Any], Any]] = {
    "fitted": lambda model, X: model,
    "answered": lambda model, X: (model.predict(X), model)[1],
    "unpickled": lambda model, X: pickle.loads(pickle.dumps(model)),
    "copied": lambda model, X: deepcopy(model),
}
OF_SUMS = {  # what is prepared for answers, or shown beside it
    "GaussianNB": ("theta_", "var_", "class_prior_"),
    "LinearDiscriminantAnalysis": ("means_", "coef_", "intercept_"),
    "GaussianDiscriminantAnalysis": ("means_", "covariance_"),
    "NaiveBayes": ("class_log_prior_",),
}


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", OF_SUMS)
def test_parameters_of_sums_cannot_be_changed_in_place_before_an_answer_or_after(name, stage):
    X, y = table(gaps=False)
    model = STAGES[stage](getattr(posterior, name)().fit(X[NUMBERS], y), X[NUMBERS])
    for attribute in OF_SUMS[name]:
        with pytest.raises(ValueError, match="read-only"):
            getattr(model, attribute)[...] = 3.0


@pytest.mark.parametrize("stage", STAGES)
def test_coefficients_that_are_changed_in_place_answer_as_changed(stage):
    X, y = table(gaps=False)
    model = STAGES[stage](posterior.LogisticRegression().fit(X[NUMBERS], y), X[NUMBERS])
    model.coef_[...] = 0.0
    model.intercept_[...] = 0.0
    assert (np.ptp(model.predict_proba(X[NUMBERS]), axis=1) == 0).all()


def test_parameters_can_be_set_anew_and_stay_those_of_who_set_them():
    X, y = table(gaps=False)
    model = posterior.GaussianNB().fit(X[NUMBERS], y)
    mine, shares = model.theta_ + 1.0, np.full(len(model.classes_), 1 / len(model.classes_))
    before = model.predict_proba(X[NUMBERS]).tolist()
    model.theta_, model.class_prior_ = mine, shares
    after = model.predict_proba(X[NUMBERS]).tolist()
    assert after != before
    mine[0, 0] = shares[0] = 3.0
    assert model.predict_proba(X[NUMBERS]).tolist() == after


def test_what_a_model_is_stated_by_stays_with_who_stated_it():
    X, y = table(gaps=False)
    learned, stated = posterior.GaussianNB().fit(X[NUMBERS], y), posterior.GaussianNB()
    mine = {name: getattr(learned, name).copy() for name in ("theta_", "var_", "class_prior_")}
    stated.classes_, stated.n_features_in_ = learned.classes_, learned.n_features_in_
    for name, value in mine.items():
        setattr(stated, name, value)
    answers = stated.predict_proba(X[NUMBERS].to_numpy()).tolist()
    for value in mine.values():
        value[...] = 9.0
    assert stated.predict_proba(X[NUMBERS].to_numpy()).tolist() == answers


def test_read_only_parameters_go_on_learning_merging_and_forgetting():
    X, y = table(gaps=False)
    X = X[NUMBERS]
    model = posterior.GaussianNB().fit(X[:20], y[:20])
    model.predict(X)
    model.partial_fit(X[20:], y[20:])
    other = deepcopy(model)
    model.merge(other).forget(X, y)
    whole = posterior.GaussianNB().fit(X, y)
    assert np.array_equal(model.theta_, whole.theta_)
    assert not model.theta_.flags.writeable
