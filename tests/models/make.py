#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the tiny exports under tests/models/fixtures, with their goldens.

Everything is seeded and runs on the CPU. Goldens come from the eager source
models, never from an exported program.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

EXAMPLES = """examples:
  pip install -r tests/models/requirements.txt
  tests/models/make.py                          every fixture, every format
  tests/models/make.py --only bert --format onnx
  tests/models/make.py --verify                 ONNX fixtures on ONNX Runtime
  tests/models/make.py --check --only llama     remake aside and compare
"""


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--only", action="append", metavar="NAME", help="only this fixture"
    )
    parser.add_argument(
        "--format",
        action="append",
        choices=("onnx", "openvino", "dynamo", "executorch"),
        help="only this format",
    )
    parser.add_argument(
        "--output", type=Path, default=HERE / "fixtures", help="where to write"
    )
    parser.add_argument("--list", action="store_true", help="list the names")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument(
        "--check", action="store_true", help="remake and compare, write nothing"
    )
    mode.add_argument(
        "--verify",
        action="store_true",
        help="run the ONNX fixtures against their goldens",
    )
    return parser.parse_args()


def selected(arguments: argparse.Namespace) -> list:
    from exporting.all import FIXTURES

    names = [fixture.name for fixture in FIXTURES]
    names += ["graphs", "optimum_layouts"]
    for name in arguments.only or ():
        if name not in names:
            sys.exit(f"no fixture {name!r}, there are: {', '.join(names)}")
    only = arguments.only or names
    return [fixture for fixture in FIXTURES if fixture.name in only]


def make(fixture, formats: list[str], root: Path) -> list[dict]:
    """Make one fixture; returns the index entries of what was exported."""
    import torch

    from exporting.cases import Cases
    from exporting.writing import export, source_model, write

    directory = root / fixture.name
    cases = Cases(source_model(fixture))
    torch.manual_seed(2)
    fixture.cases(cases)
    shutil.rmtree(directory / "cases", ignore_errors=True)
    listed = cases.write(directory, fixture.baked)
    for case in listed:
        for side in ("inputs", "outputs"):
            case[side] = case[side].relative_to(root).as_posix()

    entries = []
    for name in formats:
        print(f"{fixture.name}/{name}", flush=True)
        try:
            exported = export(fixture, name)
            shutil.rmtree(directory / name, ignore_errors=True)
            write(exported, directory / name)
        except Exception:
            traceback.print_exc()
            print(f"FAILED {fixture.name}/{name}", flush=True)
            continue
        entries.append(entry(fixture, name, listed))
    return entries


def entry(fixture, export_format: str, cases: list[dict]) -> dict:
    return {
        "name": fixture.name,
        "format": export_format,
        "path": f"{fixture.name}/{export_format}",
        "dtype": fixture.dtype,
        "dynamic": fixture.dynamic,
        "tolerance": fixture.bound(export_format),
        "runs": export_format not in fixture.not_run,
        "notes": fixture.not_run.get(export_format, fixture.notes),
        "cases": cases,
    }


def update_index(root: Path, entries: list[dict]) -> None:
    path = root / "index.json"
    old = json.loads(path.read_text()) if path.exists() else []
    merged = {(e["name"], e["format"]): e for e in [*old, *entries]}
    # Formats share their cases, also those that were not remade.
    cases = {e["name"]: e["cases"] for e in entries}
    for e in merged.values():
        e["cases"] = cases.get(e["name"], e["cases"])
    kept = [
        e for _, e in sorted(merged.items()) if (root / e["path"]).is_dir()
    ]
    path.write_text(json.dumps(kept, indent=1) + "\n")


def make_all(arguments: argparse.Namespace, root: Path) -> None:
    for fixture in selected(arguments):
        formats = [
            name
            for name in fixture.formats
            if arguments.format is None or name in arguments.format
        ]
        update_index(root, make(fixture, formats, root))
    make_bare(arguments, root)


def make_bare(arguments: argparse.Namespace, root: Path) -> None:
    """Make the hand-made ONNX files."""
    from exporting import graphs, optimum

    if arguments.format is not None and "onnx" not in arguments.format:
        return
    for name, module in (("graphs", graphs), ("optimum_layouts", optimum)):
        if arguments.only is None or name in arguments.only:
            shutil.rmtree(root / name, ignore_errors=True)
            print(name, flush=True)
            module.make(root / name)


def main() -> int:
    arguments = parse_arguments()
    if arguments.list:
        print(*[fixture.name for fixture in selected(arguments)], sep="\n")
        return 0
    if arguments.verify:
        from exporting.verify import verify

        return verify(arguments.output, arguments.only)
    if arguments.check:
        from exporting.check import compare

        with tempfile.TemporaryDirectory() as directory:
            make_all(arguments, Path(directory))
            return compare(arguments.output, Path(directory))
    arguments.output.mkdir(parents=True, exist_ok=True)
    make_all(arguments, arguments.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
