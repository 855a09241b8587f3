# SPDX-License-Identifier: Apache-2.0
# tessera_add_test(NAME [LABEL unit|conformance|python|e2e|gui|slow|bench] [SOURCES extra…] [LIBS libs…] [TIMEOUT s])
# One Qt Test executable from NAME.cpp in the calling folder. Default label: unit.
# Test names are unique in the whole project.
function(tessera_add_test name)
  cmake_parse_arguments(ARG "SERIAL" "LABEL;TIMEOUT" "SOURCES;LIBS" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  add_executable(${name} ${name}.cpp ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES AUTOMOC ON RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE tessera_flags tessera_warnings tessera_test_support ${ARG_LIBS} Qt6::Test)
  target_compile_definitions(${name} PRIVATE TESSERA_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                             TESSERA_BIN_DIR="${CMAKE_BINARY_DIR}/bin")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABEL}" TIMEOUT ${ARG_TIMEOUT}
                       SKIP_REGULAR_EXPRESSION "TESSERA_SKIP_ALL")
  if(ARG_SERIAL)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL TRUE)
  endif()
endfunction()
