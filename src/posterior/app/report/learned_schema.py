"""Facts of what the chosen model has learned: importance of columns, members, parameters."""

from __future__ import annotations

from dataclasses import dataclass

from posterior.plots.effects import ColumnEffect, PairEffect


@dataclass(frozen=True, slots=True)
class FeatureEvidence:
    """How much a column matters to the chosen model, on rows that it never saw."""

    name: str
    weight: float  # mean |what it adds to the log odds of the own class against the next|, in nats
    log_loss_rise: float  # when the model has to predict without it; below zero, it is in the way
    log_loss_rise_error: float | None  # the standard error of this mean over rows


@dataclass(frozen=True, slots=True)
class Importance:
    """What the chosen model loses without each column, row by row; columns as in `evidence`."""

    rows: list[int]  # numbers in the file of the rows asked about; drawn by class if not all
    log_loss: list[float]  # of each of them, with all columns
    log_loss_rises: list[list[float]]  # by column, then by row
    weights: list[list[float]]  # the same of the weight of evidence


@dataclass(frozen=True, slots=True)
class ParameterFacts:
    """One parameter with its interval; the most informative ones first."""

    feature: str
    parameter: str  # mean, variance, share of a value, log odds per unit, ...
    group: str  # class, or "a against b"
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Parameters:
    model: str
    level: float  # 0.95
    rows: list[ParameterFacts]  # at most 100
    n_parameters: int  # of the whole model


@dataclass(frozen=True, slots=True)
class Dependence:
    """Which column depends on which, beside the class."""

    columns: list[str]
    parents: list[list[int] | None]  # by place among the columns; None of one that is left out


@dataclass(frozen=True, slots=True)
class LearnedMember:
    """A model that counts in the chosen one, or is it, and what it has learned from all rows."""

    name: str
    weight: float  # that its log probabilities are multiplied by
    share: float  # of all weights
    sentence: str
    effects: list[ColumnEffect]  # of an additive model, the most important columns
    pairs: list[PairEffect]
    dependence: Dependence | None  # of a network
    parameters: Parameters | None
