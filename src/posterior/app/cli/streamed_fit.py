"""posterior fit, of tables that are read in batches: patterns, and files larger than memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from posterior.app import models
from posterior.app.cli.command import Answer, counted
from posterior.app.cli.progress_bar import busy

if TYPE_CHECKING:
    from posterior.sources.table_files import Files


def is_pattern(data: str) -> bool:
    """Whether a path stands for several files."""
    from pathlib import Path

    from posterior.sources.table_files import PATTERN

    return bool(PATTERN.search(data)) and not Path(data).exists()


def fit_streamed(data: str, target: str, kind: str, drop: Sequence[str], out: str) -> Answer:
    """Learn a model of all columns but those left out, some rows at a time."""
    from posterior.sources.files import column_named
    from posterior.sources.table_files import matching
    from posterior.storage.summary import rows_learned

    known = _model(kind)
    source = matching(data)
    target = column_named(source.names, target, "target column")
    left_out = {column_named(source.names, name) for name in drop}
    if left_out:
        source = source.select([name for name in source.names if name not in left_out])
    with busy("learning"):
        _check_target(source, target)
        known.fit(source, y=target)
    models.save(known, out, source.schema.empty_table())
    rows = rows_learned(known)
    n_rows = None if rows is None else int(rows)
    facts = {
        "data": data,
        "files": len(source.paths),
        "target": target,
        "model": kind,
        "rows": n_rows,
        "columns": models.columns(known) or [n for n in source.names if n != target],
        "classes": known.classes_,
        "out": out,
    }
    size = [] if n_rows is None else [counted(n_rows, "row")]
    size += [counted(len(facts["columns"]), "column"), counted(len(source.paths), "file")]
    return Answer(
        facts, [f"{type(known).__name__} of {target}: {', '.join(size)}", f"model: {out}"]
    )


def _check_target(source: Files, target: str) -> None:
    """A look at the first rows: what is no class there is none in the rest."""
    import narwhals as nw

    from posterior.preprocessing.infer_roles import role_of
    from posterior.preprocessing.targets import check_classes

    first = next(source.select([target]).batches(), None)
    if first is not None:
        column = nw.from_native(first.frame.column(target), series_only=True)
        role = role_of(column.alias(target))
        check_classes(column, role, len(column) - role.missing)


def _model(kind: str) -> Any:
    from posterior.estimators import (
        GaussianDiscriminantAnalysis,
        LogisticRegression,
        NaiveBayes,
        TextClassifier,
    )

    made = {
        "naive-bayes": NaiveBayes(),
        "discriminant": GaussianDiscriminantAnalysis("shared"),
        "quadratic": GaussianDiscriminantAnalysis("own", pseudo_rows=1.0),
        "logistic": LogisticRegression(),
        "text": TextClassifier(),
    }
    if kind not in made:
        raise ValueError(
            f"Expected --model to be one of {', '.join(made)} for a table that is read in "
            f"batches, got {kind}."
        )
    return made[kind]
