"""Why a document got its class: terms with their weights of evidence, and words in place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np

from posterior.data.table import Table
from posterior.data.typing import Array, Floats
from posterior.generative.evidence_terms import BAR, odds, percent, weightiest

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
        shares = sorted(self.posterior.items(), key=lambda item: -item[1])
        lines.append("  ".join(f"P({name}) = {percent(p)}" for name, p in shares))
        return "\n".join([*lines, "", "".join(self._annotated())])

    __repr__ = __str__

    def _lines(self) -> Iterator[str]:
        """Prior, terms and posterior, with bars."""
        order = np.argsort(-np.abs(self.weights), kind="stable")
        parts = [("prior", self.prior)]
        parts += [("without any word", self.rest)] if self.rest else []
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
        shares = sorted(self.posterior.items(), key=lambda item: -item[1])
        odds = ", ".join(f"P({name}) = {percent(p)}" for name, p in shares)
        return (
            f"<div><p><b>{title}</b><br>{escape(odds)}</p>"
            f'<p style="white-space: pre-wrap">{text}</p>{self.table._repr_html_()}</div>'
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
