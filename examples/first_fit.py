"""A first fit with what the library itself needs, and nothing else: `make dist` tries it.

Run it with `python examples/first_fit.py`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import posterior
from posterior import GaussianNB, LogisticRegression, kernels
from posterior.datasets import fish


def main() -> None:
    X, y = fish(2_000)
    kind = kernels.active
    print(f"posterior {posterior.__version__} from {Path(posterior.__file__).parent}")
    print(f"its kernels are {kind}")
    for model in (GaussianNB(), LogisticRegression()):
        print(
            f"{type(model).__name__} is right about {model.fit(X, y).score(X, y):.1%} of the fish"
        )
    with tempfile.TemporaryDirectory() as folder:
        posterior.save(model, Path(folder) / "fish.posterior")
        again = posterior.load(Path(folder) / "fish.posterior")
    assert (again.predict_proba(X) == model.predict_proba(X)).all()


if __name__ == "__main__":
    main()
