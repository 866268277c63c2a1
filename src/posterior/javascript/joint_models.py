"""Naive Bayes, discriminant analysis and mixtures: log p(x, k), family by family."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from posterior.estimators.mixture.base import MixtureBase
from posterior.estimators.summed_classifier import SummedClassifier
from posterior.families.family import Family
from posterior.families.multinomial import Multinomial
from posterior.families.product import Product
from posterior.generative.fitted import Fitted
from posterior.javascript.descriptions import described, summed
from posterior.javascript.formula_trees import formula_part
from posterior.javascript.sheet import Column, Described


@described.register(SummedClassifier)
@described.register(MixtureBase)
def _(model: SummedClassifier | MixtureBase, columns: Sequence[Column]) -> Described:
    return joint_model(model.settled(), columns)


def joint_model(fitted: Fitted, columns: Sequence[Column]) -> Described:
    """s_k = log π_k + log p(x | k)"""
    joint = fitted.model
    with fitted.named():
        joint.scorer()  # refuses parameters that the data left open
    parts = family_parts(joint.family, joint.parameters, columns)
    names = [column.sheet.name(column.term) for column in columns]
    names += [name for part in parts for name in part.get("beyond", ())]
    return summed(fitted.classes, joint.log_prior, parts, names, fitted.calibrator)


@singledispatch
def family_parts(
    family: Family[Any, Any], parameters: Any, columns: Sequence[Column]
) -> list[Described]:
    """The parts of log p(x | k)."""
    return [formula_part(family, parameters, columns)]


@family_parts.register
def _(family: Product, parameters: Any, columns: Sequence[Column]) -> list[Described]:
    parts: list[Described] = []
    for one, its, js in zip(family.families, parameters, family.columns, strict=True):
        parts += family_parts(one, its, [columns[j] for j in js])
    return parts


@family_parts.register
def _(family: Multinomial, parameters: Any, columns: Sequence[Column]) -> list[Described]:
    if parameters.concentration is None:
        return [formula_part(family, parameters, columns)]
    names = [column.sheet.name(column.term) for column in columns]
    cells = [column.number("count", needed=True) for column in columns]
    urn = {"cells": cells, "names": names, "concentration": parameters.concentration}
    return [{"kind": "urn", **urn}]
