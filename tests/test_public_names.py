"""What the package promises by name: importable, documented, and written up for users."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pytest

import posterior

REPOSITORY = Path(__file__).resolve().parent.parent
README = (REPOSITORY / "README.md").read_text("utf-8")
PROSE = "\n".join(
    [README, *(p.read_text("utf-8") for p in sorted(REPOSITORY.glob("docs/**/*.md")))]
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


def test_the_readme_promises_no_name_that_is_missing() -> None:
    table = README.split("## The names", 1)[1].split("\n## ", 1)[0]
    rows = [line.split("|")[2] for line in table.splitlines() if line.startswith("| ")][1:]
    promised = re.findall(r"`([A-Za-z_]+)", " ".join(rows))
    assert len(promised) > 10
    assert sorted(set(promised) - set(NAMES)) == []


def test_the_readme_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    examples = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert examples
    for example in examples:
        exec(compile(example, "README.md", "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out
