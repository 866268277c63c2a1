"""posterior fit: of a table in memory, and of one that is read in batches."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from posterior.app import models
from posterior.app.cli.command import (
    BANDS,
    DATA,
    GROUP,
    KEPT,
    LEFT_OUT,
    MODEL_OUT,
    QUICK,
    READ_AS,
    SHEET,
    TABLE,
    TARGET,
    TIME,
    Answer,
    busy,
    counted,
    overrides,
    part_of,
)
from posterior.app.cli.progress_bar import Watch, progress_bar
from posterior.app.lean_imports import import_sklearn
from posterior.app.tables import name_of
from posterior.sources.places import check_there

if TYPE_CHECKING:
    import pyarrow as pa

    from posterior.estimators.pool.candidates import Candidate
    from posterior.preprocessing.roles import Roles
    from posterior.sources.table_files import Files


class Kind(StrEnum):
    """Kinds of models."""

    AUTO = "auto"
    NAIVE_BAYES = "naive-bayes"
    DISCRIMINANT = "discriminant"
    QUADRATIC = "quadratic"
    LOGISTIC = "logistic"
    NEIGHBORS = "neighbors"
    ADDITIVE = "additive"
    TEXT = "text"


def fit(
    data: DATA,
    target: TARGET,
    bands: BANDS = None,
    out: MODEL_OUT = None,
    model: Annotated[Kind, typer.Option("--model", "-m", help="Kind of model.")] = Kind.AUTO,
    like: Annotated[
        str | None,
        typer.Option("--like", metavar="MODEL", help="Fit as this one was, so that they merge."),
    ] = None,
    read_as: READ_AS = None,
    keep: KEPT = None,
    leave_out: LEFT_OUT = None,
    group: GROUP = None,
    time: TIME = None,
    sheet: SHEET = None,
    table: TABLE = None,
    stream: Annotated[
        bool, typer.Option("--stream", help="Read some rows at a time: for large files.")
    ] = False,
    quick: QUICK = False,
) -> Answer:
    """Learn a model from a table, and write it to a file.

    By default all kinds that can read the table learn from it, and they are kept together, weighed
    on rows held out, or one of them alone, where it does as well. A kind that is named is fitted
    as it is.

    With --stream, or for a pattern such as 'clicks/*.parquet' where a kind is named, files may be
    larger than memory.
    """
    from posterior.sources import files
    from posterior.sources.places import is_pattern

    out = out or f"{name_of(data, 'model')}.posterior"
    streamed = stream or (is_pattern(data) and model is not Kind.AUTO and like is None)
    if bands is not None and (streamed or like is not None):
        raise typer.BadParameter(
            "Expected --bands with a table that is read as a whole, and without --like, whose "
            "model brings its own."
        )
    if quick and (streamed or like is not None or model is not Kind.AUTO):
        raise typer.BadParameter(
            "Expected --quick with a table that is read as a whole, and no model that is named."
        )
    part = part_of(sheet, table)
    if streamed:
        return fit_streamed(data, part, target, model, leave_out or (), out)
    check_there(data)
    file = files.read(data, part)
    files.column_named(file.frame.column_names, target, "target column")
    import_sklearn()
    from posterior.preprocessing.infer_roles import infer

    asked = overrides(read_as, keep, leave_out, group, time, bands)
    suspects: dict[str, str] = {}
    with progress_bar("learning") as watch:
        if like is not None:
            known, name = _as(like, target), None
        else:
            roles = infer(file.frame, target, **asked)
            known, name = _chosen(file.frame, roles.without_suspects(), model, quick)
            suspects = _suspects(roles)
        rows = models.labeled(known, file.frame, target)
        _check_several(known, rows.y, target)
        known.fit(*rows, **_told(known, watch))
    models.save(known, out, file.frame)
    facts = {
        "data": data,
        "target": target,
        "model": model if like is None else type(known).__name__,
        "rows": len(rows.y),
        "rows_without_target": file.frame.num_rows - len(rows.y),
        "columns": models.columns(known),
        "classes": known.classes_,
        "scores": _scores(known),
        "rare_class": _rare_class(known),
        "suspects": suspects,
        "notes": [*file.notes, *_how_held_out(known)],
        "out": out,
    }
    return Answer(facts, _shown(facts, name or _name(known)))


def _suspects(roles: Roles) -> dict[str, str]:
    """Columns that may give the target away, and why."""
    return {
        name: flag.text
        for name in roles.suspects
        for flag in roles[name].flags
        if flag.kind == "leak"
    }


def _check_several(known: Any, y: Any, target: str) -> None:
    """Of one class there is nothing to choose by; one model may learn it, and be merged later."""
    from posterior.estimators import Classifier

    if isinstance(known, Classifier) and (y == y[0]).all():
        raise ValueError(f"Expected two classes or more in {target!r}, got {y[0]!r} in all rows.")


def _scores(known: Any) -> dict[str, Any] | None:
    """On rows held out, if there were some."""
    from posterior.estimators import Classifier
    from posterior.evaluation.held_out import SCORES
    from posterior.evaluation.scores import measure

    if not isinstance(known, Classifier):
        return None
    return {name: asdict(measure(known.held_out_, name)) for name in SCORES}


def _rare_class(known: Any) -> dict[str, Any] | None:
    """How well the smaller of two classes is found, if it is rare."""
    from posterior.estimators import Classifier
    from posterior.evaluation.thresholds import COMMON, class_ranking, smaller_class

    code = smaller_class(known.held_out_) if isinstance(known, Classifier) else None
    if code is None:
        return None
    found = class_ranking(known.held_out_, code)
    return asdict(found) if found.share < 1 - COMMON else None


def _how_held_out(known: Any) -> list[str]:
    """Which rows, if columns said so."""
    from posterior.estimators import Classifier
    from posterior.preprocessing.belonging import how_held_out

    return how_held_out(known.roles_) if isinstance(known, Classifier) else []


def _name(known: Any) -> str:
    """What a model is, for people."""
    from posterior.estimators import Classifier

    if not isinstance(known, Classifier):
        return type(known.model).__name__
    return " + ".join(known.members_)


def _as(path: str, target: str) -> Any:
    """The kind of model that a file has, reading the same columns."""
    from sklearn.base import clone

    model = models.load(path)
    if models.target_of(model) != target:
        raise ValueError(
            f"Expected a model of {target!r} that was fitted by this command, got {path}, of "
            f"{models.target_of(model)!r}."
        )
    return clone(model)


def _chosen(
    table: pa.Table, roles: Roles, kind: Kind, quick: bool = False
) -> tuple[Any, str | None]:
    """The kind that was asked for, and its name; of several, those that do best."""
    from posterior.estimators import Classifier
    from posterior.estimators.pool.candidates import candidates

    if kind is Kind.AUTO:
        return Classifier(roles=roles, models="quick" if quick else None), None
    listed = candidates(roles, table.num_rows, roles.n_classes)
    asked = [c for c in listed if c.key == kind] or [c for c in listed if kind in _names(c)]
    if not asked:
        known = ", ".join(k for k in Kind if any(k in _names(c) for c in listed))
        raise ValueError(f"Expected one of {known} for these columns, got {kind}.")
    if len(asked) == 1:
        return asked[0].classifier, asked[0].name
    return Classifier(roles=roles, models=[c.key for c in asked]), None


def _told(known: Any, watch: Watch) -> dict[str, Any]:
    """What a fit is given besides rows: whom to tell what is done now."""
    from posterior.estimators import Classifier

    if not isinstance(known, Classifier):
        return {}
    return {"progress": lambda name, done, total: watch(f"learning: {name}", done, total)}


def _names(candidate: Candidate) -> tuple[str, str]:
    """What a model is called by: text-multinomial is of kind text."""
    return candidate.key, candidate.key.partition("-")[0]


def _shown(facts: dict[str, Any], name: str) -> list[Any]:
    size = f"{counted(facts['rows'], 'row')}, {counted(len(facts['columns']), 'column')}"
    lines = [f"! {text}" for text in facts["suspects"].values()]
    if left_out := [name for name in facts["suspects"] if name not in facts["columns"]]:
        kept = " ".join(f"--keep {shlex.quote(name)}" for name in left_out)
        lines.append(f"left out: {', '.join(left_out)}; with {kept} they are used")
    lines.append(f"{name} of {facts['target']}: {size}")
    if scores := facts["scores"]:
        loss, accuracy = scores["log_loss"]["value"], scores["accuracy"]["value"]
        lines.append(f"held-out rows: accuracy {accuracy:.1%}, log loss {loss:.3f}")
        if rare := facts["rare_class"]:
            lines.append(
                f"{rare['name']} is {rare['share']:.1%} of rows: AUC {rare['auc']['value']:.3f}, "
                f"average precision {rare['average_precision']['value']:.3f}; largest F1 from a "
                f"probability of {rare['best']['threshold']:.2g} on, with recall "
                f"{rare['best']['recall']:.1%} and precision {rare['best']['precision']:.1%}"
            )
    if facts["rows_without_target"]:
        lines.append(f"{counted(facts['rows_without_target'], 'row')} without a label set aside")
    return [*lines, *facts["notes"], f"model: {facts['out']}"]


def fit_streamed(
    data: str, part: str | None, target: str, kind: str, drop: Sequence[str], out: str
) -> Answer:
    """Learn a model of all columns but those left out, some rows at a time."""
    from posterior.sources.files import column_named
    from posterior.sources.table_files import matching
    from posterior.storage.summary import rows_learned

    known = _model(kind)
    source = matching(data, part)
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

    from posterior.preprocessing.column_roles import role_of
    from posterior.preprocessing.targets import check_classes

    first = next(source.select([target]).batches(), None)
    if first is not None:
        column = nw.from_native(first.frame.column(target), series_only=True)
        role = role_of(column.alias(target))
        check_classes(column, role, len(column) - role.missing)


def _model(kind: str) -> Any:
    from posterior.estimators import (
        Additive,
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
        "additive": Additive(),
        "text": TextClassifier(),
    }
    if kind not in made:
        raise ValueError(
            f"Expected --model to be one of {', '.join(made)} for a table that is read in "
            f"batches, got {kind}."
        )
    return made[kind]
