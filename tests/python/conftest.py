# SPDX-License-Identifier: Apache-2.0
import functools
import importlib.util
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

import goldens
import modelrun

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


@functools.cache
def runs_format(export_format):
    """Whether the plugin and the runtime of a format are installed."""
    from modelrun import _core, _environment

    backend = modelrun.default_backend(export_format)
    if not _environment.has_plugin(backend):
        return False
    try:
        _core.backend_options(backend)
    except modelrun.NotFound:
        return False
    return True


@functools.cache
def open_export(name, export_format="onnx", threads=1):
    return modelrun.ExportedModel.from_pretrained(
        goldens.path_of(name, export_format), threads=threads)


@pytest.fixture
def bert():
    return open_export("bert")


def is_installed(package):
    return importlib.util.find_spec(package) is not None


needs_torch = pytest.mark.skipif(
    not (is_installed("torch") and is_installed("transformers")),
    reason="torch and transformers are not installed")
without_torch = pytest.mark.skipif(is_installed("torch"),
                                   reason="torch is installed")


def run_python(text, *, code=0, **variables):
    """Runs a program in a Python of its own, and returns what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)], text=True, timeout=90,
        capture_output=True, cwd=REPOSITORY,
        env={**os.environ, **variables}, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout
