#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the types of the built `modelrun._core`.

    make_python_stub.py OUTPUT

The exceptions are named after the package, where users see them, so nanobind's
generator takes them for imports from it.
"""
import pathlib
import re
import sys

from nanobind.stubgen import StubGen

import modelrun
from modelrun import _core

# What nanobind takes from a slot of the C API.
SLOTS = re.compile(
    r"def (__call__|__getattribute__|bind)(\(self.*?\))"
    r"(?: -> BoundCall)?:(?: \.\.\.\n|\n +\"\"\".*?\"\"\"\n)")
LICENSE = "# SPDX-License-Identifier: Apache-2.0\n"


def class_text(kind: type) -> str:
    bases = ", ".join(base.__name__ for base in kind.__bases__)
    return f'class {kind.__name__}({bases}):\n    """{kind.__doc__}"""\n'


def typed_slot(found: "re.Match[str]") -> str:
    name, arguments = found[1], found[2]
    for untyped in ("args", "kwargs"):
        arguments = arguments.replace(f"*{untyped}", f"*{untyped}: Any")
    arguments = arguments.replace("name,", "name: str,")
    returned = "BoundCall" if name == "bind" else "Any"
    name = name.replace("__getattribute__", "__getattr__")
    return f"def {name}{arguments} -> {returned}: ...\n"


def main() -> None:
    generator = StubGen(module=_core, quiet=True)
    generator.put(_core)
    text = re.sub(r"from modelrun import \(.*?\)\n", "", generator.get(),
                  flags=re.DOTALL)
    text = SLOTS.sub(typed_slot, text)
    errors = [kind for kind in vars(_core).values()
              if isinstance(kind, type) and issubclass(kind, modelrun.Error)]
    errors.sort(key=lambda kind: len(kind.__mro__))
    classes = "\n".join(map(class_text, errors))
    head, separator, rest = text.partition("\n\n\n")
    pathlib.Path(sys.argv[1]).write_text(
        LICENSE + head + "\n\n__version__: str\n\n\n" + classes + "\n"
        + rest, encoding="utf-8")


if __name__ == "__main__":
    main()
