"""Classifiers that keep their joint model as it is, and whose class probabilities may be given."""

from __future__ import annotations

from typing import Any

from posterior.data.typing import Floats
from posterior.estimators.base import GenerativeClassifier
from posterior.estimators.numeric import log_prior
from posterior.generative.joint import Joint, JointStatistics


class JointClassifier(GenerativeClassifier):
    """p(x, k) in `joint_`, and what it says of the classes."""

    class_prior: Any
    joint_: Joint[Any, Any]

    def _log_prior(self, weight: Floats) -> Floats:
        return log_prior(weight, self.class_prior, self.classes_)

    def _learned(self, joint: Joint[Any, Any], statistics: JointStatistics[Any]) -> dict[str, Any]:
        return {
            "class_count_": statistics.weight.rounded(),
            "class_log_prior_": joint.log_prior,
            "joint_": joint,
        }

    def _joint(self) -> Joint[Any, Any]:
        return self.joint_
