"""Weights of terms and of rows: tf-idf."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs_fast import (
    inplace_csr_row_normalize_l1,
    inplace_csr_row_normalize_l2,
)

from posterior.data.typing import Array, Integers

LENGTHS = {"l1": inplace_csr_row_normalize_l1, "l2": inplace_csr_row_normalize_l2}


@dataclass(frozen=True, slots=True, eq=False)
class DocumentFrequencies:
    """d_t = Σᵢ [x_it ≠ 0], the documents that hold each term, of n."""

    documents: Integers  # (m,)
    n_documents: int

    @classmethod
    def of(cls, X: Any) -> DocumentFrequencies:
        """Of a sparse matrix by rows or by columns; every cell that is stored counts."""
        by_row = X.format == "csr"
        documents = np.bincount(X.indices, minlength=X.shape[1]) if by_row else np.diff(X.indptr)
        return cls(documents.astype(np.int64), X.shape[0])

    def __add__(self, other: DocumentFrequencies, /) -> DocumentFrequencies:
        return DocumentFrequencies(
            self.documents + other.documents, self.n_documents + other.n_documents
        )

    def __neg__(self) -> DocumentFrequencies:
        return DocumentFrequencies(-self.documents, -self.n_documents)

    def __sub__(self, other: DocumentFrequencies, /) -> DocumentFrequencies:
        return self + -other

    def idf(self, smooth: bool, dtype: Any) -> Array:
        """idf_t = 1 + log n / d_t, or, as if one more document held every term,
        1 + log (1 + n) / (1 + d_t); in doubles unless the counts are floats."""
        kind = np.dtype(dtype if dtype in (np.float64, np.float32) else np.float64)
        frequency = self.documents.astype(kind) + kind.type(smooth)
        ratio = np.full_like(frequency, self.n_documents + int(smooth))
        ratio /= frequency
        np.log(ratio, out=ratio)
        ratio += 1.0
        return ratio


@dataclass(frozen=True, slots=True, eq=False)
class Weighting:
    """x_it ← (x_it or 1 + log x_it) idf_t, then every row to length one; settings as in
    scikit-learn, and what was learned under them."""

    norm: str | None
    use_idf: bool
    smooth_idf: bool
    sublinear_tf: bool
    idf_: Array | None = None  # (m,)

    def learned(self, frequencies: DocumentFrequencies, dtype: Any) -> Weighting:
        """With the weights of terms that so many documents hold."""
        idf = frequencies.idf(self.smooth_idf, dtype) if self.use_idf else None
        return replace(self, idf_=idf)

    def of(self, X: Any) -> sparse.csr_array:
        """Rows of counts, which are changed in place."""
        if self.sublinear_tf:
            np.log(X.data, out=X.data)
            X.data += 1.0
        if self.idf_ is not None:
            X.data *= self.idf_[X.indices]
        return normalized(X, self.norm)


def normalized(X: Any, norm: str | None) -> sparse.csr_array:
    """Every row to length one, in place; rows of zeros stay."""
    if norm is not None:
        LENGTHS[norm](X)
    return X
