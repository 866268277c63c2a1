"""The model file: what is saved is loaded to the last bit, and goes on learning."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import posterior
from posterior import ModelFileError, estimators
from posterior.preprocessing.infer_roles import infer
from posterior.storage import container, earlier, inspect, model_files
from posterior.storage.registry import classes
from posterior.storage.value_tree import Reader, Writer

RANDOM = np.random.default_rng(0)
N = 48
X = RANDOM.normal(size=(N, 3))
Y = np.arange(N) % 3
WORDS = RANDOM.integers(0, 4, (N, 3))
GAPS = np.where(RANDOM.random((N, 3)) < 0.1, np.nan, X)
NAMES = np.array(["no", "yes", "a longer name"])[Y]
STRINGS = ["".join(RANDOM.choice(list("abcé"), 1 + i % 5)) for i in range(N)]
CITIES = np.where(RANDOM.random(N) < 0.2, None, np.array(["Rome", "Oslo", "Ys\0"])[WORDS[:, 0] % 3])
FRAME = pd.DataFrame(
    {"size": GAPS[:, 0], "city": CITIES, "visits": np.where(CITIES == "Rome", np.nan, WORDS[:, 1])}
)
DOCUMENTS = [" ".join(RANDOM.choice(["good", "bad", "Straße", "no"], 5)) for _ in range(N)]

ROLES = infer(FRAME.assign(kind=NAMES), "kind", keep=list(FRAME))

MODELS = {
    "GaussianNB": (posterior.GaussianNB(), X, Y),
    "GaussianNB, missing cells": (posterior.GaussianNB(), GAPS, NAMES),
    "BernoulliNB": (posterior.BernoulliNB(), X > 0, Y),
    "CategoricalNB": (posterior.CategoricalNB(), WORDS, NAMES),
    "MultinomialNB": (posterior.MultinomialNB(), sparse.csr_array(WORDS), Y),
    "ComplementNB": (posterior.ComplementNB(norm=True), WORDS * 0.1, Y),
    "PoissonNB": (posterior.PoissonNB(), WORDS, Y),
    "JointBayes": (posterior.JointBayes(), WORDS, Y),
    "NaiveBayes": (posterior.NaiveBayes({"visits": "poisson"}), FRAME, NAMES),
    "NaiveBayes, families": (
        posterior.NaiveBayes({"city": posterior.Categorical(posterior.MEstimate(2.0, None))}),
        FRAME,
        Y,
    ),
    "NaiveBayes, a column left out": (posterior.NaiveBayes({"city": None}), FRAME, Y),
    "NaiveBayes, dates": (posterior.NaiveBayes(), X, np.datetime64("2020-01-01") + Y),
    "AODE": (posterior.AODE(weighted=True), FRAME, NAMES),
    "AODE, codes": (posterior.AODE(categories=True), WORDS, Y),
    "TAN": (posterior.TAN(smoothing=posterior.Laplace(1.0)), FRAME, NAMES),
    "KDB": (posterior.KDB(2), FRAME, Y),
    "KDB, selective": (posterior.KDB(2, selective=True), FRAME, NAMES),
    "Additive": (posterior.Additive(rounds=8), FRAME, NAMES),
    "Additive, two classes": (posterior.Additive(rounds=8), GAPS, Y == 1),
    "Additive, by path": (posterior.Additive(depth=5, rounds=4, rate=0.1), FRAME, Y),
    "LinearDiscriminantAnalysis": (posterior.LinearDiscriminantAnalysis(), X, Y),
    "QuadraticDiscriminantAnalysis": (posterior.QuadraticDiscriminantAnalysis(), X, Y),
    "GaussianDiscriminantAnalysis": (posterior.GaussianDiscriminantAnalysis(), GAPS, Y),
    "LogisticRegression": (posterior.LogisticRegression(), X, Y),
    "LogisticRegression, mixed": (posterior.LogisticRegression(), FRAME, Y == 1),
    "LogisticRegressionCV": (posterior.LogisticRegressionCV(cv=3, Cs=2), X, Y),
    "Mixture": (posterior.Mixture(n_components=2, random_state=0), FRAME, None),
    "GaussianMixture": (posterior.GaussianMixture(2, random_state=0, tol=0.1), X, None),
    "MixtureClassifier": (posterior.MixtureClassifier(posterior.GaussianNB()), X, NAMES),
    "MixtureClassifier, several components": (
        posterior.MixtureClassifier(posterior.GaussianNB(), n_components=2, random_state=0),
        X,
        NAMES,
    ),
    "MixtureClassifier, components by class": (
        posterior.MixtureClassifier(n_components={1: 3}, hidden_label=0, random_state=0),
        FRAME,
        Y,
    ),
    "KMeans": (posterior.KMeans(2, random_state=np.random.RandomState(3)), X, None),
    "MiniBatchKMeans": (posterior.MiniBatchKMeans(2, random_state=4), X, None),
    "KMedoids": (posterior.KMedoids(2), GAPS, None),
    "KMedoids, strings": (posterior.KMedoids(2, metric="edit"), STRINGS, None),
    "KMedoids, mixed": (posterior.KMedoids(2, metric="mixed"), FRAME, None),
    "KMedoids, sparse": (posterior.KMedoids(2, metric="cosine"), sparse.csr_array(WORDS), None),
    "KMedoids, learned": (posterior.KMedoids(2, metric="mahalanobis"), X, None),
    "KNeighborsClassifier": (posterior.KNeighborsClassifier(), X, np.stack([Y, Y > 0], axis=1)),
    "KNeighborsClassifier, auto": (posterior.KNeighborsClassifier("auto", n_jobs=1), GAPS, NAMES),
    "KNeighborsClassifier, strings": (posterior.KNeighborsClassifier(metric="edit"), STRINGS, Y),
    "KNeighborsClassifier, mixed": (posterior.KNeighborsClassifier(metric="mixed"), FRAME, Y),
    "KNeighborsClassifier, sparse": (posterior.KNeighborsClassifier(), sparse.csr_array(WORDS), Y),
    "KBinsDiscretizer": (posterior.KBinsDiscretizer(3, encode="onehot-dense"), GAPS, None),
    "SupervisedDiscretizer": (posterior.SupervisedDiscretizer(max_values=20), GAPS, NAMES),
    "CountVectorizer": (
        posterior.CountVectorizer(ngram_range=(1, 2), dtype=np.float32),
        DOCUMENTS,
        Y,
    ),
    "TfidfVectorizer": (posterior.TfidfVectorizer(stop_words=["no"]), DOCUMENTS, Y),
    "TfidfTransformer": (posterior.TfidfTransformer(), sparse.csr_array(WORDS), Y),
    "HashingVectorizer": (posterior.HashingVectorizer(n_features=16), DOCUMENTS, Y),
    "TextClassifier": (posterior.TextClassifier(), DOCUMENTS, NAMES),
    "TextClassifier, a stream": (posterior.TextClassifier("multinomial"), DOCUMENTS, Y),
    "Pool": (posterior.Pool([posterior.GaussianNB(), posterior.KNeighborsClassifier(3)]), X, Y),
    "Pool, names": (posterior.Pool({"a": posterior.GaussianNB()}), X, NAMES),
    "Classifier": (posterior.Classifier(models=["naive-bayes", "discriminant"]), FRAME, NAMES),
    "TableClassifier": (estimators.TableClassifier(posterior.NaiveBayes(), ROLES), FRAME, NAMES),
}
each_model = pytest.mark.parametrize(("model", "X", "y"), MODELS.values(), ids=MODELS.keys())


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a model.posterior"


def there_and_back(model, path):
    posterior.save(model, path)
    return posterior.load(path)


def content(model):
    """All that a file has of a model: equal if every bit of it is."""
    writer = Writer()
    tree = json.dumps([writer.node(model), writer.arrays])
    return tree, {n: (t.dtype, t.shape, t.tobytes()) for n, t in writer.tensors.items()}


def answers(model, table):
    """What a model says of rows."""
    asked = ("predict", "predict_proba", "decision_function", "transform", "score_samples")
    return {name: bits(getattr(model, name)(table)) for name in asked if hasattr(model, name)}


def bits(answer):
    if isinstance(answer, list):
        return [bits(part) for part in answer]
    answer = answer.toarray() if sparse.issparse(answer) else np.asarray(answer)
    return answer.dtype, answer.shape, answer.tobytes()


def some(table, rows):
    if isinstance(table, list):
        return table[rows]
    return table.iloc[rows] if isinstance(table, pd.DataFrame) else table[rows]


def test_every_estimator_is_among_those_saved_here():
    named = {n for n in posterior.__all__ if n in estimators.__all__ or n.endswith("Discretizer")}
    public = {n for n in named if isinstance(getattr(posterior, n), type)}
    assert public <= {type(model).__name__ for model, _, _ in MODELS.values()}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@each_model
def test_a_model_is_loaded_to_the_last_bit(model, X, y, path):
    model = clone(model).fit(X, y)
    loaded = there_and_back(model, path)
    assert content(loaded) == content(model)
    assert answers(loaded, X) == answers(model, X)
    assert loaded.get_params().keys() == model.get_params().keys()
    posterior.save(loaded, path.with_name("again"))
    assert path.read_bytes() == path.with_name("again").read_bytes()


@each_model
def test_a_model_that_learned_nothing_yet_is_loaded_too(model, X, y, path):
    loaded = there_and_back(model, path)
    assert type(loaded) is type(model)
    assert content(loaded) == content(model)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@each_model
def test_a_loaded_model_goes_on_learning_as_the_one_saved(model, X, y, path):
    first, second = slice(0, 30), slice(30, N)
    rows, more = some(X, first), some(X, second)
    labels = (None, None) if y is None else (y[first], y[second])
    model = clone(model).fit(rows, labels[0])
    other = clone(model).fit(more, labels[1])
    models = [model, there_and_back(model, path)]
    for verb, arguments in {
        "partial_fit": (more, labels[1]),
        "forget": (more, labels[1]),
        "merge": (other,),
        "decay": (0.5,),
    }.items():
        if verb == "forget" and not hasattr(model, "forget"):
            continue
        said = []
        for m in models:
            try:
                getattr(m, verb)(*arguments)
                said.append(content(m))
            except (AttributeError, ValueError, TypeError) as error:  # says what it cannot do
                said.append(str(error))
        if isinstance(model, posterior.LogisticRegression) and verb == "partial_fit":
            assert "not stored or copied since" in said[1]  # the rows of a fit are not in a file
            return
        if isinstance(model, posterior.Additive):
            assert "stored or sent, which holds none" in said[1]  # nor are those of boosting
            return
        assert said[0] == said[1], verb
    assert answers(models[0], X) == answers(models[1], X)


def test_a_stream_that_has_too_few_rows_yet_goes_on(path):
    model = posterior.LinearDiscriminantAnalysis().partial_fit(X[:1], Y[:1], classes=[0, 1, 2])
    loaded = there_and_back(model, path)
    for m in (model, loaded):
        with pytest.raises(posterior.DegenerateError):
            m.predict(X)
        m.partial_fit(X[1:], Y[1:])
    assert answers(loaded, X) == answers(model, X)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_a_stream_of_logistic_regression_goes_on_from_its_file(form, path):
    model = posterior.LogisticRegression().partial_fit(form(X[:40]), Y[:40])
    for start in range(40, len(X), 7):
        model.partial_fit(form(X[start : start + 7]), Y[start : start + 7])
        loaded = there_and_back(model, path)
        assert content(loaded) == content(model)
        assert answers(loaded, form(X)) == answers(model, form(X))
        model = loaded


def test_files_are_loaded_by_another_process(tmp_path):
    for i, (model, X, y) in enumerate(MODELS.values()):
        posterior.save(clone(model).fit(X, y), tmp_path / f"{i}.posterior")
    program = """
import sys, pathlib, posterior
for path in pathlib.Path(sys.argv[1]).glob("*.posterior"):
    posterior.save(posterior.load(path), path.with_suffix(".again"))
"""
    subprocess.run([sys.executable, "-c", program, tmp_path], check=True, timeout=300)
    files = sorted(tmp_path.glob("*.posterior"))
    assert [f.read_bytes() == f.with_suffix(".again").read_bytes() for f in files] == [True] * len(
        MODELS
    )


plain_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**300), 2**300)
    | st.floats()
    | st.text(st.characters(exclude_categories=()))
    | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3)
    ),
    max_leaves=8,
)


def told(value):
    """A value through a tree of JSON and back."""
    writer = Writer()
    tree = json.loads(json.dumps([writer.node(value), writer.arrays]))
    return Reader(writer.tensors, tree[1]).value(tree[0])


@given(plain_values)
def test_plain_values_come_back_as_they_were(value):
    # repr tells -0.0, NaN, True and 1 apart, as == does not
    assert repr(told(value)) == repr(value)


@given(st.sets(st.text() | st.integers()))
def test_sets_come_back_as_they_were(value):
    assert told(value) == value
    assert type(told(frozenset(value))) is frozenset
    assert told((value, frozenset(value))) == (value, frozenset(value))


@pytest.mark.parametrize(
    "array",
    [
        np.array(2.5),
        np.array([-0.0, np.nan, np.inf, 5e-324]),
        np.zeros((0, 3)),
        np.arange(6, dtype=np.uint8).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(12.0).reshape(3, 4)[::2, ::2],
        np.array([True, False]),
        np.array([1.5], np.float16),
        np.array([1 + 2j]),
        np.array([1, 2], ">i4"),
        np.array(["é", "", "日本", "\ud800"]),
        np.array([b"a", b"\xff"]),
        np.array(["2020-01-01", "NaT"], "datetime64[D]"),
        np.array([1, 2], "timedelta64[ms]"),
        np.array(["a\0", None, 2.5, 10**30, (1, "x")], dtype=object),
    ],
    ids=lambda array: array.dtype.str,
)
def test_arrays_come_back_as_they_were(array):
    back = told(array)
    assert back.dtype == array.dtype.newbyteorder("=")
    assert back.shape == array.shape
    assert back.flags.f_contiguous == array.flags.f_contiguous or not array.flags.contiguous
    if array.dtype == object:
        assert repr(back) == repr(array)
    else:
        assert back.tobytes() == array.astype(array.dtype.newbyteorder("=")).tobytes()
        assert back.flags.writeable


@pytest.mark.parametrize(
    "value",
    [
        np.float32(0.1),
        np.int64(-(2**63)),
        np.str_("é"),
        np.datetime64("2020-01-01T00:00"),
        np.bool_(True),
        np.dtype("<f4"),
        np.float32,
        float,
        datetime.date(2020, 2, 29),
        datetime.datetime(2020, 2, 29, 1, 2, 3, 4, datetime.UTC),
        datetime.time(1, 2),
        datetime.timedelta(-1, 5),
        Decimal("1.10"),
    ],
    ids=repr,
)
def test_numbers_types_and_times_come_back_as_they_were(value):
    back = told(value)
    assert type(back) is type(value)
    assert back == value


@pytest.mark.parametrize("kind", ["csr_array", "csr_matrix", "csc_array", "csc_matrix"])
def test_sparse_matrices_come_back_as_they_were(kind):
    matrix = getattr(sparse, kind)(WORDS)
    back = told(matrix)
    assert type(back) is type(matrix)
    assert (back != matrix).nnz == 0


@pytest.mark.parametrize(
    "random",
    [
        np.random.RandomState(1),
        *(
            np.random.Generator(getattr(np.random, bits)(1))
            for bits in ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
        ),
    ],
    ids=str,
)
def test_random_generators_go_on_where_they_were(random):
    random.standard_normal(3)
    assert np.array_equal(told(random).standard_normal(9), random.standard_normal(9))


def test_an_array_that_is_shared_is_stored_once():
    array = np.zeros(1000)
    writer = Writer()
    writer.node([array, {"again": array}])
    assert len(writer.tensors) == 1
    first, second = told([array, array])
    assert first is second


@pytest.mark.parametrize(
    ("model", "parameter"),
    [
        (posterior.KNeighborsClassifier(metric=lambda a, b: 0.0), "metric"),
        (posterior.KNeighborsClassifier(weights=np.ones_like), "weights"),
        (posterior.KMeans(init=max), "init"),
        (posterior.MixtureClassifier(make_pipeline(posterior.GaussianNB())), "classifier"),
        (posterior.KNeighborsClassifier(metric_params={"a": [open]}), r"metric_params\['a'\]\[0\]"),
        (posterior.GaussianNB(priors=np.zeros(2, np.longdouble)), "priors"),
    ],
)
def test_what_no_file_can_hold_is_named_before_anything_is_written(model, parameter, path):
    path.write_text("before")
    with pytest.raises(TypeError, match=f"Expected .* in {parameter}. .* set {parameter[:4]}"):
        posterior.save(model, path)
    assert path.read_text() == "before"
    assert [p.name for p in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("thing", [make_pipeline(posterior.GaussianNB()), 3, posterior.GaussianNB])
def test_only_models_of_this_package_are_saved(thing, path):
    with pytest.raises(TypeError, match="Expected a model of this package to save, got "):
        posterior.save(thing, path)


def test_a_value_within_itself_is_refused(path):
    endless: list = []
    endless.append(endless)
    with pytest.raises(ValueError, match="nested at most 100 deep"):
        posterior.save(posterior.GaussianNB(priors=endless), path)


def test_settings_of_scikit_learn_are_kept(path):
    with posterior_routing():
        model = posterior.GaussianNB().set_fit_request(sample_weight="w")
        loaded = there_and_back(model, path)
        assert loaded.get_metadata_routing().fit.requests["sample_weight"] == "w"
        assert clone(loaded).get_metadata_routing().fit.requests["sample_weight"] == "w"


def posterior_routing():
    from sklearn import config_context

    return config_context(enable_metadata_routing=True)


def test_inspect_tells_what_a_file_holds_without_building_it(path, monkeypatch):
    posterior.save(posterior.NaiveBayes({"visits": "poisson"}).fit(FRAME, NAMES), path)
    monkeypatch.setattr(model_files.container, "read", None)
    told = inspect(path)
    assert told["class"] == "NaiveBayes"
    assert told["model"] == "NaiveBayes(families={'visits': 'poisson'})"
    assert told["classes"] == ["a longer name", "no", "yes"]
    assert told["columns"] == [
        {"name": "size", "role": "Gaussian"},
        {"name": "city", "role": "Categorical"},
        {"name": "visits", "role": "Poisson"},
    ]
    assert told["rows"] == N
    assert told["n_features"] == 3
    assert told["schema"] == 1
    assert told["version"] == posterior.__version__
    assert told["bytes"] == path.stat().st_size
    json.dumps(told)


def test_any_reader_of_safetensors_opens_the_file(path):
    from safetensors.numpy import load_file

    posterior.save(posterior.GaussianNB().fit(X, Y), path)
    tensors = load_file(path)
    assert json.loads(tensors["model"].tobytes())["model"]["class"][0] == "estimators.GaussianNB"


def test_an_old_file_is_upgraded_step_by_step(path, monkeypatch):
    """As if version 1 had called the smoothing of GaussianNB by another name."""
    model = posterior.GaussianNB(var_smoothing=0.5)
    posterior.save(model, path)
    old = path.read_bytes().replace(b'"var_smoothing"', b'"smoothing_var"')
    path.write_bytes(old)
    tensors, head = raw(path)
    container.write(path, tensors, head)
    with pytest.raises(ModelFileError, match="smoothing_var"):
        posterior.load(path)

    def upgrade(tree):
        _, state = tree["model"]["class"]
        state["var_smoothing"] = state.pop("smoothing_var")
        return tree

    monkeypatch.setattr(model_files, "SCHEMA", 3)
    monkeypatch.setattr(model_files, "UPGRADES", {1: upgrade, 2: lambda tree: tree})
    assert posterior.load(path).var_smoothing == 0.5


def test_a_newer_file_says_who_can_read_it(path, monkeypatch):
    monkeypatch.setattr(model_files, "SCHEMA", 2)
    monkeypatch.setattr(model_files, "_version", lambda: "9.1")
    posterior.save(posterior.GaussianNB(), path)
    monkeypatch.undo()
    for read in (posterior.load, inspect):
        with pytest.raises(ModelFileError, match=r"written by a newer posterior \(9.1\): upgrade"):
            read(path)


def test_a_parameter_younger_than_the_file_has_its_default(path):
    posterior.save(posterior.GaussianNB(var_smoothing=0.5), path)
    tensors, head = raw(path)
    tree = json.loads(tensors["model"].tobytes())
    del tree["model"]["class"][1]["calibrated"]
    tensors["model"] = np.frombuffer(json.dumps(tree).encode(), np.uint8)
    container.write(path, tensors, head)
    assert posterior.load(path).get_params() == posterior.GaussianNB(var_smoothing=0.5).get_params()


def raw(path):
    """Tensors and head of a file, whatever its checksum."""
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        head = json.loads(file.metadata()[container.HEAD])
        del head[container.CHECKSUM]
        return {name: file.get_tensor(name) for name in file.keys()}, head


def test_no_class_beyond_the_package_can_be_named():
    assert len(classes()) > 50
    assert {thing.__module__.split(".")[0] for thing in classes().values()} == {"posterior"}


def test_the_permissions_are_those_of_the_umask(path):
    before = os.umask(0o026)
    try:
        posterior.save(posterior.GaussianNB(), path)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_failure_leaves_the_old_file(path, monkeypatch):
    posterior.save(posterior.GaussianNB(), path)
    before = path.read_bytes()

    def full(_):
        raise OSError("No space left on device")

    monkeypatch.setattr(container.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        posterior.save(posterior.PoissonNB(), path)
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        posterior.save(posterior.GaussianNB(), tmp_path / "nowhere" / "a.posterior")


@pytest.mark.parametrize("families", [None, "auto", {"b": "poisson"}], ids=repr)
def test_models_that_kept_a_schema_instead_of_a_plan_are_loaded(families):
    """As they were written before plans were stored."""
    random = np.random.default_rng(0)
    y = np.arange(60) % 2
    table = pd.DataFrame(
        {"a": random.normal(y), "b": random.poisson(1 + y), "c": random.choice(["u", "v"], 60)}
    )
    model = posterior.NaiveBayes(families).fit(table, y)
    state = model.get_params() | {
        "n_features_in_": 3,
        "feature_names_in_": model.feature_names_in_,
        "classes_": model.classes_,
        "statistics_": model.statistics_,
        "chosen_": model.plan_.rules.chosen,
        "schema_": [earlier.Column(n, k) for n, k in zip("abc", model.plan_.kinds, strict=True)],
    }
    loaded = posterior.NaiveBayes()
    loaded.__setstate__(earlier.upgraded(posterior.NaiveBayes, state))
    assert_array_equal(loaded.predict_log_proba(table), model.predict_log_proba(table))
    loaded.partial_fit(table, y)
    assert loaded.plan_.blocks == model.plan_.blocks
