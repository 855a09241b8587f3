# SPDX-License-Identifier: Apache-2.0
# What every target of the project shares: warnings, sanitizers, a compiler cache, a fast linker.

add_library(tessera_flags INTERFACE)
target_include_directories(tessera_flags INTERFACE ${CMAKE_SOURCE_DIR})

find_program(CCACHE_PROGRAM ccache)
find_program(MOLD_PROGRAM mold)
mark_as_advanced(CCACHE_PROGRAM MOLD_PROGRAM)
if(TESSERA_CCACHE AND CCACHE_PROGRAM)
  # All checkouts of one user share their entries: paths below the source folder count as relative ones. An
  # object may therefore carry the debug information of another checkout with the same sources.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  message(STATUS "Compiler cache: ${CCACHE_PROGRAM} (TESSERA_CCACHE=OFF to compile without)")
else()
  message(STATUS "Compiler cache: none")
endif()
if(TESSERA_MOLD AND MOLD_PROGRAM)
  target_link_options(tessera_flags INTERFACE -fuse-ld=mold)
  message(STATUS "Linker: ${MOLD_PROGRAM} (TESSERA_MOLD=OFF for the compiler's own)")
else()
  message(STATUS "Linker: the compiler's own")
endif()
if(TESSERA_SANITIZE)
  target_compile_options(tessera_flags INTERFACE -fsanitize=${TESSERA_SANITIZE}
                         -fno-omit-frame-pointer -fno-sanitize-recover=all
                         # g++ 12 takes instrumented string copies for overflows.
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>)
  if(TESSERA_SANITIZE MATCHES thread)  # fences are not modelled: said once here, not at each
    target_compile_options(tessera_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
  endif()
  target_link_options(tessera_flags INTERFACE -fsanitize=${TESSERA_SANITIZE})
endif()

add_library(tessera_warnings INTERFACE)
target_compile_options(tessera_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow
  $<$<COMPILE_LANGUAGE:CXX>:-Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
                            -Woverloaded-virtual>)
# g++ 12 sees uninitialized strings in every moved std::variant (GCC bug 105562 and its kin).
target_compile_options(tessera_warnings INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
if(TESSERA_UNITY)  # for this warning the main source is a batch, and the sources in it are headers
  target_compile_options(tessera_warnings INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endif()
if(TESSERA_WERROR)
  target_compile_options(tessera_warnings INTERFACE -Werror)
endif()

# tessera_library(NAME SOURCES…): a static library of one folder. With TESSERA_UNITY its sources are
# compiled in batches, so names in anonymous namespaces are unique within a library.
function(tessera_library name)
  add_library(${name} STATIC ${ARGN})
  target_link_libraries(${name} PUBLIC tessera_flags PRIVATE tessera_warnings)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${TESSERA_UNITY} UNITY_BUILD_BATCH_SIZE 24)
endfunction()

# tessera_program(NAME SOURCES…): a program in bin/.
function(tessera_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE tessera_flags tessera_warnings)
endfunction()
