# SPDX-License-Identifier: Apache-2.0
"""The `modelrun` command: the native one, in this Python's environment."""

import os
import sys


def main() -> None:
    # The one command that is Python's: the exporters are.
    if sys.argv[1:2] == ["export"]:
        from modelrun._export.command import main as export

        sys.exit(export(sys.argv[2:]))
    command = os.path.join(os.path.dirname(__file__), "bin", "modelrun")
    # The runtimes are those of this Python.
    os.environ["VIRTUAL_ENV"] = sys.prefix
    os.execv(command, ["modelrun", *sys.argv[1:]])


if __name__ == "__main__":
    main()
