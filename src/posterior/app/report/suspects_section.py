"""Columns that may give the target away: left out, and what the score would be with them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from posterior.app.report.describing import percent
from posterior.app.report.report_schema import Suspects
from posterior.preprocessing.roles import Roles
from posterior.selection.comparison import compare

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
    models = None if roles.text else SOON
    judged = compare(frame, roles.target, roles=roles, models=models, seed=seed).chosen
    sentence = (
        f"{_are(columns)} left out. With {_it(columns)}, {roles.target} is predicted correctly in "
        f"{percent(judged.accuracy)} of rows. Use {options(columns)} if {_it(columns, 'they')} "
        f"{'is' if len(columns) == 1 else 'are'} known before {roles.target} is."
    )
    return Suspects(columns, False, judged.name, judged.log_loss, judged.accuracy, sentence)


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
