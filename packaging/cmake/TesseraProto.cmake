# SPDX-License-Identifier: Apache-2.0
# tessera_proto_library(TARGET FILE…): a static library of Protocol Buffers messages.
# FILE lies in the calling folder. Its header is included by its path from the root of the project:
# "agents/wire/tessera/wire/control.pb.h". An import names its file the same way:
# import "agents/wire/tessera/wire/control.proto"; add target_link_libraries to that file's target.
# Generated code is compiled without the project's warnings and included as a system header.
function(tessera_proto_library target)
  set(root ${CMAKE_BINARY_DIR}/proto)
  file(MAKE_DIRECTORY ${root})
  set(generated)
  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file NORMALIZE OUTPUT_VARIABLE source)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE name)
    cmake_path(REMOVE_EXTENSION name LAST_ONLY OUTPUT_VARIABLE stem)
    set(outputs ${root}/${stem}.pb.cc ${root}/${stem}.pb.h)
    add_custom_command(
      OUTPUT ${outputs}
      COMMAND protobuf::protoc -I ${CMAKE_SOURCE_DIR} --cpp_out=${root} ${name}
      WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
      DEPENDS ${source} protobuf::protoc
      COMMENT "Generating ${stem}.pb.cc"
      VERBATIM)
    list(APPEND generated ${outputs})
  endforeach()
  add_library(${target} STATIC ${generated})
  target_include_directories(${target} SYSTEM PUBLIC ${root})
  target_link_libraries(${target} PUBLIC tessera_flags protobuf::libprotobuf)
  # Messages are small and rare: generated code compiles in half the time at -O1 and is fast enough.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU,Clang>:-O1>)
endfunction()
