"""A model to be asked: rows in, posteriors and decisions out. Nothing here changes the model."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from msgspec import Raw
from sklearn.base import is_classifier

from posterior.app import explanations, models
from posterior.app.decisions import Decision, log_prior, posterior, shift, threshold_values
from posterior.app.server.cells import Cell, Reading
from posterior.app.server.questions import ModelIdentity, encode
from posterior.app.server.served_columns import Column, columns_of
from posterior.app.server.written_rows import RowWriter
from posterior.data import validate
from posterior.data.names import plain
from posterior.data.typing import Floats
from posterior.data.validate import in_order
from posterior.estimators import Classifier, TableClassifier
from posterior.preprocessing.roles import Roles
from posterior.sources.learned_types import Types

if TYPE_CHECKING:
    import pyarrow as pa

QUICK = 0.005  # seconds of rows that the event loop may wait for
TRIED = 200  # rows that a model is tried on


class Served:
    """A fitted model, its columns and its classes."""

    def __init__(
        self,
        model: Any,
        name: str = "model",
        *,
        version: str | None = None,
        hash: str | None = None,
    ) -> None:
        if not hasattr(model, "predict_proba"):
            raise ValueError(
                "Expected a model that gives probabilities, to serve it, got "
                f"{type(model).__name__}."
            )
        self.model = model
        self.name, self.version, self.hash = name, version, hash
        self.columns: tuple[Column, ...] = columns_of(model)
        self.documents = models.reads_documents(model)
        self.target = models.target_of(model)
        self.log_prior = log_prior(model)
        self.additive = self.documents or explanations.is_additive(model)
        self.roles: Roles | None = models.roles_of(model)
        self.reading = Reading(self.columns, self.ignored())
        self.identity = ModelIdentity(name, version, hash, self.classes)
        self.writer = RowWriter(self.classes)
        self.told = cast(ModelIdentity, Raw(encode(self.identity)))  # encoded once for all

    @cached_property
    def classes(self) -> list[str]:
        """Names of the classes; the clusters of a mixture are numbered."""
        if is_classifier(self.model):
            return [str(plain(label)) for label in self.model.classes_]
        k = len(self.model.weights_)
        return [f"cluster {i + 1}" for i in range(k)]

    @property
    def listed(self) -> list[str]:
        """The classes for people to read: bands from the lowest to the highest."""
        if self.roles is None or self.roles.bands is None:
            return self.classes
        return [name for name in self.roles.bands.names if name in self.classes]

    @property
    def kind(self) -> str:
        """The class of the model, of the one inside if there is one."""
        inside = [self.model]
        if isinstance(self.model, Classifier):
            inside = [*self.model.members_.values()]
        first = inside[0].model_ if isinstance(inside[0], TableClassifier) else inside[0]
        return type(first if len(inside) == 1 else self.model).__name__

    def ignored(self) -> set[str]:
        """Columns of training that the model does not read."""
        return set() if self.roles is None else {column.name for column in self.roles.columns}

    def types(self) -> Types | None:
        """How the text of a file is read, by column, if the model knows their names."""
        if not models.columns(self.model):
            return None
        numbers = {c.name: "double" for c in self.columns if c.kind == "number"}
        return models.types_learned(self.model) or numbers

    def is_quick(self, n_rows: int) -> bool:
        """Whether some rows take so little time that other requests may wait for them."""
        first, each = self._seconds
        return first + (n_rows - 1) * each < QUICK

    @cached_property
    def _seconds(self) -> tuple[float, float]:
        """Processor time of a row alone, and of one more among many."""
        typical = {column.name: column.typical for column in self.columns}
        try:
            for n_rows in (1, 1, TRIED):  # the first prediction of a process imports and compiles
                begun = time.thread_time()
                if n_rows == 1:
                    self.record_posterior(self.reading.record(typical))
                    first = time.thread_time() - begun
                elif first < QUICK:
                    self.posterior(self.read(self.reading.rows([typical] * n_rows).table))
            return first, (time.thread_time() - begun) / TRIED
        except (ValueError, TypeError):
            return np.inf, np.inf

    def record_posterior(self, record: Mapping[str, Cell]) -> Floats:
        """p(k | x) of one row, given as the model reads it, (k,)."""
        if self._by_place:
            cells = [np.nan if cell is None else cell for cell in record.values()]
            return np.asarray(self.model.predict_proba(np.array([cells], np.float64))[0])
        if self._reads_records:
            return np.asarray(self.model.predict_proba_one(record))
        question = self.reading.rows([record])
        return self.posterior(self.read(question.table))[0]

    @cached_property
    def _reads_records(self) -> bool:
        """Whether the model reads a row without a frame."""
        return not self.documents and hasattr(self.model, "predict_proba_one")

    @cached_property
    def _by_place(self) -> bool:
        """Whether the model reads an array of numbers, and knows its columns by their places."""
        numbers = all(column.kind == "number" for column in self.columns)
        return numbers and not models.columns(self.model)

    def read(self, table: pa.Table) -> Any:
        """A table as the model takes it."""
        if self.documents and self.roles is None:
            from posterior.sources.files import column_named

            name = "text" if table.num_columns > 1 else table.column_names[0]
            column = table.column(column_named(table.column_names, name))
            return [text or "" for text in column.to_pylist()]
        X = models.features(self.model, table)
        if not self._by_place:
            return X
        cells = [np.asarray(column.to_numpy(), np.float64) for column in X.columns]
        return np.column_stack(cells)

    def posterior(self, X: Any, priors: Mapping[str, float] | None = None) -> Floats:
        """p(k | x) of each row, perhaps with other shares of the classes, (n, k)."""
        return posterior(self.model, X, None if priors is None else self.shares(priors))

    def shift(self, priors: Mapping[str, float] | None) -> Floats:
        """What other shares add to the log of each class, (k,)."""
        if priors is None:
            return np.zeros(len(self.classes))
        return shift(self.model, self.shares(priors))

    def shares(self, priors: Mapping[str, float]) -> Floats:
        """Shares of the classes, in their order; they may be counts."""
        given = np.array(in_order(priors, self.classes, "shares"), np.float64)
        if not (np.isfinite(given).all() and given.sum() > 0):
            raise ValueError("Expected shares of the classes with a sum above zero.")
        return validate.priors(given / given.sum(), self.classes)

    def prices(self, costs: Mapping[str, Mapping[str, float]] | None) -> Floats | None:
        """costs[truth, answer], (k, k)."""
        return None if costs is None else validate.costs(costs, self.classes)

    def decision(
        self,
        costs: Mapping[str, Mapping[str, float]] | None,
        thresholds: Mapping[str, float] | None,
    ) -> Decision:
        """What is answered, given a posterior."""
        if costs is not None and thresholds is not None:
            raise ValueError("Expected costs or thresholds, which both say what is answered.")
        limits = None if thresholds is None else threshold_values(thresholds, self.classes)
        return Decision(prices=self.prices(costs), thresholds=limits)
