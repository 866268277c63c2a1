"""A pytest plugin for `make laws`: which laws a round tries, and how often each was really tried.

A trial is one run of a law on drawn values that came to its end. Values that the law rules out by
`assume`, and runs that failed, are none.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Generator
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

ENDED: Counter[str] = Counter()  # trials of each test in this process


def law_of(nodeid: str) -> str:
    """The law that a test tries, whatever model or family it tries it on."""
    return nodeid.partition("[")[0].rpartition("/")[2]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--laws", help="a JSON file that lists the laws to try; null: all")
    parser.addoption("--results", help="a file that gets a line of JSON for every test")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep tests of drawn values, of the laws that are listed."""
    listed = json.loads(Path(config.getoption("laws")).read_text("utf-8"))
    kept = [
        item
        for item in items
        if hasattr(getattr(item, "obj", None), "hypothesis")
        and (listed is None or law_of(item.nodeid) in listed)
    ]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    handle = item.obj.hypothesis  # type: ignore[attr-defined]
    law, start = handle.inner_test, time.process_time()
    handle.inner_test = counted(law, item.nodeid)
    try:
        return (yield)
    finally:
        handle.inner_test = law
        seconds = time.process_time() - start
        item.user_properties += [("trials", ENDED[item.nodeid]), ("seconds", seconds)]


def counted(law: Callable[..., Any], nodeid: str) -> Callable[..., Any]:
    """The law, which counts the runs that came to their end."""

    @wraps(law)
    def trial(*arguments: Any, **named: Any) -> None:
        law(*arguments, **named)
        ENDED[nodeid] += 1

    return trial


class Notes:
    """Writes down what came of each test, as soon as it is known."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call" and report.passed:
            return
        told = {
            "item": report.nodeid,
            **dict(report.user_properties),
            "says": report.longreprtext if report.failed else "",
        }
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(told) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # xdist: workers report to the process that writes
        config.pluginmanager.register(Notes(Path(config.getoption("results"))))
