# SPDX-License-Identifier: Apache-2.0
"""The Python of the documents, run as it stands there."""

import contextlib
import importlib.util
import io
import sys

import pytest

from conftest import REPOSITORY

DOCUMENTS = ["README.md", "docs/guides/python.md"]


def load(name):
    folder = REPOSITORY / "tests/docs"
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


documents = load("documents")
run_document = load("run_document")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_document(document, monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    blocks = [block for block in documents.blocks(REPOSITORY / document)
              if block.language == "python"]
    assert blocks
    scope = {}
    for block in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            code = "\n" * (block.line - 1) + block.text
            exec(compile(code, document, "exec"), scope)
        if block.expected is None:
            continue
        got = printed.getvalue()
        assert run_document.matches(
            block.expected.splitlines(), got.splitlines()), (
                f"{document}:{block.line} printed\n{got}")
