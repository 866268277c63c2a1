"""python -m benchmarks [names]: race posterior against its peers."""

from __future__ import annotations

import argparse
import gc
import math
import time
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks import drawing, page, report
from benchmarks.timing import race
from posterior.plots import look

CASE_SECONDS = 60.0


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    if options.draw:
        look.optional("vl_convert")  # fail now, not after minutes of work
    if options.list:
        from benchmarks.cases import CASES  # late, for it imports all contestants

        print(*(f"{name:<26}{case.__doc__}" for name, case in CASES.items()), sep="\n")
        return
    runs, failed = (read(options.saved), []) if options.saved else measure(options)
    print(f"\n{report.summary(result for run in runs for result in run.results)}")
    if options.page:
        page.write(runs, options.page)
    if options.draw:
        drawing.draw(runs, options.draw)
    if failed:
        raise SystemExit(f"Not measured, for an error above: {', '.join(failed)}.")


def read(path: Path) -> list[report.Run]:
    runs = report.load(path)
    for run in runs:
        show(run.machine)
        print(f"\n{run.case}: {run.about}\n{report.HEADER}")
        print(*map(report.line, run.results), sep="\n")
    return runs


def measure(options: argparse.Namespace) -> tuple[list[report.Run], list[str]]:
    """Run the cases that were named, and say which failed."""
    from benchmarks.cases import CASES

    gc.freeze()  # what was imported is no garbage: collections need not look at it again
    names, ends = choose(options.names, CASES), time.perf_counter() + 60 * options.minutes
    facts = report.machine()
    show(facts)
    if options.quick:
        print("Quick: a tenth of the rows named below, except in small; no verdicts.")
    runs: list[report.Run] = []
    failed: list[str] = []
    for i, name in enumerate(names):
        if time.perf_counter() > ends:
            print(f"\nNo time is left for {', '.join(names[i:])}.")
            break
        run = report.Run(name, CASES[name].__doc__ or name, facts, [])
        print(f"\n{name}: {run.about}\n{report.HEADER}", flush=True)
        begun = time.perf_counter()
        try:
            for operation in CASES[name](10 if options.quick else 1):
                found = race(name, operation, options.repeat, begun + options.seconds)
                if options.quick:  # the targets are for the full sizes
                    found = [replace(r, target=None, memory_limit=None) for r in found]
                print(*map(report.line, found), sep="\n", flush=True)
                run.results.extend(found)
        except Exception:  # of a peer, perhaps: the others can still be measured
            traceback.print_exc()
            failed.append(name)
            continue
        print(f"  in {time.perf_counter() - begun:.0f} s", flush=True)
        runs.append(run)
        if options.json:  # now, so that a run that is cut short loses nothing
            report.save([run], options.json, CASES)
    return runs, failed


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=report.LEGEND)
    parser.add_argument("names", nargs="*", help="cases that begin with these names (default: all)")
    parser.add_argument("--list", action="store_true", help="list the cases and stop")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, no verdicts")
    parser.add_argument("--repeat", type=positive, default=5, metavar="N", help="rounds, best kept")
    parser.add_argument(
        "--seconds",
        type=float,
        default=CASE_SECONDS,
        metavar="S",
        help="of a case, after which every call is made once",
    )
    parser.add_argument(
        "--minutes",
        type=float,
        default=math.inf,
        metavar="M",
        help="in all, after which no case begins",
    )
    parser.add_argument("--json", type=new_file, metavar="FILE", help="save the results")
    parser.add_argument("--draw", type=picture, metavar="FILE", help="draw them, as .svg or .png")
    parser.add_argument("--page", type=new_file, metavar="FILE", help="write a page of Markdown")
    parser.add_argument("--saved", type=Path, metavar="FILE", help="read this JSON, run nothing")
    return parser.parse_args(arguments)


def positive(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"Expected 1 round or more, got {number}.")
    return number


def new_file(text: str) -> Path:
    if not (path := Path(text)).parent.is_dir():
        raise argparse.ArgumentTypeError(f"Expected a folder that exists, got {path.parent}.")
    return path


def picture(text: str) -> Path:
    if (path := new_file(text)).suffix not in {".svg", ".png"}:
        raise argparse.ArgumentTypeError(f"Expected a name ending in .svg or .png, got {text}.")
    return path


def choose(names: Sequence[str], cases: Iterable[str]) -> list[str]:
    chosen = [case for case in cases if case.startswith(tuple(names) or "")]
    for name in names:
        if not any(case.startswith(name) for case in chosen):
            raise SystemExit(f"Expected the name of a case, got {name!r}; --list shows them.")
    return chosen


def show(facts: dict[str, str | int]) -> None:
    print(", ".join(f"{name} {value}" for name, value in facts.items()))
    print(report.LEGEND, end="")


if __name__ == "__main__":
    main()
