"""Documents: what their terms are, how they are counted, and what their sums are."""

from typing import TYPE_CHECKING

from posterior.data import by_first_use

if TYPE_CHECKING:
    from posterior.text.words import Words as Words

if not TYPE_CHECKING:  # checkers read the imports above
    __all__, __getattr__, __dir__ = by_first_use(__name__, {"words": "Words"})
