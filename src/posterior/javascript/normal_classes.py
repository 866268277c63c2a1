"""Normal classes: means and covariances, by which whole rows and those with gaps are measured."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from scipy import special

from posterior.data.typing import Floats
from posterior.estimators.discriminant.base import Discriminant
from posterior.families.incomplete import LOG_2PI
from posterior.families.multivariate_gaussian import MultivariateGaussian
from posterior.families.normal_density import MultivariateGaussianParameters, linear_terms
from posterior.generative.fitted import Fitted
from posterior.javascript.descriptions import described, summed
from posterior.javascript.joint_models import family_parts
from posterior.javascript.number_rows import NumberRow, plain_numbers
from posterior.javascript.sheet import Column, Described


@described.register
def _(model: Discriminant, columns: Sequence[Column]) -> Described:
    return normal_classes(model.settled(), plain_numbers(columns))


@family_parts.register
def _(family: MultivariateGaussian, parameters: Any, columns: Sequence[Column]) -> list[Described]:
    return [normal_part(family, parameters, plain_numbers(columns))]


def normal_classes(fitted: Fitted, row: NumberRow) -> Described:
    """s_k = log π_k - ½ [ log |Σ_k| + (x - μ_k)ᵀ Σ_k⁻¹ (x - μ_k) ], of the cells that are there"""
    joint = fitted.model
    family: Any = joint.family
    part = normal_part(family, joint.parameters, row)
    names = [*dict.fromkeys([*part["names"], *part["beyond"]])]
    return summed(fitted.classes, joint.log_prior, [part], names, fitted.calibrator)


def normal_part(
    family: MultivariateGaussian, p: MultivariateGaussianParameters, row: NumberRow
) -> Described:
    """The density, in the shortest form that measures a row."""
    apart = family.kind not in ("shared", "diagonal", "spherical") or p.freedom is not None
    made: Described = {"kind": "normal", "x": row.vector(), "mean": p.mean}
    if p.freedom is not None and p.stretch is not None:
        made |= {"shape": "student", "heights": _heights(p.mean, p.freedom, p.stretch)}
        made |= {"freedom": p.freedom, "spread": p.freedom * p.stretch}
    elif family.kind == "shared":
        made |= {"shape": "shared", "weight": linear_terms(p)[0]}
    else:
        made["shape"] = "own" if apart else "alone"
    if made["shape"] != "shared":
        made["whitening"] = [{"axes": w.matrix.T, "log_det": w.log_det} for w in p.whitening]
    if row.gaps:
        made["covariance"] = [c[np.tril_indices(len(c))] for c in p.covariance]
    return made | _names(row, apart, "all features" if p.freedom is not None else "spread")


def _names(row: NumberRow, apart: bool, last: str) -> Described:
    """A term a column; or one a number, one a pair, and one more."""
    name = row.sheet.name
    if not apart:
        return {"names": [name(term) for term in row.terms], "beyond": []}
    pairs = [name(a, b) for a, b in combinations(row.names, 2)]
    return {"names": [name(term) for term in row.names], "beyond": [*pairs, name(last)]}


def _heights(mean: Floats, freedom: Floats, stretch: Floats) -> Floats:
    """log Γ((v + r) / 2) / Γ(v / 2) - ½ r log(π v s), of classes and ranks (k, d + 1)"""
    rank, v = np.arange(mean.shape[1] + 1), freedom[:, None]
    scale = special.gammaln(0.5 * (v + rank)) - special.gammaln(v / 2)
    scale -= 0.5 * rank * np.log(v * stretch[:, None] / 2)
    return np.asarray(scale - 0.5 * rank * LOG_2PI)
