"""How to use the model, and how the numbers were made."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from posterior.app.report.held_out_evidence import Testimony
from posterior.app.report.report_schema import Snippet
from posterior.preprocessing.roles import Roles
from posterior.selection.comparison import Comparison

MODEL = "model.posterior"


def snippets(source: str, roles: Roles, model: str = MODEL) -> list[Snippet]:
    """For people who program, and for people who type."""
    data = source if source != "standard input" else "data.csv"
    new = f"new-{Path(data).name}"
    python = "\n".join(
        [
            "import posterior",
            "from posterior.sources.files import read",
            "",
            f"model = posterior.load({json.dumps(model)})",
            f"rows = read({json.dumps(new)}).frame",
            "model.predict(rows)        # the most probable class of each row",
            "model.predict_proba(rows)  # P(class | row), in the order of model.classes_",
            "model.explain(rows[:1])    # why: the evidence of each column",
        ]
    )
    m, d, n, t = (shlex.quote(word) for word in (model, data, new, roles.target))
    bands = "" if roles.bands is None else f" --bands {roles.bands.cuts}"
    shell = "\n".join(
        [
            f"posterior predict {m} {n} --out answers.csv",
            f"posterior explain {m} {n} --row 1",
            f"posterior inspect {m}",
            f"posterior serve {m}   # a page to ask it, on this machine",
            f"posterior report {d} --target {t}{bands}   # this report again",
        ]
    )
    sql = f"posterior sql {m} --dialect postgres --table my_table > answers.sql"
    return [
        Snippet("Python", "python", python),
        Snippet("Command line", "shell", shell),
        Snippet("In a database, where the model can be a query", "shell", sql),
    ]


def how(comparison: Comparison, seed: int, testimony: Testimony | None) -> list[str]:
    """Sentences that say what the numbers mean."""
    n_folds = comparison.rows.n_folds
    said = [
        f"Rows were dealt out to {n_folds} folds by class, by chance (seed {seed}); all models "
        "were judged by the same folds, each row by models that never saw it.",
        "Log loss is the mean of -log of the probability that a row's own class got, in nats; the "
        "Brier score is the mean squared distance between probabilities and the truth, summed over "
        "classes; standard errors are from fold to fold.",
        "The calibration error is the mean distance between the probabilities of about equally "
        "probable rows and the share of them that came true; its standard error is a jackknife "
        "over folds.",
        "The model is the simplest whose log loss is within one standard error of the least. "
        f"Simple to less simple: {', '.join(_by_simplicity(comparison))}.",
        "Probabilities are corrected by a temperature or by rising steps only where that lowers "
        "log loss by more than its standard error, each fold by what the others say.",
        "The evidence of a column is the mean of |log p(x | own class) - log p(x | strongest other "
        "class)| in naive Bayes, out of fold; the rise in log loss is what leaving it out costs.",
    ]
    if testimony is not None and len(testimony.index) < len(comparison.rows):
        said.append(
            f"The evidence of columns and the rows unlike all others are those of "
            f"{len(testimony.index):,} of {len(comparison.rows):,} rows, drawn by class."
        )
    sampled = [j for j in comparison.judged if len(j.index) < len(comparison.rows)]
    said += [
        f"{j.name} was compared on {len(j.index):,} of {len(comparison.rows):,} rows, since its "
        "time grows faster than the rows."
        for j in sampled
        if j.given_up is None
    ]
    early = [f"{j.name} (after {j.given_up})" for j in sampled if j.given_up is not None]
    if early:
        said.append(
            "Models were given up before the last fold once they could not be chosen any more, by "
            "two standard errors of the difference to the best one, row by row: "
            f"{', '.join(early)}."
        )
    return said


def _by_simplicity(comparison: Comparison) -> list[str]:
    models = [j for j in comparison.judged if j.candidate is not None]
    return [j.name for j in sorted(models, key=lambda j: j.simplicity)]
