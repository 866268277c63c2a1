"""Tables made ready for models that read numbers only."""

from posterior.preprocessing.log_ratio import LogCountRatio

__all__ = ["LogCountRatio"]
