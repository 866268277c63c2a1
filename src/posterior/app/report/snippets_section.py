"""Lines to copy: the model in Python, on the command line and in a database."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from posterior.app.report.report_schema import Decisions, Snippet
from posterior.preprocessing.roles import Roles

MODEL = "model.posterior"


def snippets(source: str, roles: Roles, decided: Decisions, *, quick: bool) -> list[Snippet]:
    """For people who program, and for people who type."""
    data = source if source != "standard input" else "data.csv"
    new = f"new-{Path(data).name}"
    python = "\n".join(
        [
            "import posterior",
            "from posterior.sources.files import read",
            "",
            f"model = posterior.load({json.dumps(MODEL)})",
            f"rows = read({json.dumps(new)}).frame",
            "model.predict(rows)        # the most probable class of each row",
            "model.predict_proba(rows)  # P(class | row), in the order of model.classes_",
            "model.explain(rows[:1])    # why: the evidence of each column",
        ]
    )
    m, d, n, t = (shlex.quote(word) for word in (MODEL, data, new, roles.target))
    told = {"bands": roles.bands and roles.bands.cuts, "group": roles.group, "time": roles.time}
    options = "".join(f" --{k} {shlex.quote(str(v))}" for k, v in told.items() if v is not None)
    options += " --quick" * quick
    shell = "\n".join(
        [
            f"posterior predict {m} {n} --out predictions.csv{_at_threshold(decided)}",
            f"posterior explain {m} {n} --row 1",
            f"posterior inspect {m}",
            f"posterior serve {m}   # a web page for predictions, on this machine",
            f"posterior report {d} --target {t}{options}   # this report again",
        ]
    )
    sql = f"posterior sql {m} --dialect postgres --table my_table > predict.sql"
    return [
        Snippet("Python", "python", python),
        Snippet("Command line", "shell", shell),
        Snippet("In a database, where the model can be a query", "shell", sql),
    ]


def _at_threshold(decided: Decisions) -> str:
    """Where a rare class is predicted from: at one half it may never be."""
    found = decided.ranking
    if found is None or decided.headline != "ranking":
        return ""
    return f" --threshold {shlex.quote(f'{found.name}={found.best.threshold:.2g}')}"
