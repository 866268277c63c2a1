"""k nearest neighbors: ways to search, how neighbors vote, how many of them to ask."""
