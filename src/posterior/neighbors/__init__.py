"""k nearest neighbors: metrics, methods of search, votes, and the choice of k."""
