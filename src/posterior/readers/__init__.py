"""Readers: input becomes the rows that a family reads, by a value that is learned once."""
