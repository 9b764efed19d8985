#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes THIRD_PARTY.crates.md: every crate in the library, with its licence.

Run it after a change of Cargo.lock; `--check` fails when the file is stale.
"""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
OUTPUT = HERE / "THIRD_PARTY.crates.md"
HEADER = """\
<!-- SPDX-License-Identifier: Apache-2.0 -->
# Crates in the Rust library

Made by `rust/licences.py` from `cargo metadata`: the crates that are compiled
into `libmodelrun_rust.a` or run while it is built, on Linux x86-64 and arm64.

| crate | version | licence | source |
| --- | --- | --- | --- |
"""
TARGETS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu")


def packages(target):
    command = ["cargo", "metadata", "--locked", "--format-version=1",
               f"--filter-platform={target}"]
    text = subprocess.run(command, cwd=HERE, check=True,
                          capture_output=True).stdout
    metadata = json.loads(text)
    used = {node["id"] for node in metadata["resolve"]["nodes"]}
    for package in metadata["packages"]:
        if package["id"] in used and package["source"] is not None:
            licence = package["license"]
            if not licence:
                raise SystemExit(f"{package['name']} states no licence; read "
                                 f"{package['license_file']} and decide")
            yield (package["name"], package["version"],
                   " OR ".join(licence.replace(" ", "").split("/"))
                   if "/" in licence else licence, package["repository"] or "")


def main():
    rows = sorted({row for target in TARGETS for row in packages(target)})
    text = HEADER + "".join(f"| {' | '.join(row)} |\n" for row in rows)
    if "--check" in sys.argv[1:]:
        if not OUTPUT.exists() or OUTPUT.read_text() != text:
            raise SystemExit(f"{OUTPUT} is stale: run {__file__}")
    else:
        OUTPUT.write_text(text)


if __name__ == "__main__":
    main()
