"""Tables made ready for models that read numbers or categories only."""

from posterior.preprocessing.kbins import KBinsDiscretizer
from posterior.preprocessing.log_ratio import LogCountRatio
from posterior.preprocessing.supervised import SupervisedDiscretizer

__all__ = ["KBinsDiscretizer", "LogCountRatio", "SupervisedDiscretizer"]
