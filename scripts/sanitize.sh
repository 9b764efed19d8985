#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the unit tests and the fuzzers under AddressSanitizer and
# UndefinedBehaviorSanitizer, and what runs in many threads under
# ThreadSanitizer. Arguments go to CMake.
set -euo pipefail

fuzz_seconds=${FUZZ_SECONDS:-30}
jobs=$(nproc)

build() {
  local preset=$1
  local target=$2
  shift 2
  cmake --preset "$preset" --log-level=WARNING -DMODELRUN_BUILD_CLI=OFF \
    -DMODELRUN_BUILD_EXAMPLES=OFF "$@"
  cmake --build --preset "$preset" --target "$target"
}

# Sanitizers need the address space as it was before kernels randomized more of
# it; not every container may ask for that.
fixed_addresses=()
if setarch -R true 2>/dev/null; then
  fixed_addresses=(setarch -R)
fi

build asan all "$@"
export UBSAN_OPTIONS=print_stacktrace=1
"${fixed_addresses[@]}" ctest --preset asan --parallel "$jobs"
for target in "$PWD"/build/asan/bin/modelrun_*_fuzz; do
  name=${target##*/modelrun_}
  echo "$name: $fuzz_seconds s"
  # An input that fails is left in the working folder.
  (cd build/asan && "${fixed_addresses[@]}" "$target" \
    -max_total_time="$fuzz_seconds" "../../tests/fuzz/seeds/${name%_fuzz}")
done

build tsan modelrun_concurrency_tests "$@"
export TSAN_OPTIONS="suppressions=$PWD/tests/tsan.supp"
VIRTUAL_ENV=${VIRTUAL_ENV:-$PWD/build/venv} \
  "${fixed_addresses[@]}" build/tsan/bin/modelrun_concurrency_tests
