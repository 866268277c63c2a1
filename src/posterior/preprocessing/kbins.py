"""Bins of a column by its values alone, as in scikit-learn."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_array, resample
from sklearn.utils._param_validation import Interval, Options, StrOptions
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from posterior.data import containers, validate
from posterior.data.rows import readable
from posterior.data.typing import Array, Floats, Integers
from posterior.preprocessing.bins import FLOATS, Discretizer
from posterior.preprocessing.edges import kmeans_edges, quantile_edges

NARROW = 8  # roundings of the largest edge: bins that are not wider are removed
WEIGHTED = ("averaged_inverted_cdf", "inverted_cdf")
METHODS = {
    *WEIGHTED,
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "linear",
    "median_unbiased",
    "normal_unbiased",
}


class KBinsDiscretizer(Discretizer):
    """Every column cut into bins of equal width, of equal weight, or around centers of k-means.

    A cell of bin k has eₖ ≤ x < eₖ₊₁; the first and the last bin reach to infinity. Parameters,
    attributes and bins are those of scikit-learn. Missing cells are left out of the bins: they
    stay NaN in ordinal codes, have a block of zeros in one-hot columns, and come back as NaN.

    Parameters
    ----------
    n_bins : int or array of shape (n_features,), default=5
        How many bins, at least 2.
    encode : {"onehot", "onehot-dense", "ordinal"}, default="onehot"
        A column for each bin, sparse or dense, or the number of the bin.
    strategy : {"uniform", "quantile", "kmeans"}, default="quantile"
        Bins of equal width, of equal weight, or around the centers of k-means in one dimension.
    quantile_method : str, default="averaged_inverted_cdf"
        One of NumPy's definitions of a quantile; weights need this one or "inverted_cdf".
    dtype : {numpy.float32, numpy.float64}, optional
        Of what `transform` gives; otherwise that of its input.
    subsample : int or None, default=200_000
        If there are more rows, so many are drawn, with replacement, to find the bins.
    random_state : int, RandomState or None
        For the rows drawn.

    Attributes
    ----------
    bin_edges_ : array of n_features arrays
        Lowest value, inner edges, highest value; minus and plus infinity if there is one bin only.
    n_bins_ : array of shape (n_features,)
        Fewer than asked for where bins were too narrow.

    Examples
    --------
    >>> from posterior import KBinsDiscretizer
    >>> model = KBinsDiscretizer(2, encode="ordinal", strategy="uniform")
    >>> model.fit_transform([[0.0], [1.0], [float("nan")], [4.0]])
    array([[ 0.],
           [ 0.],
           [nan],
           [ 1.]])
    """

    bin_edges_: Array

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_bins": [Interval(Integral, 2, None, closed="left"), "array-like"],
        "encode": [StrOptions({"onehot", "onehot-dense", "ordinal"})],
        "strategy": [StrOptions({"uniform", "quantile", "kmeans"})],
        "quantile_method": [StrOptions(METHODS)],
        "dtype": [Options(type, {np.float64, np.float32}), None],
        "subsample": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_bins: Any = 5,
        *,
        encode: str = "onehot",
        strategy: str = "quantile",
        quantile_method: str = "averaged_inverted_cdf",
        dtype: Any = None,
        subsample: int | None = 200_000,
        random_state: Any = None,
    ) -> None:
        self.n_bins = n_bins
        self.encode = encode
        self.strategy = strategy
        self.quantile_method = quantile_method
        self.dtype = dtype
        self.subsample = subsample
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the bins.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional
        """
        self._validate_params()
        columns, table = self._read(X, known=False, fitting=True)
        weight = validate.weights(sample_weight, len(table))
        if self.subsample is not None and len(table) > self.subsample:
            # rows are drawn by their weight, and count once from here on
            table = resample(
                table,
                n_samples=self.subsample,
                random_state=self.random_state,
                sample_weight=weight,
            )
            weight = None
        n_bins = self._asked(table.shape[1])
        if weight is not None:
            if self.strategy == "quantile" and self.quantile_method not in WEIGHTED:
                raise ValueError(
                    "When fitting with strategy='quantile' and sample weights, quantile_method "
                    "should either be set to 'averaged_inverted_cdf' or 'inverted_cdf', got "
                    f"quantile_method='{self.quantile_method}' instead."
                )
            table, weight = table[weight > 0], weight[weight > 0]
        edges = np.empty(table.shape[1], object)
        lowest, highest = table.min(axis=0), table.max(axis=0)  # NaN where a cell is missing
        for j, column in enumerate(table.T):
            ends = lowest[j], highest[j]
            edges[j] = self._edges(j, column, ends, weight, int(n_bins[j]))
        n_bins = np.array([len(e) - 1 for e in edges], np.int64)
        return self._learn(columns, bin_edges_=edges, n_bins_=n_bins)

    def _asked(self, n_features: int) -> Integers:
        """The number of bins wanted of each feature."""
        if isinstance(self.n_bins, Integral):
            return np.full(n_features, int(self.n_bins), np.int64)
        asked = check_array(self.n_bins, dtype=None, ensure_2d=False)
        if asked.shape != (n_features,):
            raise ValueError("n_bins must be a scalar or array of shape (n_features,).")
        whole: Integers = asked.astype(np.int64)
        bad = np.flatnonzero((whole != asked) | (whole < 2))
        if len(bad):
            raise ValueError(
                "KBinsDiscretizer received an invalid number of bins at indices "
                f"{', '.join(map(str, bad))}. Number of bins must be at least 2, and must be an "
                "int."
            )
        return whole

    def _edges(
        self, j: int, x: Array, ends: tuple[Any, Any], w: Floats | None, n_bins: int
    ) -> Array:
        if np.isnan(ends[0]):
            known = ~np.isnan(x)
            x, w = x[known], None if w is None else w[known]
            ends = (x.min(), x.max()) if len(x) else ends
        if len(x) == 0 or ends[0] == ends[1]:
            why = "is constant" if len(x) else "has no known cell"
            warnings.warn(f"Feature {j} {why} and will be replaced with 0.", stacklevel=3)
            return np.array([-np.inf, np.inf])
        if self.strategy == "uniform":
            return np.linspace(*ends, n_bins + 1)
        if self.strategy == "quantile":
            edges = quantile_edges(x, w, n_bins, self.quantile_method)
        else:
            edges = kmeans_edges(x, w, n_bins)
        narrow = NARROW * np.finfo(edges.dtype).eps * np.abs(edges).max()
        edges = edges[np.ediff1d(edges, to_begin=np.inf) > narrow]
        if len(edges) - 1 != n_bins:
            warnings.warn(
                f"Bins that are no wider than rounding errors in feature {j} are removed. "
                "Consider decreasing the number of bins.",
                stacklevel=3,
            )
        return edges

    def _table(self, X: Any, fitting: bool) -> Array:
        """Numbers of any container; truths are 0 and 1."""
        numbers = containers.plain_numbers(X, containers.CONVERT)
        checked = check_array(
            numbers,
            dtype="numeric" if fitting else self.dtype or FLOATS,
            ensure_all_finite="allow-nan",
            estimator=self,
            input_name="X",
        )
        return readable(np.asarray(checked))

    def _cuts(self) -> list[Floats]:
        return [edges[1:-1] for edges in self.bin_edges_]

    def _ends(self) -> list[Array]:
        return list(self.bin_edges_)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns that `transform` gives."""
        check_is_fitted(self, "n_features_in_")
        names: Array = _check_feature_names_in(self, input_features)
        if self.encode == "ordinal":
            return names
        each = zip(names, self.n_bins_, strict=True)
        return np.array([f"{n}_{float(b)}" for n, k in each for b in range(k)], object)
