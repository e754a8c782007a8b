# SPDX-License-Identifier: GPL-3.0-or-later
# CUFILE_ROOT, CUFILE_INCLUDE_DIR and CUFILE_LIBRARY, of CMake or of the environment, name the places; the latter two are directories.
include(FindPackageHandleStandardArgs)
foreach(hint ROOT INCLUDE_DIR LIBRARY)
  if(NOT DEFINED CUFILE_${hint} AND DEFINED ENV{CUFILE_${hint}})
    set(CUFILE_${hint} "$ENV{CUFILE_${hint}}")
  endif()
endforeach()
find_path(CUFILE_INCLUDE_PATH NAMES cufile.h HINTS ${CUFILE_INCLUDE_DIR} ${CUFILE_ROOT} PATH_SUFFIXES include)
find_library(CUFILE_LIBRARY_PATH NAMES cufile HINTS ${CUFILE_LIBRARY} ${CUFILE_ROOT} PATH_SUFFIXES lib lib64)
find_package_handle_standard_args(CUFILE DEFAULT_MSG CUFILE_INCLUDE_PATH CUFILE_LIBRARY_PATH)
set(CUFILE_INCLUDE_DIRS ${CUFILE_INCLUDE_PATH})
set(CUFILE_LIBRARIES ${CUFILE_LIBRARY_PATH})
mark_as_advanced(CUFILE_INCLUDE_PATH CUFILE_LIBRARY_PATH)
