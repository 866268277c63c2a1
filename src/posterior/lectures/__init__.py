"""Exercises of the lectures: questions, hints, checks, solutions, and templates to fill in."""

from posterior.lectures.desk import check, exercise, exercises, hint, solution, template

__all__ = ["check", "exercise", "exercises", "hint", "solution", "template"]
