"""Files that earlier versions wrote are read, and the models in them answer as they did.

An archive of tests/model_files has the files of a version, and what its own code answered.
`python tests/model_files/keep.py` wrote them.
"""

from __future__ import annotations

import json
import re
import runpy
import tarfile
import tomllib
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import test_model_file
from numpy.testing import assert_allclose, assert_array_equal

import posterior

pytestmark = pytest.mark.once

HERE = Path(__file__).parent / "model_files"
KEEP = runpy.run_path(str(HERE / "keep.py"))
ARCHIVES = sorted(HERE.glob("*.tar.xz"))
TABLES = {KEEP["stem"](name): table for name, (_, table, _) in KEEP["models"]().items()}
TABLES["gaussiannb_calibrated"] = test_model_file.X
TABLES["tableclassifier_numbers"] = test_model_file.FRAME
LATER = {"Additive", "Classifier", "KMedoids", "Pool"}  # kinds that came after 0.1.0

# Answers of 0.1.0 whose last bits are others today, and why. All others are the same to the bit.
ROUNDED = {
    r"gaussiannb(_.*)?": "log n_k - log n, as all others; it was log (n_k / n)",
    r"lineardiscriminantanalysis(_stream)?": "columns are standardized before rank is judged",
    r"naivebayes_heavy_tails.*": "eight values at once in the sums of Student's t",
}


@cache
def content(archive: Path) -> dict[str, bytes]:
    with tarfile.open(archive) as file:
        return {name: file.extractfile(name).read() for name in file.getnames()}


@cache
def stored(archive: Path) -> dict[str, dict[str, Any]]:
    """Answers of each model, by method and place."""
    found: dict[str, dict[str, Any]] = {}
    with np.load(BytesIO(content(archive)["answers.npz"])) as arrays:
        for name in arrays.files:
            model, _, asked = name.partition("/")
            found.setdefault(model, {})[asked] = arrays[name]
    return found


def same_machine(archive: Path) -> bool:
    """Whether BLAS, exp and log round as they did where the answers were taken."""
    written = content(archive).get("machine.json")
    return written is not None and json.loads(written) == KEEP["machine"]()


def rounded(archive: Path, model: str) -> bool:
    first = archive.name.startswith("0.1.0-")
    return first and any(re.fullmatch(pattern, model) for pattern in ROUNDED)


FILES = [
    pytest.param(archive, name, id=f"{archive.name.removesuffix('.tar.xz')} {name}")
    for archive in ARCHIVES
    for name in content(archive)
    if name.endswith(".posterior")
]


def loaded(archive: Path, name: str, folder: Path) -> Any:
    (folder / name).write_bytes(content(archive)[name])
    return posterior.load(folder / name)


@pytest.mark.parametrize(("archive", "name"), FILES)
def test_a_model_of_an_earlier_version_answers_as_it_did(archive, name, tmp_path):
    model, stem = loaded(archive, name, tmp_path), name.removesuffix(".posterior")
    table = TABLES[stem if stem in TABLES else stem.removesuffix("_stream")]
    now, then = KEEP["answers"](model, table), stored(archive)[stem]
    assert then.keys() <= now.keys()
    for asked, answer in then.items():
        if answer.dtype.kind != "f":
            assert_array_equal(now[asked].astype(str), answer.astype(str), asked)
        elif same_machine(archive) and not rounded(archive, stem):
            assert now[asked].dtype == answer.dtype
            assert now[asked].tobytes() == answer.tobytes(), asked
        else:
            assert_allclose(now[asked], answer, rtol=1e-12, atol=1e-14, err_msg=asked)
    posterior.save(model, tmp_path / "again.posterior")
    again = KEEP["answers"](posterior.load(tmp_path / "again.posterior"), table)
    assert all(again[asked].tobytes() == answer.tobytes() for asked, answer in now.items())


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda archive: archive.name)
def test_all_kinds_of_models_are_kept_from_each_version(archive, tmp_path):
    names = [name for name in content(archive) if name.endswith(".posterior")]
    kinds = {type(loaded(archive, name, tmp_path)).__name__ for name in names}
    fitted = {type(model).__name__ for model, _, _ in test_model_file.MODELS.values()}
    assert kinds == fitted - (LATER if archive.name.startswith("0.1.0-") else set())


def test_the_files_of_this_release_are_kept():
    project = tomllib.loads((HERE.parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    assert (HERE / f"{project['version']}.tar.xz").is_file()
