"""k-means, of all rows or of small batches."""

from posterior.estimators.kmeans.kmeans import KMeans
from posterior.estimators.kmeans.mini_batch_kmeans import MiniBatchKMeans

__all__ = ["KMeans", "MiniBatchKMeans"]
