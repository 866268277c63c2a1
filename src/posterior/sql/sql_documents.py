"""Documents: a query that cuts text into terms as the model's analyzer does, and weighs them.

Databases lower and match letters by their own tables, or by the locale of the server. Here the
letters are listed as Python knows them, and lower case is written out for the letters that the
model's terms have: any other term is not known, however it is written.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sqlglot import exp, parse_one

from posterior.data.typing import Array, Floats
from posterior.estimators.text import TextClassifier
from posterior.estimators.text.base import own_steps
from posterior.readers.documents import Documents
from posterior.sql.expressions import (
    SQL,
    cases,
    column,
    double,
    equals,
    identifier,
    is_missing,
    less,
    log,
    named,
    number,
    or_else,
    plus,
    table_named,
    text,
    times,
    whole,
    word,
)
from posterior.sql.sql_calibration import calibrated
from posterior.sql.sql_columns import TABLE, Column, source_names
from posterior.sql.sql_scores import Scores, Term, scores
from posterior.text.analysis import TermSettings, shortest_run
from posterior.text.characters import letters, lower_case, white_space
from posterior.text.damping import FINE, MOST, UNIT, Damping
from posterior.text.term_weights import WeighedTerms

DOTTED = "\u0130", "i\u0307"  # the one letter that lower case makes two of
SIGMAS = "σς"
SPLIT = {  # a row a word: the text x, cut by the pattern p
    "duckdb": """
        SELECT r, UNNEST(found) AS word, GENERATE_SUBSCRIPTS(found, 1) AS place
        FROM (SELECT r, REGEXP_EXTRACT_ALL(x, p) AS found FROM source AS t) AS texts""",
    "postgres": """
        SELECT r, found[1] AS word, place FROM source AS t
        CROSS JOIN LATERAL REGEXP_MATCHES(x, p, 'g') WITH ORDINALITY AS m(found, place)""",
}
# A row for each letter of a word that has a space on either side. PostgreSQL takes a series for
# a thousand rows, and a query of so many for one to compile, which takes longer than to run it.
PLACES = {
    "duckdb": """
        SELECT r, w, UNNEST(GENERATE_SERIES(1, LENGTH(w))) AS place
        FROM (SELECT r, ' ' || word || ' ' AS w FROM source) AS padded""",
    "postgres": """
        SELECT r, w, CAST(place AS INT) AS place
        FROM (SELECT r, ' ' || word || ' ' AS w FROM source) AS padded
        CROSS JOIN LATERAL UNNEST(STRING_TO_ARRAY(w, NULL)) WITH ORDINALITY AS m(letter, place)""",
}


@scores.register
def _(model: TextClassifier, columns: Sequence[Column]) -> Scores:
    """s_k = offset_k + Σⱼ xⱼ w_kj; a text that is missing says nothing."""
    fitted, (source,) = model.settled(), columns
    family, weights, reader = fitted.model.family, fitted.model.parameters, fitted.reader
    assert isinstance(family, WeighedTerms) and isinstance(reader, Documents)
    assert reader.vocabulary is not None
    terms = reader.vocabulary.terms.strings()
    check_words(model, reader.terms, terms)
    damping = None if weights.presence else family.damping
    words = Words(reader.terms, terms, weights.weight, damping, source)
    cells = []
    for k, offset in enumerate(weights.offset):
        known = less(or_else(column(words.sums[k]), 0.0), -offset)
        score = cases([(is_missing(source.raw), number(0.0))], known)
        cells.append(source.sheet.cell(f"{source.name}_{k}", score))
    found = [Term(source.name, cells)]
    made = Scores(fitted.classes, fitted.model.log_prior, found, before=words)
    return calibrated(made, fitted.calibrator)


def text_column(
    model: TextClassifier, given: Sequence[str] | None
) -> tuple[Array | None, list[str]]:
    """The column of text, as the model and as the table know it."""
    reader = model.settled().reader
    assert isinstance(reader, Documents)
    known = None if reader.column is None else np.array([reader.column], object)
    if known is None and given is None:
        raise ValueError(
            "Expected the name of the column of text, but the model was fitted to documents "
            'without one. Pass columns=["text"].'
        )
    sources = source_names(known, given, 1)
    return known, sources


def check_words(model: TextClassifier, settings: TermSettings, terms: Sequence[str]) -> None:
    """Refuse an analyzer that no query repeats."""
    reason = None
    letters = settings.analyzer == "char_wb"
    if not (letters or settings.analyzer == "word") or own_steps(model):
        reason = (
            "letters across words, or terms that a function makes: a query can cut out words, and "
            "letters inside of them"
        )
    elif not letters and shortest_run(settings.token_pattern) is None:
        reason = (
            f"token_pattern={settings.token_pattern!r}: databases read patterns otherwise than "
            r"Python, but for runs of letters such as '\w\w+'"
        )
    elif settings.strip_accents:
        reason = f"strip_accents={settings.strip_accents!r}, for which databases have no function"
    elif settings.lowercase and any(letter in term for term in terms for letter in SIGMAS):
        reason = "words with σ: whether Σ becomes σ or ς in lower case depends on its neighbors"
    if reason:
        raise TypeError(
            f"Expected terms that SQL cuts out of documents as the model does, got {reason}. "
            "Use model.predict_proba."
        )


class Words:
    """Rows by number, their words, how much they have of each term, and the sums of weights."""

    dialects: Sequence[str] = tuple(SPLIT)

    def __init__(
        self,
        settings: TermSettings,
        terms: Sequence[str],
        weight: Floats,  # (k, d)
        damping: Damping | None,  # None: a term is there or not
        source: Column,
    ) -> None:
        self.settings, self.terms, self.weight = settings, terms, weight
        self.damping, self.source, self.unused = damping, source, source.sheet.unused
        self.letters = settings.analyzer == "char_wb"
        self.row = self.unused("row")
        self.numbered: Sequence[str] = [self.row]
        self.sums: Sequence[str] = [self.unused(f"words_{k}") for k in range(len(weight))]
        self.weights = [f"w_{k}" for k in range(len(weight))]

    def from_(self, source: SQL, kept: Sequence[str], dialect: str) -> tuple[dict[str, SQL], SQL]:
        """The steps, and the rows with what their words add up to."""
        steps: dict[str, SQL] = {}

        def step(name: str, query: SQL) -> str:
            name = self.unused(name)
            steps[name] = query
            return name

        rows = step("numbered", self._numbered(source, kept))
        terms = step("words", self._words(rows, dialect))
        if self.letters:
            places = _filled(PLACES[dialect], dialect, terms, r=column(self.row))
            terms = step("pieces", self._pieces(step("places", places)))
        elif self.settings.ngram_range != (1, 1):
            terms = step("terms", self._in_a_row(terms))
        held = step("held", self._held(terms))
        amounts = step("amounts", self._amounts(held, step("weights", self._weights())))
        if self.damping is not None and self.damping.unit_length:
            amounts = step("unit_amounts", self._of_length_one(amounts))
        sums = step("word_sums", self._summed(amounts))
        on = equals(column(self.row, TABLE), column(self.row, sums))
        numbered = exp.Select().from_(table_named([rows], TABLE))
        return steps, numbered.join(identifier(sums), on=on, join_type="left")

    def _numbered(self, source: SQL, kept: Sequence[str]) -> SQL:
        read = dict.fromkeys([*kept, self.source.source])
        place = exp.Window(this=exp.RowNumber())
        columns = [column(name, TABLE) for name in read]
        return exp.select(*columns, named(place, self.row)).from_(source)

    def _words(self, rows: str, dialect: str) -> SQL:
        least = shortest_run(self.settings.token_pattern)
        pattern = f"[^{white_space()}]+" if self.letters else f"[{letters()}]{{{least},}}"
        document = self._prepared(text(self.source.raw))
        return _filled(
            SPLIT[dialect], dialect, rows, r=column(self.row), x=document, p=word(pattern)
        )

    def _pieces(self, places: str) -> SQL:
        """Each n letters in a row; of a word that is too short, all of them."""
        least, most = self.settings.ngram_range
        lines = [exp.Tuple(expressions=[whole(n)]) for n in range(max(least, 1), most + 1)]
        known = exp.TableAlias(this=identifier("lengths"), columns=[identifier("n")])
        end, place, n = plus(_call("LENGTH", column("w")), whole(1)), column("place"), column("n")
        inside = exp.LTE(this=plus(place, n), expression=end)
        short = exp.and_(equals(place.copy(), whole(1)), equals(n.copy(), whole(least)))
        piece = _call("SUBSTR", column("w"), place.copy(), n.copy())
        query = exp.select(column(self.row), named(piece, "word")).from_(identifier(places))
        lengths = exp.Values(expressions=lines, alias=known)
        return query.join(lengths, join_type="cross").where(exp.or_(inside, short))

    def _prepared(self, document: SQL) -> SQL:
        """In lower case, where a known word could be."""
        if not self.settings.lowercase:
            return document
        upper, lower = lower_case(frozenset("".join(self.terms)))
        document = _call("REPLACE", document, *map(word, DOTTED))
        return _call("TRANSLATE", document, word(upper), word(lower)) if upper else document

    def _in_a_row(self, words: str) -> SQL:
        """Each n words in a row, stop words left out before; NULL where there are not so many."""
        least, most = self.settings.ngram_range
        source = exp.select("*").from_(identifier(words))
        stops = sorted(self.settings.get_stop_words() or ())
        if stops:
            among = exp.In(this=column("word"), expressions=[word(s) for s in stops])
            source = source.where(exp.Not(this=among))
        order = exp.Order(expressions=[exp.Ordered(this=column("place"))])
        found = []
        for n in range(max(least, 1), most + 1):
            joined = column("word")
            for i in range(1, n):
                next_word = exp.Window(
                    this=_call("LEAD", column("word"), exp.Literal.number(i)),
                    partition_by=[column(self.row)],
                    order=order.copy(),
                )
                for part in (word(" "), next_word):
                    joined = exp.DPipe(this=joined, expression=part, safe=False)
            query = exp.select(column(self.row), named(joined, "word"))
            found.append(query.from_(source.copy().subquery("said")))
        return found[0] if len(found) == 1 else exp.union(*found, distinct=False)

    def _held(self, terms: str) -> SQL:
        keys = [column(self.row), column("word")]
        counted = named(exp.Count(this=exp.Star()), "n")
        return exp.select(*keys, counted).from_(identifier(terms)).group_by(*keys)

    def _weights(self) -> SQL:
        """A table of the model's terms; '' is none, and stands for no terms at all."""
        lines = [
            exp.Tuple(expressions=[word(term), *map(number, weight)])
            for term, weight in zip(self.terms, self.weight.T.tolist(), strict=True)
        ] or [exp.Tuple(expressions=[word(""), *(number(0.0) for _ in self.weights)])]
        names = [identifier(name) for name in ("word", *self.weights)]
        known = exp.TableAlias(this=identifier("known"), columns=names)
        columns = [named(double(column(name)), name) for name in self.weights]
        values = exp.Values(expressions=lines, alias=known)
        return exp.select(column("word"), *columns).from_(values)

    def _amounts(self, held: str, weights: str) -> SQL:
        """How much of each known term: its count, whether it is there, or log(1 + c)."""
        n = double(column("n", held))
        if self.damping is None:
            amount = number(1.0)
        elif self.damping.logs:
            most = exp.Least(this=n, expressions=[number(MOST)])
            amount = _rounded(times(number(FINE), log(plus(number(1.0), most))))
        else:
            amount = n
        on = equals(column("word", held), column("word", weights))
        columns = [column(self.row, held), named(amount, "x"), *map(column, self.weights)]
        return exp.select(*columns).from_(identifier(held)).join(identifier(weights), on=on)

    def _of_length_one(self, amounts: str) -> SQL:
        squares = exp.Window(
            this=exp.Sum(this=times(column("x"), column("x"))), partition_by=[column(self.row)]
        )
        length = exp.Greatest(this=exp.Sqrt(this=squares), expressions=[number(1.0)])
        unit = exp.Paren(this=times(number(UNIT), length))
        scaled = exp.Div(this=column("x"), expression=unit, typed=True)
        columns = [column(self.row), named(_rounded(scaled), "x"), *map(column, self.weights)]
        return exp.select(*columns).from_(identifier(amounts))

    def _summed(self, amounts: str) -> SQL:
        columns = [
            named(exp.Sum(this=times(column("x"), column(weight))), name)
            for name, weight in zip(self.sums, self.weights, strict=True)
        ]
        query = exp.select(column(self.row), *columns).from_(identifier(amounts))
        return query.group_by(column(self.row))


def _filled(template: str, dialect: str, source: str, **pieces: SQL) -> SQL:
    """A query of a dialect, with the name of its source and with pieces for its columns."""

    def placed(node: SQL) -> SQL:
        if isinstance(node, exp.Column) and node.name in pieces:
            return pieces[node.name]
        if isinstance(node, exp.Table) and node.name == "source":
            node.set("this", identifier(source))
        return node

    return parse_one(template, read=dialect).transform(placed)


def _call(name: str, *arguments: SQL) -> SQL:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _rounded(value: SQL) -> SQL:
    return exp.Round(this=value)
