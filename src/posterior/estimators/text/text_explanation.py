"""Explains the class of a document: terms with their weights of evidence, and words in place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from posterior.data.names import plain
from posterior.data.shares import ranked_shares
from posterior.data.table import Table
from posterior.data.typing import Array, Floats
from posterior.estimators.base_classifier import rivals
from posterior.generative.evidence_terms import BAR, Evidence, odds, weightiest
from posterior.generative.joint import Joint
from posterior.readers.documents import Documents
from posterior.text.analysis import TermSettings
from posterior.text.term_rows import TermRows
from posterior.text.term_weights import TermWeights

ABSENT = "without any word"
SHOWN = 20  # terms that are listed when the explanation is printed
MARKED = 0.1  # of the largest weight: words that are marked in the text
UNSEEN = "never seen"


class Mark(NamedTuple):
    """A word in the text, and its share of the weights; NaN if the model has never seen it."""

    start: int
    end: int
    weight: float


@dataclass(frozen=True, slots=True, eq=False)
class TextExplanation:
    """One document's posterior odds of a class against another, taken apart by term.

    log odds = log prior odds + rest + Σⱼ weight of evidence of term j   (Good 1950)
    """

    of: Any
    against: Any
    prior: float
    rest: float  # what a document without any term has already
    terms: Array  # (m,) those that the model knows
    counts: Array  # (m,)
    weights: Floats  # (m,)
    unseen: tuple[str, ...]
    posterior: dict[Any, float]
    document: str
    marks: tuple[Mark, ...]

    @property
    def log_odds(self) -> float:
        return float(self.prior + self.rest + self.weights.sum())

    def in_short(self, most: int) -> str:
        """The terms of most weight, in one line."""
        return weightiest(self.terms, self.weights, most)

    def to_dict(self) -> dict[str, Any]:
        """In plain values."""
        counted = zip(self.terms, self.counts, self.weights, strict=True)
        ranked = sorted(counted, key=lambda term: -abs(term[2]))
        return {**odds(self, ranked), "rest": self.rest, "unseen": list(self.unseen)}

    @property
    def table(self) -> Table:
        """All terms, the weightiest first; those never seen last, with no weight."""
        order = np.argsort(-np.abs(self.weights), kind="stable")
        nothing = np.full(len(self.unseen), np.nan)
        return Table(
            {
                "term": np.array([*self.terms[order], *self.unseen], object),
                "count": np.concatenate([self.counts[order], nothing]),
                "log-odds": np.concatenate([self.weights[order], nothing]),
            }
        )

    def __str__(self) -> str:
        lines = [f"Why {self.of}, rather than {self.against}", *self._lines()]
        if self.unseen:
            lines.append(f"{UNSEEN}: {', '.join(self.unseen)}")
        lines.append(ranked_shares(self.posterior))
        return "\n".join([*lines, "", "".join(self._annotated())])

    __repr__ = __str__

    def _lines(self) -> Iterator[str]:
        """Prior, terms and posterior, with bars."""
        order = np.argsort(-np.abs(self.weights), kind="stable")
        parts = [("prior", self.prior)]
        parts += [(ABSENT, self.rest)] if self.rest else []
        parts += [(str(self.terms[j]), float(self.weights[j])) for j in order[:SHOWN]]
        hidden = order[SHOWN:]
        if len(hidden):
            parts.append((f"{len(hidden)} more terms", float(self.weights[hidden].sum())))
        largest = max((abs(w) for _, w in parts), default=0.0) or 1.0
        width = max(len("posterior"), *(len(name) for name, _ in parts))
        yield f"{'':{width}}  {'log-odds':>8}"
        for name, weight in parts:
            bar = ("+" if weight > 0 else "-") * round(BAR * min(1.0, abs(weight) / largest))
            yield f"{name:{width}}  {weight:>+8.2f}  {bar}".rstrip()
        yield f"{'posterior':{width}}  {self.log_odds:>+8.2f}"

    def _pieces(self) -> Iterator[tuple[str, float | None]]:
        """The document cut into words that have a mark and the text between them."""
        end = 0
        for mark in self.marks:
            yield self.document[end : mark.start], None
            yield self.document[mark.start : mark.end], mark.weight
            end = mark.end
        yield self.document[end:], None

    def _largest(self) -> float:
        return max((abs(m.weight) for m in self.marks if not np.isnan(m.weight)), default=0.0)

    def _annotated(self) -> Iterator[str]:
        """The text, with the weights of its weighty words behind them."""
        least = MARKED * self._largest()
        for text, weight in self._pieces():
            yield text
            if weight is None or abs(weight) <= least:
                continue
            yield "[?]" if np.isnan(weight) else f"[{weight:+.1f}]"

    def _repr_html_(self) -> str:
        """The text with its words colored: green speaks for the class, red against it."""
        largest = self._largest() or 1.0
        text = "".join(_highlighted(piece, weight, largest) for piece, weight in self._pieces())
        title = f"Why {escape(str(self.of))}, rather than {escape(str(self.against))}"
        odds = ranked_shares(self.posterior, ", ")
        return (
            f"<div><p><b>{title}</b><br>{escape(odds)}</p>"
            f'<p style="white-space: pre-wrap">{text}</p>{self.table.to_html()}</div>'
        )


def _highlighted(text: str, weight: float | None, largest: float) -> str:
    if weight is None:
        return escape(text)
    if np.isnan(weight):
        style, title = "text-decoration: underline dotted", UNSEEN
    else:
        color = "0, 150, 60" if weight > 0 else "210, 40, 40"
        style = f"background: rgba({color}, {0.6 * abs(weight) / largest:.2f})"
        title = f"{weight:+.2f}"
    return f'<span style="{style}" title="{title}">{escape(text)}</span>'


def document_evidence(
    X: TermRows, joint: Joint[Any, TermWeights], classes: Array
) -> tuple[Evidence, bool]:
    """Of the terms that documents have; and whether what they do not have counts, as the last."""
    weights = joint.parameters
    here = np.unique(X.counts.column[X.counts.start[0] : X.counts.start[-1]])
    some = TermWeights(weights.weight[:, here], weights.offset, weights.presence)
    terms = joint.family.evidence(X.among(here), some)
    names = np.array(X.terms[here].strings(), object)
    rest = terms.shape[2] > len(names)
    names = np.append(names, ABSENT) if rest else names
    return Evidence(terms, joint.log_prior, names, classes), rest


def evidence(model: Any, documents: Any) -> Evidence:
    """The additive terms of each class's log posterior, for the terms that these documents have."""
    return _told(model, documents)[0]


def explain(self: Any, document: Any, of: Any = None, against: Any = None) -> TextExplanation:
    """One document's odds of a class against another, taken apart by term.

    Parameters
    ----------
    document : str, or a list of one document
    of, against : labels, optional
        By default the most probable class and the runner-up.
    """
    documents = [document] if isinstance(document, str | bytes) else document
    found, rest = _told(self, documents)
    pair = rivals(found, of, against, "document")
    reader = self.settled().reader
    assert isinstance(reader, Documents)
    return explanation(reader.text(documents), reader.terms, found, rest, pair)


def _told(model: Any, documents: Any) -> tuple[Evidence, bool]:
    fitted = model.settled()
    X = fitted.reader.read(documents)
    assert isinstance(X, TermRows)
    return document_evidence(X, fitted.model, fitted.classes)


def explanation(
    text: str, settings: TermSettings, evidence: Evidence, rest: bool, pair: tuple[int, int]
) -> TextExplanation:
    """Of one document, whose evidence for two classes is compared."""
    first, second = pair
    log_joint = evidence.log_joint()[0]
    proba = np.exp(log_joint - logsumexp(log_joint))
    weights, names = evidence.weights(first, second)[0], evidence.feature_names
    n = len(names) - rest
    counted = Counter(settings.build_analyzer()(text))
    weight = dict(zip(names[:n].tolist(), weights[:n].tolist(), strict=True))
    return TextExplanation(
        of=plain(evidence.classes[first]),
        against=plain(evidence.classes[second]),
        prior=float(evidence.log_prior[first] - evidence.log_prior[second]),
        rest=float(weights[-1]) if rest else 0.0,
        terms=names[:n],
        counts=np.array([counted[name] for name in names[:n].tolist()], np.int64),
        weights=weights[:n],
        unseen=tuple(sorted(set(counted) - set(weight))),
        posterior={plain(c): float(p) for c, p in zip(evidence.classes, proba, strict=True)},
        document=text,
        marks=_marks(text, settings, weight, counted),
    )


def _marks(
    text: str, settings: TermSettings, weight: Mapping[str, float], counted: Mapping[str, int]
) -> tuple[Mark, ...]:
    """The words of the text, each with its share of the terms that it is part of."""
    if settings.analyzer != "word":
        return ()
    pattern, prepare = re.compile(settings.token_pattern), settings.build_preprocessor()
    group, stop_words = min(pattern.groups, 1), settings.get_stop_words() or ()
    found = [(*m.span(group), prepare(m[group])) for m in pattern.finditer(text)]
    words = [word for word in found if word[2] not in stop_words]
    shares = np.zeros(len(words))
    known = np.zeros(len(words), bool)
    least, most = settings.ngram_range
    for n in range(least, most + 1):
        for i in range(len(words) - n + 1):
            term = " ".join(word for _, _, word in words[i : i + n])
            if term in weight:
                shares[i : i + n] += weight[term] / (n * max(counted[term], 1))
                known[i : i + n] = True
    shares[~known] = np.nan
    return tuple(
        Mark(start, end, float(share)) for (start, end, _), share in zip(words, shares, strict=True)
    )
