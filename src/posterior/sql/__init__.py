"""Models and databases: a fitted model as one query, and models fitted inside the database."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from posterior.sql.database_table import Table

__all__ = ["table", "to_sql"]


def to_sql(
    model: Any,
    dialect: str = "duckdb",
    table: str | Sequence[str] = "data",
    *,
    columns: Sequence[str] | None = None,
    keep: str | Sequence[str] | None = None,
    classes: Sequence[Any] | None = None,
    explain: bool = False,
    evidence: bool | None = None,
) -> str:
    """A query that gives each row of a table its posterior, as `predict_proba` would.

    The answer has the columns kept, `predicted`, and `p_` of each class. A missing cell is NULL or
    NaN. Where the model needs all cells, a row that lacks one has NULL for an answer, and so has a
    row that Python refuses: with an infinite cell, or a count below zero. Documents are cut into
    words as the model cuts them, whatever the locale of the database; a missing one has the prior.

    Parameters
    ----------
    model : a fitted model
        Naive Bayes, also of columns that depend on each other (`TAN`, `KDB`, `AODE`,
        `JointBayes`), discriminant analysis, logistic regression, an additive model, k-means or a
        mixture; a `TextClassifier` of words or letters, in DuckDB and PostgreSQL; or a `Pool` or
        `Classifier` that keeps none but these.
    dialect : {"duckdb", "postgres", "sqlite", "spark", "bigquery"}, default="duckdb"
    table : str or sequence of str, default="data"
        Where the rows are. Dots part a schema from its table; a name that has a dot itself is
        given in parts, ("schema", "a.b").
    columns : names of the table's columns, optional
        In the order that the model was fitted to, where it does not know them or they have others.
    keep : name or names of columns, optional
        What stands beside the answer, such as a key; by default the columns that are read.
    classes : what classes or clusters are called in the answer, optional
    explain : bool, default=False
        Add `evidence_` of each column for each class, the terms whose sum is the class's score.
        Differences between classes are those of `model.evidence`; what all classes share is left
        out.
    evidence : bool, optional
        The name that `explain` had before.

    Examples
    --------
    >>> import posterior
    >>> model = posterior.GaussianNB().fit([[1.0], [2.0], [5.0], [6.0]], ["no", "no", "yes", "yes"])
    >>> print(posterior.to_sql(model, columns=["age"], keep="id"))
    WITH ...
    """
    _need_sqlglot("Writing a model as SQL")
    from posterior.sql.writing import written

    if evidence is not None:
        warnings.warn(
            "to_sql(evidence=...) is explain=... now; the next version knows that name only.",
            FutureWarning,
            stacklevel=2,
        )
        explain = explain or evidence
    return written(model, dialect, table, columns, keep, classes, explain)


def table(connection: Any, name: str | Sequence[str], *, inside: bool | None = None) -> Table:
    """A table or query of a database, to pass to `fit` as X with the name of a column as y.

    Naive Bayes and discriminant analysis are fitted inside the database where that is faster: one
    statement takes the sums of each class, and no row leaves it. The model is the same, for naive
    Bayes to the bit. Any other model reads the rows in batches.

    Parameters
    ----------
    connection : of DuckDB (duckdb.connect) or of PostgreSQL (psycopg.connect)
        It stays open, and in the transaction that it is in.
    name : str or sequence of str
        A table, such as "clicks" or "shop.clicks" (a name that has a dot itself is given in parts),
        or a query, such as "SELECT age, clicked FROM clicks WHERE day > 7".
    inside : bool, optional
        True to fit inside the database, with an error where it cannot be; False to read the rows.

    Examples
    --------
    >>> import duckdb, posterior
    >>> connection = duckdb.connect()
    >>> rows = "(31, 'no'), (45, 'yes'), (50, 'yes'), (28, 'no')"
    >>> _ = connection.execute(f"CREATE TABLE people AS SELECT * FROM (VALUES {rows}) t(age, buys)")
    >>> people = posterior.sql.table(connection, "people")
    >>> posterior.GaussianNB().fit(people, "buys").theta_
    array([[29.5],
           [47.5]])
    """
    _need_sqlglot("Fitting inside a database")
    from posterior.sql.database_table import opened

    return opened(connection, name, inside)


def _need_sqlglot(what: str) -> None:
    try:
        import sqlglot  # noqa: F401
    except ModuleNotFoundError:
        raise ImportError(
            f"{what} needs the package sqlglot: pip install 'posterior[sql]'."
        ) from None
