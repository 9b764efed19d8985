#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports models afresh, runs them through modelrun, and compares with eager.

Every export of `plan.py` is made anew by transformers.exporters, run by
modelrun in another process on every backend that reads it, and compared with
what the eager model returned, at other shapes than the traced ones. The same
calls go through transformers' own runner, for comparison. Exits with 1 when a
number, a class, a key or a shape is not eager's.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "models")]

EXAMPLES = """examples:
  make conformance
  make conformance-ci
  tests/conformance/conformance.py --family Llama --format onnx
  tests/conformance/conformance.py --table docs/conformance.md
"""


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--ci", action="store_true",
                        help="only what every commit is checked with")
    parser.add_argument("--family", action="append", metavar="NAME")
    parser.add_argument("--only", action="append", metavar="MODEL")
    parser.add_argument("--format", action="append", metavar="NAME")
    parser.add_argument("--no-reference", action="store_true",
                        help="leave transformers' own runner out")
    parser.add_argument("--keep", action="store_true",
                        help="take exports that are already in the folder")
    parser.add_argument("--folder", type=Path, metavar="DIR",
                        default=Path("build/conformance/exports"),
                        help="where the exports go (%(default)s)")
    parser.add_argument("--table", type=Path, metavar="FILE",
                        help="write the table there, in Markdown")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    start = time.monotonic()
    jobs = exported_jobs(arguments)
    print(f"exported in {time.monotonic() - start:.0f} s", flush=True)
    run_all("modelrun", jobs)
    if not arguments.no_reference:
        run_all("reference", [job for job in jobs if job.own_runtime])
    import report

    if arguments.table:
        arguments.table.write_text(report.markdown(jobs))
    print(report.lines(jobs))
    print(f"{len(jobs)} exports in {time.monotonic() - start:.0f} s")
    return 1 if any(job.failures() for job in jobs) else 0


def exported_jobs(arguments: argparse.Namespace) -> list:
    import exports
    import plan
    from job import Job

    jobs = []
    for row in plan.ROWS:
        fixture = row.fixture
        if arguments.ci and not row.ci:
            continue
        if arguments.family and row.family not in arguments.family:
            continue
        if arguments.only and fixture.name not in arguments.only:
            continue
        formats = [name for name in fixture.formats
                   if not arguments.format or name in arguments.format]
        print(f"{fixture.name}: {', '.join(formats)}", flush=True)
        narrowed = plan.replace(row, fixture=plan.replace(
            fixture, formats=tuple(formats)))
        folder = arguments.folder / fixture.name
        refused = dict.fromkeys(formats, "")
        if not (arguments.keep and (folder / "calls.pt").exists()):
            refused = exports.make(narrowed, arguments.folder)
        bound = plan.FLOAT32
        if fixture.dtype != "float32":
            bound = exports.bound_16(row)
        for name in formats:
            bound_here = max(bound, fixture.format_tolerance.get(name, 0))
            jobs += Job.of(row, name, folder, bound_here, refused[name])
    return jobs


def run_all(runner: str, jobs: list) -> None:
    """Answer every job in one process; a new one after each that crashes."""
    waiting = [job for job in jobs if not job.known_refusal]
    while waiting:
        process = subprocess.Popen(
            [sys.executable, HERE / "call.py", runner], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        for job in list(waiting):
            try:
                process.stdin.write(json.dumps(job.request()) + "\n")
                process.stdin.flush()
                line = process.stdout.readline()
            except BrokenPipeError:
                line = ""
            waiting.remove(job)
            if not line:
                code = process.wait()
                job.answers[runner] = {"error": f"the process died ({code})"}
                break
            job.answers[runner] = json.loads(line)
            print(f"{runner}: {job.shown(runner)}", flush=True)
        process.stdin.close()
        process.wait()


if __name__ == "__main__":
    sys.exit(main())
