"""A model as JavaScript: what Node answers and explains is what Python does."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import special
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression as TheirLogisticRegression

import posterior
from benchmarks.javascript import CASES, answered, gaps, largest_difference, numbers, shop
from posterior import to_javascript
from posterior.generative.evidence_terms import Evidence
from posterior.javascript import writing

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed"),
]

# between two probabilities that are close, a slope of thousands makes a rounding that much larger
LOOSER = {"isotonic": 1e-9}
WORDS = ("words, unit log counts", "words, Bernoulli", "words and pairs, counts", "letters")
UNEXPLAINED = ("mixture", *(name for name in CASES if name.startswith("neighbors")))
EVIL = "</script><!-- \u2028 ' \" \\ ${x} \n"


def in_node(folder: Path, text: str, code: str) -> Any:
    """What a script says that imports the module as `model`."""
    (folder / "model.mjs").write_text(text, "utf-8")
    script = f'import * as model from "./model.mjs";\nconsole.log(JSON.stringify({code}));'
    (folder / "ask.mjs").write_text(script, "utf-8")
    done = subprocess.run(["node", "ask.mjs"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def parsed(value: Any) -> str:
    """As JavaScript reads it: in a literal, __proto__ is no name."""
    return f"JSON.parse({json.dumps(json.dumps(value))})"


def complaint(folder: Path, text: str, row: str) -> str:
    ask = f"(() => {{ try {{ return model.scores({row}); }} catch (e) {{ return e.message; }} }})()"
    return in_node(folder, text, ask)


def differences(terms: list[dict[str, Any]], evidence: Evidence) -> float:
    """The largest between the evidence of the terms, class against the first, and of the prior."""
    worst = 0.0
    for i, told in enumerate(terms):
        ours = {t["name"]: np.array(t["evidence"], float) for t in told["terms"]}
        theirs: dict[str, Any] = {}
        for j, name in enumerate(evidence.feature_names):
            theirs[str(name)] = theirs.get(str(name), 0.0) + evidence.terms[i, :, j]
        zero = np.zeros(len(evidence.classes))
        pairs = [(ours.get(n, zero), theirs.get(n, zero)) for n in {*ours, *theirs}]
        pairs.append((np.array(told["prior"]), evidence.log_prior))
        for a, b in pairs:
            with np.errstate(invalid="ignore"):
                apart = np.nan_to_num(np.abs((a - a[0]) - (b - b[0])))
            worst = max(worst, float((apart / np.maximum(1.0, np.abs(b - b[0]))).max()))
    return worst


@pytest.mark.parametrize("name", CASES)
def test_node_answers_and_explains_as_python_does(name):
    case = CASES[name](600)
    told = 0 if name in UNEXPLAINED else 50
    found = answered(case.model, case.cells, told)
    expected = case.model.predict_log_proba(case.rows)
    assert largest_difference(found.scores, expected) < LOOSER.get(name, 1e-12)
    np.testing.assert_allclose(np.exp(found.scores).sum(axis=1), 1, atol=1e-12)
    if told:
        rows = case.rows[:told]
        evidence = case.model.evidence(rows)
        if name in WORDS:  # names of a document are those of its own words
            assert {t["name"] for one in found.terms for t in one["terms"]} <= {
                str(n) for n in evidence.feature_names
            }
        assert differences(found.terms, evidence) < 1e-10


@pytest.mark.parametrize("name", ["GaussianNB", "pool", "AODE", "logistic regression"])
def test_prior_and_evidence_add_up_to_the_log_odds(name):
    case = CASES[name](100)
    found = answered(case.model, case.cells, 100)
    sums = np.array(
        [np.add(t["prior"], np.sum([e["evidence"] for e in t["terms"]], 0)) for t in found.terms]
    )
    assert largest_difference(sums, found.scores) < 1e-11


def test_the_prediction_is_the_class_of_most_probability(tmp_path):
    X, y = numbers(200, 0)
    model = posterior.GaussianNB().fit(X, y)
    rows = parsed(X[:50].to_dict("records"))
    told = in_node(tmp_path, to_javascript(model), f"{rows}.map(model.predict)")
    assert [t["prediction"] for t in told] == model.predict(X[:50]).tolist()
    shares = [t["probabilities"] for t in told]
    np.testing.assert_allclose(shares, model.predict_proba(X[:50]), atol=1e-12)


# --- cells ----------------------------------------------------------------------------------------


def test_cells_are_read_as_python_reads_them(tmp_path):
    X, y = shop(400, 0)
    model = posterior.Classifier(models=["naive-bayes"]).fit(X, y)
    whole = {
        "age": 41.5,
        "city": "Oslo",
        "member": True,
        "price": "$1,200.50",
        "when": "2022-03-05T13:30:00",
        "day": "05.03.2020",
        "count": 3,
    }
    alike = [  # other ways to say the same
        {"age": "41.5"},
        {"age": " 41.5 "},
        {"price": 1200.5},
        {"price": " $1200.50 "},
        {"when": "2022-03-05 13:30"},
        {"when": "2022-03-05T13:30:00Z"},
        {"when": "2022-03-05T14:30:00+01:00"},
        {"day": "2020-03-05"},
        {"day": "5.3.2020"},
        {"count": "3"},
        {"member": "TRUE"},
        {"never asked for": "?"},
    ]
    rows = json.dumps([whole, *({**whole, **other} for other in alike)])
    first, *others = in_node(tmp_path, to_javascript(model), f"{rows}.map(model.scores)")
    frame = pd.DataFrame([{**whole, "when": pd.Timestamp(whole["when"])}])
    np.testing.assert_allclose(first, model.predict_log_proba(frame)[0], atol=1e-12)
    for other, said in zip(alike, others, strict=True):
        assert said == first, other


@pytest.mark.parametrize("cell", ["null", "undefined", "NaN", '""'])
def test_a_cell_that_is_not_there_is_missing(tmp_path, cell):
    X, y = shop(400, 0)
    model = posterior.NaiveBayes().fit(X[["age", "city"]], y)
    row = f"[{{ age: {cell}, city: 'Oslo' }}, {{ age: 40, city: {cell} }}, {{}}]"
    told = in_node(tmp_path, to_javascript(model), f"{row}.map(model.scores)")
    frame = pd.DataFrame({"age": [np.nan, 40.0, np.nan], "city": ["Oslo", None, None]})
    np.testing.assert_allclose(told, model.predict_log_proba(frame), atol=1e-12)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("{ a: 'abc' }", 'Expected a number in column "a", got "abc".'),
        ("{ a: Infinity }", 'Expected a finite number in column "a", got Infinity.'),
        ("{ a: [1] }", 'Expected a finite number in column "a", got [1].'),
        ("{ a: -1 }", 'Expected no number below zero in column "a", got -1.'),
        ("null", "Expected a row as an object of cells by column."),
    ],
)
def test_a_cell_that_python_refuses_is_refused(tmp_path, row, words):
    model = posterior.NaiveBayes("poisson").fit(pd.DataFrame({"a": [1, 2, 5, 6]}), list("nnyy"))
    assert complaint(tmp_path, to_javascript(model), row) == words


def test_counts_that_must_be_there_are_asked_for(tmp_path):
    model = posterior.MultinomialNB().fit(pd.DataFrame({"a": [1, 0], "b": [0, 2]}), ["x", "y"])
    told = complaint(tmp_path, to_javascript(model), "{ a: 1 }")
    assert told == 'Expected a number in column "b", got null.'


def test_a_row_may_be_an_array_where_columns_have_no_names(tmp_path):
    X, y = numbers(200, 0)
    model = posterior.GaussianNB().fit(X.to_numpy(), y)
    told = in_node(tmp_path, to_javascript(model), f"model.scores({X.iloc[3].tolist()})")
    np.testing.assert_allclose(told, model.predict_log_proba(X[3:4].to_numpy())[0], atol=1e-12)


def test_numbers_are_categories_by_their_digits(tmp_path):
    values = [1.0, 2.5, 1e-5, 1e21, -3.0, 0.1 + 0.2, 123456789.0, 1e-7]
    model = posterior.NaiveBayes("categorical").fit(pd.DataFrame({"a": values * 3}), [*"xy"] * 12)
    rows = json.dumps([{"a": value} for value in values])
    told = in_node(tmp_path, to_javascript(model), f"{rows}.map(model.scores)")
    expected = model.predict_log_proba(pd.DataFrame({"a": values}))
    np.testing.assert_allclose(told, expected, atol=1e-12)
    (column,) = in_node(tmp_path, to_javascript(model), "model.columns")
    assert column["kind"] == "category" and "1e-05" in column["levels"]


# --- names, labels and pages ----------------------------------------------------------------------


def test_any_name_and_label_is_harmless(tmp_path):
    names = [EVIL, "__proto__", "constructor", "toString"]
    X, _ = numbers(120, 0)
    X.columns = names
    X["__proto__"] = np.where(X["__proto__"] > 5, EVIL, "__proto__")
    y = np.where(X["constructor"] > 5, EVIL, "__proto__")
    model = posterior.NaiveBayes().fit(X, y)
    text = to_javascript(model)
    assert "<" not in text.partition("unpacked({")[2].partition("\n")[0]
    assert "</script" not in text
    rows = X.assign(**{"toString": np.nan})[:20]
    found = answered(model, rows, 1)
    assert largest_difference(found.scores, model.predict_log_proba(rows)) < 1e-12
    assert {t["name"] for t in found.terms[0]["terms"]} == set(names)
    assert in_node(tmp_path, text, "model.classes") == model.classes_.tolist()
    nothing = in_node(tmp_path, text, "model.scores({})")
    np.testing.assert_allclose(nothing, model.class_log_prior_, atol=1e-12)


@pytest.mark.parametrize("labels", [[0, 1], [False, True], ["a", "b"], [1.0, 2.0]])
def test_labels_are_what_they_were(tmp_path, labels):
    X, _ = numbers(60, 0)
    y = np.array(labels)[(X["d"] > X["d"].median()).astype(int)]
    text = to_javascript(posterior.LogisticRegression().fit(X, y))
    assert in_node(tmp_path, text, "model.classes") == labels


def test_an_object_says_what_the_module_does(tmp_path):
    X, y = numbers(200, 0)
    model = posterior.GaussianNB().fit(X, y)
    text = f"export const inside = {to_javascript(model, form='object')};"
    row = parsed(X.iloc[0].to_dict())
    alone = in_node(tmp_path, to_javascript(model), f"model.explain({row})")
    assert in_node(tmp_path, text, f"model.inside.explain({row})") == alone
    names = in_node(tmp_path, text, "Object.keys(model.inside)")
    assert names == writing.EXPORTED.split(", ")


def test_nothing_is_evaluated_and_nothing_is_fetched():
    text = "".join(path.read_text("utf-8") for path in Path(writing.__file__).parent.rglob("*.js"))
    assert not re.search(r"\beval\b|new Function|\bimport\b|\bfetch\b|require\(", text)


def test_columns_say_what_a_form_may_ask_for(tmp_path):
    X, y = shop(400, 0)
    text = to_javascript(posterior.Classifier(models=["naive-bayes"]).fit(X, y))
    by_name = {c["name"]: c for c in in_node(tmp_path, text, "model.columns")}
    kinds = {name: by_name[name]["kind"] for name in X}
    assert kinds == {
        "age": "number",
        "city": "category",
        "member": "boolean",
        "price": "number",
        "when": "date",
        "day": "date",
        "count": "number",
    }
    assert set(by_name["city"]["levels"]) == set(X["city"].dropna())
    assert by_name["age"]["low"] == X["age"].min() and by_name["age"]["high"] == X["age"].max()


# --- texts ----------------------------------------------------------------------------------------


def test_letters_become_small_as_in_python(tmp_path):
    """All of Unicode but what one of the two does not know yet, and the sigma by its place."""
    code = """(() => {
      const found = [];
      for (let i = 0; i < 0x110000; i++) {
        if (i >= 0xd800 && i < 0xe000) continue;
        const letter = String.fromCodePoint(i), small = letter.toLowerCase();
        if (small !== letter) found.push([letter, small]);
      }
      return found;
    })()"""
    found = in_node(tmp_path, "", code)
    theirs = dict(found)
    letters = [chr(i) for i in range(sys.maxunicode + 1) if not 0xD800 <= i < 0xE000]
    ours = {letter: letter.lower() for letter in letters if letter.lower() != letter}
    assert {k: theirs[k] for k in theirs.keys() & ours.keys()} == {
        k: ours[k] for k in theirs.keys() & ours.keys()
    }
    assert len(theirs.keys() ^ ours.keys()) < 150
    words = ["ΩΣ", "ΩΣ.", "ΩΣΩ", "Σ", "ΩΣ\u0301", "ΩΣ\u0301Ω"]
    lowered = in_node(tmp_path, "", f"{json.dumps(words)}.map((word) => word.toLowerCase())")
    assert lowered == [word.lower() for word in words]


def test_an_empty_text_is_a_text_and_a_missing_one_says_nothing(tmp_path):
    documents = ["good day", "bad day", "good", "bad"]
    model = posterior.TextClassifier("bernoulli").fit(documents, [1, 0, 1, 0])
    text = to_javascript(model)
    told = in_node(tmp_path, text, "[{ text: '' }, { text: null }].map(model.scores)")
    np.testing.assert_allclose(told, model.predict_log_proba(["", None]), atol=1e-12)


# --- numbers --------------------------------------------------------------------------------------


def test_log_gamma_is_that_of_scipy(tmp_path):
    x = np.concatenate([np.geomspace(1e-8, 1e10, 2000), np.arange(1, 200) / 2])
    part = Path(writing.__file__).parent / "runtime" / "log_gamma.js"
    text = part.read_text("utf-8") + "\nexport { logGamma };"
    told = in_node(tmp_path, text, f"{x.tolist()}.map(model.logGamma)")
    np.testing.assert_allclose(told, special.gammaln(x), rtol=4e-15, atol=1e-15)


def test_rows_far_away_are_answered_as_in_python():
    X, y = numbers(200, 0)
    for model in (posterior.GaussianNB(), posterior.NaiveBayes("student")):
        model.fit(X, y)
        far = gaps(X[:40] * np.geomspace(1, 1e12, 40)[:, None], 0)
        found = answered(model, far)
        assert largest_difference(found.scores, model.predict_log_proba(far)) < 1e-12


def test_a_class_that_is_impossible_stays_so(tmp_path):
    X = pd.DataFrame({"a": ["u", "u", "v", "v"], "b": ["p", "q", "p", "q"]})
    family = posterior.Categorical(posterior.Laplace(0))
    model = posterior.NaiveBayes(family).fit(X, ["x", "x", "y", "y"])
    told = in_node(tmp_path, to_javascript(model), "model.predict({ a: 'u', b: 'p' })")
    assert told == {"prediction": "x", "probabilities": [1, 0]}


def test_the_module_of_an_additive_model_is_small():
    """Tables of trees by their steps: all their numbers would be 2.4 MB."""
    case = CASES["additive model, three classes"](10)
    assert len(to_javascript(case.model)) < 200_000


def test_the_command_writes_the_module(tmp_path):
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from posterior.app.cli.commands_app import app

    X, y = numbers(60, 0)
    model = posterior.GaussianNB().fit(X, y)
    posterior.save(model, tmp_path / "m.posterior")
    told = CliRunner().invoke(app, ["javascript", str(tmp_path / "m.posterior")])
    assert told.exit_code == 0
    assert told.stdout == to_javascript(model)
    told = CliRunner().invoke(app, ["javascript", str(tmp_path / "m.posterior"), "--json"])
    assert json.loads(told.stdout)["javascript"] == to_javascript(model)


# --- what cannot be written -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (posterior.KNeighborsClassifier(p=1), "by Euclidean or mixed distance"),
        (posterior.KNeighborsClassifier(weights=np.exp), "votes weighed by a function"),
        (posterior.KMeans(2, random_state=0), "got KMeans"),
        (TheirLogisticRegression(), "got LogisticRegression"),
        (
            posterior.Pool([("near", posterior.KNeighborsClassifier(p=1))]),
            "'near' does not: .* Fit the pool without 'near'",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_no_module_holds_is_refused_with_the_reason(model, words):
    X, y = numbers(120, 0)
    with pytest.raises(TypeError, match=words):
        to_javascript(model.fit(X, y))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"token_pattern": r"[a-z]+"}, "token_pattern"),
        ({"strip_accents": "unicode"}, "strip_accents"),
        ({"analyzer": str.split}, "a function"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_terms_that_javascript_cuts_otherwise_are_refused(settings, words):
    model = posterior.TextClassifier("multinomial", **settings)
    with pytest.raises(TypeError, match=words):
        to_javascript(model.fit(["good day", "bad day", "good", "bad"], [1, 0, 1, 0]))


def test_a_model_must_be_fitted_and_the_form_known():
    with pytest.raises(NotFittedError):
        to_javascript(posterior.GaussianNB())
    model = posterior.GaussianNB().fit(*numbers(60, 0))
    with pytest.raises(ValueError, match="'module' or 'object', got 'page'"):
        to_javascript(model, form="page")
