# SPDX-License-Identifier: Apache-2.0
#
# The Rust static library, as the imported target modelrun::rust.

set(MODELRUN_CARGO_MINIMUM 1.85)

find_program(MODELRUN_CARGO cargo HINTS "$ENV{HOME}/.cargo/bin"
             DOC "cargo, which builds the tokenizers library")
if(NOT MODELRUN_CARGO)
  message(FATAL_ERROR "cargo ${MODELRUN_CARGO_MINIMUM} or later is missing; "
    "install it: apt-get install rustc-web cargo-web (Debian 12), "
    "apt-get install cargo (later), or https://rustup.rs")
endif()
execute_process(COMMAND "${MODELRUN_CARGO}" --version
                OUTPUT_VARIABLE _modelrun_cargo_version
                OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" _modelrun_cargo_version
       "${_modelrun_cargo_version}")
if(_modelrun_cargo_version VERSION_LESS MODELRUN_CARGO_MINIMUM)
  message(FATAL_ERROR "${MODELRUN_CARGO} is version "
    "'${_modelrun_cargo_version}', and ${MODELRUN_CARGO_MINIMUM} or later is "
    "needed; install it: apt-get install rustc-web cargo-web (Debian 12, in "
    "place of cargo and rustc), or https://rustup.rs; then configure with "
    "-DMODELRUN_CARGO=/path/to/cargo")
endif()

get_filename_component(_modelrun_rust "${CMAKE_CURRENT_LIST_DIR}/../rust"
                       ABSOLUTE)
set(MODELRUN_RUST_TARGET_DIR "${CMAKE_BINARY_DIR}/rust" CACHE PATH
    "Where cargo builds; several build trees may share it")
set(_modelrun_rust_library
    "${MODELRUN_RUST_TARGET_DIR}/release/libmodelrun_rust.a")
file(GLOB_RECURSE _modelrun_rust_sources CONFIGURE_DEPENDS
     "${_modelrun_rust}/src/*.rs")

add_custom_command(
  OUTPUT "${_modelrun_rust_library}"
  COMMAND "${MODELRUN_CARGO}" build --locked --release --quiet
          --manifest-path "${_modelrun_rust}/Cargo.toml"
          --target-dir "${MODELRUN_RUST_TARGET_DIR}"
  # An unchanged build leaves the archive's time behind its inputs'.
  COMMAND "${CMAKE_COMMAND}" -E touch "${_modelrun_rust_library}"
  DEPENDS ${_modelrun_rust_sources} "${_modelrun_rust}/Cargo.toml"
          "${_modelrun_rust}/Cargo.lock"
  COMMENT "Building the Rust library (tokenizers)"
  VERBATIM)
add_custom_target(modelrun_rust_build DEPENDS "${_modelrun_rust_library}")

find_package(Threads REQUIRED)
add_library(modelrun_rust STATIC IMPORTED GLOBAL)
set_target_properties(modelrun_rust PROPERTIES
  IMPORTED_LOCATION "${_modelrun_rust_library}")
# --exclude-libs keeps the crates' symbols out of a shared libmodelrun.
target_link_libraries(modelrun_rust INTERFACE
  Threads::Threads ${CMAKE_DL_LIBS} m)
if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang" AND NOT APPLE)
  target_link_options(modelrun_rust INTERFACE
    "LINKER:--exclude-libs,libmodelrun_rust.a")
endif()
add_dependencies(modelrun_rust modelrun_rust_build)
add_library(modelrun::rust ALIAS modelrun_rust)
