"""Models that a server answers from, by name; the first answers where none is named."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from posterior.app.server.refusals import LOG, RequestError
from posterior.app.server.served import Served
from posterior.app.server.watched_model import Outcome, WatchedModel

PAUSE = 1.0  # seconds between two looks at the files


class Named(Protocol):
    """A model under a name, as it is now."""

    @property
    def name(self) -> str: ...

    @property
    def served(self) -> Served: ...

    @property
    def problem(self) -> str | None: ...

    def refresh(self) -> Outcome: ...


class Fixed:
    """A model in memory, which nothing changes."""

    problem: str | None = None

    def __init__(self, served: Served) -> None:
        self.name, self.served = served.name, served

    def refresh(self) -> Outcome:
        return "same"


class ServedModels:
    """All models of a server."""

    def __init__(self, models: Sequence[Named] = ()) -> None:
        self._models: Mapping[str, Named] = {model.name: model for model in models}

    def __iter__(self) -> Iterator[Named]:
        return iter(self._models.values())

    def __contains__(self, name: str) -> bool:
        return name in self._models

    def first(self) -> Served:
        """The model that is meant where none is named."""
        for model in self:
            return model.served
        raise RequestError("There is no model here yet: train one first.", 409, "address")

    def named(self, name: str) -> Served:
        if name not in self._models:
            known = ", ".join(self._models) or "none"
            raise RequestError(
                f"Expected a model of this server ({known}), got {name!r:.100}.", 404, "address"
            )
        return self._models[name].served

    async def watch(self, changed: Callable[[Named, Outcome], None]) -> None:
        """Look at the files from time to time, for as long as the server runs."""
        while True:
            await asyncio.sleep(PAUSE)
            for model in self:
                try:
                    outcome = await asyncio.to_thread(model.refresh)
                except Exception:  # a fault here must not end the watch
                    LOG.exception("looking at %s failed", model.name)
                    outcome = "refused"
                changed(model, outcome)


def models_at(paths: Sequence[Path], folder: Path) -> ServedModels:
    """The models of files, by the names of the files."""
    return ServedModels([WatchedModel(name, path, folder) for name, path in names_of(paths)])


def names_of(paths: Sequence[Path]) -> list[tuple[str, Path]]:
    """What models are called in addresses: spam of mail/spam.posterior."""
    found: dict[str, Path] = {}
    for path in paths:
        name = path.name.removesuffix(".posterior")
        if name in found:
            raise ValueError(
                f"Expected model files of different names, got {found[name]} and {path}: both are "
                f"called {name!r}. Rename one."
            )
        found[name] = path
    return list(found.items())
