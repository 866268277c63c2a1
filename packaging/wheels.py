"""Build wheels with several Pythons, and try each with every Python that it fits.

    python packaging/wheels.py python3.11 python3.12 python3.13

A wheel of the stable ABI serves the Python that built it and all later ones. It is installed into a
new environment, with neither a compiler nor source of ours in reach, reports on a table, from the
install on in at most MOST_SECONDS of the processor, and is run by `python -m posterior.smoke_test`,
which has to print what this Python's own installation prints, to the bit where that is promised.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
BUILD, DIST = HERE / "build" / "wheels", HERE / "dist"
TOOLS = ["scikit-build-core>=0.11", "nanobind>=2.4", "cmake", "ninja"]
MOST_BYTES = 5_500_000  # of our own part of an installation; the goal is 5,000,000
MOST_SECONDS = 30  # of the processor, to install from a filled cache of pip and to report
TABLE = """from posterior.datasets import messages
import csv, sys
texts, labels = messages(400)
rows = [(len(t), t.count("a"), t.count("e"), l) for t, l in zip(texts, labels)]
csv.writer(open(sys.argv[1], "w", newline="")).writerows([("length", "a", "e", "kind"), *rows])
"""


def run(*command: object, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """What a command prints; an error with its last lines if it fails."""
    words = [*map(str, command)]
    done = subprocess.run(words, text=True, capture_output=True, cwd=cwd, env=env)
    if done.returncode:
        sys.exit("\n".join([*(done.stdout + done.stderr).splitlines()[-30:], f"failed: {command}"]))
    return done.stdout


def version(python: str) -> tuple[int, int]:
    major, minor = run(python, "-c", "import sys; print(*sys.version_info[:2])").split()
    return int(major), int(minor)


def environment(python: str, name: str) -> Path:
    """The Python of a new virtual environment."""
    folder = BUILD / name
    shutil.rmtree(folder, ignore_errors=True)
    run(python, "-m", "venv", folder)
    return folder / "bin" / "python"


def built(python: str, tag: str) -> Path:
    """A wheel by this Python, compiled or refused."""
    made = environment(python, f"build-{tag}")
    pip = [made, "-m", "pip", "--disable-pip-version-check", "-q"]
    run(*pip, "install", *TOOLS)
    folder = BUILD / f"made-{tag}"
    shutil.rmtree(folder, ignore_errors=True)
    settings = os.environ | {
        "POSTERIOR_REQUIRE_COMPILED": "1",
        "PATH": f"{made.parent}{os.pathsep}{os.environ['PATH']}",
    }
    options = ["--no-build-isolation", "--no-deps", "-w", folder]
    run(*pip, "wheel", *options, HERE, env=settings)
    (wheel,) = folder.glob("*.whl")
    return Path(shutil.copy(wheel, DIST))


def seconds() -> float:
    """Of the processor, by all commands so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def tried(python: str, wheel: Path) -> str:
    """What the smoke test prints where nothing but the wheel is in reach."""
    made = environment(python, "try")
    bare = {"PATH": str(made.parent), "CC": "/bin/false", "CXX": "/bin/false"}
    kept = {k: v for k, v in os.environ.items() if k.startswith(("PIP_", "HOME", "SSL_", "TMP"))}
    env = kept | bare
    before = seconds()
    run(made, "-m", "pip", "--disable-pip-version-check", "-q", "install", f"{wheel}[app]", env=env)
    installed = seconds()
    run(made, "-c", TABLE, "x.csv", cwd=made.parent, env=env)
    report = ["report", "x.csv", "--target", "kind", "--out", "report"]
    run(made.parent / "posterior", *report, cwd=made.parent, env=env)
    done = seconds()
    listed = "import posterior, pathlib; print(pathlib.Path(posterior.__file__).parent)"
    folder = Path(run(made, "-c", listed, cwd=BUILD, env=env).strip())
    size = sum(f.stat().st_size for f in folder.rglob("*") if f.suffix != ".pyc" and f.is_file())
    print(
        f"{wheel.name} on {'.'.join(map(str, version(python)))}: {size / 1e6:.2f} MB; "
        f"{installed - before:.0f} s of the processor to install it and all that it needs, "
        f"{done - installed:.0f} s to report",
        flush=True,
    )
    if size > MOST_BYTES:
        sys.exit(f"expected at most {MOST_BYTES:,} bytes, got {size:,}")
    if done - before > MOST_SECONDS:
        sys.exit(f"expected at most {MOST_SECONDS} s of the processor, got {done - before:.0f} s")
    return run(made, "-m", "posterior.smoke_test", cwd=BUILD, env=env)


def exact(printed: str) -> list[str]:
    """The lines of which every bit is promised."""
    return [line for line in printed.splitlines() if " exact " in line]


def main(pythons: list[str]) -> None:
    BUILD.mkdir(parents=True, exist_ok=True)
    DIST.mkdir(exist_ok=True)
    expected = run(sys.executable, "-m", "posterior.smoke_test")
    versions = {python: version(python) for python in pythons}
    served: set[str] = set()
    for python in pythons:
        if python in served:
            continue
        wheel = built(python, f"cp{''.join(map(str, versions[python]))}")
        later = [p for p in pythons if p not in served and versions[p] >= versions[python]]
        for other in later if "-abi3-" in wheel.name else [python]:
            if exact(tried(other, wheel)) != exact(expected):
                sys.exit(f"{wheel.name} answers otherwise than this folder's build")
            served.add(other)


if __name__ == "__main__":
    main(sys.argv[1:] or [sys.executable])
