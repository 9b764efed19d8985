#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the system packages that the build and the tests need and that are
# not there yet. Without the right to, prints the one line to run, and fails.
set -euo pipefail

cargo_minimum=1.85
missing=()

header() {
  [[ -e /usr/include/$1 || -e /usr/local/include/$1 ]]
}

# need PACKAGE PROBE...: PACKAGE is missing when PROBE fails.
need() {
  local package=$1
  shift
  "$@" >/dev/null 2>&1 || missing+=("$package")
}

at_least() {
  [[ $(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1) == "$1" ]]
}

has_cargo() {
  local version
  version=$(PATH=$PATH:$HOME/.cargo/bin cargo --version 2>/dev/null) &&
    at_least "$cargo_minimum" "$(cut -d ' ' -f 2 <<<"$version")"
}

find_missing() {
  missing=()
  need g++ command -v g++                          # the compiler
  need cmake command -v cmake                      # the build
  need ninja-build command -v ninja                # the build
  need ccache command -v ccache                    # quick rebuilds
  need pkg-config command -v pkg-config            # finding minizip, tests
  need ca-certificates test -e /etc/ssl/certs/ca-certificates.crt  # downloads
  need nlohmann-json3-dev header nlohmann/json.hpp # JSON of configs
  need libcli11-dev header CLI/CLI.hpp             # the command's options
  need libminizip-dev header minizip/unzip.h       # .npz files
  need zlib1g-dev header zlib.h                    # .npz files
  need libgtest-dev header gtest/gtest.h           # the tests
  need libbenchmark-dev header benchmark/benchmark.h # the benchmarks
  need python3-dev python3 -c 'import os, sysconfig as s; os.stat(s.get_path("include") + "/Python.h")' # the Python package
  need python3-venv python3 -c 'import ensurepip, venv' # the runtimes' wheels
}

# The packages of a cargo that is new enough; rustup where there is none.
cargo_packages() {
  local candidate
  candidate=$(apt-cache policy cargo 2>/dev/null |
    sed -n 's/^ *Candidate: *//p')
  if [[ $candidate == [0-9]* ]] && at_least "$cargo_minimum" "$candidate"; then
    echo cargo
  elif (. /etc/os-release && [[ $ID == debian && $VERSION_ID == 12 ]]); then
    echo rustc-web cargo-web
  else
    echo rustup
  fi
}

find_missing
if ((${#missing[@]} == 0)) && has_cargo; then
  exit 0
fi
if ! command -v apt-get >/dev/null; then
  echo "setup: missing: ${missing[*]} $(has_cargo || echo "cargo" \
    "$cargo_minimum or later") (names of Debian's packages);" \
    "install them with this system's package manager" >&2
  exit 1
fi

as_root=()
if ((EUID != 0)) && sudo -n true 2>/dev/null; then
  as_root=(sudo)
fi
can_install=$((EUID == 0 || ${#as_root[@]} > 0))
if ((can_install)); then
  "${as_root[@]}" apt-get update -q
fi
if ! has_cargo; then
  # shellcheck disable=SC2207  # package names have no spaces
  missing+=($(cargo_packages))
fi
if ((can_install)); then
  echo "setup: installing ${missing[*]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "${missing[@]}"
else
  echo "setup: some packages are missing, and installing them needs root; run:

  sudo apt-get update && sudo apt-get install -y ${missing[*]}
" >&2
  exit 1
fi
if ! has_cargo && command -v rustup >/dev/null; then
  rustup toolchain install stable --profile minimal
fi
if ! has_cargo; then
  echo "setup: cargo $cargo_minimum or later is missing;" \
    "install it from https://rustup.rs" >&2
  exit 1
fi
