#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the C++ of documents as sources, one for each program.

    extract.py REPOSITORY OUTPUT_FOLDER DOCUMENT...

A block with a `main` is a program. All others of a document are the lines of
one program, in one scope. Prints the names of the sources.
"""
import pathlib
import sys

import documents

HEAD = """\
#include <modelrun/modelrun.h>

#include <iostream>
{includes}
using namespace modelrun;

static void document() {{
{body}}}

int main() try {{
  document();
}} catch (const std::exception& error) {{
  std::cerr << error.what() << "\\n";
  return 1;
}}
"""
# Printed after each fragment, to tell whose output is whose.
END_OF_FRAGMENT = 'std::cout << "\\x1e" << std::flush;\n'


def located(document: str, block: documents.Block) -> str:
    return f'#line {block.line} "{document}"\n{block.text}'


def joined(document: str, fragments: "list[documents.Block]") -> str:
    includes, body = [], []
    for block in fragments:
        lines = located(document, block).splitlines(keepends=True)
        includes += [line for line in lines if line.startswith("#include")]
        # An emptied line keeps the numbers of those that follow.
        body += ["\n" if line in includes else line for line in lines]
        body.append(END_OF_FRAGMENT)
    return HEAD.format(includes="".join(includes), body="".join(body))


def sources(repository: pathlib.Path, document: str) -> "dict[str, str]":
    blocks = documents.blocks(repository / document)
    made = {documents.program_name(document, block): located(document, block)
            for block in blocks if documents.is_program(block)}
    fragments = [block for block in blocks if documents.is_fragment(block)]
    if fragments:
        name = documents.program_name(document, fragments[0])
        made[name] = joined(document, fragments)
    return made


def main() -> None:
    repository, output = map(pathlib.Path, sys.argv[1:3])
    output.mkdir(parents=True, exist_ok=True)
    for document in sys.argv[3:]:
        for name, text in sources(repository, document).items():
            path = output / f"{name}.cpp"
            # An unchanged source is not compiled again.
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                path.write_text(text, encoding="utf-8")
            print(name)


if __name__ == "__main__":
    main()
