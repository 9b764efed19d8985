# SPDX-License-Identifier: Apache-2.0
"""The fenced blocks of a Markdown document."""
import dataclasses
import pathlib
import re

FENCE = re.compile(r"^```(\w*)\s*$")


@dataclasses.dataclass
class Block:
    language: str
    text: str
    # Of the block's first line.
    line: int
    # The block of language `text` that follows at once: what is printed.
    expected: "str | None" = None


def blocks(path: pathlib.Path) -> "list[Block]":
    found: "list[Block]" = []
    lines = path.read_text(encoding="utf-8").splitlines()
    number = 0
    while number < len(lines):
        fence = FENCE.match(lines[number])
        number += 1
        if not fence:
            continue
        start = number
        while number < len(lines) and lines[number] != "```":
            number += 1
        if number == len(lines):
            raise SystemExit(f"{path}:{start}: the block is not closed")
        text = "\n".join(lines[start:number]) + "\n"
        number += 1
        between = lines[end:start - 1] if found else []
        if fence[1] == "text" and found and not any(map(str.strip, between)):
            found[-1].expected = text
        else:
            found.append(Block(fence[1], text, start + 1))
        end = number
    return found


def is_program(block: Block) -> bool:
    return block.language == "cpp" and "int main(" in block.text


def is_fragment(block: Block) -> bool:
    return block.language == "cpp" and not is_program(block)


def program_name(document: str, block: Block) -> str:
    """The program that a block of C++ is in; fragments share theirs."""
    stem = re.sub(r"\W", "_", document.removesuffix(".md").lower())
    return f"docs_{stem}" + (f"_{block.line}" if is_program(block) else "")
