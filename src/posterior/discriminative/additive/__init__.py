"""Additive models: sums of tables over the cells of one, two and three columns."""
