# SPDX-License-Identifier: GPL-3.0-or-later
# add_llvm_library(name source… [LINK library…] [SET exports]): a static library in an exported set.
function(add_llvm_library name)
  cmake_parse_arguments(ARG "" "SET" "LINK" ${ARGN})
  if(NOT ARG_SET)
    set(ARG_SET LLVM)
  endif()
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  target_include_directories(${name} INTERFACE $<INSTALL_INTERFACE:include>)
  install(TARGETS ${name} EXPORT ${ARG_SET}Exports ARCHIVE DESTINATION lib)
endfunction()

# add_llvm_tool(name source… [LINK library…] [SET exports]): an installed program.
function(add_llvm_tool name)
  cmake_parse_arguments(ARG "" "SET" "LINK" ${ARGN})
  if(NOT ARG_SET)
    set(ARG_SET LLVM)
  endif()
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  install(TARGETS ${name} EXPORT ${ARG_SET}Exports RUNTIME DESTINATION bin)
endfunction()

# install_llvm_package(Name template): lib/cmake/<name>/<Name>Config.cmake and the exported set.
function(install_llvm_package name template)
  string(TOLOWER ${name} directory)
  configure_file(${template} ${LLVM_BINARY_DIR}/lib/cmake/${directory}/${name}Config.cmake @ONLY)
  install(FILES ${LLVM_BINARY_DIR}/lib/cmake/${directory}/${name}Config.cmake DESTINATION lib/cmake/${directory})
  install(EXPORT ${name}Exports DESTINATION lib/cmake/${directory})
endfunction()
