"""One build runs on narrow and wide vectors; what is promised to the bit does not tell which."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from posterior import kernels

pytestmark = pytest.mark.once

LEVELS = ("baseline", "avx2", "avx512")

# Models whose sums run in other vectors on each machine, and none of whose sums may show it.
EXACT = """
import hashlib
import numpy as np
import posterior
from posterior import kernels

random = np.random.default_rng(0)
y = random.integers(0, 3, 500)
X = random.normal(size=(500, 21)) + y[:, None] * 0.2
gaps = np.where(random.random(X.shape) < 0.1, np.nan, X)
codes = random.integers(0, 9, (500, 11))
texts = [" ".join(f"Word{c}" for c in row) for row in codes]

def tell(name, *arrays):
    for array in arrays:
        digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
        print(name, array.dtype, digest)

print("vectors", kernels.simd)
for T in (np.float64, np.float32):
    for table in (X, gaps):
        model = posterior.GaussianNB().fit(table.astype(T), y)
        tell("GaussianNB", model.theta_, model.var_, model.predict_joint_log_proba(table.astype(T)))
        tell("leave one out", model.leave_one_out(table.astype(T), y).proba)
    tell("kd tree", *posterior.KNeighborsClassifier(algorithm="kd_tree")
         .fit(X[:, :3].astype(T), y).kneighbors(X[:50, :3].astype(T)))
tell("CategoricalNB", posterior.CategoricalNB().fit(codes, y).predict_proba(codes))
tell("MultinomialNB", posterior.MultinomialNB().fit(codes, y).predict_proba(codes))
tell("AODE", posterior.AODE().fit(codes, y).predict_proba(codes))
for labels in (y, y > 0):
    tell("Additive", posterior.Additive().fit(X[:, :4], labels).predict_proba(X[:, :4]))
tell("texts", posterior.TextClassifier().fit(texts, y).predict_proba(texts))
"""


def printed(program: list[str], level: str) -> list[str]:
    env = os.environ | {"POSTERIOR_SIMD": level, "POSTERIOR_KERNELS": "compiled"}
    done = subprocess.run(
        [sys.executable, *program], env=env, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def told() -> dict[str, list[str]]:
    pytest.importorskip("posterior.kernels._compiled")
    return {level: printed(["-c", EXACT], level) for level in LEVELS}


def test_less_than_the_machine_has_is_used_where_it_is_asked_for(
    told: dict[str, list[str]],
) -> None:
    used = [told[level][0].split()[1] for level in LEVELS]
    widest = LEVELS.index(used[-1])
    assert used == [LEVELS[min(i, widest)] for i in range(len(LEVELS))]


@pytest.mark.parametrize("level", LEVELS[:-1])
def test_the_width_of_vectors_does_not_change_a_bit(told: dict[str, list[str]], level: str) -> None:
    assert len(told[level]) > 20
    assert told[level][1:] == told["avx512"][1:]


def test_a_width_that_does_not_exist_is_refused() -> None:
    env = os.environ | {"POSTERIOR_SIMD": "mmx"}
    program = "import posterior.kernels"
    done = subprocess.run([sys.executable, "-c", program], env=env, text=True, capture_output=True)
    assert "Expected POSTERIOR_SIMD to be baseline, avx2 or avx512, got 'mmx'." in done.stderr


def test_kernels_say_which_vectors_they_use() -> None:
    assert kernels.simd in (LEVELS if kernels.active == "compiled" else ("NumPy's",))
