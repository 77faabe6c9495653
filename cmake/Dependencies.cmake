# Everything comes from Debian packages; scripts/setup.sh installs what is missing.

find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(ZLIB REQUIRED)
set(OPENSSL_USE_STATIC_LIBS ON)  # SHA-256 alone is used, and the program stays portable
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(benchmark REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)

# Not find_package(dnnl): Debian's dnnl-config.cmake asks for OpenCL, which nothing here uses. One that somebody has built
# takes its place; what was found before is forgotten when another folder is named.
set(CONVLADDER_ONEDNN_DIR "" CACHE PATH "Where another oneDNN (2.6 or 3) is installed than the system's, with include/ and lib/")
if(NOT "${CONVLADDER_ONEDNN_DIR}" STREQUAL "${CONVLADDER_ONEDNN_DIR_BEFORE}")
  unset(CONVLADDER_ONEDNN_INCLUDE_DIR CACHE)
  unset(CONVLADDER_ONEDNN_LIBRARY CACHE)
  set(CONVLADDER_ONEDNN_DIR_BEFORE "${CONVLADDER_ONEDNN_DIR}" CACHE INTERNAL "")
endif()
if(CONVLADDER_ONEDNN_DIR)
  find_path(CONVLADDER_ONEDNN_INCLUDE_DIR oneapi/dnnl/dnnl.hpp PATHS "${CONVLADDER_ONEDNN_DIR}/include" NO_DEFAULT_PATH)
  find_library(CONVLADDER_ONEDNN_LIBRARY dnnl PATHS "${CONVLADDER_ONEDNN_DIR}" PATH_SUFFIXES lib lib64 NO_DEFAULT_PATH)
  if(NOT CONVLADDER_ONEDNN_INCLUDE_DIR OR NOT CONVLADDER_ONEDNN_LIBRARY)
    message(FATAL_ERROR "CONVLADDER_ONEDNN_DIR: ${CONVLADDER_ONEDNN_DIR} holds no include/oneapi/dnnl/dnnl.hpp or no library "
                        "dnnl in lib/ or lib64/; name the folder that oneDNN was installed to")
  endif()
  message(STATUS "oneDNN: ${CONVLADDER_ONEDNN_LIBRARY}")
else()
  find_path(CONVLADDER_ONEDNN_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
  find_library(CONVLADDER_ONEDNN_LIBRARY dnnl)
endif()
set(CONVLADDER_HAS_ONEDNN OFF)
if(CONVLADDER_ONEDNN_INCLUDE_DIR AND CONVLADDER_ONEDNN_LIBRARY)
  set(CONVLADDER_HAS_ONEDNN ON)
else()
  message(STATUS "oneDNN not found: the CPU ladder has no library to compare with (package libdnnl-dev)")
endif()

# Another rival of the CPU ladder. Its headers have no version, and its functions have changed since; those of Debian 12 are
# called. The version is the package's.
find_path(CONVLADDER_XNNPACK_INCLUDE_DIR xnnpack.h)
find_path(CONVLADDER_PTHREADPOOL_INCLUDE_DIR pthreadpool.h)
find_library(CONVLADDER_XNNPACK_LIBRARY XNNPACK)
find_library(CONVLADDER_PTHREADPOOL_LIBRARY pthreadpool)
set(CONVLADDER_HAS_XNNPACK OFF)
if(CONVLADDER_XNNPACK_INCLUDE_DIR AND CONVLADDER_PTHREADPOOL_INCLUDE_DIR AND CONVLADDER_XNNPACK_LIBRARY
   AND CONVLADDER_PTHREADPOOL_LIBRARY)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_INCLUDES "${CONVLADDER_XNNPACK_INCLUDE_DIR}" "${CONVLADDER_PTHREADPOOL_INCLUDE_DIR}")
  set(CMAKE_REQUIRED_LIBRARIES "${CONVLADDER_XNNPACK_LIBRARY}" "${CONVLADDER_PTHREADPOOL_LIBRARY}")
  check_cxx_source_compiles("
    #include <xnnpack.h>
    int main() {
      xnn_status (*create)(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                           uint32_t, uint32_t, size_t, size_t, size_t, size_t, const float*, const float*, float, float,
                           uint32_t, xnn_operator_t*) = xnn_create_convolution2d_nhwc_f32;
      xnn_status (*set_up)(xnn_operator_t, size_t, size_t, size_t, const float*, float*, pthreadpool_t) =
          xnn_setup_convolution2d_nhwc_f32;
      return create == nullptr || set_up == nullptr;
    }" CONVLADDER_XNNPACK_IS_KNOWN)
  unset(CMAKE_REQUIRED_INCLUDES)
  unset(CMAKE_REQUIRED_LIBRARIES)
  set(CONVLADDER_HAS_XNNPACK ${CONVLADDER_XNNPACK_IS_KNOWN})
  execute_process(COMMAND dpkg-query --show "--showformat=\${Version}" libxnnpack-dev
    OUTPUT_VARIABLE CONVLADDER_XNNPACK_VERSION RESULT_VARIABLE failed ERROR_QUIET)
  if(failed OR NOT CONVLADDER_XNNPACK_VERSION MATCHES "^[0-9A-Za-z.+~:-]+$")
    set(CONVLADDER_XNNPACK_VERSION "of unknown version")
  endif()
endif()
if(NOT CONVLADDER_HAS_XNNPACK)
  message(STATUS "XNNPACK as Debian 12 has it not found: it is not beside the CPU ladder (libxnnpack-dev, libpthreadpool-dev)")
endif()
