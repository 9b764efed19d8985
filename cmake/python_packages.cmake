# SPDX-License-Identifier: Apache-2.0
# modelrun_python_packages(<variable>): the folders of Python packages where a
# plugin's SDK may be: of build/venv, and of the active environment.
function(modelrun_python_packages variable)
  set(_folders)
  foreach(_prefix IN ITEMS ${PROJECT_SOURCE_DIR}/build/venv $ENV{VIRTUAL_ENV})
    file(GLOB _found ${_prefix}/lib/python3*/site-packages)
    list(APPEND _folders ${_found})
  endforeach()
  list(REMOVE_DUPLICATES _folders)
  set(${variable} ${_folders} PARENT_SCOPE)
endfunction()
