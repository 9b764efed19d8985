# SPDX-License-Identifier: Apache-2.0
# One interface target that every target of the project compiles with.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# g++ 12 and 13 warn wrongly of overlapping copies in their own std::string.
set(_no_false_warnings)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND
   CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  set(_no_false_warnings -Wno-restrict)
endif()

add_library(modelrun_compile_options INTERFACE)
target_compile_options(modelrun_compile_options INTERFACE
  -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Wconversion
  -Wno-sign-conversion ${_no_false_warnings}
  $<$<BOOL:${MODELRUN_WARNINGS_AS_ERRORS}>:-Werror>)
if(MODELRUN_SANITIZERS)
  target_compile_options(modelrun_compile_options INTERFACE
    -fsanitize=${MODELRUN_SANITIZERS} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(modelrun_compile_options INTERFACE
    -fsanitize=${MODELRUN_SANITIZERS})
endif()
