# SPDX-License-Identifier: Apache-2.0
# How plugins are built.

# What all of them share.
set(modelrun_plugin_sources
  ${PROJECT_SOURCE_DIR}/src/core/usable_cores.cpp
  ${PROJECT_SOURCE_DIR}/src/backends/common/failure.cpp
  ${PROJECT_SOURCE_DIR}/src/backends/common/log_hosts.cpp
  ${PROJECT_SOURCE_DIR}/src/backends/common/option_reader.cpp
  ${PROJECT_SOURCE_DIR}/src/backends/common/owned_tensor.cpp
  ${PROJECT_SOURCE_DIR}/src/backends/common/tensor_view.cpp)

# What reads ONNX programs without a runtime.
set(modelrun_onnx_reader_sources
  ${PROJECT_SOURCE_DIR}/src/artifact/mapped_file.cpp
  ${PROJECT_SOURCE_DIR}/src/artifact/onnx_embedding.cpp
  ${PROJECT_SOURCE_DIR}/src/artifact/onnx_program.cpp
  ${PROJECT_SOURCE_DIR}/src/artifact/onnx_scanner.cpp
  ${PROJECT_SOURCE_DIR}/src/artifact/onnx_tensor_scan.cpp
  ${PROJECT_SOURCE_DIR}/src/artifact/onnx_types.cpp
  ${PROJECT_SOURCE_DIR}/src/artifact/onnx_value_scan.cpp
  ${PROJECT_SOURCE_DIR}/src/artifact/printable.cpp
  ${PROJECT_SOURCE_DIR}/src/artifact/protobuf_wire.cpp
  ${PROJECT_SOURCE_DIR}/src/artifact/safe_path.cpp)

# modelrun_add_plugin(<name> [RELEASE <release>] SOURCES <files>...): a backend
# plugin, the module modelrun_<name>, with what all plugins share. RELEASE is
# that of the runtime which it is tied to; its file's name carries it.
function(modelrun_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "RELEASE" "SOURCES")
  set(target modelrun_${name})
  set(exports ${PROJECT_SOURCE_DIR}/src/backends/common/plugin.map)
  add_library(${target} MODULE ${modelrun_plugin_sources} ${arg_SOURCES})
  target_compile_definitions(${target} PRIVATE
    MODELRUN_VERSION="${PROJECT_VERSION}")
  target_include_directories(${target} PRIVATE
    ${PROJECT_SOURCE_DIR}/include
    ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(${target} SYSTEM PRIVATE
    ${PROJECT_SOURCE_DIR}/third_party/dlpack)
  target_link_libraries(${target} PRIVATE
    modelrun_compile_options nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})
  # nodelete: tensors that were fetched are freed by code in here, at any time.
  target_link_options(${target} PRIVATE
    -Wl,-z,nodelete
    -Wl,--version-script=${exports})
  # No path of this machine: the runtime is open when the plugin is.
  set_target_properties(${target} PROPERTIES
    PREFIX ""
    SKIP_BUILD_RPATH ON
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY ${modelrun_plugin_dir}
    LINK_DEPENDS ${exports})
  if(arg_RELEASE)
    set_target_properties(${target} PROPERTIES
      OUTPUT_NAME ${target}-${arg_RELEASE})
  endif()
  install(TARGETS ${target}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/modelrun)
endfunction()
