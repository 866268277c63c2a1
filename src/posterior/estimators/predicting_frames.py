"""Answers for a table on a cluster: a frame of it that knows how to answer, and has not begun."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from posterior.engines.locate import locate
from posterior.sources.answers import answered
from posterior.sources.outputs import STDOUT
from posterior.sources.source import Batch, errors_in


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """A batch with the answers of a model beside it."""

    model: Any
    only: bool

    def __call__(self, batch: Batch) -> Any:
        with errors_in(batch):
            return answered(self.model, batch.frame, batch.frame, STDOUT, self.only)


def predict_frame(model: Any, X: Any, *, only: bool = False) -> Any:
    """A Dask or Spark frame with the most probable class and all probabilities beside each row.

    It is as lazy as X: rows are answered where they are, when somebody asks.

    Parameters
    ----------
    model : fitted classifier, mixture or k-means
    X : frame of Dask or Spark, or bag of Dask, with the columns that the model reads
    only : bool, default=False
        The columns "predicted" and "p_..." alone, without those of X.
    """
    engine, source = locate(X) or (None, None)
    answer = getattr(engine, "map", None)
    if answer is None or source is None or not source.names:
        raise TypeError(
            f"Expected a frame of Dask or Spark, got {type(X).__name__}. Use predict_proba in "
            "memory, and predict_file for files."
        )
    return answer(Answer(model, only), source)
