"""Models in files, and the tables they read.

A model that the command line has fitted carries one attribute more: the types of the columns in its
file, so that another file is read in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from posterior.app.lean_imports import import_sklearn
from posterior.sources.answers import classes, columns, features
from posterior.sources.learned_types import Types, types_of

if TYPE_CHECKING:
    import pyarrow as pa

    from posterior.preprocessing.roles import Roles

__all__ = ["classes", "columns", "features"]  # of `data.answers`, beside those of this module

TYPES = "file_types_"


def load(path: str) -> Any:
    """The model of a file."""
    with _reading(path):
        import_sklearn()
        from posterior.storage import load

        return load(path)


def facts(path: str) -> dict[str, Any]:
    """What a model file says of itself, if its checksum fits."""
    with _reading(path):
        from posterior.storage import inspect

        return inspect(path, verify=True)


@contextmanager
def _reading(path: str) -> Iterator[None]:
    check_there(path)
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise ValueError(f"Expected to read the model file {path}, but: {reason}.") from None


def check_there(path: str) -> None:
    """Refuse a path where nothing is."""
    if not Path(path).exists():
        raise ValueError(f"Expected a model file, got no such path: {path}.")


def locked(path: str) -> AbstractContextManager[None]:
    """Keep other processes from changing a model file."""
    _check_folder(path)
    import_sklearn()
    from posterior.storage import locked

    return locked(path)


def save(model: Any, path: str, learned_from: pa.Table | None = None) -> None:
    """Write a model to a file, whole or not at all."""
    from posterior.storage import save

    _check_folder(path)
    if learned_from is not None:
        setattr(model, TYPES, types_of(learned_from))
    save(model, path)


def _check_folder(path: str) -> None:
    if not Path(path).absolute().parent.is_dir():
        raise ValueError(f"Expected a folder to write {path!r} to. Make it first.")


def types_learned(model: Any) -> Types | None:
    """The types of the columns, if the model remembers them."""
    return vars(model).get(TYPES)


def roles_of(model: Any) -> Roles | None:
    """The roles of the columns, of a model of a file's table."""
    from posterior.estimators import Classifier, TableClassifier

    if isinstance(model, Classifier):
        return model.roles_ if hasattr(model, "roles_") else model.roles
    return model.roles if isinstance(model, TableClassifier) else None


def target_of(model: Any) -> str | None:
    """The column that the model answers, if it knows."""
    roles = roles_of(model)
    return None if roles is None else roles.target or None


def reads_documents(model: Any) -> bool:
    """Whether a model is given texts rather than a table."""
    from posterior.estimators import Classifier, TableClassifier, TextClassifier

    if isinstance(model, Classifier):
        return model.reads_documents
    if isinstance(model, TableClassifier):
        return bool(model.reads == "documents")
    return isinstance(model, TextClassifier)


class Labeled(NamedTuple):
    """What a model learns from."""

    X: pa.Table
    y: Any  # array of labels
    weight: Any  # array: how many rows each stands for; or None


def labeled(model: Any, table: pa.Table, asked: str | None) -> Labeled:
    """The rows that have a label; labels are of the type of the model's classes."""
    import narwhals as nw
    import numpy as np
    import pyarrow as pa

    from posterior.data import frames
    from posterior.sources.files import column_named

    name = asked if asked is not None else target_of(model)
    if name is None:
        raise ValueError("Expected the column of the labels, and the model names none: --target.")
    column = table.column(column_named(table.column_names, name, "target column"))
    roles = roles_of(model)
    cells = (
        column.to_pylist()
        if roles is None
        else roles.labels(nw.from_native(column, series_only=True))
    )
    known = [not frames.missing(cell) for cell in cells]
    if not any(known):
        raise ValueError(f"Expected labels in the target column {name!r}, got none in any row.")
    rows, labels = table.filter(pa.array(known)), [c for c in cells if not frames.missing(c)]
    classes = getattr(model, "classes_", None)  # of a model that has learned
    words = classes is not None and classes.dtype.kind in "OU"
    y = np.array(frames.items(labels, name) if words else labels)
    if classes is not None:
        _check_new(np.setdiff1d(y, classes), len(y), name)
    counts = None if roles is None else roles.weight
    return Labeled(
        features(model, rows),
        y,
        None if counts is None else rows.column(column_named(rows.column_names, counts)).to_numpy(),
    )


def _check_new(labels: Any, n_rows: int, name: str) -> None:
    """A stream may bring new classes, but not one in every other row."""
    from posterior.preprocessing.targets import FEW

    if len(labels) > max(FEW, n_rows / 2):
        raise ValueError(
            f"Expected classes of the model in the target column {name!r}, got {len(labels):,} "
            f"others in {n_rows:,} rows, such as {labels[0]!r}."
        )


def sampled(model: Any, n: int, seed: int) -> dict[str, Any]:
    """Columns of rows drawn from the model, with their class or cluster."""
    import narwhals as nw
    import numpy as np
    from sklearn.base import is_classifier

    X, groups = model.sample(n, random_state=seed)
    if isinstance(X, np.ndarray):
        names = columns(model) or [f"column {j + 1}" for j in range(X.shape[1])]
        drawn = dict(zip(names, X.T, strict=True))
    else:
        frame = nw.from_native(X, eager_only=True)
        drawn = {name: frame.get_column(name).to_list() for name in frame.columns}
    if not is_classifier(model):
        return {**drawn, "cluster": groups + 1}
    return {**drawn, target_of(model) or "class": groups}
