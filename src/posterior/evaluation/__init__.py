"""Evaluation of models: pure functions of held-out probabilities, rows and models.

Nothing here knows an estimator: a model is whatever predicts, and `HeldOut` is what any
`cross_validate` returns.
"""

from posterior.evaluation.association import associations
from posterior.evaluation.boundary import Surface, decision_boundary
from posterior.evaluation.contour import Curve, Curves
from posterior.evaluation.drift import DriftTest, drift_test, stability_index
from posterior.evaluation.gains import CostChoice, Gains, gains
from posterior.evaluation.groups import Subgroup, by_group, subgroup
from posterior.evaluation.held_out import HeldOut
from posterior.evaluation.learning import LearningPoint, learning_curve
from posterior.evaluation.plane import Plane, plane
from posterior.evaluation.quadratics import Points
from posterior.evaluation.ranking import RankCurve, precision_recall, roc
from posterior.evaluation.reliability import Reliability, ReliabilityBin, reliability
from posterior.evaluation.scores import (
    Measure,
    confusion,
    doubtful_labels,
    least_expected,
    measure,
    own_probability,
)
from posterior.evaluation.thresholds import (
    ClassRanking,
    ClassScore,
    Threshold,
    at_thresholds,
    balanced_accuracy,
    best_f1,
    class_ranking,
    class_scores,
)
from posterior.evaluation.worst_subgroups import (
    GroupedColumn,
    WorstSubgroup,
    WorstSubgroups,
    worst_subgroups,
)

__all__ = [
    "ClassRanking",
    "ClassScore",
    "CostChoice",
    "Curve",
    "Curves",
    "DriftTest",
    "Gains",
    "GroupedColumn",
    "HeldOut",
    "LearningPoint",
    "Measure",
    "Plane",
    "Points",
    "RankCurve",
    "Reliability",
    "ReliabilityBin",
    "Subgroup",
    "Surface",
    "Threshold",
    "WorstSubgroup",
    "WorstSubgroups",
    "associations",
    "at_thresholds",
    "balanced_accuracy",
    "best_f1",
    "by_group",
    "class_ranking",
    "class_scores",
    "confusion",
    "decision_boundary",
    "doubtful_labels",
    "drift_test",
    "gains",
    "learning_curve",
    "least_expected",
    "measure",
    "own_probability",
    "plane",
    "precision_recall",
    "reliability",
    "roc",
    "stability_index",
    "subgroup",
    "worst_subgroups",
]
