"""Why: the terms of documents with their weights of evidence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from posterior.data.names import plain
from posterior.data.typing import Array
from posterior.estimators.text.document_input import ReadingDocuments
from posterior.estimators.text.highlighting import Mark, TextExplanation
from posterior.generative.evidence_terms import Evidence
from posterior.generative.joint import Joint
from posterior.text.documents import Reader, is_missing
from posterior.text.term_rows import TermRows
from posterior.text.term_weights import TermWeights

ABSENT = "without any word"


class ExplainingDocuments(ReadingDocuments):
    """evidence and explain."""

    classes_: Array

    def _joint(self) -> Joint[Any, TermWeights]:
        raise NotImplementedError

    def evidence(self, documents: Any) -> Evidence:
        """The additive terms of each class's log posterior, for the terms that these documents
        have; where those that a document does not have count as well, they share the last one."""
        check_is_fitted(self)
        X, joint = self._features(documents, fitting=False, reset=False), self._joint()
        return _evidence(X, joint, self.classes_)

    def explain(self, document: Any, of: Any = None, against: Any = None) -> TextExplanation:
        """One document's odds of a class against another, taken apart by term.

        Parameters
        ----------
        document : str, or a list of one document
        of, against : labels, optional
            By default the most probable class and the runner-up.
        """
        check_is_fitted(self)
        documents = [document] if isinstance(document, str | bytes) else document
        evidence = self.evidence(documents)
        if len(evidence.terms) != 1:
            raise ValueError(f"Expected one document to explain, got {len(evidence.terms)}.")
        log_joint = evidence.log_joint()[0]
        proba = np.exp(log_joint - logsumexp(log_joint))
        ranked = np.argsort(-log_joint, kind="stable")
        first = int(ranked[0]) if of is None else self._code(of)
        others = [int(k) for k in ranked if k != first]
        if not others and against is None:
            raise ValueError("Expected two classes or more to compare, the model knows one.")
        second = others[0] if against is None else self._code(against)
        weights, names = evidence.weights(first, second)[0], evidence.feature_names
        rest = 0.0
        if self._joint().parameters.offset.any():
            rest, weights, names = float(weights[-1]), weights[:-1], names[:-1]
        text = self._text(documents)
        counted = Counter(self._terms(text))
        weight = dict(zip(names.tolist(), weights.tolist(), strict=True))
        return TextExplanation(
            of=plain(self.classes_[first]),
            against=plain(self.classes_[second]),
            prior=float(evidence.log_prior[first] - evidence.log_prior[second]),
            rest=rest,
            terms=names,
            counts=np.array([counted[name] for name in names.tolist()], np.int64),
            weights=weights,
            unseen=tuple(sorted(set(counted) - set(weight))),
            posterior={plain(c): float(p) for c, p in zip(self.classes_, proba, strict=True)},
            document=text,
            marks=self._marks(text, weight, counted),
        )

    def _code(self, label: Any) -> int:
        place = np.flatnonzero(self.classes_ == label)
        if len(place) == 0:
            raise ValueError(
                f"Expected one of the classes {self.classes_.tolist()}, got {label!r}."
            )
        return int(place[0])

    def _text(self, documents: Any) -> str:
        """The document as it is read."""
        (document,) = self._documents(documents)
        document = getattr(document, "as_py", lambda: document)()
        if is_missing(document):
            return ""
        return Reader("content", self.encoding, self.decode_error).text(document, 0)

    def _terms(self, text: str) -> list[str]:
        """All terms of a text, as often as they occur."""
        return list(self.build_analyzer()(text))

    def _marks(
        self, text: str, weight: Mapping[str, float], counted: Mapping[str, int]
    ) -> tuple[Mark, ...]:
        """The words of the text, each with its share of the terms that it is part of."""
        if self.analyzer != "word":
            return ()
        pattern, prepare = re.compile(self.token_pattern), self.build_preprocessor()
        group, stop_words = min(pattern.groups, 1), self.get_stop_words() or ()
        found = [(*m.span(group), prepare(m[group])) for m in pattern.finditer(text)]
        words = [word for word in found if word[2] not in stop_words]
        shares = np.zeros(len(words))
        known = np.zeros(len(words), bool)
        least, most = self.ngram_range
        for n in range(least, most + 1):
            for i in range(len(words) - n + 1):
                term = " ".join(word for _, _, word in words[i : i + n])
                if term in weight:
                    shares[i : i + n] += weight[term] / (n * max(counted[term], 1))
                    known[i : i + n] = True
        shares[~known] = np.nan
        return tuple(
            Mark(start, end, float(share))
            for (start, end, _), share in zip(words, shares, strict=True)
        )


def _evidence(X: TermRows, joint: Joint[Any, TermWeights], classes: Array) -> Evidence:
    """Of the terms that the documents have: all others add nothing, or to the offset."""
    weights = joint.parameters
    here = np.unique(X.counts.column[X.counts.start[0] : X.counts.start[-1]])
    cells = X.cells().scipy()[:, here].toarray().astype(np.float64)
    if weights.presence:
        cells = (cells > 0).astype(np.float64)
    terms = cells[:, None, :] * weights.weight[:, here]
    names = np.array(X.terms[here].strings(), object)
    if weights.offset.any():
        offset = np.broadcast_to(weights.offset[:, None], (len(terms), len(classes), 1)).copy()
        if X.absent is not None:
            offset[X.absent] = 0.0
        terms = np.concatenate([terms, offset], axis=2)
        names = np.append(names, ABSENT)
    return Evidence(terms, joint.log_prior, names, classes)
