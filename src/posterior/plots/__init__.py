"""Every picture, as an Altair chart."""

from posterior.plots.densities import densities
from posterior.plots.saving import save

__all__ = ["densities", "save"]
