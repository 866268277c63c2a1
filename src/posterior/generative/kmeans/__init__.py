"""k-means: every row belongs to the nearest of k centers, every center is the mean of its rows."""
