"""scikit-learn's gradient boosting of rows held out; as a program, of rows that come by stdin."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from posterior.data.typing import Array, Floats

Answers: TypeAlias = tuple[Floats, float]  # p(k | x) (n, k), and the seconds that they took
Begin: TypeAlias = Callable[..., Callable[[], Answers]]


def boosted(
    X: Floats, categories: Array, codes: Array, n_classes: int, folds: Array, held_out: Array
) -> Answers:
    """The rows of folds that are held out, each by a model of all other folds."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    started, proba = time.perf_counter(), np.zeros((len(X), n_classes))
    with threadpool_limits(limits=1, user_api="openmp"):
        for fold in held_out:
            test, learned = np.flatnonzero(folds == fold), folds != fold
            model = HistGradientBoostingClassifier(categorical_features=categories, random_state=0)
            model.fit(X[learned], codes[learned])
            proba[np.ix_(test, model.classes_)] = model.predict_proba(X[test])
    return proba, time.perf_counter() - started


def boosting_beside() -> Begin:
    """The same by another process, which gets ready now."""
    command = [sys.executable, "-P", "-W", "ignore", "-m", __name__]
    pipe = subprocess.PIPE
    child: Any = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)

    def begin(**rows: Any) -> Callable[[], Answers]:
        with suppress(BrokenPipeError), child.stdin as asked:
            np.savez(asked, **rows)

        def waited() -> Answers:
            said = child.stdout.read()
            if child.wait():
                return boosted(**rows)
            with np.load(io.BytesIO(said)) as found:
                return found["proba"], float(found["seconds"])

        return waited

    return begin


if __name__ == "__main__":
    import_module("sklearn.ensemble")  # before there are rows
    with np.load(io.BytesIO(sys.stdin.buffer.read())) as asked:
        proba, seconds = boosted(**asked)
    np.savez(sys.stdout.buffer, proba=proba, seconds=seconds)
