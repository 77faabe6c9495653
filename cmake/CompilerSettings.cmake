# Warnings, sanitizers and optimisation flags, kept in interface targets that every folder links.

add_library(convladder_settings INTERFACE)
target_include_directories(convladder_settings INTERFACE "${PROJECT_SOURCE_DIR}")

# Code that a shared library takes as well calls its own functions directly.
target_compile_options(convladder_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-semantic-interposition>)

# GCC looks later for memory that it can use again, which takes a tenth of its time; where it took 0.59 GB, it takes 0.69.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(convladder_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=500000>)
endif()

set(warning_flags -Wall -Wextra -Wpedantic)
if(CONVLADDER_WERROR)
  list(APPEND warning_flags -Werror)
endif()
foreach(flag IN LISTS warning_flags)
  target_compile_options(convladder_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${flag}>)
endforeach()

# The preset has no -Werror, because the instrumentation makes GCC report overflows and uninitialised uses that do not
# exist.
# Without the checks of every pointer before every access, which are half of the compiler's time and of the program:
# AddressSanitizer stops at null and at what lies outside an object anyway, and x86 reads what is not aligned; where
# bytes are taken for something else, devices/ asks for that check again. The fuzz preset has all of them.
if(CONVLADDER_SANITIZE)
  # What has the property CONVLADDER_IS_A_TEST is not checked for undefined behaviour. What it tests is, but for inline
  # functions of its headers that the test calls as well: of them the whole program has the checks.
  set(undefined "$<NOT:$<BOOL:$<TARGET_PROPERTY:CONVLADDER_IS_A_TEST>>>")
  # In what has the property CONVLADDER_IS_MEASURED nothing asks whether a pointer wraps around, which took clang three quarters
  # of the time of the longest file: AddressSanitizer stops where such a pointer is used.
  set(measured "$<BOOL:$<TARGET_PROPERTY:CONVLADDER_IS_MEASURED>>")
  set(sanitizer_flags -fsanitize=address -fno-omit-frame-pointer "$<${undefined}:-fsanitize=undefined>"
                      "$<${undefined}:-fno-sanitize=null,alignment,vptr,object-size>"
                      "$<${measured}:-fno-sanitize=pointer-overflow>" -fno-sanitize-recover=all -fno-pie)
  # No relocations of all the places that the checks can name: the tests start the program some thousand times. And calls instead
  # of checks in place, which are quicker to compile than to run.
  set(sanitizer_link_flags -fsanitize=address,undefined -no-pie)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND sanitizer_flags --param=asan-instrumentation-with-call-threshold=0)
  else()
    # The macro is GCC's; clang has no other that a preprocessor can ask for.
    list(APPEND sanitizer_flags "SHELL:-mllvm -asan-instrumentation-with-call-threshold=0" -D__SANITIZE_ADDRESS__=1)
  endif()
  foreach(flag IN LISTS sanitizer_flags)
    target_compile_options(convladder_settings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${flag}>")
  endforeach()
  target_link_options(convladder_settings INTERFACE ${sanitizer_link_flags})
endif()

# Several times as quick as the system's linker, for some fifty programs of 35 MB. The libraries, which others' programs
# load, are linked by the system's.
find_program(CONVLADDER_LLD ld.lld)
if(CONVLADDER_LLD)
  target_link_options(convladder_settings INTERFACE
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-fuse-ld=lld>)
endif()

# The measured code is optimised for the machine it runs on; the record says for which. Nothing is measured where every
# access is checked, and most of what -O3 does there is to take three times as long.
# Each function begins a line of the cache: where it came to lie in one was seen to cost 7 %, in machine code that was the
# same to the byte, so a duel of two builds would find what nobody changed.
set(CONVLADDER_CPU_VARIANT_FLAGS -O3 -march=${CONVLADDER_CPU_ARCHITECTURE} -falign-functions=64)
if(CONVLADDER_SANITIZE)
  list(TRANSFORM CONVLADDER_CPU_VARIANT_FLAGS REPLACE "-O3" "-O1")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND CONVLADDER_CPU_VARIANT_FLAGS -mprefer-vector-width=512)
endif()

# The harness: nothing of it is measured, and half of the compiler's time would go into optimising the templates of its
# headers. GCC warns without cause of values that it may not have set where it optimises so little. The tests
# themselves are not optimised at all.
set(CONVLADDER_UNMEASURED_FLAGS "")
set(CONVLADDER_TEST_FLAGS "")
if(CONVLADDER_SANITIZE)
  set(CONVLADDER_UNMEASURED_FLAGS -O0)
  set(CONVLADDER_TEST_FLAGS -O0)
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(CONVLADDER_UNMEASURED_FLAGS -Og)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND CONVLADDER_UNMEASURED_FLAGS -Wno-maybe-uninitialized)
  endif()
  set(CONVLADDER_TEST_FLAGS -O0)
endif()

# unite_sources(target): several files in one translation unit, since reading the headers of JSON and of command lines
# takes most of their compilation. The dev and debug presets, for who changes one file at a time, do not.
function(unite_sources target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${CONVLADDER_UNITED_SOURCES} UNITY_BUILD_BATCH_SIZE 40)
endfunction()

# precompile_headers(target key header...): with sources that are united the headers are read once for all targets of a key,
# which have to be compiled alike.
function(precompile_headers target key)
  if(NOT CONVLADDER_UNITED_SOURCES)
    return()
  endif()
  get_property(first GLOBAL PROPERTY "CONVLADDER_HEADERS_${key}")
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
    set_property(GLOBAL PROPERTY "CONVLADDER_HEADERS_${key}" ${target})
  endif()
endfunction()

# compile_unmeasured(target): what only reads, decides and writes, around what is measured.
function(compile_unmeasured target)
  target_link_libraries(${target} PRIVATE OpenMP::OpenMP_CXX)  # by the same flags, as their headers demand
  target_compile_options(${target} PRIVATE ${CONVLADDER_UNMEASURED_FLAGS})
  precompile_headers(${target} unmeasured <algorithm> <functional> <map> <memory> <optional> <string> <string_view> <vector>
                     <fmt/format.h> <nlohmann/json.hpp>)
endfunction()
