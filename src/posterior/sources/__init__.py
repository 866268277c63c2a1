"""Rows that are elsewhere: files, queries, and what is summed over their batches."""
