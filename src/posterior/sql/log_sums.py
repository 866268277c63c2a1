"""Scores that are logs of sums: classes of several components, and averages of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from posterior.sql.expressions import SQL, column, greatest, log, plus, share, total
from posterior.sql.sql_columns import Sheet


def log_sums(
    sheet: Sheet, parts: Sequence[Sequence[str]]
) -> tuple[dict[str, Mapping[str, SQL]], list[str]]:
    """log Σ exp of some columns each, from the largest of them, in two steps; and their names."""
    largest = [sheet.unused(f"largest_{k}") for k in range(len(parts))]
    summed = [sheet.unused(f"log_sum_{k}") for k in range(len(parts))]
    steps: dict[str, Mapping[str, SQL]] = {
        "largest": {
            name: greatest([column(part) for part in own])
            for name, own in zip(largest, parts, strict=True)
        },
        "log_sums": {
            name: plus(column(most), log(total([behind(part, most) for part in own])))
            for name, most, own in zip(summed, largest, parts, strict=True)
        },
    }
    return steps, summed


def behind(part: str, whole: str) -> SQL:
    """exp(part - whole)"""
    return share(exp.Sub(this=column(part), expression=column(whole)))
