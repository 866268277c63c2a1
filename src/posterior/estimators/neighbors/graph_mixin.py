"""The base class by which scikit-learn's own functions know a model of neighbors.

Its package takes as long to import as all of ours, and a command hands no model to these functions.
"""

from typing import TYPE_CHECKING

from posterior.data import process

if TYPE_CHECKING or not process.is_ours:
    from sklearn.neighbors._base import KNeighborsMixin
else:

    class KNeighborsMixin:
        """Stands in for scikit-learn's."""


__all__ = ["KNeighborsMixin"]
