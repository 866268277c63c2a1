"""What the members of the chosen model have learned, the heaviest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from posterior.app.report.describing import (
    LEVEL,
    MOST,
    MOST_COEFFICIENTS,
    coefficients,
    naive_bayes_parameters,
    ranked,
)
from posterior.app.report.report_schema import Dependence, LearnedMember, ParameterFacts, Parameters
from posterior.estimators import (
    AODE,
    KDB,
    Additive,
    Classifier,
    GaussianDiscriminantAnalysis,
    KNeighborsClassifier,
    LogisticRegression,
    NaiveBayes,
    TextClassifier,
)
from posterior.estimators.table_classifier import TableClassifier
from posterior.plots.effects import ColumnEffect, PairEffect, effect_of_column, effect_of_pair
from posterior.preprocessing.numbers import ScaledNumber
from posterior.selection.comparison import quiet

SHOWN = 3  # members
COLUMNS, PAIRS = 4, 2  # of an additive model that are drawn
OWN_MODEL = (
    "Texts and columns of many values enter it as evidence: log odds of a model of that column "
    "alone."
)


def learned_members(model: Classifier, telling: list[str]) -> list[LearnedMember]:
    """The heaviest members, with what can be shown of each."""
    weights, members = ranked(model.weights_), model.members_
    total = sum(weight for _, weight in weights) or 1.0
    read_by = model.fitted_.read_by
    own = set() if read_by is None else {n for column in read_by.columns for n in column.names}
    with quiet():
        return [
            _described(name, members[name], weight, weight / total, telling, own)
            for name, weight in weights[:SHOWN]
        ]


def _described(
    name: str,
    member: TableClassifier,
    weight: float,
    share: float,
    telling: list[str],
    own: set[str],
) -> LearnedMember:
    effects, pairs = _effects(member.model_, own)
    named = own & {column.name for column in member.roles.table}
    return LearnedMember(
        name=name,
        weight=weight,
        share=share,
        sentence=f"{_sentence(member)} {OWN_MODEL if named else ''}".rstrip(),
        effects=effects,
        pairs=pairs,
        dependence=_dependence(member.model_),
        parameters=_parameters(name, member, telling),
    )


def _sentence(member: TableClassifier) -> str:
    """What was chosen for it, and how large it has become."""
    model = member.model_
    if isinstance(model, Additive):
        sizes = [len(term) for term in model.terms_]
        kinds = zip(("columns", "pairs", "triples"), (1, 2, 3), strict=True)
        listed = [f"{sizes.count(n):,} {kind}" for kind, n in kinds if sizes.count(n)]
        made = f"of {model.n_rounds_:,} trees" if model.n_rounds_ else "penalized"
        return f"A sum of tables, {made}: of {_listed(listed)}."
    if isinstance(model, NaiveBayes):
        names = [str(name) for name in model.plan_.labels()]
        by_family: dict[str, list[str]] = {}
        for j, family in model.chosen_.items():
            by_family.setdefault(str(family), []).append(names[j])
        chosen = [f"{family}: {_some(columns)}" for family, columns in by_family.items()]
        return (
            f"Densities of numbers, by column: {'; '.join(chosen)}."
            if chosen
            else ("Numbers are normal and categories are shares in each class.")
        )
    if isinstance(model, GaussianDiscriminantAnalysis):
        own = model.covariance_mix_
        what = (
            "One covariance for all classes"
            if not own
            else (f"Covariances that are {100 * own:.0f} % the class's own")
        )
        return f"{what}, {100 * model.shrinkage_:.2g} % of a sphere; means are tabled below."
    if isinstance(model, KNeighborsClassifier):
        votes = "alike" if model.weights_ == "uniform" else f"by distance ({model.weights_})"
        metric = model.effective_metric_
        white = model.whiten_
        distance = (
            "of numbers and categories"
            if metric == "mixed"
            else (
                "by the covariance within classes"
                if white is not None and white < 1
                else "of numbers"
            )
        )
        return f"The {model.n_neighbors_:,} nearest rows vote, {votes}; the distance is {distance}."
    if isinstance(model, KDB):
        kept = [above for above in model.structure_ if above is not None]
        most = max((len(above) for above in kept), default=0)
        return (
            f"{len(kept):,} of {len(model.structure_):,} columns are kept, each with up to {most} "
            "others that it depends on beside the class."
        )
    if isinstance(model, AODE):
        return f"The mean of models in which all columns depend on one of {model.n_features_in_:,}."
    if isinstance(model, TextClassifier):
        return (
            f"Weights of {len(model.statistics_.features.terms):,} terms, sharpened by "
            f"{model.sharpness_:.2g}; the strongest words of each class are listed above."
        )
    if isinstance(model, LogisticRegression):
        return f"{model.coef_.size:,} coefficients, with a penalty of C = {model.C:.3g}."
    return ""


def _effects(model: Any, own: set[str]) -> tuple[list[ColumnEffect], list[PairEffect]]:
    """The columns and pairs of an additive model that matter most.

    Columns that have a model of their own are numbers here: its evidence.
    """
    if not isinstance(model, Additive) or not model.fitted_.by_table:
        return [], []
    fitted, drawn = model.fitted_, [s for s in model.fitted_.shapes().values() if s.effect.any()]
    columns = [shape for shape in drawn if len(shape.columns) == 1][:COLUMNS]
    pairs = [shape for shape in drawn if len(shape.columns) == 2][:PAIRS]
    alone = [effect_of_column(fitted, shape) for shape in columns]
    both = [effect_of_pair(fitted, shape) for shape in pairs]
    return (
        [replace(e, column=_called(e.column, own)) for e in alone],
        [replace(e, columns=[_called(name, own) for name in e.columns]) for e in both],
    )


def _called(name: str, own: set[str]) -> str:
    return f"evidence of {name}" if name in own else name


def _dependence(model: Any) -> Dependence | None:
    if not isinstance(model, KDB):
        return None
    parents = [None if above is None else [int(a) for a in above] for above in model.structure_]
    return Dependence([str(name) for name in model.fitted_.reader.names], parents)


def _parameters(name: str, member: TableClassifier, telling: list[str]) -> Parameters | None:
    """The numbers that can be read one by one."""
    model = member.model_
    if isinstance(model, NaiveBayes):
        return naive_bayes_parameters(model, telling)
    if isinstance(model, LogisticRegression) and model.coef_.size <= MOST_COEFFICIENTS:
        return coefficients(name, member)
    if isinstance(model, GaussianDiscriminantAnalysis):
        return _means(name, member, model)
    if isinstance(model, Additive) and model.fitted_.by_table:
        table = model.importances()
        rows = [
            ParameterFacts(str(term), "mean |effect|", "", float(value), None, None)
            for term, value in zip(table["term"], table["importance"], strict=True)
            if value > 0
        ]
        return Parameters(name, LEVEL, rows[:MOST], int(model.n_parameters_))
    return None


def _means(
    name: str, member: TableClassifier, model: GaussianDiscriminantAnalysis
) -> Parameters | None:
    """Means of numbers as the file has them, and shares of levels, with their intervals."""
    columns, sources = member.numbers_.columns, member.numbers_.sources()
    names, means, spread = member.numbers_.names(), model.means_, model.deviations_
    count = model.fitted_.class_weight()
    apart = np.ptp(means, axis=0) / np.maximum(np.sqrt((spread**2).mean(axis=0)), 1e-12)
    rows = []
    for i in np.argsort(-apart, kind="stable"):
        column = columns[sources[i]]
        scaled = isinstance(column, ScaledNumber) and names[i] == column.name
        scale, shift = (column.deviation, column.mean) if scaled else (1.0, 0.0)
        for k, label in enumerate(model.classes_.tolist()):
            value = float(means[k, i] * scale + shift)
            wide = 1.96 * float(spread[k, i]) * scale / np.sqrt(max(count[k], 1.0))
            kind = "mean" if scaled else "share"
            told = str(names[i]), kind, str(label), value, value - wide, value + wide
            rows.append(ParameterFacts(*told))
    n = int(means.size + model.covariance_.size)
    return Parameters(name, LEVEL, rows[:MOST], n)


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _some(names: Sequence[str], most: int = 4) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
