"""Files that were damaged, changed or made up: a clear error or a model, and nothing worse.

Everything here loads files that no user wrote. What such a file must never do: run code, end the
interpreter, take more memory than its size explains, or take forever.
"""

from __future__ import annotations

import copy
import json
import os
import signal
import struct
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

import posterior
from posterior import ModelFileError
from posterior.data.shapes import declared
from posterior.engines.local import Local
from posterior.neighbors.metrics import Metric
from posterior.storage import container, earlier, inspect
from posterior.storage.registry import classes
from posterior.storage.value_tree import Writer, built

pytestmark = pytest.mark.once

RANDOM = np.random.default_rng(1)
X, Y = RANDOM.normal(size=(12, 2)), np.arange(12) % 2
COUNTS = RANDOM.integers(0, 3, (12, 2))
FRAME = pd.DataFrame(
    {"size": np.where(COUNTS[:, 0] > 1, np.nan, X[:, 0]), "city": list("abcabcabcabc")}
)
DOCUMENTS = ["good fun", "bad news", "so good", "so bad"] * 3
MODELS = {
    "Gaussian": (posterior.GaussianNB(), X),
    "mixed": (posterior.NaiveBayes(), FRAME),
    "categories": (posterior.CategoricalNB(), COUNTS),
    "bins": (posterior.NaiveBayes(posterior.Binned(n_bins=3)), X),
    "sparse": (posterior.MultinomialNB(), sparse.csr_array(COUNTS)),
    "discriminant": (posterior.LinearDiscriminantAnalysis(), X),
    "gaps": (posterior.GaussianDiscriminantAnalysis(), np.where(np.eye(12, 2) > 0, np.nan, X)),
    "logistic": (posterior.LogisticRegression(), X),
    "additive": (posterior.Additive(rounds=8), FRAME),
    "components": (posterior.MixtureClassifier(n_components=2, random_state=0), X),
    "mixture": (posterior.GaussianMixture(2, random_state=np.random.RandomState(0)), X),
    "clusters": (posterior.MiniBatchKMeans(2, random_state=0), X),
    "neighbors": (posterior.KNeighborsClassifier(2), X),
    "sparse neighbors": (posterior.KNeighborsClassifier(2), sparse.csr_array(COUNTS)),
    "documents": (posterior.TextClassifier("multinomial"), DOCUMENTS),
    "pool": (posterior.Pool([posterior.GaussianNB(), posterior.AODE()]), X),
    "classifier": (posterior.Classifier(models=["naive-bayes", "logistic"]), FRAME),
    "mixed neighbors": (posterior.KNeighborsClassifier(2, metric="mixed"), FRAME),
}
STRANGE = [
    *[None, True, -1, 0, 1, 7, 2**40, 1.5, "x", "", [], {}],
    *[{"int": hex(2**70)}, {"float": "nan"}, {"tuple": []}, {"dict": []}, {"array": 0}],
    *[{"array": 1}, {"scalar": 0}, {"type": "object"}, {"class": ["families.Gaussian", {}]}],
]
CODE = {"exec", "compile", "import", "os.system", "os.exec", "subprocess.Popen", "ctypes.dlopen"}
NAMES = ["fit", "predict", "__class__", "__dict__", "_joint", "engine_", "x_"]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A file of each model, as tensors, head and bytes."""
    found, folder = {}, tmp_path_factory.mktemp("saved")
    for name, (model, table) in MODELS.items():
        path = folder / name
        posterior.save(clone(model).fit(table, Y), path)
        found[name] = *container.read(path), path.read_bytes()
    return found


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.posterior"


@pytest.fixture
def unsynced(monkeypatch):
    """Thousands of files are written here, and none must outlast the power."""
    monkeypatch.setattr(container.os, "fsync", lambda handle: None)


def places(tree, path=()):
    """Where the nodes of a tree are."""
    yield path
    if isinstance(tree, dict | list):
        for key, node in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from places(node, (*path, key))


def at(tree, path):
    for key in path:
        tree = tree[key]
    return tree


def change_tree(tree, random):
    """Replace, copy, delete, double or rename a node."""
    found = list(places(tree))
    *above, last = found[random.integers(1, len(found))]
    parent, way = at(tree, above), random.integers(4)
    if way == 0:
        parent[last] = copy.deepcopy(STRANGE[random.integers(len(STRANGE))])
    elif way == 1:
        parent[last] = copy.deepcopy(at(tree, found[random.integers(len(found))]))
    elif way == 2:
        del parent[last]
    elif isinstance(parent, list):
        parent.insert(last, copy.deepcopy(parent[last]))
    else:
        parent[random.choice(NAMES)] = parent[last]


def change_tensor(tensors, random):
    """Cut, turn, double, flatten or convert a tensor, or put a strange number into it."""
    name = random.choice([name for name in tensors if name != "model"])
    tensor, way = tensors[name], random.integers(6)
    if way == 0 and tensor.ndim:
        tensor = tensor[: random.integers(len(tensor) + 1)]
    elif way == 1:
        tensor = tensor.T
    elif way == 2:
        tensor = np.concatenate([tensor.reshape(1, -1)] * 2)
    elif way == 3:
        with np.errstate(invalid="ignore"):
            tensor = tensor.astype(random.choice(["f4", "f8", "i8", "i4", "u1"]))
    elif way == 4 and tensor.size:
        tensor = tensor.copy()
        strange = random.choice([0, 1, 2, 100, tensor.size, 255])
        tensor.reshape(-1)[random.integers(tensor.size)] = strange - 100 * (random.random() < 0.3)
    else:
        tensor = tensor.reshape(-1)
    tensors[name] = np.ascontiguousarray(tensor)


def changed(tensors, random):
    """A file that somebody changed with care: its checksum will fit."""
    tensors, tree = dict(tensors), json.loads(tensors["model"].tobytes())
    if random.random() < 0.6:
        change_tree(tree, random)
    else:
        change_tensor(tensors, random)
    tensors["model"] = np.frombuffer(json.dumps(tree).encode(), np.uint8)
    return tensors


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore")
def test_a_changed_file_gives_a_model_or_a_clear_error(name, saved, path, unsynced):
    random = np.random.default_rng(len(name))
    tensors, head, _ = saved[name]
    refused = 0
    for _ in range(150):
        container.write(path, changed(tensors, random), head)
        try:
            model = posterior.load(path)
        except ModelFileError as error:
            refused += 1
            assert str(path) in str(error)
        else:
            assert type(model).__module__.startswith("posterior.")
    assert refused > 30


def use_changed_models(seed, n):
    """Load changed files and use what comes of them; errors are fine, an early end is not.

    Python tells its hooks whenever it imports, compiles or runs something: loading does not.
    """
    import warnings

    warnings.simplefilter("ignore")
    container.os.fsync = lambda handle: None
    random, path = np.random.default_rng(seed), Path(sys.argv[1])
    used, loading, seen = 0, [False], set()
    for kind in classes().values():  # any of which a changed file may name
        with suppress(TypeError, NameError):  # what cannot be made by itself is not looked at
            declared(object.__new__(kind))  # Python compiles annotations when first asked
    sys.addaudithook(lambda event, _: seen.add(event) if loading[0] else None)
    for model, table in MODELS.values():
        posterior.save(clone(model).fit(table, Y), path)
        posterior.load(path)  # now all modules are there
        tensors, head = container.read(path)
        for _ in range(n):
            container.write(path, changed(tensors, random), head)
            loading[0] = True
            try:
                loaded = posterior.load(path)
            except ModelFileError:
                continue
            finally:
                loading[0] = False
            used += 1
            for verb in ("predict", "predict_proba", "partial_fit", "predict", "transform"):
                try:
                    getattr(loaded, verb)(*[table, Y][: 1 + (verb == "partial_fit")])
                except Exception:
                    continue
    assert not seen & CODE, seen & CODE
    print("used", used)


def test_no_changed_file_runs_code_or_ends_the_interpreter(tmp_path):
    """In a process of its own: what a loop would read beyond an array might end it."""
    program = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); "
        "from test_model_file_damage import use_changed_models; use_changed_models(5, 30)"
    )
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", program, tmp_path / "a"],
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    assert int(done.stdout.split()[-1]) > 50


def test_a_flipped_bit_is_noticed(saved, path):
    random = np.random.default_rng(0)
    for _, _, content in saved.values():
        for _ in range(100):
            damaged = bytearray(content)
            damaged[random.integers(len(damaged))] ^= 1 << random.integers(8)
            path.write_bytes(damaged)
            with pytest.raises(ModelFileError, match=r"Expected .*model"):
                posterior.load(path)


def test_a_cut_file_is_noticed(saved, path):
    content = saved["mixed"][2]
    for length in [*range(0, len(content), 37), len(content) - 1]:
        path.write_bytes(content[:length])
        for read in (posterior.load, inspect):
            with pytest.raises(ModelFileError, match="something else, or its end is missing"):
                read(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"a,b\n1,2\n",
        b"\x80\x04\x95cposix\nsystem\n.",
        bytes(1000),
        b"\xff" * 1000,
        struct.pack("<Q", 2**63) + b"{}",
        struct.pack("<Q", 2) + b"{}",
        struct.pack("<Q", 100_000) + b"[" * 100_000,
    ],
    ids=["empty", "table", "pickle", "zeros", "ones", "huge", "no tensors", "deep"],
)
def test_a_foreign_file_is_told_from_a_model(content, path):
    path.write_bytes(content)
    for read in (posterior.load, inspect):
        with pytest.raises(ModelFileError, match="Expected a model file"):
            read(path)


def test_tensors_of_others_are_told_from_a_model(path):
    from safetensors.numpy import save_file

    save_file({"weight": np.zeros(3)}, path, {"format": "pt"})
    for read in (posterior.load, inspect):
        with pytest.raises(ModelFileError, match="holds other tensors"):
            read(path)


def test_a_file_that_is_not_there_and_a_folder_are_told(tmp_path):
    with pytest.raises(FileNotFoundError):
        posterior.load(tmp_path / "nothing")
    with pytest.raises(ModelFileError, match="no plain file"):
        posterior.load(tmp_path)


def test_a_pipe_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="no plain file"):
        posterior.load(tmp_path / "pipe")


def with_model(path, node, arrays=(), **tensors):
    """A file whose tree is made up."""
    tree = json.dumps({"model": node, "arrays": list(arrays)}).encode()
    container.write(
        path,
        {"model": np.frombuffer(tree, np.uint8), **tensors},
        {"schema": 1, "version": "0", "summary": {}},
    )


@pytest.mark.parametrize(
    "node",
    [
        {"class": ["os.system", {"command": "touch /tmp/x"}]},
        {"class": ["builtins.eval", {}]},
        {"class": ["subprocess.Popen", {"args": "true"}]},
        {"class": ["sklearn.svm.SVC", {}]},
        {"class": ["kernels.Tree", {}]},
        {"class": [["estimators.GaussianNB"], {}]},
        {"class": "estimators.GaussianNB"},
        {"class": ["estimators.GaussianNB", {"predict": 1}]},
        {"class": ["estimators.GaussianNB", {"__class__": 1}]},
        {"class": ["estimators.GaussianNB", {"__reduce__": 1}]},
        {"class": ["estimators.GaussianNB", {"a b": 1}]},
        {"class": ["families.Laplace", {"alpha": -1.0}]},
        {"class": ["families.Laplace", {"beta": 1.0}]},
        {"method": {"tuple": [{"class": ["engines.Local", {}]}, "__init__"]}},
        {"method": {"tuple": ["x", "upper"]}},
        {"type": "posterior"},
        {"dtype": "<U99999999999"},
        {"dtype": "f8,f8"},
        {"function": "print"},
        {"random": {"dict": [["bit_generator", "SeedSequence"]]}},
        {"csr_array": [[2, 2], {"array": 0}, {"array": 0}, {"array": 0}]},
        {"array": 3},
        {"array": -1},
        {"array": True},
        {"scalar": 0},
        {"int": "0x" + "z" * 10},
        {"dict": [[["list"], 1]]},
        {"set": [["list"]]},
        {"timedelta": {"tuple": [10**30]}},
        {"date": "tomorrow"},
        {"list": 1, "tuple": []},
        {},
        3,
        "estimators.GaussianNB",
    ],
    ids=lambda node: json.dumps(node)[:50],
)
def test_what_is_no_model_is_refused(node, path):
    with_model(path, node, [{"tensor": "0", "dtype": "<f8"}], **{"0": np.arange(3.0)})
    with pytest.raises(ModelFileError, match="Expected a model in"):
        posterior.load(path)


@pytest.mark.parametrize(
    ("note", "tensor"),
    [
        ({"dtype": "<f8"}, np.arange(3)),
        ({"dtype": "|O"}, np.arange(3)),
        ({"dtype": "<U2"}, np.zeros((2, 3), np.uint32)),
        ({"dtype": "<U1"}, np.full((2, 1), 0x110000, np.uint32)),
        ({"dtype": "<U0"}, np.zeros((2, 0), np.uint32)),
        ({"dtype": "|b1"}, np.array([2, 3], np.uint8)),
        ({"dtype": "<f8"}, np.zeros((2**40, 0))),
        ({"dtype": "|V8"}, np.zeros(2)),
        ({"shape": [2**40], "cells": [1]}, np.zeros(0)),
        ({"shape": [-1], "cells": [1]}, np.zeros(0)),
        ({"shape": [2**40, 0], "cells": []}, np.zeros(0)),
    ],
    ids=str,
)
def test_an_array_that_is_not_what_it_says_is_refused(note, tensor, path):
    node = {"class": ["estimators.GaussianNB", {"priors": {"array": 0}}]}
    with_model(path, node, [{"tensor": "0", **note}], **{"0": tensor})
    with pytest.raises(ModelFileError, match="Expected a model in"):
        posterior.load(path)


def cut(array):
    return np.ascontiguousarray(array[..., :-1])


def known(model):
    """The terms that a model of documents knows."""
    return model.fitted_.reader.vocabulary


def tables(model):
    """Those of an additive model."""
    return model.fitted_.terms


def set_field(value, name, new):
    object.__setattr__(value, name, new)


BROKEN = {
    "variances of fewer columns": ("Gaussian", lambda m: set_field(m, "var_", cut(m.var_))),
    "means of fewer columns": ("Gaussian", lambda m: set_field(m, "theta_", cut(m.theta_))),
    "one prior": ("Gaussian", lambda m: set_field(m, "class_prior_", m.class_prior_[:1])),
    "three classes": ("Gaussian", lambda m: set_field(m.fitted_.labels, "classes", np.arange(3))),
    "nine features": ("Gaussian", lambda m: set_field(m.fitted_.reader.columns, "n", 9)),
    "sums of fewer columns": (
        "Gaussian",
        lambda m: set_field(m.statistics_.features.total, "limbs", np.zeros((2, 1, 1), np.int64)),
    ),
    "no limbs": (
        "Gaussian",
        lambda m: set_field(m.statistics_.weight, "limbs", np.zeros((2, 0), np.int64)),
    ),
    "a huge exponent": ("Gaussian", lambda m: set_field(m.statistics_.weight, "exponent", 2**20)),
    "limbs that overflow": (
        "Gaussian",
        lambda m: m.statistics_.weight.limbs.__setitem__((0, -1), -(2**63)),
    ),
    "limbs that were not carried": (
        "Gaussian",
        lambda m: set_field(
            m.statistics_.weight, "limbs", np.stack([np.full(2, 2**40), np.zeros(2, int)], axis=1)
        ),
    ),
    "sums that are infinite": (
        "gaps",
        lambda m: set_field(m.statistics_.features.complete.products, "exponent", 4096),
    ),
    "columns beyond all memory": (
        "mixed",
        lambda m: set_field(m.joint_.family, "n_columns", 2**31 - 1),
    ),
    "columns of a pool beyond all memory": (
        "pool",
        lambda m: set_field(m.fitted_.columns, "n", 2**31),
    ),
    "bins beyond all memory": (
        "bins",
        lambda m: set_field(m.fitted_.rule.family, "n_bins", 2**31 - 1),
    ),
    "a column of two families": (
        "mixed",
        lambda m: set_field(m.joint_.family, "columns", ((0,), (0,))),
    ),
    "a column too few": ("mixed", lambda m: set_field(m.plan_, "kinds", m.plan_.kinds[:1])),
    "probabilities of fewer values": (
        "mixed",
        lambda m: set_field(
            m.joint_.parameters[1], "log_prob", (m.joint_.parameters[1].log_prob[0][:, :2],)
        ),
    ),
    "no value": (
        "categories",
        lambda m: set_field(
            m.fitted_.joint.parameters, "log_prob", tuple(p[:, :1] for p in m.feature_log_prob_)
        ),
    ),
    "weights of words": ("sparse", lambda m: set_field(m, "feature_log_prob_", np.zeros((2, 1)))),
    "axes of fewer columns": (
        "discriminant",
        lambda m: set_field(m.parameters_.whitening[0], "matrix", np.zeros((1, 2))),
    ),
    "coefficients of fewer columns": ("logistic", lambda m: set_field(m, "coef_", cut(m.coef_))),
    "two lines of coefficients": ("logistic", lambda m: set_field(m, "coef_", np.zeros((2, 2)))),
    "a table too short": (
        "additive",
        lambda m: set_field(tables(m), "values", tables(m).values[:-1].copy()),
    ),
    "tables of two outputs": (
        "additive",
        lambda m: set_field(tables(m), "values", np.repeat(tables(m).values, 2, axis=1)),
    ),
    "tables nowhere": ("additive", lambda m: tables(m).values.fill(np.nan)),
    "columns that are not there": (
        "additive",
        lambda m: set_field(tables(m), "column", tables(m).column + np.int32(1)),
    ),
    "axes beyond the columns": (
        "additive",
        lambda m: set_field(tables(m), "axis", tables(m).axis + 1),
    ),
    "groups beyond a table": ("additive", lambda m: tables(m).group.__setitem__(1, 200)),
    "groups of fewer cells": (
        "additive",
        lambda m: set_field(m.fitted_.reader, "cuts", (m.fitted_.reader.cuts[0][:-1],)),
    ),
    "groups that begin nowhere": (
        "additive",
        lambda m: set_field(tables(m), "first", tables(m).first[::-1].copy()),
    ),
    "more cells than codes": (
        "additive",
        lambda m: set_field(m.fitted_.reader, "cuts", (tuple(map(float, range(300))),)),
    ),
    "cuts in no order": (
        "additive",
        lambda m: set_field(m.fitted_.reader, "cuts", (m.fitted_.reader.cuts[0][::-1],)),
    ),
    "weights of fewer cells": (
        "additive",
        lambda m: set_field(m.fitted_, "cell_weight", m.fitted_.cell_weight[:1]),
    ),
    "two intercepts": ("additive", lambda m: set_field(m.fitted_, "intercept", np.zeros(2))),
    "components of more classes": (
        "components",
        lambda m: set_field(m.fitted_.components, "sizes", (2, 2, 2)),
    ),
    "components that are not there": (
        "components",
        lambda m: set_field(m.fitted_.components, "sizes", (2, 3)),
    ),
    "a class of no component": (
        "components",
        lambda m: set_field(m.fitted_.components, "sizes", (0, 4)),
    ),
    "no components": ("components", lambda m: set_field(m, "fitted_", m.fitted_.fitted)),
    "weights of more components": ("mixture", lambda m: set_field(m, "weights_", np.ones(3) / 3)),
    "centers of fewer columns": (
        "clusters",
        lambda m: set_field(m, "cluster_centers_", cut(m.cluster_centers_)),
    ),
    "centers nowhere": (
        "clusters",
        lambda m: set_field(m, "cluster_centers_", np.full((2, 2), np.nan)),
    ),
    "more clusters than centers": ("clusters", lambda m: set_field(m, "n_clusters", 9)),
    "codes beyond the classes": (
        "neighbors",
        lambda m: set_field(m.fitted_.rows, "codes", m.fitted_.rows.codes + 1),
    ),
    "codes of fewer rows": (
        "neighbors",
        lambda m: set_field(m.fitted_.rows, "codes", m.fitted_.rows.codes[:5]),
    ),
    "rows nowhere": (
        "neighbors",
        lambda m: set_field(m.fitted_.rows, "X", np.full((12, 2), np.inf)),
    ),
    "a power of no distance": (
        "neighbors",
        lambda m: m.fitted_.metric.settings.update(p=np.nan),
    ),
    "a covariance of fewer columns": (
        "neighbors",
        lambda m: m.fitted_.metric.settings.update(VI=np.eye(1)),
    ),
    "columns beyond the table": (
        "sparse neighbors",
        lambda m: set_field(m.fitted_.rows.X, "column", m.fitted_.rows.X.column + 2),
    ),
    "rows beyond the entries": (
        "sparse neighbors",
        lambda m: set_field(m.fitted_.rows.X, "start", m.fitted_.rows.X.start + 1),
    ),
    "terms in no order": (
        "documents",
        lambda m: set_field(known(m).terms, "data", known(m).terms.data[::-1].copy()),
    ),
    "terms beyond the text": (
        "documents",
        lambda m: set_field(known(m).terms, "starts", 2 * known(m).terms.starts),
    ),
    "columns beyond the vocabulary": (
        "documents",
        lambda m: set_field(known(m), "columns", known(m).columns + 1),
    ),
    "weights of fewer terms": (
        "documents",
        lambda m: set_field(
            m.fitted_.model.parameters, "weight", cut(m.fitted_.model.parameters.weight)
        ),
    ),
    "sums of other terms": (
        "documents",
        lambda m: set_field(m.statistics_.features, "column", m.statistics_.features.column + 9),
    ),
    "columns of unequal length": (
        "mixed neighbors",
        lambda m: set_field(m.fitted_.rows.X, "parts", (np.zeros(12), np.zeros(3))),
    ),
}


@pytest.mark.parametrize(("name", "damage"), BROKEN.values(), ids=BROKEN.keys())
def test_what_compiled_loops_rely_on_is_looked_at(name, damage, path):
    """In a file that somebody made with care, and in a model that somebody changed by hand."""
    model, table = MODELS[name]
    model = clone(model).fit(table, Y)
    damage(model)
    with pytest.raises(ValueError, match="Expected a model as it was learned"):
        posterior.save(model, path)
    assert not path.exists()
    writer = Writer()
    with_model(path, writer.node(model), writer.arrays, **writer.tensors)
    with pytest.raises(ModelFileError, match="Expected a model in"):
        posterior.load(path)


@pytest.mark.parametrize("pos", [-1, 625, 2**40])
def test_a_random_generator_points_into_its_own_memory(pos, path):
    posterior.save(posterior.KMeans(random_state=np.random.RandomState(0)), path)
    tensors, head = container.read(path)
    tree = tensors["model"].tobytes().replace(b'["pos",624]', b'["pos",%d]' % pos)
    container.write(path, tensors | {"model": np.frombuffer(tree, np.uint8)}, head)
    with pytest.raises(ModelFileError, match="pos from 0 to 624"):
        posterior.load(path)


def test_a_tree_too_deep_is_refused(path):
    for deep in (200, 100_000):
        tree = b'{"arrays":[],"model":' + b"[" * deep + b"]" * deep + b"}"
        head = {"schema": 1, "version": "0", "summary": {}}
        container.write(path, {"model": np.frombuffer(tree, np.uint8)}, head)
        with pytest.raises(ModelFileError, match="Expected a model in"):
            posterior.load(path)


@pytest.mark.parametrize(
    ("rows", "codes", "classes"),
    [
        (X, Y[:, None] + 1, [0, 1]),
        (X, Y[:5, None], [0, 1]),
        (X, Y[:, None], [1, 0]),
        (np.full((12, 2), np.inf), Y[:, None], [0, 1]),
        (X[:, :1], Y[:, None], [0, 1]),
    ],
)
def test_rows_that_an_earlier_version_kept_are_looked_at_too(rows, codes, classes):
    def load(rows, codes, classes):
        examples = earlier.Examples(rows, codes, (2,), None)
        metric = Metric("euclidean", {})
        state = {
            "_examples": examples,
            "_search": earlier.SearchState(examples, metric, "auto", 5, Local(), None),
            "_closed": False,
            "classes_": np.array(classes),
            "outputs_2d_": False,
            "smoothing_": 0.0,
            "n_features_in_": 2,
        }
        return built(posterior.KNeighborsClassifier, state)

    kept = posterior.KNeighborsClassifier().fit(X, Y)
    np.testing.assert_array_equal(load(X, Y[:, None], [0, 1]).predict(X), kept.predict(X))
    with pytest.raises(ModelFileError, match="got something else"):
        load(rows, codes, classes)


BOUNDED = """
import resource, sys
import numpy, posterior
from posterior import ModelFileError, load
from posterior.storage import registry
registry.classes()
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 200_000_000,) * 2)
for name in sys.argv[1:]:
    try:
        load(name)
    except ModelFileError as error:
        print(error)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="limits memory as Linux does")
@pytest.mark.may_skip("only Linux tells how much memory a process has")
def test_loading_takes_no_more_memory_than_the_file_explains(tmp_path):
    """In a process that has 200 MB left: files that claim terabytes are refused, not believed."""
    header = {"model": {"dtype": "U8", "shape": [2**42], "data_offsets": [0, 2**42]}}
    claimed = json.dumps(header).encode()
    (tmp_path / "a").write_bytes(struct.pack("<Q", len(claimed)) + claimed + bytes(100))
    node = {"class": ["estimators.GaussianNB", {"priors": {"array": 0}}]}
    with_model(tmp_path / "b", node, [{"shape": [2**42], "cells": [0]}])
    with_model(
        tmp_path / "c", node, [{"dtype": "<U1000000000", "tensor": "0"}], **{"0": np.zeros(9)}
    )
    exact = {"class": ["statistics.Exact", {"limbs": {"array": 0}, "exponent": 2**40}]}
    note = {"dtype": "<i8", "tensor": "0"}
    with_model(tmp_path / "d", exact, [note], **{"0": np.zeros((3, 1), np.int64)})
    (tmp_path / "e").write_bytes(struct.pack("<Q", 2**40) + b"{}")
    files = sorted(tmp_path.iterdir())
    done = subprocess.run(
        [sys.executable, "-c", BOUNDED, *files], capture_output=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    assert done.stdout.count(b"Expected a model") == len(files)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a copy of this process")
@pytest.mark.may_skip("systems without fork")
def test_a_process_that_dies_while_saving_leaves_the_old_or_the_new_file(tmp_path):
    path, many = tmp_path / "a.posterior", np.zeros(300_000)
    models = [posterior.GaussianNB(priors=many, var_smoothing=v) for v in (1, 2)]
    posterior.save(models[0], path)
    for wait in (0.01, 0.03, 0.06, 0.1):
        child = os.fork()
        if child == 0:
            try:
                while True:  # until it is killed
                    for model in models:
                        posterior.save(model, path)
            finally:
                os._exit(1)
        time.sleep(wait)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert posterior.load(path).var_smoothing in (1, 2)
        assert len(list(tmp_path.iterdir())) <= 3  # the model, a part of the next, and the lock
        for left in tmp_path.glob(".*"):  # what was being written when the process died
            left.unlink()
