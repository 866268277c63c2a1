"""Evaluation of models: pure functions of held-out probabilities, rows and models.

Nothing here knows an estimator: a model is whatever predicts, and `HeldOut` is what any
`cross_validate` returns. A name is imported when it is first asked for, or at once where a module
has the same.
"""

from typing import TYPE_CHECKING

from posterior.data import by_first_use
from posterior.evaluation.gains import CostChoice as CostChoice
from posterior.evaluation.gains import Gains as Gains
from posterior.evaluation.gains import gains as gains
from posterior.evaluation.plane import Plane as Plane
from posterior.evaluation.plane import plane as plane
from posterior.evaluation.reliability import Reliability as Reliability
from posterior.evaluation.reliability import ReliabilityBin as ReliabilityBin
from posterior.evaluation.reliability import reliability as reliability
from posterior.evaluation.worst_subgroups import GroupedColumn as GroupedColumn
from posterior.evaluation.worst_subgroups import WorstSubgroup as WorstSubgroup
from posterior.evaluation.worst_subgroups import WorstSubgroups as WorstSubgroups
from posterior.evaluation.worst_subgroups import worst_subgroups as worst_subgroups

if TYPE_CHECKING:
    from posterior.evaluation.association import associations as associations
    from posterior.evaluation.boundary import Surface as Surface
    from posterior.evaluation.boundary import decision_boundary as decision_boundary
    from posterior.evaluation.contour import Curve as Curve
    from posterior.evaluation.contour import Curves as Curves
    from posterior.evaluation.drift import DriftTest as DriftTest
    from posterior.evaluation.drift import drift_test as drift_test
    from posterior.evaluation.drift import stability_index as stability_index
    from posterior.evaluation.groups import Subgroup as Subgroup
    from posterior.evaluation.groups import by_group as by_group
    from posterior.evaluation.groups import subgroup as subgroup
    from posterior.evaluation.held_out import HeldOut as HeldOut
    from posterior.evaluation.learning import LearningPoint as LearningPoint
    from posterior.evaluation.learning import learning_curve as learning_curve
    from posterior.evaluation.quadratics import Points as Points
    from posterior.evaluation.ranking import RankCurve as RankCurve
    from posterior.evaluation.ranking import precision_recall as precision_recall
    from posterior.evaluation.ranking import roc as roc
    from posterior.evaluation.scores import Measure as Measure
    from posterior.evaluation.scores import confusion as confusion
    from posterior.evaluation.scores import doubtful_labels as doubtful_labels
    from posterior.evaluation.scores import least_expected as least_expected
    from posterior.evaluation.scores import measure as measure
    from posterior.evaluation.scores import own_probability as own_probability
    from posterior.evaluation.thresholds import ClassRanking as ClassRanking
    from posterior.evaluation.thresholds import ClassScore as ClassScore
    from posterior.evaluation.thresholds import Threshold as Threshold
    from posterior.evaluation.thresholds import at_thresholds as at_thresholds
    from posterior.evaluation.thresholds import balanced_accuracy as balanced_accuracy
    from posterior.evaluation.thresholds import best_f1 as best_f1
    from posterior.evaluation.thresholds import class_ranking as class_ranking
    from posterior.evaluation.thresholds import class_scores as class_scores

_HOMES = {
    "association": "associations",
    "boundary": "Surface decision_boundary",
    "contour": "Curve Curves",
    "drift": "DriftTest drift_test stability_index",
    "gains": "CostChoice Gains gains",
    "groups": "Subgroup by_group subgroup",
    "held_out": "HeldOut",
    "learning": "LearningPoint learning_curve",
    "plane": "Plane plane",
    "quadratics": "Points",
    "ranking": "RankCurve precision_recall roc",
    "reliability": "Reliability ReliabilityBin reliability",
    "scores": "Measure confusion doubtful_labels least_expected measure own_probability",
    "thresholds": "ClassRanking ClassScore Threshold at_thresholds balanced_accuracy best_f1"
    " class_ranking class_scores",
    "worst_subgroups": "GroupedColumn WorstSubgroup WorstSubgroups worst_subgroups",
}

if not TYPE_CHECKING:  # checkers read the imports above
    __all__, __getattr__, __dir__ = by_first_use(__name__, _HOMES)
