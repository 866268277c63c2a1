"""Fitted: all that an estimator has learned, as one value that is never changed."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, is_dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from posterior import kernels
from posterior.data import validate
from posterior.data.errors import STATED, named_errors
from posterior.data.names import quoted
from posterior.data.shapes import fields_of
from posterior.data.table import Table
from posterior.data.typing import Array, Codes, Floats
from posterior.evaluation.calibration import Calibrator
from posterior.families.family import Scorer
from posterior.generative.evidence_terms import Evidence
from posterior.generative.joint import Joint, JointStatistics
from posterior.generative.rule import Rule, Worker
from posterior.readers.labels import Labels
from posterior.readers.reader import Reader
from posterior.statistics.exact import Exact


@dataclass(frozen=True, eq=False)
class Fitted:
    """What was learned, and how rows are read. It adds, subtracts, scales and answers."""

    reader: Reader
    labels: Labels
    rule: Rule
    statistics: JointStatistics[Any] | None  # None: stated, not summed
    joint: Joint[Any, Any] | None  # None: not asked for yet, see `settled`
    derived: Any = None  # by the rule
    calibrator: Calibrator | None = None

    def __post_init__(self) -> None:
        if self.joint is not None:  # changed in place, it would not be what answers come from
            _freeze((self.joint.log_prior, self.joint.parameters, self.derived))

    @classmethod
    def of(
        cls, reader: Reader, labels: Labels, rule: Rule, statistics: JointStatistics[Any]
    ) -> Fitted:
        """The model of some sums."""
        return cls(reader, labels, rule, rule.compacted(statistics), None).settled()

    @classmethod
    def stated(
        cls, reader: Reader, labels: Labels, rule: Rule, prior: Any, parameters: Any
    ) -> Fitted:
        """A model that was not learned from rows: class probabilities and parameters are given."""
        own = np.array(prior, np.float64)  # what a person gave stays theirs
        with np.errstate(divide="ignore"):
            joint = Joint(rule.family, np.log(own), deepcopy(parameters))
        return cls(reader, labels, rule, None, joint, derived=own)

    def settled(self) -> Fitted:
        """The same with its joint model, estimated if it was not yet."""
        if self.joint is not None:
            return self
        with self.named():
            joint = self.rule.estimate(self.sums)
            derived = self.rule.derive(joint, self.sums)
            reader = self.rule.answering(self.reader, self.sums)
            return replace(self, reader=reader, joint=joint, derived=derived)

    @property
    def model(self) -> Joint[Any, Any]:
        """The joint model, which is settled."""
        assert self.joint is not None
        return self.joint

    @property
    def classes(self) -> Array:
        return self.labels.classes

    def class_weight(self) -> Floats:
        """The weight of the rows of each class."""
        return self.sums.weight.rounded()

    @property
    def sums(self) -> JointStatistics[Any]:
        """The statistics, of a model that was learned."""
        if self.statistics is None:
            raise NotFittedError(STATED)
        return self.statistics

    def named(self) -> named_errors:
        """Errors of the core inside are told in the words of the user's table."""
        return named_errors(self.reader.names, self.classes)

    # ---- a model is a sum ----

    def grown(self, labels: Labels) -> Any:
        """The sums with room for more classes."""
        if len(labels) == len(self.labels):
            return self.sums
        return self.sums.placed(labels.places(self.labels), len(labels))

    def minus(
        self, less: JointStatistics[Any], codes: Codes, weight: Floats | None, rule: Rule
    ) -> tuple[Labels, JointStatistics[Any]]:
        """Classes and sums without those of rows that were learned."""
        left = self.sums - less
        short = left.weight.rounded() < 0
        if short.any():
            raise ValueError(
                "Expected rows that were learned, got more of class "
                f"{quoted(self.classes[short][0])} than the model has seen."
            )
        never = rule.family.impossible(left.features)
        if never.any():
            k, j = np.argwhere(never)[0]
            raise ValueError(
                f"Expected rows that were learned, but no rows of class {quoted(self.classes[k])} "
                f"leave what these would in feature {quoted(self.reader.names[j])}."
            )
        left = JointStatistics(left.weight, rule.kept(left.features))
        labels, stays = self.labels.less(codes, weight, left.weight.rounded())
        return labels, left if len(stays) == len(self.labels) else left.take(stays)

    # ---- answers ----

    def under(self, priors: Any) -> Joint[Any, Any]:
        """The joint model with other class probabilities than the learned ones."""
        if priors is None:
            return self.model
        with np.errstate(divide="ignore"):
            log_prior = np.log(validate.priors(priors, self.classes))
        return Joint(self.model.family, log_prior, self.model.parameters)

    @cached_property
    def log_joint(self) -> Scorer:
        """log p(x, k) of chunks of rows, prepared once."""
        return self._prepared(self.model, density=True)

    @cached_property
    def contrast(self) -> Scorer:
        """The same up to a term that all classes share."""
        return self._prepared(self.model, density=False)

    def _prepared(self, joint: Joint[Any, Any], density: bool) -> Scorer:
        with self.named():
            return joint.scorer() if density else joint.discriminant()

    def __getstate__(self) -> dict[str, Any]:
        """Without what was prepared."""
        return fields_of(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()

    def scored(
        self, X: Any, wanted: str | None, engine: Worker, joint: Joint[Any, Any] | None = None
    ) -> Floats:
        """log p(x, k), or what `normalize` makes of it, chunk by chunk.

        "contrast" is log p(x, k) up to a term that all classes share.
        """
        reader, joint = self.reader, joint or self.model
        features = reader.read(X)
        evidence = wanted == "log_evidence"
        if evidence:
            joint.family.check_density()
        density = wanted is None or evidence
        if joint is self.joint:
            scorer = self.log_joint if density else self.contrast
        else:
            scorer = self._prepared(joint, density)
        out = np.empty((features.shape[0], 1 if evidence else len(joint.log_prior)))

        def score(chunk: Any, rows: slice, part: Floats) -> None:
            reader.check_chunk(chunk, rows.start)
            scores = np.empty((len(part), len(joint.log_prior))) if evidence else part
            scorer(chunk, scores)
            reader.check_scores(scores, chunk, rows.start)
            _check_numbers(scores, rows.start)
            if evidence:
                kernels.normalize(scores, "log_evidence", part)
            elif wanted not in (None, "contrast"):
                kernels.normalize(scores, wanted)

        engine.fill(score, features, out)
        return out

    def log_posterior(self, X: Any, engine: Worker, priors: Any = None) -> Floats:
        """log p(k | x), calibrated if the model is."""
        if self.calibrator is None:
            return self.scored(X, "log_posterior", engine, self.under(priors))
        log_proba = self.calibrator.apply(self.scored(X, "log_posterior", engine))
        if priors is not None:
            log_proba += self.under(priors).log_prior - self.model.log_prior
            kernels.normalize(log_proba, "log_posterior")
        return np.asarray(log_proba)

    def posterior(self, X: Any, engine: Worker, priors: Any = None) -> Floats:
        """p(k | x), calibrated if the model is."""
        if self.calibrator is None:
            return self.scored(X, "posterior", engine, self.under(priors))
        return np.exp(self.log_posterior(X, engine, priors))

    def evidence(self, X: Any) -> Evidence:
        """The additive terms of each class's log joint probability, per feature."""
        features = self.reader.read(X)
        self.reader.check(features)
        _ = self.log_joint  # refuses parameters that the data left open
        names = self.model.family.term_names(self.reader.names)
        return Evidence(self.model.evidence(features), self.model.log_prior, names, self.classes)

    def sample(self, n: int, random: np.random.RandomState) -> tuple[Any, Array]:
        """Rows in the form that `fit` takes, and their classes."""
        if not isinstance(n, int | np.integer) or n < 0:
            raise ValueError(f"Expected a number of rows to sample, got {n!r}.")
        seed = random.randint(np.iinfo(np.int32).max)
        features, codes = self.model.sample(n, np.random.default_rng(seed))
        return self.reader.to_input(features), self.classes[codes]

    @property
    def n_parameters(self) -> int:
        """Numbers that the data determine, class probabilities included."""
        joint = self.model
        shares = self.rule.n_shares(len(self.classes))
        return joint.family.n_parameters(joint.parameters) + shares

    @property
    def n_joint_parameters(self) -> int | None:
        """Numbers that a table of the full joint distribution would need; None if no table can."""
        sizes = self.model.family.sizes(self.sums.features)
        return None if sizes is None else len(self.classes) * (prod(map(int, sizes)) - 1)

    def parameters(self, level: float) -> Table:
        """Every parameter, as the model uses it, with its credible interval."""
        lines = self.rule.intervals(self.model, self.sums.features, validate.level(level))
        return lines.table(self.reader.names, self.classes)

    def with_parameters(self, **changed: Any) -> Fitted:
        """The same with some parameters set by hand."""
        own = {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in changed.items()}
        return self.having(replace(self.model.parameters, **own))

    def having(self, parameters: Any) -> Fitted:
        """The same with other parameters."""
        return replace(self, joint=replace(self.model, parameters=parameters))

    def with_prior(self, prior: Any) -> Fitted:
        """The same with class probabilities set by hand."""
        with np.errstate(divide="ignore"):
            log_prior = np.log(np.asarray(prior, np.float64))
        return replace(self, joint=replace(self.model, log_prior=log_prior))


def _freeze(value: Any) -> None:
    """Make the arrays of parameters read-only; counts are no parameters, and add up elsewhere."""
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    elif isinstance(value, tuple | list):
        for part in value:
            _freeze(part)
    elif is_dataclass(value) and not isinstance(value, Exact):
        _freeze(tuple(fields_of(value).values()))


def _check_numbers(scores: Floats, first_row: int) -> None:
    """Refuse rows whose cells, finite themselves, have squares or products that are not."""
    with np.errstate(invalid="ignore", over="ignore"):
        usual = scores.sum() < np.inf
    if not usual and (strange := ~(scores < np.inf).all(axis=1)).any():
        raise ValueError(
            "Expected cells that can be squared and added up, got larger ones, first in row "
            f"{first_row + int(np.argmax(strange))}. Scale the columns down."
        )
