"""Statistics: exact sums, and what families make of them."""

from posterior.kernels.pairs import Pair
from posterior.statistics.algebra import Statistics
from posterior.statistics.counts import Counts
from posterior.statistics.cross_products import CrossProducts, CrossSums
from posterior.statistics.exact import Exact
from posterior.statistics.histograms import Histograms
from posterior.statistics.incomplete_rows import IncompleteRows
from posterior.statistics.moments import Moments, Totals

__all__ = [
    "Counts",
    "CrossProducts",
    "CrossSums",
    "Exact",
    "Histograms",
    "IncompleteRows",
    "Moments",
    "Pair",
    "Statistics",
    "Totals",
]
