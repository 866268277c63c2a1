"""python -m benchmarks [names]: race posterior against its peers."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks import page, report
from benchmarks.timing import race


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    if options.draw:
        report.import_altair()  # fail now, not after minutes of work
    if options.saved:
        runs = report.load(options.saved)
        for run in runs:
            show(run.machine)
            print(f"\n{run.case}: {run.about}\n{report.HEADER}")
            print(*map(report.line, run.results), sep="\n")
    else:
        from benchmarks.cases import CASES  # late, for it imports all contestants

        cases = {name: CASES[name] for name in choose(options.names, CASES)}
        if options.list:
            print(*(f"{name:<26}{case.__doc__}" for name, case in cases.items()), sep="\n")
            return
        runs, facts = [], report.machine()
        show(facts)
        if options.quick:
            print("Quick: a tenth of the rows named below, except in small; no verdicts.")
        for name, case in cases.items():
            print(f"\n{name}: {case.__doc__}\n{report.HEADER}", flush=True)
            runs.append(report.Run(name, case.__doc__ or name, facts, []))
            for operation in case(10 if options.quick else 1):
                found = race(name, operation, options.repeat)
                if options.quick:  # the targets are for the full sizes
                    found = [replace(r, target=None, memory_limit=None) for r in found]
                print(*map(report.line, found), sep="\n", flush=True)
                runs[-1].results.extend(found)
    results = [result for run in runs for result in run.results]
    print(f"\n{report.summary(results)}")
    if options.json:
        report.save(runs, options.json)
    if options.page:
        page.write(runs, options.page)
    if options.draw:
        report.draw(results, runs[0].machine, options.draw)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=report.LEGEND)
    parser.add_argument("names", nargs="*", help="cases that begin with these names (default: all)")
    parser.add_argument("--list", action="store_true", help="list the cases and stop")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, no verdicts")
    parser.add_argument("--repeat", type=positive, default=5, metavar="N", help="rounds, best kept")
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
