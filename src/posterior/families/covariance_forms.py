"""Covariances that groups share in part: volume, shape and orientation (Celeux and Govaert 1995).

Σ_k = λ_k D_k A_k D_kᵀ with |A_k| = 1. Three letters say of λ, A and D whether they are equal (E) in
all groups, vary (V), or are those of a sphere (I): the names that R's mclust made known.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np

from posterior.data.typing import Floats
from posterior.families.common_axes import common_axes

Form: TypeAlias = Literal["EII", "EEI", "VEI", "EVI", "VEE", "EVE", "VVE", "EEV", "VEV", "EVV"]
FORMS: tuple[Form, ...] = get_args(Form)
TOLERANCE = 1e-12  # of volumes, where shapes and volumes wait for each other
MOST_STEPS = 1000


@np.errstate(divide="ignore", invalid="ignore")  # of a group that has collapsed
def formed(form: str, weight: Floats, scatter: Floats, before: Floats | None = None) -> Floats:
    """The most likely covariances (k, d, d) of a form, of groups that all have rows.

    Axes that are searched for begin where those `before` are, if there are any.
    """
    volume, shape, orientation = list(form)
    if shape + orientation == "VE":
        D = common_axes(weight, scatter, volume == "E", before)
        turned = (D.T @ scatter @ D) * np.eye(len(D))
        axes = np.broadcast_to(D, scatter.shape)
    else:
        turned, axes = _turned(scatter, orientation)
    if shape == "I":
        d = scatter.shape[1]
        turned = np.trace(turned, axis1=1, axis2=2)[:, None, None] / d * np.eye(d)
    if volume + shape == "VV":
        covariance = turned / weight[:, None, None]
    elif volume == "V":
        covariance = _of_one_shape(weight, turned)
    elif shape == "V":
        size = _volume(turned)[:, None, None]
        covariance = turned / size * (size.sum() / weight.sum())
    else:
        covariance = np.broadcast_to(turned.sum(axis=0) / weight.sum(), turned.shape)
    return np.asarray(axes @ covariance @ axes.swapaxes(1, 2))


def n_numbers(form: str, k: int, d: int) -> int:
    """How many numbers the covariances of k groups are made of."""
    volume, shape, orientation = list(form)
    times = {"E": 1, "V": k, "I": 0}
    turns = d * (d - 1) // 2
    return times[volume] + times[shape] * (d - 1) + times[orientation] * turns


def _turned(scatter: Floats, orientation: str) -> tuple[Floats, Floats]:
    """Scatter along the axes of the form, and these: those of the columns, or each group's own."""
    eye = np.broadcast_to(np.eye(scatter.shape[1]), scatter.shape)
    if orientation == "E":
        return scatter, eye
    if orientation == "I":
        return scatter * eye, eye
    values, vectors = np.linalg.eigh(scatter)  # ascending, so that axes correspond by their length
    return np.maximum(values, 0.0)[:, :, None] * eye, vectors


def _of_one_shape(weight: Floats, scatter: Floats) -> Floats:
    """λ_k C, |C| = 1:  λ_k = tr(S_k C⁻¹) / (d n_k) and C ∝ Σ_k S_k / λ_k, in turns."""
    d = scatter.shape[1]
    size = np.ones(len(weight))
    for _ in range(MOST_STEPS):
        shape = (scatter / size[:, None, None]).sum(axis=0)
        shape = shape / _volume(shape)
        if not np.isfinite(shape).all():
            break
        before, size = size, np.einsum("kij,ji->k", scatter, np.linalg.inv(shape)) / (d * weight)
        if (np.abs(size - before) <= TOLERANCE * size).all():
            break
    return np.asarray(size[:, None, None] * shape)


def _volume(matrices: Floats) -> Floats:
    """|M|^(1/d), without products that overflow."""
    sign, log_det = np.linalg.slogdet(matrices)
    return np.where(sign > 0, np.exp(log_det / matrices.shape[-1]), 0.0)
