"""Time and memory of posterior beside its peers, on the same arrays in one process."""
