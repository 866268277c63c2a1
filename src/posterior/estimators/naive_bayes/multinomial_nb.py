"""Multinomial naive Bayes and its complement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, cast

import numpy as np

from posterior.data.table_columns import Columns
from posterior.data.typing import Floats
from posterior.estimators import joint_answers
from posterior.estimators.estimator import learned
from posterior.estimators.naive_bayes.discrete_nb import CONSTRAINTS, DiscreteNB, linear
from posterior.estimators.stated_classes import StatedClasses
from posterior.families import Complement, Laplace, Multinomial
from posterior.families.multinomial import MultinomialParameters
from posterior.generative.fitted import Fitted
from posterior.generative.joint import Joint, JointStatistics
from posterior.generative.rule import ClassPrior, Rule
from posterior.readers.labels import Labels
from posterior.readers.numeric import Numeric
from posterior.readers.reader import Reader


def count_reader(model: DiscreteNB) -> Numeric:
    """Counts of words; a bad one in a sparse row is noticed by its sum."""
    columns = Columns(type(model).__name__)
    return Numeric(columns, missing=False, negative="answered", noticed="sparse")


def by_hand(log_prob: Any) -> MultinomialParameters:
    """Weights of words that were set by hand."""
    return MultinomialParameters(np.asarray(log_prob, np.float64))


class MultinomialNB(DiscreteNB):
    """Counts of words: each is a draw from the urn of the class.

    Parameters
    ----------
    alpha : float or array of shape (n_features,), default=1.0
        Pseudo-counts of every word (Laplace, Lidstone).
    force_alpha : bool, default=True
        Take alpha as it is; if False, at least 1e-10.
    fit_prior : bool, default=True
        Learn class probabilities; if False, all classes are alike.
    class_prior : array of shape (n_classes,) or dict by class, optional
        Class probabilities, instead of learned ones.
    calibrated : str, optional
        Correct the probabilities by rows held out: "temperature", "beta", "quadratic", "vector",
        "matrix", "isotonic", or "auto", whichever lowers their log loss, if one does.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : arrays of shape (n_classes,)
    feature_count_, feature_log_prob_ : arrays of shape (n_classes, n_features)

    Examples
    --------
    >>> from posterior import MultinomialNB
    >>> model = MultinomialNB().fit([[3, 0, 1], [0, 2, 1]], ["spam", "ham"])
    >>> model.predict([[1, 0, 0]])
    array(['spam'], dtype='<U4')
    """

    feature_count_ = learned[Floats](lambda fitted: fitted.sums.features.total.rounded())
    feature_log_prob_ = learned[Floats](
        lambda fitted: fitted.model.parameters.log_prob,
        lambda fitted, log_prob: fitted.having(by_hand(log_prob)),
    )
    parameters_of = staticmethod(by_hand)

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        calibrated: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.calibrated = calibrated

    @classmethod
    def of(cls, probabilities: Any, shares: Any, classes: Any = None, names: Any = None) -> Self:
        """The model of stated probabilities of words, which saw no rows.

        Parameters
        ----------
        probabilities : array of shape (n_classes, n_features), or dict by class
            Of each word in the urn of the class: rows that sum to one.
        shares : array of shape (n_classes,) or dict by class
            Class probabilities; a class of share zero is never answered.
        classes : sequence, optional
            In the order of the other tables; 0, 1, ... if not given, or the keys of `shares`.
        names : sequence of str, optional
            Of the columns.

        Examples
        --------
        >>> from posterior import MultinomialNB
        >>> urns = MultinomialNB.of([[0.5, 0.5], [0.9, 0.1]], [0.5, 0.5])
        >>> urns.predict([[3, 0], [2, 2]])
        array([1, 0])
        """
        stated = StatedClasses.of(shares, classes)
        p = stated.table(probabilities, "probabilities")
        stated.check(p, (p >= 0) & (p <= 1), "probabilities", "between 0 and 1")
        total = p.sum(axis=1)
        if not np.isclose(total, 1.0).all():
            raise ValueError(
                "Expected probabilities of words that sum to 1 in each class, got sums of "
                f"{total.tolist()}."
            )
        with np.errstate(divide="ignore"):
            parameters = MultinomialParameters(np.log(p))
        return cast(Self, stated.fitted(cls(), parameters, p.shape[1], names))

    def reader(self) -> Numeric:
        return count_reader(self)

    def rule(self, reader: Reader, labels: Labels | None) -> Rule:
        return Rule(Multinomial(Laplace(self._pseudo_counts(reader))), self._prior(labels))

    def quadratics(self, origin: Floats | None = None) -> tuple[None, Floats, Floats]:
        """log p(x, k) = b_k · u + c_k where u = x - origin, less the ways to order the words."""
        joint = self.settled().model
        return linear(joint.parameters.log_prob, joint.log_prior, origin)


def _without_prior(fitted: Fitted, log_prior: Any) -> Fitted:
    """Class probabilities play no part unless there is one class."""
    shown = np.array(log_prior, np.float64)
    prior = np.exp(shown) if len(shown) == 1 else np.ones(len(shown))
    return replace(fitted.with_prior(prior), derived=shown)


class ComplementNB(DiscreteNB):
    """Words weigh against a class as they occur outside it (Rennie et al. 2003).

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior, calibrated : as in `MultinomialNB`
        Class probabilities play no part unless there is one class.
    norm : bool, default=False
        Scale the weights of each class to a sum of one.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : arrays of shape (n_classes,)
    feature_count_, feature_log_prob_ : arrays of shape (n_classes, n_features)
        Counts, and weights of words.
    feature_all_ : array of shape (n_features,)

    Examples
    --------
    >>> from posterior import ComplementNB
    >>> ComplementNB().fit([[3, 0, 1], [0, 2, 1]], ["spam", "ham"]).predict([[1, 0, 0]])
    array(['spam'], dtype='<U4')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CONSTRAINTS,
        "norm": ["boolean"],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
        calibrated: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm
        self.calibrated = calibrated

    log_likelihood = bayes_error = joint_answers.no_density
    class_log_prior_ = learned[Floats](lambda fitted: fitted.derived, _without_prior)
    feature_count_ = learned[Floats](lambda fitted: fitted.sums.features.total.rounded())
    feature_log_prob_ = learned[Floats](
        lambda fitted: fitted.model.parameters.log_prob,
        lambda fitted, log_prob: fitted.having(by_hand(log_prob)),
    )
    parameters_of = staticmethod(by_hand)
    feature_all_ = learned[Floats](lambda fitted: fitted.sums.features.total.rounded().sum(axis=0))

    def reader(self) -> Numeric:
        return count_reader(self)

    def rule(self, reader: Reader, labels: Labels | None) -> Rule:
        family = Complement(Laplace(self._pseudo_counts(reader)), self.norm)
        return ComplementRule(family, SeenAlike(self._prior(labels)))

    def stated(self, values: Mapping[str, Any]) -> tuple[Floats, Any]:
        prior, parameters = super().stated(values)
        return prior if len(prior) == 1 else np.ones(len(prior)), parameters


@dataclass(frozen=True, slots=True, eq=False)
class SeenAlike:
    """Classes that were seen are alike, unless there is only one."""

    learned: ClassPrior

    def __call__(self, weight: Floats) -> Floats:
        prior = self.learned(weight)
        return prior if weight.shape[-1] == 1 else np.zeros_like(prior)


@dataclass(frozen=True, slots=True, eq=False)
class ComplementRule(Rule):
    """Shows the class probabilities that play no part."""

    prior: SeenAlike

    def derive(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> Floats:
        return self.prior.learned(statistics.weight.rounded())
