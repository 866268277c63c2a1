"""What is given by the names of the classes is what is given in their order."""

from __future__ import annotations

from inspect import signature

import numpy as np
import pytest
from everyone import Subject, every
from numpy.testing import assert_array_equal

from posterior import GaussianNB, MixtureClassifier, load, save

pytestmark = [
    pytest.mark.once,
    pytest.mark.filterwarnings("ignore::posterior.DegenerateWarning"),
]
NAMES = np.array(["maybe", "no", "yes"])
PRIORS = np.array([0.2, 0.1, 0.7])
COSTS = np.array([[0, 5.0, 1], [2, 0, 9], [1, 8, 0]])
BY_NAME = {"yes": 0.7, "maybe": 0.2, "no": 0.1}
COSTS_BY_NAME = {
    "no": {"yes": 9.0, "maybe": 2.0},
    "maybe": {"maybe": 0.0, "no": 5.0, "yes": 1.0},
    "yes": {"no": 8.0, "maybe": 1.0},
}


def takes(method: str, name: str):
    def asked(subject: Subject) -> bool:
        return (
            subject.is_classifier
            and subject.has(method)
            and name in signature(getattr(subject.kind, method)).parameters
        )

    return asked


def fitted(subject: Subject, **settings):
    X, codes = subject.table(np.random.default_rng(2), 90, 3)
    return subject.fit(X, NAMES[codes], **settings), X


def of_the_class(subject: Subject) -> str | None:
    names = signature(subject.kind).parameters
    return next((name for name in ("priors", "class_prior") if name in names), None)


@every(takes("predict_proba", "priors"))
def test_priors_by_class_are_those_in_order(subject):
    model, X = fitted(subject)
    for method in ("predict_proba", "predict_log_proba", "predict"):
        ask = getattr(model, method)
        assert_array_equal(ask(X, priors=BY_NAME), ask(X, priors=PRIORS))


@every(takes("predict", "costs"))
def test_costs_by_class_are_those_in_order(subject):
    model, X = fitted(subject)
    assert_array_equal(model.predict(X, costs=COSTS_BY_NAME), model.predict(X, costs=COSTS))


@every(lambda subject: subject.is_classifier and of_the_class(subject) is not None)
def test_priors_of_the_constructor_may_come_by_class(subject, tmp_path):
    name = of_the_class(subject)
    named, X = fitted(subject, **{name: BY_NAME})
    in_order, _ = fitted(subject, **{name: PRIORS})
    assert_array_equal(named.predict_proba(X), in_order.predict_proba(X))
    save(named, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.get_params()[name] == BY_NAME
    assert_array_equal(again.predict_proba(X), in_order.predict_proba(X))


@every(takes("predict_proba", "priors"))
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"yes": 0.5, "no": 0.5}, "'maybe' is missing"),
        ({**BY_NAME, "never": 0.0}, "'never', which is none of them"),
        ({"yes": 0.5, "no": 0.1, "maybe": 0.1}, "sum of the priors"),
    ],
    ids=["missing", "unknown", "sum"],
)
def test_priors_of_other_classes_are_refused(subject, given, said):
    model, X = fitted(subject)
    with pytest.raises(ValueError, match=said):
        model.predict_proba(X, priors=given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"yes": {"no": 5.0}}, "'maybe' is missing"),
        ({**COSTS_BY_NAME, "never": {}}, "'never', which is none of them"),
        ({**COSTS_BY_NAME, "yes": {"no": 1.0}}, "costs for 'yes' .*'maybe' is missing"),
        ({**COSTS_BY_NAME, "yes": {"nope": 1.0}}, "'nope', which is none of them"),
        ({**COSTS_BY_NAME, "yes": 3.0}, "got 3.0 for 'yes'"),
    ],
    ids=["missing", "unknown", "answer missing", "answer unknown", "no table"],
)
def test_costs_of_other_classes_are_refused(given, said):
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = GaussianNB().fit(X, NAMES[np.arange(30) % 3])
    with pytest.raises(ValueError, match=said):
        model.predict(X, costs=given)


def test_classes_that_are_numbers_go_by_these():
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = GaussianNB().fit(X, np.arange(30) % 2)
    assert_array_equal(
        model.predict_proba(X, priors={1: 0.9, 0: 0.1}), model.predict_proba(X, priors=[0.1, 0.9])
    )


def test_priors_by_class_hold_where_some_labels_are_hidden():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.where(np.arange(60) % 4 == 3, None, NAMES[np.arange(60) % 3])
    named, in_order = (
        MixtureClassifier(GaussianNB(priors=priors)).fit(X, y) for priors in (BY_NAME, PRIORS)
    )
    assert_array_equal(named.predict_proba(X), in_order.predict_proba(X))
