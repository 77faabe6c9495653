# build_information.cpp: what the record says of the program itself (harness/measure/machine/build_information.hpp). The commit is read at
# build time, and another one compiles this file alone.

set(CONVLADDER_CUDA_COMPILER "")
if(CONVLADDER_HAS_CUDA)
  set(CONVLADDER_CUDA_COMPILER "${CMAKE_CUDA_COMPILER_ID} ${CMAKE_CUDA_COMPILER_VERSION}")
elseif(CONVLADDER_HAS_CLANG_CUDA)
  set(CONVLADDER_CUDA_COMPILER "Clang ${CONVLADDER_CLANG_CUDA_VERSION}")
endif()
string(JOIN " " CONVLADDER_CPU_VARIANT_FLAGS_TEXT ${CONVLADDER_CPU_VARIANT_FLAGS})
string(JOIN " " CONVLADDER_CUDA_ARCHITECTURES_TEXT ${CMAKE_CUDA_ARCHITECTURES})
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type_upper)
set(CONVLADDER_CXX_FLAGS_TEXT "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type_upper}}")
string(STRIP "${CONVLADDER_CXX_FLAGS_TEXT}" CONVLADDER_CXX_FLAGS_TEXT)

set(convladder_build_information_source "${PROJECT_BINARY_DIR}/generated/build_information.cpp")
add_custom_target(convladder_build_information
  COMMAND "${CMAKE_COMMAND}"
    "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}" "-DOUTPUT=${convladder_build_information_source}"
    "-DVERSION=${PROJECT_VERSION}" "-DBUILD_TYPE=${CMAKE_BUILD_TYPE}"
    "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" "-DCXX_FLAGS=${CONVLADDER_CXX_FLAGS_TEXT}"
    "-DCPU_VARIANT_FLAGS=${CONVLADDER_CPU_VARIANT_FLAGS_TEXT}" "-DCUDA_COMPILER=${CONVLADDER_CUDA_COMPILER}"
    "-DCUDA_ARCHITECTURES=${CONVLADDER_CUDA_ARCHITECTURES_TEXT}" "-DSANITIZED=${CONVLADDER_SANITIZE}"
    "-DBENCHMARK_VERSION=${benchmark_VERSION}"
    -P "${PROJECT_SOURCE_DIR}/cmake/build_information_script.cmake"
  BYPRODUCTS "${convladder_build_information_source}"
  COMMENT "Reading the commit"
  VERBATIM)

# add_build_information(target): compiles it into the target.
function(add_build_information target)
  target_sources(${target} PRIVATE "${convladder_build_information_source}")
  set_source_files_properties("${convladder_build_information_source}" TARGET_DIRECTORY ${target} PROPERTIES
    SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
  add_dependencies(${target} convladder_build_information)
endfunction()
