# SPDX-License-Identifier: Apache-2.0
"""Tells the native library what it cannot see: where this Python's packages
are. Done once, when the package is imported."""

import atexit
import os
import sys

from modelrun import _core

_core.set_python_packages([
    folder for folder in sys.path
    if os.path.basename(folder) in ("site-packages", "dist-packages")
])
# A load that Ctrl-C left to itself must end before the runtime's own exit.
atexit.register(_core.wait_for_abandoned)


def has_plugin(backend: str) -> bool:
    """Whether a backend's plugin is there, of whatever release."""
    folders = [os.environ.get("MODELRUN_PLUGIN_PATH", ""),
               os.path.join(os.path.dirname(__file__), "lib", "modelrun")]
    start = f"modelrun_{backend}"
    return any(
        name in (f"{start}.so",) or name.startswith(f"{start}-")
        for folder in folders if os.path.isdir(folder)
        for name in os.listdir(folder))
