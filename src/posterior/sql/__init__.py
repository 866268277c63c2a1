"""A fitted model as one query: posteriors where the rows are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["to_sql"]


def to_sql(
    model: Any,
    dialect: str = "duckdb",
    table: str | Sequence[str] = "data",
    *,
    columns: Sequence[str] | None = None,
    keep: str | Sequence[str] | None = None,
    classes: Sequence[Any] | None = None,
    evidence: bool = False,
) -> str:
    """A query that gives each row of a table its posterior, as `predict_proba` would.

    The answer has the columns kept, `predicted`, and `p_` of each class. A missing cell is NULL.
    Where the model needs all cells, a row that lacks one has NULL for an answer.

    Parameters
    ----------
    model : a fitted model
        Naive Bayes, discriminant analysis, logistic regression, k-means or a mixture.
    dialect : {"duckdb", "postgres", "sqlite", "spark", "bigquery"}, default="duckdb"
    table : str or sequence of str, default="data"
        Where the rows are. Dots part a schema from its table; a name that has a dot itself is
        given in parts, ("schema", "a.b").
    columns : names of the table's columns, optional
        In the order that the model was fitted to, where it does not know them or they have others.
    keep : name or names of columns, optional
        What stands beside the answer, such as a key; by default the columns that are read.
    classes : what classes or clusters are called in the answer, optional
    evidence : bool, default=False
        Add `evidence_` of each column for each class, the terms whose sum is the class's score.
        Differences between classes are those of `model.evidence`; what all classes share is left
        out.

    Examples
    --------
    >>> import posterior
    >>> model = posterior.GaussianNB().fit([[1.0], [2.0], [5.0], [6.0]], ["no", "no", "yes", "yes"])
    >>> print(posterior.to_sql(model, columns=["age"], keep="id"))
    WITH ...
    """
    try:
        import sqlglot  # noqa: F401
    except ModuleNotFoundError:
        raise ImportError(
            "Writing a model as SQL needs the package sqlglot: pip install 'posterior[sql]'."
        ) from None
    from posterior.sql.writing import written

    return written(model, dialect, table, columns, keep, classes, evidence)
