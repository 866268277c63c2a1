"""Every picture, as an Altair chart."""

from posterior.plots.coefficients import coefficients
from posterior.plots.components import components
from posterior.plots.densities import densities
from posterior.plots.neighbors import error_by_k
from posterior.plots.path import regularization_path
from posterior.plots.saving import save
from posterior.plots.selection import selection
from posterior.plots.sigmoid import sigmoid
from posterior.plots.trace import trace

__all__ = [
    "coefficients",
    "components",
    "densities",
    "error_by_k",
    "regularization_path",
    "save",
    "selection",
    "sigmoid",
    "trace",
]
