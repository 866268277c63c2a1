"""A fitted model as JavaScript: one module that answers and explains like Python."""

from __future__ import annotations

from typing import Any, Literal

__all__ = ["to_javascript"]


def to_javascript(model: Any, *, form: Literal["module", "object"] = "module") -> str:
    """One ES module of plain arithmetic, without dependencies, that answers as the model does.

    It exports `classes`; `columns`, each with its name and kind, and what a form may ask for:
    levels of a category, low and high of a number; and functions of a row, an object of cells by
    column:

    - `scores(row)`: log p(k | x) of each class, in the order of `classes`
    - `predict(row)`: `{ prediction, probabilities }`
    - `explain(row)`: `{ prior, terms }`, where a term is `{ name, evidence }`: what a column says
      for each class, as `model.evidence` has it up to what all classes share. Prior and evidence
      add up to the log odds between classes, before these are calibrated.
    - `additive`: null, or where scores are sums over columns, `parts(row)`: what each column says
      by itself, and what several say `together`; and `posterior(scores)` of their sum, as for a
      nomogram

    A cell that is null, undefined, NaN or "" is missing. Numbers may be texts of digits, and dates
    are ISO texts or written as the model has seen them; categories never seen are answered as in
    Python, and a cell that Python refuses is a RangeError. The columns of an array are "0", "1",
    ...: a row may be an array, too.

    Parameters
    ----------
    model : a fitted model
        Naive Bayes, also of columns that depend on each other (`TAN`, `KDB`, `AODE`,
        `JointBayes`), discriminant analysis, logistic regression, an additive model, a mixture, a
        `TextClassifier` of words or letters, or neighbors by Euclidean or mixed distance, whose
        rows the module then holds; or a `Pool` or `Classifier` that keeps none but these.
    form : {"module", "object"}, default="module"
        The text of a module, or of an expression whose value is an object of what the module would
        export, to stand in a script of a page: `const model = ...;`.

    Examples
    --------
    >>> import posterior
    >>> model = posterior.GaussianNB().fit([[1.0], [2.0], [5.0], [6.0]], ["no", "no", "yes", "yes"])
    >>> print(posterior.to_javascript(model))
    // ...
    """
    from posterior.javascript.writing import written

    return written(model, form)
