"""Columns that may give the target away: left out, and what the score would be with them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from posterior.app.report.describing import percent
from posterior.app.report.report_schema import Suspects
from posterior.evaluation.thresholds import COMMON, class_ranking, smaller_class
from posterior.preprocessing.roles import Roles
from posterior.selection.comparison import Judged, compare

SOON = ("naive-bayes", "additive")  # are enough to see what such columns say
MOST_NAMES = 4


def suspects(frame: Any, roles: Roles, seed: int) -> Suspects | None:
    """What was left out of roles, and what it is worth; None if nothing is suspected."""
    columns = list(roles.suspects)
    if not columns:
        return None
    rest = roles.without_suspects()
    if rest is roles:
        sentence = f"{_are(columns)} all that there is to learn from, and used."
        return Suspects(columns, True, None, None, None, sentence)
    models = SOON if roles.table else None
    judged = compare(frame, roles.target, roles=roles, models=models, seed=seed).chosen
    sentence = (
        f"{_are(columns)} left out. With {_it(columns)}, {_score(judged, roles.target)}. "
        f"Use {options(columns)} if {_it(columns, 'they')} {'is' if len(columns) == 1 else 'are'} "
        f"known before {roles.target} is."
    )
    return Suspects(columns, False, judged.name, judged.log_loss, judged.accuracy, sentence)


def _score(judged: Judged, target: str) -> str:
    """What the headline says, in short."""
    code = smaller_class(judged.held_out)
    if code is not None:
        found = class_ranking(judged.held_out, code)
        if found.share < 1 - COMMON:
            return f"AUC for {found.name} is {found.auc}"
    return f"{target} is predicted correctly in {percent(judged.accuracy)} of rows"


def options(columns: Sequence[str]) -> str:
    """How to use them all the same."""
    return " ".join(f"--keep {shlex.quote(name)}" for name in columns)


def _it(columns: Sequence[str], several: str = "them") -> str:
    return "it" if len(columns) == 1 else several


def _are(columns: Sequence[str]) -> str:
    shown = [*columns[:MOST_NAMES]]
    if len(columns) > MOST_NAMES:
        shown.append(f"{len(columns) - MOST_NAMES} more columns")
    if len(shown) == 1:
        return f"{shown[0]} is"
    return f"{', '.join(shown[:-1])} and {shown[-1]} are"
