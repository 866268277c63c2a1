"""Text in, posterior out: counting and learning as one estimator."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions

from posterior.data import validate
from posterior.data.names import quoted
from posterior.data.rows import Hard, Rows
from posterior.data.table import Table
from posterior.data.typing import Array, Floats
from posterior.engines.local import Local, n_threads
from posterior.estimators.checkpoint import FilePath
from posterior.estimators.elsewhere import found
from posterior.estimators.numeric import log_prior
from posterior.estimators.predicting import Predicting
from posterior.estimators.predicting_files import PredictingFiles
from posterior.estimators.summed import Learning, all_or_nothing, weightless
from posterior.estimators.text.analyzing import WORDS
from posterior.estimators.text.correcting import LOGISTIC
from posterior.estimators.text.document_explainer import ExplainingDocuments
from posterior.estimators.text.select_weights import (
    HeldOutDocuments,
    Setting,
    known_terms,
    parts_of,
    some_parts,
    summed,
    term_rows,
    weigh,
)
from posterior.estimators.text.term_counts import TERMS
from posterior.estimators.validating import folds_of
from posterior.evaluation.held_out import HeldOut
from posterior.generative.dealing import by_content
from posterior.generative.joint import Joint, JointStatistics
from posterior.text.counted import CountedRows
from posterior.text.term_sums import TermSums
from posterior.text.term_weights import NAIVE_BAYES, WeighedTerms
from posterior.text.vocabulary import Vocabulary

STREAMED = "contrast"  # the model of a stream, if none is named: its sharpness is nearest to one
ALPHA = 0.03  # the pseudo-counts of a stream, if none are given
CHUNK = 4096  # documents of the smallest chunk to sum


class TextClassifier(ClassifierMixin, ExplainingDocuments, Learning, Predicting, PredictingFiles):
    """What is P(y | document), and which words say so?

    p(k | x) ∝ π_k exp(s Σⱼ xⱼ w_kj),  xⱼ = log(1 + cⱼ) / ‖log(1 + c)‖ of a document's counts c,
    with weights w of naive Bayes, or of a logistic regression that begins with them.

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
    alpha : float, optional
        Pseudo-counts of every term; by default chosen like the model.
    C : float, default=100.0
        One over the strength of the logistic model's penalty.
    calibrated : bool, default=True
        Let `fit` learn the sharpness s on documents held out; otherwise s = 1.
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
    model_, alpha_, sharpness_ : str, float, float
        The model that was chosen, its pseudo-counts (C of the logistic one), and s.
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
    """

    input = "content"
    preprocessor = None
    tokenizer = None
    missing = "empty"
    calibrated: Any

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ExplainingDocuments._parameter_constraints,
        "model": [StrOptions({"auto", LOGISTIC, *NAIVE_BAYES})],
        "alpha": [Interval(Real, 0, None, closed="neither"), None],
        "C": [Interval(Real, 0, None, closed="neither")],
        "calibrated": ["boolean"],
        "class_prior": ["array-like", Mapping, None],
        "min_df": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        model: str = "auto",
        *,
        alpha: float | None = None,
        C: float = 100.0,
        calibrated: bool = True,
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

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        checkpoint: FilePath | None = None,
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
        if isinstance(y, str) and (there := found(X, checkpoint)) is not None:
            for name in ("_column", "choice_", "model_", "alpha_", "sharpness_"):
                self.__dict__.pop(name, None)
            return self._fit_elsewhere(there, y, sample_weight, checkpoint)
        rows = self._begin(X, y, sample_weight)
        statistics = self._sum(rows)
        self._closed = False
        self._weightless = dict(weightless(self.classes_[rows.hard.codes], rows.hard.weight))
        self._choose(rows, statistics)
        self._accept_rows(rows, statistics)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add documents: to the bit the model of `fit` on all so far, with the same settings.

        Nothing is held out, so nothing is chosen: model, alpha and sharpness are those of an
        earlier `fit`, or as they are named; otherwise "contrast", 0.03 and 1. The stream is then
        `TextClassifier("contrast", alpha=0.03, calibrated=False).fit` on all documents.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        classes : array, optional
            All classes that may come. It closes the set: another label is then an error.
        """
        return super().partial_fit(X, y, classes, sample_weight)

    def cross_validate(
        self, X: Any, y: Any = None, folds: Any = 10, sample_weight: Any = None
    ) -> HeldOut:
        """Score every document by the model of the other folds.

        With naive Bayes this costs about one fit; model and sharpness are chosen once for all
        folds, by the same scores.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        folds : int, array of shape (n_samples,), or a splitter of scikit-learn
            A number deals the documents out evenly by class, in order.
        """
        other = type(self)(**self.get_params())
        rows = other._begin(X, y, sample_weight)
        fold = folds_of(folds, X, rows.hard.codes, rows.hard.n_groups)
        parts = parts_of(fold, int(fold.max()) + 1)
        held_out = other._held_out(rows, other._sum(rows), parts)
        judged = held_out.compare(self.model, self.alpha, self.C)
        best = min(judged, key=lambda j: j.log_loss)
        log_proba = np.empty_like(best.log_proba)
        log_proba[held_out.index] = best.log_proba
        return HeldOut(log_proba, rows.hard.codes, other.classes_, fold, rows.hard.weight)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of documents that are predicted correctly; X and y as in `fit`."""
        return Predicting.score(self, X, y, sample_weight)

    def log_evidence(self, X: Any) -> Floats:
        """Not known: the words are weighed, and documents are not modeled."""
        raise TypeError(
            "TextClassifier weighs words and has no density of documents. Use CountVectorizer and "
            "MultinomialNB."
        )

    def _begin(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Checked input; sets the classes."""
        self._validate_params()
        self.__dict__.pop("_column", None)
        X, y = self._with_target(X, y)
        features = self._features(X, fitting=True, reset=True)
        self.classes_, codes = validate.labels(y, features.shape[0])
        weight = validate.weights(sample_weight, features.shape[0])
        return Rows(features, Hard(codes, len(self.classes_), weight))

    def _sum(self, rows: Rows) -> JointStatistics[Any]:
        if isinstance(rows.X, CountedRows) and rows.hard.weight is None:
            return summed(rows, self.engine_.map)
        rows = Rows(term_rows(rows.X), rows.groups)
        size = max(CHUNK, -(-len(rows) // n_threads()))
        return Local(chunk_rows=size).sum(summed, rows)

    def _held_out(
        self, rows: Rows, statistics: JointStatistics[TermSums], parts: list[Array]
    ) -> HeldOutDocuments:
        return HeldOutDocuments.of(
            rows, statistics, parts, self._log_prior, self.min_df, self.calibrated, self.engine_
        )

    def _choose(self, rows: Rows, statistics: JointStatistics[TermSums]) -> None:
        """Model, pseudo-counts and sharpness, if they were left open and can be told."""
        self.__dict__.pop("choice_", None)
        given = self.C if self.model == LOGISTIC else self.alpha
        settled = self.model != "auto" and given is not None and not self.calibrated
        parts = [] if settled else some_parts(*by_content(rows))
        if not parts:
            self.model_ = STREAMED if self.model == "auto" else self.model
            self.alpha_, self.sharpness_ = ALPHA if given is None else given, 1.0
            return
        held_out = self._held_out(rows, statistics, parts)
        judged = held_out.compare(self.model, self.alpha, self.C)
        best = min(judged, key=lambda j: j.log_loss)
        self.model_, self.alpha_ = best.setting.model, best.setting.strength
        self.sharpness_ = best.sharpness if self.calibrated else 1.0
        self.choice_ = Table(
            {
                "model": np.array([j.setting.model for j in judged]),
                "alpha": np.array([j.setting.strength for j in judged]),
                "sharpness": np.array([j.sharpness for j in judged]),
                "log_loss": np.array([j.log_loss for j in judged]),
                "chosen": np.array(["<-" if j is best else "" for j in judged]),
            }
        )

    def _accept_rows(self, rows: Rows | None, statistics: JointStatistics[TermSums]) -> None:
        statistics = statistics.compact()
        sums = statistics.features
        terms = known_terms(sums, self.min_df)
        prior = self._log_prior(statistics.weight.rounded())
        setting = Setting(self.model_, self.alpha_)
        weights = weigh(setting, terms, rows, prior, self.engine_) * self.sharpness_
        self._model: Any = Joint(WeighedTerms(), prior, weights)  # type: ignore[arg-type]
        self._vocabulary = Vocabulary.of_terms(sums.terms[terms.columns])
        self.statistics_ = statistics

    def _accept(self, statistics: JointStatistics[TermSums]) -> None:
        self._check_calibrated(streaming=True)
        self._accept_rows(None, statistics)

    def _joint(self) -> Any:
        return self._model

    def _log_prior(self, weight: Floats) -> Floats:
        return log_prior(weight, self.class_prior, self.classes_)

    def _family(self) -> Any:
        return _Possible()

    def _forgotten(self, features: TermSums) -> TermSums:
        missing = features.missing_cell()
        if missing is not None:
            k, j = missing
            (term,) = features.terms[np.array([j])].strings()
            raise ValueError(
                f"Expected documents that were learned, got more of the term {term!r} in class "
                f"{quoted(self.classes_[k])} than the model has seen."
            )
        return features.seen()

    def _check_calibrated(self, streaming: bool = False) -> None:
        """What goes on with a stream: the model that was named, or chosen, if it is a sum."""
        if not streaming:
            return
        before = getattr(self, "model_", None)
        model = self.model if self.model != "auto" else before or STREAMED
        if model == LOGISTIC:
            raise ValueError(
                "Expected a model that is a sum over documents, got the logistic one, which needs "
                "all of them at once. Call fit() with all, or go on from the sums with "
                'set_params(model="contrast").'
            )
        if model != before:
            self.model_, self.sharpness_, self.alpha_ = model, 1.0, ALPHA
        if self.alpha is not None:
            self.alpha_ = self.alpha

    def _check_mergeable(self, other: Self) -> None:
        for name in (*TERMS, "min_df"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if not (callable(mine) and callable(theirs)) and mine != theirs:
                raise ValueError(
                    f"Expected {name}={mine!r} to merge, got {theirs!r}: the terms would differ."
                )


class _Possible:
    """Sums are looked at where terms have names."""

    def impossible(self, sums: TermSums) -> Array:
        return np.zeros((0, 0), bool)
