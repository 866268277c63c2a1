"""Documents: what their terms are, how they are counted, and what their sums are."""

from posterior.text.words import Words

__all__ = ["Words"]
