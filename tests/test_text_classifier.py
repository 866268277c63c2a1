"""TextClassifier: sums that stream, merge and forget to the bit, and words that say why."""

from __future__ import annotations

import csv
import pickle
import runpy
import tarfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

import posterior
from posterior import TextClassifier
from posterior.data.rows import Hard
from posterior.storage.value_tree import built
from posterior.text.damping import COUNTS, MOST, UNIT, UNIT_LOG_COUNTS, WEIGHTINGS
from posterior.text.term_sums import TermSums
from posterior.text.term_weights import WeighedTerms

MAILS = [
    "Win money now, cheap money",
    "cheap pills, buy now",
    "win a prize: money, MONEY, money!",
    "see you at lunch",
    "lunch at noon? see the agenda",
    "the agenda of our meeting at noon",
    "meeting moved, see you there",
]
LABELS = ["spam", "spam", "spam", "ham", "ham", "ham", "ham"]
NAIVE = ["multinomial", "complement", "contrast", "bernoulli"]
DAMPED = WEIGHTINGS[UNIT_LOG_COUNTS]
TOKYO = [  # Manning, Raghavan and Schütze (2008), table 13.1
    "Chinese Beijing Chinese",
    "Chinese Chinese Shanghai",
    "Chinese Macao",
    "Tokyo Japan Chinese",
]

some = settings(max_examples=max(10, settings.default.max_examples // 20))  # of many fits each

words = st.sampled_from(["ash", "birch", "cedar", "date", "elm", "fig", "Gum", "ß", "größe"])
texts = st.lists(words, max_size=6).map(" ".join) | st.none()
labeled = st.tuples(texts, st.sampled_from(["a", "b", "c"]))
corpora = st.lists(labeled, min_size=1, max_size=12)


def plain(model="contrast", **settings):
    """A model that is nothing but its sums."""
    return TextClassifier(model, alpha=0.1, calibrated=False, **settings)


weightings = pytest.mark.parametrize("weighting", WEIGHTINGS)


def known(model):
    """The terms that have a say."""
    return model.fitted_.reader.vocabulary.terms.strings()


def counted(documents):
    """Documents as rows to learn from."""
    return plain().reader().learn(documents)[1]


def learn(model, corpus):
    documents, labels = zip(*corpus, strict=True)
    return model.partial_fit(list(documents), list(labels))


def assert_same(one, other):
    """The same sums, and the same bits of every weight."""
    assert_array_equal(one.classes_, other.classes_)
    assert one.statistics_ == other.statistics_
    documents = [None, "", "ash birch", "Gum gum elm fig", "größe ß never"]
    assert known(one) == known(other)
    assert_array_equal(one.predict_log_proba(documents), other.predict_log_proba(documents))


# --- sums ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", NAIVE)
@some
@given(blocks=st.lists(corpora, min_size=1, max_size=4))
def test_a_stream_in_blocks_is_one_fit(model, blocks):
    together = [row for block in blocks for row in block]
    stream = plain(model)
    for block in blocks:
        learn(stream, block)
    documents, labels = zip(*together, strict=True)
    assert_same(stream, plain(model).fit(list(documents), list(labels)))


@weightings
@some
@given(first=corpora, second=corpora)
def test_merging_is_learning_from_both(weighting, first, second):
    def of(corpus):
        return learn(plain(weighting=weighting), corpus)

    merged = of(first) + of(second)
    assert_same(merged, of(first + second))
    assert_same(merged, of(second) + of(first))


@weightings
@some
@given(kept=corpora, removed=corpora)
def test_documents_taken_back_leave_no_trace(weighting, kept, removed):
    model = learn(plain(weighting=weighting), kept + removed)
    documents, labels = zip(*removed, strict=True)
    assert_same(
        model.forget(list(documents), list(labels)), learn(plain(weighting=weighting), kept)
    )


@some
@given(corpus=corpora)
def test_the_order_of_documents_does_not_matter(corpus):
    assert_same(learn(plain(), corpus), learn(plain(), corpus[::-1]))


@some
@given(corpus=corpora)
def test_weight_two_is_two_documents(corpus):
    documents, labels = map(list, zip(*corpus, strict=True))
    twice = plain().fit(documents, labels, sample_weight=np.full(len(labels), 2.0))
    assert_same(twice, plain().fit(documents * 2, labels * 2))


def test_weights_that_are_no_whole_numbers_stream_to_the_bit():
    weight = np.random.default_rng(0).random(len(MAILS))
    one = plain().fit(MAILS, LABELS, sample_weight=weight)
    two = plain().partial_fit(MAILS[4:], LABELS[4:], sample_weight=weight[4:])
    two.partial_fit(MAILS[:4], LABELS[:4], sample_weight=weight[:4])
    assert one.statistics_ == two.statistics_
    assert_array_equal(one.predict_proba(MAILS), two.predict_proba(MAILS))


def test_a_document_of_little_weight_still_has_its_words():
    model = plain().fit(MAILS, LABELS, sample_weight=np.full(len(MAILS), 1e-3))
    assert "prize" in known(model)
    assert_allclose(model.predict_proba(["zebra"]), [[4 / 7, 3 / 7]])


def test_half_a_life_is_weight_one_half():
    half = plain().fit(MAILS, LABELS).decay(0.5)
    weighed = plain().fit(MAILS, LABELS, sample_weight=np.full(len(MAILS), 0.5))
    assert_array_equal(half.predict_proba(MAILS), weighed.predict_proba(MAILS))


@weightings
@some
@given(corpus=corpora, smallest=st.sampled_from([1, 1 << 16]))
def test_sums_straight_from_the_counts_are_those_of_the_table(weighting, corpus, smallest):
    damping = WEIGHTINGS[weighting]

    documents, labels = map(list, zip(*corpus, strict=True))
    classes, codes = np.unique(labels, return_inverse=True)
    groups = Hard(codes.astype(np.int32), len(classes))
    with pytest.MonkeyPatch.context() as patch, posterior.threads(3):
        patch.setattr("posterior.text.blocks.SMALLEST", smallest)
        rows = counted(documents)
    table = rows.table()
    assert rows.sums(groups, damping) == TermSums.of(table, groups, table.cells(damping))
    some = np.flatnonzero(np.arange(len(labels)) % 3)
    assert_array_equal(
        rows.take(some).cells(damping).scipy().toarray(),
        rows.cells(damping).scipy().toarray()[some],
    )
    if len(some):
        taken = table.take(some)
        expected = TermSums.of(taken, groups[some], taken.cells(damping))
        assert rows.take(some).sums(groups[some], damping) == expected


def test_a_count_beyond_the_largest_has_no_larger_logarithm():
    many, fewer = (
        plain(weighting=UNIT_LOG_COUNTS).fit(["a1 " * n + "b1", "a1"], ["x", "y"]).statistics_
        for n in (70_000, MOST)
    )
    assert many == fewer


def test_counts_are_counted_beyond_the_largest_logarithm():
    (total,) = (
        plain(weighting=COUNTS).fit(["a1 " * 70_000], ["x"]).statistics_.features.total.rounded()
    )
    assert total == 70_000


def test_sums_of_many_classes_are_taken_in_parts(monkeypatch):
    documents = [f"w{i % 7} w{i % 11} w{i % 3}" for i in range(60)]
    labels = [i % 9 for i in range(60)]
    whole, ones = plain().fit(documents, labels), np.ones(60)
    monkeypatch.setattr("posterior.text.term_sums.DENSE", 40)
    parts = plain().fit(documents, labels, sample_weight=ones)
    assert whole.statistics_ == parts.statistics_
    assert_array_equal(whole.predict_proba(documents), parts.predict_proba(documents))


def test_sums_survive_a_file():
    sums = plain().fit(MAILS, LABELS).statistics_.features
    assert type(sums).from_arrays(sums.arrays()) == sums
    assert sums.pooled().frequency() == pytest.approx(sums.frequency())


def test_strangers_cannot_be_forgotten():
    model = plain().fit(MAILS, LABELS)
    before = model.predict_proba(MAILS)
    with pytest.raises(ValueError, match="more of the term 'zebra' in class 'ham'"):
        model.forget(["zebra"], ["ham"])
    with pytest.raises(ValueError, match="never seen"):
        model.forget(["money"], ["eggs"])
    assert_array_equal(model.predict_proba(MAILS), before)


def test_the_logistic_model_says_why_it_does_not_stream():
    model = TextClassifier("logistic").fit(MAILS, LABELS)
    with pytest.raises(ValueError, match="needs all of them at once"):
        model.partial_fit(MAILS, LABELS)
    with pytest.raises(ValueError, match="needs all of them at once"):
        model + model
    with pytest.raises(ValueError, match="needs all of them at once"):
        model.decay(0.5)
    model.set_params(model="contrast", alpha=0.1).partial_fit(MAILS[:2], LABELS[:2])
    expected = plain(weighting=UNIT_LOG_COUNTS).fit(MAILS + MAILS[:2], LABELS + LABELS[:2])
    assert_array_equal(model.predict_proba(MAILS), expected.predict_proba(MAILS))


def test_sums_of_another_weighting_do_not_add_up():
    damped = plain(weighting=UNIT_LOG_COUNTS).fit(MAILS, LABELS)
    before = damped.predict_proba(MAILS)
    with pytest.raises(ValueError, match="weighting='counts', by which the sums were taken"):
        plain().fit(MAILS, LABELS) + damped
    with pytest.raises(ValueError, match="weighting='unit log counts', by which"):
        damped.set_params(weighting=COUNTS).partial_fit(MAILS, LABELS)
    assert_array_equal(damped.predict_proba(MAILS), before)


def test_models_of_other_terms_do_not_merge():
    with pytest.raises(ValueError, match="the terms would differ"):
        plain().fit(MAILS, LABELS) + plain(ngram_range=(1, 2)).fit(MAILS, LABELS)


def test_a_stream_needs_no_settings_and_keeps_what_a_fit_has_chosen():
    stream = TextClassifier().partial_fit(MAILS[:4], LABELS[:4]).partial_fit(MAILS[4:], LABELS[4:])
    assert (stream.model_, stream.sharpness_) == ("contrast", 1.0)
    named = TextClassifier("contrast", weighting=UNIT_LOG_COUNTS, alpha=0.03, calibrated=False).fit(
        MAILS, LABELS
    )
    assert_array_equal(stream.predict_proba(MAILS), named.predict_proba(MAILS))
    fitted = TextClassifier("complement").fit(MAILS, LABELS)
    chosen = fitted.model_, fitted.alpha_, fitted.sharpness_
    fitted.partial_fit(MAILS, LABELS).forget(MAILS, LABELS)
    assert (fitted.model_, fitted.alpha_, fitted.sharpness_) == chosen
    again = TextClassifier("complement").fit(MAILS, LABELS)
    assert_array_equal(fitted.predict_proba(MAILS), again.predict_proba(MAILS))


def test_a_stream_may_name_its_classes_first():
    model = plain().partial_fit(["money"], ["spam"], classes=["ham", "spam"])
    assert_array_equal(model.predict_proba(["lunch"]), [[0.0, 1.0]])
    with pytest.raises(ValueError, match="do not exist in the initial classes"):
        model.partial_fit(["x"], ["eggs"])


# --- agreement -----------------------------------------------------------------------------------


def test_the_plain_name_is_the_model_of_the_textbook():
    """P(c | d) ∝ 3/4 (3/7)³ 1/14 1/14 and P(j | d) ∝ 1/4 (2/9)³ 2/9 2/9, of example 13.1."""
    china, japan = 3 / 4 * (3 / 7) ** 3 / 14 / 14, 1 / 4 * (2 / 9) ** 5
    model = TextClassifier("multinomial", alpha=1, calibrated=False).fit(TOKYO, list("cccj"))
    (proba,) = model.predict_proba(["Chinese Chinese Chinese Tokyo Japan"])
    assert_allclose(proba, [china / (china + japan), japan / (china + japan)], rtol=1e-12)
    assert round(float(proba[0]), 4) == 0.6898


def test_the_plain_bernoulli_is_the_model_of_the_textbook():
    """Example 13.2: words that are not there count too, and repetition does not."""
    china = 3 / 4 * 4 / 5 * 1 / 5 * 1 / 5 * (1 - 2 / 5) ** 3
    japan = 1 / 4 * (2 / 3) ** 3 * (1 - 1 / 3) ** 3
    model = TextClassifier("bernoulli", alpha=1, calibrated=False).fit(TOKYO, list("cccj"))
    (proba,) = model.predict_proba(["Chinese Chinese Chinese Tokyo Japan"])
    assert_allclose(proba, [china / (china + japan), japan / (china + japan)], rtol=1e-12)


@weightings
@pytest.mark.parametrize(
    ("model", "theirs"),
    [("multinomial", MultinomialNB), ("complement", ComplementNB), ("bernoulli", BernoulliNB)],
)
def test_weights_are_those_of_scikit_learn_on_the_same_cells(weighting, model, theirs):
    labels = ["spam", "spam", "spam", "ham", "ham", "work", "work"]
    ours, damping = plain(model, weighting=weighting).fit(MAILS, labels), WEIGHTINGS[weighting]
    cells = ours.fitted_.reader.read(MAILS).cells(damping).scipy()
    X = damping.unit * cells.astype(np.float64)
    if weighting == COUNTS:
        assert_array_equal(X.toarray(), CountVectorizer().fit_transform(MAILS).toarray())
    reference = theirs(alpha=0.1).fit(X, labels)
    score = reference.predict_joint_log_proba(X) if model != "complement" else None
    if score is None:  # scikit-learn leaves the class probabilities out, we do not
        score = X @ reference.feature_log_prob_.T + np.log(reference.class_count_ / 7)
    expected = score - np.logaddexp.reduce(score, axis=1, keepdims=True)
    assert_allclose(ours.predict_log_proba(MAILS), expected, rtol=1e-6, atol=1e-7)


def test_contrast_is_multinomial_against_complement():
    total = sum(plain(m).fit(MAILS, LABELS).fitted_.model.parameters.weight for m in NAIVE[:2])
    assert_allclose(plain().fit(MAILS, LABELS).fitted_.model.parameters.weight, total, rtol=1e-12)


def test_cells_are_damped_counts_of_length_one():
    (row,) = counted(["b1 b1 b1 a1"]).cells(DAMPED).scipy().toarray()
    expected = np.log1p([1, 3]) / np.linalg.norm(np.log1p([1, 3]))
    assert_allclose(UNIT * row, expected, rtol=1e-3)
    assert (row == np.rint(row)).all()


def test_a_document_has_the_same_cells_in_any_company():
    alone, among = counted(MAILS[2:3]), counted(MAILS)
    place = np.searchsorted(among.terms.strings(), alone.terms.strings())
    assert_array_equal(
        among[2:3].cells(DAMPED).scipy().toarray()[:, place], alone.cells(DAMPED).scipy().toarray()
    )


# --- parameters ----------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["multinomial", "bernoulli"])
def test_the_parameters_shown_are_those_that_answer(model):
    fitted = plain(model).fit(MAILS, LABELS)
    table = fitted.parameters(words=None)
    p = {w: np.empty(2) for w in known(fitted)}
    for word, c, value in zip(table["feature"], table["class"], table["value"], strict=True):
        p[word][fitted.classes_.tolist().index(c)] = value
    document = "cheap money, cheap lunch"
    counts = Counter(fitted.build_analyzer()(document))
    if model == "multinomial":
        score = sum(n * np.log(p[word]) for word, n in counts.items())
    else:
        score = sum(np.log(share if word in counts else 1 - share) for word, share in p.items())
    score = score + np.log([4 / 7, 3 / 7])
    expected = score - np.logaddexp.reduce(score)
    assert_allclose(fitted.predict_log_proba([document])[0], expected, rtol=1e-9)


def test_shares_of_words_are_those_of_the_textbook_with_intervals_of_beta():
    model = TextClassifier("multinomial", alpha=1, calibrated=False).fit(TOKYO, list("cccj"))
    table = model.parameters(level=0.9, words=["chinese", "tokyo"])
    assert table["feature"].tolist() == ["chinese", "chinese", "tokyo", "tokyo"]
    assert table["class"].tolist() == ["c", "j", "c", "j"]
    assert_allclose(table["value"], [6 / 14, 2 / 9, 1 / 14, 2 / 9])
    draws, whole = np.array([6, 2, 1, 2]), np.array([14, 9, 14, 9])
    assert_allclose(table["low"], stats.beta.ppf(0.05, draws, whole - draws))
    assert_allclose(table["high"], stats.beta.ppf(0.95, draws, whole - draws))
    contrast = TextClassifier("contrast", alpha=1, calibrated=False).fit(TOKYO, list("cccj"))
    both = contrast.parameters(words=["tokyo"])
    assert_allclose(both["value"], [1 / 14, 2 / 9, 2 / 9, 1 / 14])  # its own class, and the other


def test_words_of_most_documents_come_first_and_others_on_demand():
    model = plain("multinomial").fit(MAILS, LABELS)
    held = Counter(w for m in MAILS for w in set(model.build_analyzer()(m)))
    expected = sorted(held, key=lambda word: (-held[word], word))
    assert model.parameters(words=3)["feature"].tolist()[::2] == expected[:3]
    assert model.parameters(words=None)["feature"].tolist()[::2] == expected
    with pytest.raises(ValueError, match=r"words that the model knows, got \['Money'\]"):
        model.parameters(words=["Money"])
    with pytest.raises(ValueError, match="one word or more"):
        model.parameters(words=0)
    with pytest.raises(TypeError, match="which has coefficients"):
        TextClassifier("logistic").fit(MAILS, LABELS).parameters()


# --- answers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [*NAIVE, "logistic", "auto"])
def test_every_model_answers(model):
    fitted = TextClassifier(model).fit(MAILS, LABELS)
    assert fitted.predict(["cheap money", "noon meeting"]).tolist() == ["spam", "ham"]
    proba = fitted.predict_proba(MAILS)
    assert_allclose(proba.sum(axis=1), 1)
    assert_allclose(np.log(proba), fitted.predict_log_proba(MAILS))
    assert fitted.score(MAILS, LABELS) == 1
    assert fitted.model_ in (model, *NAIVE, "logistic")


@pytest.mark.parametrize("model", [*NAIVE, "logistic"])
def test_a_missing_document_says_nothing(model):
    fitted = TextClassifier(model).fit([*MAILS, None], [*LABELS, "spam"])
    for missing in (None, float("nan")):
        assert_allclose(fitted.predict_proba([missing]), [[0.5, 0.5]])


@pytest.mark.parametrize("model", ["multinomial", "complement", "contrast"])
def test_words_never_seen_change_nothing(model):
    fitted = plain(model).fit(MAILS, LABELS)
    known, more = fitted.predict_proba(["cheap money", "cheap zebra money okapi"])
    assert_array_equal(known, more)


def test_rare_terms_have_no_say():
    model = plain(min_df=2).fit(MAILS, LABELS)
    held = Counter(w for m in MAILS for w in set(model.build_analyzer()(m)))
    assert known(model) == sorted(w for w, n in held.items() if n >= 2)


def test_other_priors_and_costs_are_asked_for_at_the_end():
    model = plain().fit(MAILS, LABELS)
    assert_allclose(model.predict_proba([""], priors=[0.2, 0.8]), [[0.2, 0.8]])
    assert model.predict([""], costs=[[0, 1], [100, 0]]).tolist() == ["spam"]
    assert plain(class_prior=[0.1, 0.9]).fit(MAILS, LABELS).predict([""]).tolist() == ["spam"]


def test_documents_come_in_many_forms(tmp_path):
    expected = plain().fit(MAILS, LABELS).predict_proba(MAILS)
    for documents in (np.array(MAILS), np.array(MAILS, object), tuple(MAILS), iter(MAILS)):
        assert_array_equal(plain().fit(documents, LABELS).predict_proba(MAILS), expected)
    assert_array_equal(
        plain().fit([m.encode() for m in MAILS], LABELS).predict_proba(MAILS), expected
    )
    for i, (mail, label) in enumerate(zip(MAILS, LABELS, strict=True)):
        (tmp_path / label).mkdir(exist_ok=True)
        (tmp_path / label / f"{i}.txt").write_text(mail)
    folder = plain().fit(tmp_path)
    assert_array_equal(folder.predict_proba(MAILS), expected)
    assert folder.score(tmp_path, None) == 1


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_and_their_columns_are_read(library):
    frames = pytest.importorskip(library)
    make = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}[library]
    mails, labels = [*MAILS, None], [*LABELS, "ham"]
    table = getattr(frames, make)({"mail": mails, "label": labels})
    expected = plain().fit(mails, labels).predict_proba(mails)
    model = plain().fit(table, "label")
    assert_array_equal(model.predict_proba(table), expected)
    assert_array_equal(model.predict_proba(table["mail"]), expected)
    assert model.score(table, "label") == model.score(mails, labels)
    with pytest.raises(ValueError, match="Expected one column of text beside 'label'"):
        more = getattr(frames, make)({"mail": mails, "more": mails, "label": labels})
        model.fit(more, "label")


def test_one_class_is_certain():
    model = TextClassifier().fit(MAILS[:3], LABELS[:3])
    assert_array_equal(model.predict_proba(["lunch"]), [[1.0]])


def test_a_class_of_one_document_can_be_learned():
    model = TextClassifier().fit([*MAILS, "eggs and ham"], [*LABELS, "menu"])
    assert model.predict(["eggs"]).tolist() == ["menu"]


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (("money", ["spam"]), "Iterable over raw text documents expected"),
        ((MAILS, LABELS[1:]), "inconsistent numbers of samples"),
        ((MAILS, None), "requires y to be passed"),
        (([], []), "expected documents, got none"),
        (([b"\xff"], ["spam"]), "document 0"),
        (([["money"]], ["spam"]), "Expected documents that are strings"),
    ],
)
def test_bad_input_is_named_and_changes_nothing(arguments, match):
    model = plain().fit(MAILS, LABELS)
    before = model.predict_proba(MAILS)
    with pytest.raises((ValueError, TypeError, UnicodeDecodeError), match=match):
        model.fit(*arguments)
    assert_array_equal(model.predict_proba(MAILS), before)


@pytest.mark.parametrize(
    "settings",
    [
        {"model": "urn"},
        {"weighting": "tf-idf"},
        {"alpha": 0.0},
        {"C": -1},
        {"min_df": 0},
        {"calibrated": 2},
    ],
)
def test_bad_settings_are_refused(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        TextClassifier(**settings).fit(MAILS, LABELS)


def test_nothing_is_answered_before_it_is_learned():
    for ask in ("predict", "predict_proba", "explain", "evidence"):
        with pytest.raises(NotFittedError):
            getattr(TextClassifier(), ask)(["money"])


def test_words_that_are_weighed_tell_nothing_of_documents():
    model = plain().fit(MAILS, LABELS)
    with pytest.raises(TypeError, match="no density of documents"):
        model.log_evidence(MAILS)
    with pytest.raises(TypeError, match="TextClassifier has no leave_one_out"):
        model.leave_one_out(MAILS, LABELS)
    with pytest.raises(TypeError, match="and no tune"):
        model.tune(MAILS, LABELS, folds=2, grid={"alpha": [0.1, 1.0]})
    with pytest.raises(TypeError, match="sample"):
        model.sample(3)
    assert not hasattr(model, "n_features_in_")


def test_a_subclass_may_replace_steps():
    class Letters(TextClassifier):
        def build_tokenizer(self):
            return list

    model = Letters("multinomial").fit(["aab", "ccd"], ["x", "y"])
    assert known(model) == ["a", "b", "c", "d"]
    assert model.predict(["a", "d"]).tolist() == ["x", "y"]


def test_odd_letters_are_letters_too():
    odd = ["\0 nul\0nul", "\ud800 lone", "i\u0307 İstanbul", "", "中文 文字"]
    model = plain().fit(odd, list("abcde"))
    assert model.predict(["lone", "nul", "中文"]).tolist() == ["b", "a", "e"]
    assert model.explain("\ud800 lone").of == "b"


def test_copies_and_pickles_answer_alike():
    model = TextClassifier(ngram_range=(1, 2)).fit(MAILS, LABELS)
    other = pickle.loads(pickle.dumps(model))
    assert_array_equal(other.predict_proba(MAILS), model.predict_proba(MAILS))
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "classes_")


def test_a_model_file_goes_on_where_the_model_stood(tmp_path):
    model = plain().fit(MAILS[:5], LABELS[:5])
    posterior.save(model, tmp_path / "mails.model")
    other = posterior.load(tmp_path / "mails.model").partial_fit(MAILS[5:], LABELS[5:])
    assert_same(other, plain().fit(MAILS, LABELS))


def test_a_file_of_the_first_version_goes_on_with_its_weighting(tmp_path):
    """It says nothing of weightings; "multinomial" had unit log counts."""
    name = "textclassifier_a_stream.posterior"
    with tarfile.open(Path(__file__).parent / "model_files" / "0.1.0-f642163.tar.xz") as files:
        files.extract(name, tmp_path, filter="data")
    model = posterior.load(tmp_path / name)
    assert (model.model_, model.weighting, model.weighting_) == (
        "multinomial",
        "auto",
        UNIT_LOG_COUNTS,
    )
    before = model.predict_proba(MAILS)
    label = model.classes_[0]
    model.partial_fit(["zebra"], [label]).forget(["zebra"], [label])
    assert_array_equal(model.predict_proba(MAILS), before)


def test_an_unknown_weighting_in_a_file_is_refused():
    with pytest.raises(posterior.ModelFileError, match="a weighting of terms"):
        built(WeighedTerms, {"weighting": "tf-idf"})


# --- held out ------------------------------------------------------------------------------------


def test_held_out_scores_are_those_of_models_without_the_fold():
    folds = np.array([0, 1, 2, 0, 1, 2, 0])
    held = plain().cross_validate(MAILS, LABELS, folds)
    sharp = TextClassifier("contrast", alpha=0.1).cross_validate(MAILS, LABELS, folds)
    sharpness = []
    for fold in range(3):
        here = folds == fold
        model = plain().fit(
            [m for m, h in zip(MAILS, here, strict=True) if not h],
            [y for y, h in zip(LABELS, here, strict=True) if not h],
        )
        expected = model.predict_log_proba([m for m, h in zip(MAILS, here, strict=True) if h])
        assert_allclose(held.log_proba[here], expected, rtol=1e-6, atol=1e-12)
        ours, theirs = (
            p - model.fitted_.model.log_prior for p in (sharp.log_proba[here], expected)
        )
        sharpness += ((ours[:, 1] - ours[:, 0]) / (theirs[:, 1] - theirs[:, 0])).tolist()
    assert_allclose(sharpness, sharpness[0], rtol=1e-6)
    assert sharp.log_loss < held.log_loss


def test_the_choice_is_that_of_least_log_loss():
    model = TextClassifier().fit(MAILS * 3, LABELS * 3)
    table = model.choice_
    best = int(np.argmin(table["log_loss"]))
    assert table["chosen"][best] == "<-"
    assert (table["model"][best], table["alpha"][best]) == (model.model_, model.alpha_)


def test_calibration_changes_how_sure_and_not_what():
    random = np.random.default_rng(1)
    documents = [" ".join(random.choice(list("abcdefgh"), 12) + str(c)) for c in range(300)]
    labels = ["x" if "a" in d[:9] else "y" for d in documents]
    documents = [d.replace(" ", "1 ") for d in documents]
    sure = TextClassifier("bernoulli", alpha=1.0, calibrated=False).fit(documents, labels)
    calm = TextClassifier("bernoulli", alpha=1.0).fit(documents, labels)
    assert calm.sharpness_ < 1 == sure.sharpness_
    assert np.abs(calm.predict_proba(documents) - 0.5).max() <= 0.5


# --- why -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [*NAIVE, "logistic"])
@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2), (2, 2)])
def test_explanations_add_up_to_the_log_odds(model, ngrams):
    fitted = TextClassifier(model, ngram_range=ngrams).fit(MAILS, LABELS)
    text = "Cheap, cheap money at lunch: see the zebra"
    why = fitted.explain(text)
    log_proba = dict(zip(fitted.classes_, fitted.predict_log_proba([text])[0], strict=True))
    assert why.log_odds == pytest.approx(log_proba[why.of] - log_proba[why.against])
    marked = [m.weight for m in why.marks if not np.isnan(m.weight)]
    assert sum(marked) == pytest.approx(why.weights.sum())
    evidence = fitted.evidence([text, "see you", None])
    assert_allclose(
        evidence.log_joint()[:2] - np.logaddexp.reduce(evidence.log_joint()[:2], axis=1)[:, None],
        fitted.predict_log_proba([text, "see you"]),
        atol=1e-12,
    )


def test_words_stand_where_they_stood_and_unseen_ones_are_said_to_be():
    why = plain().fit(MAILS, LABELS).explain("Zebra? CHEAP money.")
    assert (why.of, why.against, why.unseen) == ("spam", "ham", ("zebra",))
    assert [why.document[m.start : m.end] for m in why.marks] == ["Zebra", "CHEAP", "money"]
    assert np.isnan(why.marks[0].weight)
    assert "never seen: zebra" in str(why)
    assert "Zebra[?]? CHEAP[+" in str(why)
    assert why.table["term"].tolist()[-1] == "zebra"
    assert why.table.to_frame("pandas").shape == (3, 3)


def test_a_document_cannot_put_code_into_the_page():
    model = plain().fit([*MAILS, "script alert"], [*LABELS, "<b>&"])
    page = model.explain('<script>alert(1)</script> money & "quotes" <i>', of="<b>&")._repr_html_()
    assert "<script" not in page and "<b>&" not in page and "<i>" not in page
    assert "&lt;<span" in page and "&amp;" in page and "rgba(" in page


def test_marks_follow_the_pattern_of_the_words():
    model = plain(token_pattern=r"#(\w+)").fit(["#cheap #money", "#lunch"], ["spam", "ham"])
    why = model.explain("a #cheap lunch")
    assert [why.document[m.start : m.end] for m in why.marks] == ["cheap"]
    assert why.terms.tolist() == ["cheap"]


def test_classes_to_compare_can_be_chosen():
    model = plain().fit(MAILS, [*LABELS[:-1], "work"])
    why = model.explain("cheap money", of="work", against="spam")
    assert (why.of, why.against) == ("work", "spam")
    assert why.log_odds < 0
    with pytest.raises(ValueError, match="Expected one of the classes"):
        model.explain("x", of="eggs")
    with pytest.raises(ValueError, match="Expected one document"):
        model.explain(MAILS)


def test_letters_are_explained_without_marks():
    why = plain(analyzer="char_wb", ngram_range=(2, 3)).fit(MAILS, LABELS).explain("cheap")
    assert why.of == "spam" and why.marks == () and len(why.terms)


# --- real messages -------------------------------------------------------------------------------


def test_spam_is_found_and_probabilities_mean_what_they_say(shared_data):
    with (shared_data / "sms-spam.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))[::2]
    texts, labels = [r["text"] for r in rows], np.array([r["label"] for r in rows])
    model = TextClassifier("contrast").fit(texts[:1800], labels[:1800])
    assert model.score(texts[1800:], labels[1800:]) > 0.97
    proba = model.predict_proba(texts[1800:])[:, 1]
    assert abs(proba.mean() - np.mean(labels[1800:] == "spam")) < 0.03
    held = model.cross_validate(texts, labels, 5)
    assert held.accuracy > 0.97 and held.log_loss < 0.09


def test_the_table_of_accuracies_can_be_made_again(shared_data, monkeypatch, capsys):
    monkeypatch.setenv("POSTERIOR_DATA", str(shared_data))
    file = Path(__file__).resolve().parents[1] / "examples" / "documents_accuracy.py"
    runpy.run_path(str(file))["main"](["sms"])
    accuracy = {
        line.split()[1]: float(line.split()[2]) for line in capsys.readouterr().out.splitlines()[1:]
    }
    assert max(accuracy, key=accuracy.__getitem__) == "TextClassifier"
    assert accuracy["TextClassifier"] > 0.98
