"""Classifies documents: counting and learning as one estimator."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions

from posterior.data import frames
from posterior.data.rows import Rows
from posterior.data.table import Table
from posterior.data.typing import Array
from posterior.engines.local import Local
from posterior.estimators import remote
from posterior.estimators.estimator import learned
from posterior.estimators.summed_classifier import SummedClassifier
from posterior.estimators.text import base, text_explanation, word_probabilities
from posterior.estimators.text.select_weights import (
    LOGISTIC,
    HeldOutDocuments,
    parts_of,
    some_parts,
    tried,
)
from posterior.estimators.text.term_rule import DocumentEngine, TermRule, other_sums
from posterior.evaluation import calibration
from posterior.evaluation.calibration import AUTO, CALIBRATORS, Calibrator, check_calibrated
from posterior.evaluation.held_out import HeldOut
from posterior.generative.dealing import by_content
from posterior.generative.evidence_terms import Evidence
from posterior.generative.fitted import Fitted
from posterior.generative.fold_sums import Trial, folds_of, scored
from posterior.generative.joint import JointStatistics, labeling
from posterior.generative.rule import ClassPrior, Rule
from posterior.readers.documents import Documents
from posterior.readers.labels import Labels
from posterior.readers.reader import Reader
from posterior.sources.class_folders import labeled_files
from posterior.text.analysis import WORDS
from posterior.text.damping import COUNTS, UNIT_LOG_COUNTS, WEIGHTINGS
from posterior.text.term_sums import TermSums
from posterior.text.term_weights import NAIVE_BAYES, WeighedTerms


class TextClassifier(SummedClassifier):
    """What is P(y | document), and which words say so?

    p(k | x) ∝ π_k exp(s Σⱼ xⱼ w_kj),  xⱼ = cⱼ, how often the document has term j, with weights w
    of naive Bayes. A model that has a name is the one of the books; "auto" and "logistic" take
    xⱼ = log(1 + cⱼ) / ‖log(1 + c)‖, unless `weighting` says otherwise.

    What naive Bayes learns is a sum over the documents: it streams (`partial_fit`), merges
    (`merge`, `+`) and forgets (`forget`) to the bit, while the vocabulary grows and shrinks. What
    `fit` chooses, it chooses by the set of documents: their order changes no bit, and no clock is
    looked at. `decay` and `forget` leave the choice as it is.

    Parameters
    ----------
    model : {"auto", "multinomial", "complement", "contrast", "bernoulli", "logistic"}
        Naive Bayes with one urn of words a class, with one of all other classes, with the first
        against the second, or with words that are there or not; or a logistic regression whose
        coefficients are as free as the weights of "contrast" are large. "auto" takes the one of
        least log loss on documents held out.
    weighting : {"auto", "counts", "log counts", "unit log counts"}, default="auto"
        What a document has of a term that it holds c times: c, log(1 + c), or log(1 + c) with
        documents scaled to length one. "auto" is "counts" for naive Bayes that is named, and
        "unit log counts" for the models "auto" and "logistic". Words that are there or not, as
        "bernoulli" takes them, have no weighting.
    alpha : float, optional
        Pseudo-counts of every term; by default chosen like the model.
    C : float, default=100.0
        One over the strength of the logistic model's penalty.
    calibrated : bool or str, default=True
        Let `fit` learn the sharpness s on documents held out; otherwise s = 1, as in the books. A
        name, as of `GaussianNB(calibrated=)`, corrects what the sharpness leaves.
    class_prior : array of shape (n_classes,) or dict by class, optional
        Class probabilities, instead of learned ones.
    min_df : int, default=1
        Documents that a term must be in to have a say.
    analyzer, ngram_range, lowercase, strip_accents, stop_words, token_pattern, encoding
    decode_error, verbose
        As in `CountVectorizer`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    model_, weighting_, alpha_, sharpness_ : str, str, float, float
        The model that was chosen, its weighting, its pseudo-counts (C of the logistic one), and s.
    choice_ : Table
        What `fit` tried, with the log loss of documents held out.
    statistics_ : JointStatistics
        Documents of each class; for each class and term how many have it, and how much.

    Examples
    --------
    >>> from posterior import TextClassifier
    >>> mails = ["win money now", "cheap money", "see you at lunch", "lunch at noon"]
    >>> model = TextClassifier("multinomial").fit(mails, ["spam", "spam", "ham", "ham"])
    >>> model.predict(["money, money", "lunch?"]).tolist()
    ['spam', 'ham']

    The example of Manning, Raghavan and Schütze (2008), table 13.1:

    >>> texts = ["Chinese Beijing Chinese", "Chinese Chinese Shanghai", "Chinese Macao",
    ...          "Tokyo Japan Chinese"]
    >>> model = TextClassifier("multinomial", alpha=1, calibrated=False)
    >>> model = model.fit(texts, ["China", "China", "China", "Japan"])
    >>> model.predict_proba(["Chinese Chinese Chinese Tokyo Japan"]).round(4)
    array([[0.6898, 0.3102]])
    """

    input = "content"
    preprocessor = None
    tokenizer = None
    missing = "empty"
    engine_: ClassVar[Local] = DocumentEngine()
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **base.CONSTRAINTS,
        "model": [StrOptions({"auto", LOGISTIC, *NAIVE_BAYES})],
        "weighting": [StrOptions({"auto", *WEIGHTINGS})],
        "alpha": [Interval(Real, 0, None, closed="neither"), None],
        "C": [Interval(Real, 0, None, closed="neither")],
        "calibrated": ["boolean", StrOptions({AUTO, *CALIBRATORS})],
        "class_prior": ["array-like", Mapping, None],
        "min_df": [Interval(Integral, 1, None, closed="left")],
    }

    model_ = learned[str](lambda fitted: fitted.rule.family.model)
    weighting_ = learned[str](lambda fitted: fitted.rule.family.weighting)
    alpha_ = learned[float](lambda fitted: fitted.rule.family.strength)
    sharpness_ = learned[float](lambda fitted: fitted.rule.family.sharpness)
    choice_ = learned[Table](lambda fitted: fitted.rule.choice)

    decode = base.decode
    build_preprocessor = base.build_preprocessor
    build_tokenizer = base.build_tokenizer
    get_stop_words = base.get_stop_words
    build_analyzer = base.build_analyzer
    parameters = word_probabilities.parameters
    explain = text_explanation.explain

    def __init__(
        self,
        model: str = "auto",
        *,
        weighting: str = "auto",
        alpha: float | None = None,
        C: float = 100.0,
        calibrated: bool | str = True,
        class_prior: Any = None,
        min_df: int = 1,
        analyzer: Any = "word",
        ngram_range: tuple[int, int] = (1, 1),
        lowercase: bool = True,
        strip_accents: Any = None,
        stop_words: Any = None,
        token_pattern: Any = WORDS,
        encoding: str = "utf-8",
        decode_error: str = "strict",
        verbose: Any = False,
    ) -> None:
        self.model = model
        self.weighting = weighting
        self.alpha = alpha
        self.C = C
        self.calibrated = calibrated
        self.class_prior = class_prior
        self.min_df = min_df
        self.analyzer = analyzer
        self.ngram_range = ngram_range
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.encoding = encoding
        self.decode_error = decode_error
        self.verbose = verbose

    def reader(self) -> Documents:
        return Documents(self.columns(), base.terms_of(self), verbose=self.verbose)

    def _current(self, reader: Documents) -> Documents:
        return replace(self.reader(), column=reader.column)

    def rule(self, reader: Reader, labels: Labels | None) -> TermRule:
        """Of a stream: the model that was named, or chosen, if it is a sum; or the usual one."""
        before: Fitted | None = vars(self).get("fitted_")
        known = TermRule(self._usual(), ClassPrior()) if before is None else before.rule
        assert isinstance(known, TermRule)
        family = known.family
        if self.weighting not in ("auto", family.weighting):
            raise other_sums(family.weighting, self.weighting)
        model = family.model if self.model == "auto" else self.model
        if model == LOGISTIC:
            raise ValueError(
                "Expected a model that is a sum over documents, got the logistic one, which needs "
                "all of them at once. Call fit() with all, or go on from the sums with "
                'set_params(model="contrast").'
            )
        if model != family.model:
            family = WeighedTerms(model, weighting=family.weighting)
        strength = family.strength if self.alpha is None else self.alpha
        family = replace(family, strength=strength, min_df=self.min_df)
        return TermRule(family, self._prior(labels), known.choice)

    def _usual(self) -> WeighedTerms:
        """What is not chosen: how terms are weighted, and which are too rare."""
        weighting = self.weighting
        if weighting == "auto":
            weighting = COUNTS if self.model in NAIVE_BAYES else UNIT_LOG_COUNTS
        return WeighedTerms(min_df=self.min_df, weighting=weighting)

    def _prior(self, labels: Labels | None) -> ClassPrior:
        return ClassPrior() if labels is None else ClassPrior(self.class_prior, labels.classes)

    def _check_calibrated(self, streaming: bool = False) -> None:
        """The sharpness is chosen with the model, and goes on with a stream of naive Bayes."""
        if streaming:
            self.rule(self.reader(), None)
            if isinstance(self.calibrated, str):
                check_calibrated(self.calibrated, streaming)

    def _with_target(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Documents and classes: of a folder of folders, of a frame, or as they are."""
        if y is None and isinstance(X, os.PathLike) and Path(X).is_dir():
            return labeled_files(Path(X))
        X, target = super()._with_target(X, y)
        frame = frames.as_frame(X) if isinstance(y, str) else None
        if frame is not None and len(frame.columns) != 1:
            raise ValueError(
                f"Expected one column of text beside {y!r}, got {frame.columns}. Choose it, as in "
                f"table[['text', {y!r}]]."
            )
        return X, target

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        checkpoint: remote.FilePath | None = None,
    ) -> Self:
        """Learn from documents and their classes; what was learned before is dropped.

        Parameters
        ----------
        X : documents: strings, bytes or paths in a list, an array, a column of a frame, an Arrow
            array or a generator; the path of a folder with one folder for each class; or a frame
            with one column of text beside the classes. A missing one counts for its class alone.
            Or such a table that is elsewhere, as in `GaussianNB.fit`, from which "auto" learns
            what `partial_fit` does: nothing is held out.
        y : array of shape (n_samples,), or the name of a column of X
        sample_weight : array of shape (n_samples,), or the name of a column, optional
        checkpoint : path, optional
            As in `GaussianNB.fit`.
        """
        self._validate_params()
        if isinstance(y, str) and remote.located(X, checkpoint) is not None:
            fresh = clone(self)  # which does not go on from what was learned before
            SummedClassifier.fit(fresh, X, y, sample_weight, checkpoint=checkpoint)
            self.fitted_ = fresh.fitted_
            return self
        self.fitted_ = self._learned(*self._read(X, y, sample_weight))
        return self

    def relearn(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from other documents alone, by the model, alpha and sharpness that `fit` chose."""
        before = self.settled()
        self.fitted_ = self._learned(*self._read(X, y, sample_weight), before)
        return self

    def _learned(
        self, reader: Reader, labels: Labels, rows: Rows, before: Fitted | None = None
    ) -> Fitted:
        """What all rows say, by the model that they choose, or that was chosen before."""
        statistics = self._sum(rows).compact()
        if before is None:
            rule, calibrator = self._chosen(rows, statistics, labels)
        else:
            rule, calibrator = cast(TermRule, before.rule), before.calibrator
            rule = replace(rule, prior=self._prior(labels))
        joint = rule.joint(statistics, rows, self.engine_)
        reader = rule.answering(reader, statistics)
        return Fitted(reader, labels, rule, statistics, joint, calibrator=calibrator)

    def _sum(self, rows: Rows) -> JointStatistics[TermSums]:
        return self.engine_.sum(labeling(self._usual()), rows)

    def _chosen(
        self, rows: Rows, statistics: JointStatistics[TermSums], labels: Labels
    ) -> tuple[TermRule, Calibrator | None]:
        """Model, pseudo-counts, sharpness and correction, if left open and if they can be told."""
        usual, prior = self._usual(), self._prior(labels)
        given = self.C if self.model == LOGISTIC else self.alpha
        settled = self.model != "auto" and given is not None and not self.calibrated
        parts = [] if settled else some_parts(by_content(rows)[0])
        if not parts:
            model = usual.model if self.model == "auto" else self.model
            strength = usual.strength if given is None else given
            return TermRule(replace(usual, model=model, strength=strength), prior), None
        held_out = self._held_out(rows, statistics, parts, prior)
        judged = held_out.compare(self.model, self.alpha, self.C)
        best = min(judged, key=lambda j: j.log_loss)
        sharpness = best.sharpness if self.calibrated else 1.0
        rule = TermRule(replace(best.family, sharpness=sharpness), prior, tried(judged, best))
        if not isinstance(self.calibrated, str):
            return rule, None
        groups = rows.hard[held_out.index]
        told = HeldOut(best.log_proba, groups.codes, labels.classes, None, groups.weight)
        return rule, calibration.learned(told, self.calibrated)

    def _held_out(
        self,
        rows: Rows,
        statistics: JointStatistics[TermSums],
        parts: list[Array],
        prior: ClassPrior,
    ) -> HeldOutDocuments:
        return HeldOutDocuments.of(
            rows, statistics, parts, prior, self._usual(), bool(self.calibrated), self.engine_
        )

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add documents: to the bit the model of `fit` on all so far, with the same settings.

        Nothing is held out, so nothing is chosen: model, alpha and sharpness are those of an
        earlier `fit`, or as they are named; otherwise "contrast", 0.03 and 1. The stream is then
        `TextClassifier("contrast", weighting="unit log counts", alpha=0.03, calibrated=False).fit`
        on all documents. The weighting is that of the documents so far.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        classes : array, optional
            All classes that may come. It closes the set: another label is then an error.
        """
        return super().partial_fit(X, y, classes, sample_weight)

    def cross_validate(
        self,
        X: Any,
        y: Any = None,
        folds: Any = 10,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        time: Any = None,
    ) -> HeldOut:
        """Score every document by models of the other folds, whose kind is chosen once for all.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        folds, groups, time : as in `NaiveBayes.cross_validate`, of documents
        """
        self._validate_params()
        _, labels, rows = self._read(X, y, sample_weight)
        fold = folds_of(folds, rows.hard.codes, groups, time)
        parts = parts_of(fold, int(fold.max()) + 1)
        held_out = self._held_out(rows, self._sum(rows), parts, self._prior(labels))
        best = min(held_out.compare(self.model, self.alpha, self.C), key=lambda j: j.log_loss)
        log_proba = np.empty((len(fold), best.log_proba.shape[1]))
        log_proba[held_out.index] = best.log_proba
        return scored(HeldOut(log_proba, rows.hard.codes, labels.classes, fold, rows.hard.weight))

    def _trial(self, X: Any, y: Any, sample_weight: Any) -> tuple[Trial, Rule]:
        raise TypeError(
            "Expected cross_validate(), or fit(), which chooses model, smoothing and sharpness on "
            "documents held out: TextClassifier has no leave_one_out() and no tune()."
        )

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of documents that are predicted correctly; X and y as in `fit`."""
        return super().score(X, y, sample_weight)

    def evidence(self, documents: Any) -> Evidence:
        """The additive terms of each class's log posterior, for the terms that these documents
        have; where those that a document does not have count as well, they share the last one."""
        return text_explanation.evidence(self, documents)
