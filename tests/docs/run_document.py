#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands and programs of one document and compares what they print.

    run_document.py REPOSITORY BUILD_FOLDER PROGRAMS_FOLDER DOCUMENT

A block `text` that follows a block is what that block prints: a line `...`
stands for any lines, `...` within a line for anything, and numbers with a
fraction may differ by 0.05, since quantized models differ among CPUs. All runs
in a scratch folder that looks like the repository. `make` only checks that
there is such a target. Links to files are followed.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import documents

TOLERANCE = 0.05
MAKE = 'make() { command make --dry-run -C "$REPOSITORY" "$@" >/dev/null; }\n'
LINK = re.compile(r"\]\(([^)#:]+)(#[^)]*)?\)")
NUMBER = re.compile(r"-?\d+\.\d+")


def check_links(path: pathlib.Path) -> None:
    for target, _ in LINK.findall(path.read_text(encoding="utf-8")):
        if not (path.parent / target).exists():
            sys.exit(f"{path}: links to {target}, which is not there")


def same_number(expected: str, got: str) -> bool:
    return bool(NUMBER.fullmatch(expected) and NUMBER.fullmatch(got)
                and abs(float(expected) - float(got)) <= TOLERANCE)


def line_matches(expected: str, got: str) -> bool:
    if "..." in expected:
        parts = map(re.escape, expected.split("..."))
        return re.fullmatch(".*".join(parts), got) is not None
    wanted, words = expected.split(), got.split()
    return len(wanted) == len(words) and all(
        a == b or same_number(a, b) for a, b in zip(wanted, words))


def matches(expected: "list[str]", got: "list[str]") -> bool:
    if not expected:
        return not got
    if expected[0].strip() == "...":
        return any(matches(expected[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and line_matches(expected[0], got[0]) and matches(
        expected[1:], got[1:])


class Runner:
    def __init__(self, repository, build, programs, document, scratch):
        self.programs = programs
        self.document = document
        self.scratch = scratch
        for entry in repository.iterdir():
            if entry.name not in ("build", ".git"):
                (scratch / entry.name).symlink_to(entry)
        (scratch / "build").mkdir()
        for name in ("models", "venv"):
            (scratch / "build" / name).symlink_to(repository / "build" / name)
        for name in ("bin", "lib"):
            (scratch / "build" / name).symlink_to(build / name)
        functions = scratch / ".functions"
        functions.write_text(MAKE)
        self.environment = dict(
            os.environ, REPOSITORY=str(repository), BASH_ENV=str(functions),
            PATH=f"{build / 'bin'}:{os.environ['PATH']}")

    def run(self, command, block) -> str:
        done = subprocess.run(
            command, cwd=self.scratch, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=200,
            check=False)
        if done.returncode != 0:
            sys.exit(f"{self.document}:{block.line}: failed with exit code "
                     f"{done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def program(self, block) -> str:
        name = documents.program_name(self.document, block)
        return self.run([str(self.programs / name)], block)

    def check(self, block, got: str) -> None:
        if block.expected is None:
            return
        expected = block.expected.splitlines()
        if not matches(expected, got.splitlines()):
            sys.exit(f"{self.document}:{block.line}: expected\n"
                     f"{block.expected}\ngot\n{got}")


def main() -> None:
    repository, build, programs = (
        pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    document = sys.argv[4]
    check_links(repository / document)
    blocks = documents.blocks(repository / document)
    fragments = [block for block in blocks if documents.is_fragment(block)]
    with tempfile.TemporaryDirectory() as scratch:
        runner = Runner(repository, build, programs, document,
                        pathlib.Path(scratch))
        outputs = (runner.program(fragments[0]).split("\x1e")
                   if fragments else [])
        for block, output in zip(fragments, outputs):
            runner.check(block, output)
        for block in blocks:
            if documents.is_program(block):
                runner.check(block, runner.program(block))
            elif block.language == "sh":
                command = ["bash", "-euo", "pipefail", "-c", block.text]
                runner.check(block, runner.run(command, block))


if __name__ == "__main__":
    main()
