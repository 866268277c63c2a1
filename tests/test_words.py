"""The words of the field: what people read has none of the words we do not use."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src/posterior"
MADE = {"benchmarks.md"}  # written by programs, from docs/results

WORDS = {  # what we do not write, and what we write instead
    r"\brightly\b": "correctly",
    r"\bfore(tell|told)": "predict",
    r"\b(is|are|was|were|be) taken for\b": "is predicted as, read as, flagged as",
    r"\btells? (the |its )?(rows|classes) apart": "identifies each row, separates the classes",
    r"\bbytes that are none": "is not a text file",
    r"\brows? (has|have) no \{": "{column} is missing in {n} rows",
    r"\bROC area|: area [.\d{]": "AUC for Yes: 0.83",
    r"\b(answers|answer)\.(csv|tsv|jsonl|parquet|sql)": "predictions.csv",
    r"\b(rows?|cells|documents?|files?|texts?) (is |are |were |was |being )?answered": "predicted",
    r"\banswered by": "predicted by",
    r"\b[Tt]he answer (of least|is the)|[Tt]he best answer|Why this answer": "prediction",
    r"\b(answers?|answered) over HTTP": "serves predictions over HTTP",
    r"\bmore rows are worth": "learning curve; more rows would help",
    r"\b(no model had seen|that (it|they) never saw|which never saw)": "held-out rows",
    r"\bhave (not|never) met\b": "unseen values",
    r"\bby heart\b": "memorize",
    r"\bspeaks?( most| together)? for\b": "favors, is evidence for",
    r"\b[Uu]nlike all others": "outliers",
    r"\bknows? (it |them )?by\b": "identified by",
    r"\bgaps\b|\bor a gap\b": "missing values",
    r"\btruths\b": "booleans, true classes",
    r"\bnames? (of )?kinds\b": "codes of categories",
    r"\byardstick\b": "benchmark",
    r"\b(come|comes|came) true\b": "observed frequency",
    r"\balways (saying|says)\b": "always predicting",
    r"\brows? to come\b": "future rows",
    r"\bdealt out\b": "assigned to folds",
    r"\bjudged?s? (it|them|by|on|models)\b": "test on, evaluate on",
    r"\btables? (that (is|are) )?elsewhere\b": "remote table",
    r"\b(cells|values) are welcome\b": "missing values are handled",
    r"\btake all scores as hints": "scores are rough estimates",
    r"\btaken? at (its|their) word": "calibrated",
}


def texts() -> Iterator[tuple[Path, int, str]]:
    """Every text that people read: its file, its line, and what it says."""
    for path in sorted(SOURCE.rglob("*.py")):
        yield from ((path, *found) for found in said_by(path))
    for path in sorted([*SOURCE.rglob("templates/*.html"), *SOURCE.rglob("static/*.html")]):
        yield without(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<[^>]*>", path)
    for path in sorted([*SOURCE.rglob("static/*.js"), *SOURCE.rglob("templates/*.js")]):
        yield without(r"//.*|\$\{[^}]*\}", path)
    pages = [path for path in (ROOT / "docs").glob("*.md") if path.name not in MADE]
    for path in sorted([ROOT / "README.md", *pages, *(ROOT / "docs/guide").glob("*.md")]):
        yield without(r"`[^`\n]+`|\]\([^)]*\)|>>> .*", path)


def without(code: str, path: Path) -> tuple[Path, int, str]:
    """A page whose code is blank; its lines stay."""
    return path, 1, re.sub(code, lambda m: "\n" * m.group().count("\n"), path.read_text("utf-8"))


def said_by(path: Path) -> Iterator[tuple[int, str]]:
    """Messages, and the help of commands: strings of several words, and docstrings of commands."""
    tree = ast.parse(path.read_text("utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [*ast.walk(tree)]
    skipped = {
        id(node.body[0].value)
        for node in nodes
        if isinstance(node, documented) and isinstance(node.body[0], ast.Expr)
        if path.parent.name != "cli" or not isinstance(node, ast.FunctionDef)
    }
    skipped |= {
        id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values
    }
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            parts = (v.value if isinstance(v, ast.Constant) else "{}" for v in node.values)
            text = "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if " " in text and id(node) not in skipped:
            yield node.lineno, " ".join(text.split())


def faults(text: str) -> Iterator[tuple[int, str]]:
    """Where a word stands that we do not use, and what to do about it."""
    for word, better in WORDS.items():
        for match in re.finditer(word.replace(" ", r"\s+"), text):
            yield match.start(), f"{match.group()!r}, say: {better}"


def test_what_people_read_has_the_words_of_the_field() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line + text.count(chr(10), 0, start)}: {fault}"
        for path, line, text in texts()
        for start, fault in faults(text)
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "84 % are predicted rightly",
        "Setosa is taken\nfor Virginica",
        "979 rows have no {}",
        "of Yes: area .83",
        "344 rows answered, in out.csv",
        "which may be names of kinds",
        "of rows that no model had seen",
        "bill_length_mm = 59.6 speaks for Gentoo",
    ],
)
def test_words_that_we_gave_up_are_found(text: str) -> None:
    assert [*faults(text)]


def test_messages_help_pages_scripts_and_the_manual_are_read() -> None:
    read: dict[Path, str] = {}
    for path, _, text in texts():
        read[path] = f"{read.get(path, '')} {text}"
    assert "identifies each row and is left out" in read[SOURCE / "preprocessing/number_roles.py"]
    assert "Explain a prediction" in read[SOURCE / "app/cli/predict_commands.py"]
    assert "Skip to the report" in read[SOURCE / "app/report/templates/base.html"]
    assert "Predict all rows" in read[SOURCE / "app/server/static/batch.js"]
    assert "The most probable class is predicted" in read[ROOT / "docs/command_line.md"]
    assert "model.predict(" not in read[ROOT / "README.md"]
