"""A table, its models and their reasons, on one page."""
