"""Keeps a model of every kind as this version writes it, and its answers, in one archive.

    python tests/model_files/keep.py tests/model_files/0.2.0.tar.xz

At a release. Of an older commit: with its `src` and `tests` on PYTHONPATH. The tables are those of
tests/test_model_file.py, drawn from a seed; answers are those to their first rows.
"""

from __future__ import annotations

import io
import json
import re
import sys
import tarfile
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy._core._multiarray_umath import __cpu_features__ as cpu_features
from scipy import sparse
from sklearn.base import clone
from threadpoolctl import threadpool_info

import posterior

HERE = Path(__file__).resolve().parent
ASKED = ("predict", "predict_proba", "decision_function", "transform", "score_samples")
ROWS = 12  # answered: eight at once, and some that remain
FIRST, OTHERS = slice(0, 30), slice(30, None)  # rows of a stream


def machine() -> dict[str, Any]:
    """What decides how BLAS, exp and log round, and no line of ours."""
    blas = sorted({str(p["architecture"]) for p in threadpool_info() if p["user_api"] == "blas"})
    features = sorted(name for name, there in cpu_features.items() if there)
    return {"numpy": np.__version__, "blas": blas, "cpu": features}


def stem(name: str) -> str:
    return re.sub(r"\W+", "_", name.lower())


def some(table: Any, rows: slice) -> Any:
    return table.iloc[rows] if hasattr(table, "iloc") else table[rows]


def answers(model: Any, table: Any) -> dict[str, Any]:
    """What a model says of the first rows: an array a method, or one for each of its targets."""
    found = {}
    for method in ASKED:
        if hasattr(model, method):
            answer = getattr(model, method)(some(table, slice(ROWS)))
            for place, part in enumerate(answer if isinstance(answer, list) else [answer]):
                part = part.toarray() if sparse.issparse(part) else np.asarray(part)
                text = part.dtype.kind in "OUM"
                found[f"{method}/{place}"] = part.astype(str) if text else part
    return found


def models() -> dict[str, tuple[Any, Any, Any]]:
    """Those of the test of today, and settings that make other things to keep."""
    import test_model_file as tables

    X, Y, FRAME = tables.X, tables.Y, tables.FRAME
    told = np.where(np.arange(len(Y)) < 30, tables.NAMES, None)
    texts = FRAME.assign(note=tables.DOCUMENTS)
    return tables.MODELS | {
        "GaussianNB, temperature": (posterior.GaussianNB(calibrated="temperature"), X, Y),
        "GaussianNB, isotonic": (posterior.GaussianNB(calibrated="isotonic"), X, Y),
        "NaiveBayes, auto": (posterior.NaiveBayes("auto"), X, Y),
        "NaiveBayes, heavy tails": (posterior.NaiveBayes("student"), X, Y),
        "NaiveBayes, bins": (posterior.NaiveBayes("binned"), X, Y),
        "NaiveBayes, texts": (posterior.NaiveBayes({"note": "words"}), texts, Y),
        "LinearDiscriminantAnalysis, eigen": (
            posterior.LinearDiscriminantAnalysis(solver="eigen"),
            X,
            Y,
        ),
        "MixtureClassifier, hidden": (posterior.MixtureClassifier(random_state=0), FRAME, told),
    }


def kept() -> dict[str, tuple[Any, Any]]:
    """Models and the tables that they are asked about: fitted, and where they can be, streamed."""
    found = {}
    for name, (unfitted, X, y) in models().items():
        found[name] = clone(unfitted).fit(X, y), X
        if "auto" in name or not hasattr(unfitted, "partial_fit"):
            continue
        first, others = ((some(X, r), None if y is None else y[r]) for r in (FIRST, OTHERS))
        try:
            found[f"{name}, stream"] = clone(unfitted).fit(*first).partial_fit(*others), X
        except ValueError:  # settings that need all rows at once
            continue
    return found


def write(archive: Path) -> None:
    with tempfile.TemporaryDirectory() as folder, tarfile.open(archive, "w:xz", preset=9) as file:
        stored = {}

        def add(name: str, content: bytes) -> None:
            entry = tarfile.TarInfo(name)  # no owner, no time: the same files, the same archive
            entry.size = len(content)
            file.addfile(entry, io.BytesIO(content))

        for name, (model, table) in kept().items():
            path = Path(folder) / "model"
            posterior.save(model, path)
            add(f"{stem(name)}.posterior", path.read_bytes())
            for asked, answer in answers(model, table).items():
                stored[f"{stem(name)}/{asked}"] = answer
        content = io.BytesIO()
        np.savez(content, allow_pickle=False, **stored)  # the archive compresses it
        add("answers.npz", content.getvalue())
        add("machine.json", json.dumps(machine()).encode())


if __name__ == "__main__":
    sys.path.append(str(HERE.parent))  # of test_model_file, unless another commit's came first
    warnings.simplefilter("ignore")
    write(Path(sys.argv[1]))
