"""Every picture, as an Altair chart."""

from posterior.plots.cells import cells
from posterior.plots.coefficients import coefficients
from posterior.plots.combinations import combinations
from posterior.plots.comparison import comparison
from posterior.plots.components import components
from posterior.plots.confusion import confusion
from posterior.plots.densities import densities
from posterior.plots.distributions import distribution, shares
from posterior.plots.evidence import evidence, waterfall
from posterior.plots.hill import hill
from posterior.plots.importances import importances
from posterior.plots.interactions import interaction
from posterior.plots.learning import learning_curve
from posterior.plots.likelihoods import likelihoods
from posterior.plots.model import plot
from posterior.plots.neighbors import error_by_k
from posterior.plots.path import regularization_path
from posterior.plots.ranking import precision_recall, roc
from posterior.plots.regions import regions
from posterior.plots.reliability import confidence, reliability
from posterior.plots.saving import save
from posterior.plots.selection import selection
from posterior.plots.separation import separation
from posterior.plots.shape_functions import shape
from posterior.plots.sigmoid import sigmoid
from posterior.plots.starts import starts
from posterior.plots.structure import structure
from posterior.plots.trace import trace

__all__ = [
    "cells",
    "coefficients",
    "combinations",
    "comparison",
    "components",
    "confidence",
    "confusion",
    "densities",
    "distribution",
    "error_by_k",
    "evidence",
    "hill",
    "importances",
    "interaction",
    "learning_curve",
    "likelihoods",
    "plot",
    "precision_recall",
    "regions",
    "regularization_path",
    "reliability",
    "roc",
    "save",
    "selection",
    "separation",
    "shape",
    "shares",
    "sigmoid",
    "starts",
    "structure",
    "trace",
    "waterfall",
]
