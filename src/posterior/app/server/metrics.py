"""Metrics for Prometheus: requests, refusals, and what the models see, of all workers together."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, values
from prometheus_client.multiprocess import MultiProcessCollector

from posterior.app.server.exchange import Exchange
from posterior.app.server.predicting import Predicted
from posterior.app.server.served import Served
from posterior.app.server.served_models import Named
from posterior.app.server.watched_model import Outcome

MEDIA = prometheus_client.CONTENT_TYPE_LATEST
SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60)


def share_metrics(folder: Path, worker: str) -> None:
    """Keep the metrics of this process in files of a folder, where all workers read them.

    A worker that starts anew goes on with the numbers of the one before it.
    """
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    values.ValueClass = values.MultiProcessValue(lambda: worker)


class Metrics:
    """What is counted; `folder` has the numbers of all workers, if there are several."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder, self._own = folder, CollectorRegistry()
        own = self._own
        self._requests = Counter(
            "posterior_requests", "Requests.", ("route", "model", "status"), registry=own
        )
        self._seconds = Histogram(
            "posterior_request_seconds",
            "Seconds until a request was answered.",
            ("route", "model"),
            buckets=SECONDS,
            registry=own,
        )
        self._refusals = Counter(
            "posterior_refusals", "Requests that were refused.", ("reason",), registry=own
        )
        self._rows = Counter(
            "posterior_rows", "Rows that were predicted.", ("model",), registry=own
        )
        self._probability = Counter(
            "posterior_probability",
            "Sum of the probabilities of a class; by rows, their mean.",
            ("model", "class"),
            registry=own,
        )
        self._missing = Counter(
            "posterior_missing_values",
            "Rows without a value in a column.",
            ("model", "column"),
            registry=own,
        )
        self._unseen = Counter(
            "posterior_unseen_values",
            "Rows with a category in a column that training did not have.",
            ("model", "column"),
            registry=own,
        )
        self._reloads = Counter(
            "posterior_reloads",
            "Model files that had changed: reloaded, or refused.",
            ("model", "outcome"),
            registry=own,
        )
        self._problem = Gauge(
            "posterior_model_file_problem",
            "1 while the file of a model is damaged or gone, and the model of before answers.",
            ("model",),
            registry=own,
            multiprocess_mode="max",
        )

    def expect(self, models: Iterable[Named]) -> None:
        """Begin at zero with what can be told of some models: a rate needs a beginning."""
        for model in models:
            self._rows.labels(model.name)
            self._problem.labels(model.name).set(model.problem is not None)
            for name in model.served.reading.columns:
                self._missing.labels(model.name, name)
                self._unseen.labels(model.name, name)

    def request(self, exchange: Exchange, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        route, model = exchange.route or "other", exchange.model or ""
        self._requests.labels(route, model, status).inc()
        self._seconds.labels(route, model).observe(seconds)
        if exchange.refusal is not None:
            self._refusals.labels(exchange.refusal).inc()

    def predicted(self, served: Served, found: Predicted) -> None:
        """Count rows, their probabilities, and their missing and unseen values."""
        name, n_rows = served.name, len(found.codes)
        self._rows.labels(name).inc(n_rows)
        for label, total in zip(served.classes, found.posterior.sum(axis=0).tolist(), strict=True):
            self._probability.labels(name, label).inc(total)
        for column, rows in found.noted.missing.items():
            self._missing.labels(name, column).inc(len(rows))
        for column, rows in found.noted.unseen.items():
            self._unseen.labels(name, column).inc(len(rows))

    def refreshed(self, model: Named, outcome: Outcome) -> None:
        """Note how a look at a model file ended."""
        self._problem.labels(model.name).set(model.problem is not None)
        if outcome != "same":
            self._reloads.labels(model.name, outcome).inc()

    def text(self) -> bytes:
        """All numbers in the text format of Prometheus."""
        registry = self._own
        if self._folder is not None:
            registry = CollectorRegistry()
            MultiProcessCollector(registry, str(self._folder))
        return prometheus_client.generate_latest(registry)
