"""The base class by which scikit-learn's own functions know a model of neighbors.

Its package takes as long to import as all of ours, and a command hands no model to these functions.
"""

from posterior.data import process

if process.is_ours:

    class KNeighborsMixin:
        """Stands in for scikit-learn's."""

else:
    from sklearn.neighbors._base import KNeighborsMixin

__all__ = ["KNeighborsMixin"]
