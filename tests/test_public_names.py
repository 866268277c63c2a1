"""What the package promises by name: importable, documented, and written up for users."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import runpy
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pytest

import posterior

pytestmark = pytest.mark.once

REPOSITORY = Path(__file__).resolve().parent.parent
README = (REPOSITORY / "README.md").read_text("utf-8")
MADE = runpy.run_path(str(REPOSITORY / "docs" / "families_page.py"))["page"]()
PROSE = "\n".join(
    [README, MADE, *(p.read_text("utf-8") for p in sorted(REPOSITORY.glob("docs/**/*.md")))]
)
NAMES = list(posterior.__all__)
CALLABLES = [name for name in NAMES if callable(getattr(posterior, name, None))]


def packages() -> list[ModuleType]:
    """posterior and its subpackages."""
    found = pkgutil.walk_packages(posterior.__path__, "posterior.")
    names = ["posterior", *(module.name for module in found if module.ispkg)]
    return [importlib.import_module(name) for name in names]


@pytest.mark.parametrize("package", packages(), ids=lambda package: package.__name__)
def test_listed_names_are_sorted_unique_and_importable(package: ModuleType) -> None:
    names = list(getattr(package, "__all__", []))
    assert names == sorted(set(names))
    assert [name for name in names if not hasattr(package, name)] == []


def test_dir_shows_every_public_name() -> None:
    assert set(NAMES) <= set(dir(posterior))


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="NaiveBays"):
        posterior.NaiveBays  # noqa: B018
    assert not hasattr(posterior, "wraps")


def test_the_version_is_that_of_the_installed_package() -> None:
    assert posterior.__version__ == version("posterior")


@pytest.mark.parametrize("name", CALLABLES)
def test_every_public_name_explains_itself(name: str) -> None:
    thing = getattr(posterior, name)
    own = vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__
    assert own and own.strip()
    # A frozen dataclass without a docstring gets its own signature as one.
    assert not own.startswith(f"{name}(")


@pytest.mark.parametrize(
    "name", [name for name in CALLABLES if inspect.isclass(getattr(posterior, name))]
)
def test_every_public_method_explains_itself(name: str) -> None:
    silent = [
        method
        for method, value in inspect.getmembers(getattr(posterior, name), inspect.isfunction)
        if not method.startswith("_")
        and value.__module__.startswith("posterior.")
        and not inspect.getdoc(getattr(getattr(posterior, name), method))
    ]
    assert silent == []


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_is_in_the_readme_or_the_manual(name: str) -> None:
    assert re.search(rf"`(posterior\.)?{name}\b", PROSE)


def test_the_page_of_names_promises_none_that_is_missing() -> None:
    table = (REPOSITORY / "docs" / "names.md").read_text("utf-8")
    rows = [line.split("|")[2] for line in table.splitlines() if line.startswith("| ")][1:]
    promised = re.findall(r"`([A-Za-z_]+)", " ".join(rows))
    assert len(promised) > 10
    assert sorted(set(promised) - set(NAMES)) == []


def test_the_readme_example_runs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # it writes a table for the commands
    examples = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert examples
    for example in examples:
        exec(compile(example, "README.md", "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out


MOST_SECONDS = 0.7  # 0.5 is promised; a processor shared with others is slower
ALL_NAMES = """
import sys
from importlib.machinery import SourceFileLoader
from time import process_time

import numpy, scipy, sklearn.base

compile_file, compiling = SourceFileLoader.source_to_code, []

def compile_timed(*arguments, **options):
    start = process_time()
    code = compile_file(*arguments, **options)
    compiling.append(process_time() - start)
    return code

SourceFileLoader.source_to_code = compile_timed
start = process_time()
import posterior
for name in posterior.__all__:
    getattr(posterior, name)
print(process_time() - start - sum(compiling))
print(*sys.modules)
"""


def all_names_loaded() -> tuple[float, set[str]]:
    """Seconds of the processor beyond NumPy, SciPy and sklearn.base; and what is loaded then.

    Files are compiled when a package is installed: that time does not count.
    """
    command = [sys.executable, "-c", ALL_NAMES]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    seconds, modules = done.stdout.splitlines()
    return float(seconds), set(modules.split())


def test_all_names_are_there_within_half_a_second() -> None:
    seconds, modules = all_names_loaded()
    late = {"altair", "duckdb", "sklearn.feature_extraction.text", "sklearn.isotonic", "typer"}
    assert modules & late == set()  # each is loaded by the function that needs it
    tries = 1
    while seconds > MOST_SECONDS and tries < 4:
        seconds, tries = min(seconds, all_names_loaded()[0]), tries + 1
    assert seconds < MOST_SECONDS
