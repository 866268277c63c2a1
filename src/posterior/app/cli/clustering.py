"""posterior cluster: groups that nobody has named."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Annotated, Any

import typer

from posterior.app import models
from posterior.app.cli.command import (
    DATA,
    JSON,
    LEFT_OUT,
    SEED,
    SHEET,
    TABLE,
    Answer,
    busy,
    console,
    counted,
    part_of,
)
from posterior.app.lean_imports import import_sklearn
from posterior.sources import outputs
from posterior.sources.places import check_there

if TYPE_CHECKING:
    import pyarrow as pa

    from posterior.preprocessing.roles import Roles

CLUSTER = "cluster"
CELL = 10  # letters of a number or a word
NO_TARGET = ""  # the name of no column in a file


def cluster(
    data: DATA,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="FILE", help="The table with its clusters; - is CSV."),
    ] = None,
    k: Annotated[
        str, typer.Option("--k", metavar="K", help="How many: a number, or 1..10 for the best.")
    ] = "1..10",
    leave_out: LEFT_OUT = None,
    save: Annotated[
        str | None, typer.Option("--save", metavar="MODEL", help="Write the model, too.")
    ] = None,
    sheet: SHEET = None,
    table: TABLE = None,
    seed: SEED = 0,
    json: JSON = False,
) -> Answer:
    """Find groups of rows that belong together.

    How many is chosen by BIC. Tables of numbers get normal clusters that may lean
    (GaussianMixture); with words among them, the columns are independent within a cluster
    (Mixture). Missing values are handled.
    """
    from posterior.sources import files

    numbers, part = _numbers(k), part_of(sheet, table)
    check_there(data)
    file = files.read(data, part)
    import_sklearn()
    with busy("looking for clusters"):
        roles = _roles(file.frame, leave_out or [])
        X = _features(file.frame, roles)
        model = _mixture(X, roles, numbers, seed).fit(X)
        p = model.predict_proba(X)
    codes = p.argmax(axis=1)
    if save is not None:
        models.save(model, save, file.frame)
    if out is not None:
        answers = {CLUSTER: codes + 1, "probability": p.max(axis=1)}
        found = outputs.beside(file.frame, answers)
        if json and out == outputs.STDOUT:
            return Answer({**_facts(model, codes, X, roles), "rows": found.to_pylist()})
        outputs.write(out, iter([found]))
    facts = {**_facts(model, codes, X, roles), "data": data, "out": out, "model": save}
    facts["notes"] = list(file.notes)
    places = [f"{what}: {path}" for what, path in (("rows", out), ("model", save)) if path]
    return Answer(facts, [] if out == outputs.STDOUT else [*_shown(facts), *file.notes, *places])


def _numbers(text: str) -> list[int]:
    """The numbers of clusters to try: 3, or 1..10."""
    low, dots, high = text.partition("..")
    try:
        numbers = list(range(int(low), int(high if dots else low) + 1))
    except ValueError:
        numbers = []
    if not numbers or numbers[0] < 1:
        raise typer.BadParameter(f"Expected a number such as 3 or 1..10, got {text!r}.")
    return numbers


def _roles(table: pa.Table, leave_out: list[str]) -> Roles:
    """What the columns are, beside a target that is constant."""
    import pyarrow as pa

    from posterior.preprocessing.infer_roles import infer, reasons

    nothing = pa.array(["nothing"] * table.num_rows)
    roles = infer(table.append_column(NO_TARGET, nothing), NO_TARGET, leave_out=leave_out)
    if not roles.table:
        found = [column for column in roles.columns if column.name != NO_TARGET]
        raise ValueError(
            f"Expected columns of numbers or of words that repeat, got none: {reasons(found)}."
        )
    return roles.only(*(column.name for column in roles.table))


def _features(table: pa.Table, roles: Roles) -> pa.Table:
    """The columns to use; zeros and ones are words."""
    import pyarrow as pa

    columns = {c.name: table.column(c.name) for c in roles.used}
    for column in roles.used:
        if column.role == "boolean" and not pa.types.is_boolean(columns[column.name].type):
            columns[column.name] = columns[column.name].cast(pa.int64()).cast(pa.string())
    return pa.table(columns)


def _mixture(X: pa.Table, roles: Roles, numbers: list[int], seed: int) -> Any:
    from posterior.estimators import GaussianMixture, Mixture

    tried = [k for k in numbers if k <= X.num_rows] or numbers[:1]
    if all(column.role == "number" for column in roles.used):
        # A row of everyone keeps components from collapsing onto a few equal rows.
        return GaussianMixture(
            tried, prior_rows=1.0, n_init=3, tol=1e-5, max_iter=500, random_state=seed
        )
    return Mixture(n_components=tried, random_state=seed)


def _facts(model: Any, codes: Any, X: pa.Table, roles: Roles) -> dict[str, Any]:
    import numpy as np

    tried = getattr(model, "selection_", None)
    bic = {} if tried is None else dict(zip(tried["n_components"], tried["bic"], strict=True))
    sizes = np.bincount(codes, minlength=len(model.weights_)).tolist()
    left_out = [c.name for c in roles.columns if not c.used and c.name != NO_TARGET]
    return {
        "kind": type(model).__name__,
        "k": len(sizes),
        "rows": X.num_rows,
        "columns": X.column_names,
        "left_out": left_out,
        "bic": bic,
        "clusters": [
            {"cluster": k + 1, "rows": n, "typical": _typical(X, codes == k)}
            for k, n in enumerate(sizes)
        ],
    }


def _typical(X: pa.Table, mask: Any) -> dict[str, Any]:
    """Of some rows the mean of each number, and the most frequent of words."""
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = X.filter(pa.array(mask))
    typical = {}
    for name, cells in zip(rows.column_names, rows.columns, strict=True):
        known = cells.drop_null()
        if pa.types.is_floating(cells.type) or pa.types.is_integer(cells.type):
            typical[name] = pc.mean(known).as_py()
        else:
            counts = sorted(pc.value_counts(known).to_pylist(), key=lambda c: -c["counts"])
            typical[name] = counts[0]["values"] if counts else None
    return typical


def _shown(facts: dict[str, Any]) -> list[Any]:
    from rich.markup import escape
    from rich.table import Table

    from posterior.data.table import text

    names = _that_fit(facts["columns"], console().width)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in (CLUSTER, "rows"):
        table.add_column(name, justify="right", min_width=len(name))
    for name in names:
        table.add_column(escape(name), justify="right", overflow="ellipsis", no_wrap=True)
    for found in facts["clusters"]:
        cells = [escape(text(found["typical"][name])) for name in names]
        table.add_row(str(found["cluster"]), f"{found['rows']:,}", *cells)
    rows, k = counted(facts["rows"], "row"), counted(facts["k"], CLUSTER)
    lines: list[Any] = [f"{rows} in {k}, by a {facts['kind']}", "", table, ""]
    if hidden := len(facts["columns"]) - len(names):
        lines.insert(3, f"... and {counted(hidden, 'more column')}, which --json shows")
    if facts["bic"]:
        each = "  ".join(f"{k}: {bic:,.0f}" for k, bic in facts["bic"].items())
        lines.append(f"BIC by number of clusters, the less the better: {each}")
    if facts["left_out"]:
        lines.append(f"left out: {', '.join(facts['left_out'])}")
    return lines


def _that_fit(names: list[str], width: int) -> list[str]:
    """The first columns that have room beside each other; one at least."""
    ends = accumulate((max(len(name), CELL) + 2 for name in names), initial=len("cluster  rows"))
    return names[: max(1, sum(end <= width for end in ends) - 1)]
