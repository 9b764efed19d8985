# SPDX-License-Identifier: Apache-2.0
"""Compares fixtures that were made afresh with the committed ones."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from . import golden


def compare(committed: Path, fresh: Path) -> int:
    """Report differences; returns how the process should exit."""
    lines = []
    for path in sorted(fresh.rglob("*.safetensors")):
        name = path.relative_to(fresh)
        lines += [f"{name}: {x}" for x in _tensors(committed / name, path)]
    for path in sorted(fresh.rglob("export.json")):
        name = path.relative_to(fresh)
        lines += [f"{name}: {x}" for x in _manifest(committed / name, path)]
    count = len(list(fresh.rglob("*.safetensors")))
    if count == 0:
        lines.append("nothing was made")
    print("\n".join(lines) or f"{count} goldens as committed")
    return 1 if lines else 0


def _tensors(committed: Path, fresh: Path) -> list[str]:
    if not committed.exists():
        return ["is not committed"]
    old, old_record = golden.load(committed)
    new, new_record = golden.load(fresh)
    lines = [] if old_record == new_record else ["the record differs"]
    if old.keys() != new.keys():
        return [*lines, f"leaves {sorted(old)} against {sorted(new)}"]
    for name, value in old.items():
        try:
            torch.testing.assert_close(new[name], value, equal_nan=True)
        except AssertionError as error:
            lines.append(f"{name}: {' '.join(str(error).split())}")
    return lines


def _manifest(committed: Path, fresh: Path) -> list[str]:
    if not committed.exists():
        return ["is not committed"]
    old = json.loads(committed.read_text())
    new = json.loads(fresh.read_text())
    return [] if old == new else ["the manifest differs"]
