# SPDX-License-Identifier: GPL-3.0-or-later
# CUDSS_ROOT, CUDSS_INCLUDE_DIR and CUDSS_LIBRARY, of CMake or of the environment, name the places; the latter two are directories.
include(FindPackageHandleStandardArgs)
foreach(hint ROOT INCLUDE_DIR LIBRARY)
  if(NOT DEFINED CUDSS_${hint} AND DEFINED ENV{CUDSS_${hint}})
    set(CUDSS_${hint} "$ENV{CUDSS_${hint}}")
  endif()
endforeach()
find_path(CUDSS_INCLUDE_PATH NAMES cudss.h HINTS ${CUDSS_INCLUDE_DIR} ${CUDSS_ROOT} PATH_SUFFIXES include)
find_library(CUDSS_LIBRARY_PATH NAMES cudss HINTS ${CUDSS_LIBRARY} ${CUDSS_ROOT} PATH_SUFFIXES lib lib64)
find_package_handle_standard_args(CUDSS DEFAULT_MSG CUDSS_INCLUDE_PATH CUDSS_LIBRARY_PATH)
set(CUDSS_INCLUDE_DIRS ${CUDSS_INCLUDE_PATH})
set(CUDSS_LIBRARIES ${CUDSS_LIBRARY_PATH})
mark_as_advanced(CUDSS_INCLUDE_PATH CUDSS_LIBRARY_PATH)
