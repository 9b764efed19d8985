# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` leaves: the library with its headers, its plugins in
# <libdir>/modelrun, the command, and files for find_package and pkg-config.

include(CMakePackageConfigHelpers)

set(_package ${CMAKE_INSTALL_LIBDIR}/cmake/modelrun)
# DLPack's header, which modelrun/backend.h includes: apart, so that it meets no
# other copy of it.
set(_vendored ${CMAKE_INSTALL_INCLUDEDIR}/modelrun/third_party)

target_include_directories(modelrun INTERFACE $<INSTALL_INTERFACE:${_vendored}>)
install(TARGETS modelrun EXPORT modelrun
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET modelrun_cli)
  # The command finds the library beside it, wherever the tree is moved.
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR
             BASE_DIRECTORY ${CMAKE_INSTALL_FULL_BINDIR}
             OUTPUT_VARIABLE _library_from_command)
  set_target_properties(modelrun_cli PROPERTIES
    INSTALL_RPATH "$ORIGIN/${_library_from_command}")
  install(TARGETS modelrun_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/modelrun
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/third_party/dlpack/dlpack
        DESTINATION ${_vendored})
install(EXPORT modelrun NAMESPACE modelrun:: FILE modelrunTargets.cmake
        DESTINATION ${_package})

configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/modelrunConfig.cmake.in
  ${PROJECT_BINARY_DIR}/modelrunConfig.cmake
  INSTALL_DESTINATION ${_package})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/modelrunConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/modelrunConfig.cmake
              ${PROJECT_BINARY_DIR}/modelrunConfigVersion.cmake
        DESTINATION ${_package})

# The prefix is told from the file's own place: an installed tree may be moved.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR
           BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
           OUTPUT_VARIABLE _pc_includedir)
configure_file(${CMAKE_CURRENT_LIST_DIR}/modelrun.pc.in
               ${PROJECT_BINARY_DIR}/modelrun.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/modelrun.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/THIRD_PARTY.md
              ${PROJECT_SOURCE_DIR}/rust/THIRD_PARTY.crates.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
