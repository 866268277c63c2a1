"""Naive Bayes of words, of yes and no, and of categories: what each class makes probable."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import rel_entr

from posterior.data.names import feature_names, plain
from posterior.data.typing import Floats
from posterior.estimators import BernoulliNB, CategoricalNB, MultinomialNB
from posterior.plots import look

DISCRETE = (BernoulliNB, CategoricalNB, MultinomialNB)
MOST, BARS, FEWEST = 15, 60, 5  # names; bars, by which names are fewer of many classes; names then
ROW = 11  # pixels of a bar


def likelihoods(model: Any, most: int | None = None) -> look.Chart:
    """P(word | class), P(yes | class) or P(category | class), of those that tell most of the class.

    What a word w tells is its part of the mutual information with the class,

    Σ_k π_k p(w | k) log p(w | k) / p(w),   p(w) = Σ_k π_k p(w | k)

    to which the absence of a yes adds its own.

    Parameters
    ----------
    model : fitted BernoulliNB, MultinomialNB or CategoricalNB
    most : int, optional
        How many words, columns or categories; by default 15, or fewer if classes are many.

    Returns
    -------
    altair.Chart
        Of the eight most probable classes, if there are more.
    """
    alt = look.optional("altair")
    if not isinstance(model, DISCRETE):
        raise TypeError(
            "Expected naive Bayes of words, of yes and no or of categories, got "
            f"{type(model).__name__}."
        )
    if most is not None and (not isinstance(most, int | np.integer) or most < 1):
        raise ValueError(f"Expected a number of names, 1 or more, got {most!r}.")
    names, p, kind = _probabilities(model)
    what = f"P({kind} | class)"
    prior = np.exp(np.asarray(model.class_log_prior_))
    told = _information(p, prior)
    if isinstance(model, BernoulliNB):
        told = told + _information(1 - p, prior)
    shown = np.sort(np.argsort(-prior, kind="stable")[: len(look.PALETTE)])
    number = most or max(FEWEST, min(MOST, BARS // len(shown)))
    order = np.argsort(-told, kind="stable")[:number]
    classes = [str(plain(model.classes_[k])) for k in shown]
    rows = [
        {"name": names[j], "class": label, "probability": float(p[k, j]), "told": float(told[j])}
        for j in order
        for k, label in zip(shown, classes, strict=True)
    ]
    said = [f"Those that tell most of the class come first: {len(order):,} of {len(names):,}."]
    if len(shown) < len(prior):
        said.append(f"The {len(shown)} most probable of {len(prior)} classes are drawn.")
    sort = [names[j] for j in order]
    return (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar()
        .encode(
            x=alt.X("probability:Q", axis=look.percent_axis(what, grid=True)),
            y=alt.Y("name:N", sort=sort, axis=look.names_axis(None)),
            yOffset=alt.YOffset("class:N", sort=classes),
            color=look.colors(classes, "class"),
            tooltip=[
                "name:N",
                "class:N",
                alt.Tooltip("probability:Q", title=what, format=".3~%"),
                alt.Tooltip("told:Q", title="told of the class, nats", format=".3~g"),
            ],
        )
        .properties(
            width=look.WIDTH,
            height=alt.Step(ROW, **{"for": "offset"}),
            title=look.heading(what, said),
            view=alt.ViewBackground(stroke=None),
        )
    )


def _probabilities(model: Any) -> tuple[list[str], Floats, str]:
    """Names, p(name | class) of shape (k, names), and what it is the probability of."""
    known = feature_names(model)
    d = model.n_features_in_
    columns = [f"feature {j}" for j in range(d)] if known is None else look.labels(list(known))
    if isinstance(model, CategoricalNB):
        names = [
            f"{column} = {plain(value)}"
            for column, values in zip(columns, model.categories_, strict=True)
            for value in values
        ]
        return names, np.exp(np.hstack(model.feature_log_prob_)), "category"
    kind = "yes" if isinstance(model, BernoulliNB) else "word"
    return columns, np.exp(np.asarray(model.feature_log_prob_)), kind


def _information(p: Floats, prior: Floats) -> Floats:
    """Σ_k π_k p_k log p_k / p for each column of (k, m): zero where all classes agree."""
    share = prior[:, None]
    return np.asarray((share * rel_entr(p, (share * p).sum(axis=0))).sum(axis=0))
