"""What users install: the same sdist from the same files, kernels without state, and a README whose
commands work where nothing but the wheel is."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from hashlib import sha256
from pathlib import Path

import pytest

import posterior

pytestmark = pytest.mark.once

FOLDER = Path(__file__).resolve().parent.parent
README = (FOLDER / "README.md").read_text(encoding="utf-8")
SDIST = "from scikit_build_core.build import build_sdist; print(build_sdist({!r}))"
WHEEL = "from scikit_build_core.build import build_wheel; print(build_wheel({!r}, {!r}))"


def run(*command: object, cwd: Path, **variables: str) -> str:
    done = subprocess.run(
        [*map(str, command)],
        cwd=cwd,
        env=os.environ | variables,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout


def sdist(folder: Path, to: Path) -> Path:
    pytest.importorskip("scikit_build_core")
    to.mkdir()
    printed = run(sys.executable, "-c", SDIST.format(str(to)), cwd=folder)
    return to / printed.split()[-1]


@pytest.mark.slow
def test_the_same_files_make_the_same_sdist_to_the_byte(tmp_path: Path) -> None:
    first = sdist(FOLDER, tmp_path / "first")
    digests = {sha256(first.read_bytes()).hexdigest()}
    for name, time in (("one", 1e9), ("other", 1.5e9)):
        with tarfile.open(first) as archive:
            archive.extractall(tmp_path / name, filter="data")
        (folder,) = (tmp_path / name).iterdir()
        for file in folder.rglob("*"):
            os.utime(file, (time, time))
        again = sdist(folder, tmp_path / f"{name}-made")
        digests.add(sha256(again.read_bytes()).hexdigest())
    assert len(digests) == 1


def test_kernels_hold_no_state_that_a_call_could_change() -> None:
    state = re.compile(r"^\s*(static|thread_local)\b(?!.*(\bconst\b|constexpr|static_|\())")
    found = [
        f"{file.name}: {line.strip()}"
        for file in sorted((FOLDER / "cpp").iterdir())
        for line in file.read_text(encoding="utf-8").splitlines()
        if state.search(line)
    ]
    assert not found


def blocks() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)


def commands() -> list[str]:
    return [line.strip() for line in README.splitlines() if re.match(r"\s*(\$ )?posterior ", line)]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel, and with the packages of others that this one has."""
    pytest.importorskip("scikit_build_core")
    made = tmp_path_factory.mktemp("installed")
    settings = {"build-dir": str(FOLDER / "build" / "editable")}  # compiled there already
    run(sys.executable, "-c", WHEEL.format(str(made), settings), cwd=FOLDER)
    (wheel,) = made.glob("*.whl")
    run(sys.executable, "-m", "venv", "--without-pip", made / "env", cwd=made)
    python = made / "env" / "bin" / "python"
    site = Path(
        run(python, "-c", "import site; print(site.getsitepackages()[0])", cwd=made).strip()
    )
    shutil.unpack_archive(wheel, site, "zip")
    # Named last, and not by .pth: those of this environment would bring this folder's source.
    shared = [p for p in sys.path if p.endswith("site-packages")]
    (site / "shared.pth").write_text("\n".join([*shared, ""]))
    script = made / "env" / "bin" / "posterior"
    script.write_text(
        f"#!{python}\nimport sys\nfrom posterior.app.cli import main\nsys.exit(main())\n"
    )
    script.chmod(0o755)
    return script.parent


def there(installed: Path) -> dict[str, str]:
    return {"PATH": f"{installed}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": ""}


@pytest.mark.slow
def test_the_wheel_is_what_is_imported(installed: Path, tmp_path: Path) -> None:
    program = "import posterior; print(posterior.__file__)"
    found = Path(run(installed / "python", "-c", program, cwd=tmp_path, **there(installed)).strip())
    assert found.is_relative_to(installed.parent)
    assert found != Path(posterior.__file__)
    assert f"site-packages{os.sep}posterior" in str(found)
    assert sysconfig.get_path("purelib") not in str(found)


@pytest.mark.slow
@pytest.mark.parametrize("block", blocks())
def test_python_of_the_readme_runs_from_the_wheel(
    installed: Path, tmp_path: Path, block: str
) -> None:
    pytest.importorskip("palmerpenguins")
    run(installed / "python", "-W", "ignore", "-c", block, cwd=tmp_path, **there(installed))


@pytest.mark.slow
def test_commands_of_the_readme_run_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    load_penguins = pytest.importorskip("palmerpenguins").load_penguins
    lines = commands()
    assert lines
    for name in set(re.findall(r"[\w./-]+\.csv", " ".join(lines))):
        load_penguins().to_csv(tmp_path / name, index=False)
    load_penguins().to_csv(tmp_path / "rows.csv", index=False)
    fitted = tmp_path / "fitted.posterior"  # one that can learn more rows
    options = ["--target", "species", "--model", "naive-bayes", "-o", fitted]
    run(installed / "posterior", "fit", "rows.csv", *options, cwd=tmp_path, **there(installed))
    for name in set(re.findall(r"[\w./-]+\.posterior", " ".join(lines))):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(fitted, tmp_path / name)
    for line in lines:
        words = shlex.split(line.removeprefix("$ "), comments=True)
        if words[1] == "serve":
            serve([installed / "posterior", *words[1:]], tmp_path, there(installed))
        else:
            words = ["species" if word == "the_column" else word for word in words]
            run(installed / "posterior", *words[1:], cwd=tmp_path, **there(installed))


def serve(command: list[object], cwd: Path, variables: dict[str, str]) -> None:
    """Start a server, and end it when it has said where it listens."""
    with subprocess.Popen(
        [*map(str, command), "--port", "0"],
        cwd=cwd,
        env=os.environ | variables,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        try:
            assert process.stdout
            assert any("http://127.0.0.1" in line for line in process.stdout)
        finally:
            process.terminate()
