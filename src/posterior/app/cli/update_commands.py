"""posterior update, forget, merge: models are sums of what they have seen."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from posterior.app import models, tables
from posterior.app.cli.command import (
    DATA,
    KNOWN_TARGET,
    MODEL,
    MODEL_OUT,
    SHEET,
    TABLE,
    Answer,
    counted,
    counting,
    part_of,
)
from posterior.sources.places import check_there


def update(
    model: MODEL,
    data: DATA,
    target: KNOWN_TARGET = None,
    out: MODEL_OUT = None,
    sheet: SHEET = None,
    table: TABLE = None,
) -> Answer:
    """Learn more rows: the model of all rows, as if fitted at once."""
    return _changed(model, data, part_of(sheet, table), target, out, "learned")


def forget(
    model: MODEL,
    data: DATA,
    target: KNOWN_TARGET = None,
    out: MODEL_OUT = None,
    sheet: SHEET = None,
    table: TABLE = None,
) -> Answer:
    """Unlearn rows: the model as if fitted without them."""
    return _changed(model, data, part_of(sheet, table), target, out, "taken back")


def merge(
    models_to_merge: Annotated[
        list[str], typer.Argument(metavar="MODEL...", help="Model files, two or more.")
    ],
    out: Annotated[str, typer.Option("--out", "-o", metavar="MODEL", help="The file to write.")],
) -> Answer:
    """Merge models of different rows: the model of all of them."""
    if len(models_to_merge) < 2:
        raise typer.BadParameter("Expected two model files or more.", param_hint="MODEL...")
    for path in models_to_merge:
        models.check_there(path)
    with models.locked(out):  # which may be one of them
        first, *others = (models.load(path) for path in models_to_merge)
        for path, other in zip(models_to_merge[1:], others, strict=True):
            mine, theirs = (models.target_of(m) for m in (first, other))
            if mine != theirs:
                raise ValueError(
                    f"Expected a model of {mine!r} to merge, got {path} of {theirs!r}."
                )
            _check_sum(first).merge(other)
        models.save(first, out)
    facts = {"models": models_to_merge, "out": out, "kind": type(first).__name__}
    return Answer(facts, [f"{len(models_to_merge)} models merged into {out}"])


def _changed(
    model: str,
    data: str,
    part: str | None,
    target: str | None,
    out: str | None,
    said: Literal["learned", "taken back"],
) -> Answer:
    """The model after it learned the rows or took them back, all or none of them."""
    out = out or model
    models.check_there(model)
    check_there(data)
    with models.locked(out):  # from reading it to writing it
        known, n_rows = models.load(model), 0
        learn = _check_sum(known).partial_fit if said == "learned" else _check_sum(known).forget
        with counting("reading") as count:
            for _, piece in tables.pieces(data, models.types_learned(known), part):
                rows = models.labeled(known, piece, target)
                learn(rows.X, rows.y, sample_weight=rows.weight)
                n_rows += len(rows.y)
                count(len(rows.y))
        models.save(known, out)
    facts = {"model": model, "data": data, "rows": n_rows, "out": out}
    return Answer(facts, [f"{counted(n_rows, 'row')} {said}; the model is in {out}"])


def _check_sum(model: Any) -> Any:
    """A model that is a sum of its rows."""
    others = [name for name, each in _inside(model).items() if not _is_sum(each)]
    if others:
        told = others[0]
        if len(_inside(model)) > 1:
            told = f"a {type(model).__name__} of {', '.join(others)} and others"
        raise ValueError(
            f"Expected a model that is a sum of its rows, got {told}: what it has learned cannot "
            "be added to or taken from. Fit again with all rows"
            + ("." if models.reads_documents(model) else ", or fit --model naive-bayes.")
        )
    return model


def _inside(model: Any) -> dict[str, Any]:
    """The models that learn, by name."""
    from posterior.estimators import Classifier, TableClassifier

    if isinstance(model, TableClassifier):
        return {type(model.model_).__name__: model.model_}
    if not isinstance(model, Classifier):
        return {type(model).__name__: model}
    members = zip(model.fitted_.names, model.fitted_.members, strict=True)
    return {name: member.model_ for name, member in members}


def _is_sum(model: Any) -> bool:
    """Whether rows can be added to what a file holds; trees need those that were learned, too."""
    from posterior.estimators import Additive, TextClassifier

    if isinstance(model, TextClassifier):
        return model.model != "logistic"
    return hasattr(model, "forget") and not isinstance(model, Additive)
