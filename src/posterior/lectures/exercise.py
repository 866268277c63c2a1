"""An exercise: a question, what to hand in, a hint, and the lines that compute the answer."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, TypeAlias

from posterior.lectures.skeleton import with_blanks, without_marks

Answers: TypeAlias = Mapping[str, Any]
Trials: TypeAlias = Mapping[str, Sequence[tuple[Any, ...]]]
NOTES = {
    "000": "crash course",
    "001": "week 3",
    "002": "fish",
    "003": "naive Bayes and logistic regression",
    "004": "classification",
}


@dataclass(frozen=True, slots=True, eq=False)
class Exercise:
    """A question of one of the five notes, with its hint and its solution.

    Parameters
    ----------
    name : str
    note : str
        "000" to "004".
    question : str
    hint : str
    solution : str
        Lines of Python that compute the answers, or functions in full.
    answers : function that returns the parts of the answer by name
    template : str, optional
        Source with blanks, if functions are to be written.
    trials : function that returns arguments for each function, to compare it with ours
    """

    name: str
    note: str
    question: str
    hint: str
    solution: str
    answers: Callable[[], Answers]
    template: str | None = None
    trials: Callable[[], Trials] = field(default=dict)

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of what is handed in."""
        return tuple(self.answers())

    def __str__(self) -> str:
        said = f"Hand in: check({self.name!r}, " + ", ".join(f"{p}=..." for p in self.parts) + ")"
        head = f"{self.name} (note {self.note}, {NOTES[self.note]})"
        return "\n".join([head, "", self.question, "", *textwrap.wrap(said, 88)])

    __repr__ = __str__


def by_hand(note: str, hint: str) -> Callable[[Callable[[], Answers]], Exercise]:
    """An exercise of a function: its docstring asks, its lines are the solution."""

    def made(solve: Callable[[], Answers]) -> Exercise:
        question = inspect.cleandoc(solve.__doc__ or "")
        return Exercise(solve.__name__, note, question, hint, _lines(solve), solve)

    return made


def from_scratch(
    name: str, note: str, question: str, hint: str, module: ModuleType, trials: Callable[[], Trials]
) -> Exercise:
    """An exercise of a module: its functions are the answers, its marked lines the blanks."""
    source = inspect.getsource(module)
    functions = {n: f for n, f in vars(module).items() if inspect.isfunction(f)}
    return Exercise(
        name,
        note,
        question,
        hint,
        without_marks(source),
        lambda: functions,
        with_blanks(source),
        trials,
    )


def _lines(solve: Callable[[], Answers]) -> str:
    """The source after the docstring, with names from where users have them."""
    source = textwrap.dedent(inspect.getsource(solve))
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    first = function.body[1]
    text = textwrap.dedent("\n".join(source.splitlines()[first.lineno - 1 :]))
    public = re.sub(r"posterior\.(estimators|families|generative\.hypotheses) ", "posterior ", text)
    return re.sub(r"^return ", "", public, flags=re.MULTILINE)
