# SPDX-License-Identifier: Apache-2.0
# Tests of one folder share one program, the folder's driver; each test class stays a ctest entry of its own.
#
# tessera_test_driver(DRIVER [LIBS libs…] [SOURCES helpers…] [QT modules])
#   Declares the program that the following tessera_add_test calls of this folder add their sources to.
#   Drivers with the same QT, for example Widgets (default Core), share one precompiled header; QT names the
#   largest module (Core, Gui or Widgets) that LIBS bring along.
# tessera_add_entry(NAME COMMAND program [words…] [LABEL unit|conformance|python|e2e|gui|gpu|fuse|slow|smoke…]
#                   [TIMEOUT s] [COST s] [LOAD thirds] [ENVIRONMENT var=value…])
#   Adds a ctest entry: another way to run a test of this folder. Default: label unit, 60 s. COST is about how
#   long it takes, for the long ones: `ctest -j` starts them first. LOAD is how much of a core it keeps busy, in
#   thirds: 3 by default, 1 for those that mostly wait, 6 for two cores. ctest is run with three jobs per core.
#   A further label, layer:FOLDER, names the folder of tests/.
# tessera_add_test(NAME [NEEDS targets…] [options of tessera_add_entry])
#   Adds NAME.cpp to the driver and the entry `DRIVER NAME`. NEEDS are programs that the test starts.
# tessera_add_tests(NAME…)
#   The same for several unit tests without options.
#
# Test names are unique in the whole project. A test whose functions are all skipped ends with 77.
function(tessera_test_driver driver)
  cmake_parse_arguments(ARG "" "QT" "SOURCES;LIBS" ${ARGN})
  if(NOT ARG_QT)
    set(ARG_QT Core)
  endif()
  add_executable(${driver} ${CMAKE_SOURCE_DIR}/tests/support/test_driver.cpp ${ARG_SOURCES})
  set_target_properties(${driver} PROPERTIES AUTOMOC ON UNITY_BUILD OFF
                        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(${driver} PRIVATE tessera_flags tessera_warnings tessera_test_folders tessera_test_support
                        ${ARG_LIBS} Qt6::Test)
  if(TESSERA_PRECOMPILE)
    target_precompile_headers(${driver} REUSE_FROM tessera_precompiled_${ARG_QT})
  endif()
  set(TESSERA_TEST_DRIVER ${driver} PARENT_SCOPE)
endfunction()

function(tessera_add_entry name)
  cmake_parse_arguments(ARG "" "TIMEOUT;COST;LOAD" "COMMAND;LABEL;ENVIRONMENT" ${ARGN})
  set(keys LABEL TIMEOUT COST LOAD)
  set(defaults unit 60 0 3)
  foreach(key default IN ZIP_LISTS keys defaults)
    if(NOT ARG_${key})
      set(ARG_${key} ${default})
    endif()
  endforeach()
  if(TESSERA_SANITIZE MATCHES thread)
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 15")  # the slowest take 14 times as long
  endif()
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${CMAKE_SOURCE_DIR}/tests OUTPUT_VARIABLE folder)
  string(REGEX REPLACE "/.*" "" layer ${folder})
  add_test(NAME ${name} COMMAND ${ARG_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABEL};layer:${layer}" TIMEOUT ${ARG_TIMEOUT}
                       SKIP_RETURN_CODE 77 COST ${ARG_COST} PROCESSORS ${ARG_LOAD}
                       ENVIRONMENT "${ARG_ENVIRONMENT}")
endfunction()

function(tessera_add_test name)
  cmake_parse_arguments(ARG "" "" "NEEDS" ${ARGN})
  target_sources(${TESSERA_TEST_DRIVER} PRIVATE ${name}.cpp)
  tessera_add_entry(${name} COMMAND ${TESSERA_TEST_DRIVER} ${name} ${ARG_UNPARSED_ARGUMENTS})
  if(ARG_NEEDS)
    add_dependencies(${TESSERA_TEST_DRIVER} ${ARG_NEEDS})
  endif()
endfunction()

function(tessera_add_tests)
  foreach(name IN LISTS ARGN)
    tessera_add_test(${name})
  endforeach()
endfunction()
