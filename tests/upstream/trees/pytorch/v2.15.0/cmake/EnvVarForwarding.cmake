# SPDX-License-Identifier: GPL-3.0-or-later
# Variables of the environment that become CMake's: BUILD_*, USE_*, CMAKE_* and a few by name. Anything else needs -D.
set(script [==[
import os, re
names = "BLAS WITH_BLAS CUDA_HOST_COMPILER CUDA_NVCC_EXECUTABLE CUDNN_LIBRARY CUDNN_INCLUDE_DIR CUDNN_ROOT " \
        "MKL_THREADING ATEN_THREADING WERROR TORCH_CUDA_ARCH_LIST"
chosen = re.compile(r"(BUILD_|USE_|CMAKE_).*|" + names.replace(" ", "|"))
for name, value in os.environ.items():
    if chosen.fullmatch(name) and "]]" not in value:
        print(f"set({name} [[{value}]] CACHE STRING \"From the environment\" FORCE)")
]==])
execute_process(COMMAND "${Python_EXECUTABLE}" -c "${script}" OUTPUT_VARIABLE forwarded COMMAND_ERROR_IS_FATAL ANY)
cmake_language(EVAL CODE "${forwarded}")
if(DEFINED ENV{CUDNN_LIB_DIR})
  set(CUDNN_LIBRARY "$ENV{CUDNN_LIB_DIR}" CACHE STRING "From the environment" FORCE)
endif()
if(DEFINED ENV{CMAKE_PREFIX_PATH})
  string(REPLACE ":" ";" CMAKE_PREFIX_PATH "$ENV{CMAKE_PREFIX_PATH}")
endif()
execute_process(COMMAND "${Python_EXECUTABLE}" -c "import sysconfig; print(sysconfig.get_path('purelib'))"
                OUTPUT_VARIABLE purelib OUTPUT_STRIP_TRAILING_WHITESPACE)
list(PREPEND CMAKE_PREFIX_PATH ${purelib})
