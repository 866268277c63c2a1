"""Marginal effects: how much the probability of a class changes with a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from scipy.special import expit, softmax

from posterior.data.names import plain
from posterior.data.rows import Rows, slabs
from posterior.data.table import Table
from posterior.data.typing import Array, Floats
from posterior.discriminative import inference
from posterior.discriminative.design import design, labels
from posterior.discriminative.loss import LogisticLoss
from posterior.discriminative.minimum import Minimum

Indicators = Mapping[int, Sequence[int]]  # a column of zeros and ones → all of its category


def effects_table(
    minimum: Minimum, features: Array, classes: Array, at: str, level: float, indicators: Indicators
) -> Table:
    """Effects with errors, tests and intervals, of the second of two classes or of each."""
    wald = marginal_effects(minimum, at, level, indicators)
    shown = classes[len(classes) - len(wald.estimate) :]
    columns: dict[str, Array] = {
        "class": np.repeat([str(plain(label)) for label in shown], len(features)),
        "feature": np.array([str(plain(name)) for name in features] * len(shown)),
        "effect": wald.estimate.ravel(),
        "error": wald.standard_error.ravel(),
        "z": wald.z.ravel(),
        "p": wald.p.ravel(),
        "low": wald.low.ravel(),
        "high": wald.high.ravel(),
    }
    if len(shown) == 1:
        del columns["class"]
    return Table(columns)


def marginal_effects(
    minimum: Minimum, at: str, level: float, indicators: Indicators
) -> inference.Wald:
    """Effects (classes, d), of two classes (1, d), with errors by the delta method: J Σ Jᵀ.

    J has the derivatives of the effects by the coefficients, of covariance Σ. Effects and J are
    means over the rows ("average"), or those of the mean row ("mean").
    """
    if at not in ("average", "mean"):
        raise ValueError(f'Expected at="average" or at="mean", got {at!r}.')
    objective, coef = minimum.objective, minimum.coef
    loss, sum_over = objective.loss, objective.engine.sum
    totals = sum_over(partial(_moments, loss=loss), objective.rows)
    if at == "mean":
        x, offset = np.split(totals[None, 1:] / totals[0], [coef.shape[1]], axis=1)
        sums = _effects(x, offset, np.ones(1), loss, coef, indicators)
    else:
        average = partial(_summed, loss=loss, coef=coef, indicators=indicators)
        sums = sum_over(average, objective.rows) / totals[0]
    if loss.outputs == 1:
        sums = sums[1:]
    effect, jacobian = sums[..., 0], sums[..., 1:].reshape(-1, coef.size)
    return inference.wald(effect, jacobian @ minimum.covariance() @ jacobian.T, level)


def _moments(rows: Rows, loss: LogisticLoss) -> Floats:
    """Σ w, Σ w x̃ and Σ w offset."""
    _, weight = labels(rows)
    parts = slabs(len(rows), rows.X.shape[1])
    x = sum(weight[part] @ design(loss, rows.X[part]) for part in parts)
    return np.concatenate([[weight.sum()], np.asarray(x), weight @ _offset(rows, loss)])


def _summed(rows: Rows, loss: LogisticLoss, coef: Floats, indicators: Indicators) -> Floats:
    """Σ w of the effects of rows and of their derivatives."""
    _, weight = labels(rows)
    k, (m, p) = max(loss.outputs, 2), coef.shape
    total = np.zeros((k, p - loss.intercept, 1 + m * p))
    offset = _offset(rows, loss)
    for part in slabs(len(rows), k * m * p):
        x = design(loss, rows.X[part])
        total += _effects(x, offset[part], weight[part], loss, coef, indicators)
    return total


def _offset(rows: Rows, loss: LogisticLoss) -> Floats:
    if rows.offset is None:
        return np.zeros((len(rows), loss.outputs))
    return rows.offset.reshape(len(rows), loss.outputs)


def _effects(
    x: Floats,
    offset: Floats,
    weight: Floats,
    loss: LogisticLoss,
    coef: Floats,
    indicators: Indicators,
) -> Floats:
    """Σ w of ∂p_k/∂xⱼ, and of its derivatives by the raveled coefficients: (k, d, 1 + size).

    With p̄ⱼ = Σ_c p_c β_cj the mean slope of a row,
    ∂p_k/∂xⱼ = p_k (β_kj - p̄ⱼ)        ∂p_k/∂η_a = p_k ([k = a] - p_a)
    ∂²p_k/∂xⱼ∂η_a = p_k ([k = a] - p_a) (β_kj - p̄ⱼ) - p_k p_a (β_aj - p̄ⱼ)
    Indicators change from 0 to 1 instead, while the others of their category are 0.
    """
    m, p = coef.shape
    k, d, own = max(m, 2), p - loss.intercept, slice(1 if m == 1 else 0, None)
    slope = np.zeros((k, d))
    slope[own] = coef[:, :d]
    proba = _proba(x @ coef.T + offset)
    apart = slope - (proba @ slope)[:, None]  # (n, k, d)
    turn = _turn(proba)[:, :, own]  # (n, k, m)
    total = partial(np.einsum, optimize=True)
    jacobian = total("i,ika,ikj,ib->kjab", weight, turn, apart, x)
    jacobian -= total("i,ik,ia,iaj,ib->kjab", weight, proba, proba[:, own], apart[:, own], x)
    jacobian[:, range(d), :, range(d)] += total("i,ika->ka", weight, turn)
    out = np.empty((k, d, 1 + m * p))
    out[..., 0] = total("i,ik,ikj->kj", weight, proba, apart)
    out[..., 1:] = jacobian.reshape(k, d, m * p)
    zero = np.zeros(d) if loss.origin is None else -loss.origin
    for j, category in indicators.items():
        out[:, j] = 0.0
        for cell, sign in ((1.0, 1.0), (0.0, -1.0)):
            moved = x.copy()
            moved[:, list(category)] = zero[list(category)]
            moved[:, j] += cell
            proba = _proba(moved @ coef.T + offset)
            by_coef = total("i,ika,ib->kab", weight, _turn(proba)[:, :, own], moved)
            out[:, j, 0] += sign * (weight @ proba)
            out[:, j, 1:] += sign * by_coef.reshape(k, m * p)
    return out


def _proba(score: Floats) -> Floats:
    """p(k | x), (n, classes)."""
    if score.shape[1] == 1:
        return np.asarray(expit(score * (-1.0, 1.0)))
    return np.asarray(softmax(score, axis=1))


def _turn(proba: Floats) -> Floats:
    """∂p_k/∂η_a, (n, classes, classes)."""
    return np.asarray(proba[:, :, None] * (np.eye(proba.shape[1]) - proba[:, None]))
