"""The manual is true: its examples run, its figures are the scripts', no name is missing."""

from __future__ import annotations

import doctest
import re
import runpy
import shlex
import tomllib
from pathlib import Path

import pytest

import posterior

pytestmark = pytest.mark.once

REPOSITORY = Path(__file__).resolve().parents[1]
DOCS = REPOSITORY / "docs"
PAGES = sorted(p for p in DOCS.glob("**/*.md") if p.parent.name != "results")
SAME = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
GATHER = REPOSITORY / "changelog.d" / "gather.py"


def name_of_any(page: Path) -> str:
    return page.relative_to(REPOSITORY).with_suffix("").as_posix()


def name_of(page: Path) -> str:
    return page.relative_to(DOCS).with_suffix("").as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_examples_of_the_manual_give_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = doctest.testfile(str(page), module_relative=False, optionflags=SAME)
    assert found.failed == 0
    names = {"__name__": "manual"}
    for block in re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.M):
        if not block.startswith(">>>"):
            exec(compile(block, str(page), "exec"), names)


def test_no_code_of_the_manual_goes_without_a_test():
    """Examples are sessions (>>>), Python, or commands on the two pages whose commands are run."""
    kinds = {
        (name_of(page), kind)
        for page in PAGES
        for kind in re.findall(r"^```(\S*[^\s`])", page.read_text("utf-8"), re.MULTILINE)
        if not kind.startswith("{") and kind != "python"
    }
    assert kinds == {("command_line", "console"), ("tutorial", "console")}


def test_the_readme_has_no_code_that_goes_without_a_test():
    """Its blocks are Python, run by tests/test_public_names.py, or shell commands, indented."""
    text = (REPOSITORY / "README.md").read_text("utf-8")
    assert set(re.findall(r"^```(\S+)", text, re.MULTILINE)) == {"python"}


SHOWN = [*PAGES, *(REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md"))]


@pytest.mark.parametrize("page", SHOWN, ids=lambda page: page.stem)
def test_no_code_hides_from_the_tests(page):
    """In a list, behind tildes, indented without a prompt, or skipped, it would not be run."""
    text = page.read_text("utf-8")
    hidden = r"^ +```|^~~~|^    (?:import|from) \w+ |doctest: *\+SKIP"
    if name_of_any(page) != "docs/clusters":  # tests/test_engines.py runs what it says of Spark
        assert re.findall(hidden, text, re.MULTILINE) == []


def test_every_command_shown_is_one_that_the_command_line_has():
    typer = pytest.importorskip("typer")
    from posterior.app.cli.commands_app import app

    commands = typer.main.get_command(app).commands
    text = "\n".join(page.read_text("utf-8") for page in SHOWN)
    lines = re.findall(
        r"^(?:    |\$ |    \$ )(?:\.venv/bin/)?posterior (\w+)(.*)$", text, re.MULTILINE
    )
    assert len(lines) > 15
    for name, rest in lines:
        if name == "serves":  # what it says, not a command
            continue
        known = {option for one in commands[name].params for option in one.opts}
        used = re.findall(r"(?<!\S)--?[a-z][a-z-]*", rest.partition("  #")[0])
        assert set(used) <= known, (name, rest)


def test_every_target_shown_is_one_that_make_has():
    targets = re.findall(r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text("utf-8"), re.MULTILINE)
    text = "\n".join(page.read_text("utf-8") for page in SHOWN)
    assert set(re.findall(r"(?:`|^    )make ([a-z-]+)", text, re.MULTILINE)) <= set(targets)


# A share, a time, a ratio, or a number with decimals.
FIGURE = re.compile(
    r"(?<![\w.,])(\d[\d,]*(?:\.\d+)?)(?: ?%| (?:times|seconds|minutes|points|MB|GB)\b)"
    r"|(?<![\w.,=])(\d[\d,]*\.\d+)(?![\w.]|\s*\))"
)
BLOCK = re.compile(r"^```.*?^```$|^ *>>> .*?(?=\n\s*\n|\Z)", re.DOTALL | re.MULTILINE)
FRONT = {"README", "index"}
VERSIONS = {"stability"}  # pages whose numbers are those of versions
MADE_ELSEWHERE = {"benchmarks", "clusters", "dependence", "items"}  # and worked out from there
SETTINGS = {  # what goes in, not what comes out
    ("best_answer", "2.5"),  # standard errors, of a rule
    ("command_line", "95"),  # of an interval
    ("mixtures", "95"),  # of a picture
    ("README", "3.11"),  # of Python
    ("sql", "19.99"),  # of a cell
}


@pytest.mark.parametrize(
    "page",
    [
        page
        for page in [*PAGES, REPOSITORY / "README.md"]
        if page.stem not in MADE_ELSEWHERE | VERSIONS
    ],
    ids=lambda page: page.stem,
)
def test_every_figure_quoted_stands_in_an_example_or_a_results_file(page):
    """Figures in prose are those of the page's own sessions, which are run, or of docs/results."""
    text = page.read_text("utf-8")
    files = re.findall(r"\{(?:literal)?include\} (\S*results/\S+)", text)
    sources = [page.parent / file for file in files]
    if page.stem in FRONT:  # they quote what other pages show, and link to them
        sources += [DOCS / "benchmarks.md", *(DOCS / "results").glob("*.md")]
    shown = "\n".join(BLOCK.findall(text) + [file.read_text("utf-8") for file in sources])
    prose = re.sub(r"`[^`]*`", "", BLOCK.sub("", text))
    quoted = {share or number for share, number in FIGURE.findall(prose)}
    missing = {n for n in quoted if not re.search(rf"(?<![\d.]){re.escape(n)}(?!\d)", shown)}
    assert {(page.stem, n) for n in missing} - SETTINGS == set()


def test_every_results_file_is_shown_and_made_again_by_one_command():
    shown = "\n".join(page.read_text("utf-8") for page in PAGES)
    made = (REPOSITORY / "Makefile").read_text("utf-8")
    for file in sorted([*(DOCS / "results").glob("*.txt"), *(DOCS / "results").glob("*.md")]):
        assert f"results/{file.name}" in shown
        assert re.search(rf"\b{file.stem}\b", made), f"no target of make writes {file.stem}"


def test_the_scripts_of_the_manual_exist():
    text = "\n".join(page.read_text("utf-8") for page in [*PAGES, REPOSITORY / "README.md"])
    for name in set(re.findall(r"examples/\w+\.py", text)):
        assert (REPOSITORY / name).is_file(), name


@pytest.mark.slow
def test_the_commands_of_the_tutorial_say_what_it_says(tmp_path, monkeypatch):
    testing = pytest.importorskip("typer.testing")
    from posterior.app.cli.commands_app import app

    monkeypatch.chdir(tmp_path)
    pytest.importorskip("palmerpenguins").load_penguins().to_csv("penguins.csv", index=False)
    text = (DOCS / "tutorial.md").read_text("utf-8")
    (block,) = re.findall(r"```console\n\$ posterior (.*?)```", text, flags=re.DOTALL)
    line, _, expected = block.partition("\n")
    said = testing.CliRunner().invoke(app, shlex.split(line)).stdout
    assert doctest.OutputChecker().check_output(expected, said, SAME), said


def test_every_public_name_is_in_the_reference():
    pages = [p for p in sorted((DOCS / "reference").glob("*.md")) if p.name != "families.md"]
    made = runpy.run_path(str(DOCS / "families_page.py"))["page"]()
    text = "\n".join([made, *(page.read_text("utf-8") for page in pages)])
    listed = set(re.findall(r"^   (\w+)$", text, flags=re.MULTILINE))
    assert set(posterior.__all__) - {"__version__"} - listed == set()


def test_every_plot_is_in_the_reference():
    plots = pytest.importorskip("altair") and posterior.plots
    listed = (DOCS / "reference" / "tools.md").read_text("utf-8").split()
    assert set(plots.__all__) - set(listed) == set()


def test_the_changelog_gathers_every_fragment_by_kind(tmp_path):
    folder = tmp_path / "changelog.d"
    folder.mkdir()
    (folder / "README.md").write_text("how to")
    (folder / "speed.faster.md").write_text("Twice as fast.\nOn two threads.\n")
    (folder / "new.added.md").write_text("A thing.\n")
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\nOf all.\n\n## 0.1.0 (2026-01-01)\n\nOld.\n"
    )
    gather = runpy.run_path(str(GATHER))
    gather["release"]("0.2.0", folder)
    text = (tmp_path / "CHANGELOG.md").read_text("utf-8")
    assert [line for line in text.splitlines() if line] == [
        "# Changelog",
        "Of all.",
        *re.findall(r"## 0\.2\.0 \(\d{4}-\d\d-\d\d\)", text),
        "### Added",
        "- A thing.",
        "### Faster",
        "- Twice as fast.",
        "  On two threads.",
        "## 0.1.0 (2026-01-01)",
        "Old.",
    ]
    assert [file.name for file in folder.iterdir()] == ["README.md"]


def test_a_fragment_that_comes_late_joins_the_section_of_its_version(tmp_path):
    folder = tmp_path / "changelog.d"
    folder.mkdir()
    before = "# Changelog\n\n## 0.2.0 (2026-01-02)\n\nIn short.\n\n### Added\n\n- A thing.\n"
    older = "\n## 0.1.0 (2026-01-01)\n\n### Added\n\n- All.\n"
    (tmp_path / "CHANGELOG.md").write_text(before + older)
    (folder / "other.added.md").write_text("Another.\n")
    (folder / "bug.fixed.md").write_text("A bug.\n")
    runpy.run_path(str(GATHER))["release"]("0.2.0", folder)
    text = (tmp_path / "CHANGELOG.md").read_text("utf-8")
    assert text == before + "- Another.\n\n### Fixed\n\n- A bug.\n" + older


def test_a_fragment_of_no_known_kind_is_refused(tmp_path):
    (tmp_path / "speed.quicker.md").write_text("Twice as fast.\n")
    with pytest.raises(SystemExit, match=r"Expected TOPIC\.KIND\.md .* got speed\.quicker\.md"):
        runpy.run_path(str(GATHER))["gathered"]("Next", tmp_path)


def test_the_fragments_of_this_repository_can_be_gathered():
    assert runpy.run_path(str(GATHER))["gathered"]("Next").startswith("## Next\n")


def test_the_citation_has_the_version_of_the_package():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    assert f"\nversion: {project['version']}\n" in (REPOSITORY / "CITATION.cff").read_text("utf-8")
