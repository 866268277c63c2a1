"""From documents to counts of terms: what a document is, what its terms are, and their sums."""
