"""The query as text of a dialect: cells, scores, the best of them, shares, posteriors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted
from sqlglot import exp

from posterior.data.names import feature_names, plain
from posterior.estimators import TextClassifier
from posterior.sql import (  # noqa: F401
    class_mixtures,
    clusters,
    generative,
    pool_members,
    sql_additive,
    sql_dependence,
    sql_documents,
    sql_logistic,
    table_model,
    whole_rows,
)
from posterior.sql.expressions import (
    LEAST,
    SQL,
    as_double,
    cases,
    column,
    equals,
    greatest,
    identifier,
    label,
    log,
    named,
    number,
    plus,
    share,
    table_named,
    times,
    total,
)
from posterior.sql.lookups import written_out
from posterior.sql.sql_calibration import corrected_scores
from posterior.sql.sql_columns import TABLE, Column, Sheet, source_names
from posterior.sql.sql_scores import Correction, Scores, scores

Translation = Callable[[SQL], SQL]
MOST_COLUMNS = {"postgres": 1664, "sqlite": 2000}  # of a step
MOST_CHARACTERS = {"bigquery": 1_000_000}


def _duckdb(node: SQL) -> SQL:
    if isinstance(node, exp.Greatest):
        node.set("ignore_nulls", True)  # scores are NULL together or not at all
    if isinstance(node, exp.CTE) and node.find(exp.RowNumber):
        node.set("materialized", True)  # rows keep their numbers
    return node


def _postgres(node: SQL) -> SQL:
    """A choice among numbers with a point is a decimal to PostgreSQL; a score is a double."""
    if isinstance(node, exp.Case) and node.args.get("default") is not None and _of_scores(node):
        return exp.cast(node.copy(), "double")
    return _materialized(node)


def _of_scores(node: SQL) -> bool:
    """Whether a choice is among neither whole numbers nor words, by the first of them."""
    while isinstance(node, exp.Case):
        node = node.args["ifs"][0].args["true"]
    return not (isinstance(node, exp.Literal) and (node.is_int or node.is_string))


def _materialized(node: SQL) -> SQL:
    """Steps are computed once, rather than wherever the next one mentions them."""
    if isinstance(node, exp.CTE):
        node.set("materialized", True)
    return node


def _sqlite(node: SQL) -> SQL:
    if isinstance(node, exp.TimeToUnix):  # TimeToUnix(CAST(x AS TIMESTAMP))
        arguments = [exp.Literal.string("%s"), node.this.this]
        return exp.Anonymous(this="STRFTIME", expressions=arguments)
    if isinstance(node, exp.Extract):  # EXTRACT(MONTH FROM CAST(x AS TIMESTAMP))
        arguments = [exp.Literal.string("%m"), node.expression.this]
        return exp.cast(exp.Anonymous(this="STRFTIME", expressions=arguments), "int")
    return _materialized(node)


def _bigquery(node: SQL) -> SQL:
    if isinstance(node, exp.TimeToUnix):
        return exp.UnixSeconds(this=exp.cast(node.this.this, "timestamptz"))
    return node


def _as_it_is(node: SQL) -> SQL:
    return node


DIALECTS: dict[str, Translation] = {
    "bigquery": _bigquery,
    "duckdb": _duckdb,
    "postgres": _postgres,
    "spark": _as_it_is,
    "sqlite": _sqlite,
}


def adapted(query: SQL, dialect: str) -> SQL:
    """The query in the words of a database."""
    return written_out(query, dialect).transform(DIALECTS[dialect], copy=False)


def written(
    model: Any,
    dialect: str,
    table: str | Sequence[str],
    columns: Sequence[str] | None,
    keep: str | Sequence[str] | None,
    classes: Sequence[Any] | None,
    explain: bool,
) -> str:
    """The query as text."""
    if dialect not in DIALECTS:
        raise ValueError(f"Expected one of the dialects {sorted(DIALECTS)}, got {dialect!r}.")
    check_is_fitted(model)
    of_texts = pool_members.first_of_documents(model)
    if isinstance(of_texts, TextClassifier):
        names, sources = sql_documents.text_column(of_texts, columns)
    else:
        if not hasattr(model, "n_features_in_"):
            scores(model, [])  # not a model of columns, and says so
        names = feature_names(model)
        sources = source_names(names, columns, int(model.n_features_in_))
    known = sources if names is None else names
    sheet = Sheet()
    read = [Column(str(a), b, sheet) for a, b in zip(known, sources, strict=True)]
    kept = [keep] if isinstance(keep, str) else list(dict.fromkeys(keep or sources))
    for name in (*kept, *table_parts(table)):
        sheet.taken.add(name.casefold())
    found = scores(model, read)
    if found.before is not None and dialect not in found.before.dialects:
        raise TypeError(
            f"Expected one of the dialects {sorted(found.before.dialects)}, whose databases cut "
            f"text by a pattern into rows of words, got {dialect!r}."
        )
    if explain:
        found = explained(found)
    query = Query(sheet, kept, sources, found, _labels(found, classes))
    answer = query.select(table, explain, dialect)
    _check_limit("columns", query.width, MOST_COLUMNS.get(dialect), dialect)
    text: str = adapted(answer, dialect).sql(dialect=dialect, pretty=True, copy=False)
    _check_limit("characters", len(text), MOST_CHARACTERS.get(dialect), dialect)
    if "\0" in text and dialect != "duckdb":
        near = text[: text.index("\0") + 1].splitlines()[-1].strip()[-40:]
        raise ValueError(
            f"Expected names, classes and categories without a zero character, which no query of "
            f"{dialect} can hold, got one after {near!r}. Rename it, and fit again."
        )
    return text


def explained(found: Scores) -> Scores:
    """The same in terms of columns."""
    if found.refused is not None:
        raise TypeError(found.refused)
    return found if found.explained is None else found.explained()


def _check_limit(what: str, needed: int, most: int | None, dialect: str) -> None:
    if most is not None and needed > most:
        raise ValueError(
            f"Expected a query of at most {most:,} {what}, which is the limit of {dialect}, but "
            f"this one needs {needed:,}. Leave explain out, or fit a model of fewer columns or "
            "terms."
        )


def table_parts(table: str | Sequence[str]) -> list[str]:
    """Catalog, schema and name of a table, as many as are given."""
    parts = table.split(".") if isinstance(table, str) else list(table)
    if not parts or not all(parts) or len(parts) > 3:
        raise ValueError(
            f"Expected a table such as 'data' or 'schema.data', got {table!r}. Give the parts of a "
            "name with dots in it as a tuple."
        )
    return parts


def _labels(found: Scores, classes: Sequence[Any] | None) -> list[Any]:
    given = found.classes if classes is None else classes
    if len(given) != len(found.classes):
        raise ValueError(f"Expected {len(found.classes)} classes to name, got {len(given)}.")
    return [plain(c) for c in given]


class Query:
    """Steps with names: what one computes, the next ones mention."""

    def __init__(
        self,
        sheet: Sheet,
        kept: Sequence[str],
        sources: Sequence[str],
        found: Scores,
        classes: Sequence[Any],
    ) -> None:
        self.sheet, self.kept, self.read = sheet, kept, [*kept, *sources]
        self.found, self.classes = found, classes
        self.predicted, self.posterior = sheet.unused("predicted"), self._by_class("p")
        self.score, self.share = self._by_class("score"), self._by_class("share")
        self.best, self.whole = sheet.unused("best_score"), sheet.unused("all_shares")
        self.steps: dict[str, SQL] = {}

    @property
    def width(self) -> int:
        """Columns of the widest step; many have those of the step before."""
        widths = [0]
        for step in self.steps.values():
            before = widths[-1] if step.is_star else 0
            widths.append(before + sum(1 for c in step.selects if not c.is_star))
        return max(widths)

    @property
    def numbered(self) -> list[str]:
        """The column that numbers the rows, if there is one."""
        return [] if self.found.before is None else list(self.found.before.numbered)

    def _by_class(self, what: str) -> list[str]:
        return [self.sheet.unused(f"{what}_{c}") for c in self.classes]

    def select(self, table: str | Sequence[str], explain: bool, dialect: str) -> SQL:
        source = table_named(table_parts(table), TABLE)
        rows = exp.Select().from_(source)
        if self.found.before is not None:
            self.steps, rows = self.found.before.from_(source, self.read, dialect)
        cells = [named(value, alias) for alias, value in self.sheet.cells.items()]
        kept = [column(name, TABLE) for name in (*self.kept, *self.numbered)]
        self.steps[self.sheet.unused("cells")] = rows.select(*kept, *cells, copy=False)
        for name, columns in self.found.steps.items():
            self._step(name, columns)
        terms = [list(term.scores) for term in self.found.terms]
        shown: list[str] = []
        if explain:
            told = self.found.terms if self.found.shown is None else self.found.shown
            names = [self._by_class(f"evidence_{term.name}") for term in told]
            values = [as_double(score) for term in told for score in term.scores]
            shown = [name for row in names for name in row]
            self._step("terms", dict(zip(shown, values, strict=True)))
            if self.found.shown is None:
                terms = [[column(name) for name in row] for row in names]
        self._step("scores", dict(zip(self.score, self.found.total(terms), strict=True)))
        if self.found.rules_out:
            self._step("possible", self._leveled())
        self._softmax(self.found.scale)
        if self.found.correction is not None:
            self._correct(self.found.correction)
        return self._answer(shown)

    def _softmax(self, scale: float) -> None:
        """Shares of the scores, and their sum."""
        self._step("ranked", {self.best: greatest([column(name) for name in self.score])})
        self._step("weighed", dict(zip(self.share, self._shares(scale), strict=True)))
        self._step("summed", {self.whole: total([column(name) for name in self.share])})

    def _correct(self, correction: Correction) -> None:
        """Shares that are mixed with uniform, or those of scores made of their logarithms."""
        each = correction.uniform / len(self.score)
        scaled = (times(number(1 - correction.uniform), p) for p in self._parts())
        mixed = [exp.Paren(this=plus(p, number(each))) for p in scaled]
        if correction.matrix is None:
            self.share, self.whole = self._by_class("mixed"), self.sheet.unused("all_mixed")
            self._step("mixed", dict(zip(self.share, mixed, strict=True)))
            self._step("together", {self.whole: total([column(name) for name in self.share])})
            return
        logs = self._by_class("log")
        self._step("logs", dict(zip(logs, map(log, mixed), strict=True)))
        self.score, self.share = self._by_class("corrected"), self._by_class("corrected_share")
        self.best, self.whole = self.sheet.unused("best_corrected"), self.sheet.unused("corrected")
        scores = map(as_double, corrected_scores(correction, logs))
        self._step("corrected", dict(zip(self.score, scores, strict=True)))
        self._softmax(1.0)

    def _parts(self) -> list[SQL]:
        """share_k / Σ_j share_j"""
        whole = column(self.whole)
        return [exp.Div(this=column(s), expression=whole.copy(), typed=True) for s in self.share]

    def _step(self, name: str, more: Mapping[str, SQL]) -> None:
        """Whatever the step before has, and more."""
        before = identifier(list(self.steps)[-1])
        columns = [named(value, alias) for alias, value in more.items()]
        self.steps[self.sheet.unused(name)] = exp.select("*", *columns).from_(before)

    def _leveled(self) -> dict[str, SQL]:
        """What is impossible for two reasons is no less possible than for one."""
        before, self.score = self.score, self._by_class("possible")
        out = [exp.LT(this=column(s), expression=number(LEAST / 2)) for s in before]
        values = [
            cases([(no, number(LEAST))], column(s)) for no, s in zip(out, before, strict=True)
        ]
        return dict(zip(self.score, values, strict=True))

    def _shares(self, scale: float) -> list[SQL]:
        """share_k exp(scale (s_k - max s))"""
        found = []
        for k, name in enumerate(self.score):
            behind = exp.Sub(this=column(name), expression=column(self.best))
            part = share(behind, scale)
            if self.found.shares is not None:
                part = times(number(self.found.shares[k]), part)
            found.append(part)
        return found

    def _answer(self, shown: list[str]) -> SQL:
        pairs = zip(self.score, self.classes, strict=True)
        best = [(equals(column(s), column(self.best)), label(c)) for s, c in pairs]
        posterior = [named(p, n) for p, n in zip(self._parts(), self.posterior, strict=True)]
        answer = exp.select(
            *(column(name) for name in self.kept),
            named(cases(best), self.predicted),
            *posterior,
            *(column(name) for name in shown),
        ).from_(identifier(list(self.steps)[-1]))
        for row in self.numbered:  # joins may mix the rows
            answer = answer.order_by(column(row))
        for name, step in self.steps.items():
            answer = answer.with_(identifier(name), as_=step, copy=False)
        return answer
