"""What commands cost beside what they cost before: processor and wall time of whole processes.

    python -m benchmarks.quick                   # the commands of this tree
    python -m benchmarks.quick --before FOLDER   # and those of the sources (src) of another tree

Adult needs POSTERIOR_DATA, and two trees a Python in which neither is an editable install: the
benchmark ends if what it was asked to measure is not what Python imports.

The tables are drawn by a seed: one of 406 rows like that of vega's cars, one of 1,470 rows and 34
columns like that of attrition; adult is a file of POSTERIOR_DATA. Every command runs in a process
of its own, one tree after the other, the best of three, two for reports, one of adult. Modules are
compiled before, and the script that draws charts is kept from a report before. Figures stand in
docs/results/quick.json, which keeps those of before with their commit; docs/results/quick.md shows
them, and how many processes ran: more than there are cores make both times longer.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.quality.tables import HERE

FIGURES, PAGE = (HERE / "docs" / "results" / f"quick.{ending}" for ending in ("json", "md"))
RUN = "from posterior.app.cli import main; main()"
TIMES = {"report": 2, "adult": 1}  # how often; others three times
COMMANDS = {  # with the seconds of two idle cores that are wanted
    "--help": ("--help", 0.2),
    "inspect": ("inspect model.posterior", 0.5),
    "predict, 406 rows by naive Bayes": ("predict small.posterior cars.csv -o answers.csv", 0.5),
    "explain by naive Bayes": ("explain small.posterior cars.csv --row 3", 0.5),
    "predict, 406 rows by a pool": (
        "predict model.posterior cars.csv -o answers.csv",
        0.5,
    ),
    "explain by a pool": ("explain model.posterior cars.csv --row 3", 0.5),
    "a bad path": ("predict model.posterior nowhere.csv", 0.3),
    "report, 406 × 9": ("report cars.csv -t Origin -o cars", 3.0),
    "report, 1,470 × 34": ("report attrition.csv -t Attrition -o attrition", 9.0),
    "report, adult": ("report {adult} -t income -o adult", 50.0),
    "report --quick, adult": ("report {adult} -t income -o adult-quick --quick", 15.0),
}


def cars() -> pd.DataFrame:
    random, n = np.random.default_rng(0), 406
    origin = random.choice(["USA", "Japan", "Europe"], n, p=[0.63, 0.19, 0.18])
    size = (origin == "USA") + random.normal(size=n)
    makers = [f"{m} {k}" for m in ("ford", "toyota", "vw", "fiat") for k in ("gt", "lx", "wagon")]
    table = pd.DataFrame(
        {
            "Name": random.choice(makers, n),
            "Miles_per_Gallon": (23 - 6 * size + 2 * random.normal(size=n)).round(1),
            "Cylinders": np.clip(np.round(5.5 + 1.5 * size), 3, 8).astype(int),
            "Displacement": np.exp(5 + 0.45 * size + 0.1 * random.normal(size=n)).round(),
            "Horsepower": (100 + 30 * size + 10 * random.normal(size=n)).round(),
            "Weight_in_lbs": (2900 + 700 * size + 150 * random.normal(size=n)).round(),
            "Acceleration": (15.5 - 1.5 * size + 2 * random.normal(size=n)).round(1),
            "Year": [f"19{year}-01-01" for year in random.integers(70, 83, n)],
            "Origin": origin,
        }
    )
    for name in ("Miles_per_Gallon", "Horsepower"):
        table.loc[random.choice(n, 7, replace=False), name] = np.nan
    return table


def attrition() -> pd.DataFrame:
    random, n = np.random.default_rng(1), 1_470
    hidden, cells = random.normal(size=n), {}
    for j in range(14):
        cells[f"amount{j}"] = np.exp(6 + 0.5 * (0.5 * hidden + random.normal(size=n))).round()
    for j in range(10):
        cells[f"rating{j}"] = random.integers(1, 5, n)
    words = ["Sales", "Research", "Support", "Travel", "Rarely", "Often", "Single", "Married"]
    for j in range(9):
        cells[f"kind{j}"] = random.choice(words[: 3 + j % 6], n)
    odds = -3.4 + 0.8 * hidden + (cells["kind0"] == "Sales") + 0.5 * (cells["rating0"] - 2.5)
    leaves = random.random(n) < 1 / (1 + np.exp(-odds))
    return pd.DataFrame({**cells, "Attrition": np.where(leaves, "Yes", "No")})


@cache
def imported(source: Path) -> Path:
    """Where Python finds the package, asked to take it from some sources."""
    asked = [sys.executable, "-c", "import posterior; print(posterior.__file__)"]
    settings = os.environ | {"PYTHONPATH": str(source)}
    found = subprocess.run(asked, env=settings, capture_output=True, text=True, check=True)
    return Path(found.stdout.strip()).resolve()


def measured(line: str, source: Path, folder: str) -> tuple[float, float]:
    """Processor time and wall time of a process."""
    place = {"PYTHONPATH": str(source), "PYTHONPYCACHEPREFIX": f"{folder}/compiled"}
    settings = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | place
    if not imported(source).is_relative_to(source.resolve()):
        sys.exit(
            f"Expected the sources {source}, but Python imports {imported(source)}: an editable "
            "install comes first. Run this by a Python without one, with compiled kernels in "
            "both trees."
        )
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUN, *line.split()],
        cwd=folder,
        env=settings,
        capture_output=True,
        check=False,  # a bad path is one
    )
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = (getattr(after, kind) - getattr(before, kind) for kind in ("ru_utime", "ru_stime"))
    return sum(used), wall


def run(sources: dict[str, Path]) -> dict[str, dict[str, list[float]]]:
    """The figures of every tree, the best of some runs, one tree after the other."""
    adult = Path(os.environ.get("POSTERIOR_DATA", "data")) / "adult-train.csv.gz"
    found: dict[str, dict[str, list[float]]] = {name: {} for name in sources}
    with tempfile.TemporaryDirectory() as folder:
        cars().to_csv(f"{folder}/cars.csv", index=False)
        attrition().to_csv(f"{folder}/attrition.csv", index=False)
        fit = "fit cars.csv -t Origin -o model.posterior"
        for source in sources.values():  # which compiles, and keeps what is kept
            measured(fit, source, folder)
            measured("fit cars.csv -t Origin -m naive-bayes -o small.posterior", source, folder)
            measured("report cars.csv -t Origin -o cars", source, folder)
        for name, (line, _) in COMMANDS.items():
            if "adult" in name and not adult.exists():
                continue
            times = min((n for kind, n in TIMES.items() if kind in name), default=3)
            for tree, source in sources.items():
                if "--quick" in line and tree == "before":
                    continue
                runs = [measured(line.format(adult=adult), source, folder) for _ in range(times)]
                found[tree][name] = [round(min(column), 2) for column in zip(*runs, strict=True)]
                print(tree, name, found[tree][name], flush=True)
    return found


def commit(source: Path) -> str:
    """The commit of a tree."""
    command = ["git", "-C", str(source), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def page(kept: dict[str, Any]) -> str:
    """A line for each command."""
    before, now = kept["before"], kept["now"]
    head = f"before ({before['commit']}), processor | wall | now, processor | wall"
    lines = [f"| command | {head} | wanted |", "|---|--:|--:|--:|--:|--:|"]
    for name, (_, wanted) in COMMANDS.items():
        cells = [*before["figures"].get(name, ["", ""]), *now["figures"].get(name, ["", ""])]
        shown = " | ".join(f"{cell:.2f}" if cell != "" else "" for cell in cells)
        lines.append(f"| {name} | {shown} | {wanted} |")
    load = f"{now['load']:.0f} processes wanted the {now['cores']} cores while this was measured"
    return "\n".join([*lines, "", f"Seconds; {load}.", ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, help="sources of another tree")
    asked = parser.parse_args()
    sources = {"before": asked.before.resolve()} if asked.before else {}
    found = run({**sources, "now": HERE / "src"})
    kept = json.loads(FIGURES.read_text("utf-8")) if FIGURES.exists() else {}
    for tree, source in {**sources, "now": HERE / "src"}.items():
        load = {"load": round(os.getloadavg()[2], 1), "cores": os.cpu_count()}
        kept[tree] = {"commit": commit(source), **load, "figures": found[tree]}
    FIGURES.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")
    PAGE.write_text(page(kept), "utf-8")
    print(PAGE.read_text("utf-8"))


if __name__ == "__main__":
    main()
