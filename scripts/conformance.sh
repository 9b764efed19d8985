#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the plugins of every runtime against one Python environment, runs their
# tests and those of the Python packages in build/wheels, and compares fresh
# exports with eager PyTorch.
# Arguments go to tests/conformance/conformance.py.
set -euo pipefail

export VIRTUAL_ENV=$PWD/build/conformance/venv
python=$VIRTUAL_ENV/bin/python
launcher=()
if command -v ccache >/dev/null; then
  launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi

# The committed exports of all formats, through the C++ library.
cmake --preset conformance --log-level=WARNING "${launcher[@]}" \
  -DMODELRUN_TEST_VENV="$VIRTUAL_ENV"
cmake --build --preset conformance
ctest --preset conformance

# What a user installs.
"$python" -m pip install --quiet --disable-pip-version-check --no-deps \
  --force-reinstall build/wheels/*.whl
"$python" -m pytest tests/python tests/conformance

"$python" tests/conformance/conformance.py "$@"
